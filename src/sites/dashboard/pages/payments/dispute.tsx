import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { disputeReason, disputeState, isAnswerable, isOpen } from '../../format/disputes';
import { formatLeft, useTimes } from '../../format/time';
import { graphql } from '../../graph/graphql';
import { Copy, Facts } from '../../parts/facts';
import { FileLink } from '../../parts/file-link';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Status } from '../../parts/status';
import { type Tool, ToolButton, useMayTest } from '../../parts/test-tools';
import { AcceptButton, AnswerButton } from './dispute-actions';
import type { Dispute } from './query';

const win = graphql(`
  mutation WinTestDispute($input: WinTestDisputeInput!) {
    winTestDispute(input: $input) { dispute { id status debitDeposit { id status } deposit { id pendingRest } } }
  }
`);
const lose = graphql(`
  mutation LoseTestDispute($input: LoseTestDisputeInput!) {
    loseTestDispute(input: $input) { dispute { id status } }
  }
`);

/** How the bank or the acquirer can decide a dispute in the sandbox. */
const tools: Tool[] = [
  { name: 'Win', mutation: win },
  { name: 'Lose', mutation: lose },
];

const EvidenceQuery = graphql(`
  query Evidence($id: ID!) {
    file(id: $id) { id filename }
  }
`);

/** Disputes of the payment of the page. */
export const DisputeCards = ({ disputes }: { disputes: readonly Dispute[] }) =>
  disputes.map((dispute) => <DisputeCard key={dispute.id} dispute={dispute} />);

/** A dispute: how far it has come, what happened to the money, and how it is answered. */
function DisputeCard({ dispute }: { dispute: Dispute }) {
  const mayTest = useMayTest();
  return (
    <Card title="Dispute" action={<Status value={disputeState(dispute)} />} className="dialogue">
      <Progress dispute={dispute} />
      <DisputeFacts dispute={dispute} />
      <Answer dispute={dispute} />
      {isAnswerable(dispute) && (
        <div className="actions">
          <AnswerButton dispute={dispute} />
          <AcceptButton dispute={dispute} />
        </div>
      )}
      {isOpen(dispute) && mayTest && (
        <div className="actions">
          <span className="hint">Test tools</span>
          {tools.map((tool) => (
            <ToolButton key={tool.name} id={dispute.id} tool={tool} about="dispute" />
          ))}
        </div>
      )}
    </Card>
  );
}

/** What happens next, or how it ended, and where the money is. */
function Progress({ dispute }: { dispute: Dispute }) {
  const time = useTimes();
  const { created, respondBy, decidedAt, amount, currency } = dispute;
  const money = <Money amount={amount} currency={currency} />;
  const until = respondBy && <time dateTime={respondBy}>{time(respondBy)}</time>;
  const left = respondBy && formatLeft(respondBy);
  const taken = (
    <>
      {money} was taken from this payment on {time(created)}, and comes back if the dispute is won.
    </>
  );
  const said: Record<string, ReactNode> = {
    NEEDS_RESPONSE: respondBy ? (
      <>
        The payer disputes this payment. It can be answered until <strong>{until}</strong>: {left}. {taken}
      </>
    ) : (
      <>The payer disputes this payment. It can be answered until it is decided. {taken}</>
    ),
    UNANSWERED: (
      <>
        The payer disputes this payment. The time to answer ended on {until}, and the bank or the acquirer decides.{' '}
        {taken}
      </>
    ),
    UNDER_REVIEW: <>It was answered, and the bank or the acquirer decides. {taken}</>,
    WON: (
      <>
        The dispute was won. The {money} that was taken came back{decidedAt && ` on ${time(decidedAt)}`}.
      </>
    ),
    LOST: <>The dispute was lost. The payer keeps the {money} that was taken.</>,
    ACCEPTED: <>The dispute was accepted without an answer. The payer keeps the {money} that was taken.</>,
  };
  return <p>{said[disputeState(dispute)]}</p>;
}

function DisputeFacts({ dispute }: { dispute: Dispute }) {
  const time = useTimes();
  const { id, amount, currency, reasonCode, acquirerReason, created, submittedAt, decidedAt, reference } = dispute;
  const at = (when: string | null) => when && <time dateTime={when}>{time(when)}</time>;
  return (
    <Facts
      facts={[
        ['Amount', <Money amount={amount} currency={currency} />],
        ['Reason', disputeReason(reasonCode)],
        ['In the words of the bank', acquirerReason],
        ['Opened', at(created)],
        ['Answered', at(submittedAt)],
        ['Decided', at(decidedAt)],
        [
          'Debit',
          <ObjectLink id={dispute.debitDepositId}>
            <Money amount={`-${amount}`} currency={currency} />
          </ObjectLink>,
        ],
        ['Reference', reference && <Copy text={reference} label="the reference of the dispute" />],
        ['ID', <Copy text={id} label="the id of the dispute" />],
      ]}
    />
  );
}

/** What was sent to the bank or the acquirer. */
function Answer({ dispute: { evidenceText, evidenceFileIds } }: { dispute: Dispute }) {
  if (evidenceText === null && evidenceFileIds.length === 0) return null;
  return (
    <div>
      <h3>Answer</h3>
      {evidenceText !== null && <p className="answer">{evidenceText}</p>}
      {evidenceFileIds.map((id) => (
        <EvidenceFile key={id} id={id} />
      ))}
    </div>
  );
}

function EvidenceFile({ id }: { id: string }) {
  const [{ data, error }] = useQuery({ query: EvidenceQuery, variables: { id } });
  if (error) return <Problem error={error} />;
  return data?.file && <FileLink {...data.file} />;
}
