import { Link } from 'wouter';
import { currenciesOf, hundredths, type Money as Amount, sum } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { formatDay, useTimes } from '../../format/time';
import { counted } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Answered, Part, useIsRefused } from '../../parts/part';
import { Pending } from '../../parts/problem';
import { nameOf, NameFragment } from '../../session';

const WorkQuery = graphql(
  `
    query Work($timeZone: String!, $payments: Int!) {
      viewer {
        account {
          id
          balance(scope: DESCENDANTS) { pending { amount currency } }
          receivableAgeing(scope: DESCENDANTS, timeZone: $timeZone) {
            currencies { buckets { bucket count amount { amount currency } } }
          }
        }
      }
      deposits(filter: { unreconciled: true }, first: $payments) {
        totalCount
        nodes {
          id created currency amount: pendingRest
          fromAccount { ...Name }
        }
        pageInfo { hasNextPage }
      }
      receivables(filter: { overdue: true }, orderBy: DUE_DATE_ASC, first: 3) {
        nodes {
          id currency amountReconcilable
          invoice { referenceNumber dueDate }
        }
      }
    }
  `,
  [NameFragment],
);

/** How many objects each card lists. */
const listed = 3;
/** How many payments of its list a platform adds up. */
const addedMax = 100;

type Answer = ResultOf<typeof WorkQuery>;

/** The money to reconcile and the receivables that are overdue, with the first of each. */
export function Work({ platform }: { platform: boolean }) {
  const variables = { timeZone: useTimeZone(), payments: platform ? addedMax : listed };
  const result = useLive(WorkQuery, variables, { seconds: 20 });
  const { data } = result;
  if (!data)
    return ['To reconcile', 'Overdue'].map((title) => (
      <Card key={title} title={title}>
        <Pending result={result} lines={5} />
      </Card>
    ));
  const { deposits, receivables } = data;
  const { balance, receivableAgeing } = data.viewer.account;
  return (
    <Answered answer={result}>
      <Part value={deposits} field="deposits" title="To reconcile">
        {(page) => (
          <Part value={balance} field="viewer.account.balance" title="To reconcile">
            {({ pending }) => <ToReconcile {...{ platform, page, pending }} />}
          </Part>
        )}
      </Part>
      <Part value={receivables} field="receivables" title="Overdue">
        {({ nodes }) => (
          <Part value={receivableAgeing} field="viewer.account.receivableAgeing" title="Overdue">
            {(ageing) => <Overdue {...{ nodes, ageing }} />}
          </Part>
        )}
      </Part>
    </Answered>
  );
}

const payerOf = ({ fromAccount }: { fromAccount: Parameters<typeof nameOf>[0] | null }) =>
  fromAccount ? nameOf(fromAccount) : 'Unknown payer';

interface ToReconcileProps {
  platform: boolean;
  page: NonNullable<Answer['deposits']>;
  pending: readonly Amount[];
}

/**
 * The money to reconcile. The list of a platform has not all that its users have to reconcile, so its sum is that of
 * the list, where it is short enough.
 */
function ToReconcile({ platform, page: { nodes: payments, totalCount, pageInfo }, pending }: ToReconcileProps) {
  const time = useTimes();
  const unknown = useIsRefused('deposits.totalCount');
  const many = unknown ? 'number not known' : 'over 10,000 payments';
  const unreconciled = payments.slice(0, listed).map(({ id, created, currency, amount, fromAccount }) => ({
    ...{ id, currency, amount },
    name: payerOf({ fromAccount }),
    when: time(created, 'day'),
  }));
  const ofList = platform ? (pageInfo.hasNextPage ? [] : sumsOf(payments)) : pending;
  const elsewhere = platform && !pageInfo.hasNextPage && pending.some((all) => !sameSum(all, ofList));
  return (
    <Waiting
      title="To reconcile"
      items={unreconciled}
      sums={ofList}
      count={totalCount === null ? many : counted(totalCount, 'payment')}
      all="/payments?show=unreconciled"
    >
      {elsewhere ? 'Nothing on your own list waits.' : 'All received money is reconciled.'}
    </Waiting>
  );
}

interface OverdueProps {
  nodes: NonNullable<Answer['receivables']>['nodes'];
  ageing: NonNullable<Answer['viewer']['account']['receivableAgeing']>;
}

/** The receivables that are overdue: the first of them, and the sums of all. */
function Overdue({ nodes, ageing: all }: OverdueProps) {
  const ageing = all.currencies
    .flatMap(({ buckets }) => buckets)
    .filter(({ bucket, count }) => bucket !== 'NOT_DUE' && count > 0);
  const overdue = nodes.map(({ id, currency, amountReconcilable: amount, invoice }) => ({
    ...{ id, currency, amount },
    name: invoice.referenceNumber,
    when: `due ${formatDay(invoice.dueDate)}`,
  }));
  return (
    <Waiting
      title="Overdue"
      items={overdue}
      sums={sumsOf(ageing.map(({ amount }) => amount))}
      count={counted(
        ageing.reduce((total, { count }) => total + count, 0),
        'receivable',
      )}
      all="/receivables?show=overdue"
    >
      No receivable is overdue.
    </Waiting>
  );
}

/** The sums of amounts by currency. */
const sumsOf = (amounts: readonly Amount[]): Amount[] =>
  currenciesOf(amounts).map((currency) => ({
    currency,
    amount: sum(amounts.filter((each) => each.currency === currency).map(({ amount }) => amount)),
  }));

const sameSum = ({ currency, amount }: Amount, sums: readonly Amount[]) =>
  hundredths(amount) === hundredths(sums.find((each) => each.currency === currency)?.amount ?? '0.00');

interface Item extends Amount {
  id: string;
  name: string;
  when: string | null;
}

interface WaitingProps {
  title: string;
  items: Item[];
  /** All that waits, by currency, where it is added up. */
  sums?: readonly Amount[];
  count?: string;
  /** The list of all. */
  all: string;
  /** What the card says when nothing waits. */
  children?: string;
}

function Waiting({ title, items, sums = [], count, all, children }: WaitingProps) {
  const filled = sums.filter(({ amount }) => hundredths(amount) !== 0n);
  if (filled.length === 0 && items.length === 0) {
    return (
      <Card title={title}>
        <p className="hint">{children}</p>
      </Card>
    );
  }
  return (
    <Card title={title} action={count && <span className="count">{count}</span>}>
      {filled.length > 0 && (
        <p className="waiting-sums">
          {filled.map((money) => (
            <Money key={money.currency} {...money} />
          ))}
        </p>
      )}
      <ul className="waiting">
        {items.map(({ id, name, when, amount, currency }) => (
          <li key={id}>
            <span className="waiting-name">
              <ObjectLink id={id}>{name}</ObjectLink>
              <span className="hint">{when}</span>
            </span>
            <Money amount={amount} currency={currency} />
          </li>
        ))}
      </ul>
      <Link href={all} className="button small" aria-label={`Show all: ${title.toLowerCase()}`}>
        Show all
      </Link>
    </Card>
  );
}
