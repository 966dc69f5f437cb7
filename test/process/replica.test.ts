import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import type { Connection } from '../../src/db/connect/driver/connection.js';
import { ConsistencyTokens } from '../../src/db/replicas/consistency-token.js';
import { Secrets } from '../../src/config/secrets.js';
import { walPositionOf } from '../../src/db/replicas/wal-positions.js';
import { until, useChildren } from '../support/child.js';
import { scale } from '../support/scale.js';
import { caughtUp, positionOf } from '../support/standby.js';
import { details, eventually, givenIn, must, nickname, type Reply, type Speaker, tenantOf } from '../support/world.js';
import {
  answeredBy,
  at,
  camelled,
  doctorOf,
  ids,
  inUse,
  lagOf,
  opened,
  type Opened,
  pepper,
  primaryOf,
  saysThatItLags,
  standbysOf,
  standbysIn,
} from './replica-fixture.js';
import { health } from '../../src/operator/health/doctor.js';
import { auditLedger } from '../../src/operator/money/audit.js';

const children = useChildren();
const { servers, topology, through, paused } = standbysIn(children);

const header = 'tidegate-consistency';

/** Waits until the standby has everything, and all gateways know it. */
const settled = async () => {
  await caughtUp(topology.primary, topology.standby);
  const position = await positionOf(topology.primary);
  for (const each of [topology.one, topology.two, topology.strict])
    await until(() => each.database.replicas!.choose(position) !== undefined);
};

describe('a read that may be old', () => {
  const given = () => givenIn(topology.one.world);
  let user: Speaker;
  const graph = {
    list: '{ partners(first: 5) { nodes { nickname } } }',
    figures: '{ viewer { account { statusCounts { deposits { statuses { status count } } } } } }',
  };
  const renamed = (id: string, to: string) =>
    topology.primary.sql`update account set nickname = ${to} where id = ${id}`;

  it('is answered by the standby, and every other read by the primary', async () => {
    user = await given().directUser(1);
    const partner = await user.partner({ nickname: `before ${randomUUID()}` });
    await settled();
    await paused(async () => {
      // A write that no gateway made: the standby does not have it.
      await renamed(partner.id, 'after');
      const listed = await user.get('/v1/accounts?type=partner');
      expect(listed.body.data[0].nickname).toBe(partner.nickname);
      // The resolvers answer twice, and then a compiled query does.
      for (let i = 0; i < 4; i++) {
        const { body } = await user.graph(graph.list);
        expect(body.data.partners.nodes).toEqual([{ nickname: partner.nickname }]);
      }
      expect((await user.get(`/v1/accounts/${partner.id}`)).body.nickname).toBe('after');
      const byId = 'query ($id: ID!) { account(id: $id) { nickname } }';
      for (let i = 0; i < 4; i++) {
        const { body } = await user.graph(byId, { id: partner.id });
        expect(body.data.account.nickname).toBe('after');
      }
      const both = 'query ($id: ID!) { account(id: $id) { nickname } partners(first: 1) { nodes { nickname } } }';
      const mixed = await user.graph(both, { id: partner.id });
      expect(mixed.body.data.account.nickname).toBe('after');
    });
    await settled();
  });

  const span = 'from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", interval: DAY';
  const account = (field: string) => ({ query: `{ viewer { account { ${field} } } }` });
  it.each<[string, string | object, 'standby' | 'primary']>([
    ['a list', '/v1/deposits', 'standby'],
    ['a filtered list', '/v1/deposits?currency=USD', 'standby'],
    ['events', '/v1/events', 'standby'],
    ['the request log', '/v1/request_logs', 'standby'],
    ['a history', account(`balanceHistory(${span}) { start }`), 'standby'],
    ['totals', account(`depositTotals(${span}) { start }`), 'standby'],
    ['a balance of the past', account('balance(asOf: "2026-01-01T00:00:00Z") { pending { amount } }'), 'standby'],
    // An edge of the account of a key is not asked here: a compiled query for it reads the account, too.
    ['an edge of a list', { query: '{ deposits { nodes { id refunds { nodes { id } } } } }' }, 'standby'],
    ['a balance', '/v1/balance', 'primary'],
    ['an object by its id', '/v1/deposits/deposit_0', 'primary'],
    ['the payout plan of now', account('payoutsBlockedBy { reasonCode }'), 'primary'],
  ])('of each kind has its server: %s', async (_, asked, server) => {
    const states = () => topology.one.database.replicas!.states.map(({ counts }) => counts.answered + counts.missing);
    for (let i = 0; i < 3; i++) {
      const [before] = states();
      const reply = typeof asked === 'string' ? await user.get(asked) : await user.post('/graphql', asked);
      expect(reply.body.data === undefined || reply.body.errors === undefined).toBe(true);
      expect(states()[0]! > before! ? 'standby' : 'primary').toBe(server);
    }
  });

  it('has figures and histories of the standby', async () => {
    await through(topology.two, user).post('/v1/deposits', { amount: '5.00', currency: 'USD' });
    await settled();
    await paused(async () => {
      await through(topology.two, user).post('/v1/deposits', { amount: '7.00', currency: 'USD' });
      const counts = async (from: Opened) => {
        const { body } = await through(from, user).graph(graph.figures);
        return body.data.viewer.account.statusCounts.deposits.statuses.reduce(
          (sum: number, { count }: { count: number }) => sum + count,
          0,
        );
      };
      expect([await counts(topology.one), await counts(topology.two)]).toEqual([1, 2]);
      const total = '{ deposits(first: 1) { totalCount } }';
      expect((await user.graph(total)).body.data.deposits.totalCount).toBe(1);
    });
    await settled();
  });

  it('is an audit of the ledger, which the standby answers while it can, and then the primary', async () => {
    const audited = async () => {
      const { violations } = await auditLedger(topology.one.world.operator);
      return violations;
    };
    const sent = answeredBy(topology.one);
    expect(await audited()).toEqual([]);
    expect(answeredBy(topology.one)).toBeGreaterThan(sent);
    const { failed } = topology.one.database.replicas!.states[0]!.counts;
    // A standby cancels what conflicts with its replay (40001), such as readers of a table that is rewritten.
    await topology.standby.sql`alter system set max_standby_streaming_delay = 0`;
    await topology.standby.sql`select pg_reload_conf()`;
    await until(async () => {
      const audits = Promise.all([audited(), audited()]);
      await topology.primary.sql`vacuum (full) posting`;
      expect(await audits).toEqual([[], []]);
      return topology.one.database.replicas!.states[0]!.counts.failed > failed;
    });
    await topology.standby.sql`alter system reset max_standby_streaming_delay`;
    await topology.standby.sql`select pg_reload_conf()`;
    await settled();
  });

  it('is asked on the primary while the standby is older than the limit', async () => {
    const partner = await through(topology.two, user).partner();
    await settled();
    const [before, known] = [performance.now(), await lagOf(topology.strict)];
    await paused(async () => {
      await renamed(partner.id, 'limit');
      // From the primary, as the standby cannot have it. A late look may say for a moment too early that the standby
      // lags.
      const newest = async () => (await through(topology.strict, user).get('/v1/accounts?type=partner')).body.data[0];
      await until(async () => (await newest()).nickname === 'limit');
      // It is logged with the next look.
      await until(() => topology.strict.lines.some(({ reason }) => reason === 'it lags'));
      const older = await user.get('/v1/accounts?type=partner');
      expect(older.body.data[0].nickname).toBe(partner.nickname);
      // A look before may have said so in its moment; while nothing is replayed, the lag only grows.
      await until(async () => (await lagOf(topology.strict)) > 3);
      // It grows with the time alone, from what was known on, and is known to an eighth of it.
      expect((await lagOf(topology.strict)) / 1.125).toBeLessThanOrEqual(known + (performance.now() - before) / 1_000);
      await until(async () => saysThatItLags.test(await doctorOf(topology.strict)));
      const text = await topology.strict.metrics.registry.metrics();
      expect(text).toMatch(/^tidegate_replica_reads_total\{replica="",outcome="primary"\} [1-9]/m);
      expect(await lagOf(topology.strict, 'bytes')).toBeGreaterThan(0);
    });
    await settled();
    const logged = topology.strict.lines.filter(({ msg }) => String(msg).startsWith('a replica is'));
    expect(logged.map(({ reason }) => reason)).toContain('it lags');
    expect(logged.at(-1)!.msg).toBe('a replica is used');
    const sent = answeredBy(topology.strict);
    await through(topology.strict, user).get('/v1/accounts?type=partner');
    expect(answeredBy(topology.strict)).toBe(sent + 1);
  });
});

describe('the own writes of an account', () => {
  it('are found at once on the gateway that made them, and on every other one with the header', async () => {
    const user = await givenIn(topology.one.world).directUser(1);
    const other = through(topology.two, user);
    await user.partner();
    await settled();
    await paused(async () => {
      const body = () => ({ type: 'partner', nickname: nickname(), business_details: details() });
      const rest = await user.post('/v1/accounts', body());
      const token = rest.headers.get(header)!;
      expect(token).toMatch(/^[\w-]{22}$/);
      expect(ids(await user.get('/v1/accounts?type=partner'))).toHaveLength(2);
      expect(ids(await other.get('/v1/accounts?type=partner'))).toHaveLength(1);
      expect(ids(await other.get('/v1/accounts?type=partner', { [header]: token }))).toHaveLength(2);
      expect(ids(await other.get('/v1/accounts?type=partner', { [header]: 'primary' }))).toHaveLength(2);
      const graph = await user.graph(
        'mutation ($i: CreateAccountInput!) { createAccount(input: $i) { account { id } } }',
        { i: { type: 'PARTNER', nickname: nickname(), businessDetails: { ...camelled } } },
      );
      expect(graph.body.errors).toBeUndefined();
      const later = graph.headers.get(header)!;
      const list = '{ partners(first: 9) { nodes { id } } }';
      const seen = async (by: Speaker, headers = {}) =>
        (await by.graph(list, {}, headers)).body.data.partners.nodes.length;
      for (let i = 0; i < 3; i++)
        expect([await seen(user), await seen(other), await seen(other, { [header]: later })]).toEqual([3, 1, 3]);
      // A read has nothing to pass on.
      expect((await user.get('/v1/accounts')).headers.get(header)).toBeNull();
    });
    await settled();
    const sent = answeredBy(topology.one);
    expect(ids(await user.get('/v1/accounts?type=partner'))).toHaveLength(3);
    expect(answeredBy(topology.one)).toBe(sent + 1);
  });

  it('are found for a platform that acts for its user, and by the user itself', async () => {
    const platform = await givenIn(topology.one.world).platform(1);
    const user = await platform.connectedUser();
    await settled();
    await paused(async () => {
      const made = await platform.actingFor(user.id).partner();
      for (const by of [platform.actingFor(user.id), user])
        expect(ids(await by.get('/v1/accounts?type=partner'))).toContain(made.id);
    });
    await settled();
  });

  it('are found on another gateway by the header, whatever the standby has replayed by then', async () => {
    // Each commit reaches readers of the standby this much later.
    await topology.standby.sql`alter system set recovery_min_apply_delay = '300ms'`;
    await topology.standby.sql`select pg_reload_conf()`;
    const users = await Promise.all(Array.from({ length: 4 }, () => givenIn(topology.one.world).directUser(1)));
    const sent = answeredBy(topology.two);
    await Promise.all(
      users.map(async (user) => {
        let token: string | undefined;
        for (let n = 1; n <= 10; n++) {
          const made = await user.post('/v1/accounts', {
            ...{ type: 'partner', nickname: nickname(), business_details: details() },
          });
          token = made.headers.get(header)!;
          const read = await through(topology.two, user).get('/v1/accounts?type=partner', { [header]: token });
          expect(ids(read)[0]).toBe(made.body.id);
          await sleep(n * 25);
        }
        // In the end the standby has it, and answers.
        await until(async () => {
          const before = answeredBy(topology.two);
          const read = await through(topology.two, user).get('/v1/accounts?type=partner', { [header]: token! });
          expect(ids(read)).toHaveLength(10);
          return answeredBy(topology.two) > before;
        });
      }),
    );
    expect(answeredBy(topology.two)).toBeGreaterThan(sent);
    await topology.standby.sql`alter system reset recovery_min_apply_delay`;
    await topology.standby.sql`select pg_reload_conf()`;
    await settled();
  });

  it('need no position that the primary does not say: then the account reads there', async () => {
    const user = await givenIn(topology.one.world).directUser(1);
    await settled();
    await topology.primary.sql`revoke execute on function pg_current_wal_insert_lsn() from public`;
    try {
      const made = await user.post('/v1/deposits', { amount: '1.00', currency: 'USD' });
      expect([made.status, made.headers.get(header)]).toEqual([200, 'primary']);
      expect(ids(await user.get('/v1/deposits'))).toEqual([made.body.id]);
    } finally {
      await topology.primary.sql`grant execute on function pg_current_wal_insert_lsn() to public`;
    }
    await settled();
    const sent = answeredBy(topology.one);
    await until(async () => ids(await user.get('/v1/deposits')).length === 1 && answeredBy(topology.one) > sent);
  });

  it.each([
    ['garbage', 'garbage'],
    ['an empty value', ''],
    ['a value that is too long', 'A'.repeat(23)],
  ])('are not asked for by %s, which is refused by its name', async (_, token) => {
    const user = await givenIn(topology.one.world).directUser(1);
    for (const reply of [
      await user.get('/v1/deposits', { [header]: token }),
      await user.graph('{ deposits(first: 1) { nodes { id } } }', {}, { [header]: token }),
      await user.post('/v1/deposits', { amount: '1.00', currency: 'USD' }, { [header]: token }),
    ])
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        400,
        ['parameter_invalid'],
        ['Tidegate-Consistency'],
      ]);
    const [row] = await topology.primary
      .sql`select count(*)::int as n from deposit where tenant_id = ${tenantOf(user)}`;
    expect(row!.n).toBe(0);
  });

  it.each([
    ['of the future', () => new ConsistencyTokens(Secrets.of(pepper)).write(walPositionOf(9, 'FFFFFFFF/0'))],
    ['of another pepper', () => new ConsistencyTokens(Secrets.of(`another ${pepper}`)).write(0n)],
    ['of no gateway', () => 'A'.repeat(22)],
  ])('%s are looked for on the primary', async (_, token) => {
    const user = await givenIn(topology.one.world).directUser(1);
    await through(topology.two, user).partner();
    const sent = answeredBy(topology.one);
    const read = await user.get('/v1/accounts?type=partner', { [header]: token() });
    expect([read.status, ids(read).length]).toEqual([200, 1]);
    expect(answeredBy(topology.one)).toBe(sent);
  });

  it('are no business of other clients: a token hides its position, and equals no other', () => {
    const tokens = new ConsistencyTokens(Secrets.of(pepper));
    const made = [1n, 2n, 3n].map((position) => tokens.write(position));
    expect(new Set(made.map((token) => token.slice(0, 4))).size).toBe(3);
    expect(made.map((token) => tokens.read(token))).toEqual([1n, 2n, 3n]);
    // After a change of the pepper, the old one is still known.
    const changed = new ConsistencyTokens(Secrets.of(`another ${pepper},${pepper}`));
    expect(made.map((token) => changed.read(token))).toEqual([1n, 2n, 3n]);
  });
});

describe('what a standby does not have', () => {
  it('is asked again on the primary: cursors, accounts, and first objects', async () => {
    const [user, platform] = [
      await givenIn(topology.one.world).directUser(1),
      await givenIn(topology.one.world).platform(1),
    ];
    const other = through(topology.two, user);
    const old = await other.partner();
    await settled();
    await paused(async () => {
      const made = [await other.partner(), await other.partner()];
      const after = await user.get(`/v1/accounts?type=partner&starting_after=${made[0]!.id}`);
      expect(ids(after)).toEqual([old.id]);
      const before = await user.get(`/v1/accounts?type=partner&ending_before=${old.id}`);
      expect(before.status).toBe(200);
      const page =
        'query ($c: ID!) { partners(first: 2, after: $c) { nodes { id } pageInfo { hasPreviousPage } totalCount } }';
      const { body } = await user.graph(page, { c: made[1]!.id });
      expect(body.data.partners).toEqual({
        nodes: [{ id: made[0]!.id }, { id: old.id }],
        pageInfo: { hasPreviousPage: true },
        totalCount: 3,
      });
      const created = await through(topology.two, platform).connectedUser();
      const figures = await through(topology.one, created).graph(
        '{ viewer { account { id balance(asOf: "2020-01-01T00:00:00Z") { available { amount } } statusCounts { ' +
          'deposits { total } } } } }',
      );
      expect([figures.body.errors, figures.body.data?.viewer.account.id]).toEqual([undefined, created.id]);
      expect(ids(await through(topology.one, created).get('/v1/accounts?type=partner'))).toEqual([]);
      const missing = await user.get('/v1/accounts?type=partner&starting_after=account_0');
      expect([missing.status, missing.codes]).toEqual([400, ['parameter_invalid']]);
    });
    expect(topology.one.database.replicas!.states[0]!.counts.missing).toBeGreaterThan(0);
    await settled();
  });
});

describe('a server that is no standby of this primary', () => {
  it.each<[string, () => Connection, string]>([
    ['the primary itself', () => primaryOf(topology.primary.port), 'it is no standby'],
    [
      'a server of another cluster',
      () => ({ ...inject('admin'), username: 'tidegate', database: 'postgres' }) as Connection,
      'it belongs to another cluster',
    ],
    ['an address without a server', () => ({ ...standbysOf(9)[0] }) as Connection, 'ECONNREFUSED'],
  ])('is not used: %s', async (_, address, reason) => {
    const only = await opened(primaryOf(topology.primary.port), { replicas: [address()] });
    try {
      await until(() => only.lines.some((line) => String(line.reason).includes(reason)));
      const user = through(only, await givenIn(topology.one.world).directUser(1));
      const made = await user.partner();
      expect(ids(await user.get('/v1/accounts?type=partner'))).toEqual([made.id]);
      expect(answeredBy(only)).toBe(0);
    } finally {
      await only.close();
    }
  });

  it.each([
    ['its clock differs', 'clock_timestamp', 'timestamptz', "pg_catalog.clock_timestamp() + interval '1 hour'", true],
    ['it has another history', 'pg_current_wal_flush_lsn', 'pg_lsn', "'0/1'::pg_lsn", false],
  ])('is not used, either, while %s', async (reason, name, type, value, onStandby) => {
    await settled();
    const answer = onStandby ? `case when pg_is_in_recovery() then ${value} else pg_catalog.${name}() end` : value;
    // Sessions of the gateways find this function before PostgreSQL's own.
    await topology.primary.sql.unsafe(`create schema shadow; grant usage on schema shadow to tidegate;
      create function shadow.${name}() returns ${type} language sql as $$ select ${answer} $$;
      alter role tidegate set search_path = shadow, pg_catalog, public`);
    const renew = async () => {
      await caughtUp(topology.primary, topology.standby);
      for (const { sql } of [topology.primary, topology.standby])
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'tidegate'`;
    };
    topology.one.lines.length = 0;
    try {
      await renew();
      await until(() => topology.one.lines.some((line) => line.reason === reason));
      await until(() => topology.one.database.replicas!.choose(0n) === undefined);
    } finally {
      await topology.primary.sql.unsafe('alter role tidegate reset search_path; drop schema shadow cascade');
      await renew();
    }
    for (const each of [topology.one, topology.two, topology.strict]) await inUse(each);
    await settled();
  });

  it('is not used, either, while the database is distributed', async () => {
    await settled();
    await topology.primary.sql`insert into pg_extension values (99999, 'citus', 10, 11, false, '1')`;
    try {
      await until(() => topology.one.database.replicas!.choose(0n) === undefined);
      expect(topology.one.lines.map(({ reason }) => reason)).toContain('the database is distributed');
    } finally {
      await topology.primary.sql`delete from pg_extension where oid = 99999`;
    }
    await settled();
  });
});

/** Clients that read lists until they are stopped: their statuses, and the longest wait in milliseconds. */
function readers(user: Speaker, count: number) {
  const seen = { statuses: new Map<number, number>(), longest: 0, answered: 0 };
  let over = false;
  const read = async (n: number) => {
    while (!over) {
      const began = performance.now();
      const reply = await user.get(n % 2 === 0 ? '/v1/deposits' : '/v1/deposits?currency=USD');
      seen.longest = Math.max(seen.longest, performance.now() - began);
      seen.statuses.set(reply.status, (seen.statuses.get(reply.status) ?? 0) + 1);
      seen.answered++;
      await sleep(5);
    }
  };
  const running = Promise.all(Array.from({ length: count }, (_, n) => read(n)));
  running.catch(() => {});
  return {
    seen,
    stop: async () => {
      over = true;
      await running;
      return seen;
    },
  };
}

const drill = (name: string, figures: object) => console.info(`replica drill: ${name} ${JSON.stringify(figures)}`);

describe('a standby that is lost while clients read', () => {
  const clients = 12;
  let user: Speaker;
  beforeAll(async () => {
    user = await givenIn(topology.one.world).directUser(1);
    await must(user.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
    await settled();
  });
  /** Runs a fault among reads, and waits until all reads have ended after it. */
  const among = async (name: string, fault: () => Promise<void>) => {
    const [sent, failed] = [answeredBy(topology.one), topology.one.database.replicas!.states[0]!.counts.failed];
    const load = readers(user, clients);
    await until(() => answeredBy(topology.one) > sent + 100);
    await fault();
    const after = load.seen.answered;
    await until(() => load.seen.answered > after + 200);
    const { statuses, longest, answered } = await load.stop();
    const again = topology.one.database.replicas!.states[0]!.counts.failed - failed;
    drill(name, { answered, longest: Math.round(longest), again, statuses: Object.fromEntries(statuses) });
    expect([...statuses.keys()]).toEqual([200]);
    return again;
  };

  it('fails no request when its statements are cancelled and its connections cut', async () => {
    const again = await among('cut', async () => {
      const began = topology.one.database.replicas!.states[0]!.counts.failed;
      await until(async () => {
        await topology.standby.sql`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'tidegate read'`;
        return topology.one.database.replicas!.states[0]!.counts.failed > began;
      });
    });
    expect(again).toBeGreaterThan(0);
    await settled();
  });

  // A request that waited for five seconds would be answered with 503.
  it('fails no request when it hangs', async () => {
    await among('hangs', async () => {
      servers.signal(topology.standby, 'SIGSTOP');
      await until(() => topology.one.database.replicas!.choose(0n) === undefined);
    });
    servers.signal(topology.standby, 'SIGCONT');
    for (const each of [topology.one, topology.two, topology.strict]) await inUse(each);
    await settled();
  });

  it('leaves tidegate_replica_lag_seconds at what was last known, and not at the age of the process', async () => {
    const [before, known] = [performance.now(), await lagOf(topology.one)];
    servers.signal(topology.standby, 'SIGSTOP');
    await until(() => topology.one.database.replicas!.choose(0n) === undefined);
    // What was known grows older with the time alone.
    await until(async () => (await lagOf(topology.one)) > known + 1);
    expect(await lagOf(topology.one)).toBeLessThanOrEqual(known + (performance.now() - before) / 1_000);
    servers.signal(topology.standby, 'SIGCONT');
    for (const each of [topology.one, topology.two, topology.strict]) await inUse(each);
    await settled();
  });

  it('fails no request when it is killed, and is used again when it has come back', async () => {
    const { port, data } = topology.standby;
    await among('killed', async () => {
      await servers.end(topology.standby);
      await until(() => topology.one.database.replicas!.choose(0n) === undefined);
    });
    topology.standby = await servers.start(data, [], topology.primary, port);
    await settled();
    const sent = answeredBy(topology.one);
    expect(ids(await user.get('/v1/deposits'))).toHaveLength(1);
    expect(answeredBy(topology.one)).toBe(sent + 1);
  });
});

/** Clients that write with one key until they are answered, and read their writes at once on another gateway. */
function writers(users: Speaker[], other: Opened) {
  const seen = { answers: new Map<string, number>(), acknowledged: [] as string[], missed: [] as string[], gap: 0 };
  let over = false;
  let last = performance.now();
  const count = (reply: Reply) => {
    const answer = `${reply.status} ${reply.codes.join(' ')}`.trim();
    seen.answers.set(answer, (seen.answers.get(answer) ?? 0) + 1);
  };
  const write = async (user: Speaker, name: string) => {
    const body = { type: 'partner', nickname: name, business_details: details() };
    while (true) {
      const reply = await user.post('/v1/accounts', body, { 'idempotency-key': name });
      count(reply);
      if (reply.status === 200) return reply.headers.get(header) ?? undefined;
      if (reply.status !== 503 && reply.status !== 409) throw new Error(reply.text);
      await sleep(50);
    }
  };
  const one = async (user: Speaker, n: number) => {
    for (let nth = 0; !over; nth++) {
      const name = `writer ${n} ${randomUUID()}`;
      const token = await write(user, name);
      seen.gap = Math.max(seen.gap, performance.now() - last);
      last = performance.now();
      seen.acknowledged.push(name);
      const read = await through(other, user).get('/v1/accounts?type=partner', { [header]: token! });
      count(read);
      if (read.status === 200 && read.body.data[0]?.nickname !== name) seen.missed.push(name);
      await sleep(5);
    }
  };
  const running = Promise.all(users.map(one));
  running.catch(() => {
    over = true;
  });
  const stop = async () => {
    over = true;
    await running;
    return seen;
  };
  return { seen, stop, over: () => over };
}

describe('the doctor', () => {
  it('says for how many standbys writes wait, and what its role may not see', async () => {
    const { primary, one } = topology;
    const found = async () =>
      (await health(one.world.operator))
        .filter(({ check }) => check === 'standbys')
        .map(({ level, finding }) => [level, finding]);
    // The backends of the gateway read the settings anew when they are told to, each at a time of its own.
    const says = expect.poll(found);
    const names = async (value: string) => {
      await primary.sql.unsafe(`alter system set synchronous_standby_names = '${value}'`);
      await primary.sql`select pg_reload_conf()`;
    };
    await names('*');
    await says.toEqual([['look', 'This role may not see which standbys are synchronous.']]);
    await primary.sql`grant pg_read_all_stats to tidegate`;
    await says.toMatchObject([['ok', expect.anything()]]);
    await names('FIRST 2 (*)');
    const few = (wanted: string) => `writes wait for 2 (synchronous_standby_names = ${wanted}).`;
    await says.toEqual([['now', `1 synchronous standby is attached, and ${few('FIRST 2 (*)')}`]]);
    await names('another');
    await says.toMatchObject([['now', expect.stringMatching(/^No synchronous standby is attached/)]]);
    await primary.sql`alter system reset synchronous_standby_names`;
    await primary.sql`select pg_reload_conf()`;
    await primary.sql`revoke pg_read_all_stats from tidegate`;
  });
});

describe('a standby that is promoted while clients write', () => {
  const clients = 6;
  let here: Opened;
  let there: Opened;
  let users: Speaker[];
  const acknowledged: string[] = [];

  /** Every write waits for the standby from now on. */
  const synchronous = async () => {
    await topology.primary.sql`alter system set synchronous_standby_names = '*'`;
    await topology.primary.sql`select pg_reload_conf()`;
    await until(async () => {
      const rows = await topology.primary.sql`select from pg_stat_replication where sync_state = 'sync'`;
      return rows.length === 1;
    });
  };

  beforeAll(async () => {
    await settled();
    const servers = at(topology.primary.port, topology.standby.port);
    const address = `postgres://tidegate@${servers}/tidegate?target_session_attrs=primary`;
    const replicas = standbysOf(topology.primary.port, topology.standby.port);
    here = await opened(connectionOf(address), { replicas, lagSeconds: 5, worker: true });
    there = await opened(connectionOf(address), { replicas, lagSeconds: 5 });
    // One after the other: on a busy machine, the last of several at once could wait too long for its turn.
    users = [];
    while (users.length < clients) users.push(await givenIn(here.world).directUser(1));
    await synchronous();
  });
  afterAll(async () => {
    await topology.primary.sql`alter system reset synchronous_standby_names`;
    await topology.primary.sql`select pg_reload_conf()`;
    for (const each of [here, there]) await each?.close();
  });

  const rounds = Array.from({ length: scale.promotions }, (_, n): ['killed' | 'fenced', number] => [
    n % 2 === 0 ? 'fenced' : 'killed',
    n + 1,
  ]);
  it.each(rounds)(
    'loses and doubles no acknowledged write, and answers none with 500: primary %s, round %i',
    async (kind, round) => {
      const { acknowledged: before } = { acknowledged: acknowledged.length };
      await Promise.all([inUse(here), inUse(there)]);
      const load = writers(users, there);
      const written = (more: number) => {
        const from = load.seen.acknowledged.length;
        return until(() => load.seen.acknowledged.length >= from + more || load.over());
      };
      await written(100);
      const old = topology.primary;
      const began = performance.now();
      if (kind === 'killed') await servers.end(old);
      else {
        // The connections stay, and each write on them is refused with 25006.
        await old.sql`alter system set default_transaction_read_only = on`;
        await old.sql`select pg_reload_conf()`;
        await caughtUp(old, topology.standby);
      }
      await topology.standby.sql`select pg_promote()`;
      const promoted = performance.now();
      topology.primary = topology.standby;
      await written(100);
      const { answers, missed, gap } = await load.stop();
      await servers.end(old);
      acknowledged.push(...load.seen.acknowledged);
      drill(`promotion ${round}, ${kind}`, {
        acknowledged: load.seen.acknowledged.length,
        secondsWithoutWrites: Number((gap / 1_000).toFixed(1)),
        promotedAfterSeconds: Number(((promoted - began) / 1_000).toFixed(1)),
        answers: Object.fromEntries(answers),
      });
      expect(
        [...answers.keys()].filter(
          (answer) => !/^(200|503 service_unavailable|409 idempotency_key_in_use)$/.test(answer),
        ),
      ).toEqual([]);
      expect(missed).toEqual([]);
      expect(acknowledged.length).toBeGreaterThan(before + 200);
      const rows = await topology.primary
        .sql`select nickname from account where nickname like 'writer %' order by nickname collate "C"`;
      expect(rows.map(({ nickname: name }) => name)).toEqual(acknowledged.toSorted());
      await topology.primary.sql`set role tidegate`;
      expect([...(await topology.primary.sql`select rule, what from violations`)]).toEqual([]);
      await topology.primary.sql`reset role`;

      // The worker goes on, too, and a list may be read on the old primary once it is a standby.
      const made = await users[0]!.post('/v1/deposits', { amount: '1.00', currency: 'USD' });
      await eventually(
        () => users[0]!.get(`/v1/deposits/${made.body.id}`),
        ({ body }) => body.status === 'completed',
      );
      await topology.primary.sql`alter system reset default_transaction_read_only`;
      await servers.backUp(topology.primary, old.data);
      topology.standby = await servers.start(old.data, [], topology.primary, old.port);
      await synchronous();
      const sent = answeredBy(here);
      await until(async () => {
        expect(ids(await users[0]!.get('/v1/deposits'))).toContain(made.body.id);
        return answeredBy(here) > sent;
      });
    },
  );
});
