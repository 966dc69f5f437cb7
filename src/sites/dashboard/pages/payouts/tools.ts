import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const settle = graphql(`
  mutation SettleTestPayout($input: SettleTestPayoutInput!) {
    settleTestPayout(input: $input) { payout { id status } }
  }
`);
const fail = graphql(`
  mutation FailTestPayout($input: FailTestPayoutInput!) {
    failTestPayout(input: $input) { payout { id status } }
  }
`);

const giveBack = graphql(`
  mutation ReturnTestPayout($input: ReturnTestPayoutInput!) {
    returnTestPayout(input: $input) { payout { id status } }
  }
`);

const tools: Record<string, Tool[]> = {
  PROCESSING: [
    { name: 'Settle', mutation: settle },
    { name: 'Fail', mutation: fail, input: 'FailTestPayoutInput' },
  ],
  COMPLETED: [{ name: 'Return', mutation: giveBack, input: 'ReturnTestPayoutInput' }],
};

const ended: Record<string, string> = {
  FAILED: 'This payout has failed. Its money is available again, and the next payout takes it.',
  RETURNED: 'The bank has sent this payout back. Its money is available again, and the next payout takes it.',
};

/** What the sandbox bank can do with a payout, or why it can do nothing. */
export function toolsOf(status: string) {
  return { tools: tools[status] ?? [], none: ended[status] ?? 'The bank does no more with this payout.' };
}
