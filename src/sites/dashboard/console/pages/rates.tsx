import { Empty } from '../../parts/empty';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { Time } from '../../parts/time';
import { useLive } from '../../graph/live';
import { Action } from '../action';
import { AccountInput } from '../found-input';
import { graphql } from '../graphql';
import { OfTenant } from '../parts';
import { TenantFilter } from '../tenant-filter';

const RatesQuery = graphql(`
  query Rates($tenantId: ID!) {
    rates(tenantId: $tenantId) {
      tenantId source target rate created
      root { id nickname businessDetails { legalName } }
    }
  }
`);

const SetRateMutation = graphql(`
  mutation SetRate($input: SetRateInput!) {
    setRate(input: $input) { rate { tenantId source target rate } }
  }
`);

/** The exchange rates of a tenant's live payouts. */
export function Rates() {
  const { params } = useFilters();
  const tenantId = params.get('tenant') ?? '';
  const result = useLive(RatesQuery, { tenantId }, { pause: tenantId === '' });
  const rows = result.data?.rates.map((rate) => ({ ...rate, id: `${rate.source}-${rate.target}` }));
  return (
    <Page
      title="Rates"
      subtitle={<p className="hint">What live payouts of a tenant are converted at.</p>}
      actions={<SetRate tenantId={tenantId} onDone={result.ask} />}
    >
      <FilterBar shown>
        <TenantFilter />
      </FilterBar>
      {tenantId === '' ? (
        <Empty title="Which tenant?">
          <p>Choose it by the name of any of its accounts. Each tenant has rates of its own.</p>
        </Empty>
      ) : (
        <List
          label="Rates"
          result={result}
          page={rows && { nodes: rows, pageInfo: { hasNextPage: false, endCursor: null } }}
          columns={[
            { head: 'Pair', cell: ({ source, target }) => <strong>{`${source} → ${target}`}</strong> },
            {
              head: 'Mode and tenant',
              cell: (rate) => <OfTenant livemode {...rate} />,
              plain: true,
            },
            { head: 'Set', cell: ({ created }) => <Time at={created} /> },
            { head: 'Rate', cell: ({ rate }) => <span className="money">{rate}</span>, end: true },
          ]}
          empty={
            <Empty title="No rates">
              <p>Without a rate, live payouts in another currency wait.</p>
            </Empty>
          }
        />
      )}
    </Page>
  );
}

const inCapitals = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value);

function SetRate({ tenantId, onDone }: { tenantId: string; onDone: () => void }) {
  return (
    <Action
      name="Set a rate"
      kind="primary"
      title="Set a rate"
      submit="Set the rate"
      mutation={SetRateMutation}
      input={{}}
      read={({ source, target, ...values }) => ({ ...values, source: inCapitals(source), target: inCapitals(target) })}
      done="The rate is set."
      onDone={onDone}
    >
      <p className="hint">It counts from now on, for live payouts that are not sent yet.</p>
      <AccountInput
        name="accountId"
        label="Account"
        hint="Any account of the tenant: its name or its id."
        defaultValue={tenantId}
        required
      />
      <div className="fields two">
        <TextField name="source" label="Currency sold" placeholder="USD" maxLength={3} required />
        <TextField name="target" label="Currency bought" placeholder="INR" maxLength={3} required />
      </div>
      <TextField name="rate" label="Rate" inputMode="decimal" placeholder="83.25" hint="What one unit buys." required />
    </Action>
  );
}
