import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const settle = graphql(`
  mutation SettleTestPayout($id: ID!) {
    settleTestPayout(input: { id: $id }) {
      payout {
        id
        status
      }
    }
  }
`);
const fail = graphql(`
  mutation FailTestPayout($id: ID!) {
    failTestPayout(input: { id: $id }) {
      payout {
        id
        status
      }
    }
  }
`);

/** What the sandbox bank can do with a payout in a status. */
export function toolsFor(status: string): Tool[] {
  if (status !== 'PROCESSING') return [];
  return [
    { name: 'Settle', mutation: settle },
    { name: 'Fail', mutation: fail },
  ];
}
