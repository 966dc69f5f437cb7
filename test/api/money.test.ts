import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { advanceClock, noon } from '../support/jobs.js';
import { completeDeposit, eventually, givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

// The ledger must be correct after every test.
auditLedger(world);

/** A direct user of Edition 1 that can receive, with a partner. */
async function exporter() {
  const user = await given.directUser(1);
  await eventually(
    () => user.get(`/v1/accounts/${user.id}`),
    (r) => r.body.address === 'activated',
  );
  return { user, partner: await user.partner() };
}

async function deposited(user: Speaker, amount: string, partner: { id: string }) {
  const reply = await user.post('/v1/deposits', {
    amount,
    currency: 'USD',
    from: { account_id: partner.id },
  });
  expect([reply.status, reply.body.status]).toEqual([200, 'initialized']);
  return completeDeposit(user, reply.body.id);
}

const money = (amount: string, currency = 'USD') => [{ amount, currency }];
async function funds(user: Speaker, id = user.id) {
  const { available, pending, processing, payout_processing } = (await user.get(`/v1/balance?account_id=${id}`)).body;
  return { available, pending, processing, payout_processing };
}

describe('a deposit', () => {
  it('is returned as initialized, with exactly the specification’s keys, and completes by itself once', async () => {
    const { user, partner } = await exporter();

    const reply = await user.post('/v1/deposits', {
      amount: '12.34',
      currency: 'USD',
      from: { account_id: partner.id },
      statement_descriptor: 'INV 7',
      metadata: { a: 'b' },
    });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^deposit_/),
      object: 'deposit',
      created: expect.any(Number),
      livemode: false,
      amount: '12.34',
      currency: 'USD',
      from: { account_id: partner.id, address_id: expect.stringMatching(/^address_/) },
      to: { account_id: user.id, address_id: expect.stringMatching(/^address_/) },
      payment_method: 'domestic_credit',
      payment_method_details: null,
      reason_code: null,
      statement_descriptor: 'INV 7',
      status: 'initialized',
      metadata: { a: 'b' },
    });
    await eventually(
      () => user.get(`/v1/deposits/${reply.body.id}`),
      (r) => r.body.status === 'completed',
    );
    expect(await funds(user)).toEqual({
      available: money('0.00'),
      pending: money('12.34'),
      processing: money('0.00'),
      payout_processing: money('0.00'),
    });
    const transactions = (await user.get('/v1/balance_transactions')).body.data;
    expect(transactions).toEqual([
      {
        id: expect.stringMatching(/^bt_/),
        object: 'balance_transaction',
        amount: '12.34',
        currency: 'USD',
        category: 'pending',
        created: expect.stringMatching(/^\d{10}$/),
        livemode: false,
        payment_id: expect.stringMatching(/^payment_/),
      },
    ]);
    // The first payment of a partner creates its payment address.
    const from = (await user.get(`/v1/addresses/${reply.body.from.address_id}`)).body;
    expect([from.category, from.linked_id]).toEqual(['partner_payment', partner.id]);
  });

  it("refuses invalid amounts with the parameter's name, and posts nothing", async () => {
    const { user } = await exporter();
    for (const amount of [
      10,
      10.5,
      '1e3',
      '-1.00',
      '+1.00',
      ' 1.00',
      '1.0',
      '1.000',
      '٣.00',
      '',
      null,
      '0.00',
      '0',
      '12345678901234.00',
      {},
      [],
    ]) {
      const reply = await user.post('/v1/deposits', { amount, currency: 'USD' });
      expect([amount, reply.status, reply.fieldNames]).toEqual([amount, 400, ['deposit.amount']]);
    }
    const euro = await user.post('/v1/deposits', { amount: '1.00', currency: 'EUR' });
    expect([euro.status, euro.fieldNames]).toEqual([400, ['deposit.currency']]);
    const fails = await user
      .using((await given.directUserBoth(1)).live.key)
      .post('/v1/deposits', { amount: '1.00', currency: 'USD' });
    expect([fails.status, fails.codes]).toEqual([403, ['permission_denied']]);
    expect((await user.get('/v1/deposits')).body.data).toEqual([]);
  });

  it('handles the largest amount to the cent in every operation', async () => {
    const { user, partner } = await exporter();
    const { id } = await deposited(user, '99999999999.99', partner);
    expect((await funds(user)).pending).toEqual(money('99999999999.99'));
    const reply = await user.graph(
      `{ deposit(id: "${id}") { amount pendingRest payment { amount balanceTransactions { nodes { amount ` +
        'balanceAfter } } } toAccount { balance { pending { amount } } } } }',
    );
    expect(reply.body.data.deposit).toEqual({
      amount: '99999999999.99',
      pendingRest: '99999999999.99',
      payment: {
        amount: '99999999999.99',
        balanceTransactions: { nodes: [{ amount: '99999999999.99', balanceAfter: '99999999999.99' }] },
      },
      toAccount: { balance: { pending: [{ amount: '99999999999.99' }] } },
    });
  });
});

describe('figures over time', () => {
  it('are a balance as of a time, its history by day and the deposits by method', async () => {
    const { user, partner } = await exporter();
    // From noon, so that the moment before the deposit is on its day at any time of the day.
    const before = (await noon(user)) - 5;
    await deposited(user, '10.00', partner);
    await advanceClock(user, 2 * 86_400);
    await deposited(user, '5.50', partner);
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
    const reply = await user.graph(
      `query ($before: DateTime!, $between: DateTime!, $from: DateTime!, $to: DateTime!) { account(id: "${user.id}") {
        earlier: balance(asOf: $before) { pending { amount currency } }
        between: balance(asOf: $between) { pending { amount } }
        now: balance { pending { amount } }
        balanceHistory(from: $from, to: $to, interval: DAY) { start currency pending available }
        depositTotals(from: $from, to: $to, interval: DAY) { start paymentMethod currency count amount }
      } }`,
      {
        before: iso(before),
        between: iso(before + 86_400),
        from: iso(before - (before % 86_400)),
        to: iso(before - (before % 86_400) + 3 * 86_400),
      },
    );
    const day = (n: number) => iso(before - (before % 86_400) + n * 86_400).replace('.000', '');
    expect(reply.body.errors).toBeUndefined();
    expect(reply.body.data.account).toEqual({
      earlier: { pending: [{ amount: '0.00', currency: 'USD' }] },
      between: { pending: [{ amount: '10.00' }] },
      now: { pending: [{ amount: '15.50' }] },
      balanceHistory: [
        { start: day(0), currency: 'USD', pending: '10.00', available: '0.00' },
        { start: day(1), currency: 'USD', pending: '10.00', available: '0.00' },
        { start: day(2), currency: 'USD', pending: '15.50', available: '0.00' },
      ],
      depositTotals: [
        { start: day(0), paymentMethod: 'DOMESTIC_CREDIT', currency: 'USD', count: 1, amount: '10.00' },
        { start: day(2), paymentMethod: 'DOMESTIC_CREDIT', currency: 'USD', count: 1, amount: '5.50' },
      ],
    });
  });
});
