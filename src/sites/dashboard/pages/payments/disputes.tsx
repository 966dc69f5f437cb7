import { disputeReason, disputeState, disputeStatuses, isAnswerable } from '../../format/disputes';
import { formatLeft, useTimes } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { PayerFragment, payerOf } from '../../graph/payer';
import { sent } from '../../graph/sent';
import { amountAndStatus, stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice } from '../../parts/chips';
import { ClearFilters, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { usePlace } from '../../parts/pager';
import type { Column } from '../../parts/table';
import { nameOf, NameFragment } from '../../session';

const DisputesQuery = graphql(
  `
    query Disputes($first: Int, $after: ID, $last: Int, $before: ID, $status: [DisputeStatus!]) {
      disputes(first: $first, after: $after, last: $last, before: $before, filter: { status: $status }) {
        totalCount
        nodes {
          id created amount currency status reasonCode respondBy depositId
          account { ...Name }
          deposit { id ...Payer }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment, PayerFragment],
);

type Dispute = RowOf<ResultOf<typeof DisputesQuery>['disputes']>;

/** The filter of the list of disputes. */
export const DisputeFilter = () => <Choice label="Status" name="status" values={['OPEN', 'DECIDED']} />;

/** The disputes of payments, newest first. Each leads to the page of its payment, where it is answered. */
export function Disputes() {
  const { one, filtered } = useFilters();
  const status = one('status', ['OPEN', 'DECIDED']);
  const result = useLive(DisputesQuery, sent({ ...usePlace(), status: status && [...disputeStatuses[status]] }));
  return (
    <List
      label="Disputes"
      result={result}
      page={result.data?.disputes}
      columns={useColumns()}
      href={({ depositId }) => `/payments/${depositId}`}
      summed={(dispute) => ({ money: dispute })}
      empty={
        <Empty title={filtered ? 'No dispute matches' : 'No payment is disputed'}>
          {!filtered && <p>When a payer disputes a payment with a bank, you answer it on the page of the payment.</p>}
          <ClearFilters />
        </Empty>
      }
    />
  );
}

function useColumns(): Column<Dispute>[] {
  const time = useTimes();
  return [
    {
      head: 'From',
      cell: ({ deposit, reasonCode }) => <Two hint={disputeReason(reasonCode)}>{payerOf(deposit)}</Two>,
    },
    { head: 'To', cell: ({ account }) => nameOf(account) },
    stateColumn(disputeState),
    { head: 'Opened', cell: ({ created }) => time(created), line: true },
    {
      head: 'Answer by',
      cell: (dispute) =>
        dispute.respondBy &&
        isAnswerable(dispute) && (
          <span className="two-lines">
            {time(dispute.respondBy)}
            <span className="hint">{formatLeft(dispute.respondBy)}</span>
          </span>
        ),
      line: true,
    },
    amountAndStatus((dispute: Dispute) => dispute, disputeState),
  ];
}
