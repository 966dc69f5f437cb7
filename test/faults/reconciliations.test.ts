import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { completed, receivableOf, reconcileAll } from '../api/deposit-fixture.js';
import { auditLedger } from '../support/audit.js';
import { receivableBody } from '../support/bodies.js';
import { advanceClock, runAllJobs, runJobs } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { figures, patience, scale, secondsSince } from '../support/scale.js';
import {
  givenIn,
  must,
  payoutAddressBody,
  type Reply,
  statementsWaiting,
  tenantOf,
  useWorld,
} from '../support/world.js';

vi.setConfig(patience);

const world = useWorld({ worker: false });
const given = givenIn(world);
auditLedger(world);

let other: string;
beforeAll(async () => {
  other = await world.another();
});

// PostgreSQL breaks a deadlock and the gateway tries again, so a deadlock would not be visible in the responses.
afterAll(async () => {
  const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
  expect(row!.n).toBe(0);
});

const row = (id: string, ...shares: [receivable: string, amount: string][]) => ({
  id,
  receivables: shares.map(([receivable, amount]) => ({ id: receivable, amount })),
});
const resultsOf = ({ body, codes }: Reply): any[] => {
  expect(codes).toEqual([]);
  return body.data.reconcileDeposits.results;
};
const isDone = ({ problems }: { problems: unknown[] }) => problems.length === 0;

/** Makes objects, ten at once. */
async function several<T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let i = 0; i < n; i += 10)
    made.push(...(await Promise.all(Array.from({ length: Math.min(10, n - i) }, (_, k) => make(i + k)))));
  return made;
}

/** Repeats a request that had to wait too long on a busy machine. */
async function asked(ask: () => Promise<Reply>): Promise<Reply> {
  let reply = await ask();
  while (reply.codes.includes('service_unavailable')) reply = await ask();
  return reply;
}

/** An aggregator with two users, which two gateways serve. */
async function aggregator() {
  const platform = await given.platform(2, { subType: 'aggregator' });
  await must(platform.post('/v1/addresses', payoutAddressBody(platform.id)));
  const users = [await assemble(platform, complete(2, 'company')), await assemble(platform, complete(2, 'company'))];
  for (const id of users) await must(platform.post(`/v1/accounts/${id}/activate`));
  for (let second = 0; second < 4; second++) {
    await advanceClock(platform, 2);
    await runJobs(platform);
  }
  return { platform, users };
}

describe('several reconciliations in one call', () => {
  it('of two users of an aggregator, in any order and beside disputes and payouts, are each done once', async () => {
    const { platform, users } = await aggregator();
    for (let round = 0; round < scale.races.rounds; round++) {
      const as = (i: number) => platform.actingFor(users[i % 2]!);
      const paid = await several(12, async (i) => {
        const made = await completed(as(i), '10.00', { to: { account_id: users[i % 2] } });
        return made.id as string;
      });
      const open = await several(4, async (i) => (await receivableOf(as(i), '60.00')).id as string);
      const rows = paid.map((id, i) => row(id, [open[(i + 2) % 4]!, '4.00'], [open[i % 4]!, '6.00']));
      const orders = [rows, rows.toReversed(), [...rows.slice(5), ...rows.slice(0, 5)], rows.slice(3, 9)];
      await advanceClock(platform, 86_400);
      const disputed: Promise<Reply>[] = [];
      const batches = orders.map((each, i) =>
        asked(() => reconcileAll(i % 2 ? platform.at(other) : platform, each, randomUUID())),
      );
      for (const i of [0, 7])
        disputed.push(asked(() => platform.post(`/v1/test_helpers/deposits/${paid[i]}/dispute`, { amount: '10.00' })));
      const [all, taken] = await Promise.all([
        Promise.all(batches),
        Promise.all(disputed),
        ...Array.from({ length: 4 }, () => runJobs(platform)),
      ]);
      expect(taken.map(({ status }) => status)).toEqual([200, 200]);
      const done = new Map<string, number>();
      for (const [i, reply] of all.entries())
        for (const [k, result] of resultsOf(reply).entries()) {
          const id = orders[i]![k]!.id;
          expect(result.deposit.id).toBe(id);
          if (isDone(result)) done.set(id, (done.get(id) ?? 0) + 1);
          else expect(['AMOUNT_EXCEEDS_RECONCILABLE', 'STATUS_INVALID']).toContain(result.problems[0].code);
        }
      for (const [i, id] of paid.entries()) {
        // What was disputed first has nothing left to reconcile.
        const times = done.get(id) ?? 0;
        expect(i === 0 || i === 7 ? [0, 1] : [1]).toContain(times);
        const [{ locked }] = (await world.sql`select coalesce(sum(amount), 0)::int as locked from receivable_lock
          where tenant_id = ${tenantOf(platform)} and deposit_id = ${id}`) as [{ locked: number }];
        expect([id, locked]).toEqual([id, i === 0 || i === 7 ? locked : 1_000]);
      }
    }
  });

  it('are beside those that deposits have by themselves: each deposit and receivable is counted once', async () => {
    const { platform, users } = await aggregator();
    const as = (i: number) => platform.actingFor(users[i % 2]!);
    for (const i of [0, 1]) {
      const { body } = await as(i).graph('{ viewer { account { setting { id } } } }');
      const input = { id: body.data.viewer.account.setting.id, autoReconcile: true };
      const mutation = 'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { ';
      expect((await as(i).graph(`${mutation} accountSetting { id } } }`, { input })).codes).toEqual([]);
    }
    const invoice = { currency: 'INR', amount: '10.00' };
    const open = await several(16, async (i) => {
      const made = await as(i).post('/v1/receivables', receivableBody({ ...invoice, reference_number: `OWN-${i}` }));
      return made.body.id as string;
    });
    const paid = await several(16, async (i) => {
      const more = { to: { account_id: users[i % 2] }, statement_descriptor: `OWN-${i}` };
      return (await completed(as(i), '10.00', more)).id as string;
    });
    // By hand half of each are counted towards the invoice of another deposit, or in part towards its own.
    const rows = paid.map((id, i) => row(id, [open[(i + 2) % 16]!, i % 4 < 2 ? '10.00' : '4.00'])).slice(0, 8);
    const voided = open.slice(12).map((id, i) => asked(() => as(i).post(`/v1/receivables/${id}/void`)));
    await Promise.all([
      ...[rows, rows.toReversed()].map((each, i) =>
        asked(() => reconcileAll(i ? platform.at(other) : platform, each, randomUUID())),
      ),
      ...voided,
      ...Array.from({ length: 4 }, () => runJobs(platform)),
    ]);
    await runAllJobs(platform);
    const found = await world.sql<{ deposit: number; receivable: number }[]>`select
        (select coalesce(sum(k.amount), 0)::int from receivable_lock k
          where k.tenant_id = ${tenantOf(platform)} and k.deposit_id = i.deposit) as deposit,
        (select coalesce(sum(k.amount), 0)::int from receivable_lock k
          where k.tenant_id = ${tenantOf(platform)} and k.receivable_id = i.receivable) as receivable
      from unnest(${paid}::text[], ${open}::text[]) i(deposit, receivable)`;
    expect(found).toHaveLength(16);
    for (const { deposit, receivable } of found) {
      expect(deposit).toBeLessThanOrEqual(1_000);
      expect(receivable).toBeLessThanOrEqual(1_000);
    }
    // Whatever came first, the four whose invoices nobody else wanted are matched.
    expect(found.filter(({ deposit }) => deposit === 1_000).length).toBeGreaterThanOrEqual(4);
  });

  it('with one key at once are done once, and all answers are the same', async () => {
    const user = await given.directUser(1);
    const paid = await several(6, async () => (await completed(user, '10.00')).id as string);
    const { id: open } = await receivableOf(user, '45.00');
    const rows = paid.map((id) => row(id, [open, '10.00']));
    const key = randomUUID();
    const replies = await Promise.all(
      Array.from({ length: scale.races.racers }, (_, i) => reconcileAll(i % 2 ? user.at(other) : user, rows, key)),
    );
    const answered = replies.filter(({ codes }) => codes.length === 0);
    expect(replies.flatMap(({ codes }) => codes).filter((code) => code !== 'idempotency_key_in_use')).toEqual([]);
    expect(answered.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    for (const reply of [...answered, await reconcileAll(user, rows, key)])
      expect(resultsOf(reply).map(isDone)).toEqual([true, true, true, true, false, false]);
    expect(await must(user.get(`/v1/receivables/${open}`))).toMatchObject({ amount_locked: '40.00' });
  });

  it('are all or none when their connection ends in the middle, and once after a retry', async () => {
    const user = await given.directUser(1);
    const paid = await several(4, async () => (await completed(user, '10.00')).id as string);
    const open = await several(4, async () => (await receivableOf(user, '10.00')).id as string);
    const rows = paid.map((id, i) => row(id, [open[i]!, '10.00']));
    const key = randomUUID();
    const waiting: Promise<Reply>[] = [];
    const held = world.sql.begin(async (tx) => {
      // The response is stored last, and waits here for one with the same key: all is done, and not yet committed.
      await tx`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, request_id,
        answer) values (${tenantOf(user)}, false, ${user.id}, ${key}, 1, 'reconcileDeposits', '{}', 'req_1', '{}')`;
      waiting.push(reconcileAll(user, rows, key));
      await statementsWaiting(world, 1);
      const ended = await world.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'tidegate%' and wait_event_type = 'Lock'`;
      expect(ended).toHaveLength(1);
      throw new Error('undone');
    });
    await expect(held).rejects.toThrow('undone');
    const [first] = await Promise.all(waiting);
    // The gateway itself has repeated the call.
    expect(resultsOf(first!).map(isDone)).toEqual([true, true, true, true]);
    const again = await reconcileAll(user, rows, key);
    expect(resultsOf(again).map(isDone)).toEqual([true, true, true, true]);
    for (const id of open)
      expect(await must(user.get(`/v1/receivables/${id}`))).toMatchObject({ amount_locked: '10.00' });
    const [{ n }] = (await world.sql`select count(*)::int as n from posting
      where tenant_id = ${tenantOf(user)} and kind = 'reconciliation'`) as [{ n: number }];
    expect(n).toBe(4);
  });

  it('are a hundred of five hundred receivables at most', async () => {
    const user = await given.directUser(1);
    const paid = await several(100, async () => (await completed(user, '10.00')).id as string);
    const open = await several(500, async () => (await receivableOf(user, '10.00')).id as string);
    const rows = paid.map((id, i) =>
      row(id, ...open.slice(i * 5, i * 5 + 5).map((each): [string, string] => [each, '2.00'])),
    );
    const began = Date.now();
    const results = resultsOf(await asked(() => reconcileAll(user, rows, randomUUID())));
    figures('100 reconciliations of 500 receivables', { took: secondsSince(began) });
    expect(results.map(isDone)).toEqual(results.map(() => true));
    expect(results).toHaveLength(100);
  });
});
