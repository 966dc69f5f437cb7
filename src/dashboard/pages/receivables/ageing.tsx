import { useMemo } from 'react';
import { Link } from 'wouter';
import { currenciesOf, hundredths, sum } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { dayBefore } from '../../format/days';
import { counted } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';

const AgeingQuery = graphql(`
  query Ageing($timeZone: String!) {
    viewer {
      now
      account {
        id
        receivableAgeing(descendants: true, timeZone: $timeZone) {
          bucket
          currency
          count
          amount
        }
      }
    }
  }
`);

type Entry = ResultOf<typeof AgeingQuery>['viewer']['account']['receivableAgeing'][number];

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
  const { data, error, ask } = useLive(
    AgeingQuery,
    useMemo(() => ({ timeZone }), [timeZone]),
    { seconds: 30 },
  );
  if (!data) return <Card title="Open">{error ? <Problem error={error} onRetry={ask} /> : <Lines count={4} />}</Card>;
  const entries = data.viewer.account.receivableAgeing;
  if (entries.length === 0) return null;
  return (
    <Card title="Open" className="ageing" action={<span className="hint">by days overdue</span>}>
      {currenciesOf(entries).map((currency) => (
        <Currency
          key={currency}
          currency={currency}
          entries={entries.filter((entry) => entry.currency === currency)}
          now={data.viewer.now}
        />
      ))}
    </Card>
  );
}

function Currency({ currency, entries, now }: { currency: string; entries: Entry[]; now: string }) {
  const timeZone = useTimeZone();
  const all = entries.reduce((total, { amount }) => total + hundredths(amount), 0n);
  const parts = buckets.map((bucket) => ({
    ...bucket,
    ...(entries.find((entry) => entry.bucket === bucket.bucket) ?? { amount: '0.00', count: 0 }),
  }));
  return (
    <div className="balance">
      <p className="balance-total">
        <Money amount={sum(entries.map(({ amount }) => amount))} currency={currency} />
      </p>
      <div className="balance-bar" aria-hidden="true">
        {parts.map(({ bucket, amount }) => (
          <span
            key={bucket}
            className={bucket}
            style={{ flexGrow: Number((hundredths(amount) * 1000n) / (all || 1n)) }}
          />
        ))}
      </div>
      <ul className="balance-parts">
        {parts.map(({ bucket, name, amount, count, ...rest }) => (
          <li key={bucket}>
            <span className={`dot ${bucket}`} aria-hidden="true" />{' '}
            {count === 0 ? name : <Link href={addressOf(now, timeZone, 'days' in rest ? rest.days : [])}>{name}</Link>}
            <strong>
              <Money amount={amount} currency={currency} />
            </strong>
            <span className="hint">{counted(count, 'receivable')}</span>
          </li>
        ))}
      </ul>
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
