import { Link } from 'wouter';
import { disputeReason, disputeState, isAnswerable, isOpen } from '../../format/disputes';
import { formatLeft } from '../../format/time';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { amountColumn, stateColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { AccountLink, modes, pageOf, paymentAddress, payeeOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';
import { useMayAct } from '../session';
import { AnswerDialog, Decision, OpenDispute } from './dispute-actions';
import { type Dispute, DisputesQuery } from './dispute-query';

const statuses = ['UNDER_REVIEW', 'NEEDS_RESPONSE', 'WON', 'LOST', 'ACCEPTED'] as const;

/** The disputes of all tenants. The bank or the acquirer wants the answers of those under review, and decides them. */
export function Disputes() {
  const { params, one } = useFilters();
  const mayAct = useMayAct();
  const all = params.get('status') === 'ALL';
  const result = useLive(
    DisputesQuery,
    sent({
      status: all ? undefined : (one('status', statuses) ?? 'UNDER_REVIEW'),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page
      title="Disputes"
      subtitle={
        <p className="hint">
          The bank or the acquirer gets the answers of live disputes from an operator, who records its decision.
        </p>
      }
      actions={<OpenDispute onDone={result.ask} />}
    >
      <FilterBar>
        <Choice
          label="Status"
          name="status"
          values={[...statuses.slice(1), 'ALL']}
          names={{ ALL: 'All' }}
          none="Under review"
        />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Disputes"
        result={result}
        page={pageOf(result.data?.disputes)}
        columns={[
          { head: 'Account', cell: (dispute) => <About dispute={dispute} /> },
          placeColumn,
          { head: 'Opened', cell: (dispute) => <When dispute={dispute} /> },
          stateColumn(disputeState),
          { head: 'Answer', cell: (dispute) => dispute.submittedAt !== null && <AnswerDialog dispute={dispute} /> },
          amountColumn(),
          ...(mayAct ? [decision(result.ask)] : []),
        ]}
        empty={
          <Empty title={params.has('status') ? 'No dispute matches' : 'No answer waits for a decision'}>
            <p>A dispute comes here when its account has answered it.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function About({ dispute }: { dispute: Dispute }) {
  const { accountId, livemode, reasonCode, acquirerReason, reference } = dispute;
  return (
    <span className="two-lines">
      <AccountLink id={accountId} livemode={livemode}>
        {payeeOf(dispute)}
      </AccountLink>
      <span className="hint">{[disputeReason(reasonCode), acquirerReason, reference].filter(Boolean).join(' · ')}</span>
    </span>
  );
}

function When({ dispute }: { dispute: Dispute }) {
  const { created, respondBy, decidedAt } = dispute;
  return (
    <span className="two-lines">
      <Time at={created} />
      <Link href={paymentAddress(dispute.depositId, dispute.tenantId)}>Payment</Link>
      {respondBy && isAnswerable(dispute) && <span className="hint">{formatLeft(respondBy)} to answer</span>}
      {decidedAt && (
        <span className="hint">
          decided <Time at={decidedAt} />
        </span>
      )}
    </span>
  );
}

const decision = (onDone: () => void): Column<Dispute> => ({
  head: 'Decision',
  end: true,
  // In test mode a test helper decides.
  cell: (dispute) => dispute.livemode && isOpen(dispute) && <Decision dispute={dispute} onDone={onDone} />,
});
