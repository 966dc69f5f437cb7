import { daysBetween } from '../../format/days';
import { currencies } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { useTimes } from '../../format/time';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { sent } from '../../graph/sent';
import { AccountFilter } from '../../parts/account-filter';
import { amountAndStatus, statusColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice, Range, Sort } from '../../parts/chips';
import { Export } from '../../parts/export';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, isAmount, isDay, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { useOrders } from '../../parts/orders';
import { Page } from '../../parts/page';
import { usePlace } from '../../parts/pager';
import type { Column } from '../../parts/table';
import { TextFilter } from '../../parts/text-filter';
import { nameOf, useSession, NameFragment } from '../../session';
import { Adjusted } from './adjusted';
import { Coming } from './coming';

const PayoutsQuery = graphql(
  `
    query Payouts(
      $first: Int, $after: ID, $last: Int, $before: ID, $orderBy: PayoutOrder, $status: [PayoutStatus!]
      $currency: [Currency!], $created: TimeFilter, $amount: AmountFilter, $account: ID, $reference: [String!]
    ) {
      payouts(
        first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy
        filter: {
          status: $status, currency: $currency, created: $created, amount: $amount, accountId: $account
          bankReference: $reference
        }
      ) {
        totalCount
        nodes {
          id created amount currency sourceAmount sourceCurrency status expectedArrivalAt
          account { ...Name }
          address { id bankAccount { bankName last4 } }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment],
);

type Payout = RowOf<ResultOf<typeof PayoutsQuery>['payouts']>;

const statuses = ['PROCESSING', 'COMPLETED', 'NOT_ARRIVED', 'FAILED', 'RETURNED'] as const;

/** What the list is ordered and filtered by, as the graph serves it. */
const orders = {
  orders: {
    created: {
      sorts: { newest: undefined, oldest: 'CREATED_ASC' },
      filters: ['status', 'currency', 'sent', 'user', 'reference'],
    },
    amount: {
      sorts: { amount: 'AMOUNT_DESC', least: 'AMOUNT_ASC' },
      filters: ['status', 'currency', 'amount', 'user'],
    },
  },
  sortNames: { newest: 'Newest', oldest: 'Oldest', amount: 'Largest', least: 'Smallest' },
  names: {
    ...{ status: 'Status', currency: 'Currency', amount: 'Amount', sent: 'Sent', user: 'User' },
    reference: 'Bank reference',
  },
};

/** The filters of the address as arguments of the list. */
function useArguments() {
  const { params, one, range } = useFilters();
  const timeZone = useTimeZone();
  const book = useOrders(orders);
  const byAmount = book.by === 'amount';
  const status = one('status', statuses);
  // Amounts of several currencies have no common order. Payouts arrive in rupees.
  const currency = one('currency', currencies) ?? (byAmount ? 'INR' : undefined);
  const reference = book.uses('reference') ? params.get('reference')! : undefined;
  const variables: VariablesOf<typeof PayoutsQuery> = {
    ...(status && { status: status === 'NOT_ARRIVED' ? ['FAILED', 'RETURNED'] : [status] }),
    ...(currency && { currency: [currency] }),
    ...(book.uses('user') && { account: params.get('user')! }),
    ...(reference !== undefined && { reference: [...new Set([reference, reference.toUpperCase()])] }),
    ...(byAmount && sent({ amount: range('amount', isAmount) })),
    ...(book.uses('sent') && sent({ created: daysBetween(range('sent', isDay), timeZone) })),
    ...(book.orderBy && { orderBy: book.orderBy as 'AMOUNT_DESC' }),
  };
  return { book, currency, variables };
}

/** The payouts: what is coming, and all that were made, newest first. */
export function Payouts() {
  const { filtered } = useFilters();
  const { viewer } = useSession();
  const { book, currency, variables } = useArguments();
  const result = useLive(PayoutsQuery, { ...variables, ...usePlace() });
  const { orderBy, account, reference, ...others } = variables;
  const filter = sent({ ...others, accountId: account, bankReference: reference });
  const time = useTimes();
  const ofUsers = viewer.account.type === 'PLATFORM';
  const columns: (Column<Payout> | false)[] = [
    {
      head: 'Sent',
      cell: ({ created, address }) => <Two hint={bankOf(address)}>{time(created, 'date')}</Two>,
    },
    ofUsers && { head: 'Account', cell: ({ account }) => nameOf(account) },
    statusColumn(),
    { head: 'Expected', cell: ({ expectedArrivalAt }) => expectedArrivalAt && time(expectedArrivalAt), line: true },
    amountAndStatus(
      (payout) => payout,
      (payout) => payout.status,
      ({ sourceAmount, sourceCurrency, currency }) =>
        sourceCurrency !== currency && (
          <span className="hint">
            from <Money amount={sourceAmount} currency={sourceCurrency} />
          </span>
        ),
    ),
  ];
  return (
    <Page title="Payouts" actions={<Export source={{ payouts: sent({ orderBy, filter }) }} />}>
      <Coming />
      <Adjusted ofUsers={ofUsers} />
      <FilterBar orders={book}>
        <TextFilter label="Bank reference" name="reference" placeholder="Bank reference (UTR)" shown />
        <Choice label="Status" name="status" values={statuses} />
        <Choice label="Currency" name="currency" values={currencies} none={currency ?? 'All'} />
        <Range label="Amount" name="amount" type="amount" currency={currency} />
        <Range label="Sent" name="sent" type="date" />
        {ofUsers && <AccountFilter label="User" name="user" type="USER" />}
        <Sort />
      </FilterBar>
      <List
        label="Payouts"
        result={result}
        page={result.data?.payouts}
        columns={columns.filter((column) => column !== false)}
        href={({ id }) => `/payouts/${id}`}
        summed={(payout) => ({ money: payout })}
        empty={
          <Empty title={filtered ? 'No payout matches' : 'No payouts yet'}>
            {!filtered && <p>Reconciled payments are paid out to the bank account at the interval of the account.</p>}
            <ClearFilters />
          </Empty>
        }
      />
    </Page>
  );
}

/** The bank account of a payout in words. */
export function bankOf(address: { bankAccount: { bankName: string | null; last4: string | null } | null }): string {
  const { bankName, last4 } = address.bankAccount ?? {};
  // A line may break before the dots, but not after them.
  return [bankName, last4 && `…\u2060${last4}`].filter(Boolean).join(' ') || 'Bank account';
}
