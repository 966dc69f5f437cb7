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
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { graphql } from '../graphql';
import { AccountLink, modes, pageOf, paymentAddress, payeeOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';
import { useMayAct } from '../session';

const RefundsQuery = graphql(`
  query Refunds($status: RefundStatus, $mode: Mode, $tenantId: ID, $after: String) {
    refunds(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId accountId depositId checkoutId amount currency status
        root { id nickname businessDetails { legalName } }
        reason failureReason bankReference endedAt
        account { id nickname businessDetails { legalName } }
        deposit { id created amount currency paymentMethod statementDescriptor bankReference payerName }
      }
      next
    }
  }
`);

const SucceedMutation = graphql(`
  mutation SucceedRefund($input: SucceedRefundInput!) {
    succeedRefund(input: $input) { refund { id status } }
  }
`);

const FailMutation = graphql(`
  mutation FailRefund($input: FailRefundInput!) {
    failRefund(input: $input) { refund { id status } }
  }
`);

type Refund = ResultOf<typeof RefundsQuery>['refunds']['nodes'][number];

const statuses = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;

/** The refunds of all tenants. Those under way in live mode wait for the operator to send them and say how they end. */
export function Refunds() {
  const { params, one } = useFilters();
  const mayAct = useMayAct();
  const all = params.get('status') === 'ALL';
  const result = useLive(
    RefundsQuery,
    sent({
      status: all ? undefined : (one('status', statuses) ?? 'PENDING'),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page
      title="Refunds"
      subtitle={
        <p className="hint">
          Live refunds wait until an operator has sent them and says how they ended. The adapter of an acquirer carries
          out those of checkouts.
        </p>
      }
    >
      <FilterBar>
        <Choice
          label="Status"
          name="status"
          values={['SUCCEEDED', 'FAILED', 'ALL']}
          names={{ ALL: 'All' }}
          none="Pending"
        />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Refunds"
        result={result}
        page={pageOf(result.data?.refunds)}
        columns={[
          { head: 'Account', cell: (refund) => <About refund={refund} /> },
          placeColumn,
          createdColumn,
          { head: 'Ended', cell: ({ endedAt }) => endedAt && <Time at={endedAt} /> },
          statusColumn(),
          amountColumn(),
          ...(mayAct ? [outcome(result.ask)] : []),
        ]}
        empty={
          <Empty title={params.has('status') ? 'No refund matches' : 'No refund is under way'}>
            <p>A refund comes here when an account or its platform asks for one.</p>
          </Empty>
        }
      />
    </Page>
  );
}

const createdColumn: Column<Refund> = {
  head: 'Created',
  cell: ({ created, depositId, tenantId }) => (
    <span className="two-lines">
      <Time at={created} />
      <Link href={paymentAddress(depositId, tenantId)}>Payment</Link>
    </span>
  ),
};

function About({ refund }: { refund: Refund }) {
  const { accountId, livemode, reason, failureReason, checkoutId } = refund;
  const failure = failureReason && `Failed: ${failureReason}`;
  const hint = [reason, failure, checkoutId && 'of a checkout'].filter(Boolean).join(' · ');
  return (
    <span className="two-lines">
      <AccountLink id={accountId} livemode={livemode}>
        {payeeOf(refund)}
      </AccountLink>
      <span className="hint">{hint}</span>
    </span>
  );
}

const outcome = (onDone: () => void): Column<Refund> => ({
  head: 'Outcome',
  cell: (refund) => <Outcome refund={refund} onDone={onDone} />,
  end: true,
});

function Outcome({ refund, onDone }: { refund: Refund; onDone: () => void }) {
  // In test mode the sandbox ends refunds.
  if (!refund.livemode || refund.status !== 'PENDING') return null;
  const what = `${formatMoney(refund)} ${refund.currency} of ${payeeOf(refund)}`;
  const common = { about: what, small: true, input: { id: refund.id }, onDone };
  return (
    <span className="row-actions">
      <Action
        name="Succeed"
        title="Succeed the refund"
        submit="The payer has it"
        mutation={SucceedMutation}
        done={`Refunded: ${what}.`}
        {...common}
      >
        <RefundFacts refund={refund} />
        <Reference />
        <p className="hint">The money has left for good. There is no way back.</p>
      </Action>
      <Action
        name="Fail"
        kind="danger"
        title="Fail the refund"
        submit="It has failed"
        reason="For the audit log, such as what the bank said."
        mutation={FailMutation}
        done={`Failed: ${what}.`}
        {...common}
      >
        <RefundFacts refund={refund} />
        <TextField name="failureReason" label="What the account is told" maxLength={255} />
        <Reference />
        <p className="hint">
          Its money is back where it came from, and its invoices are locked again as far as they can still take it.
        </p>
      </Action>
    </span>
  );
}

/** What the bank or the acquirer calls the refund. */
function Reference() {
  return (
    <TextField
      name="bankReference"
      label="The bank's reference"
      maxLength={255}
      hint="Such as a UTR or an ARN, if it is known."
    />
  );
}

function RefundFacts({ refund }: { refund: Refund }) {
  const { id, amount, currency, checkoutId, reason, deposit } = refund;
  return (
    <>
      <Facts
        facts={[
          ['Amount', <strong className="amount-line">{<Money amount={amount} currency={currency} />}</strong>],
          ['Account', payeeOf(refund)],
          ['Reason', reason],
          ['Payer', deposit?.payerName],
          ['Paid', deposit && <Paid deposit={deposit} />],
          ["The bank's reference of the payment", deposit?.bankReference],
          ['Text of the payment', deposit?.statementDescriptor],
          ['Refund', <code>{id}</code>],
        ]}
      />
      {checkoutId && (
        <p className="hint">
          The adapter of the acquirer carries this refund out where there is one. Record its end if the adapter cannot.
        </p>
      )}
    </>
  );
}

function Paid({ deposit: { created, amount, currency, paymentMethod } }: { deposit: NonNullable<Refund['deposit']> }) {
  return (
    <>
      <Money amount={amount} currency={currency} />, {words(paymentMethod)}, <Time at={created} />
    </>
  );
}
