import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const pay = graphql(`
  mutation PayTestCheckout($id: ID!) {
    payTestCheckout(input: { id: $id }) {
      checkout {
        id
        status
      }
    }
  }
`);
const decline = graphql(`
  mutation DeclineTestCheckout($id: ID!) {
    declineTestCheckout(input: { id: $id }) {
      checkout {
        id
        status
      }
    }
  }
`);
const expire = graphql(`
  mutation ExpireTestCheckout($id: ID!) {
    expireTestCheckout(input: { id: $id }) {
      checkout {
        id
        status
      }
    }
  }
`);

/** What the sandbox can do with a checkout in a status. */
export function toolsFor(status: string): Tool[] {
  if (status !== 'INITIALIZED') return [];
  return [
    { name: 'Pay', mutation: pay },
    { name: 'Decline', mutation: decline },
    { name: 'Expire', mutation: expire },
  ];
}
