import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { currenciesOf, hundredths, type Money as Amount, sum } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { isAnswerable } from '../../format/disputes';
import { formatDay, formatLeft, useTimes } from '../../format/time';
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
      disputes(filter: { status: [NEEDS_RESPONSE] }, first: 20) {
        nodes {
          id amount currency status respondBy depositId
          deposit { id fromAccount { ...Name } }
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

/** What waits for the viewer: disputes to answer, money to reconcile, and receivables that are overdue. */
export function Work({ platform }: { platform: boolean }) {
  const variables = { timeZone: useTimeZone(), payments: platform ? addedMax : listed };
  const result = useLive(WorkQuery, variables, { seconds: 20 });
  const { data } = result;
  if (!data) {
    return (
      <Card title="To do">
        <Pending result={result} lines={5} />
      </Card>
    );
  }
  const { deposits, disputes, receivables } = data;
  const { balance, receivableAgeing } = data.viewer.account;
  return (
    <Answered answer={result}>
      <Part value={disputes} field="disputes" title="Disputes to answer">
        {(page) => <ToAnswer page={page} />}
      </Part>
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

/** The disputes that can be answered, those first whose time is over first. Nothing without any. */
function ToAnswer({ page: { nodes, pageInfo } }: { page: NonNullable<Answer['disputes']> }) {
  const open = nodes.filter(isAnswerable).sort((one, other) => (endOf(one) < endOf(other) ? -1 : 1));
  if (open.length === 0) return null;
  const items = open.slice(0, listed).map(({ id, currency, amount, respondBy, depositId, deposit }) => ({
    ...{ id, currency, amount, page: depositId },
    name: payerOf(deposit),
    when: respondBy && formatLeft(respondBy),
  }));
  return (
    <Waiting
      title="Disputes to answer"
      items={items}
      {...(!pageInfo.hasNextPage && { count: counted(open.length, 'dispute') })}
      all="/payments?show=disputes&status=OPEN"
    />
  );
}

/** Times are texts of one form; a dispute without a time to answer comes last. */
const endOf = ({ respondBy }: { respondBy: string | null }) => respondBy ?? '~';

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
      more={elsewhere && <Elsewhere />}
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

/** Payments at the addresses of users' customers are not on the platform's list. */
function Elsewhere() {
  return (
    <p className="hint">
      Your users have more to reconcile, at addresses of their customers. Act as <Link href="/users">a user</Link> to
      see it.
    </p>
  );
}

interface Item extends Amount {
  id: string;
  /** The object whose page it leads to, where that is another one. */
  page?: string;
  name: string;
  when: string | null;
}

interface WaitingProps {
  title: string;
  items: Item[];
  /** All that waits, by currency, where it is added up. */
  sums?: readonly Amount[];
  count?: string;
  /** What is said below the list. */
  more?: ReactNode;
  /** The list of all. */
  all: string;
  /** What the card says when nothing waits. */
  children?: string;
}

function Waiting({ title, items, sums = [], count, more, all, children }: WaitingProps) {
  const filled = sums.filter(({ amount }) => hundredths(amount) !== 0n);
  if (filled.length === 0 && items.length === 0) {
    return (
      <Card title={title}>
        <p className="hint">{children}</p>
        {more}
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
        {items.map(({ id, page = id, name, when, amount, currency }) => (
          <li key={id}>
            <span className="waiting-name">
              <ObjectLink id={page}>{name}</ObjectLink>
              <span className="hint">{when}</span>
            </span>
            <Money amount={amount} currency={currency} />
          </li>
        ))}
      </ul>
      {more}
      <Link href={all} className="button small" aria-label={`Show all: ${title.toLowerCase()}`}>
        Show all
      </Link>
    </Card>
  );
}
