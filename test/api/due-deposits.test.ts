import { afterAll, expect, it, vi } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { patience, scale } from '../support/scale.js';
import { eventually, givenIn, must, repeated, tenantOf, useWorld } from '../support/world.js';

vi.setConfig(patience);

// The test runs the due jobs itself, as the workers of three gateways would at one time.
const world = useWorld({ worker: false });
const given = givenIn(world);
auditLedger(world);

// PostgreSQL breaks a deadlock and the gateway tries again, so a deadlock would not be visible in the answers.
afterAll(async () => {
  const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
  expect(row!.n).toBe(0);
});

/** The statuses through which a deposit may go, as the types of its events. */
const ways = [
  'initialized processing completed',
  'initialized processing completed reversed',
  'initialized processing failed',
  'initialized cancelled',
];

it('are done by several workers while clients move them, each through one way, with the sum of all', async () => {
  const user = await given.directUser(1);
  const tenant = tenantOf(user);
  const second = user.at(await world.another());
  const work = async () => {
    for (let idle = 0; idle < 20; ) {
      await world.sql`update job set due = 0 where tenant_id = ${tenant} and due > 0`;
      const done = await world.database.work('run_due_jobs', [tenant, false, 50]);
      expect(done.filter((row) => row.job_error !== null)).toEqual([]);
      idle = done.length > 0 ? 0 : idle + 1;
    }
  };
  const ids: string[] = [];
  for (let round = 0; round < scale.writeRaces; round++) {
    const made = await Promise.all(
      Array.from({ length: 32 }, async (_, n) => {
        const body = { amount: `${n + 1}.07`, currency: 'USD' };
        const me = n % 2 ? user : second;
        return (await must(repeated((headers) => me.post('/v1/deposits', body, headers)))).id as string;
      }),
    );
    ids.push(...made);
    const moves = made.map(async (id, n) => {
      const move = ['complete', 'fail', 'reverse', 'cancel', undefined, undefined][(n + round) % 6];
      if (move === undefined) return;
      const me = n % 4 ? user : second;
      const path = `/v1/test_helpers/deposits/${id}/${move}`;
      const ask = () => repeated((headers) => me.post(path, undefined, headers));
      // A worker completes it, so that it can be reversed.
      const reply = await eventually(ask, ({ status }) => move !== 'reverse' || status === 200);
      expect([200, 400]).toContain(reply.status);
      if (reply.status === 400) expect(reply.codes).toEqual(['status_invalid']);
    });
    await Promise.all([work(), work(), work(), ...moves]);
  }
  await eventually(
    async () => world.sql`select id from job where tenant_id = ${tenant} and kind like '%_deposit'`,
    ({ length }) => length === 0,
  );
  const seen = new Map<string, Set<string>>();
  const events = await world.sql<{ object_id: string; type: string }[]>`
    select object_id, type from event where tenant_id = ${tenant} and object = 'deposit'`;
  expect(new Set(events.map(({ object_id, type }) => `${object_id} ${type}`)).size).toBe(events.length);
  for (const { object_id: id, type } of events)
    seen.set(id, (seen.get(id) ?? new Set()).add(type.replace('deposit.', '')));
  const found = ids.map((id) =>
    ways.find((way) => way.split(' ').toSorted().join() === [...seen.get(id)!].toSorted().join()),
  );
  expect(found).not.toContain(undefined);
  expect(found).toEqual(expect.arrayContaining(ways.slice(0, 2)));
  const [sums] = await world.sql`
    select sum(amount) filter (where status = 'completed')::text as completed,
      (select sum(pending)::text from balance where tenant_id = ${tenant}) as pending,
      count(*) filter (where status not in ('completed', 'reversed', 'failed', 'cancelled'))::int as left
    from deposit where tenant_id = ${tenant}`;
  expect(sums).toEqual({ completed: sums!.pending, pending: sums!.completed, left: 0 });
});
