import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import postgres from 'postgres';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { changed, isolate, move } from '../../src/db/cluster/cluster.js';
import { placesOfCalls } from '../../src/db/cluster/functions.js';
import { initialize } from '../../src/db/cluster/initialize.js';
import { Secrets } from '../../src/config/secrets.js';
import { violationsOf } from '../../src/db/cluster/tenant-audit.js';
import { clusterStatus } from '../../src/db/cluster/status.js';
import { sql as drizzleSql } from 'drizzle-orm';
import { until, useChildren } from '../support/child.js';
import { clusterNodes } from './cluster-node.js';
import { everyStatement } from '../support/every-statement.js';
import { freePort } from '../support/ports.js';
import { completeDeposit, eventually, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);
const children = useChildren();
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

  const violated = async (platform: Speaker) => {
    const { source } = await violationsOf(world.database, { tenantId: tenantOf(platform), livemode: false });
    return world.database.auditQuery('ledger_check_violations', (db) =>
      db.select({ rule: drizzleSql<string>`v.rule`, what: drizzleSql<string>`v.what` }).from(source),
    );
  };

  it('finds no violation while tenants write, and the work of each node', async () => {
    const platforms = [await given.platform(1), await given.platform(1), await given.platform(2)];
    const stops = platforms.map(writing);
    for (let n = 0; n < 4; n++) {
      for (const platform of platforms) expect(await violated(platform)).toEqual([]);
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

  it('finds what is wrong by each part of the audit, and by the view over all tenants', async () => {
    const user = await given.directUser(1);
    const tenant = tenantOf(user);
    const body = { amount: '1.00', currency: 'USD', to: { account_id: user.id }, payment_method: 'domestic_credit' };
    await completeDeposit(user, (await must(user.post('/v1/deposits', body))).id);
    await eventually(
      () => sql`select from balance_rank where tenant_id = ${tenant} and amount > 0`,
      (ranks) => ranks.length > 0,
      120,
    );
    const found = async (rule: string) => {
      const expected = [{ rule, what: `${user.id} USD` }];
      expect(await violated(user)).toEqual(expected);
      expect([...(await sql`select rule, what from violations where tenant_id = ${tenant}`)]).toEqual(expected);
    };
    await sql`update balance set latest = latest + 1 where tenant_id = ${tenant}`;
    await found('balance has another greatest time than its entries');
    await sql`update balance set latest = latest - 1 where tenant_id = ${tenant}`;
    await sql`update balance_rank set amount = amount + 1 where tenant_id = ${tenant}`;
    await found('rank is not the sum of its entries');
    await sql`update balance_rank set amount = amount - 1 where tenant_id = ${tenant}`;
    expect(await violated(user)).toEqual([]);
  });
});

describe('a node of a cluster that is stopped', () => {
  const readiness = async (origin: string) => {
    const reply = await fetch(`${origin}/readyz`);
    return [reply.status, await reply.json()];
  };
  const nodeOf = async (speaker: Speaker): Promise<string> => {
    const [row] = await sql`
      select n.nodename || ':' || n.nodeport as name
      from pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid
      where p.shardid = get_shard_id_for_distribution_column('account', ${tenantOf(speaker)}::text)`;
    return row!.name;
  };
  const status = async (speaker: Speaker) =>
    (await speaker.post('/v1/deposits', { amount: '1.00', currency: 'USD' })).status;

  // A gateway whose readiness asked the node of one certain tenant was unready for all while that node was away.
  it('leaves every gateway ready, also one that starts meanwhile, and refuses its own tenants alone', async () => {
    const nodes = await clusterNodes(sql);
    expect(nodes.length).toBeGreaterThan(1);
    const tenants = new Map<string, Speaker>();
    while (tenants.size < nodes.length) {
      const speaker = await given.directUser(1);
      tenants.set(await nodeOf(speaker), speaker);
    }
    // Each test file has a pepper of its own, and a gateway starts only with one that the database knows.
    await sql`insert into drizzle.pepper (slot, fingerprint)
      select coalesce(max(slot), 0) + 1, ${Secrets.of(world.pepper).pepperIds[0]!} from drizzle.pepper`;
    for (const node of nodes) {
      node.stop();
      try {
        await until(async () => (await readiness(world.origin))[1].nodes_away === 1, 100);
        expect(await readiness(world.origin)).toEqual([200, { status: 'ok', nodes_away: 1 }]);
        for (const [name, speaker] of tenants)
          expect([name, await status(speaker)]).toEqual([name, name === node.name ? 503 : 200]);

        const port = String(await freePort());
        const gateway = await children.gateway({
          DATABASE_URL: inject('distributed')!,
          API_KEY_PEPPER: world.pepper,
          TRUSTED_PROXY: '127.0.0.1',
          METRICS_PORT: port,
        });
        await until(async () => (await readiness(gateway.origin))[1].nodes_away === 1, 100);
        expect(await readiness(gateway.origin)).toEqual([200, { status: 'ok', nodes_away: 1 }]);
        const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        for (const { name } of nodes)
          expect(metrics).toContain(`tidegate_database_node_up{node="${name}"} ${name === node.name ? 0 : 1}\n`);
        await gateway.stop();
      } finally {
        node.start();
      }
      await until(async () => (await readiness(world.origin))[1].nodes_away === undefined, 100);
      expect(await readiness(world.origin)).toEqual([200, { status: 'ok' }]);
      await eventually(
        () => status(tenants.get(node.name)!),
        (found) => found === 200,
        60,
      );
    }
  });

  it('is no excuse for a table that is locked: the gateway is not ready then', async () => {
    // Connections of the coordinator to a node that was restarted are found dead by the statement that uses them.
    const own = postgres({ ...connection, max: 1, fetch_types: false, onnotice: () => {} });
    await own.begin(async (tx) => {
      await tx`lock table balance in access exclusive mode`;
      expect(await readiness(world.origin)).toEqual([503, { status: 'locked' }]);
    });
    await own.end();
    await until(async () => (await readiness(world.origin))[0] === 200, 100);
  });
});
