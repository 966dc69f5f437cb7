import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { statusColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { Search } from '../../parts/search';
import { Time } from '../../parts/time';
import { graphql } from '../graphql';
import { accountAddress, modes, nameOf, pageOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';

const AccountsQuery = graphql(`
  query Accounts(
    $search: String, $status: AccountStatus, $mode: Mode, $tenantId: ID, $newestFirst: Boolean, $after: String
  ) {
    accounts(
      search: $search, status: $status, mode: $mode, tenantId: $tenantId
      newestFirst: $newestFirst, first: 25, after: $after
    ) {
      nodes {
        id created livemode tenantId edition type status nickname
        businessDetails { legalName }
        root { id nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

const statuses = ['DRAFT', 'VERIFYING', 'ACTIVATED', 'HOLD', 'DEACTIVATED'] as const;

/** The accounts of all tenants, the newest first, with a search by name. */
export function Accounts() {
  const { params, one } = useFilters();
  const search = params.get('search');
  const filters = { status: one('status', statuses), mode: one('mode', modes), tenantId: params.get('tenant') };
  const result = useLive(
    AccountsQuery,
    sent({ ...(search ? { search } : { ...filters, newestFirst: true }), after: params.get('after') }),
  );
  return (
    <Page title="Accounts">
      <FilterBar>
        <Search placeholder="Name or e-mail" />
        {!search && (
          <>
            <Choice label="Status" name="status" values={statuses} />
            <PlaceFilters />
          </>
        )}
      </FilterBar>
      <List
        label="Accounts"
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
                </span>
              </span>
            ),
          },
          placeColumn,
          statusColumn(),
          { head: 'Created', cell: ({ created }) => <Time at={created} />, end: true },
        ]}
        empty={
          <Empty title="No account matches">
            <ClearFilters />
          </Empty>
        }
      />
    </Page>
  );
}
