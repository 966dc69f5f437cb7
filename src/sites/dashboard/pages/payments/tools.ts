import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';
import type { PaymentDetail } from './query';
import { mostOf } from './refunds';

const process = graphql(`
  mutation ProcessTestPayment($input: ProcessTestDepositInput!) {
    processTestDeposit(input: $input) { deposit { id status } }
  }
`);
export const complete = graphql(`
  mutation CompleteTestPayment($input: CompleteTestDepositInput!) {
    completeTestDeposit(input: $input) { deposit { id status } }
  }
`);
const fail = graphql(`
  mutation FailTestPayment($input: FailTestDepositInput!) {
    failTestDeposit(input: $input) { deposit { id status } }
  }
`);
const cancel = graphql(`
  mutation CancelTestPayment($input: CancelTestDepositInput!) {
    cancelTestDeposit(input: $input) { deposit { id status } }
  }
`);
const reverse = graphql(`
  mutation ReverseTestPayment($input: ReverseTestDepositInput!) {
    reverseTestDeposit(input: $input) { deposit { id status } }
  }
`);
const dispute = graphql(`
  mutation DisputeTestPayment($input: DisputeTestDepositInput!) {
    disputeTestDeposit(input: $input) { deposit { id status } }
  }
`);
const recall = graphql(`
  mutation RecallTestPayment($input: RecallTestDepositInput!) {
    recallTestDeposit(input: $input) { deposit { id status } }
  }
`);

const tools: Record<string, Tool[]> = {
  INITIALIZED: [
    { name: 'Process', mutation: process },
    { name: 'Complete', mutation: complete },
    { name: 'Fail', mutation: fail, input: 'FailTestDepositInput' },
    { name: 'Cancel', mutation: cancel, input: 'CancelTestDepositInput' },
  ],
  PROCESSING: [
    { name: 'Complete', mutation: complete },
    { name: 'Fail', mutation: fail, input: 'FailTestDepositInput' },
  ],
  COMPLETED: [
    { name: 'Reverse', mutation: reverse, input: 'ReverseTestDepositInput' },
    { name: 'Dispute', mutation: dispute, input: 'DisputeTestDepositInput' },
    { name: 'Recall', mutation: recall, input: 'RecallTestDepositInput' },
  ],
};

/** What the sandbox bank can do with a payment, or why it can do nothing. */
export function toolsOf(payment: PaymentDetail) {
  const { status, disputedDeposit } = payment;
  if (disputedDeposit)
    return { tools: [], none: 'This payment took its money at once, and the bank does no more with it.' };
  const ended = `This payment is ${status.toLowerCase()}, and a payment that has ended stays so.`;
  // What was refunded can be disputed, too, as long as something is left: only the gateway knows how much.
  const most = payment.refunds?.nodes.every(({ status }) => status === 'FAILED') ? mostOf(payment) : undefined;
  return { tools: (tools[status] ?? []).map((tool) => ({ ...tool, most })), none: ended };
}
