import { expect, it } from 'vitest';

import type { Visit } from './dashboard-fixture.js';
import { completeDeposit, type Speaker } from './world.js';

/** What the stories need: a browser signed in to the demo platform of Edition 1, and clients of it and its user. */
export interface PlatformDesk {
  desk: () => Promise<Visit>;
  user: () => Promise<Speaker>;
}

/** What a platform sees of its users, whose objects are not all on its own lists. */
export function platformStories({ desk, user }: PlatformDesk): void {
  /** A payment to the address of a customer of the user. It is on the lists of the user alone. */
  async function paidAtCustomer(): Promise<{ payment: string; customer: string }> {
    const seller = await user();
    const { body } = await seller.graph('{ partners(status: [ACTIVATED], first: 1) { nodes { id } } }');
    const customer = body.data.partners.nodes[0].id;
    const made = await seller.post('/v1/deposits', {
      ...{ amount: '41.07', currency: 'USD', payment_method: 'domestic_wire' },
      ...{ from: { account_id: customer }, to: { account_id: customer }, statement_descriptor: 'AT THE CUSTOMER' },
    });
    expect(made.status).toBe(200);
    await completeDeposit(seller, made.body.id);
    return { payment: made.body.id, customer };
  }

  it('sees what happened to the payments and customers of its users', async () => {
    const { payment, customer } = await paidAtCustomer();
    const { page, complaints, open, go } = await desk();
    await open(`/dashboard/payments/${payment}`);
    await page.getByRole('region', { name: 'Timeline' }).getByText('Payment completed').waitFor();
    await go(`/dashboard/accounts/${customer}`);
    await page.getByRole('region', { name: 'Timeline' }).getByText('Account created').waitFor();
    expect(complaints).toEqual([]);
  });
}
