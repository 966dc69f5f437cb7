import { describe, expect, it } from 'vitest';
import { givenIn, must, type Speaker, useWorld } from '../support/world.js';

const given = givenIn(useWorld({ worker: false }));

interface Entry {
  id: string;
  amount: string;
  balanceAfter: string;
  category: string;
  payment: { id: string; amount: string; type: string };
}

async function completed(user: Speaker, amount: string): Promise<void> {
  const { id } = await must(user.post('/v1/deposits', { amount, currency: 'USD' }));
  await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
}

/** The balance transactions of an account, the newest first. */
const entriesOf = async (user: Speaker): Promise<Entry[]> =>
  (
    await must(
      user.graph('{ balanceTransactions { nodes { id amount balanceAfter category payment { id amount type } } } }'),
    )
  ).data.balanceTransactions.nodes;

describe('a balance transaction', () => {
  it('is the change that a deposit made to one part of the balance, with the balance after it', async () => {
    const user = await given.directUser(1);
    await completed(user, '12.50');
    await completed(user, '0.75');
    const entries = (await entriesOf(user)).filter(({ category }) => category === 'PENDING');
    expect(entries.map(({ amount, balanceAfter }) => [amount, balanceAfter])).toEqual([
      ['0.75', '13.25'],
      ['12.50', '12.50'],
    ]);
    expect((await must(user.get('/v1/balance'))).pending).toEqual([{ amount: '13.25', currency: 'USD' }]);
    expect(entries.map(({ payment: { type, amount } }) => [type, amount])).toEqual([
      ['DEPOSIT', '0.75'],
      ['DEPOSIT', '12.50'],
    ]);
  });

  it('has the same id, amount and payment on /v1, and is missing for another tenant', async () => {
    const [user, stranger] = [await given.directUser(1), await given.directUser(1)];
    await completed(user, '3.00');
    const entries = await entriesOf(user);
    expect(entries.length).toBeGreaterThan(0);
    for (const { id, amount, payment } of entries) {
      const path = `/v1/balance_transactions/${id}`;
      expect(await must(user.get(path))).toMatchObject({ id, amount, payment_id: payment.id });
      expect((await stranger.get(path)).status).toBe(404);
    }
    expect(await entriesOf(stranger)).toEqual([]);
  });
});
