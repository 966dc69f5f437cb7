import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { useFilters } from '../../parts/filters';
import { SelectField } from '../../parts/form';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Action } from '../action';
import { AccountInput } from '../found-input';
import { graphql } from '../graphql';
import { AccountLink, nameOf, pageOf, placeColumn } from '../parts';
import { useMayAct } from '../session';
import { HoldAction, PlaceMutation } from './hold-actions';

const HoldsQuery = graphql(`
  query ServiceHolds($after: String) {
    serviceHolds(first: 25, after: $after) {
      nodes {
        id livemode tenantId accountId platformHold payoutsInterval
        root { id nickname businessDetails { legalName } }
        account { id livemode nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

/** The accounts whose payouts the service holds. */
export function Holds() {
  const mayAct = useMayAct();
  const { params } = useFilters();
  const result = useLive(HoldsQuery, { after: params.get('after') });
  return (
    <Page
      title="Holds"
      subtitle={<p className="hint">Accounts whose payouts an operator holds. Their money stays in their balances.</p>}
      actions={<ByAccount onDone={result.ask} />}
    >
      <List
        label="Holds"
        result={result}
        page={pageOf(result.data?.serviceHolds)}
        columns={[
          {
            head: 'Account',
            cell: ({ account, accountId, livemode, platformHold }) => (
              <span className="two-lines">
                <AccountLink id={accountId} livemode={livemode}>
                  {account ? nameOf(account) : accountId}
                </AccountLink>
                {platformHold && <span className="hint">Its platform holds its payouts, too</span>}
              </span>
            ),
          },
          placeColumn,
          { head: 'Payouts', cell: ({ payoutsInterval }) => words(payoutsInterval) },
          ...(mayAct ? [lifting(result.ask)] : []),
        ]}
        empty={
          <Empty title="No payouts are held">
            <p>An operator places a hold here, or on the page of an account.</p>
          </Empty>
        }
      />
    </Page>
  );
}

type Row = ResultOf<typeof HoldsQuery>['serviceHolds']['nodes'][number];

const lifting = (onDone: () => void): Column<Row> => ({
  head: 'Action',
  end: true,
  cell: ({ account }) => account && <HoldAction account={account} held onDone={onDone} />,
});

/** Places a hold on an account, by its id. */
function ByAccount({ onDone }: { onDone: () => void }) {
  return (
    <Action
      name="Hold payouts"
      kind="danger"
      title="Hold the payouts of an account"
      submit="Hold the payouts"
      reason
      mutation={PlaceMutation}
      input={{}}
      done="The payouts are held."
      onDone={onDone}
    >
      <p className="hint">Payouts under way go on; no further ones are sent.</p>
      <AccountInput name="accountId" label="Account" required />
      <SelectField
        name="mode"
        label="Mode"
        options={[
          { value: 'LIVE', name: 'Live' },
          { value: 'TEST', name: 'Test' },
        ]}
      />
    </Action>
  );
}
