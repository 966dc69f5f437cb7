import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { checkoutBody } from '../support/bodies.js';
import { advanceClock, runAllJobs } from '../support/jobs.js';
import { must, transports, eventually, givenIn, useWorld, withLiveAcquirer, tenantOf } from '../support/world.js';
import {
  act,
  checkoutsIn,
  day,
  depositsOf,
  done,
  eventsOf,
  funds,
  type Json,
  linkOf,
  locksOf,
  look,
  one,
  pay,
  receivableOf,
  refusalOf,
  transactionsOf,
} from './checkout-fixture.js';

// No worker, so that a checkout keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false, acquirers: withLiveAcquirer });
const { shop, opened } = checkoutsIn(world);

// Every write records its event: without a new event the ledger is unchanged.
auditLedger(world);

describe('the address of the page', () => {
  it('is the same in the header of /v1 and in GraphQL, in every response with a checkout', async () => {
    const { user, id } = await opened();
    const retrieved = await user.get(`/v1/checkouts/${id}`);
    const url = linkOf(retrieved)!;
    expect(url).toMatch(new RegExp(`^${world.origin}/checkout/[A-Za-z0-9_-]{40,}$`));
    expect(new URL(url).href).toBe(url);
    const { data } = (
      await user.graph(`query ($id: ID!) { checkout(id: $id) { url } checkouts { nodes { url } } }`, { id })
    ).body;
    expect([data.checkout.url, data.checkouts.nodes]).toEqual([url, [{ url }]]);
    for (const operation of ['decline', 'pay', 'pay'] as const)
      for (const transport of transports) expect((await act(user, transport, operation, {}, id)).url).toBe(url);
  });

  it('is in no body of /v1: neither in the object nor in lists nor in events', async () => {
    const { user, id } = await opened();
    const url = linkOf(await user.get(`/v1/checkouts/${id}`))!;
    const token = url.split('/').at(-1)!;
    const list = await user.get('/v1/checkouts');
    expect(list.headers.get('link')).toBe(null);
    expect(list.text).not.toContain(token);
    const [{ n }] =
      (await world.sql`select count(*)::int as n from event where data::text like ${`%${token}%`}`) as Json;
    expect(n).toBe(0);
  });

  it('differs for every checkout, and does not depend on its id alone', async () => {
    const { user, partner, receivable } = await shop();
    const made = await Promise.all(
      [1, 2, 3].map(() => act(user, 'REST', 'create', checkoutBody(partner, [receivable]))),
    );
    expect(new Set(made.map((m) => m.url)).size).toBe(3);
    // The keyed hash, which cannot be derived from known ids.
    const tails = made.map((m) => Buffer.from(m.url!.split('/').at(-1)!, 'base64url').subarray(33).toString('hex'));
    expect(new Set(tails).size).toBe(3);
    for (const tail of tails) expect(tail).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('a deployment with a PUBLIC_URL', () => {
  const public_ = useWorld({ worker: false, environment: { PUBLIC_URL: 'https://pay.example' } });
  it('names its pages by PUBLIC_URL', async () => {
    const { user, id } = await opened({}, givenIn(public_));
    expect(linkOf(await user.get(`/v1/checkouts/${id}`))).toMatch(/^https:\/\/pay\.example\/checkout\/[\w-]+$/);
  });
});

describe('a fee', () => {
  const dear = useWorld({
    worker: false,
    environment: { CHECKOUT_FEE_BASIS_POINTS: '250', CHECKOUT_SECONDS: '1800', CHECKOUT_ATTEMPT_SECONDS: '60' },
  });

  it('is added to the amount, is part of the attempt’s amount, and is in no balance', async () => {
    const { user, id, checkout, receivable } = await opened({ amount: '60.00' }, givenIn(dear));
    expect([checkout.amount, checkout.gross_amount]).toEqual(['60.00', '61.50']);
    expect(checkout.expires_at - checkout.created).toBe(1_800);

    const paid = await pay(user, id);

    const [attempt] = await transactionsOf(user, id);
    expect([attempt.id, attempt.amount]).toEqual([paid.effective_transaction.id, '61.50']);
    const deposit = (await user.get('/v1/deposits')).body.data[0];
    expect(deposit.amount).toBe('60.00');
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    expect(await locksOf(user, receivable)).toEqual(['60.00', '40.00', [deposit.id]]);
    const world_ = await dear.sql`
      select contra, sum(amount)::text as amount from contra_entry where tenant_id = ${tenantOf(user)} group by 1
      order by 1`;
    expect(world_).toEqual([
      { contra: 'acquirer', amount: '-6150' },
      { contra: 'fees', amount: '150' },
    ]);
    // A dispute claws back at most the amount without the fee, and the ledger stays correct.
    const over = await user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '60.01' });
    expect(refusalOf(over)).toEqual(one(402, 'amount_exceeds_deposit', 'deposit.amount'));
    expect((await user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`)).body.amount).toBe('-60.00');
    expect(await funds(user)).toEqual({});
    expect(await dear.sql`select rule, what from violations`).toEqual([]);
  });

  it('is rounded half up to the minor unit', async () => {
    const { user, partner, receivable } = await shop(givenIn(dear));
    for (const [amount, gross] of [
      ['1.00', '1.03'],
      ['1.19', '1.22'],
      ['1.20', '1.23'],
      ['99.99', '102.49'],
    ])
      expect(
        done(await act(user, 'REST', 'create', checkoutBody(partner, [receivable], { amount }))).gross_amount,
      ).toBe(gross);
  });

  it('is not reconciled with the receivables', async () => {
    const { user, partner, receivable } = await shop(givenIn(dear));
    const { gross_amount } = done(
      await act(user, 'REST', 'create', checkoutBody(partner, [receivable], { amount: '100.00' })),
    );
    expect(gross_amount).toBe('102.50');
  });

  it('can be configured together with the time limit of an attempt', async () => {
    const { user, id } = await opened({}, givenIn(dear));
    done(await act(user, 'REST', 'decline', {}, id));
    const [row] = await dear.sql`select expires_at - created as seconds from transaction where checkout_id = ${id}`;
    expect(Number(row!.seconds)).toBe(60);
  });
});

describe.each(transports)('paying a checkout over %s', (transport) => {
  it('credits the user at once up to the amount of the receivables, and shows it everywhere', async () => {
    const { user, partner, receivable, id, checkout } = await opened();

    const paid = await act(user, transport, 'pay', {}, id);

    expect(done(paid)).toEqual({
      ...checkout,
      status: 'completed',
      effective_transaction: { id: expect.stringMatching(/^transaction_[0-9a-f]{32}$/), status: 'succeeded' },
    });
    expect(await look(user, id)).toEqual(paid.checkout);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    expect(await funds(user, partner)).toEqual({});
    const [deposit] = await depositsOf(user, id);
    expect(await locksOf(user, receivable)).toEqual(['60.00', '40.00', [deposit.id]]);
    const [from, to] = await Promise.all(
      [deposit.from, deposit.to].map(async (side) => (await user.get(`/v1/addresses/${side.address_id}`)).body),
    );
    expect(deposit).toEqual({
      id: expect.stringMatching(/^deposit_[0-9a-f]{32}$/),
      object: 'deposit',
      created: expect.any(Number),
      livemode: false,
      amount: '60.00',
      currency: 'INR',
      from: { account_id: partner, address_id: from.id },
      // The user's account, with the partner's address for payments through checkouts.
      to: { account_id: user.id, address_id: to.id },
      payment_method: 'card',
      payment_method_details: { card: { brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2099 } },
      reason_code: null,
      statement_descriptor: id,
      status: 'completed',
      metadata: null,
    });
    const keys = ['brand', 'last4', 'expiry_month', 'expiry_year'];
    expect(Object.keys(deposit.payment_method_details.card)).toEqual(keys);
    expect([from.category, from.linked_id, from.currency, from.status]).toEqual([
      'partner_payment',
      partner,
      'INR',
      'activated',
    ]);
    expect([to.category, to.linked_id, to.currency, to.status, to.type]).toEqual([
      'service_checkout',
      partner,
      'INR',
      'activated',
      'vpa',
    ]);
    const transaction = (await user.get(`/v1/transactions/${paid.checkout.effective_transaction.id}`)).body;
    const payments = (await user.get('/v1/payments')).body.data;
    expect(transaction).toEqual({
      id: paid.checkout.effective_transaction.id,
      object: 'transaction',
      created: expect.any(Number),
      livemode: false,
      checkout_id: id,
      payment_method: 'card',
      amount: '60.00',
      currency: 'INR',
      status: 'succeeded',
      reason_code: null,
      payment_id: payments[0].id,
    });
    expect(Object.keys(transaction).join(' ')).toBe(
      'id object created livemode checkout_id payment_method amount currency status reason_code payment_id',
    );
    expect(payments).toEqual([
      {
        id: transaction.payment_id,
        object: 'payment',
        created: expect.any(Number),
        livemode: false,
        type: 'checkout',
        amount: '60.00',
        currency: 'INR',
        status: 'completed',
        deposit_id: deposit.id,
        checkout_id: id,
      },
    ]);
    const entries = (await user.get(`/v1/balance_transactions?payment_id=${transaction.payment_id}`)).body.data;
    expect(entries.map((t: Json) => [t.category, t.amount]).toReversed()).toEqual([
      ['pending', '60.00'],
      ['available', '60.00'],
      ['pending', '-60.00'],
    ]);
  });

  it('emits an event for every step, all of the one request', async () => {
    const { user, partner, receivable, id } = await opened();
    const before = (await eventsOf(user)).length;

    const reply = await act(user, transport, 'pay', {}, id);

    const rows = await world.sql`
      select type, object, object_id, request_id from event where tenant_id = ${tenantOf(user)} and not livemode
      order by id offset ${before}`;
    expect(rows.map(({ type }) => type)).toEqual([
      'transaction.created',
      'address.created',
      'transaction.succeeded',
      'deposit.completed',
      'receivable.updated',
      'deposit.reconciled',
      'checkout.completed',
    ]);
    expect(new Set(rows.map((row) => row.request_id))).toEqual(new Set([reply.headers.get('request-id')]));
    expect(rows.filter(({ object }) => object === 'checkout').map((row) => row.object_id)).toEqual([id]);
    // The objects as the steps left them.
    await world.database.call('number_events', [tenantOf(user), false, 500]);
    const events = (await user.get('/v1/events')).body.data;
    const of = (type: string) => events.find((e: Json) => e.type === type).data.object;
    expect(of('checkout.completed')).toEqual(await look(user, id));
    expect(of('transaction.succeeded')).toEqual(
      (await user.get(`/v1/transactions/${reply.checkout.effective_transaction.id}`)).body,
    );
    const [deposit] = await depositsOf(user, id);
    expect(of('deposit.reconciled')).toEqual(deposit);
    expect(of('receivable.updated')).toEqual((await user.get(`/v1/receivables/${receivable}`)).body);
    expect(of('address.created').linked_id).toBe(partner);
  });

  it('pays by UPI if requested, or if the checkout accepts no other method', async () => {
    const { user, id } = await opened();
    const upi = await opened({ payment_methods: ['upi'] });
    done(await act(user, transport, 'pay', { payment_method: 'upi' }, id));
    done(await act(upi.user, transport, 'pay', {}, upi.id));
    for (const [speaker, checkout] of [
      [user, id],
      [upi.user, upi.id],
    ] as const) {
      const [deposit] = await depositsOf(speaker, checkout);
      expect([deposit.payment_method, deposit.payment_method_details]).toEqual([
        'upi',
        { upi: { vpa: 'payer@sandbox' } },
      ]);
      const from = (await speaker.get(`/v1/addresses/${deposit.from.address_id}`)).body;
      expect([from.category, from.type, from.vpa.id]).toEqual(['partner_payment', 'vpa', 'payer@sandbox']);
    }
    const refused = await opened({ payment_methods: ['upi'] });
    for (const verb of ['pay', 'decline'] as const) {
      const reply = await act(refused.user, transport, verb, { payment_method: 'card' }, refused.id);
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', 'checkout.payment_method'));
    }
    expect(await transactionsOf(refused.user, refused.id)).toEqual([]);
  });

  it('creates a partner’s addresses with its first checkout and its first payment, and uses them again', async () => {
    const { user, partner, receivable, id } = await opened();
    await pay(user, id);
    const second = done(await act(user, transport, 'create', checkoutBody(partner, [receivable], { amount: '40.00' })));
    done(await act(user, transport, 'pay', {}, second.id));
    const [[one_], [two]] = [await depositsOf(user, id), await depositsOf(user, second.id)];
    expect([two.from, two.to]).toEqual([one_.from, one_.to]);
    const addresses = (await user.get(`/v1/addresses?linked_id=${partner}`)).body.data;
    expect(addresses.map((a: Json) => a.category).toSorted()).toEqual(['partner_payment', 'service_checkout']);
  });

  it('locks the receivables in the given order, each up to its amount', async () => {
    const { user, partner } = await shop();
    const [a, b, c] = await Promise.all([
      receivableOf(user, '30.00'),
      receivableOf(user, '20.00'),
      receivableOf(user, '50.00'),
    ]);
    const { id } = done(await act(user, transport, 'create', checkoutBody(partner, [c, a, b], { amount: '65.00' })));
    done(await act(user, transport, 'pay', {}, id));
    const [deposit] = await depositsOf(user, id);
    expect([await locksOf(user, c), await locksOf(user, a), await locksOf(user, b)]).toEqual([
      ['50.00', '0.00', [deposit.id]],
      ['15.00', '15.00', [deposit.id]],
      ['0.00', '20.00', []],
    ]);
    expect((await user.get(`/v1/receivables/${c}`)).body.status).toBe('locked');
    expect(await funds(user)).toEqual({ 'available INR': '65.00' });
  });

  it('leaves pending the amount of receivables that are now locked by another, lowered, or void', async () => {
    const { user, partner } = await shop();
    const [taken, lowered, voided] = await Promise.all([
      receivableOf(user, '30.00'),
      receivableOf(user, '30.00'),
      receivableOf(user, '30.00'),
    ]);
    const first = done(await act(user, transport, 'create', checkoutBody(partner, [taken], { amount: '20.00' })));
    const { id } = done(
      await act(user, transport, 'create', checkoutBody(partner, [voided, taken, lowered], { amount: '90.00' })),
    );
    await pay(user, first.id);
    await must(user.post(`/v1/receivables/${lowered}`, { amount_maximum_reconcilable: '5.00' }));
    expect((await user.post(`/v1/receivables/${voided}/void`)).status).toBe(200);

    const paid = done(await act(user, transport, 'pay', {}, id));

    expect([paid.status, paid.effective_transaction.status]).toEqual(['completed', 'succeeded']);
    // 20.00 of the first; of this one 10.00 and 5.00, and 75.00 that no receivable takes.
    expect(await funds(user)).toEqual({ 'available INR': '35.00', 'pending INR': '75.00' });
    const [deposit] = await depositsOf(user, id);
    expect([deposit.status, deposit.amount]).toEqual(['completed', '90.00']);
    expect(await locksOf(user, voided)).toEqual(['0.00', '0.00', []]);
    // The pending amount can be reconciled later, like that of any deposit.
    const later = await receivableOf(user, '200.00');
    const over = await user.post(`/v1/deposits/${deposit.id}/reconcile`, {
      receivables: [{ id: later, amount: '75.01' }],
    });
    expect(over.status).toBe(402);
    const counted = await user.post(`/v1/deposits/${deposit.id}/reconcile`, {
      receivables: [{ id: later, amount: '75.00' }],
    });
    expect(counted.status).toBe(200);
    expect(await funds(user)).toEqual({ 'available INR': '110.00' });
  });

  it('credits an amount that no receivable can take as pending', async () => {
    const { user, receivable, id } = await opened();
    await must(user.post(`/v1/receivables/${receivable}/void`));
    const before = (await eventsOf(user)).length;
    expect(done(await act(user, transport, 'pay', {}, id)).status).toBe('completed');
    expect(await funds(user)).toEqual({ 'pending INR': '60.00' });
    expect((await eventsOf(user)).slice(before)).toEqual([
      'transaction.created',
      'address.created',
      'transaction.succeeded',
      'deposit.completed',
      'checkout.completed',
    ]);
  });

  it('credits also if the partner was put on hold or deactivated meanwhile, because the money has come', async () => {
    for (const verb of ['hold', 'deactivate']) {
      const { user, partner, id } = await opened();
      await must(user.post(`/v1/accounts/${partner}/activate`));
      expect((await user.post(`/v1/test_helpers/accounts/${partner}/${verb}`)).status).toBe(200);
      expect(done(await act(user, transport, 'pay', {}, id)).status).toBe('completed');
      expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    }
  });

  it('a second time creates a failed deposit, a duplicate, and posts nothing', async () => {
    const { user, receivable, id } = await opened();
    const paid = await pay(user, id);
    const [funded, locked] = [await funds(user), await locksOf(user, receivable)];
    const entries = (await user.get('/v1/balance_transactions')).body.data;
    const before = (await eventsOf(user)).length;

    const again = await act(user, transport, 'pay', { payment_method: 'upi' }, id);

    expect(done(again)).toEqual(paid);
    expect(await look(user, id)).toEqual(paid);
    expect([await funds(user), await locksOf(user, receivable)]).toEqual([funded, locked]);
    expect((await user.get('/v1/balance_transactions')).body.data).toEqual(entries);
    const [, duplicate] = await depositsOf(user, id);
    expect([duplicate.status, duplicate.reason_code, duplicate.amount, duplicate.to.account_id]).toEqual([
      'failed',
      'duplicate',
      '60.00',
      user.id,
    ]);
    const [attempt] = await transactionsOf(user, id);
    expect([attempt.status, attempt.reasonCode, attempt.deposit.id]).toEqual(['FAILED', 'DUPLICATE', duplicate.id]);
    const [payment] = (await user.get('/v1/payments?type=checkout&status=failed')).body.data;
    expect([payment.deposit_id, payment.checkout_id, payment.amount]).toEqual([duplicate.id, id, '60.00']);
    expect((await eventsOf(user)).slice(before)).toEqual([
      'transaction.created',
      'address.created',
      'transaction.failed',
      'deposit.failed',
    ]);
    // A test helper cannot complete it either.
    for (const verb of ['complete', 'process', 'reverse', 'dispute'])
      expect((await user.post(`/v1/test_helpers/deposits/${duplicate.id}/${verb}`)).codes).toEqual(['status_invalid']);
  });

  it('returns the same payment for the same Idempotency-Key, through either API', async () => {
    const { user, id } = await opened();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, 'pay', {}, id, headers);
    for (const other of transports) {
      const again = await act(user, other, 'pay', {}, id, headers);
      expect([again.checkout, again.headers.get('idempotent-replayed')]).toEqual([first.checkout, 'true']);
    }
    expect(await depositsOf(user, id)).toHaveLength(1);
    const other = await act(user, transport, 'pay', { payment_method: 'upi' }, id, headers);
    expect(refusalOf(other)).toEqual(one(400, 'idempotency_key_reused', 'checkout.payment_method'));
  });
});

describe.each(transports)('declining a checkout over %s', (transport) => {
  it('creates a failed attempt, moves no money, and leaves the checkout open', async () => {
    const { user, id, checkout, receivable } = await opened();
    const before = (await eventsOf(user)).length;

    const declined = done(await act(user, transport, 'decline', { reason_code: 'insufficient_funds' }, id));

    const [attempt] = await transactionsOf(user, id);
    expect(declined).toEqual({ ...checkout, effective_transaction: { id: attempt.id, status: 'failed' } });
    expect(await look(user, id)).toEqual(declined);
    expect((await user.get(`/v1/transactions/${attempt.id}`)).body).toEqual({
      ...{ id: attempt.id, object: 'transaction', created: expect.any(Number), livemode: false, checkout_id: id },
      ...{ payment_method: 'card', amount: '60.00', currency: 'INR', status: 'failed' },
      ...{ reason_code: 'insufficient_funds', payment_id: null },
    });
    expect(await funds(user)).toEqual({});
    expect(await depositsOf(user, id)).toEqual([]);
    expect(await locksOf(user, receivable)).toEqual(['0.00', '100.00', []]);
    expect((await eventsOf(user)).slice(before)).toEqual([
      'transaction.created',
      'transaction.failed',
      'checkout.updated',
    ]);
  });

  it('shows the latest finished attempt until one succeeds', async () => {
    const { user, id } = await opened();
    const seen: Json[] = [];
    for (const verb of ['decline', 'decline', 'pay', 'pay'] as const)
      seen.push(done(await act(user, transport, verb, {}, id)).effective_transaction);
    const attempts = (await transactionsOf(user, id)).toReversed();
    expect(attempts.map((t) => [t.status, t.reasonCode])).toEqual([
      ['FAILED', 'DECLINED'],
      ['FAILED', 'DECLINED'],
      ['SUCCEEDED', null],
      ['FAILED', 'DUPLICATE'],
    ]);
    expect(seen).toEqual([
      { id: attempts[0].id, status: 'failed' },
      { id: attempts[1].id, status: 'failed' },
      { id: attempts[2].id, status: 'succeeded' },
      { id: attempts[2].id, status: 'succeeded' },
    ]);
    const declined = await act(user, transport, 'decline', {}, id);
    expect(refusalOf(declined)).toEqual(one(400, 'status_invalid', 'checkout.status'));
  });

  it('refuses an unknown method and an unknown reason', async () => {
    const { user, id } = await opened();
    for (const [name, value] of [
      ['payment_method', 'cards'],
      ['payment_method', 'cash'],
      ['reason_code', 'general'],
    ] as const) {
      const reply = await act(user, transport, 'decline', { [name]: value }, id);
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', `checkout.${name}`));
    }
    expect(await transactionsOf(user, id)).toEqual([]);
  });

  it('returns the same attempt for the same Idempotency-Key', async () => {
    const { user, id } = await opened();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, 'decline', {}, id, headers);
    await pay(user, id);
    const again = await act(user, transport, 'decline', {}, id, headers);
    expect([again.checkout, again.headers.get('idempotent-replayed')]).toEqual([first.checkout, 'true']);
    expect(await transactionsOf(user, id)).toHaveLength(2);
  });
});

describe.each(transports)('cancelling and expiring a checkout over %s', (transport) => {
  it.each([
    ['cancel', 'cancelled'],
    ['expire', 'expired'],
  ] as const)('%s makes it %s, once, and emits an event', async (verb, status) => {
    const { user, id, checkout } = await opened();

    const ended = done(await act(user, transport, verb, {}, id));

    expect(ended).toEqual({ ...checkout, status, expires_at: expect.any(Number) });
    if (verb === 'cancel') expect(ended.expires_at).toBe(checkout.expires_at);
    else {
      expect(ended.expires_at).toBeGreaterThanOrEqual(checkout.created);
      expect(ended.expires_at).toBeLessThanOrEqual(await advanceClock(user, 1));
    }
    expect(await look(user, id)).toEqual(ended);
    expect(await eventsOf(user, id)).toEqual(['checkout.created', `checkout.${status}`]);
    for (const again of ['cancel', 'expire', 'decline'] as const) {
      const reply = await act(user, transport, again, {}, id);
      expect(refusalOf(reply)).toEqual(one(400, 'status_invalid', 'checkout.status'));
    }
    expect(await eventsOf(user, id)).toHaveLength(2);
    expect(await look(user, id)).toEqual(ended);
  });

  it.each(['cancel', 'expire'] as const)('%s is refused once the checkout is paid or expired', async (verb) => {
    const paid = await opened();
    await pay(paid.user, paid.id);
    const over = await opened();
    await advanceClock(over.user, day);
    for (const { user, id } of [paid, over]) {
      const before = await look(user, id);
      expect(refusalOf(await act(user, transport, verb, {}, id))).toEqual(
        one(400, 'status_invalid', 'checkout.status'),
      );
      expect(await look(user, id)).toEqual(before);
    }
  });

  it.each(['cancel', 'expire'] as const)('%s with the same Idempotency-Key returns the same response', async (verb) => {
    const { user, id } = await opened();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, verb, {}, id, headers);
    const again = await act(user, transport, verb, {}, id, headers);
    expect([again.status, again.checkout, again.headers.get('idempotent-replayed')]).toEqual([
      200,
      first.checkout,
      'true',
    ]);
    expect(await eventsOf(user, id)).toHaveLength(2);
  });

  it.each([
    ['cancel', 'cancelled'],
    ['expire', 'expired'],
  ] as const)('%s comes too early for money on its way: it is credited, and the status stays', async (verb, status) => {
    const { user, id, receivable } = await opened();
    done(await act(user, transport, verb, {}, id));
    const before = (await eventsOf(user, id)).length;

    const late = done(await act(user, transport, 'pay', {}, id));

    expect([late.status, late.effective_transaction.status]).toEqual([status, 'succeeded']);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    const [deposit] = await depositsOf(user, id);
    expect([deposit.status, await locksOf(user, receivable)]).toEqual(['completed', ['60.00', '40.00', [deposit.id]]]);
    expect((await eventsOf(user, id)).slice(before)).toEqual(['checkout.late_payment']);
    // It happens only once.
    expect(done(await act(user, transport, 'pay', {}, id))).toEqual(late);
    expect((await depositsOf(user, id)).map((d) => d.status)).toEqual(['completed', 'failed']);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
  });
});

describe('a checkout after its expiry', () => {
  it('shows as expired everywhere before a worker has run', async () => {
    const { user, partner, receivable, id, checkout } = await opened();
    await advanceClock(user, day - 3_600);
    expect((await look(user, id)).status).toBe('initialized');
    expect((await user.get('/v1/checkouts?status=initialized')).body.data).toHaveLength(1);
    await advanceClock(user, 3_660);

    const expired = { ...checkout, status: 'expired' };
    expect(await look(user, id)).toEqual(expired);
    const lists = ['', '?status=expired', '?status=expired,cancelled', `?account_id=${partner}&status[]=expired`];
    for (const query of lists) expect((await user.get(`/v1/checkouts${query}`)).body.data).toEqual([expired]);
    for (const status of ['initialized', 'completed', 'cancelled'])
      expect((await user.get(`/v1/checkouts?status=${status}`)).body.data).toEqual([]);
    const { data } = (
      await user.graph(
        `query ($id: ID!, $receivable: ID!) {
          checkout(id: $id) { status }
          node(id: $id) { ... on Checkout { status } }
          checkouts(status: [EXPIRED]) { totalCount nodes { status } }
          open: checkouts(status: [INITIALIZED]) { totalCount nodes { status } }
          viewer { account { checkoutsIn(status: [EXPIRED]) { nodes { status } } open: checkoutsIn(status:
          [INITIALIZED]) { nodes { id } } } }
          receivable(id: $receivable) { checkouts { nodes { status } } open: checkouts(status: [INITIALIZED]) {
          totalCount } }
        }`,
        { id, receivable },
      )
    ).body;
    const status = 'EXPIRED';
    expect(data).toEqual({
      checkout: { status },
      node: { status },
      checkouts: { totalCount: 1, nodes: [{ status }] },
      open: { totalCount: 0, nodes: [] },
      viewer: { account: { checkoutsIn: { nodes: [{ status }] }, open: { nodes: [] } } },
      receivable: { checkouts: { nodes: [{ status }] }, open: { totalCount: 0 } },
    });
    expect(await eventsOf(user, id)).toEqual(['checkout.created']);
    expect(refusalOf(await act(user, 'REST', 'decline', {}, id))).toEqual(
      one(400, 'status_invalid', 'checkout.status'),
    );
  });

  it('is expired by the worker once, with its event, at its expiry time', async () => {
    const { user, id, checkout } = await opened();
    await runAllJobs(user);
    expect((await look(user, id)).status).toBe('initialized');
    await advanceClock(user, day + 1);
    await runAllJobs(user);
    expect(await look(user, id)).toEqual({ ...checkout, status: 'expired' });
    expect(await eventsOf(user, id)).toEqual(['checkout.created', 'checkout.expired']);
    const [row] =
      await world.sql`select data ->> 'status' as status from event where object_id = ${id} order by id desc limit 1`;
    expect(row!.status).toBe('expired');
  });

  it.each(['before', 'after'])('is credited for money that comes late, %s a worker has run', async (when) => {
    const { user, id, receivable } = await opened();
    await advanceClock(user, day + 1);
    if (when === 'after') await runAllJobs(user);

    const late = await pay(user, id);

    expect([late.status, late.effective_transaction.status]).toEqual(['expired', 'succeeded']);
    await runAllJobs(user);
    expect(await look(user, id)).toEqual(late);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    expect((await locksOf(user, receivable))[0]).toBe('60.00');
    expect(await eventsOf(user, id)).toEqual(['checkout.created', 'checkout.expired', 'checkout.late_payment']);
  });

  it('stays completed or cancelled if that happened in time', async () => {
    const [paid, cancelled] = [await opened(), await opened()];
    await pay(paid.user, paid.id);
    done(await act(cancelled.user, 'REST', 'cancel', {}, cancelled.id));
    for (const [{ user, id }, status] of [
      [paid, 'completed'],
      [cancelled, 'cancelled'],
    ] as const) {
      const before = await eventsOf(user, id);
      await advanceClock(user, day + 1);
      expect((await look(user, id)).status).toBe(status);
      await runAllJobs(user);
      expect([(await look(user, id)).status, await eventsOf(user, id)]).toEqual([status, before]);
    }
  });

  describe('with a worker', () => {
    const working = useWorld();
    it('emits an event of the expiry that a client can follow', async () => {
      const { user, id, checkout } = await opened({}, givenIn(working));
      await advanceClock(user, day + 1);
      const events = await eventually(
        async () => (await user.get('/v1/events')).body.data as Json[],
        (all) => all.some((e) => e.type === 'checkout.expired'),
      );
      const event = events.find((e) => e.type === 'checkout.expired');
      expect(event.data.object).toEqual({ ...checkout, status: 'expired' });
      expect(event.created).toBeGreaterThanOrEqual(checkout.expires_at);
      expect(await look(user, id)).toEqual(event.data.object);
    });
  });
});
