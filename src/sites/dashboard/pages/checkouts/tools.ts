import { graphql } from '../../graph/graphql';
import type { Tool } from '../../parts/test-tools';

const pay = graphql(`
  mutation PayTestCheckout($input: PayTestCheckoutInput!) {
    payTestCheckout(input: $input) { checkout { id status } }
  }
`);
const decline = graphql(`
  mutation DeclineTestCheckout($input: DeclineTestCheckoutInput!) {
    declineTestCheckout(input: $input) { checkout { id status } }
  }
`);
const expire = graphql(`
  mutation ExpireTestCheckout($input: ExpireTestCheckoutInput!) {
    expireTestCheckout(input: $input) { checkout { id status } }
  }
`);

const tools: Tool[] = [
  { name: 'Pay', mutation: pay, input: 'PayTestCheckoutInput' },
  { name: 'Decline', mutation: decline, input: 'DeclineTestCheckoutInput' },
  { name: 'Expire', mutation: expire },
];

/** What the sandbox can do with a checkout, or why it can do nothing. */
export function toolsOf(status: string) {
  if (status === 'INITIALIZED') return { tools };
  const ended = `This checkout is ${status.toLowerCase()}: it cannot be paid any more.`;
  return {
    tools: [],
    none: status === 'COMPLETED' ? 'This checkout is paid. Its payment has tools of its own.' : ended,
  };
}
