import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import postgres from 'postgres';
import { connectionOf } from '../src/db/address.js';
import { changed, isolate, move } from '../src/db/distribution/cluster.js';
import { placesOfCalls } from '../src/db/distribution/functions.js';
import { initialize } from '../src/db/distribution/initialize.js';
import { violationsOf } from '../src/db/distribution/tenant-audit.js';
import { clusterStatus } from '../src/db/distribution/status.js';
import { sql as drizzleSql } from 'drizzle-orm';
import { everyStatement } from './every-statement.js';
import { eventually, givenIn, type Speaker, tenantOf, useWorld } from './world.js';

const world = useWorld();
const given = givenIn(world);
const connection = connectionOf(inject('distributed')!);
const sql = postgres({ ...connection, max: 1, fetch_types: false, onnotice: () => {} });
afterAll(() => sql.end());

/**
 * Creates deposits until it is stopped; returns the ids of those that were acknowledged, and other answers. While
 * a shard is moved a write may be refused with 503, and is repeated with its key.
 */
function writing(speaker: Speaker) {
  const [ids, others]: [string[], string[]] = [[], []];
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const key = randomUUID();
      const body = {
        amount: '1.00',
        currency: 'USD',
        to: { account_id: speaker.id },
        payment_method: 'domestic_credit',
      };
      let reply = await speaker.post('/v1/deposits', body, { 'Idempotency-Key': key });
      for (; reply.status === 503; reply = await speaker.post('/v1/deposits', body, { 'Idempotency-Key': key }))
        await setTimeout(1_000 * Number(reply.headers.get('retry-after')));
      if (reply.status === 200) ids.push(reply.body.id);
      else others.push(reply.text);
    }
  })();
  return async () => {
    stopped = true;
    await running;
    return { ids, others };
  };
}

/** A value of a type of PostgreSQL, as text. */
function sampleOf(type: number): string {
  const samples: Record<number, string> = {
    ...{ 16: 'false', 20: '1', 21: '1', 23: '1', 25: 'x', 701: '1', 1700: '1', 3802: '{}' },
    ...{ 1000: '{f}', 1007: '{1}', 1009: '{x}', 1016: '{1}' },
  };
  const sample = samples[type];
  if (sample === undefined) throw new Error(`no value of the type with the OID ${type}`);
  return sample;
}

describe('a cluster', () => {
  it('has everything after its first initialization', async () => {
    expect(await initialize(connection)).toMatchObject({ tables: 0, functions: 0, unprotected: [] });
    const status = await clusterStatus(sql);
    expect(status).toMatchObject({ distribution: 'distributed', unprotected: [], undistributed: [], unregistered: [] });
    expect(status.nodes.length).toBeGreaterThan(2);
    expect(status.nodes.every(({ answers }) => answers)).toBe(true);
    expect((await placesOfCalls(sql)).elsewhere).toEqual([]);
  });

  it('answers each statement of a tenant from one node', async () => {
    await everyStatement(given);
    const faults: string[] = [];
    let statements = 0;
    for (const [name, text] of world.database.preparedStatements) {
      const tenants = [...text.matchAll(/tenant_id"? = \$(\d+)/g)].map(([, number]) => Number(number));
      if (tenants.length === 0 || /^select \* from \w+\(\$1/.test(text)) continue;
      // With null for a parameter PostgreSQL would leave out parts of the statement, and what Citus refuses in them.
      const { types } = await sql.unsafe(text).describe();
      const values = types.map((type, n) => (tenants.includes(n + 1) ? 'tenant' : sampleOf(type)));
      const plan = await sql.unsafe(`explain ${text}`, values).then(
        (rows) => rows.map((row) => String(row['QUERY PLAN'])),
        (error: Error) => [`Distributed Subplan: ${error.message}`],
      );
      const tasks = plan.flatMap((line) => /Task Count: (\d+)/.exec(line)?.[1] ?? []);
      if (tasks.some((each) => Number(each) > 1) || plan.some((line) => line.includes('Distributed Subplan')))
        faults.push(`${name}: ${tasks.join(', ')} tasks, ${plan.find((line) => line.includes('Distributed Subplan'))}`);
      statements++;
    }
    expect(faults).toEqual([]);
    expect(statements).toBeGreaterThan(20);
  });

  it('moves and isolates a tenant that writes, loses nothing and keeps the tables protected', async () => {
    const platform = await given.platform(1);
    const stop = writing(platform);
    const { node, ...isolated } = await changed(connection, (tx) => isolate(tx, tenantOf(platform)));
    expect(isolated.unprotected).toEqual([]);
    const { nodes } = await clusterStatus(sql);
    expect(nodes.find((each) => each.node === node)!.isolated).toBeGreaterThan(0);
    const other = nodes.find((each) => !each.coordinator && each.node !== node)!.node.split(':');
    const to = { host: other[0]!, port: Number(other[1]) };
    const moved = await changed(connection, (tx) => move(tx, tenantOf(platform), to));
    expect(moved).toMatchObject({ node: other.join(':'), unprotected: [] });
    const { ids, others } = await stop();
    expect(others).toEqual([]);
    expect(ids.length).toBeGreaterThan(0);
    const rows = await sql`select id from deposit where tenant_id = ${tenantOf(platform)}`;
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it('finds no violation while tenants write, and the work of each node', async () => {
    const platforms = [await given.platform(1), await given.platform(1), await given.platform(2)];
    const stops = platforms.map(writing);
    for (let n = 0; n < 4; n++) {
      for (const platform of platforms) {
        const { source } = await violationsOf(world.database, { tenantId: tenantOf(platform), livemode: false });
        const found = await world.database.auditQuery('ledger_check_violations', (db) =>
          db.select({ rule: drizzleSql<string>`v.rule`, what: drizzleSql<string>`v.what` }).from(source),
        );
        expect(found).toEqual([]);
      }
    }
    await Promise.all(stops.map((stop) => stop()));
    // The worker of this gateway has completed them: it finds the jobs of all nodes.
    for (const platform of platforms)
      await eventually(
        () =>
          sql`select count(*)::int as left from deposit where tenant_id = ${tenantOf(platform)}
            and status <> 'completed'`,
        ([row]) => row!.left === 0,
        120,
      );
  });
});
