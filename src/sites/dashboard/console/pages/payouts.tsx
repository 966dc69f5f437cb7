import { Link } from 'wouter';
import { formatMoney } from '../../format/money';
import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { amountColumn, statusColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { SelectField, TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { graphql } from '../graphql';
import { bankOf, modes, pageOf, Payee, payeeOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';
import { useMayAct } from '../session';

const PayoutsQuery = graphql(`
  query Payouts($status: PayoutStatus, $mode: Mode, $tenantId: ID, $after: String) {
    payouts(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId accountId amount currency sourceAmount sourceCurrency rate status bankReference
        root { id nickname businessDetails { legalName } }
        account { id nickname businessDetails { legalName } }
        address { id name bankAccount { bankName last4 } }
      }
      next
    }
  }
`);

const SettleMutation = graphql(`
  mutation SettlePayout($input: SettlePayoutInput!) {
    settlePayout(input: $input) { payout { id status } }
  }
`);

const FailMutation = graphql(`
  mutation FailPayout($input: FailPayoutInput!) {
    failPayout(input: $input) { payout { id status } }
  }
`);

const ReturnMutation = graphql(`
  mutation ReturnPayout($input: ReturnPayoutInput!) {
    returnPayout(input: $input) { payout { id status } }
  }
`);

type Payout = ResultOf<typeof PayoutsQuery>['payouts']['nodes'][number];
type PayoutToEnd = Omit<Payout, 'created' | 'tenantId' | 'bankReference' | 'root'>;

const statuses = ['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'] as const;

/** The payouts of all tenants. Those under way in live mode wait for the operator to say whether they arrived. */
export function Payouts() {
  const { params, one } = useFilters();
  const mayAct = useMayAct();
  const all = params.get('status') === 'ALL';
  const result = useLive(
    PayoutsQuery,
    sent({
      status: all ? undefined : (one('status', statuses) ?? 'PROCESSING'),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page
      title="Payouts"
      subtitle={<p className="hint">Live payouts under way wait until an operator says whether they have arrived.</p>}
    >
      <FilterBar>
        <Choice
          label="Status"
          name="status"
          values={['COMPLETED', 'FAILED', 'RETURNED', 'ALL']}
          names={{ ALL: 'All' }}
          none="Processing"
        />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Payouts"
        result={result}
        page={pageOf(result.data?.payouts)}
        columns={[
          { head: 'Payee', cell: (payout) => <Payee payout={payout} /> },
          placeColumn,
          {
            head: 'Sent',
            cell: ({ id, created, bankReference }) => (
              <span className="two-lines">
                <Link href={`/payouts/${id}`}>
                  <Time at={created} />
                </Link>
                {bankReference && <span className="hint">{bankReference}</span>}
              </span>
            ),
          },
          statusColumn(),
          amountColumn(),
          ...(mayAct ? [outcome] : []),
        ]}
        empty={
          <Empty title={params.get('status') === null ? 'No payout is under way' : 'No payout matches'}>
            <p>Payouts are sent at midnight UTC, on the days that each account has set.</p>
          </Empty>
        }
      />
    </Page>
  );
}

const outcome: Column<Payout> = { head: 'Outcome', cell: (payout) => <Outcome payout={payout} />, end: true };

/** What an operator can say of the end of a payout. */
export function Outcome({ payout, onDone }: { payout: PayoutToEnd; onDone?: () => void }) {
  // In test mode the sandbox completes payouts.
  if (!payout.livemode || !['PROCESSING', 'COMPLETED'].includes(payout.status)) return null;
  const what = `${formatMoney(payout)} ${payout.currency} to ${payeeOf(payout)}`;
  const common = { about: what, small: true, input: { id: payout.id }, onDone };
  if (payout.status === 'COMPLETED')
    return (
      <Action
        name="Return"
        kind="danger"
        title="Return the payout"
        submit="It has come back"
        reason="For the audit log, such as what the bank said."
        mutation={ReturnMutation}
        done={`Returned: ${what}.`}
        {...common}
      >
        <PayoutFacts payout={payout} />
        <Report why />
        <p className="hint">
          Its money is available to the account again, its invoices are no longer settled, and the next payout takes it.
        </p>
      </Action>
    );
  return (
    <span className="row-actions">
      <Action
        name="Settle"
        title="Settle the payout"
        submit="It has arrived"
        mutation={SettleMutation}
        done={`Settled: ${what}.`}
        {...common}
      >
        <PayoutFacts payout={payout} />
        <Report />
        <p className="hint">
          The payee is notified that the money has arrived. If the bank sends it back later, you can return it.
        </p>
      </Action>
      <Action
        name="Fail"
        kind="danger"
        title="Fail the payout"
        submit="It has failed"
        reason="For the audit log, such as what the bank said."
        mutation={FailMutation}
        done={`Failed: ${what}.`}
        {...common}
      >
        <PayoutFacts payout={payout} />
        <Report why />
        <p className="hint">Its money is available to the account again, and is paid out with the next payout.</p>
      </Action>
    </span>
  );
}

const reasons = [
  ...['GENERAL', 'ACCOUNT_CLOSED', 'ACCOUNT_INVALID', 'NAME_MISMATCH', 'BANK_REJECTED', 'LIMIT_EXCEEDED', 'REGULATORY'],
];

/** What the bank says of a payout, for the account: its reference, and why the payout did not arrive. */
function Report({ why = false }: { why?: boolean }) {
  return (
    <>
      {why && (
        <SelectField
          name="reasonCode"
          label="What the account is told"
          options={reasons.map((value) => ({ value, name: value === 'GENERAL' ? 'No certain reason' : words(value) }))}
        />
      )}
      <TextField
        name="bankReference"
        label="The bank's reference"
        maxLength={255}
        hint="Such as a UTR, if it is known."
      />
    </>
  );
}

function PayoutFacts({ payout }: { payout: PayoutToEnd }) {
  const { amount, currency, sourceAmount, sourceCurrency, rate } = payout;
  const converted = sourceCurrency !== currency;
  return (
    <Facts
      facts={[
        ['Amount', <strong className="amount-line">{<Money amount={amount} currency={currency} />}</strong>],
        [
          'From',
          converted &&
            `${formatMoney({ amount: sourceAmount, currency: sourceCurrency })} ${sourceCurrency} at ${rate}`,
        ],
        ['Payee', payeeOf(payout)],
        ['Bank account', bankOf(payout)],
        ['Payout', <code>{payout.id}</code>],
      ]}
    />
  );
}
