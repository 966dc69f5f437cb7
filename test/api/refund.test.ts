import { describe, expect, it } from 'vitest';
import { currencyOf, receivableBody, unknownId } from '../support/bodies.js';
import { auditLedger } from '../support/audit.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { advanceAndRun, advanceClock, runJobs } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import {
  givenIn,
  must,
  payoutAddress,
  type Reply,
  type Speaker,
  type Transport,
  transports,
  useWorld,
} from '../support/world.js';
import { completed, deposited } from './deposit-fixture.js';
import { earn, funds, locksOf, number } from './payout-fixture.js';

// No worker runs, so that a test can inspect a refund in progress.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

interface Asked {
  deposit_id?: string;
  checkout_id?: string;
  amount?: string;
  reason?: string;
}

/** Asks for a refund over either API; answers it as /v1 does. */
async function refund(speaker: Speaker, transport: Transport, asked: Asked): Promise<Reply> {
  if (transport === 'REST') return speaker.post('/v1/refunds', asked);
  const { deposit_id: depositId, checkout_id: checkoutId, ...rest } = asked;
  const reply = await speaker.graph(
    'mutation ($input: CreateRefundInput!) { createRefund(input: $input) { refund { id } } }',
    { input: { depositId, checkoutId, ...rest } },
  );
  const made = reply.body.data?.createRefund?.refund;
  if (made) return speaker.get(`/v1/refunds/${made.id}`);
  return { ...reply, status: reply.body.errors[0].extensions.httpStatus };
}
const end = (speaker: Speaker, id: string, verb: 'succeed' | 'fail', body: object = {}) =>
  must(speaker.post(`/v1/test_helpers/refunds/${id}/${verb}`, body));
const eventsOf = async (speaker: Speaker, id: string) => {
  await number(speaker);
  const { data } = await must(speaker.get(`/v1/events?object_id=${id}`));
  return data.map(({ type }: { type: string }) => type).toReversed() as string[];
};

describe.each(transports)('a refund over %s', (transport) => {
  it.each([1, 2] as const)('of a part that is not reconciled goes back from pending, Edition %i', async (edition) => {
    const user = await given.directUser(edition);
    const currency = currencyOf[edition];
    const { id: deposit_id } = await completed(user, '100.00');

    const reply = await refund(user, transport, { deposit_id, amount: '30.00', reason: 'Returned goods' });

    expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
    const made = reply.body;
    expect(made).toEqual({
      ...{ id: expect.stringMatching(/^refund_/), object: 'refund', created: expect.any(Number), livemode: false },
      ...{ account_id: user.id, deposit_id, checkout_id: null, payment_id: expect.stringMatching(/^payment_/) },
      ...{ amount: '30.00', currency, from_pending: '30.00', status: 'pending', reason: 'Returned goods' },
      ...{ failure_reason: null, bank_reference: null },
    });
    expect(await funds(user)).toEqual({ [`pending ${currency}`]: '70.00', [`processing ${currency}`]: '30.00' });
    // The deposit stays as it is, and no other deposit is made.
    expect((await must(user.get('/v1/deposits'))).data).toMatchObject([{ id: deposit_id, amount: '100.00' }]);
    const payment = await must(user.get(`/v1/payments/${made.payment_id}`));
    expect(payment).toMatchObject({ type: 'refund', amount: '-30.00', status: 'processing', deposit_id: null });

    expect(await end(user, made.id, 'succeed')).toMatchObject({ status: 'succeeded' });
    expect(await funds(user)).toEqual({ [`pending ${currency}`]: '70.00' });
    expect(await eventsOf(user, made.id)).toEqual(['refund.created', 'refund.succeeded']);
  });

  it('of what is reconciled takes available money, and gives it back with its lock when it fails', async () => {
    const user = await given.directUser(1);
    const { deposit, receivable } = await earn(user, '60.00', 'USD', '100.00');
    const { id, from_pending } = (await refund(user, transport, { deposit_id: deposit.id, amount: '70.00' })).body;
    expect(from_pending).toBe('40.00');
    expect(await funds(user)).toEqual({ 'available USD': '30.00', 'processing USD': '70.00' });
    expect(await locksOf(user, receivable.id)).toEqual(['30.00', '0.00', [deposit.id]]);

    expect(await end(user, id, 'fail', { failure_reason: 'Account closed' })).toMatchObject({
      ...{ status: 'failed', failure_reason: 'Account closed' },
    });

    expect(await funds(user)).toEqual({ 'available USD': '60.00', 'pending USD': '40.00' });
    expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', [deposit.id]]);
    expect(await eventsOf(user, id)).toEqual(['refund.created', 'refund.failed']);
  });

  it('is at most what disputes and other refunds have left, and what is available', async () => {
    const user = await given.directUser(1);
    const { id: deposit_id } = await completed(user, '100.00');
    await must(user.post(`/v1/test_helpers/deposits/${deposit_id}/dispute`, { amount: '20.00' }));
    const first = (await refund(user, transport, { deposit_id, amount: '30.00' })).body;
    const beyond = await refund(user, transport, { deposit_id, amount: '50.01' });
    expect([beyond.codes, beyond.fieldNames]).toEqual([['amount_exceeds_deposit'], ['refund.amount']]);
    await end(user, first.id, 'fail');
    expect((await refund(user, transport, { deposit_id })).body).toMatchObject({ amount: '80.00' });
    expect((await refund(user, transport, { deposit_id })).codes).toEqual(['amount_exceeds_deposit']);

    // The money of the first of two reconciled deposits is paid out, so its refund takes that of the second.
    const one = await earn(user, '50.00');
    await payoutAddress(user);
    await advanceAndRun(user, 86_400);
    const { deposit } = await earn(user, '50.00');
    await must(refund(user, 'REST', { deposit_id: one.deposit.id, amount: '40.00' }));
    expect((await refund(user, transport, { deposit_id: deposit.id })).codes).toEqual(['balance_insufficient']);
    expect((await refund(user, transport, { deposit_id: deposit.id, amount: '10.00' })).status).toBe(200);
  });

  it('is refused without one deposit, for one that is not completed, and for no amount', async () => {
    const user = await given.directUser(1);
    const { id: deposit_id } = await deposited(user, '100.00');
    const asked = async (more: Asked) => {
      const { status, codes, fieldNames } = await refund(user, transport, more);
      return [status, codes[0], fieldNames[0]];
    };
    expect(await asked({})).toEqual([400, 'parameter_missing', 'refund.deposit_id']);
    const both = { deposit_id, checkout_id: unknownId('checkout') };
    expect(await asked(both)).toEqual([400, 'parameter_invalid', 'refund.checkout_id']);
    expect(await asked({ deposit_id, amount: '0.00' })).toEqual([400, 'parameter_invalid', 'refund.amount']);
    expect(await asked({ deposit_id })).toEqual([400, 'status_invalid', 'deposit.status']);
    const none = [404, 'resource_missing'];
    expect(await asked({ deposit_id: unknownId('deposit') })).toEqual([...none, 'refund.deposit_id']);
    expect(await asked({ checkout_id: unknownId('checkout') })).toEqual([...none, 'refund.checkout_id']);
  });

  it('of a checkout is one of its deposit', async () => {
    const payee = await PayeeFixture.open(world);
    const checkout = await payee.checkoutFixture();
    const { id: checkout_id, amount } = await payee.seen(checkout);
    const early = await refund(payee.user, transport, { checkout_id });
    expect([early.codes, early.fieldNames]).toEqual([['status_invalid'], ['checkout.status']]);
    await payee.help(checkout, 'pay');

    const made = (await refund(payee.user, transport, { checkout_id })).body;

    const query = `query ($id: ID!) { checkout(id: $id) { deposit { id refunds { nodes { id } } }
      refunds {
        nodes { id checkout { id } deposit { id } payment { source { ... on Refund { id } } } account { id } } } } }`;
    const { checkout: shown } = (await must(payee.user.graph(query, { id: checkout_id }))).data;
    expect(made).toMatchObject({ checkout_id, deposit_id: shown.deposit.id, amount });
    expect(shown.deposit.refunds.nodes).toEqual([{ id: made.id }]);
    expect(shown.refunds.nodes).toEqual([
      {
        ...{ id: made.id, checkout: { id: checkout_id }, deposit: { id: shown.deposit.id } },
        ...{ payment: { source: { id: made.id } }, account: { id: payee.user.id } },
      },
    ]);
    await end(payee.user, made.id, 'fail');
    await payee.agrees();
  });

  it('for a user of an aggregator takes the available money of the platform', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await activatedUser(platform);
    const { deposit, receivable } = await earn(user, '60.00', 'INR', '100.00');
    for (const by of [user, platform]) {
      const { id } = (await refund(by, transport, { deposit_id: deposit.id, amount: '70.00' })).body;
      expect(await funds(platform, user.id)).toEqual({ 'processing INR': '40.00' });
      expect(await funds(platform)).toEqual({ 'available INR': '30.00', 'processing INR': '30.00' });
      expect((await must(platform.get(`/v1/refunds?account_id=${user.id}`))).data[0].id).toBe(id);
      await end(by, id, 'fail');
      expect(await funds(platform, user.id)).toEqual({ 'pending INR': '40.00' });
      expect(await funds(platform)).toEqual({ 'available INR': '60.00' });
      expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', [deposit.id]]);
    }
  });
});

describe('a pending refund', () => {
  it('is completed by the sandbox a minute after its creation', async () => {
    const user = await given.directUser(1);
    const { id: deposit_id } = await completed(user, '100.00');
    const { id } = await must(user.post('/v1/refunds', { deposit_id }));
    const pass = async (seconds: number) => {
      await advanceClock(user, seconds);
      await runJobs(user);
    };
    await pass(30);
    expect(await must(user.get(`/v1/refunds/${id}`))).toMatchObject({ status: 'pending' });
    await pass(31);
    expect(await must(user.get(`/v1/refunds/${id}`))).toMatchObject({ status: 'succeeded' });
    expect(await funds(user)).toEqual({});
    const query = 'query ($id: ID!) { refund(id: $id) { completedAt amountMoney { amount currency } } }';
    const { refund: shown } = (await must(user.graph(query, { id }))).data;
    expect(shown).toEqual({
      ...{ completedAt: expect.any(String), amountMoney: { amount: '100.00', currency: 'USD' } },
    });
  });

  it('leaves a dispute and a reversal what it has not taken', async () => {
    const user = await given.directUser(1);
    const { id: deposit_id } = await completed(user, '100.00');
    const { id } = await must(user.post('/v1/refunds', { deposit_id, amount: '40.00' }));
    const help = (verb: string, body: object = {}) =>
      user.post(`/v1/test_helpers/deposits/${deposit_id}/${verb}`, body);
    expect(await must(help('dispute', { amount: '90.00' }))).toMatchObject({ amount: '-60.00' });
    expect((await help('dispute')).codes).toEqual(['amount_exceeds_deposit']);
    await must(help('reverse'));
    expect(await funds(user)).toEqual({ 'processing USD': '40.00' });
    // What comes back of the refund has been reversed.
    await end(user, id, 'fail');
    expect(await funds(user)).toEqual({});
  });

  it('is not in a payout that is made meanwhile', async () => {
    const user = await given.directUser(2);
    const { deposit } = await earn(user, '100.00');
    await must(user.post('/v1/refunds', { deposit_id: deposit.id, amount: '40.00' }));
    const receivable = await must(user.post('/v1/receivables', receivableBody({ currency: 'INR' })));
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', []]);
    expect(await funds(user)).toEqual({ 'available INR': '60.00', 'processing INR': '40.00' });
  });

  it('is listed by its status and its account', async () => {
    const user = await given.directUser(1);
    const ids: string[] = [];
    for (const verb of ['succeed', 'fail', undefined] as const) {
      const { id } = await must(user.post('/v1/refunds', { deposit_id: (await completed(user, '10.00')).id }));
      ids.push(id);
      if (verb) await end(user, id, verb);
    }
    for (const [status, id] of [
      ['succeeded', ids[0]],
      ['failed', ids[1]],
      ['pending', ids[2]],
    ]) {
      const { data } = await must(user.get(`/v1/refunds?status=${status}&account_id=${user.id}`));
      expect(data.map((each: { id: string }) => each.id)).toEqual([id]);
    }
  });
});

describe('a refund during a rolling upgrade', () => {
  it('is refused while a gateway of another release runs, which could not read it', async () => {
    const user = await given.directUser(1);
    const { id: deposit_id } = await completed(user, '100.00');
    await world.database.work('report_gateway_process', ['gateway_old', 'pay-1', 4_242, '0.1.0'] as never);
    const early = await user.post('/v1/refunds', { deposit_id });
    expect([early.status, early.codes]).toEqual([503, ['service_unavailable']]);
    await world.sql`delete from gateway_process where id = 'gateway_old'`;
    await must(user.post('/v1/refunds', { deposit_id }));
  });
});

/** The types of the payments on an account's list, each with its source. */
async function sourcesOf(speaker: Speaker): Promise<Record<string, string | null>> {
  const query = `{ payments(first: 50) { nodes { type source { __typename ... on Deposit { id } ... on Checkout { id }
    ... on Payout { id } ... on Refund { id } ... on Dispute { id } ... on Adjustment { id } } } } }`;
  const { nodes } = (await must(speaker.graph(query))).data.payments;
  return Object.fromEntries(
    nodes.map(({ type, source }: { type: string; source: { __typename: string; id: string } | null }) => [
      ...[type, source && `${source.__typename} ${source.id}`],
    ]),
  );
}

describe('the source of a payment', () => {
  it('is the object that the payment is of, whatever its type', async () => {
    const payee = await PayeeFixture.open(world);
    const { user } = payee;
    const checkout = await payee.checkoutFixture();
    await payee.help(checkout, 'pay');
    const { deposit } = await earn(user, '60.00', 'INR', '100.00');
    const refunded = await must(user.post('/v1/refunds', { deposit_id: deposit.id, amount: '5.00' }));
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '5.00' }));
    const [dispute] = (await must(user.get('/v1/disputes'))).data;
    const credit = { amount: '1.00', currency: 'INR' };
    const body = { account_id: user.id, credit, reason: 'A correction' };
    const adjusted = await must(user.post('/v1/test_helpers/adjustments', body));
    await payoutAddress(user);
    await advanceClock(user, 86_400);
    await runJobs(user);
    const [payout] = (await must(user.get('/v1/payouts'))).data;

    expect(await sourcesOf(user)).toEqual({
      ...{ CHECKOUT: `Checkout ${(await payee.seen(checkout)).id}`, DEPOSIT: `Deposit ${deposit.id}` },
      ...{ REFUND: `Refund ${refunded.id}`, DISPUTE: `Dispute ${dispute.id}` },
      ...{ ADJUSTMENT: `Adjustment ${adjusted.id}`, PAYOUT: `Payout ${payout.id}` },
    });
  });

  it('is null for a transfer, which is nothing else', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await activatedUser(platform);
    const { deposit } = await earn(user, '10.00', 'INR');
    expect(await sourcesOf(user)).toEqual({ DEPOSIT: `Deposit ${deposit.id}`, TRANSFER: null });
  });
});
