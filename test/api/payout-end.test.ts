import pino from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Database } from '../../src/db/database.js';
import { Worker } from '../../src/jobs/runner.js';
import { unknownId } from '../support/bodies.js';
import { advanceAndRun, advanceClock, noon, runJobs } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { scale } from '../support/scale.js';
import {
  must,
  transports,
  eventually,
  givenIn,
  type Speaker,
  useWorld,
  tenantOf,
  payoutAddress,
} from '../support/world.js';
import { day, earn, end, funds, locksOf, midnight, number, payoutsIn, payoutsOf } from './payout-fixture.js';

// No worker runs: `once` and `work` do its work, so that a test can inspect a payout in progress.
const world = useWorld({ worker: false });
const given = givenIn(world);
const { exporter, waiting, within } = payoutsIn(world);

auditLedger(world);

describe('a payout during concurrent changes of its rows', () => {
  it('is not made to an address that is retired at the same time', async () => {
    const user = await exporter(2);
    await earn(user, '10.00');
    await advanceClock(user, day);
    let replaced: Promise<unknown> | undefined;
    let round: Promise<unknown> | undefined;
    await within(
      // The payout has chosen its address before it takes its locks.
      (sql) => sql`select from lock_batch where tenant_id = ${tenantOf(user)} for update`,
      async () => {
        round = runJobs(user);
        await waiting(1);
        replaced = payoutAddress(user);
        await Promise.race([replaced, waiting(2)]);
        await runJobs(user);
      },
    );
    await Promise.all([round, replaced]);
    await runJobs(user);
    await number(user);

    const [payout] = await payoutsOf(user);
    expect((await user.get(`/v1/addresses/${payout.address_id}`)).body.status).toBe('pending_deactivation');
    await must(end(user, 'REST', payout.id, 'settle'));
    await runJobs(user);
    expect((await user.get(`/v1/addresses/${payout.address_id}`)).body.status).toBe('deactivated');
  });

  it('uses the address that replaced its first choice', async () => {
    const user = await exporter(2);
    await payoutAddress(user, 'EUR');
    await earn(user, '10.00');
    await advanceClock(user, day);
    const [old] = (await user.get('/v1/addresses?category=user_payout&currency=INR')).body.data;
    let round: Promise<unknown> | undefined;
    await within(
      (sql) =>
        sql`update address set status = 'pending_deactivation' where tenant_id = ${tenantOf(user)} and id = ${old.id}`,
      async () => {
        round = runJobs(user);
        await waiting(1);
      },
    );
    await round;
    // The balance of the target currency was not locked; the next round locks it.
    await runJobs(user);
    expect((await payoutsOf(user)).map((p) => [p.currency, p.address_id === old.id])).toEqual([['EUR', false]]);
  });

  it('locks the balances of the target currency in the common order, and so causes no deadlock', async () => {
    const platform = await given.platform(1);
    const users = [await activatedUser(platform), await activatedUser(platform)];
    for (const user of users) await earn(user, '10.00', 'USD');
    await advanceClock(platform, day);
    const [one, other] = users.map(({ id }) => id).toSorted() as [string, string];
    const lock = (sql: typeof world.sql, account: string, currency: string) =>
      sql`select lock_balance(${tenantOf(platform)}, false, ${account}, ${currency})`;
    let round: Promise<unknown> | undefined;
    await world.sql.begin(async (sql) => {
      // The balance in INR has no entry yet. It precedes the one in USD, and both users' balances precede that of
      // `other`
      // in USD.
      await lock(sql as never, one, 'INR');
      round = runJobs(platform);
      await waiting(1);
      await lock(sql as never, other, 'USD');
    });
    await round;
    const payouts = await payoutsOf(platform);
    expect(payouts.map((p) => [p.account_id, p.amount, p.currency]).toSorted()).toEqual([
      [one, '830.00', 'INR'],
      [other, '830.00', 'INR'],
    ]);
  });
});

describe.each(transports)('the end of a payout over %s', (transport) => {
  // Locks of a payout remain when their money is taken back; when the payout fails, no money is left for them.
  it.each(['dispute', 'reverse'] as const)(
    'by failure frees no lock of a deposit that a %s took back',
    async (verb) => {
      const user = await exporter(2);
      const { deposit, receivable } = await earn(user, '100.00');
      await midnight(user);
      const [payout] = await payoutsOf(user);
      await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/${verb}`));
      expect(await locksOf(user, receivable.id)).toEqual(['100.00', '0.00', [deposit.id]]);

      await must(end(user, transport, payout.id, 'fail'));

      expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', []]);
      const other = await earn(user, '5.00');
      await midnight(user);
      await advanceAndRun(user, 61);
      expect(await locksOf(user, other.receivable.id)).toEqual(['0.00', '5.00', []]);
      expect((await user.get(`/v1/receivables/${receivable.id}`)).body.status).toBe('open');
      expect((await user.post(`/v1/receivables/${receivable.id}/void`)).body.status).toBe('void');
    },
  );

  it('by failure keeps the locks up to the amount that was not taken back, the oldest first', async () => {
    const user = await exporter(2);
    const { deposit, receivable } = await earn(user, '100.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '30.00' }));

    await must(end(user, transport, payout.id, 'fail'));

    expect(await locksOf(user, receivable.id)).toEqual(['70.00', '0.00', [deposit.id]]);
    await midnight(user);
    await advanceAndRun(user, 61);
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '70.00', []]);
    expect(await funds(user)).toEqual({});
  });

  it('by completion may be followed by a return, once, after which less is locked by what was taken back', async () => {
    const user = await exporter(2);
    const { deposit, receivable } = await earn(user, '100.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);
    expect((await end(user, transport, payout.id, 'return')).codes).toEqual(['status_invalid']);
    await must(end(user, transport, payout.id, 'settle'));
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '30.00' }));
    expect(await funds(user)).toEqual({ 'available INR': '-30.00' });

    await must(end(user, transport, payout.id, 'return'));

    expect((await end(user, transport, payout.id, 'return')).codes).toEqual(['status_invalid']);
    expect(await funds(user)).toEqual({ 'available INR': '70.00' });
    expect(await locksOf(user, receivable.id)).toEqual(['70.00', '0.00', [deposit.id]]);
    expect((await user.get(`/v1/payments/${payout.payment_id}`)).body.status).toBe('reversed');
    await midnight(user);
    await advanceAndRun(user, 61);
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '70.00', []]);
    expect(await funds(user)).toEqual({});
  });

  it('affects the locks of the same money; what failed after conversion is paid out in its new currency', async () => {
    const user = await exporter(2);
    const [rupees, dollars] = [await earn(user, '100.00'), await earn(user, '10.00', 'USD')];
    await midnight(user);
    const [converted, plain] = await payoutsOf(user);
    expect([converted.amount, plain.amount]).toEqual(['830.00', '100.00']);

    await must(end(user, transport, plain.id, 'settle'));
    await must(end(user, transport, converted.id, 'fail'));

    expect(await locksOf(user, rupees.receivable.id)).toEqual(['0.00', '100.00', []]);
    expect(await locksOf(user, dollars.receivable.id)).toEqual(['10.00', '0.00', [dollars.deposit.id]]);
    expect(await funds(user)).toEqual({ 'available INR': '830.00' });
    await midnight(user);
    await advanceAndRun(user, 61);
    expect(await locksOf(user, dollars.receivable.id)).toEqual(['0.00', '10.00', []]);
  });

  it.each(['settle', 'fail'] as const)('by %s happens once, and no other end follows', async (verb) => {
    const user = await exporter(2);
    const { deposit, receivable } = await earn(user, '10.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);

    const first = await end(user, transport, payout.id, verb);

    const status = verb === 'settle' ? 'completed' : 'failed';
    expect(first.status).toBe(200);
    const ended = verb === 'settle' ? { status } : { status, expected_arrival: null, reason_code: 'general' };
    expect((await user.get(`/v1/payouts/${payout.id}`)).body).toEqual({ ...payout, ...ended });
    expect((await user.get(`/v1/payments/${payout.payment_id}`)).body.status).toBe(status);
    for (const again of ['settle', 'fail'] as const) {
      const reply = await end(user, transport, payout.id, again);
      expect([reply.status, reply.codes]).toEqual([400, ['status_invalid']]);
    }
    expect(await funds(user)).toEqual(verb === 'settle' ? {} : { 'available INR': '10.00' });
    expect(await locksOf(user, receivable.id)).toEqual(
      verb === 'settle' ? ['0.00', '10.00', []] : ['10.00', '0.00', [deposit.id]],
    );
  });

  it('is one of the two under concurrent requests for both, in many rounds', async () => {
    const user = await exporter(2);
    await earn(user, '10.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);

    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => end(user, transport, payout.id, i % 2 ? 'settle' : 'fail')),
    );

    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    expect(replies.flatMap((r) => r.codes)).toEqual(Array.from({ length: 7 }, () => 'status_invalid'));
    const won = replies.findIndex((r) => r.status === 200) % 2 ? 'completed' : 'failed';
    expect((await payoutsOf(user)).map((p) => p.status)).toEqual([won]);
    expect(await funds(user)).toEqual(won === 'completed' ? {} : { 'available INR': '10.00' });
  });

  it('requires a full test key of the tenant', async () => {
    const { test, live } = await given.directUserBoth(2);
    await noon(test);
    await payoutAddress(test);
    await earn(test, '10.00');
    await midnight(test);
    const [payout] = await payoutsOf(test);
    const key = await test.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const stranger = await given.directUser(2);
    for (const verb of ['settle', 'fail'] as const) {
      for (const [speaker, id, status, code] of [
        [live, payout.id, 403, 'permission_denied'],
        [test.using(key.body.data.createApiKey.secret), payout.id, 403, 'permission_denied'],
        [stranger, payout.id, 404, 'resource_missing'],
        [test, unknownId('payout'), 404, 'resource_missing'],
      ] as const) {
        const reply = await end(speaker, transport, id, verb);
        expect([reply.status, reply.codes]).toEqual([status, [code]]);
      }
    }
    expect((await payoutsOf(test)).map((p) => p.status)).toEqual(['processing']);
  });
});

describe('an address to which the last payout did not come', () => {
  it('says why, and what is available goes at once to the address that replaces it', async () => {
    const user = await exporter(2);
    const addresses = async () =>
      (
        await user.graph('{ addresses(category: [USER_PAYOUT], first: 9) { nodes { id status payoutProblem } } }')
      ).body.data.addresses.nodes.map(({ payoutProblem }: { payoutProblem: string | null }) => payoutProblem);
    await earn(user, '10.00');
    await midnight(user);
    const [first] = await payoutsOf(user);
    expect(await addresses()).toEqual([null]);
    await must(user.post(`/v1/test_helpers/payouts/${first.id}/fail`, { reason_code: 'account_closed' }));
    expect(await addresses()).toEqual(['ACCOUNT_CLOSED']);
    // Another address of the same account does not wait for the next interval.
    await payoutAddress(user);
    await runJobs(user);
    const [second, ...others] = await payoutsOf(user);
    expect([second.status, second.amount, others.map(({ status }) => status)]).toEqual([
      ...['processing', '10.00', ['failed']],
    ]);
    expect(second.address_id).not.toBe(first.address_id);
    expect(await addresses()).toEqual([null, 'ACCOUNT_CLOSED']);
    await must(end(user, 'REST', second.id, 'settle'));
    expect(await addresses()).toEqual([null, 'ACCOUNT_CLOSED']);
  });
});

it('pays once, with any number of workers and repeated jobs', async () => {
  const users = await Promise.all(Array.from({ length: 8 }, () => exporter(2)));
  await Promise.all(users.map((user, i) => earn(user, `${i + 1}0.00`)));
  // The same job is queued twice, as if two writes had queued it at the same time.
  await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
    select tenant_id, livemode, id || 'x', created, kind, subject_id, args, due from job where kind = 'pay_out'
    and subject_id in ${world.sql(users.map((u) => u.id))}`;
  const { database } = world.sql.options;
  const stores = [1, 2].map(() => new Database({ ...inject('admin'), username: 'tidegate', database }));
  const workers = stores.map((store) => new Worker(store, pino({ level: 'silent' })));

  for (const worker of workers) worker.start();
  await Promise.all(users.map((user) => advanceClock(user, day)));
  const paid = () => Promise.all(users.map((user) => payoutsOf(user)));
  await eventually(paid, (all) => all.every((payouts) => payouts.length > 0));
  await Promise.all(users.map((user) => advanceClock(user, 60)));
  await eventually(paid, (all) => all.every((payouts) => payouts[0]?.status === 'completed'));
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(stores.map((store) => store.close()));

  expect(
    await Promise.all(users.map(async (user) => (await payoutsOf(user)).map((p) => [p.amount, p.status]))),
  ).toEqual(users.map((_, i) => [[`${i + 1}0.00`, 'completed']]));
  expect(await Promise.all(users.map((user) => funds(user)))).toEqual(users.map(() => ({})));
});

describe('a payout with many locks', () => {
  /**
   * A deposit shared by the given number of receivables of 1.00, as reconciliations with 100 receivables each would
   * leave it.
   */
  async function earnShared(user: Speaker, count: number): Promise<{ deposit: string; receivables: string[] }> {
    const { sql } = world;
    const tenant = tenantOf(user);
    const amount = `${count}.00`;
    const { body } = await user.post('/v1/deposits', {
      ...{ amount, currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' },
    });
    await must(user.post(`/v1/test_helpers/deposits/${body.id}/complete`));
    const stem = body.id.slice('deposit_'.length, -6);
    const rows = await sql`
      insert into receivable (tenant_id, livemode, id, created, account_id, currency, amount_maximum_reconcilable,
      amount_locked, deposit_ids_amount_locked,
        invoice, purpose_code, transaction_type, context_id, on_root_list)
      select d.tenant_id, d.livemode, 'receivable_' || ${stem}::text || lpad(n::text, 6, '0'), d.created,
      d.to_account_id, 'INR', 100, 100, array[d.id],
        '{"amount": "100", "currency": "INR", "creationDate": "2026-10-01", "dueDate": "2026-12-01",
        "referenceNumber": "MANY"}', 'P0802', 'services', d.context_id, d.on_root_list
      from deposit d, generate_series(1, ${count}::int) n where d.tenant_id = ${tenant} and d.id = ${body.id}
      returning id`;
    const [batch] = await sql`select open_lock_batch(${tenant}, false, ${user.id}, 'INR') as id`;
    await sql`
      insert into receivable_lock (tenant_id, livemode, id, created, receivable_id, deposit_id, account_id, currency,
      amount, batch_id)
      select r.tenant_id, r.livemode, 'lock_' || right(r.id, -11), r.created, r.id, ${body.id}, r.account_id, 'INR',
      100, ${batch!.id}
      from receivable r where r.tenant_id = ${tenant} and r.deposit_ids_amount_locked = array[${body.id}::text]`;
    await sql`select make_available(${tenant}, false, '{}', ${body.id}, ${count * 100})`;
    // As PostgreSQL does by itself soon after.
    await sql`analyze receivable, receivable_lock`;
    return { deposit: body.id, receivables: rows.map(({ id }) => id).toSorted() };
  }

  const sound = async () => expect(await world.sql`select rule, what from violations`).toEqual([]);
  const amounts = async (user: Speaker) =>
    (
      await world.sql`select sum(amount_locked)::text as locked, sum(amount_settled_payouts)::text as settled
        from receivable where tenant_id = ${tenantOf(user)}`
    )[0];
  const statusOf = async (user: Speaker, id: string) => (await user.get(`/v1/payouts/${id}`)).body.status;

  it.each(transports)(
    'is completed at once over %s, and settles its receivables afterwards, each of them once',
    async (transport) => {
      const count = transport === 'REST' ? scale.locks : 1_500;
      const user = await exporter(2);
      const { deposit, receivables } = await earnShared(user, count);
      await advanceClock(user, day);
      // Every call of a worker has a limit of five seconds, including this one.
      await runJobs(user);
      const [payout] = await payoutsOf(user);
      expect(payout).toMatchObject({ amount: `${count}.00`, status: 'processing' });

      expect((await end(user, transport, payout.id, 'settle')).status).toBe(200);
      expect([await statusOf(user, payout.id), await funds(user)]).toEqual(['completed', {}]);
      // Receivables that are not settled yet are still locked; both add up to the total.
      expect(await amounts(user)).toEqual({ locked: `${(count - 500) * 100}`, settled: '50000' });
      await sound();
      // A dispute meanwhile shrinks no lock whose money has been paid out, settled or not.
      await must(user.post(`/v1/test_helpers/deposits/${deposit}/dispute`, { amount: '5.00' }));
      await sound();

      while ((await runJobs(user)) > 0);
      expect(await world.sql`select kind, error from job where tenant_id = ${tenantOf(user)} and attempts > 0`).toEqual(
        [],
      );
      expect(await amounts(user)).toEqual({ locked: '0', settled: `${count * 100}` });
      expect(await funds(user)).toEqual({ 'available INR': '-5.00' });
      const [counts] = await world.sql`
      select count(*)::int as events, count(distinct object_id)::int as receivables,
        bool_and(data ->> 'status' = 'settled' and data ->> 'deposit_ids_amount_locked' = '[]') as settled
      from event where tenant_id = ${tenantOf(user)} and type = 'receivable.updated'`;
      expect(counts).toEqual({ events: count, receivables: count, settled: true });
      expect(await locksOf(user, receivables.at(-1)!)).toEqual(['0.00', '1.00', []]);
      expect((await end(user, transport, payout.id, 'fail')).codes).toEqual(['status_invalid']);
    },
  );

  it('waits for the locks of a deposit that was taken back, which shrink from the newest on', async () => {
    const user = await exporter(2);
    const kept = await earnShared(user, 300);
    const disputed = await earnShared(user, 1_200);
    const reversed = await earnShared(user, 1_100);
    await must(user.post(`/v1/test_helpers/deposits/${disputed.deposit}/dispute`, { amount: '700.00' }));
    await must(user.post(`/v1/test_helpers/deposits/${reversed.deposit}/reverse`));
    expect(await funds(user)).toEqual({ 'available INR': '800.00' });
    // Jobs shrink the rest of the locks. Until then receivables show more than there is, and nothing is paid out.
    expect((await amounts(user))?.locked).toBe('160000');
    await sound();
    await advanceClock(user, day);
    for (let done = 1; done > 0; await sound()) {
      const [row] = await world.database.call('run_jobs', [tenantOf(user), false, 1]);
      done = Number(row!.run_jobs);
      if ((await payoutsOf(user)).length === 0) continue;
      expect(await amounts(user)).toEqual({ locked: '80000', settled: '0' });
    }
    const unlocked = async (ids: string[]) =>
      (
        await world.sql`select id from receivable where tenant_id = ${tenantOf(user)} and amount_locked = 0
          and id in ${world.sql(ids)} order by id`
      ).map(({ id }) => id as string);
    expect(await unlocked(kept.receivables)).toEqual([]);
    expect(await unlocked(disputed.receivables)).toEqual(disputed.receivables.slice(500));
    expect(await unlocked(reversed.receivables)).toEqual(reversed.receivables);
    await eventually(
      async () => {
        await runJobs(user);
        return payoutsOf(user);
      },
      (payouts) => payouts.length === 1,
    );
    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['800.00']);
    await sound();
  });

  it('has its money back at once when it fails, and is paid again when all of its locks are free', async () => {
    const user = await exporter(2);
    const one = await earnShared(user, 800);
    const two = await earnShared(user, 700);
    await midnight(user);
    const [payout] = await payoutsOf(user);
    await must(user.post(`/v1/test_helpers/deposits/${one.deposit}/dispute`, { amount: '150.00' }));

    await must(end(user, 'REST', payout.id, 'fail'));
    expect([await statusOf(user, payout.id), await funds(user)]).toEqual(['failed', { 'available INR': '1350.00' }]);
    await sound();
    const lockedOf = async (ids: string[]) =>
      (
        await world.sql`select amount_locked::int as amount from receivable where tenant_id = ${tenantOf(user)}
          and id in ${world.sql(ids)} order by id`
      ).map(({ amount }) => amount);
    // Money is taken back while only some locks are free.
    const reversed = await user.post(`/v1/test_helpers/deposits/${two.deposit}/reverse`);
    expect(reversed.status).toBe(200);
    await sound();
    expect(await funds(user)).toEqual({ 'available INR': '650.00' });
    // The next payout is due, and waits for the locks that belong to it.
    await advanceClock(user, day);
    for (let done = 1; done > 0; await sound()) {
      const [row] = await world.database.call('run_jobs', [tenantOf(user), false, 1]);
      done = Number(row!.run_jobs);
    }
    await eventually(
      async () => {
        await runJobs(user);
        return payoutsOf(user);
      },
      (payouts) => payouts.length === 2,
    );
    expect((await payoutsOf(user)).map((p) => [p.amount, p.status])).toEqual([
      ['650.00', 'processing'],
      ['1500.00', 'failed'],
    ]);
    // The money that was taken back has shrunk the newest locks, as when all are freed at once.
    expect(await lockedOf(two.receivables)).toEqual(two.receivables.map(() => 0));
    expect(await lockedOf(one.receivables)).toEqual(one.receivables.map((_, i) => (i < 650 ? 100 : 0)));
    const [along] = await world.sql`select count(*)::int as n, sum(amount)::int as amount from receivable_lock
      where tenant_id = ${tenantOf(user)} and amount > 0 and batch_id in (select id from lock_batch
      where tenant_id = ${tenantOf(user)} and payout_id is not null)`;
    expect(along).toEqual({ n: 650, amount: 65_000 });
  });

  it('has all of its locks open again when it comes back while they are still being settled', async () => {
    const user = await exporter(2);
    await earnShared(user, 1_100);
    await midnight(user);
    const [payout] = await payoutsOf(user);
    await must(end(user, 'REST', payout.id, 'settle'));
    expect(await amounts(user)).toEqual({ locked: '60000', settled: '50000' });

    await must(end(user, 'REST', payout.id, 'return'));

    expect([await statusOf(user, payout.id), await funds(user)]).toEqual(['returned', { 'available INR': '1100.00' }]);
    await sound();
    await advanceClock(user, day);
    for (let done = 1; done > 0; await sound()) {
      const [row] = await world.database.call('run_jobs', [tenantOf(user), false, 1]);
      done = Number(row!.run_jobs);
    }
    expect(await amounts(user)).toEqual({ locked: '110000', settled: '0' });
    const [again] = await eventually(
      async () => {
        await runJobs(user);
        return payoutsOf(user);
      },
      (payouts) => payouts.length === 2,
    );
    expect([again.amount, again.status]).toEqual(['1100.00', 'processing']);
  });
});
