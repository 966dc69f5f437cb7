import { Link } from 'wouter';
import { daysBetween } from '../../format/days';
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
import { ClearFilters, isDay, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { useOrders } from '../../parts/orders';
import { Page } from '../../parts/page';
import { usePlace } from '../../parts/pager';
import type { Column } from '../../parts/table';
import { nameOf, useMayWrite, NameFragment } from '../../session';

const CheckoutsQuery = graphql(
  `
    query Checkouts(
      $first: Int, $after: ID, $last: Int, $before: ID, $orderBy: CheckoutOrder, $status: [CheckoutStatus!]
      $created: TimeFilter, $account: ID
    ) {
      checkouts(
        first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy
        filter: { status: $status, created: $created, accountId: $account }
      ) {
        totalCount
        nodes {
          id created expiresAt openedAt amount currency status
          fromAccount { ...Name }
          receivables { id invoice { referenceNumber } }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment],
);

type Checkout = RowOf<ResultOf<typeof CheckoutsQuery>['checkouts']>;

const statuses = ['INITIALIZED', 'COMPLETED', 'EXPIRED', 'CANCELLED'] as const;

/** What the list is ordered and filtered by, as the graph serves it. */
const orders = {
  orders: {
    created: { sorts: { newest: undefined, oldest: 'CREATED_ASC' }, filters: ['status', 'created', 'customer'] },
  },
  sortNames: { newest: 'Newest', oldest: 'Oldest' },
  names: {},
};

/** The filters of the address as arguments of the list. */
function useArguments() {
  const { params, one, range } = useFilters();
  const timeZone = useTimeZone();
  const book = useOrders(orders);
  const status = one('status', statuses);
  const variables: VariablesOf<typeof CheckoutsQuery> = {
    ...(status && { status: [status] }),
    ...(book.uses('customer') && { account: params.get('customer')! }),
    ...sent({ created: daysBetween(range('created', isDay), timeZone) }),
    ...(book.orderBy && { orderBy: book.orderBy as 'CREATED_ASC' }),
  };
  return { book, variables };
}

/** The checkouts: payment pages for customers in India. Edition 2 alone has them. */
export function Checkouts() {
  const { filtered } = useFilters();
  const { book, variables } = useArguments();
  const result = useLive(CheckoutsQuery, { ...variables, ...usePlace() });
  const { orderBy, account, ...others } = variables;
  const filter = sent({ ...others, accountId: account });
  const mayWrite = useMayWrite();
  const columns = useColumns();
  const create = mayWrite && (
    <Link href="/checkouts/new" className="button primary">
      New checkout
    </Link>
  );
  return (
    <Page
      title="Checkouts"
      actions={
        <>
          <Export source={{ checkouts: sent({ orderBy, filter }) }} />
          {create}
        </>
      }
    >
      <FilterBar orders={book}>
        <Choice label="Status" name="status" values={statuses} />
        <Range label="Created" name="created" type="date" />
        <AccountFilter label="Customer" name="customer" type="PARTNER" />
        <Sort />
      </FilterBar>
      <List
        label="Checkouts"
        result={result}
        page={result.data?.checkouts}
        columns={columns}
        href={({ id }) => `/checkouts/${id}`}
        summed={(checkout) => ({ money: checkout })}
        empty={
          <Empty title={filtered ? 'No checkout matches' : 'No checkouts yet'}>
            {!filtered && <p>A checkout is a page on which a customer pays an invoice by UPI or card.</p>}
            {filtered ? <ClearFilters /> : create}
          </Empty>
        }
      />
    </Page>
  );
}

function useColumns(): Column<Checkout>[] {
  const time = useTimes();
  return [
    {
      head: 'Customer',
      cell: ({ fromAccount, receivables, status, openedAt }) => {
        const invoices = receivables.map(({ invoice }) => invoice.referenceNumber).join(', ');
        const opened = openedAt ? `opened ${time(openedAt)}` : 'not opened yet';
        return <Two hint={status === 'INITIALIZED' ? `${invoices} · ${opened}` : invoices}>{nameOf(fromAccount)}</Two>;
      },
    },
    statusColumn(),
    { head: 'Created', cell: ({ created }) => time(created), line: true },
    { head: 'Expires', cell: ({ expiresAt }) => time(expiresAt), line: true },
    amountAndStatus(
      (checkout) => checkout,
      (checkout) => checkout.status,
    ),
  ];
}
