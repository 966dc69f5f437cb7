import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { advanceAndRun, noon, runJobs } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { must, transports, givenIn, nickname, type Speaker, useWorld, payoutAddress } from '../support/world.js';
import {
  activatedPartner,
  completed,
  deposited,
  funds,
  money,
  move,
  receivableOf,
  reconcile,
  ways,
} from './deposit-fixture.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';

// No worker, so that a deposit keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

async function locksOf(speaker: Speaker, id: string) {
  const r = (await speaker.get(`/v1/receivables/${id}`)).body;
  return [r.amount_locked, r.amount_settled_payouts, r.amount_reconcilable, r.deposit_ids_amount_locked];
}

describe.each(transports)('reconciling a deposit over %s', (transport) => {
  it('moves money from pending to available, in parts and over several receivables, and locks these', async () => {
    const user = await given.directUser(1);
    const [one, two] = [await receivableOf(user, '100.00'), await receivableOf(user, '50.00')];
    const deposit = await completed(user, '120.00');

    const first = await reconcile(user, transport, deposit.id, [
      [one.id, '70.00'],
      [two.id, '20.00'],
    ]);

    expect([first.status, first.deposit]).toEqual([200, deposit]);
    expect(await funds(user)).toMatchObject({ available: money('90.00'), pending: money('30.00') });
    expect(await locksOf(user, one.id)).toEqual(['70.00', '0.00', '30.00', [deposit.id]]);
    expect(await locksOf(user, two.id)).toEqual(['20.00', '0.00', '30.00', [deposit.id]]);

    // The same receivable again, and twice in one request: the amounts are added.
    const second = await reconcile(user, transport, deposit.id, [
      [two.id, '10.00'],
      [two.id, '20.00'],
    ]);
    expect(second.status).toBe(200);
    expect(await funds(user)).toMatchObject({ available: money('120.00'), pending: money('0.00') });
    expect(await locksOf(user, two.id)).toEqual(['50.00', '0.00', '0.00', [deposit.id]]);
    expect((await user.get(`/v1/receivables/${two.id}`)).body.status).toBe('locked');
    const { body } = await user.graph(
      `{ deposit(id: "${deposit.id}") { pendingRest receivables { id lockedDeposits { id } } } }`,
    );
    expect(body.data.deposit.pendingRest).toBe('0.00');
    expect(body.data.deposit.receivables.map((r: any) => [r.id, r.lockedDeposits]).toSorted()).toEqual(
      [one.id, two.id].map((id) => [id, [{ id: deposit.id }]]).toSorted(),
    );
  });

  it("takes the money from a partner that holds it, and gives it to the receivable's owner", async () => {
    const user = await given.directUser(1);
    const partner = await activatedPartner(user, user);
    const receivable = await receivableOf(user, '100.00');
    const to = { account_id: partner.id };
    const deposit = await completed(user, '40.00', { from: { account_id: partner.id }, to });

    expect((await reconcile(user, transport, deposit.id, [[receivable.id, '25.00']])).status).toBe(200);

    expect(await funds(user, partner.id)).toMatchObject({ available: money('0.00'), pending: money('15.00') });
    expect(await funds(user)).toMatchObject({ available: money('25.00'), pending: money('0.00') });
    expect((await user.get('/v1/balance/aggregate')).body.pending).toEqual(money('15.00'));
  });

  it('refuses more than the rest of the deposit or of a receivable, and then moves no money', async () => {
    const user = await given.directUser(1);
    const [small, large] = [await receivableOf(user, '10.00'), await receivableOf(user, '1000.00')];
    const deposit = await completed(user, '50.00');

    for (const [beyond, parts] of [
      [[0], [[small.id, '10.01']]],
      [[0], [[large.id, '50.01']]],
      // Each is possible alone; together they exceed the deposit or the receivable, from the named one on.
      [
        [1],
        [
          [large.id, '30.00'],
          [large.id, '20.01'],
        ],
      ],
      [
        [2],
        [
          [large.id, '20.00'],
          [small.id, '5.00'],
          [small.id, '5.01'],
          [large.id, '1.00'],
        ],
      ],
      [
        [1, 2],
        [
          [large.id, '39.00'],
          [small.id, '10.01'],
          [large.id, '1.00'],
        ],
      ],
    ] as [number[], [string, string][]][]) {
      const reply = await reconcile(user, transport, deposit.id, parts);
      expect([parts, reply.status, reply.codes]).toEqual([parts, 402, beyond.map(() => 'amount_exceeds_reconcilable')]);
      expect(reply.fieldNames).toEqual(beyond.map((i) => `deposit.receivables[${i}].amount`));
      if (transport === 'GraphQL')
        expect(reply.body.errors.map((e: any) => e.extensions.argumentPath)).toEqual(
          beyond.map((i) => ['input', 'receivables', i, 'amount']),
        );
    }

    expect(await funds(user)).toMatchObject({ available: money('0.00'), pending: money('50.00') });
    expect(await locksOf(user, large.id)).toEqual(['0.00', '0.00', '1000.00', []]);
    expect(await locksOf(user, small.id)).toEqual(['0.00', '0.00', '10.00', []]);
  });

  it('refuses receivables of another owner or currency, or void ones, and names which', async () => {
    const platform = await given.platform(2);
    const [user, other] = [await activatedUser(platform), await platform.connectedUser()];
    const deposit = await completed(user, '50.00');
    const foreign = await receivableOf(other, '100.00');
    const dollars = await receivableOf(user, '100.00', {
      currency: 'USD',
      invoice: { ...foreign.invoice, document: null, currency: 'USD' },
    });
    const voided = await receivableOf(user, '100.00');
    expect((await user.post(`/v1/receivables/${voided.id}/void`)).status).toBe(200);
    const good = await receivableOf(user, '100.00');

    const refused = async (speaker: Speaker, id: string, status: number, code: string) => {
      const reply = await reconcile(speaker, transport, deposit.id, [
        [good.id, '1.00'],
        [id, '1.00'],
      ]);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        status,
        [code],
        [expect.stringMatching(/^deposit\.receivables/)],
      ]);
    };
    await refused(platform, foreign.id, 400, 'parameter_invalid');
    await refused(user, foreign.id, 404, 'resource_missing');
    await refused(user, dollars.id, 400, 'parameter_invalid');
    await refused(user, voided.id, 400, 'status_invalid');
    // An error of a state comes before one of an amount, in any order of the receivables.
    const open = await receivableOf(user, '1.00');
    const both = await reconcile(user, transport, deposit.id, [
      [open.id, '50.00'],
      [voided.id, '1.00'],
    ]);
    expect([both.status, both.codes]).toEqual([400, ['status_invalid']]);
    await refused(user, unknownId('receivable'), 404, 'resource_missing');
    expect(await funds(user)).toMatchObject({
      available: money('0.00', 'INR'),
      pending: money('50.00', 'INR'),
    });
    expect(await locksOf(user, good.id)).toEqual(['0.00', '0.00', '100.00', []]);
  });

  it.each(['initialized', 'processing', 'cancelled', 'failed', 'reversed', 'a dispute'] as const)(
    'refuses a deposit that is %s',
    async (state) => {
      const user = await given.directUser(1);
      const receivable = await receivableOf(user, '100.00');
      let { id } = await deposited(user);
      for (const step of ways[state]) id = (await move(user, 'REST', id, step)).deposit.id;

      const reply = await reconcile(user, transport, id, [[receivable.id, '1.00']]);

      expect([reply.status, reply.codes]).toEqual([400, ['status_invalid']]);
      expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', '100.00', []]);
    },
  );

  it('is permitted for the owner and its platform, on behalf of the user or not, and for no other', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const receivable = await receivableOf(user, '100.00');
    const deposit = await completed(user, '30.00');
    const outsiders = await Promise.all([given.directUser(1), given.platform(1), platform.connectedUser()]);

    for (const speaker of [user, platform, platform.actingFor(user.id)])
      expect((await reconcile(speaker, transport, deposit.id, [[receivable.id, '10.00']])).status).toBe(200);

    for (const outsider of outsiders) {
      const reply = await reconcile(outsider, transport, deposit.id, [[receivable.id, '1.00']]);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['deposit.id']]);
    }
    expect(await locksOf(user, receivable.id)).toEqual(['30.00', '0.00', '70.00', [deposit.id]]);
  });

  it('accepts at most a hundred receivables', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');
    const many = Array.from({ length: 101 }, () => [`receivable_${'0'.repeat(32)}`, '0.01'] as [string, string]);
    const refused = await reconcile(user, transport, deposit.id, many);
    expect([refused.status, refused.codes, refused.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['deposit.receivables'],
    ]);
    const receivable = await receivableOf(user, '10.00');
    const hundred = Array.from({ length: 100 }, () => [receivable.id, '0.01'] as [string, string]);
    expect((await reconcile(user, transport, deposit.id, hundred)).status).toBe(200);
    expect(await locksOf(user, receivable.id)).toEqual(['1.00', '0.00', '9.00', [deposit.id]]);
  });

  it('names what is missing, empty or not positive', async () => {
    const user = await given.directUser(1);
    const [receivable, deposit] = [await receivableOf(user, '100.00'), await completed(user)];

    const none = await reconcile(user, transport, deposit.id, []);
    expect([none.status, none.codes, none.fieldNames]).toEqual([
      400,
      ['parameter_invalid_empty'],
      ['deposit.receivables'],
    ]);
    for (const amount of ['0.00', '0', '-1.00', '1.5', '']) {
      const reply = await reconcile(user, transport, deposit.id, [[receivable.id, amount]]);
      expect([amount, reply.status, reply.fieldNames]).toEqual([amount, 400, ['deposit.receivables[0].amount']]);
    }
  });

  it('moves nothing if it is repeated with its key, over either API, also concurrently', async () => {
    const user = await given.directUser(1);
    const [receivable, deposit] = [await receivableOf(user, '100.00'), await completed(user, '50.00')];
    const keyed = user.with({ 'idempotency-key': nickname() });

    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        reconcile(keyed, i % 2 ? 'REST' : transport, deposit.id, [[receivable.id, '20.00']]),
      ),
    );

    expect(replies.map((r) => [r.status, r.deposit])).toEqual(replies.map(() => [200, deposit]));
    expect(replies.filter((r) => r.headers.get('idempotent-replayed') === 'true')).toHaveLength(5);
    expect(await funds(user)).toMatchObject({ available: money('20.00'), pending: money('30.00') });
    const other = await reconcile(keyed, transport, deposit.id, [[receivable.id, '20.01']]);
    expect([other.status, other.codes]).toEqual([400, ['idempotency_key_reused']]);
  });

  it('never exceeds the available amounts under concurrency', async () => {
    const user = await given.directUser(1);
    const [receivable, ...deposits] = [
      await receivableOf(user, '100.00'),
      await completed(user, '50.00'),
      await completed(user, '90.00'),
    ];

    // The deposits have 140.00, the receivable takes 100.00: ten parts of 10.00 are all that fit.
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, i) => reconcile(user, transport, deposits[i % 2]!.id, [[receivable.id, '10.00']])),
    );

    const done = replies.filter((r) => r.status === 200).length;
    expect(replies.filter((r) => r.status !== 200).map((r) => [r.status, r.codes])).toEqual(
      Array.from({ length: 16 - done }, () => [402, ['amount_exceeds_reconcilable']]),
    );
    expect(done).toBe(10);
    expect((await locksOf(user, receivable.id)).slice(0, 3)).toEqual(['100.00', '0.00', '0.00']);
    expect((await funds(user)).available).toEqual(money('100.00'));
  });
});

it('works in live mode, too, where no other operation on deposits does', async () => {
  const { account, live } = await given.directUserBoth(1);
  const root = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
  const address = await issueAddress(world.operator, root, {
    category: 'service_receive',
    currency: 'USD',
    bankAccount: { number: '123456789', domesticCredit: '026009593' },
  });
  const recorded = await recordBankNotice(world.operator, {
    ...{ reference: 'BANK-1', event: 'received', addressId: address.id, amount: 5_000n, currency: 'USD' },
  });
  const receivable = await receivableOf(live, '100.00');

  const reply = await reconcile(live, 'REST', recorded.deposit!.id, [[receivable.id, '20.00']]);

  expect([reply.status, reply.deposit.livemode]).toEqual([200, true]);
  expect(await funds(live)).toMatchObject({ available: money('20.00'), pending: money('30.00') });
});

describe.each(transports)('a dispute over %s', (transport) => {
  it('claws back pending money, then available funds, below zero, and shrinks the newest locks first', async () => {
    const user = await given.directUser(1);
    const [old, newer] = [await receivableOf(user, '100.00'), await receivableOf(user, '100.00')];
    const deposit = await completed(user, '100.00');
    await must(reconcile(user, 'REST', deposit.id, [[old.id, '30.00']]));
    await must(reconcile(user, 'REST', deposit.id, [[newer.id, '40.00']]));

    const first = await move(user, transport, deposit.id, 'dispute', { amount: '20.00', reason_code: 'high_risk' });
    expect([first.deposit.amount, first.deposit.reason_code, first.deposit.status]).toEqual([
      '-20.00',
      'high_risk',
      'completed',
    ]);
    expect(await funds(user)).toMatchObject({ available: money('70.00'), pending: money('10.00') });
    expect([await locksOf(user, old.id), await locksOf(user, newer.id)]).toEqual([
      ['30.00', '0.00', '70.00', [deposit.id]],
      ['40.00', '0.00', '60.00', [deposit.id]],
    ]);

    // 10.00 of it is pending; the other 45.00 use up the newer lock, and 5.00 of the older one.
    await must(move(user, transport, deposit.id, 'dispute', { amount: '55.00' }));
    expect(await funds(user)).toMatchObject({ available: money('25.00'), pending: money('0.00') });
    expect([await locksOf(user, old.id), await locksOf(user, newer.id)]).toEqual([
      ['25.00', '0.00', '75.00', [deposit.id]],
      ['0.00', '0.00', '100.00', []],
    ]);
    const counting = await user.graph(
      `{ old: receivable(id: "${old.id}") { deposits { id } } newer: receivable(id: "${newer.id}") { deposits ` +
        '{ id } } }',
    );
    expect(counting.body.data).toEqual({ old: { deposits: [{ id: deposit.id }] }, newer: { deposits: [] } });
    const disputes = (await user.get('/v1/deposits')).body.data.filter((d: any) => d.amount.startsWith('-'));
    expect(disputes.map((d: any) => d.amount).toSorted()).toEqual(['-20.00', '-55.00']);
    const payments = (await user.get('/v1/payments?type=dispute')).body.data;
    expect(payments.map((p: any) => [p.amount, p.status, p.deposit_id]).toSorted()).toEqual(
      disputes.map((d: any) => [d.amount, 'completed', d.id]).toSorted(),
    );
  });

  it('is at most the undisputed rest, which is also the default amount', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');
    const tooMuch = await move(user, transport, deposit.id, 'dispute', { amount: '10.01' });
    expect([tooMuch.status, tooMuch.codes]).toEqual([402, ['amount_exceeds_deposit']]);
    expect((await move(user, transport, deposit.id, 'dispute', { amount: '4.00' })).status).toBe(200);
    const again = await move(user, transport, deposit.id, 'dispute', { amount: '6.01' });
    expect([again.status, again.codes]).toEqual([402, ['amount_exceeds_deposit']]);

    expect((await move(user, transport, deposit.id, 'dispute')).deposit.amount).toBe('-6.00');

    const none = await move(user, transport, deposit.id, 'dispute');
    expect([none.status, none.codes]).toEqual([402, ['amount_exceeds_deposit']]);
    expect(await funds(user)).toMatchObject({ available: money('0.00'), pending: money('0.00') });
  });

  it('refuses an invalid amount', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');
    for (const amount of ['0.00', '-1.00', '1.5', 'all']) {
      const reply = await move(user, transport, deposit.id, 'dispute', { amount });
      expect([amount, reply.status, reply.codes, reply.fieldNames]).toEqual([
        amount,
        400,
        ['parameter_invalid'],
        ['deposit.amount'],
      ]);
    }
    expect((await funds(user)).pending).toEqual(money('10.00'));
  });

  it('does not change the locks of a payout in flight, and never takes from payout_processing', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user);
    const receivable = await receivableOf(user, '100.00');
    const deposit = await completed(user, '80.00');
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '60.00']]));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await runJobs(user);
    const [payout] = (await user.get('/v1/payouts')).body.data;
    expect([payout.status, payout.amount]).toEqual(['processing', '60.00']);
    // Money that is reconciled meanwhile is not part of the payout.
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '5.00']]));

    await must(move(user, transport, deposit.id, 'dispute', { amount: '50.00' }));

    expect(await funds(user)).toEqual({
      available: money('-30.00', 'INR'),
      pending: money('0.00', 'INR'),
      payout_processing: money('60.00', 'INR'),
      fee_advance: [],
    });
    expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', '40.00', [deposit.id]]);
    expect((await user.post(`/v1/test_helpers/payouts/${payout.id}/settle`)).status).toBe(200);
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '60.00', '40.00', []]);
    expect(await funds(user)).toMatchObject({
      available: money('-30.00', 'INR'),
      payout_processing: money('0.00', 'INR'),
    });
  });

  it("takes from the partner's pending first and then from its owner's available funds", async () => {
    const user = await given.directUser(1);
    const partner = await activatedPartner(user, user);
    const receivable = await receivableOf(user, '100.00');
    const party = { account_id: partner.id };
    const deposit = await completed(user, '40.00', { from: party, to: party });
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '25.00']]));

    await must(move(user, transport, deposit.id, 'dispute', { amount: '20.00' }));

    expect((await funds(user, partner.id)).pending).toEqual(money('0.00'));
    expect((await funds(user)).available).toEqual(money('20.00'));
    expect(await locksOf(user, receivable.id)).toEqual(['20.00', '0.00', '80.00', [deposit.id]]);
  });

  it('is created once if it is repeated with its key', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '50.00');
    const keyed = user.with({ 'idempotency-key': nickname() });
    const replies = [
      await move(keyed, 'REST', deposit.id, 'dispute', { amount: '10.00' }),
      await move(keyed, transport, deposit.id, 'dispute', { amount: '10.00' }),
    ];
    expect(new Set(replies.map((r) => r.deposit.id)).size).toBe(1);
    expect((await funds(user)).pending).toEqual(money('40.00'));
  });

  it('never exceeds the deposit under concurrency', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '50.00');
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => move(user, transport, deposit.id, 'dispute', { amount: '10.00' })),
    );
    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 200, 200, 200, 200, 402, 402, 402]);
    expect(await funds(user)).toMatchObject({ available: money('0.00'), pending: money('0.00') });
  });
});

describe.each(transports)('a reversal over %s', (transport) => {
  it('claws back the complete rest without a separate deposit, and frees its locks', async () => {
    const user = await given.directUser(1);
    const [one, other] = [await receivableOf(user, '100.00'), await receivableOf(user, '100.00')];
    const [deposit, kept] = [await completed(user, '100.00'), await completed(user, '5.00')];
    await must(
      reconcile(user, 'REST', deposit.id, [
        [one.id, '60.00'],
        [other.id, '10.00'],
      ]),
    );
    await must(reconcile(user, 'REST', kept.id, [[other.id, '5.00']]));
    await must(move(user, 'REST', deposit.id, 'dispute', { amount: '20.00' }));

    const reply = await move(user, transport, deposit.id, 'reverse', { reason_code: 'duplicate' });

    expect([reply.status, reply.deposit]).toEqual([200, { ...deposit, status: 'reversed', reason_code: 'duplicate' }]);
    // 80.00 of it were left: 10.00 pending, 70.00 available. The money of the other deposit stays.
    expect(await funds(user)).toMatchObject({ available: money('5.00'), pending: money('0.00') });
    expect([await locksOf(user, one.id), await locksOf(user, other.id)]).toEqual([
      ['0.00', '0.00', '100.00', []],
      ['5.00', '0.00', '95.00', [kept.id]],
    ]);
    expect((await user.get('/v1/deposits')).body.data).toHaveLength(3);
    const payments = (await user.get('/v1/payments?type=deposit&status=reversed')).body.data;
    expect(payments.map((p: any) => p.deposit_id)).toEqual([deposit.id]);
  });

  it('may take available funds below zero, which later deposits compensate', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user);
    const receivable = await receivableOf(user, '500.00');
    const deposit = await completed(user, '80.00');
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '80.00']]));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await advanceAndRun(user, 61);
    expect((await user.get('/v1/payouts')).body.data.map((p: any) => [p.amount, p.status])).toEqual([
      ['80.00', 'completed'],
    ]);

    expect((await move(user, transport, deposit.id, 'reverse')).status).toBe(200);
    expect((await funds(user)).available).toEqual(money('-80.00', 'INR'));
    // It was paid out: settled amounts stay settled.
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '80.00', '420.00', []]);

    const next = await completed(user, '100.00');
    await must(reconcile(user, 'REST', next.id, [[receivable.id, '100.00']]));
    expect((await funds(user)).available).toEqual(money('20.00', 'INR'));
  });

  it('happens once after eight concurrent requests, and leaves nothing to dispute', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');

    const replies = await Promise.all(Array.from({ length: 8 }, () => move(user, transport, deposit.id, 'reverse')));

    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    expect(replies.flatMap((r) => r.codes)).toEqual(Array.from({ length: 7 }, () => 'status_invalid'));
    expect((await funds(user)).pending).toEqual(money('0.00'));
    const late = await move(user, transport, deposit.id, 'dispute', { amount: '1.00' });
    expect([late.status, late.codes]).toEqual([400, ['status_invalid']]);
  });
});
