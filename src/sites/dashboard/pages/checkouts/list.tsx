import { Link } from 'wouter';
import { useTimes } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { sent } from '../../graph/sent';
import { amountAndStatus, statusColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Export } from '../../parts/export';
import { Choice, ClearFilters, FilterBar, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { nameOf, useMayWrite, NameFragment } from '../../session';

const CheckoutsQuery = graphql(
  `
    query Checkouts($after: ID, $status: [CheckoutStatus!]) {
      checkouts(first: 25, after: $after, filter: { status: $status }) {
        nodes {
          id created expiresAt amount currency status
          fromAccount { ...Name }
          receivables { id invoice { referenceNumber } }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [NameFragment],
);

type Checkout = RowOf<ResultOf<typeof CheckoutsQuery>['checkouts']>;

const statuses = ['INITIALIZED', 'COMPLETED', 'EXPIRED', 'CANCELLED'] as const;

/** The checkouts: payment pages for customers in India. Edition 2 alone has them. */
export function Checkouts() {
  const { params, one } = useFilters();
  const status = one('status', statuses);
  const filter = sent({ status: status && [status] });
  const result = useLive(CheckoutsQuery, { after: params.get('after'), ...filter });
  const time = useTimes();
  const mayWrite = useMayWrite();
  const columns: Column<Checkout>[] = [
    {
      head: 'Customer',
      cell: ({ fromAccount, receivables }) => (
        <Two hint={receivables.map(({ invoice }) => invoice.referenceNumber).join(', ')}>{nameOf(fromAccount)}</Two>
      ),
    },
    statusColumn(),
    { head: 'Created', cell: ({ created }) => time(created), line: true },
    { head: 'Expires', cell: ({ expiresAt }) => time(expiresAt), line: true },
    amountAndStatus(
      (checkout) => checkout,
      (checkout) => checkout.status,
    ),
  ];
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
          <Export source={{ checkouts: { filter } }} />
          {create}
        </>
      }
    >
      <FilterBar>
        <Choice label="Status" name="status" values={statuses} />
      </FilterBar>
      <List
        label="Checkouts"
        result={result}
        page={result.data?.checkouts}
        columns={columns}
        href={({ id }) => `/checkouts/${id}`}
        empty={
          <Empty title={status ? 'No checkout has this status' : 'No checkouts yet'}>
            <p>A checkout is a page on which a customer pays an invoice by UPI or card.</p>
            {status ? <ClearFilters /> : create}
          </Empty>
        }
      />
    </Page>
  );
}
