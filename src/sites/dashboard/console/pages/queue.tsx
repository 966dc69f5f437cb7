import { formatAge } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { Empty } from '../../parts/empty';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { Tabs } from '../../parts/tabs';
import { graphql } from '../graphql';
import { accountAddress, nameOf, pageOf, placeColumn, modes } from '../parts';
import { PlaceFilters } from '../place-filters';

const QueueQuery = graphql(`
  query Queue($status: AccountStatus!, $mode: Mode, $tenantId: ID, $after: String) {
    accounts(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId ownerId edition type status nickname
        businessDetails { legalName }
        root { id nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

/** What waits for a verdict. A root in live mode has no request of its own: it is a draft until it is verified. */
const kinds = [
  ['VERIFYING', 'Submitted'],
  ['DRAFT', 'Live drafts'],
  ['HOLD', 'On hold'],
] as const;

/** The verification queue: the accounts of all tenants that wait for a verdict, the oldest first. */
export function Queue() {
  const { params, set, one } = useFilters();
  const status = one('show', ['VERIFYING', 'DRAFT', 'HOLD']) ?? 'VERIFYING';
  const drafts = status === 'DRAFT';
  const result = useLive(
    QueueQuery,
    sent({
      status,
      mode: drafts ? 'LIVE' : one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page title="Verification" subtitle={<p className="hint">Accounts that wait for a verdict, oldest first.</p>}>
      <FilterBar>
        <Tabs kinds={kinds} chosen={status} onChoose={(show) => set({ show: show === 'VERIFYING' ? null : show })} />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Accounts to verify"
        result={result}
        page={pageOf(result.data?.accounts)}
        href={accountAddress}
        columns={[
          {
            head: 'Account',
            cell: (account) => (
              <span className="two-lines">
                <strong>{nameOf(account)}</strong>
                <span className="hint">
                  {words(account.type)}, Edition {account.edition}
                  {account.ownerId === null && ' · root'}
                </span>
              </span>
            ),
          },
          placeColumn,
          { head: 'Created', cell: ({ created }) => formatAge(created), end: true },
        ]}
        empty={
          <Empty title={drafts ? 'No drafts in live mode' : 'Nothing waits for a verdict'}>
            <p>An account comes here when it asks to be activated.</p>
          </Empty>
        }
      />
    </Page>
  );
}
