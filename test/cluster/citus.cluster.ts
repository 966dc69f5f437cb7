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
import { fires } from '../faults/alert-fixture.js';
import { clusterNodes } from './cluster-node.js';
import { everyStatement } from '../support/every-statement.js';
import { freePort } from '../support/ports.js';
import { Prometheus, prometheusProgram } from '../support/prometheus.js';
import {
  completeDeposit,
  eventually,
  givenIn,
  must,
  repeated,
  type Speaker,
  tenantOf,
  useWorld,
} from '../support/world.js';

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
      const body = {
        amount: '1.00',
        currency: 'USD',
        to: { account_id: speaker.id },
        payment_method: 'domestic_credit',
      };
      const reply = await repeated((headers) => speaker.post('/v1/deposits', body, headers));
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

  it('spreads the shards over the nodes again, and says how far it is', async () => {
    const { nodes } = await clusterStatus(sql);
    const [from, into] = nodes.filter(({ coordinator }) => !coordinator).map(({ node }) => node);
    const [host, port] = into!.split(':');
    for (let moved = 0; moved < 4; ) {
      const tenant = tenantOf(await given.directUser(1));
      const [placed] = await sql`
        select n.nodename || ':' || n.nodeport as node from pg_dist_placement p join pg_dist_node n using (groupid)
        where p.shardid = get_shard_id_for_distribution_column('account', ${tenant}::text)`;
      if (placed!.node !== from) continue;
      await changed(connection, (tx) => move(tx, tenant, { host: host!, port: Number(port) }));
      moved += 1;
    }
    await knowPepper();
    const { code, out, errors } = await children.command(environment(), 'cluster', 'rebalance', '--json');
    expect([code, JSON.parse(out)]).toEqual([0, { shards: expect.any(Number), unprotected: [] }]);
    expect(JSON.parse(out).shards).toBeGreaterThan(0);
    expect(errors).toMatch(/^(Moving the shards: \d+ %\n)+$/);
    expect(errors.endsWith('Moving the shards: 100 %\n')).toBe(true);
    const again = await children.command(environment(), 'cluster', 'rebalance', '--json');
    expect([JSON.parse(again.out).shards, again.errors]).toEqual([0, '']);
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

/** The node, by host and port, that holds a tenant. */
async function nodeOf(speaker: Speaker): Promise<string> {
  const [row] = await sql`
    select n.nodename || ':' || n.nodeport as name
    from pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid
    where p.shardid = get_shard_id_for_distribution_column('account', ${tenantOf(speaker)}::text)`;
  return row!.name;
}

/** A tenant on each of so many nodes, by the names of these. */
async function tenantsOfNodes(count: number): Promise<Map<string, Speaker>> {
  const tenants = new Map<string, Speaker>();
  while (tenants.size < count) {
    const speaker = await given.directUser(1);
    tenants.set(await nodeOf(speaker), speaker);
  }
  return tenants;
}

/** Stores the pepper of this file: a process starts only with one that the database knows. */
const knowPepper = () => sql`insert into drizzle.pepper (slot, fingerprint)
  select coalesce(max(slot), 0) + 1, ${Secrets.of(world.pepper).pepperIds[0]!} from drizzle.pepper
  on conflict do nothing`;

const environment = () => ({
  DATABASE_URL: inject('distributed')!,
  API_KEY_PEPPER: world.pepper,
  TRUSTED_PROXY: '127.0.0.1',
});

describe('the doctor of a cluster', () => {
  type Line = { check: string; level: string; finding: string };
  /** What it says that is not well, and its exit code. */
  const doctor = async (...args: string[]) => {
    const { code, out, errors } = await children.command(environment(), 'doctor', '--json', ...args);
    expect(errors).toBe('');
    const { health } = JSON.parse(out) as { health: Line[] };
    return { code, lines: health.filter(({ level }) => level !== 'ok') };
  };
  const away = (name: string) =>
    `The node ${name} of the cluster does not answer: the requests of its tenants are refused.`;
  /** A payout of live mode that fails. Its next attempt is far away: the worker of this file does not make it. */
  const failing = (tenant: string) => sql`
    insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, error, failing_since)
    values (${tenant}, true, 'job_fails', 1, 'pay_out', 'none', '{}', 99999999999, 'failed',
      ${Math.floor(Date.now() / 1_000) - 7_300})`;
  const notFailing = (tenant: string) => sql`delete from job where tenant_id = ${tenant} and id = 'job_fails'`;
  const late = [
    'now late work The oldest job of live mode is overdue by 2 hours.',
    'now late work The oldest payout of live mode is overdue by 2 hours.',
    'look stuck work In live mode 1 job and the work of 0 tenants fail and are tried again.',
  ];

  it('makes each check, and finds the work and the ledgers of each node', async () => {
    await knowPepper();
    const nodes = await clusterNodes(sql);
    const found = async () =>
      (await doctor()).lines
        .filter(({ finding }) => /live mode|violated/.test(finding))
        .map(({ level, check, finding }) => [level, check, finding].join(' '));
    expect((await doctor()).lines.filter(({ finding }) => finding.startsWith('This could not be checked'))).toEqual([]);
    expect(await found()).toEqual([]);
    for (const user of (await tenantsOfNodes(nodes.length)).values()) {
      const tenant = tenantOf(user);
      await failing(tenant);
      const body = { amount: '1.00', currency: 'USD', to: { account_id: user.id }, payment_method: 'domestic_credit' };
      await completeDeposit(user, (await must(user.post('/v1/deposits', body))).id);
      await sql`update balance set latest = latest + 1 where tenant_id = ${tenant}`;
      expect((await children.command(environment(), 'ledger', 'check', user.id)).code).toBe(1);
      expect((await found()).toSorted()).toEqual(
        [...late, 'now ledgers 1 ledger violated at the last check.'].toSorted(),
      );
      await notFailing(tenant);
      await sql`update balance set latest = latest - 1 where tenant_id = ${tenant}`;
      expect((await children.command(environment(), 'ledger', 'check', user.id)).code).toBe(0);
    }
    expect(await found()).toEqual([]);
  });

  it('names each node that does not answer, finds the work of the others, and says what needs all', async () => {
    await knowPepper();
    const nodes = await clusterNodes(sql);
    const tenants = await tenantsOfNodes(nodes.length);
    for (const node of nodes) {
      const other = tenantOf([...tenants].find(([name]) => name !== node.name)![1]);
      await failing(other);
      node.stop();
      try {
        const { code, lines } = await doctor();
        const said = lines.map(({ check, level, finding }) => [level, check, finding].join(' '));
        expect([code, said[0]]).toEqual([1, `now nodes ${away(node.name)}`]);
        expect(said).toEqual(expect.arrayContaining(late));
        const unseen = lines.filter(({ finding }) => finding.startsWith('This could not be checked'));
        for (const { check, level, finding } of unseen)
          expect([check, level, finding]).toEqual([check, 'look', expect.stringContaining(node.name)]);
        expect(unseen.map(({ check }) => check).toSorted()).toEqual(['ledgers', 'privileges', 'secrets']);
        expect(await doctor('--alert', 'TidegateNodeAway')).toMatchObject({ code: 1, lines: [lines[0]] });
      } finally {
        node.start();
      }
      await until(async () => (await doctor('--alert', 'TidegateNodeAway')).code === 0, 100);
      await notFailing(other);
    }
  });
});

describe('a cluster of which no node answers', () => {
  it('has work that could not be checked, and not none', async () => {
    await knowPepper();
    const nodes = await clusterNodes(sql);
    const checks = async () => {
      const { out } = await children.command(environment(), 'doctor', '--json');
      return (JSON.parse(out).health as { check: string; level: string; finding: string }[]).filter(
        ({ check, level }) => level !== 'ok' && ['nodes', 'late work', 'stuck work'].includes(check),
      );
    };
    for (const node of nodes) node.stop();
    try {
      const found = await checks();
      expect(found.filter(({ check }) => check === 'nodes')).toHaveLength(nodes.length);
      for (const check of ['late work', 'stuck work'])
        expect(found.filter((each) => each.check === check)).toEqual([
          expect.objectContaining({ level: 'look', finding: expect.stringMatching(/^This could not be checked/) }),
        ]);
    } finally {
      for (const node of nodes) node.start();
    }
    await until(async () => (await checks()).length === 0, 100);
  });
});

describe.skipIf(!prometheusProgram)(
  `the alert rules on a cluster${prometheusProgram ? '' : ' (skipped: no prometheus is installed)'}`,
  () => {
    it('page for a node that is stopped, by one rule that names it, until it is back', async () => {
      const nodes = await clusterNodes(sql);
      const tenants = await tenantsOfNodes(nodes.length);
      await knowPepper();
      const METRICS_PORT = String(await freePort());
      const gateway = await children.gateway({ ...environment(), METRICS_PORT });
      const prometheus = new Prometheus();
      const node = nodes[0]!;
      const named = () => prometheus.query(`count(ALERTS{alertstate="firing",node="${node.name}"})`);
      const asked = async () => {
        for (const [name, { key }] of tenants) {
          const speaker = gateway.speaker(key, { 'x-forwarded-proto': 'https' });
          const { status } = await speaker.post('/v1/deposits', { amount: '1.00', currency: 'USD' });
          expect([name, status]).toEqual([name, name === node.name ? 503 : 200]);
        }
      };
      try {
        await prometheus.start([`127.0.0.1:${METRICS_PORT}`]);
        // The next checks of the health, which also find the node, are ten minutes after these.
        await until(async () => (await prometheus.query('max(tidegate_health{check="nodes",level="now"})')) === 0, 250);
        node.stop();
        try {
          const fired = fires(prometheus, 'a node of a cluster is away', 'TidegateNodeAway');
          expect((await Promise.all([fired, asked()]))[0]).toBeLessThan(120);
          expect(await named()).toBe(1);
        } finally {
          node.start();
        }
        await until(async () => (await named()) === undefined, 250);
      } finally {
        await prometheus.stop();
      }
    });
  },
);

describe('a node of a cluster that is stopped', () => {
  const readiness = async (origin: string) => {
    const reply = await fetch(`${origin}/readyz`);
    return [reply.status, await reply.json()];
  };
  const status = async (speaker: Speaker) =>
    (await speaker.post('/v1/deposits', { amount: '1.00', currency: 'USD' })).status;

  // A gateway whose readiness asked the node of one certain tenant was unready for all while that node was away.
  it('leaves every gateway ready, also one that starts meanwhile, and refuses its own tenants alone', async () => {
    const nodes = await clusterNodes(sql);
    expect(nodes.length).toBeGreaterThan(1);
    const tenants = await tenantsOfNodes(nodes.length);
    await knowPepper();
    for (const node of nodes) {
      node.stop();
      try {
        await until(async () => (await readiness(world.origin))[1].nodes_away === 1, 100);
        expect(await readiness(world.origin)).toEqual([200, { status: 'ok', nodes_away: 1 }]);
        for (const [name, speaker] of tenants)
          expect([name, await status(speaker)]).toEqual([name, name === node.name ? 503 : 200]);

        const port = String(await freePort());
        const gateway = await children.gateway({ ...environment(), METRICS_PORT: port });
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
