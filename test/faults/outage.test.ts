import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { config } from '../../src/config/config.js';
import { Database } from '../../src/db/database.js';
import type { Embedded } from '../../src/db/embedded/lease.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { Operator } from '../../src/operator/operator.js';
import { partnerBody } from '../support/bodies.js';
import { alive } from '../support/alive.js';
import { childrenOf, postmaster, until, useChildren } from '../support/child.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { copyDataFolder } from '../support/data-folders.js';
import { eventually, givenIn, type Reply, type Speaker, useWorld, type World } from '../support/world.js';
import { hasty, hastyPools } from '../support/patient.js';

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';
const children = useChildren();
const milliseconds = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const began = performance.now();
  return [await work, performance.now() - began];
};
const unavailable = (reply: Reply) => [reply.status, reply.codes, reply.headers.get('retry-after')];
const is503 = [503, ['service_unavailable'], '1'];
/** 200, or the reason. */
const readyz = (origin: string) =>
  fetch(`${origin}/readyz`).then(async (reply) =>
    reply.status === 200 ? 200 : [reply.status, ((await reply.json()) as { status: string }).status],
  );
const servez = (origin: string) => fetch(`${origin}/servez`).then(({ status }) => status);
const askOperator = (origin: string) =>
  fetch(`${origin}/operator/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ accounts { nodes { id } } }' }),
  });

describe('an error of PostgreSQL that neither the client nor a bug caused', () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const world = useWorld({ worker: false, log, environment: hasty });
  let me: Speaker;
  let user: string;
  beforeAll(async () => {
    const platform = await givenIn(world).platform(1);
    me = platform;
    user = (await platform.connectedUser()).id;
    await world.sql.unsafe(`
      create table ailment (code text not null, message text not null default 'ailing');
      create function ail() returns trigger language plpgsql as $$
      declare v ailment := (select a from ailment a limit 1);
      begin
        if v.code is not null then raise exception '%', v.message using errcode = v.code; end if;
        return new;
      end $$;
      create trigger ail before update on account for each row execute function ail();`);
  });
  afterEach(() => world.sql`delete from ailment`);

  // A trigger raises the errors, because a full or broken disk would need root.
  it.each([
    ['53100', 'disk_full'],
    ['53200', 'out_of_memory'],
    ['53400', 'configuration_limit_exceeded'],
    ['55006', 'object_in_use'],
    ['57014', 'query_canceled'],
    ['58000', 'system_error'],
    ['58030', 'io_error'],
    ['F0000', 'config_file_error'],
    ['XX000', 'internal_error'],
    ['XX001', 'data_corrupted'],
    ['28000', 'invalid_authorization_specification'],
    ['3D000', 'invalid_catalog_name'],
  ])('is refused with Retry-After at once on both APIs, and is logged: %s %s', async (code) => {
    await world.sql`insert into ailment (code) values (${code})`;
    lines.length = 0;
    const metadata = { note: 'kept' };
    const [rest, took] = await milliseconds(me.post(`/v1/accounts/${user}`, { metadata }));
    const graph = await me.graph('mutation ($i: UpdateAccountInput!) { updateAccount(input: $i) { account { id } } }', {
      i: { id: user, metadata },
    });
    expect(unavailable(rest)).toEqual(is503);
    // The error of a field: the answer has the others.
    expect([graph.status, graph.codes, graph.headers.get('retry-after')]).toEqual([200, ['service_unavailable'], '1']);
    expect(graph.body.data).toEqual({ updateAccount: null });
    expect(took).toBeLessThan(2_000);
    expect(lines).toEqual([expect.objectContaining({ code, msg: 'PostgreSQL could not serve a request' })]);
  });

  const contended: [code: string, message: string][] = [
    ['40001', 'serialization_failure'],
    ['40P01', 'deadlock_detected'],
    ['53300', 'too_many_connections'],
    // A shard of a cluster was split, and the statement was planned before.
    ['XX000', 'could not find valid entry for shard 102681'],
  ];
  it.each(contended)(
    'is retried for up to 5 s where a retry may help, and is then 503: %s %s',
    async (code, message) => {
      await world.sql`insert into ailment values (${code}, ${message})`;
      const asked = milliseconds(me.post(`/v1/accounts/${user}`, { metadata: { note: 'again' } }));
      setTimeout(() => void world.sql`delete from ailment`.execute(), 1_000);
      const [better, soon] = await asked;
      expect([better.status, soon > 1_000]).toEqual([200, true]);

      await world.sql`insert into ailment values (${code}, ${message})`;
      const [worse, took] = await milliseconds(me.post(`/v1/accounts/${user}`, { metadata: { note: 'again' } }));
      expect(unavailable(worse)).toEqual(is503);
      expect(took).toBeLessThan(5_500);
    },
  );

  it.each(['22012', '42P01', '42883', '23502', '0A000', 'P0001'])(
    'differs from a bug, which stays 500: %s',
    async (code) => {
      await world.sql`insert into ailment (code) values (${code})`;
      const reply = await me.post(`/v1/accounts/${user}`, { metadata: { note: 'bug' } });
      expect([reply.status, reply.codes]).toEqual([500, ['service_fault']]);
    },
  );

  it('makes the gateway not ready after a write for which the disk had no room, until there is room', async () => {
    expect(await readyz(world.origin)).toBe(200);
    await world.sql`insert into ailment (code) values ('53100')`;
    await me.post(`/v1/accounts/${user}`, { metadata: { note: 'full' } });
    const [full, took] = await milliseconds(readyz(world.origin));
    expect([full, took < 2_000]).toEqual([[503, 'disk full'], true]);
    await world.sql`delete from ailment`;
    await me.post(`/v1/accounts/${user}`, { metadata: { note: 'room' } });
    expect(await readyz(world.origin)).toBe(200);
  });
});

describe('a lock that is not free in time', () => {
  const world = useWorld({ worker: false, environment: { OPERATOR_KEY, ...hasty } });
  let me: Speaker;
  let user: string;
  beforeAll(async () => {
    me = await givenIn(world).platform(1);
    user = (await me.connectedUser()).id;
  });

  const login = async () => {
    const [row] = await world.sql`select current_database() as database`;
    return { ...inject('admin'), username: 'tidegate', database: row!.database as string };
  };
  /** Holds a lock, as a migration or another client would, until the work is done. */
  const holding = async <T>(statement: string, work: () => Promise<T>): Promise<T> => {
    const sql = postgres({ ...(await login()), max: 1, onnotice: () => {} });
    try {
      await sql.unsafe(`begin; ${statement}`);
      return await work();
    } finally {
      await sql.unsafe('rollback');
      await sql.end();
    }
  };
  const update = (note: string) => me.post(`/v1/accounts/${user}`, { metadata: { note } }, { 'idempotency-key': note });

  it.each(['share', 'share row exclusive', 'exclusive', 'access exclusive'])(
    'is 503 for a write when it is the lock of a table, and not 409: %s',
    async (mode) => {
      const reply = await holding(`lock table account in ${mode} mode`, () => update(`behind ${mode}`));
      expect(unavailable(reply)).toEqual(is503);
      expect((await update(`behind ${mode}`)).status).toBe(200);
    },
  );

  it("is 503 for a write also when the table's lock is only requested", async () => {
    const reply = await holding('lock table event in row exclusive mode', async () => {
      const altering = postgres({ ...(await login()), max: 1, onnotice: () => {} });
      const waiting = altering.unsafe('begin; lock table event').catch(() => {});
      await until(async () => {
        const waits = await world.sql`
          select from pg_locks where relation = 'event'::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`;
        return waits.length > 0;
      });
      const answer = await update('behind a queue');
      await altering.end({ timeout: 0 });
      await waiting;
      return answer;
    });
    expect(unavailable(reply)).toEqual(is503);
  });

  it('is 409 when it is the lock of a row, for the first waiting write and for those behind it', async () => {
    const replies = await holding(`select from account where id = '${user}' for update`, () =>
      Promise.all([1, 2, 3].map((n) => update(`row ${n}`))),
    );
    expect(replies.map(({ status, codes }) => [status, codes])).toEqual(
      replies.map(() => [409, ['idempotency_key_in_use']]),
    );
  });

  it('is 503 for a read, over every API, and makes the gateway not ready meanwhile', async () => {
    const [list, graph, operator, ready] = await holding('lock table account', () =>
      Promise.all([
        me.get('/v1/accounts'),
        me.graph('{ accounts { nodes { id } } }'),
        askOperator(world.origin),
        milliseconds(readyz(world.origin)),
      ]),
    );
    expect(unavailable(list)).toEqual(is503);
    expect([graph.codes[0], graph.headers.get('retry-after')]).toEqual(['service_unavailable', '1']);
    expect([operator.headers.get('retry-after'), (await operator.json()).errors[0].extensions.code]).toEqual([
      '1',
      'SERVICE_UNAVAILABLE',
    ]);
    expect([ready[0], ready[1] < 2_000]).toEqual([[503, 'locked'], true]);
    expect((await me.get('/v1/accounts')).status).toBe(200);
  });

  it('is told apart from a server that is away, also where a connection takes long', async () => {
    const { host, port, ...rest } = await login();
    const relay = net.createServer((client) => {
      const server = net.connect(`${host}/.s.PGSQL.${port}`);
      for (const one of [client, server]) one.on('error', () => {});
      setTimeout(() => client.pipe(server).pipe(client), 400);
    });
    await new Promise<void>((resume) => relay.listen(0, '127.0.0.1', resume));
    const distant = { host: '127.0.0.1', port: (relay.address() as net.AddressInfo).port };
    const database = new Database({ ...rest, ...distant });
    try {
      expect(await database.readiness.unready()).toBeUndefined();
      expect(await holding('lock table account', () => database.readiness.unready())).toBe('locked');
    } finally {
      await database.close();
      relay.close();
    }
  });

  it("is no domain error of a command, which prints PostgreSQL's message", async () => {
    const { host, database } = await login();
    const environment = {
      DATABASE_URL: `postgres://tidegate@/${database}?host=${host}`,
      API_KEY_PEPPER: world.pepper,
      ...hasty,
    };
    const { code, errors } = await holding('lock table account', () =>
      children.command(environment, 'account', 'list', '--json'),
    );
    expect([code, errors]).toEqual([
      2,
      'service_unavailable: The service is busy or restarting. Retry after the time in ' +
        'Retry-After.\nPostgreSQL: canceling statement due to lock timeout\n',
    ]);
    expect((await children.command(environment, 'account', 'list', '--json')).code).toBe(0);
  });
});

describe('a separate PostgreSQL', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-outage-'));
  fs.chmodSync(folder, 0o755);
  const world = {} as World;
  let embedded: Embedded;
  let admin: postgres.Sql;
  let app: FastifyInstance;
  let me: Speaker;
  let payee: PayeeFixture;
  beforeAll(async () => {
    await copyDataFolder(folder, 'migrated');
    embedded = await startEmbedded({ dir: path.join(folder, 'postgres'), durable: false });
    admin = postgres({ ...embedded.admin, database: 'tidegate', max: 1, onnotice: () => {} });
    await admin`set default_transaction_read_only = off`;
    world.database = new Database(embedded.options, undefined, { pools: hastyPools });
    world.pepper = 'a pepper that is long enough for a test';
    world.operator = new Operator(world.database, buildGraph(), world.pepper);
    world.sql = postgres({ ...embedded.options, max: 1, onnotice: () => {} });
    app = await gateway({
      config: config({ serves: true }, { PORT: '0', OPERATOR_KEY }),
      database: world.database,
      schema: buildGraph(),
      pepper: world.pepper,
      log: pino({ level: 'silent' }),
    });
    world.origin = await app.listen({ port: 0, host: '127.0.0.1' });
    payee = await PayeeFixture.open(world);
    me = payee.user;
  });
  afterAll(async () => {
    await app.close();
    await world.database.close();
    await Promise.all([admin, world.sql].map((sql) => sql.end({ timeout: 1 })));
    await embedded.release();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const serving = () =>
    eventually(
      () => me.post('/v1/accounts', partnerBody()),
      ({ status }) => status === 200,
    );

  it('that accepts no writes makes them 503, still answers reads, and is not ready', async () => {
    await serving();
    await admin`alter system set default_transaction_read_only = on`;
    await admin`select pg_reload_conf()`;
    await eventually(
      () => world.sql`show transaction_read_only`,
      ([row]) => row!.transaction_read_only === 'on',
    );
    const [write, took] = await milliseconds(me.post('/v1/accounts', partnerBody()));
    expect(unavailable(write)).toEqual(is503);
    expect(took).toBeLessThan(2_000);
    expect((await me.get('/v1/accounts')).status).toBe(200);
    const [ready, soon] = await milliseconds(readyz(world.origin));
    expect([ready, soon < 2_000]).toEqual([[503, 'read only'], true]);
    await admin`alter system reset default_transaction_read_only`;
    await admin`select pg_reload_conf()`;
    await serving();
    expect(await readyz(world.origin)).toBe(200);
  });

  it('whose connections are from a time when it accepted no writes gets writes over new ones', async () => {
    await serving();
    await admin`alter role tidegate set default_transaction_read_only = on`;
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'tidegate'`;
    const write = await me.post('/v1/accounts', partnerBody());
    expect(unavailable(write)).toEqual(is503);
    await admin`alter role tidegate reset default_transaction_read_only`;
    const replies = await Promise.all(Array.from({ length: 10 }, () => me.post('/v1/accounts', partnerBody())));
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  it('that has no connection left makes requests 503, and is not ready', async () => {
    await admin`alter role tidegate connection limit 0`;
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'tidegate'`;
    const [[read, took], [write], [ready, soon]] = await Promise.all([
      milliseconds(me.get('/v1/accounts')),
      milliseconds(me.post('/v1/accounts', partnerBody())),
      milliseconds(readyz(world.origin)),
    ]);
    expect([unavailable(read), unavailable(write)]).toEqual([is503, is503]);
    expect(took).toBeLessThan(5_500);
    expect([ready, soon < 2_000]).toEqual([[503, 'no database'], true]);
    await admin`alter role tidegate connection limit -1`;
    await serving();
    expect(await readyz(world.origin)).toBe(200);
  });

  // The readiness probe writes as a write would. The test limits temporary files instead of filling a disk.
  it('that has no room for files is not ready', async () => {
    await admin`alter role tidegate set temp_file_limit = '64kB'`;
    expect(await readyz(world.origin)).toEqual([503, 'disk full']);
    await admin`alter role tidegate reset temp_file_limit`;
    expect(await readyz(world.origin)).toBe(200);
  });

  it('with a dead connection, which the network dropped without notice, is used over other connections', async () => {
    await serving();
    const rows =
      await admin`select pid from pg_stat_activity where application_name in ('tidegate read', 'tidegate write')`;
    const pids = rows.map(({ pid }) => pid as number);
    signal(pids, 'SIGSTOP');
    try {
      const [first, took] = await milliseconds(me.get('/v1/accounts'));
      expect(unavailable(first)).toEqual(is503);
      expect(took).toBeLessThan(5_500);
      await eventually(
        () => me.get('/v1/accounts'),
        ({ status }) => status === 200,
      );
      await serving();
    } finally {
      signal(pids, 'SIGCONT');
    }
  });

  it('that hangs is detected, gets no requests meanwhile, and loses and repeats no write', async () => {
    const checkout = await payee.checkoutFixture();
    const key = randomUUID();
    const body = partnerBody();
    const ask = () => me.post('/v1/accounts', body, { 'idempotency-key': key });
    await serving();
    const pids = processes(folder);
    signal(pids, 'SIGSTOP');
    try {
      const [[ready, soon], [write, long], [read]] = await Promise.all([
        milliseconds(readyz(world.origin)),
        milliseconds(ask()),
        milliseconds(me.get('/v1/accounts')),
      ]);
      expect([ready, soon < 2_000]).toEqual([[503, 'no database'], true]);
      expect([unavailable(write), unavailable(read)]).toEqual([is503, is503]);
      expect(long).toBeLessThan(5_500);

      const later = await milliseconds(
        Promise.all([
          ask(),
          me.get('/v1/accounts'),
          me.graph('{ accounts { nodes { id } } }'),
          readyz(world.origin),
          fetch(checkout.url),
          askOperator(world.origin),
        ]),
      );
      const [again, list, graph, stillReady, page, operator] = later[0];
      expect([again, list].map(unavailable)).toEqual([is503, is503]);
      expect([graph.codes[0], graph.headers.get('retry-after')]).toEqual(['service_unavailable', '1']);
      // A balancer keeps the gateway, which answers as the APIs promise.
      expect(await servez(world.origin)).toBe(200);
      expect(stillReady).toEqual([503, 'no database']);
      expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1']);
      expect(operator.headers.get('retry-after')).toBe('1');
      expect(later[1]).toBeLessThan(1_000);
    } finally {
      signal(pids, 'SIGCONT');
    }
    const made = await eventually(ask, ({ status }) => status === 200);
    expect((await ask()).body).toEqual(made.body);
    const [row] =
      await world.sql`select count(*)::int as n from account where nickname = ${body.nickname} and not livemode`;
    expect(row!.n).toBe(1);
    expect(await readyz(world.origin)).toBe(200);
  });

  it('that disappeared is reported within 5 s to the first request, and at once to those after it', async () => {
    await serving();
    // Tests run without durability, and this one loses the server: what exists is written first.
    await admin`checkpoint`;
    const [parent, ...backends] = processes(folder);
    process.kill(parent!, 'SIGKILL');
    // A child that has not noticed yet that its parent is gone answers once more.
    await until(() => !backends.some(alive));
    const [first, took] = await milliseconds(me.get('/v1/accounts'));
    expect([unavailable(first), took < 5_500]).toEqual([is503, true]);
    const [next, soon] = await milliseconds(
      Promise.all([me.get('/v1/accounts'), me.post('/v1/accounts', partnerBody()), readyz(world.origin)]),
    );
    expect([unavailable(next[0]), unavailable(next[1]), next[2]]).toEqual([is503, is503, [503, 'no database']]);
    expect(soon).toBeLessThan(1_000);
    const restarted = await startEmbedded({ dir: path.join(folder, 'postgres'), durable: false });
    await serving();
    await restarted.release();
  });
});

/** The server's processes: the first, and its children. */
function processes(dataDir: string): number[] {
  const { pid } = postmaster(dataDir)!;
  return [pid, ...childrenOf(pid)];
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) process.kill(pid, name);
}
