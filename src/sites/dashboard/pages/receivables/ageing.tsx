import { useMemo } from 'react';
import { Link } from 'wouter';
import { useTimeZone } from '../../format/preferences';
import { counted } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { Shares } from '../../parts/shares';

/** Open receivables by currency and by how long they are overdue. */
export const AgesFragment = graphql(`
  fragment Ages on ReceivableAgeing {
    asOf
    currencies {
      currency count
      total { amount }
      buckets { bucket dueFrom dueTo count amount { amount } }
    }
  }
`);

const AgeingQuery = graphql(
  `
    query Ageing($timeZone: String!) {
      viewer {
        account {
          id
          receivableAgeing(scope: DESCENDANTS, timeZone: $timeZone) { ...Ages }
        }
      }
    }
  `,
  [AgesFragment],
);

export type Ages = ResultOf<typeof AgesFragment>;
type Entry = Ages['currencies'][number];
type Bucket = Entry['buckets'][number];

/** The names of the ages of open receivables. */
export const ageNames = {
  NOT_DUE: 'Not due',
  DAYS_1_TO_30: '1 to 30 days',
  DAYS_31_TO_60: '31 to 60 days',
  DAYS_61_TO_90: '61 to 90 days',
  OVER_90_DAYS: 'Over 90 days',
} as const;

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
        {({ currencies }) => <Open entries={currencies} />}
      </Part>
    </Answered>
  );
}

function Open({ entries }: { entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <Card title="Open" className="ageing" action={<span className="hint">by days overdue</span>}>
      <AgeBars entries={entries} />
    </Card>
  );
}

/** The ages of open receivables, by currency; with `customerId`, of those that bill a customer. */
export function AgeBars({ entries, customerId }: { entries: readonly Entry[]; customerId?: string }) {
  return entries.map((entry) => <Currency key={entry.currency} {...entry} customerId={customerId} />);
}

function Currency({ currency, total, buckets, customerId }: Entry & { customerId: string | undefined }) {
  const shares = buckets.map((each) => ({
    ...{ key: each.bucket, name: ageNames[each.bucket], amount: each.amount.amount },
    ...(each.count > 0 && { link: (text: string) => <Link href={addressOf(each, customerId)}>{text}</Link> }),
    below: <p className="hint">{counted(each.count, 'receivable')}</p>,
  }));
  return (
    <div className="balance">
      <p className="balance-total">
        <Money amount={total.amount} currency={currency} />
      </p>
      <Shares shares={shares} currency={currency} />
    </div>
  );
}

/** The list of the open receivables of an age. */
function addressOf({ dueFrom, dueTo }: Bucket, customerId: string | undefined): string {
  const filters = new URLSearchParams({ ...(customerId && { customer: customerId }), sort: 'due', status: 'OPEN' });
  if (dueTo !== null) filters.set('dueTo', dueTo);
  if (dueFrom !== null) filters.set('dueFrom', dueFrom);
  return `/receivables?${filters}`;
}
