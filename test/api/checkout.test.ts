import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { checkoutBody, unknownId } from '../support/bodies.js';
import { advanceClock, runAllJobs } from '../support/jobs.js';
import { must, givenIn, Speaker, useWorld, withLiveAcquirer, tenantOf } from '../support/world.js';
import {
  act,
  checkoutsIn,
  day,
  depositsOf,
  done,
  eventsOf,
  funds,
  type Json,
  locksOf,
  look,
  one,
  pay,
  receivableOf,
  refusalOf,
  transactionsOf,
} from './checkout-fixture.js';
import { listMismatches } from '../../src/operator/money/bank.js';

// No worker, so that a checkout keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false, acquirers: withLiveAcquirer });
const given = givenIn(world);
const { shop, opened } = checkoutsIn(world);

// Every write records its event: without a new event the ledger is unchanged.
auditLedger(world);

/** The steps of the hosted page and of the acquirer, by the functions that they call. */
const begin = async (
  s: { user: Speaker; id: string },
  key: string = randomUUID(),
  paymentMethod = 'card',
): Promise<Json> =>
  (
    await world.database.call('begin_transaction', [
      tenantOf(s.user),
      false,
      '{}',
      JSON.stringify({ checkoutId: s.id, attemptKey: key, paymentMethod, seconds: 480 }),
    ])
  )[0];
const card = { card: { brand: 'visa', last4: '0002', expiry_month: 1, expiry_year: 2031 } };
const decide = async (s: { user: Speaker }, id: string, args: object): Promise<Json> =>
  (
    await world.database.call('decide_transaction', [
      tenantOf(s.user),
      false,
      '{}',
      JSON.stringify({ id, details: card, ...args }),
    ])
  )[0];
const endTransaction = (s: { user: Speaker }, id: string, status: string, reason: string | null = null) =>
  world.database.call('settle_transaction', [tenantOf(s.user), false, '{}', id, status, reason]);
const attempt = async (s: { user: Speaker }, id: string) => {
  const { status, reason_code } = (await s.user.get(`/v1/transactions/${id}`)).body;
  return [status, reason_code];
};
const domainError = (code: string, field: string) => ({ problems: [expect.objectContaining({ code, field })] });

describe('an attempt', () => {
  it('is the same if its form is sent again, until the checkout is over or another attempt has started', async () => {
    const s = await opened();
    const key = randomUUID();
    const begun = await Promise.all(Array.from({ length: 8 }, () => begin(s, key)));
    expect(new Set(begun.map((t) => t.id)).size).toBe(1);
    expect((await transactionsOf(s.user, s.id)).map((t) => t.status)).toEqual(['PROCESSING']);
    expect((await look(s.user, s.id)).effective_transaction).toBe(null);
    expect((await eventsOf(s.user)).filter((type) => type === 'transaction.created')).toHaveLength(1);
    await expect(begin(s, key, 'upi')).rejects.toMatchObject(
      domainError('state_conflict', 'checkout.effective_transaction'),
    );
    done(await act(s.user, 'REST', 'cancel', {}, s.id));
    await expect(begin(s, key)).rejects.toMatchObject(domainError('status_invalid', 'checkout.status'));
    expect((await s.user.get(`/v1/transactions/${begun[0].id}`)).body).toMatchObject({
      ...{ status: 'processing', reason_code: null, payment_id: null, payment_method: 'card', checkout_id: s.id },
    });
  });

  it('is the only one while it is with the acquirer; one that was never sent there blocks no other', async () => {
    const s = await opened();
    const first = await begin(s);
    const second = await begin(s, randomUUID(), 'upi');
    expect(second.id).not.toBe(first.id);
    await decide(s, first.id, { status: 'processing' });
    await expect(begin(s)).rejects.toMatchObject(domainError('state_conflict', 'checkout.effective_transaction'));
    await expect(begin(s, randomUUID(), 'upi')).rejects.toMatchObject(
      domainError('state_conflict', 'checkout.effective_transaction'),
    );
    expect(await transactionsOf(s.user, s.id)).toHaveLength(2);
    // Once it has failed or expired, another is possible.
    await endTransaction(s, first.id, 'failed', 'declined');
    const third = await begin(s);
    await decide(s, third.id, { status: 'processing' });
    await advanceClock(s.user, 481);
    await begin(s);
  });

  it('is refused on a checkout that is over, by a method it does not accept, and after thirty attempts', async () => {
    const over = await Promise.all([opened(), opened(), opened()]);
    await pay(over[0].user, over[0].id);
    done(await act(over[1].user, 'REST', 'cancel', {}, over[1].id));
    await advanceClock(over[2].user, day);
    for (const s of over)
      await expect(begin(s)).rejects.toMatchObject(domainError('status_invalid', 'checkout.status'));
    const upi = await opened({ payment_methods: ['upi'] });
    await expect(begin(upi)).rejects.toMatchObject(domainError('parameter_invalid', 'checkout.payment_methods'));
    for (let i = 0; i < 30; i++) await begin(upi, `form ${i}`, 'upi');
    await expect(begin(upi, 'form 30', 'upi')).rejects.toMatchObject(domainError('rate_limit_exceeded', 'checkout.id'));
    await begin(upi, 'form 29', 'upi');
  });

  it('is decided once: later or repeated results of the acquirer change nothing', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'succeeded' });
    await decide(s, id, {
      status: 'failed',
      reasonCode: 'declined',
      details: { card: { ...card.card, last4: '9999' } },
    });
    expect((await look(s.user, s.id)).status).toBe('initialized');
    await runAllJobs(s.user);
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    expect((await look(s.user, s.id)).status).toBe('completed');
    const [deposit, ...others] = await depositsOf(s.user, s.id);
    expect([deposit.payment_method_details, others]).toEqual([card, []]);
    for (const status of ['failed', 'succeeded'])
      await endTransaction(s, id, status, status === 'failed' ? 'declined' : null);
    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    expect(await depositsOf(s.user, s.id)).toHaveLength(1);
    expect((await eventsOf(s.user)).filter((type) => type.startsWith('transaction.'))).toEqual([
      'transaction.created',
      'transaction.submitted',
      'transaction.succeeded',
    ]);
  });

  const recordPoll = (s: { user: Speaker }, id: string, args: object) =>
    world.database.call('record_status_poll', [tenantOf(s.user), false, '{}', JSON.stringify({ id, ...args })]);
  const statusPollsOf = (s: { user: Speaker }, id: string) =>
    world.sql`select id from job where tenant_id = ${tenantOf(s.user)} and kind = 'inquire_transaction'
      and subject_id = ${id}`;
  const other = { card: { ...card.card, brand: null } };
  const mismatchesOf = async (id: string) =>
    (await listMismatches(world.operator))
      .filter((t) => t.id === id)
      .map(({ mismatch, paymentMethodDetails }) => [mismatch!.credited, paymentMethodDetails, mismatch!.details]);

  it.each(['reported', 'polled'] as const)(
    'that succeeds with other details than it was submitted with is credited, and the operator is shown both: %s',
    async (way) => {
      const s = await opened();
      const { id } = await begin(s);
      await decide(s, id, { status: 'processing' });
      const success = { status: 'succeeded', details: other };
      await (way === 'reported' ? decide(s, id, success) : recordPoll(s, id, success));
      // The status poll is deleted only now that its result will be recorded.
      expect(await statusPollsOf(s, id)).toEqual([]);
      await runAllJobs(s.user);
      expect([await attempt(s, id), (await look(s.user, s.id)).status]).toEqual([['succeeded', null], 'completed']);
      expect((await depositsOf(s.user, s.id)).map((d) => d.payment_method_details)).toEqual([card]);
      expect(await mismatchesOf(id)).toEqual([[true, card, other]]);
      // A repetition is the same mismatch.
      await decide(s, id, success);
      expect((await eventsOf(s.user)).filter((type) => type === 'transaction.mismatched')).toHaveLength(1);
      expect(await depositsOf(s.user, s.id)).toHaveLength(1);
    },
  );

  it('is not ended by a failure of another payment, and its status poll continues', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'processing' });
    await recordPoll(s, id, { status: 'failed', reasonCode: 'declined', details: other });
    await runAllJobs(s.user);
    expect([await attempt(s, id), (await statusPollsOf(s, id)).length]).toEqual([['processing', null], 1]);
    await recordPoll(s, id, { status: 'succeeded', details: card });
    await runAllJobs(s.user);
    expect([await attempt(s, id), await statusPollsOf(s, id), await mismatchesOf(id)]).toEqual([
      ['succeeded', null],
      [],
      [],
    ]);
  });

  it.each(['settled', 'reported'] as const)(
    'that succeeds after it was declined is not credited, and the operator sees it: %s',
    async (when) => {
      const s = await opened();
      const { id } = await begin(s);
      await decide(s, id, { status: 'failed', reasonCode: 'declined' });
      if (when === 'settled') await runAllJobs(s.user);
      await decide(s, id, { status: 'succeeded' });
      await runAllJobs(s.user);
      expect([await attempt(s, id), await depositsOf(s.user, s.id)]).toEqual([['failed', 'declined'], []]);
      expect(await mismatchesOf(id)).toEqual([[false, card, card]]);
    },
  );

  it('that the acquirer declines later fails then, with its reason', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'failed', reasonCode: 'insufficient_funds', afterSeconds: 30 });
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['processing', null]);
    await advanceClock(s.user, 31);
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['failed', 'insufficient_funds']);
    expect((await look(s.user, s.id)).effective_transaction).toEqual({ id, status: 'failed' });
  });

  it('fails if no payment comes in time, and still succeeds when the money comes', async () => {
    const s = await opened();
    const { id } = await begin(s, randomUUID(), 'upi');
    await advanceClock(s.user, 420);
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['processing', null]);
    await advanceClock(s.user, 61);
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['failed', 'expired']);
    expect((await look(s.user, s.id)).effective_transaction).toEqual({ id, status: 'failed' });

    await endTransaction(s, id, 'succeeded');

    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    const paid = await look(s.user, s.id);
    expect([paid.status, paid.effective_transaction]).toEqual(['completed', { id, status: 'succeeded' }]);
    expect(await funds(s.user)).toEqual({ 'available INR': '60.00' });
    // A declined attempt stays declined: no money was taken.
    const other = await opened();
    const declined = await begin(other);
    await endTransaction(other, declined.id, 'failed', 'declined');
    await endTransaction(other, declined.id, 'succeeded');
    expect(await attempt(other, declined.id)).toEqual(['failed', 'declined']);
    expect(await funds(other.user)).toEqual({});
  });

  it('that succeeds after the checkout’s expiry is credited, and the checkout stays expired', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'succeeded', afterExpiry: true });
    await advanceClock(s.user, 600);
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['failed', 'expired']);
    await advanceClock(s.user, day);
    await runAllJobs(s.user);
    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    const late = await look(s.user, s.id);
    expect([late.status, late.effective_transaction]).toEqual(['expired', { id, status: 'succeeded' }]);
    expect(await funds(s.user)).toEqual({ 'available INR': '60.00' });
  });

  it('that expired and is then paid is a duplicate if another has succeeded', async () => {
    const s = await opened();
    const [slow, quick] = [await begin(s, randomUUID(), 'upi'), await begin(s)];
    await endTransaction(s, quick.id, 'succeeded');
    const paid = await look(s.user, s.id);
    await advanceClock(s.user, 481);
    await runAllJobs(s.user);
    expect(await attempt(s, slow.id)).toEqual(['failed', 'expired']);
    await endTransaction(s, slow.id, 'succeeded');
    await endTransaction(s, slow.id, 'succeeded');
    expect(await attempt(s, slow.id)).toEqual(['failed', 'duplicate']);
    expect(await look(s.user, s.id)).toEqual(paid);
    expect((await depositsOf(s.user, s.id)).map((d) => [d.status, d.reason_code])).toEqual([
      ['completed', null],
      ['failed', 'duplicate'],
    ]);
    expect(await funds(s.user)).toEqual({ 'available INR': '60.00' });
  });

  it('counts for the checkout at the time of its end, not of its start', async () => {
    const s = await opened();
    const [first, second] = [await begin(s), await begin(s)];
    await endTransaction(s, second.id, 'failed', 'declined');
    expect((await look(s.user, s.id)).effective_transaction.id).toBe(second.id);
    await endTransaction(s, first.id, 'failed', 'insufficient_funds');
    expect((await look(s.user, s.id)).effective_transaction).toEqual({ id: first.id, status: 'failed' });
  });
});

describe('the deposit of a checkout', () => {
  /** A paid checkout of 60.00, of which 20.00 found a receivable. */
  const partly = async () => {
    const { user, partner } = await shop();
    const [small, gone] = [await receivableOf(user, '20.00'), await receivableOf(user, '40.00')];
    const { id } = done(await act(user, 'REST', 'create', checkoutBody(partner, [small, gone])));
    await must(user.post(`/v1/receivables/${gone}/void`));
    await pay(user, id);
    expect(await funds(user)).toEqual({ 'available INR': '20.00', 'pending INR': '40.00' });
    return { user, small, id, deposit: (await depositsOf(user, id))[0] };
  };

  it('is disputed like any other: pending first, then available money, and the locks shrink', async () => {
    const { user, small, id, deposit } = await partly();
    const before = await look(user, id);
    const disputed = await user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '45.00' });
    expect([disputed.body.amount, disputed.body.status, disputed.body.reason_code]).toEqual([
      '-45.00',
      'completed',
      'general',
    ]);
    expect(await funds(user)).toEqual({ 'available INR': '15.00' });
    expect(await locksOf(user, small)).toEqual(['15.00', '5.00', [deposit.id]]);
    expect(await look(user, id)).toEqual(before);
  });

  it('is reversed like any other, and the checkout stays paid', async () => {
    const { user, small, id, deposit } = await partly();
    const before = await look(user, id);
    expect((await user.post(`/v1/test_helpers/deposits/${deposit.id}/reverse`)).body.status).toBe('reversed');
    expect(await funds(user)).toEqual({});
    expect(await locksOf(user, small)).toEqual(['0.00', '20.00', []]);
    expect(await look(user, id)).toEqual(before);
    // It credits once, even after the reversal.
    expect(await pay(user, id)).toEqual(before);
    expect((await depositsOf(user, id)).map((d) => d.status)).toEqual(['reversed', 'failed']);
    expect(await funds(user)).toEqual({});
  });

  it('links to the checkout and back, and its attempt to both', async () => {
    const { user, partner, receivable, id } = await opened();
    const { effective_transaction: effective } = await pay(user, id);
    const { data } = (
      await user.graph(
        `query ($id: ID!, $partner: ID!) {
          checkout(id: $id) {
            fromAccount { id } toAccount { id } receivables { id checkouts { nodes { id } } }
            effectiveTransaction { id checkout { id } payment { type checkout { id } deposit { id } } deposit { id
            checkout { id } } }
            deposit { id checkout { id } payment { checkout { id } } }
            transactions { nodes { id deposit { checkout { id } } } }
          }
          account(id: $partner) { checkoutsOut { nodes { id } } checkoutsIn { nodes { id } } }
        }`,
        { id, partner },
      )
    ).body;
    const [deposit] = await depositsOf(user, id);
    const c = { id };
    expect(data.checkout).toEqual({
      fromAccount: { id: partner },
      toAccount: { id: user.id },
      receivables: [{ id: receivable, checkouts: { nodes: [c] } }],
      effectiveTransaction: {
        id: effective.id,
        checkout: c,
        payment: { type: 'CHECKOUT', checkout: c, deposit: { id: deposit.id } },
        deposit: { id: deposit.id, checkout: c },
      },
      deposit: { id: deposit.id, checkout: c, payment: { checkout: c } },
      transactions: { nodes: [{ id: effective.id, deposit: { checkout: c } }] },
    });
    expect(data.account).toEqual({ checkoutsOut: { nodes: [c] }, checkoutsIn: { nodes: [] } });
  });
});

describe('a user of an aggregator', () => {
  it('passes available money of a checkout to the aggregator at once; pending money stays with the user', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await platform.connectedUser();
    const [{ id: partner }, receivable] = [await user.partner(), await receivableOf(user, '100.00')];
    const lower = done(await act(user, 'REST', 'create', checkoutBody(partner, [receivable], { amount: '100.00' })));
    await must(user.post(`/v1/receivables/${receivable}`, { amount_maximum_reconcilable: '70.00' }));

    await pay(platform, lower.id);

    expect([await funds(user), await funds(platform)]).toEqual([
      { 'pending INR': '30.00' },
      { 'available INR': '70.00' },
    ]);
    const payments = (await user.get('/v1/payments')).body.data;
    expect(payments.map((p: Json) => [p.type, p.amount, p.status, p.checkout_id])).toEqual([
      ['transfer', '70.00', 'completed', null],
      ['checkout', '100.00', 'completed', lower.id],
    ]);
    const entries = (await user.get('/v1/balance_transactions')).body.data;
    expect(entries.map((t: Json) => [t.category, t.amount]).toReversed()).toEqual([
      ['pending', '100.00'],
      ['available', '70.00'],
      ['pending', '-70.00'],
      ['available', '-70.00'],
    ]);
    const [deposit] = await depositsOf(user, lower.id);
    expect(await locksOf(user, receivable)).toEqual(['70.00', '0.00', [deposit.id]]);
  });
});

describe('the list of checkouts', () => {
  it('is newest first, pages both ways, and filters by status, account and time', async () => {
    const { user, partner, receivable } = await shop();
    const other = (await user.partner()).id;
    const made: string[] = [];
    for (let i = 0; i < 6; i++) {
      const from = i % 2 ? other : partner;
      made.push(done(await act(user, 'REST', 'create', checkoutBody(from, [receivable], { amount: '1.00' }))).id);
      if (i === 2) await advanceClock(user, 3_600);
    }
    await pay(user, made[0]!);
    done(await act(user, 'REST', 'cancel', {}, made[1]!));
    done(await act(user, 'REST', 'expire', {}, made[2]!));
    const newest = made.toReversed();
    const ids = async (query: string) => {
      const { body } = await user.get(`/v1/checkouts${query}`);
      return [body.data.map((c: Json) => c.id), body.has_next];
    };
    expect(await ids('')).toEqual([newest, false]);
    expect(await ids('?limit=4')).toEqual([newest.slice(0, 4), true]);
    expect(await ids(`?limit=4&starting_after=${newest[3]}`)).toEqual([newest.slice(4), false]);
    expect(await ids(`?limit=2&ending_before=${newest[4]}`)).toEqual([newest.slice(2, 4), true]);
    expect(await ids('?status=completed')).toEqual([[made[0]], false]);
    const ended = [[made[2], made[1]], false];
    expect(await ids('?status=cancelled&status=expired')).toEqual(ended);
    expect(await ids('?status[]=cancelled&status[]=expired')).toEqual(ended);
    expect(await ids('?status=cancelled,expired')).toEqual(ended);
    expect(await ids(`?account_id=${other}`)).toEqual([[made[5], made[3], made[1]], false]);
    expect(await ids(`?account_id=${user.id}`)).toEqual([newest, false]);
    expect(await ids(`?account_id=${other}&limit=1&starting_after=${made[5]}`)).toEqual([[made[3]], true]);
    expect(await ids(`?account_id=${other}&limit=2&ending_before=${made[1]}`)).toEqual([[made[5], made[3]], false]);
    expect(await ids(`?account_id=${user.id}&limit=2&ending_before=${newest[3]}`)).toEqual([newest.slice(1, 3), true]);
    expect(await ids(`?account_id=${other}&status=initialized&limit=1`)).toEqual([[made[5]], true]);
    const { created } = await look(user, made[3]!);
    expect(await ids(`?created.gte=${created}`)).toEqual([newest.slice(0, 3), false]);
    expect(await ids(`?created.lt=${created}`)).toEqual([newest.slice(3), false]);
    // A checkout that changed its status keeps its place on every page.
    expect(await ids(`?limit=2&starting_after=${made[2]}`)).toEqual([[made[1], made[0]], false]);
  });

  it.each([
    ['?status=paid', 400, 'parameter_invalid', 'checkout.status'],
    ['?status=', 400, 'parameter_invalid_empty', 'checkout.status'],
    ['?limit=11', 400, 'parameter_invalid', 'checkout.limit'],
    [`?starting_after=${unknownId('checkout')}`, 400, 'parameter_invalid', 'checkout.starting_after'],
    ['?amount=1.00', 400, 'parameter_unknown', 'checkout.amount'],
  ] as const)('refuses %s', async (query, status, code, field) => {
    const user = await given.directUser(2);
    expect(refusalOf(await user.get(`/v1/checkouts${query}`))).toEqual(one(status, code, field));
  });
});

describe('the checkouts of a receivable', () => {
  it('are newest first, page both ways, filter and count, separately for every receivable', async () => {
    const { user, partner, receivable } = await shop();
    const second = await receivableOf(user);
    const unused = await receivableOf(user);
    const made: string[] = [];
    // Most are for both receivables, in either order; the last are only for the first.
    for (let i = 0; i < 7; i++) {
      const against = i > 4 ? [receivable] : i % 2 ? [receivable, second] : [second, receivable];
      made.push(done(await act(user, 'REST', 'create', checkoutBody(partner, against, { amount: '1.00' }))).id);
      if (i === 2) await advanceClock(user, 60);
    }
    done(await act(user, 'REST', 'cancel', {}, made[1]!));
    done(await act(user, 'REST', 'cancel', {}, made[6]!));
    const page = async (args: string) => {
      const { data, errors } = (
        await user.graph(
          `{ receivables { nodes { id checkouts${args} { totalCount nodes { id } edges { cursor } pageInfo { ` +
            'hasNextPage hasPreviousPage startCursor endCursor } } } } }',
        )
      ).body;
      expect(errors).toBeUndefined();
      const { nodes } = data.receivables;
      return (id: string) => nodes.find((node: Json) => node.id === id).checkouts;
    };
    const of = (all: string[], from: number, to: number, count = all.length) => {
      const ids = all.slice(from, to);
      return {
        totalCount: count,
        nodes: ids.map((id) => ({ id })),
        edges: ids.map((cursor) => ({ cursor })),
        pageInfo: {
          hasNextPage: to < all.length,
          hasPreviousPage: from > 0,
          startCursor: ids.at(0) ?? null,
          endCursor: ids.at(-1) ?? null,
        },
      };
    };
    const newest = made.toReversed();
    const both = newest.slice(2);

    const whole = await page('');
    expect([whole(receivable), whole(second), whole(unused)]).toEqual([of(newest, 0, 7), of(both, 0, 5), of([], 0, 0)]);
    // A cursor is any visible checkout, also one that is not for this receivable.
    for (let at = 0; at < newest.length; at++) {
      const on = await page(`(first: 2, after: "${newest[at]}")`);
      expect(on(receivable).nodes).toEqual(of(newest, at + 1, at + 3).nodes);
      expect(on(receivable).pageInfo.hasNextPage).toBe(at + 3 < 7);
      expect(on(second).nodes).toEqual(of(both, Math.max(at - 1, 0), Math.max(at + 1, 2)).nodes);
      const back = await page(`(last: 2, before: "${newest[at]}")`);
      expect(back(receivable).nodes).toEqual(of(newest, Math.max(at - 2, 0), at).nodes);
      expect(back(receivable).pageInfo.hasPreviousPage).toBe(at > 2);
      expect(back(receivable).pageInfo.hasNextPage).toBe(true);
    }
    const oldest = await page('(last: 3)');
    expect([oldest(receivable), oldest(second)]).toEqual([of(newest, 4, 7), of(both, 2, 5)]);
    const cancelled = await page('(status: [CANCELLED], first: 1)');
    expect(cancelled(receivable)).toEqual(of([made[6]!, made[1]!], 0, 1));
    expect(cancelled(second)).toEqual(of([made[1]!], 0, 1));
    const { created } = await look(user, made[3]!);
    const since = await page(`(created: { gte: "${new Date(created * 1000).toISOString()}" })`);
    expect([since(receivable), since(second)]).toEqual([of(newest.slice(0, 4), 0, 4), of(both.slice(0, 2), 0, 2)]);
    const none = await user.graph(
      `{ receivable(id: "${receivable}") { checkouts(after: "${unknownId('checkout')}") { nodes { id } } } }`,
    );
    expect(none.fieldNames).toEqual(['checkout.starting_after']);
  });
});

describe('a checkout of another account', () => {
  it('is visible to no other tenant, other user of the platform, or other mode, in any request', async () => {
    const { test: platform, live } = await given.platformBoth(2);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const outsider = await given.platform(2);
    const [{ id: partner }, receivable] = [await user.partner(), await receivableOf(user)];
    const { id } = done(await act(user, 'REST', 'create', checkoutBody(partner, [receivable])));
    const { effective_transaction: effective } = done(await act(user, 'REST', 'decline', {}, id));
    const before = await look(user, id);

    for (const speaker of [outsider, other, platform.actingFor(other.id), live]) {
      const asked = async (about: string, transaction: string) => [
        await speaker.get(`/v1/checkouts/${about}`),
        await speaker.get(`/v1/transactions/${transaction}`),
        await speaker.post(`/v1/checkouts/${about}/cancel`),
        ...(speaker === live
          ? []
          : await Promise.all(
              ['pay', 'decline', 'expire'].map((verb) => speaker.post(`/v1/test_helpers/checkouts/${about}/${verb}`)),
            )),
      ];
      const [foreign, invented] = [
        await asked(id, effective.id),
        await asked(unknownId('checkout'), unknownId('transaction')),
      ];
      expect(foreign.map((r) => r.status)).toEqual(foreign.map(() => 404));
      expect(foreign.map((r) => r.body)).toEqual(invented.map((r) => r.body));
      for (const query of ['', `?account_id=${user.id}`, `?account_id=${partner}`])
        expect((await speaker.get(`/v1/checkouts${query}`)).body.data).toEqual([]);
      const { data } = (
        await speaker.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id, effective.id] })
      ).body;
      expect(data.nodes).toEqual([null, null]);
    }
    expect(await look(user, id)).toEqual(before);
    // The user, its platform, and the platform on its behalf see the same checkout.
    for (const speaker of [user, platform, platform.actingFor(user.id)]) {
      expect(await look(speaker, id)).toEqual(before);
      expect((await speaker.get('/v1/checkouts')).body.data).toEqual([before]);
      expect((await speaker.get(`/v1/checkouts?account_id=${partner}`)).body.data).toEqual([before]);
      expect((await speaker.get(`/v1/transactions/${effective.id}`)).status).toBe(200);
    }
  });
});

describe('Edition 1', () => {
  it('has no checkouts: each path and each root field is 404, well-formed or not, and the list is empty', async () => {
    const user = await given.directUser(1);
    const c = unknownId('checkout');
    const replies = await Promise.all([
      user.post('/v1/checkouts', checkoutBody(unknownId('account'), [unknownId('receivable')])),
      user.post('/v1/checkouts', { nonsense: 1 }),
      user.post('/v1/checkouts', '{'),
      user.get('/v1/checkouts'),
      user.get('/v1/checkouts?limit=99'),
      user.get(`/v1/checkouts/${c}`),
      user.post(`/v1/checkouts/${c}/cancel`),
      user.get(`/v1/transactions/${unknownId('transaction')}`),
      ...['pay', 'decline', 'expire'].map((verb) => user.post(`/v1/test_helpers/checkouts/${c}/${verb}`)),
    ]);
    expect(replies.map((r) => [r.status, r.codes])).toEqual(replies.map(() => [404, ['route_missing']]));
    const mutations = (['create', 'cancel', 'pay', 'decline', 'expire'] as const).map((operation) =>
      act(
        user,
        'GraphQL',
        operation,
        operation === 'create' ? checkoutBody(c, [c]) : {},
        operation === 'create' ? undefined : c,
      ),
    );
    const queries = [`checkout(id: "${c}") { id }`, `transaction(id: "${c}") { id }`];
    for (const reply of [
      ...(await Promise.all(mutations)),
      ...(await Promise.all(queries.map((q) => user.graph(`{ ${q} }`)))),
    ])
      expect([reply.body.errors[0].extensions.httpStatus, reply.codes]).toEqual([404, ['route_missing']]);
    const list = await user.graph('{ checkouts { nodes { id } pageInfo { hasNextPage } } }');
    expect(list.body.data).toEqual({ checkouts: { nodes: [], pageInfo: { hasNextPage: false } } });
  });
});
