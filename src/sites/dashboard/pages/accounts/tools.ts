import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const verify = graphql(`
  mutation VerifyTestAccount($input: VerifyTestAccountInput!) {
    verifyTestAccount(input: $input) { account { id status } }
  }
`);
const hold = graphql(`
  mutation HoldTestAccount($input: HoldTestAccountInput!) {
    holdTestAccount(input: $input) { account { id status } }
  }
`);
const deactivate = graphql(`
  mutation DeactivateTestAccount($input: DeactivateTestAccountInput!) {
    deactivateTestAccount(input: $input) { account { id status } }
  }
`);
const wallet = graphql(`
  mutation CreateTestWallet($input: CreateTestWalletInput!) {
    createTestWallet(input: $input) {
      address { id account { id } }
    }
  }
`);
const expireAddress = graphql(`
  mutation ExpireTestAddress($input: ExpireTestAddressInput!) {
    expireTestAddress(input: $input) { address { id status } }
  }
`);
const deactivateAddress = graphql(`
  mutation DeactivateTestAddress($input: DeactivateTestAddressInput!) {
    deactivateTestAddress(input: $input) { address { id status } }
  }
`);

const close: Tool = { name: 'Deactivate for testing', mutation: deactivate };
const tools: Record<string, Tool[]> = {
  DRAFT: [close],
  VERIFYING: [{ name: 'Verify', mutation: verify }, { name: 'Hold', mutation: hold }, close],
  ACTIVATED: [{ name: 'Hold', mutation: hold }, close],
  HOLD: [{ name: 'Lift the hold', mutation: verify }, close],
};

const giveWallet: Tool = {
  name: 'Give it a wallet',
  mutation: wallet,
  input: 'CreateTestWalletInput',
  withKey: true,
};

/** What the verification of the sandbox can do with an account, or why it can do nothing. `own` is the viewer's. */
export function toolsOf({ type, status }: { type: string; status: string }, own: boolean) {
  if (status === 'DEACTIVATED')
    return {
      tools: [],
      none:
        type === 'PARTNER'
          ? 'This customer is deactivated. Activate it to use it again.'
          : 'This account is deactivated, and stays so.',
    };
  // Who deactivates the account of their own session has locked themselves out.
  const found = (tools[status] ?? []).filter((tool) => !own || tool !== close);
  return { tools: type === 'PARTNER' && status === 'ACTIVATED' ? [...found, giveWallet] : found };
}

/** What the sandbox can do with an address in a status. */
export function addressToolsOf(status: string): Tool[] {
  const end: Tool = { name: 'Deactivate for testing', mutation: deactivateAddress, withKey: true };
  if (status === 'ACTIVATED') return [{ name: 'Expire for testing', mutation: expireAddress, withKey: true }, end];
  return status === 'EXPIRED' || status === 'PENDING_DEACTIVATION' ? [end] : [];
}
