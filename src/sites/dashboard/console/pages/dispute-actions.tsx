import { FileDown } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { disputeReason } from '../../format/disputes';
import { formatMoney } from '../../format/money';
import { contentOf, save } from '../../graph/files';
import type { Failure } from '../../graph/write';
import { DialogButton } from '../../parts/dialog';
import { Facts } from '../../parts/facts';
import { AmountField, SelectField, TextField } from '../../parts/form';
import { Money } from '../../parts/money';
import { Problem } from '../../parts/problem';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { PaymentInput } from '../found-input';
import { graphql } from '../graphql';
import { payeeOf } from '../parts';
import { operatorHeaders } from '../session';
import type { Dispute } from './dispute-query';

const OpenMutation = graphql(`
  mutation OpenDispute($input: OpenDisputeInput!) {
    openDispute(input: $input) { dispute { id status } unexplained { id } }
  }
`);

const WinMutation = graphql(`
  mutation WinDispute($input: WinDisputeInput!) {
    winDispute(input: $input) { dispute { id status } unexplained { id status } }
  }
`);

const LoseMutation = graphql(`
  mutation LoseDispute($input: LoseDisputeInput!) {
    loseDispute(input: $input) { dispute { id status } unexplained { id status } }
  }
`);

const reasons = [
  ...['GENERAL', 'CANCELLED', 'DUPLICATE', 'HIGH_RISK', 'INCORRECT_AMOUNT', 'POOR_IMAGE_QUALITY', 'UNMATCHED_DETAILS'],
];

/** Records that a payer has got money back from the bank or the acquirer. */
export function OpenDispute({ onDone }: { onDone: () => void }) {
  return (
    <Action
      name="Open a dispute"
      title="Open a dispute"
      submit="Open it"
      mutation={OpenMutation}
      input={{}}
      read={({ respondBy, ...values }) => ({
        ...values,
        ...(respondBy !== undefined && { respondBy: `${String(respondBy)}:00Z` }),
      })}
      done={({ openDispute }) =>
        openDispute?.unexplained
          ? 'No balance has this money, so what was taken back is unexplained money. The account is not asked.'
          : 'The dispute is open. Its account can answer it.'
      }
      onDone={onDone}
    >
      <p className="hint">
        Live mode: real money. The payer has got it back from the bank or the acquirer, and it is taken from the account
        at once.
      </p>
      <PaymentInput name="id" label="Payment" required />
      <TextField name="reference" label="The bank's reference of the dispute" maxLength={255} required />
      <AmountField name="amount" label="Amount" hint="Without one, all that disputes and refunds have left." />
      <SelectField
        name="reasonCode"
        label="Why the payer disputes"
        options={reasons.map((value) => ({ value, name: disputeReason(value) }))}
      />
      <TextField name="acquirerReason" label="In the words of the bank" maxLength={255} hint="The account reads it." />
      <TextField
        name="respondBy"
        label="Last moment of an answer (UTC)"
        type="datetime-local"
        hint="Without one, it can be answered until it is decided."
      />
    </Action>
  );
}

/** Records what the bank or the acquirer has decided. */
export function Decision({ dispute, onDone }: { dispute: Dispute; onDone: () => void }) {
  const { id, submittedAt } = dispute;
  const what = `${formatMoney(dispute)} ${dispute.currency} of ${payeeOf(dispute)}`;
  return (
    <span className="row-actions">
      <WinOrLose
        id={id}
        what={what}
        onDone={onDone}
        facts={<DisputeFacts dispute={dispute} />}
        win="Live mode: real money. What was taken comes back to the account at once."
        lose={
          <>
            {submittedAt === null && (
              <p className="hint">The account has not answered, and cannot answer any more afterwards.</p>
            )}
            <p className="hint">It moves nothing: the payer keeps the money that was taken. There is no way back.</p>
          </>
        }
      />
    </span>
  );
}

interface DecisionOf {
  /** The dispute, or the unexplained money that it took. */
  id: string;
  what: string;
  facts: ReactNode;
  win: string;
  lose: ReactNode;
  onDone: () => void;
}

/** The buttons that say who has won, with what follows from it. */
export function WinOrLose({ id, what, facts, win, lose, onDone }: DecisionOf) {
  const common = { about: what, small: true, input: { id }, onDone };
  return (
    <>
      <Action
        name="Win"
        title="Record that the account has won"
        submit="The account has won"
        mutation={WinMutation}
        done={`Won: ${what}.`}
        {...common}
      >
        {facts}
        <p className="hint">{win}</p>
      </Action>
      <Action
        name="Lose"
        kind="danger"
        title="Record that the payer has won"
        submit="The payer has won"
        reason="For the audit log, such as what the bank said."
        mutation={LoseMutation}
        done={`Lost: ${what}.`}
        {...common}
      >
        {facts}
        {lose}
      </Action>
    </>
  );
}

function DisputeFacts({ dispute }: { dispute: Dispute }) {
  const { id, amount, currency, reasonCode, acquirerReason, reference, depositId, deposit } = dispute;
  return (
    <Facts
      facts={[
        ['Amount', <strong className="amount-line">{<Money amount={amount} currency={currency} />}</strong>],
        ['Account', payeeOf(dispute)],
        ['Reason', [disputeReason(reasonCode), acquirerReason].filter(Boolean).join(': ')],
        ["The bank's reference", reference],
        ['Payer', deposit?.payerName],
        ['Payment', <code>{depositId}</code>],
        ['Dispute', <code>{id}</code>],
      ]}
    />
  );
}

/** What the account has answered, for the bank or the acquirer. Each download of a file is in the audit log. */
export function AnswerDialog({ dispute }: { dispute: Dispute }) {
  const { evidenceText, evidenceFiles, submittedAt } = dispute;
  return (
    <DialogButton title="The answer of the account" label="Show" className="button small">
      {() => (
        <div className="form">
          <DisputeFacts dispute={dispute} />
          <div>
            <h3>Answered {submittedAt && <Time at={submittedAt} />}</h3>
            {evidenceText !== null && <p className="answer">{evidenceText}</p>}
            {evidenceFiles.map((file) => (
              <EvidenceFile key={file.id} {...file} />
            ))}
          </div>
        </div>
      )}
    </DialogButton>
  );
}

function EvidenceFile({ filename, contentPath }: { filename: string; contentPath: string }) {
  const [failure, setFailure] = useState<Failure>();
  const load = async () => {
    const content = await contentOf(contentPath, operatorHeaders);
    if ('messages' in content) return setFailure(content);
    setFailure(undefined);
    save(content, filename);
  };
  return (
    <p className="file-link">
      <button type="button" className="link" onClick={() => void load()}>
        <FileDown aria-hidden /> <span>{filename}</span>
      </button>
      {failure && <Problem error={failure} />}
    </p>
  );
}
