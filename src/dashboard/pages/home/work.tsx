import { Link } from 'wouter';
import {
  counted,
  currenciesOf,
  formatDay,
  hundredths,
  type Money as Amount,
  sum,
  useTimes,
  useTimeZone,
} from '../../format';
import { graphql, useLive } from '../../graph';
import { Card, Money, ObjectLink, Pending } from '../../parts';
import { nameOf, NameFragment } from '../../session';

const WorkQuery = graphql(
  `
    query Work($timeZone: String!) {
      viewer {
        account {
          id
          receivableAgeing(descendants: true, timeZone: $timeZone) { bucket currency count amount }
        }
      }
      deposits(unreconciled: true, first: 3) {
        totalCount
        nodes {
          id created currency pendingRest
          fromAccount { ...Name }
        }
      }
      receivables(overdue: true, orderBy: DUE_DATE_ASC, first: 3) {
        nodes {
          id currency amountReconcilable
          invoice { referenceNumber dueDate }
        }
      }
    }
  `,
  [NameFragment],
);

/** What waits for the viewer: money to reconcile, and receivables that are overdue. */
export function Work({ pending }: { pending: readonly Amount[] | undefined }) {
  const result = useLive(WorkQuery, { timeZone: useTimeZone() }, { seconds: 20 });
  const time = useTimes();
  const { data } = result;
  if (!data || !pending) {
    return (
      <Card title="To do">
        <Pending result={result} lines={5} />
      </Card>
    );
  }
  const unreconciled = data.deposits.nodes.map(({ id, created, currency, pendingRest: amount, fromAccount }) => ({
    ...{ id, currency, amount },
    name: fromAccount ? nameOf(fromAccount) : 'Unknown payer',
    when: time(created, 'day'),
  }));
  const { totalCount } = data.deposits;
  const ageing = data.viewer.account.receivableAgeing.filter(({ bucket }) => bucket !== 'NOT_DUE');
  const overdue = data.receivables.nodes.map(({ id, currency, amountReconcilable: amount, invoice }) => ({
    ...{ id, currency, amount },
    name: invoice.referenceNumber,
    when: `due ${formatDay(invoice.dueDate)}`,
  }));
  return (
    <>
      <Waiting
        title="To reconcile"
        items={unreconciled}
        sums={pending}
        count={totalCount === null ? 'over 10,000 payments' : counted(totalCount, 'payment')}
        all="/payments?show=unreconciled"
      >
        All received money is reconciled.
      </Waiting>
      <Waiting
        title="Overdue"
        items={overdue}
        sums={currenciesOf(ageing).map((currency) => ({
          currency,
          amount: sum(ageing.filter((entry) => entry.currency === currency).map(({ amount }) => amount)),
        }))}
        count={counted(
          ageing.reduce((total, { count }) => total + count, 0),
          'receivable',
        )}
        all="/receivables?show=overdue"
      >
        No receivable is overdue.
      </Waiting>
    </>
  );
}

interface Item extends Amount {
  id: string;
  name: string;
  when: string;
}

interface WaitingProps {
  title: string;
  items: Item[];
  /** All that waits, by currency. */
  sums: readonly Amount[];
  count?: string;
  /** The list of all. */
  all: string;
  /** What the card says when nothing waits. */
  children: string;
}

function Waiting({ title, items, sums, count, all, children }: WaitingProps) {
  const filled = sums.filter(({ amount }) => hundredths(amount) !== 0n);
  if (filled.length === 0) {
    return (
      <Card title={title}>
        <p className="hint">{children}</p>
      </Card>
    );
  }
  return (
    <Card title={title} action={count && <span className="count">{count}</span>}>
      <p className="waiting-sums">
        {filled.map((money) => (
          <Money key={money.currency} {...money} />
        ))}
      </p>
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
