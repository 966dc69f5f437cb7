import { useState } from 'react';
import { formatMoney } from '../../format/money';
import { graphql } from '../../graph/graphql';
import { ActionButton } from '../../parts/action';
import { TextAreaField } from '../../parts/form';
import { UploadField } from '../../parts/upload';
import type { Dispute } from './query';

const RespondMutation = graphql(`
  mutation RespondToDispute($input: RespondToDisputeInput!) {
    respondToDispute(input: $input) {
      dispute { id status evidenceText evidenceFileIds submittedAt }
    }
  }
`);
const AcceptMutation = graphql(`
  mutation AcceptDispute($input: AcceptDisputeInput!) {
    acceptDispute(input: $input) { dispute { id status decidedAt } }
  }
`);

interface Answer {
  text?: string;
  files?: Record<string, string>;
}

/** Answers a dispute with a text, files, or both. */
export function AnswerButton({ dispute: { id } }: { dispute: Dispute }) {
  return (
    <ActionButton
      name="Answer"
      title="Answer the dispute"
      submit="Send the answer"
      primary
      mutation={RespondMutation}
      read={({ text, files = {} }: Answer) => ({ id, text: text ?? null, fileIds: Object.values(files) })}
    >
      <p className="hint">The bank or the acquirer gets it, and decides. You can answer once.</p>
      <TextAreaField
        name="text"
        label="What speaks against the dispute"
        hint="Such as what was delivered, when, and to whom. Send a text, files, or both."
        maxLength={20_000}
      />
      <EvidenceFiles />
    </ActionButton>
  );
}

/** The most files of an answer. */
const filesMax = 10;

/** Fields for the files of an answer: one more than have been uploaded. */
function EvidenceFiles() {
  const [count, setCount] = useState(1);
  return Array.from({ length: count }, (_, i) => (
    <UploadField
      key={i}
      name={`files.${i}`}
      label={`File ${i + 1}`}
      purpose="dispute_evidence"
      onUploaded={() => setCount((fields) => Math.min(filesMax, Math.max(fields, i + 2)))}
    />
  ));
}

/** Gives the money of a dispute up, after saying what is lost. */
export function AcceptButton({ dispute }: { dispute: Dispute }) {
  const money = `${formatMoney(dispute)} ${dispute.currency}`;
  return (
    <ActionButton
      name="Accept"
      title="Accept the dispute"
      submit="Give the money up"
      danger
      mutation={AcceptMutation}
      read={() => ({ id: dispute.id })}
    >
      <p>
        You give <strong>{money}</strong> up: the payer keeps it. The dispute cannot be answered any more, and there is
        no way back.
      </p>
    </ActionButton>
  );
}
