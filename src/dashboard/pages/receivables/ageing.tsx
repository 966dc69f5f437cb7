import { useMemo } from 'react';
import { Link } from 'wouter';
import { counted, currenciesOf, dayBefore, sum, useTimeZone } from '../../format';
import { graphql, type ResultOf, useLive } from '../../graph';
import { Answered, Card, Money, Part, Shares } from '../../parts';

const AgeingQuery = graphql(`
  query Ageing($timeZone: String!) {
    viewer {
      now
      account {
        id
        receivableAgeing(scope: DESCENDANTS, timeZone: $timeZone) { bucket currency count amount }
      }
    }
  }
`);

type Entry = NonNullable<ResultOf<typeof AgeingQuery>['viewer']['account']['receivableAgeing']>[number];

/** The ages of open receivables, with the days overdue at which each begins and ends. */
const buckets = [
  { bucket: 'NOT_DUE', name: 'Not due' },
  { bucket: 'DAYS_1_TO_30', name: '1 to 30 days', days: [1, 30] },
  { bucket: 'DAYS_31_TO_60', name: '31 to 60 days', days: [31, 60] },
  { bucket: 'DAYS_61_TO_90', name: '61 to 90 days', days: [61, 90] },
  { bucket: 'OVER_90_DAYS', name: 'Over 90 days', days: [91] },
] as const;

/** How long the open receivables are overdue, by currency. Each age leads to its receivables. */
export function Ageing() {
  const timeZone = useTimeZone();
  const result = useLive(
    AgeingQuery,
    useMemo(() => ({ timeZone }), [timeZone]),
    { seconds: 30 },
  );
  const viewer = result.data?.viewer;
  return (
    <Answered answer={result}>
      <Part value={viewer?.account.receivableAgeing} field="viewer.account.receivableAgeing" title="Open" lines={4}>
        {(entries) => <Ages entries={entries} now={viewer?.now ?? ''} />}
      </Part>
    </Answered>
  );
}

function Ages({ entries, now }: { entries: Entry[]; now: string }) {
  if (entries.length === 0) return null;
  return (
    <Card title="Open" className="ageing" action={<span className="hint">by days overdue</span>}>
      {currenciesOf(entries).map((currency) => (
        <Currency
          key={currency}
          currency={currency}
          entries={entries.filter((entry) => entry.currency === currency)}
          now={now}
        />
      ))}
    </Card>
  );
}

function Currency({ currency, entries, now }: { currency: string; entries: Entry[]; now: string }) {
  const timeZone = useTimeZone();
  const shares = buckets.map(({ bucket, name, ...rest }) => {
    const { amount, count } = entries.find((entry) => entry.bucket === bucket) ?? { amount: '0.00', count: 0 };
    const address = addressOf(now, timeZone, 'days' in rest ? rest.days : []);
    return {
      ...{ key: bucket, name, amount },
      ...(count > 0 && { link: (text: string) => <Link href={address}>{text}</Link> }),
      below: <p className="hint">{counted(count, 'receivable')}</p>,
    };
  });
  return (
    <div className="balance">
      <p className="balance-total">
        <Money amount={sum(entries.map(({ amount }) => amount))} currency={currency} />
      </p>
      <Shares shares={shares} currency={currency} />
    </div>
  );
}

/** The list of the open receivables of an age. */
function addressOf(now: string, timeZone: string, [first, last]: readonly number[]): string {
  const filters = new URLSearchParams({ sort: 'due', status: 'OPEN' });
  if (first === undefined) filters.set('dueFrom', dayBefore(now, timeZone, 0));
  else filters.set('dueTo', dayBefore(now, timeZone, first));
  if (last !== undefined) filters.set('dueFrom', dayBefore(now, timeZone, last));
  return `/receivables?${filters}`;
}
