import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import type { BankNotice } from '../../src/operator/money/notice.js';
import { cents, currencyOf, receivableBody } from '../support/bodies.js';
import { payOutLive, runJobs } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { eventually, givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { banksIn, depositsOf, money, pendingOf, type Receiver, reversed } from './bank-fixture.js';
import { waitingNotices, withdrawNotice } from '../../src/operator/money/bank.js';
import { holdAccount, issueAddress, updateRoot, verifyAccount } from '../../src/operator/account/accounts.js';
import { endPayout, setRate } from '../../src/operator/money/payouts.js';

// No worker: tests make live payouts with `payOut`.
const world = useWorld({ worker: false });
const given = givenIn(world);
const { reference, receiver, partnerOf, recordNotice, received } = banksIn(world);

auditLedger(world);

describe('a notice of a reversal', () => {
  it('claws back the complete deposit once, also if it is repeated', async () => {
    const to = await receiver(1);
    const notice = received(to);
    const { deposit } = await recordNotice(notice);

    const recorded = [
      await recordNotice(reversed(notice)),
      await recordNotice(reversed(notice)),
      await recordNotice(notice),
    ];

    expect(recorded.map((each) => [each.event, each.deposit?.id])).toEqual([
      ['reversed', deposit!.id],
      ['reversed', deposit!.id],
      ['received', deposit!.id],
    ]);
    expect((await depositsOf(to.live)).map((d) => [d.id, d.amount, d.status])).toEqual([
      [deposit!.id, '10.00', 'reversed'],
    ]);
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  it('waits for its deposit if it comes first', async () => {
    const to = await receiver(1);
    const notice = received(to);

    expect(await recordNotice(reversed(notice))).toEqual({
      reference: notice.reference,
      event: 'reversed',
      deposit: null,
    });
    expect(await depositsOf(to.live)).toEqual([]);
    const { deposit } = await recordNotice(notice);

    expect(deposit!.status).toBe('reversed');
    expect((await depositsOf(to.live)).map((d) => [d.id, d.status])).toEqual([[deposit!.id, 'reversed']]);
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    expect((await recordNotice(reversed(notice))).deposit?.id).toBe(deposit!.id);
  });

  const conflicts: [field: string, more: (to: Receiver) => Promise<Partial<BankNotice>>][] = [
    ['deposit.amount', async () => ({ amount: 400n })],
    ['deposit.currency', async () => ({ currency: 'EUR' })],
    ['deposit.address_id', async (to) => ({ addressId: (await partnerOf(to)).addressId })],
  ];
  it.each(conflicts)(
    'of a transfer that differs from the received one is a conflict about %s, in any order',
    async (field, more) => {
      const to = await receiver(1);
      for (const first of ['received', 'reversed'] as const) {
        const notice = received(to);
        const other = { ...notice, ...(await more(to)) };
        const [one, two] = first === 'received' ? [notice, reversed(other)] : [reversed(notice), other];
        const before = await recordNotice(one);
        const pending = await pendingOf(to.live);

        await expect(recordNotice(two)).rejects.toMatchObject({ problems: [{ code: 'state_conflict', field }] });

        expect(await pendingOf(to.live)).toEqual(pending);
        expect(await recordNotice(one)).toEqual(before);
      }
      expect((await depositsOf(to.live)).map((d) => d.status)).toEqual(['completed']);
    },
  );

  it('is listed while it waits, and can be withdrawn if its reference was wrong, but not once it is done', async () => {
    const to = await receiver(1);
    const [notice, other] = [received(to), received(to)];
    const row = (of: BankNotice) => ({ reference: of.reference, event: 'reversed', depositId: null });
    const waiting = async () =>
      (await waitingNotices(world.operator)).filter(({ tenantId }) => tenantId === tenantOf(to.live));
    await recordNotice(reversed(notice));
    await recordNotice(reversed(other));
    expect(await waiting()).toMatchObject([row(notice), row(other)]);

    const withdraw = (of: BankNotice) => withdrawNotice(world.operator, to.addressId, of.reference);
    // The reference alone is not enough: the same reference with another address is another notice.
    const elsewhere = await partnerOf(to);
    await expect(withdrawNotice(world.operator, elsewhere.addressId, notice.reference)).rejects.toMatchObject({
      problems: [{ code: 'resource_missing', field: 'deposit.reference' }],
    });
    expect(await withdraw(notice)).toMatchObject(row(notice));

    expect((await recordNotice(notice)).deposit!.status).toBe('completed');
    expect((await recordNotice(other)).deposit!.status).toBe('reversed');
    expect(await waiting()).toEqual([]);
    for (const none of [notice, other, received(to)])
      await expect(withdraw(none)).rejects.toMatchObject({
        problems: [{ code: 'resource_missing', field: 'deposit.reference' }],
      });
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
    await world.database.call('number_events', [tenantOf(to.live), true, 500]);
    const events = (await to.live.get('/v1/events?type=bank_notice.waiting,bank_notice.withdrawn')).body.data;
    expect(events.map((e: any) => [e.type, e.data.object.reference]).toReversed()).toEqual([
      ['bank_notice.waiting', notice.reference],
      ['bank_notice.waiting', other.reference],
      ['bank_notice.withdrawn', notice.reference],
    ]);
    expect(events[0].data.object).toEqual({
      ...{ object: 'bank_notice', reference: notice.reference, event: 'reversed', created: expect.any(Number) },
      ...{ livemode: true, address_id: to.addressId, amount: '10.00', currency: 'USD', deposit_id: null },
    });
  });

  it('takes the reconciled amount from available funds, below zero, and nothing from a payout in flight', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    const { notice } = await earn(to, '6.00', '10.00');
    await payOutLive(to.live);

    await recordNotice(reversed(notice));

    expect((await to.live.get('/v1/balance')).body).toMatchObject({
      available: money('-6.00', 'INR'),
      pending: money('0.00', 'INR'),
      payout_processing: money('6.00', 'INR'),
    });
  });

  it("takes the reconciled amount of an aggregator's user from the platform, which received it", async () => {
    const { live } = await given.platformBoth(2, { subType: 'aggregator' });
    const id = await assemble(live, complete(2, 'company'));
    await must(live.post(`/v1/accounts/${id}/activate`));
    const row = await verifyAccount(world.operator, await world.operator.account(id), 'activated');
    const user = live.actingFor(id);
    const { id: addressId } = await issueAddress(world.operator, row, {
      ...{ category: 'service_receive', currency: 'INR', bankAccount: { number: '123456789' } },
    });
    const to = { live: user, test: user, row, addressId };
    const available = async () =>
      Promise.all([user, live].map(async (one) => (await one.get('/v1/balance')).body.available));
    const { notice } = await earn(to, '6.00', '10.00');
    expect(await available()).toEqual([money('0.00', 'INR'), money('6.00', 'INR')]);
    await recordNotice(reversed(notice));
    expect(await available()).toEqual([money('0.00', 'INR'), money('0.00', 'INR')]);
    expect(await pendingOf(user, id)).toEqual(money('0.00', 'INR'));
    // A reversal that comes before its deposit takes what is pending, and nothing from the platform.
    await earn(to, '2.00', '2.00');
    const late = received(to);
    await recordNotice(reversed(late));
    await recordNotice(late);
    expect(await available()).toEqual([money('0.00', 'INR'), money('2.00', 'INR')]);
    expect(await pendingOf(user, id)).toEqual(money('0.00', 'INR'));
  });

  // Each of the two may query the other before the other is visible.
  it('is not lost if it is recorded at the same time as its deposit', async () => {
    const to = await receiver(1);
    const notices = Array.from({ length: 60 }, () => received(to));

    // Some at a time: on a busy machine all of them would not get the lock of the one balance in time.
    for (let first = 0; first < notices.length; first += 6)
      await Promise.all(
        notices.slice(first, first + 6).flatMap((notice) => [recordNotice(notice), recordNotice(reversed(notice))]),
      );

    const { body } = await to.live.graph('{ deposits(first: 100) { nodes { status } } }');
    expect(body.data.deposits.nodes).toEqual(notices.map(() => ({ status: 'REVERSED' })));
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  // The rare case, made certain: neither has committed when the other queries.
  it('is not lost if each of the two queries the other before it has committed', async () => {
    const to = await receiver(1);
    const notice = received(to);
    const { reference: utr, addressId, amount, currency } = notice;
    const content = {
      ...{ toAccountId: to.live.id, toAddressId: addressId, amount: String(amount), currency },
      ...{ fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null },
    };
    const record = (sql: typeof world.sql, event: string) =>
      sql.unsafe(`select * from record_bank_notice($1, true, '{}', $2::text::jsonb)`, [
        tenantOf(to.live),
        JSON.stringify({ reference: utr, event, content }),
      ]);
    let back: Promise<unknown> | undefined;

    await world.sql.begin(async (sql) => {
      await record(sql as never, 'received');
      back = record(world.sql, 'reversed');
      // It may wait for the deposit, or be finished already.
      await Promise.race([back, new Promise((resume) => setTimeout(resume, 300))]);
    });
    await back;

    expect((await depositsOf(to.live)).map((d) => d.status)).toEqual(['reversed']);
    expect(await recordNotice(reversed(notice))).toMatchObject({ deposit: { status: 'reversed' } });
  });

  // A transaction that locks two balances against their order deadlocks with a reconciliation.
  it('locks the balances that it needs in the common order', async () => {
    const to = await receiver(1);
    const partner = await partnerOf(to);
    const notice = received(to, { addressId: partner.addressId });
    const { deposit } = await recordNotice(notice);
    await reconciledWith(to, deposit!.id, '1.00');
    let recording: Promise<unknown> | undefined;

    await world.sql.begin(async (sql) => {
      await sql`select from balance where account_id = ${to.live.id} for update`;
      recording = recordNotice({ ...notice, reference: reference() });
      await eventually(
        () => world.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        (waiting) => waiting.length > 0,
      );
      // The user's balance comes before the partner's: a transaction that waits for it holds no later one.
      await sql`select from balance where account_id = ${partner.id} for update nowait`;
    });
    await recording;

    expect(await pendingOf(to.live, partner.id)).toEqual(money('19.00'));
  });
});

describe('notices in any order, any number of times', () => {
  it('leave the same money as if each had been recorded once and in order', async () => {
    const to = await receiver(1);
    const partner = await partnerOf(to);
    const places = { user: to.addressId, partner: partner.addressId };
    const transfer = fc.record({
      amount: fc.bigInt({ min: 1n, max: 99_999_999_999n }),
      place: fc.constantFrom('user' as const, 'partner' as const),
      // How often each notice is sent: a received transfer at least once.
      receipts: fc.integer({ min: 1, max: 3 }),
      reversals: fc.constantFrom(0, 0, 1, 2),
    });
    const held = { user: 0n, partner: 0n };
    let transfers = 0;
    let reversals = 0;

    await fc.assert(
      fc.asyncProperty(
        fc.array(transfer, { minLength: 20, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        async (history, randomness) => {
          const notices = history.flatMap(({ amount, place, receipts, reversals: backs }) => {
            const notice = received(to, { amount, addressId: places[place] });
            return [
              ...Array.from({ length: receipts }, () => notice),
              ...Array.from({ length: backs }, () => reversed(notice)),
            ];
          });
          const shuffled = notices
            .map((notice) => ({ notice, at: randomness.next().value as number }))
            .sort((a, b) => a.at - b.at);
          // Five at a time, so that copies of one notice meet.
          for (let i = 0; i < shuffled.length; i += 5)
            await Promise.all(shuffled.slice(i, i + 5).map(({ notice }) => recordNotice(notice)));

          for (const { amount, place, reversals: backs } of history) if (backs === 0) held[place] += amount;
          transfers += history.length;
          reversals += history.filter((t) => t.reversals > 0).length;
          const text = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
          expect([await pendingOf(to.live), await pendingOf(to.live, partner.id)]).toEqual([
            money(text(held.user)),
            money(text(held.partner)),
          ]);
          const { body } = await to.live.graph(
            '{ all: deposits { totalCount } back: deposits(status: [REVERSED]) { totalCount } }',
          );
          expect([body.data.all.totalCount, body.data.back.totalCount]).toEqual([transfers, reversals]);
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  });
});

/** Reconciles an amount of a deposit with a new receivable of the same amount. */
async function reconciledWith({ live }: Receiver, depositId: string, amount: string): Promise<any> {
  const currency = currencyOf[live.edition];
  const receivable = await must(live.post('/v1/receivables', receivableBody({ amount, currency })));
  await must(live.post(`/v1/deposits/${depositId}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
  return receivable;
}

/** Makes an amount available in live mode: records a bank notice and reconciles that amount with a receivable. */
async function earn(to: Receiver, amount: string, whole = amount) {
  const notice = received(to, { amount: cents(whole) });
  const { deposit } = await recordNotice(notice);
  return { notice, deposit: deposit!, receivable: await reconciledWith(to, deposit!.id, amount) };
}

const payoutsOf = async (speaker: Speaker): Promise<any[]> => (await speaker.get('/v1/payouts')).body.data;

describe('a payout in live mode', () => {
  it('stays in flight until the operator reports its end, for any length of time', async () => {
    const to = await receiver(2);
    const address = await payoutAddress(to.live);
    await earn(to, '60.00');
    await payOutLive(to.live);
    await payOutLive(to.live);
    expect(await payoutsOf(to.live)).toEqual([
      {
        ...{ id: expect.stringMatching(/^payout_/), object: 'payout', created: expect.any(Number), livemode: true },
        ...{ account_id: to.live.id, address_id: address.id, amount: '60.00', currency: 'INR' },
        ...{ status: 'processing', payment_id: expect.stringMatching(/^payment_/) },
        ...{ source_amount: '60.00', source_currency: 'INR', rate: '1', expected_arrival: expect.any(Number) },
        ...{ reason_code: null, bank_reference: null },
      },
    ]);
    // The test helpers that end payouts in test mode do not work here.
    const [payout] = await payoutsOf(to.live);
    for (const verb of ['settle', 'fail'])
      expect((await to.live.post(`/v1/test_helpers/payouts/${payout.id}/${verb}`)).status).toBe(403);
  });

  it.each(['completed', 'failed'] as const)('is %s once, and accepts no other end after that', async (status) => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    const { receivable, deposit } = await earn(to, '60.00');
    await payOutLive(to.live);
    const [payout] = await payoutsOf(to.live);

    const ended = await endPayout(world.operator, payout.id, status);

    expect([ended.id, ended.status, ended.amount]).toEqual([payout.id, status, 6_000n]);
    for (const again of ['completed', 'failed'] as const)
      await expect(endPayout(world.operator, payout.id, again)).rejects.toMatchObject({
        status: 400,
        problems: [{ code: 'status_invalid' }],
      });
    const why = status === 'failed' ? { expected_arrival: null, reason_code: 'general' } : {};
    expect(await payoutsOf(to.live)).toEqual([{ ...payout, status, ...why }]);
    const r = (await to.live.get(`/v1/receivables/${receivable.id}`)).body;
    const { available, payout_processing } = (await to.live.get('/v1/balance')).body;
    expect([r.amount_locked, r.amount_settled_payouts, r.deposit_ids_amount_locked, r.status]).toEqual(
      status === 'completed' ? ['0.00', '60.00', [], 'settled'] : ['60.00', '0.00', [deposit.id], 'locked'],
    );
    expect([available, payout_processing]).toEqual([
      money(status === 'completed' ? '0.00' : '60.00', 'INR'),
      money('0.00', 'INR'),
    ]);
  });

  it('has one end if many are reported concurrently', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    await earn(to, '60.00');
    await payOutLive(to.live);
    const [payout] = await payoutsOf(to.live);

    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => endPayout(world.operator, payout.id, i % 2 ? 'completed' : 'failed')),
    );

    const won = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value.status] : []));
    expect(won).toHaveLength(1);
    expect((await payoutsOf(to.live)).map((p) => p.status)).toEqual(won);
  });

  it('must exist to be ended', async () => {
    await expect(endPayout(world.operator, `payout_${'0'.repeat(32)}`, 'completed')).rejects.toThrow(/no such payout/);
  });

  it('is not made for an account that is not activated', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    await earn(to, '60.00');
    await holdAccount(world.operator, to.row);
    await payOutLive(to.live);
    expect(await payoutsOf(to.live)).toEqual([]);
    await verifyAccount(world.operator, to.row, 'activated');
    await payOutLive(to.live);
    expect((await payoutsOf(to.live)).map((p) => p.amount)).toEqual(['60.00']);
  });
});

describe('the rates of live payouts', () => {
  it('are set by the operator: without one nothing is paid, and each payout keeps its own', async () => {
    const to = await receiver(1);
    await payoutAddress(to.live);
    await earn(to, '60.00');
    await payOutLive(to.live);
    expect(await payoutsOf(to.live)).toEqual([]);
    expect((await to.live.get('/v1/balance')).body.available).toContainEqual({ amount: '60.00', currency: 'USD' });

    // The other direction has a separate rate, and so has another tenant.
    const other = await receiver(1);
    await setRate(world.operator, to.row, 'INR', 'USD', '0.012');
    await setRate(world.operator, other.row, 'USD', 'INR', '90');
    await payOutLive(to.live);
    expect(await payoutsOf(to.live)).toEqual([]);

    const next = async () => {
      const query = '{ viewer { account { nextPayouts { amount { amount currency } rate rateSetAt } } } }';
      return (await to.live.graph(query)).body.data.viewer.account.nextPayouts;
    };
    expect(await next()).toEqual([]);
    await setRate(world.operator, to.row, 'USD', 'INR', '84.515');
    // What it would be is what it then is, with the time of its rate.
    expect(await next()).toEqual([
      { amount: { amount: '5070.90', currency: 'INR' }, rate: '84.515', rateSetAt: expect.stringMatching(/Z$/) },
    ]);
    await payOutLive(to.live);
    const [payout, ...others] = await payoutsOf(to.live);
    expect([others, payout.amount, payout.currency]).toEqual([[], '5070.90', 'INR']);
    const { body } = await to.live.graph(`{ payout(id: "${payout.id}") { sourceAmount sourceCurrency rate } }`);
    expect(body.data.payout).toEqual({ sourceAmount: '60.00', sourceCurrency: 'USD', rate: '84.515' });

    await earn(to, '1.00');
    await setRate(world.operator, to.row, 'USD', 'INR', '85.5555');
    await payOutLive(to.live);
    // Fractions of a paisa are not paid out.
    expect((await payoutsOf(to.live)).map((p) => p.amount)).toEqual(['85.55', '5070.90']);
  });

  it('are as exact as they are given', async () => {
    const one = await receiver(1);
    await payoutAddress(one.live);
    // With 83 it is 9 paise less: late decimals of a rate matter for large amounts.
    await setRate(world.operator, one.row, 'USD', 'INR', '83.000000000001');
    await earn(one, '99999999999.99');
    await payOutLive(one.live);
    await setRate(world.operator, one.row, 'USD', 'INR', '0.9999999999999999');
    await earn(one, '10000.00');
    await payOutLive(one.live);
    expect((await payoutsOf(one.live)).map((p) => p.amount).toSorted()).toEqual(['8299999999999.26', '9999.99']);
  });

  it('are recorded as they were applied, also if one changes while the payout waits for a balance', async () => {
    const one = await receiver(1);
    await payoutAddress(one.live);
    await setRate(world.operator, one.row, 'USD', 'INR', '80');
    await earn(one, '10.00');
    let paying: Promise<void> | undefined;
    await world.sql.begin(async (sql) => {
      // Another transaction is creating the balance that the payout needs next.
      const keys = JSON.stringify([{ account: one.live.id, currency: 'INR' }]);
      await sql.unsafe('select lock_balances($1, true, $2::text::jsonb)', [tenantOf(one.live), keys]);
      paying = payOutLive(one.live);
      await eventually(
        () =>
          world.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%run_due_jobs%'
            and datname = current_database()`,
        (rows) => rows.length > 0,
      );
      await setRate(world.operator, one.row, 'USD', 'INR', '90');
    });
    await paying;
    const [payout] = await payoutsOf(one.live);
    const { body } = await one.live.graph(`{ payout(id: "${payout.id}") { sourceAmount amount rate } }`);
    expect(body.data.payout).toEqual({ sourceAmount: '10.00', amount: '900.00', rate: '90' });
  });

  it('that are absurd pay nothing and break nothing: the money waits for a valid rate', async () => {
    const one = await receiver(1);
    await payoutAddress(one.live);
    await setRate(world.operator, one.row, 'USD', 'INR', '9999999');
    await earn(one, '99999999999.99');
    await payOutLive(one.live);
    expect(await payoutsOf(one.live)).toEqual([]);
    const stuck =
      await world.sql`select kind, attempts, error from job where tenant_id = ${tenantOf(one.live)} and livemode
        and error is not null`;
    expect([...stuck]).toEqual([]);
    await setRate(world.operator, one.row, 'USD', 'INR', '83.25');
    await payOutLive(one.live);
    expect((await payoutsOf(one.live)).map((p) => p.amount)).toEqual(['8324999999999.16']);
  });

  it('trigger the waiting payouts of accounts with live FX', async () => {
    const { live: platform } = await given.platformBoth(1);
    const root = await world.operator.account(platform.id, true);
    await updateRoot(world.operator, root, { liveFx: true });
    const id = await assemble(platform, complete(1, 'individual'));
    await must(platform.post(`/v1/accounts/${id}/activate`));
    const row = await verifyAccount(world.operator, await world.operator.account(id), 'activated');
    const address = await issueAddress(world.operator, row, {
      ...{ category: 'service_receive', currency: 'USD', bankAccount: { number: '123456789' } },
    });
    const user = { live: platform.actingFor(id), test: platform, row, addressId: address.id };
    const work = () => runJobs(platform, true);
    const paid = async () => (await payoutsOf(user.live)).map((p) => [p.amount, p.currency]);
    await earn(user, '60.00');
    await work();
    expect(await paid()).toEqual([]);

    await setRate(world.operator, root, 'USD', 'INR', '84');
    await work();
    await work();

    expect(await paid()).toEqual([['5040.00', 'INR']]);
    await earn(user, '1.00');
    await work();
    expect(await paid()).toEqual([
      ['84.00', 'INR'],
      ['5040.00', 'INR'],
    ]);
  });

  it('do not apply to test mode, which has its own table', async () => {
    const to = await receiver(1);
    await setRate(world.operator, to.row, 'USD', 'INR', '84.515');
    await must(to.test.post('/v1/test_helpers/clock', { advance_seconds: 1 }));
    await payoutAddress(to.test);
    const deposit = await must(to.test.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
    await must(to.test.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
    const receivable = await must(to.test.post('/v1/receivables', receivableBody({ amount: '1.00' })));
    const receivables = [{ id: receivable.id, amount: '1.00' }];
    await must(to.test.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }));
    await must(to.test.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await runJobs(to.test);
    expect((await payoutsOf(to.test)).map((p) => p.amount)).toEqual(['83.00']);
  });

  it('are positive', async () => {
    const to = await receiver(1);
    for (const rate of ['0', '-1', 'NaN', 'one'])
      await expect(setRate(world.operator, to.row, 'USD', 'EUR', rate)).rejects.toThrow();
    const stored = await world.sql`select rate from rate where tenant_id = ${tenantOf(to.live)} and target = 'EUR'`;
    expect(stored).toEqual([]);
  });

  it('are not needed if the currency is the same', async () => {
    const own = await receiver(2);
    await payoutAddress(own.live);
    await earn(own, '7.00');
    await payOutLive(own.live);
    expect((await payoutsOf(own.live)).map((p) => [p.amount, p.currency])).toEqual([['7.00', 'INR']]);
  });
});
