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
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { nameOf, useSession, NameFragment } from '../../session';
import { Adjusted } from './adjusted';
import { Coming } from './coming';

const PayoutsQuery = graphql(
  `
    query Payouts($after: ID, $status: [PayoutStatus!]) {
      payouts(first: 25, after: $after, filter: { status: $status }) {
        nodes {
          id created amount currency sourceAmount sourceCurrency status expectedArrivalAt
          account { ...Name }
          address { id bankAccount { bankName last4 } }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [NameFragment],
);

type Payout = RowOf<ResultOf<typeof PayoutsQuery>['payouts']>;

const statuses = ['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'] as const;

/** The payouts: what is coming, and all that were made, newest first. */
export function Payouts() {
  const { params, one } = useFilters();
  const { viewer } = useSession();
  const status = one('status', statuses);
  const filter = sent({ status: status && [status] });
  const result = useLive(PayoutsQuery, { after: params.get('after'), ...filter });
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
    <Page title="Payouts" actions={<Export source={{ payouts: { filter } }} />}>
      <Coming />
      <Adjusted ofUsers={ofUsers} />
      <FilterBar>
        <Choice label="Status" name="status" values={statuses} />
      </FilterBar>
      <List
        label="Payouts"
        result={result}
        page={result.data?.payouts}
        columns={columns.filter((column) => column !== false)}
        href={({ id }) => `/payouts/${id}`}
        empty={
          <Empty title={status ? 'No payout has this status' : 'No payouts yet'}>
            <p>Reconciled payments are paid out to the bank account at the interval of the account.</p>
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
