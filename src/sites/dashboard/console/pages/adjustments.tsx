import { useLive } from '../../graph/live';
import type { ResultOf } from '../../graph/graphql';
import { sent } from '../../graph/sent';
import { statusColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { AmountField, SelectField, TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { AccountInput } from '../found-input';
import { graphql } from '../graphql';
import { AccountLink, modes, nameOf, pageOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';
import { useMayAct, useSession } from '../session';
import { approvedText } from './approved-text';

const AdjustmentsQuery = graphql(`
  query Adjustments($status: AdjustmentStatus, $mode: Mode, $tenantId: ID, $after: String) {
    adjustments(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId accountId reason status proposedBy decidedBy decidedAt approvalsLeft
        root { id nickname businessDetails { legalName } }
        credit { amount currency } debit { amount currency }
        account { id nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

const ProposeMutation = graphql(`
  mutation ProposeAdjustment($input: ProposeAdjustmentInput!) {
    proposeAdjustment(input: $input) { adjustment { id status } }
  }
`);

const ApproveMutation = graphql(`
  mutation ApproveAdjustment($input: ApproveAdjustmentInput!) {
    approveAdjustment(input: $input) { adjustment { id status } }
  }
`);

const RejectMutation = graphql(`
  mutation RejectAdjustment($input: RejectAdjustmentInput!) {
    rejectAdjustment(input: $input) { adjustment { id status } }
  }
`);

type Adjustment = ResultOf<typeof AdjustmentsQuery>['adjustments']['nodes'][number];

const statuses = ['PROPOSED', 'APPROVED', 'REJECTED'] as const;

/** Corrections of available money: one operator proposes them, another one approves them. */
export function Adjustments() {
  const { params, one } = useFilters();
  const mayAct = useMayAct();
  const all = params.get('status') === 'ALL';
  const result = useLive(
    AdjustmentsQuery,
    sent({
      status: all ? undefined : (one('status', statuses) ?? 'PROPOSED'),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page
      title="Adjustments"
      subtitle={<p className="hint">One operator proposes a correction, and it waits until another one approves it.</p>}
      actions={<Propose onDone={result.ask} />}
    >
      <FilterBar>
        <Choice
          label="Status"
          name="status"
          values={['APPROVED', 'REJECTED', 'ALL']}
          names={{ ALL: 'All' }}
          none="Proposed"
        />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Adjustments"
        result={result}
        page={pageOf(result.data?.adjustments)}
        columns={[
          { head: 'Account', cell: (adjustment) => <About adjustment={adjustment} /> },
          placeColumn,
          { head: 'Proposed', cell: (adjustment) => <Who adjustment={adjustment} /> },
          statusColumn(),
          { head: 'Gets', cell: ({ credit }) => credit && <Money {...credit} />, end: true },
          { head: 'Gives', cell: ({ debit }) => debit && <Money {...debit} />, end: true },
          ...(mayAct ? [decision(result.ask)] : []),
        ]}
        empty={
          <Empty title="No adjustment matches">
            <p>Propose one for a fee, a write-off, or to set off a debt in one currency against another.</p>
          </Empty>
        }
      />
    </Page>
  );
}

const accountOf = ({ account, accountId }: Adjustment) => (account ? nameOf(account) : accountId);

function About({ adjustment }: { adjustment: Adjustment }) {
  return (
    <span className="two-lines">
      <AccountLink id={adjustment.accountId} livemode={adjustment.livemode}>
        {accountOf(adjustment)}
      </AccountLink>
      <span className="hint">{adjustment.reason}</span>
    </span>
  );
}

function Who({ adjustment: { created, proposedBy, decidedBy } }: { adjustment: Adjustment }) {
  return (
    <span className="two-lines">
      <Time at={created} />
      <span className="hint">{decidedBy ? `${proposedBy}; decided by ${decidedBy}` : proposedBy}</span>
    </span>
  );
}

const decision = (onDone: () => void): Column<Adjustment> => ({
  head: 'Decision',
  end: true,
  cell: (adjustment) => adjustment.status === 'PROPOSED' && <Decision adjustment={adjustment} onDone={onDone} />,
});

function Decision({ adjustment, onDone }: { adjustment: Adjustment; onDone: () => void }) {
  const { operator } = useSession();
  const { approvalsLeft } = adjustment;
  const own = approvalsLeft === 1 && adjustment.proposedBy === operator.name;
  const common = { about: accountOf(adjustment), small: true, input: { id: adjustment.id }, onDone };
  return (
    <span className="row-actions">
      {own || operator.name === 'OPERATOR_KEY' ? (
        <span className="hint">{own ? 'Waits for another operator' : 'Waits for a named operator'}</span>
      ) : (
        <Action
          name="Approve"
          title="Approve the adjustment"
          submit="Approve it"
          mutation={ApproveMutation}
          done={`The adjustment of ${accountOf(adjustment)} ${approvedText(approvalsLeft)}.`}
          {...common}
        >
          <AdjustmentFacts adjustment={adjustment} />
          <p className="hint">
            {adjustment.livemode ? 'Live mode: real money.' : 'Test mode.'}{' '}
            {approvalsLeft > 1
              ? 'It is your proposal then, and moves when another named operator approves it, too.'
              : 'It moves at once, and the account is shown the reason.'}
          </p>
        </Action>
      )}
      <Action
        name={own ? 'Withdraw' : 'Reject'}
        kind="danger"
        title={own ? 'Withdraw the adjustment' : 'Reject the adjustment'}
        submit={own ? 'Withdraw it' : 'Reject it'}
        mutation={RejectMutation}
        done={`The adjustment of ${accountOf(adjustment)} is ${own ? 'withdrawn' : 'rejected'}.`}
        {...common}
      >
        <AdjustmentFacts adjustment={adjustment} />
        <p className="hint">It moves nothing.</p>
      </Action>
    </span>
  );
}

function AdjustmentFacts({ adjustment }: { adjustment: Adjustment }) {
  const { id, credit, debit, reason, proposedBy } = adjustment;
  return (
    <Facts
      facts={[
        ['Account', accountOf(adjustment)],
        ['Gets', credit && <strong className="amount-line">{<Money {...credit} />}</strong>],
        ['Gives', debit && <strong className="amount-line">{<Money {...debit} />}</strong>],
        ['Reason', reason],
        ['Proposed by', proposedBy],
        ['Adjustment', <code>{id}</code>],
      ]}
    />
  );
}

function Propose({ onDone }: { onDone: () => void }) {
  return (
    <Action
      name="Propose an adjustment"
      kind="primary"
      title="Propose an adjustment"
      submit="Propose it"
      mutation={ProposeMutation}
      input={{}}
      read={({ credit, debit, ...values }) => ({ ...values, ...filled({ credit, debit }) })}
      done="The adjustment is proposed. It waits for another operator."
      onDone={onDone}
    >
      <p className="hint">
        Only what it gives: a fee. Only what it gets: a write-off. Both, in two currencies: a set-off.
      </p>
      <AccountInput name="accountId" label="Account" required />
      <SelectField
        name="mode"
        label="Mode"
        options={[
          { value: 'LIVE', name: 'Live' },
          { value: 'TEST', name: 'Test' },
        ]}
      />
      <Side name="credit" label="Gets" />
      <Side name="debit" label="Gives" />
      <TextField name="reason" label="Reason" hint="The account reads it." maxLength={200} required />
    </Action>
  );
}

function Side({ name, label }: { name: string; label: string }) {
  return (
    <div className="fields two">
      <AmountField name={`${name}.amount`} label={label} />
      <TextField name={`${name}.currency`} label="Currency" placeholder="USD" maxLength={3} />
    </div>
  );
}

/** The sides of which something was filled in. */
const filled = (sides: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(sides).filter(([, side]) => Object.values(side ?? {}).some(Boolean)));
