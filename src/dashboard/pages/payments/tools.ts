import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const process = graphql(`
  mutation ProcessTestPayment($id: ID!) {
    processTestDeposit(input: { id: $id }) {
      deposit {
        id
        status
      }
    }
  }
`);
const complete = graphql(`
  mutation CompleteTestPayment($id: ID!) {
    completeTestDeposit(input: { id: $id }) {
      deposit {
        id
        status
      }
    }
  }
`);
const fail = graphql(`
  mutation FailTestPayment($id: ID!) {
    failTestDeposit(input: { id: $id }) {
      deposit {
        id
        status
      }
    }
  }
`);
const reverse = graphql(`
  mutation ReverseTestPayment($id: ID!) {
    reverseTestDeposit(input: { id: $id, reasonCode: GENERAL }) {
      deposit {
        id
        status
      }
    }
  }
`);
const dispute = graphql(`
  mutation DisputeTestPayment($id: ID!) {
    disputeTestDeposit(input: { id: $id, reasonCode: GENERAL }) {
      deposit {
        id
        status
      }
    }
  }
`);

/** What the sandbox bank can do with a payment in a status. */
export function toolsFor(status: string): Tool[] {
  if (status === 'INITIALIZED')
    return [
      { name: 'Process', mutation: process },
      { name: 'Fail', mutation: fail },
    ];
  if (status === 'PROCESSING')
    return [
      { name: 'Complete', mutation: complete },
      { name: 'Fail', mutation: fail },
    ];
  if (status !== 'COMPLETED') return [];
  return [
    { name: 'Reverse', mutation: reverse },
    { name: 'Dispute', mutation: dispute },
  ];
}
