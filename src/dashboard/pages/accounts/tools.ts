import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const verify = graphql(`
  mutation VerifyTestAccount($id: ID!) {
    verifyTestAccount(input: { id: $id }) {
      account {
        id
        status
      }
    }
  }
`);
const hold = graphql(`
  mutation HoldTestAccount($id: ID!) {
    holdTestAccount(input: { id: $id }) {
      account {
        id
        status
      }
    }
  }
`);
const deactivate = graphql(`
  mutation DeactivateTestAccount($id: ID!) {
    deactivateTestAccount(input: { id: $id }) {
      account {
        id
        status
      }
    }
  }
`);

/** What the verification of the sandbox can do with an account in a status. */
export function toolsFor(status: string): Tool[] {
  if (status === 'VERIFYING')
    return [
      { name: 'Verify', mutation: verify },
      { name: 'Hold', mutation: hold },
    ];
  if (status === 'HOLD') return [{ name: 'Lift the hold', mutation: verify }];
  if (status !== 'ACTIVATED') return [];
  return [
    { name: 'Hold', mutation: hold },
    { name: 'Deactivate for testing', mutation: deactivate },
  ];
}
