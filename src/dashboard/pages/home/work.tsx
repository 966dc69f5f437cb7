import { Link } from 'wouter';
import { hundredths, type Money as Amount, currenciesOf, sum } from '../../format/money';
import { formatDay, today, useTimes } from '../../format/time';
import { counted } from '../../format/words';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { nameOf } from '../../session';

const WorkQuery = graphql(`
  query Work {
    deposits(status: [COMPLETED], first: 100) {
      nodes {
        id
        created
        currency
        pendingRest
        fromAccount {
          id
          nickname
        }
      }
      pageInfo {
        hasNextPage
      }
    }
    receivables(status: [OPEN], first: 100) {
      nodes {
        id
        currency
        amountReconcilable
        invoice {
          referenceNumber
          dueDate
        }
      }
      pageInfo {
        hasNextPage
      }
    }
  }
`);

/** How many of the waiting objects are shown. */
const shown = 3;

/** What waits for the viewer: money to reconcile, and receivables that are overdue. */
export function Work({ pending }: { pending: readonly Amount[] | undefined }) {
  const { data, error, ask } = useLive(WorkQuery, {}, { seconds: 20 });
  const time = useTimes();
  if (!data) {
    return <Card title="To do">{error ? <Problem error={error} onRetry={ask} /> : <Lines count={5} />}</Card>;
  }
  const unreconciled = data.deposits.nodes
    .filter(({ pendingRest }) => hundredths(pendingRest) > 0n)
    .map(({ id, created, currency, pendingRest: amount, fromAccount }) => ({
      ...{ id, currency, amount },
      name: fromAccount ? nameOf(fromAccount) : 'Unknown payer',
      when: time(created, 'day'),
    }));
  const overdue = data.receivables.nodes
    .filter(({ invoice, amountReconcilable }) => invoice.dueDate < today() && hundredths(amountReconcilable) > 0n)
    .sort((a, b) => a.invoice.dueDate.localeCompare(b.invoice.dueDate))
    .map(({ id, currency, amountReconcilable: amount, invoice }) => ({
      ...{ id, currency, amount },
      name: invoice.referenceNumber,
      when: `due ${formatDay(invoice.dueDate)}`,
    }));
  return (
    <>
      <Waiting
        title="To reconcile"
        items={unreconciled}
        sums={pending ?? sumsOf(unreconciled)}
        more={data.deposits.pageInfo.hasNextPage}
        noun="payment"
        all="/payments?show=unreconciled"
      >
        All received money is reconciled.
      </Waiting>
      <Waiting
        title="Overdue"
        items={overdue}
        sums={sumsOf(overdue)}
        more={data.receivables.pageInfo.hasNextPage}
        noun="receivable"
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

/** The sums of amounts by currency. */
function sumsOf(items: readonly Amount[]): Amount[] {
  return currenciesOf(items).map((currency) => ({
    currency,
    amount: sum(items.filter((item) => item.currency === currency).map(({ amount }) => amount)),
  }));
}

function Waiting({
  title,
  items,
  sums,
  more,
  noun,
  all,
  children,
}: {
  title: string;
  items: Item[];
  sums: readonly Amount[];
  /** Whether there may be more than the list was asked for. */
  more: boolean;
  noun: string;
  all?: string;
  children: string;
}) {
  if (items.length === 0) {
    return (
      <Card title={title}>
        <p className="hint">{children}</p>
      </Card>
    );
  }
  return (
    <Card
      title={title}
      action={<span className="count">{`${more ? 'At least ' : ''}${counted(items.length, noun)}`}</span>}
    >
      <p className="waiting-sums">
        {sums
          .filter(({ amount }) => hundredths(amount) !== 0n)
          .map((money) => (
            <Money key={money.currency} {...money} />
          ))}
      </p>
      <ul className="waiting">
        {items.slice(0, shown).map(({ id, name, when, amount, currency }) => (
          <li key={id}>
            <span className="waiting-name">
              <ObjectLink id={id}>{name}</ObjectLink>
              <span className="hint">{when}</span>
            </span>
            <Money amount={amount} currency={currency} />
          </li>
        ))}
      </ul>
      {all && (
        <Link href={all} className="button small">
          Show all
        </Link>
      )}
    </Card>
  );
}
