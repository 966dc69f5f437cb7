import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedded } from '../../src/db/embedded/lease.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import {
  alive,
  behind,
  childrenOf,
  type Finished,
  type Gateway,
  postmaster,
  until,
  useChildren,
} from '../support/child.js';
import { details, eventually, nickname, payoutAddressBody, type Reply, type Speaker } from '../support/world.js';
import { hasty } from '../support/patient.js';

// Each test starts Node and PostgreSQL, which takes long on a busy machine.

const children = useChildren();

/** The folder of the chapters that only need an existing demo. */
let DATA_DIR: string;
beforeAll(async () => {
  DATA_DIR = await children.preparedFolder('demo');
});

const createPlatform = ['account', 'create', '--type=platform', '--edition=1', '--legal-name=Root Traders', '--json'];

type Account = { id: string; nickname: string; addresses: { nodes: { category: string }[] } };

// The first two are interrupted while one seeds and the other waits for it: a seeding takes the longest, so one of them
// serves both chapters.
describe('two first starts at the same time in an empty folder, after two that were interrupted there', () => {
  let gateway: Gateway;
  let other: Gateway;
  /** The demo of both, compared with those of later starts. */
  let whole: Account[];
  let interrupted: { outputs: string[]; ends: unknown[]; tenants: string[] };
  let prepared: string;
  const DATA_DIR = children.folder();
  beforeAll(async () => {
    prepared = await children.preparedFolder('demo');
    const impatient = [children.start({ DATA_DIR }), children.start({ DATA_DIR })];
    // A part of the demo exists; the rest takes much longer.
    await until(() => Boolean(postmaster(DATA_DIR)?.socket));
    let sql = behind(DATA_DIR);
    // None before the server answers and has its tables.
    const tenants = () => sql`select tenant_id as id from account`.catch(() => []);
    await until(async () => (await tenants()).length > 2);
    await sql.end();
    const { pid } = postmaster(DATA_DIR)!;
    for (const child of impatient) child.signal('SIGINT');
    const ends = await Promise.all(impatient.map(({ ended }) => ended));
    await until(() => !alive(pid));
    interrupted = { outputs: impatient.map(({ out }) => out), ends, tenants: [] };

    [gateway, other] = await Promise.all([children.gateway({ DATA_DIR }), children.gateway({ DATA_DIR })]);
    whole = await demo(gateway);
    sql = behind(DATA_DIR);
    interrupted.tenants = (await tenants()).map(({ id }) => id as string);
    await sql.end();
  }, 180_000);

  it('are complete although a part existed, which an end without a PostgreSQL left', async () => {
    expect(interrupted).toMatchObject({ outputs: ['', ''], ends: [0, 0] });
    const uninterrupted = await children.gateway({ DATA_DIR: prepared });
    expect(named(whole)).toEqual(named(await demo(uninterrupted)));
    expect(await uninterrupted.stop()).toBe(0);
  });

  it('both serve, with one demo for both, beside the part of the first ones', async () => {
    expect(Object.keys(gateway.keys)).toEqual(['1', '2']);
    expect(other.keys).toEqual(gateway.keys);
    expect(await demo(other)).toEqual(whole);
    const shown = Object.values(gateway.keys).map((key) => key.split('_')[2]!);
    const tenants = new Set(interrupted.tenants);
    expect(shown.filter((tenant) => tenants.has(tenant))).toHaveLength(2);
    // Two tenants of each attempt, or the first of the interrupted one; no third attempt.
    expect([3, 4]).toContain(tenants.size);
  });

  it('show a demo with a quarter of trade in all features of an edition, and a correct ledger', async () => {
    const sql = behind(DATA_DIR);
    // What the interrupted starts left is in any state.
    const tenants = Object.values(gateway.keys).map((key) => `'${key.split('_')[2]}'`);
    /** The different values of each edition in test mode, where the demo trades. */
    const found = async (
      table: string,
      value: string,
      account: string,
    ): Promise<Partial<Record<string, unknown[]>>> => {
      const rows = await sql.unsafe(`select a.edition, array_agg(distinct ${value} order by ${value}) as values
        from ${table} t join account a on a.tenant_id = t.tenant_id and a.livemode = t.livemode and a.id = t.${account}
        where not t.livemode and t.tenant_id in (${tenants.join()}) group by 1`);
      return Object.fromEntries(rows.map((row) => [row.edition, row.values]));
    };
    const both = <T>(values: T) => ({ 1: values, 2: values });

    const [deposits] = await sql`select count(*)::int as count, max(created) - min(created) as seconds from deposit`;
    expect(deposits!.count).toBeGreaterThan(300);
    expect(Number(deposits!.seconds)).toBeGreaterThan(80 * 86_400);
    expect(await found('account', `t.kind || ' ' || t.status`, 'id')).toEqual(
      both([
        ...['connected_user activated', 'connected_user draft', 'partner activated', 'partner draft'],
        'platform activated',
      ]),
    );
    expect(await found('deposit', 't.payment_method', 'to_account_id')).toEqual({
      1: [
        ...['affirm', 'afterpay', 'check', 'domestic_credit', 'domestic_debit', 'domestic_fast_credit'],
        ...['domestic_wire', 'global_wire', 'klarna'],
      ],
      2: ['card', 'upi'],
    });
    expect(await found('deposit', 't.status', 'to_account_id')).toEqual(
      both(['cancelled', 'completed', 'failed', 'reversed']),
    );
    // Disputes have negative amounts.
    expect(await found('deposit', 't.amount < 0', 'to_account_id')).toEqual(both([false, true]));
    expect(await found('checkout', 't.status', 'to_account_id')).toEqual({ 2: ['completed', 'expired'] });
    // The payouts of the last midnight complete within a minute, and settle what is locked until then.
    expect(await found('payout', 't.status', 'account_id')).toEqual(
      both(expect.arrayContaining(['completed', 'failed'])),
    );
    expect(await found('receivable', 't.status', 'account_id')).toEqual(
      both(expect.arrayContaining(['open', 'settled', 'void'])),
    );
    // Exports of goods have the purpose codes of goods, and every compartment has money.
    expect(
      await sql`select count(*)::int as n from receivable where transaction_type = 'goods'
        and purpose_code not like 'P01%'`,
    ).toEqual([{ n: 0 }]);
    for (const edition of [1, 2] as const) {
      const { body } = await gateway
        .speaker(gateway.keys[edition]!)
        .graph(
          '{ balanceAggregate { pending { amount } } accounts(type: [USER], first: 50) { nodes { balance { ' +
            'available { amount } pending { amount } } } } }',
        );
      const some = (money: { amount: string }[]) => money.some(({ amount }) => Number(amount) > 0);
      expect(some(body.data.balanceAggregate.pending)).toBe(true);
      const traders = body.data.accounts.nodes.filter(({ balance }: any) => some(balance.pending));
      expect(traders.length).toBeGreaterThan(1);
    }
    expect([...(await sql`select rule, what from violations`)]).toEqual([]);
    await sql.end();
  });

  it(
    'print the addresses of the dashboard, the explorer, the documentation ' +
      "and the operator's console, and a working key of the demo of each edition",
    async () => {
      expect(gateway.out.split('\n').slice(0, 5)).toEqual([
        `Tidegate is listening on ${gateway.origin}`,
        `  Dashboard ${gateway.origin}/dashboard`,
        `  Explorer  ${gateway.origin}/graphiql`,
        `  Docs      ${gateway.origin}/docs`,
        `  Operators ${gateway.origin}/operator`,
      ]);
      expect(gateway.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

      for (const edition of [1, 2] as const) {
        const reply = await gateway
          .speaker(gateway.keys[edition]!)
          .graph('{ viewer { account { edition type status } } }');
        expect(reply.body.data.viewer.account).toEqual({ edition, type: 'PLATFORM', status: 'ACTIVATED' });
      }
    },
  );

  it('serve the explorer to a browser, at its own address and at that of the graph', async () => {
    for (const place of ['/graphiql', '/graphql']) {
      const page = await fetch(`${gateway.origin}${place}`, { headers: { accept: 'text/html,*/*;q=0.8' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(await page.text()).toContain('<title>Tidegate');
    }
  });

  // A program gets the graph's response there, and never a page.
  it('answer a request without a key as the graph, unless a browser sent it', async () => {
    const reply = await fetch(`${gateway.origin}/graphql?query={__typename}`);

    expect(reply.status).toBe(401);
    expect((await reply.json()).errors[0].extensions.code).toBe('AUTHENTICATION_REQUIRED');
  });

  it('answer liveness and readiness probes without a key', async () => {
    const [health, ready] = [await fetch(`${gateway.origin}/healthz`), await fetch(`${gateway.origin}/readyz`)];

    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('make a third start on a taken port fail with a message, without effect on their PostgreSQL', async () => {
    const third = children.start({ DATA_DIR, PORT: new URL(gateway.origin).port });

    expect(await third.ended).toBe(1);
    expect(third.errors).toMatch(
      /^Tidegate could not start\.\nPORT: another program listens on port \d+ of 127\.0\.0\.1 \(EADDRINUSE\)\.\n$/,
    );
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  });

  it('share a PostgreSQL that ends with the last of them', async () => {
    const { pid } = postmaster(DATA_DIR)!;
    expect(await other.stop()).toBe(0);
    expect((await gateway.speaker(gateway.keys[1]!).get('/v1/accounts')).status).toBe(200);

    // Ctrl-C has the same effect as SIGTERM.
    gateway.signal('SIGINT');
    expect([await gateway.ended, alive(pid), postmaster(DATA_DIR)]).toEqual([0, false, undefined]);
  });

  it('are followed by a start that prints the same keys and seeds nothing again', async () => {
    const next = await children.gateway({ DATA_DIR });

    expect(next.keys).toEqual(gateway.keys);
    expect(await demo(next)).toEqual(whole);
    expect(await next.stop()).toBe(0);
  });
});

describe('a sudden end', () => {
  const promised: Reply[] = [];
  const names = (time: string) => Array.from({ length: 6 }, (_, i) => `${time} the end of the database ${i}`);
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await children.gateway({ DATA_DIR });
  });

  it('of the gateway leaves no PostgreSQL behind, and loses no acknowledged partner', async () => {
    const { pid } = postmaster(DATA_DIR)!;
    const acknowledged = new Map<string, string>();
    const unanswered: string[] = [];
    const enough = 21;
    let killed = false;
    const write = async () => {
      while (!killed) {
        const nickname = `acknowledged or not ${randomUUID()}`;
        const reply = await create(gateway, nickname).catch(() => undefined);
        if (reply === undefined) unanswered.push(nickname);
        else expect(reply.status).toBe(200);
        if (reply) acknowledged.set(nickname, reply.body.id);
      }
    };
    const writers = Promise.all([write(), write(), write(), write()]);
    await until(() => acknowledged.size >= enough);

    killed = true;
    gateway.signal('SIGKILL');
    await Promise.all([gateway.ended, writers]);
    await until(() => !alive(pid));

    gateway = await children.gateway({ DATA_DIR });
    const sql = behind(DATA_DIR);
    const stored = await sql`select id, nickname from account where type = 'partner' and nickname like 'acknowledged%'`;
    const ids = new Map(stored.map(({ id, nickname }) => [nickname, id]));
    expect(Object.fromEntries([...acknowledged.keys()].map((name) => [name, ids.get(name)]))).toEqual(
      Object.fromEntries(acknowledged),
    );
    // A client without a response retries with the same key, and has one partner, not two.
    for (const nickname of unanswered) {
      const again = await create(gateway, nickname);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([
        200,
        ids.has(nickname) ? 'true' : null,
      ]);
    }
    const twice =
      await sql`select nickname from account where type = 'partner' group by tenant_id, nickname having count(*) > 1`;
    expect([...twice]).toEqual([]);
    await sql.end();
  });

  it('of PostgreSQL does not end the gateway, which answers the requests under way and starts it again', async () => {
    const { pid } = postmaster(DATA_DIR)!;
    const before = await Promise.all(names('before').map((name) => create(gateway, name)));
    expect(before.map(({ status }) => status)).toEqual(Array(6).fill(200));

    const under = names('while').map((name) => answered(create(gateway, name)));
    process.kill(pid, 'SIGKILL');
    const probes = [answered(fetch(`${gateway.origin}/readyz`)), answered(fetch(`${gateway.origin}/healthz`))] as const;
    const answers = await Promise.all(under);
    const [ready, health] = await Promise.all(probes);

    expect([...answers, ready]).not.toContain('no answer');
    const replies = answers as Reply[];
    for (const { status, body, headers } of replies.filter((answer) => answer.status !== 200)) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      expect(body).toEqual({
        object: 'error',
        http_status_code: 503,
        errors: [{ code: 'service_unavailable', message: expect.any(String), metadata: {} }],
      });
    }
    expect([200, 503]).toContain((ready as Response).status);
    expect((health as Response).status).toBe(200);
    promised.push(...before, ...replies.filter(({ status }) => status === 200));
  });

  it('of PostgreSQL lasts a short time, and loses nothing acknowledged', async () => {
    const platform = gateway.speaker(gateway.keys[1]!);
    await eventually(
      () => platform.get('/v1/accounts'),
      ({ status }) => status === 200,
    );
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    const again = await Promise.all(promised.map(({ body }) => platform.get(`/v1/accounts/${body.id}`)));
    expect(again.map(({ body }) => body)).toEqual(promised.map(({ body }) => body));
    expect([gateway.over, gateway.errors]).toEqual([false, '']);

    const { pid } = postmaster(DATA_DIR)!;
    expect([await gateway.stop(), alive(pid)]).toEqual([0, false]);
  });
});

describe('SIGTERM', () => {
  let gateway: Gateway;
  let sql: postgres.Sql;
  let user: string;

  /** A request that waits for a lock of the test: for five seconds at most, by the gateway's own limit. */
  const waiting = async (): Promise<{ reply: Promise<Reply | undefined>; letGo: () => Promise<void> }> => {
    await sql`insert into patience values (true)`;
    const platform = gateway.speaker(gateway.keys[1]!);
    const reply = platform.post(`/v1/accounts/${user}`, { metadata: { note: 'kept' } }).catch(() => undefined);
    await until(async () => (await sql`select from pg_stat_activity where wait_event = 'PgSleep'`).length > 0);
    return { reply, letGo: () => sql`delete from patience`.then(() => {}) };
  };

  const ready = () =>
    fetch(`${gateway.origin}/readyz`).then(
      ({ status }) => status,
      () => 'refused',
    );
  const draining = () => eventually(ready, (answer) => answer !== 200);

  const start = async (environment: Record<string, string> = {}) => {
    gateway = await children.gateway({ DATA_DIR, ...environment });
    const found = await gateway.speaker(gateway.keys[1]!).get('/v1/accounts?status=draft');
    user = found.body.data[0].id;
    sql = behind(DATA_DIR);
    await sql.unsafe(`
      create table if not exists patience (held boolean);
      delete from patience;
      create or replace function be_patient() returns trigger language plpgsql as $$
      begin
        while exists (select from patience) loop perform pg_sleep(0.02); end loop;
        return new;
      end $$;
      create or replace trigger be_patient before update on account
        for each row when (new.id = '${user}') execute function be_patient()`);
  };

  it('lets a request under way finish, accepts no others, and ends PostgreSQL too', async () => {
    await start();
    const { pid } = postmaster(DATA_DIR)!;
    const { reply, letGo } = await waiting();

    gateway.signal('SIGTERM');
    await draining();
    expect([503, 'refused']).toContain(await ready());
    await letGo();

    expect([(await reply)?.status, (await reply)?.body.metadata]).toEqual([200, { seeded: 'demo', note: 'kept' }]);
    await sql.end();
    expect(await gateway.ended).toBe(0);
    expect([alive(pid), postmaster(DATA_DIR)]).toEqual([false, undefined]);
    expect(gateway.errors).toBe('');
  });

  it('ends the gateway at once when it is repeated after a second, and leaves no PostgreSQL behind', async () => {
    await start();
    const { pid } = postmaster(DATA_DIR)!;
    const { reply } = await waiting();

    const began = performance.now();
    gateway.signal('SIGTERM');
    await draining();
    // Within a second it repeats the first, as npm and a terminal send it.
    await until(() => {
      gateway.signal('SIGTERM');
      return gateway.over;
    });
    expect(performance.now() - began).toBeGreaterThan(1_000);
    // The lock is still held, so only the second signal can have ended the gateway.
    expect(await gateway.ended).toBe(1);
    expect(await reply).toBeUndefined();
    await sql.end({ timeout: 1 });
    await until(() => !alive(pid));
  });

  it('waits no longer than DRAIN_SECONDS for a request that does not end', async () => {
    await start({ DRAIN_SECONDS: '1' });
    const { pid } = postmaster(DATA_DIR)!;
    const { reply } = await waiting();

    gateway.signal('SIGTERM');
    expect(await gateway.ended).toBe(1);
    expect(await reply).toBeUndefined();
    await sql.end({ timeout: 1 });
    await until(() => !alive(pid));
  });
});

describe('a failed start', () => {
  /** What a gateway and a command print for these settings; neither may repeat a password. */
  const said = async (environment: Record<string, string>) => {
    const gateway = children.start({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    const command = await children.quickCommand(environment, 'account', 'list');
    expect([await gateway.ended, command.code]).toEqual([1, 2]);
    expect(gateway.errors).toBe(`Tidegate could not start.\n${command.errors}`);
    expect(command.errors).not.toContain('canary');
    return command.errors;
  };
  const at = (url: string) => ({ DATABASE_URL: url, API_KEY_PEPPER: 'a pepper that is long enough for a test' });

  it('prints its step and the message of PostgreSQL or of the system', async () => {
    const there = await children.database();
    const { DATABASE_URL: url } = there;
    expect(await said(at(url.replace('tidegate@', 'stranger:canary@')))).toBe(
      'While connecting to PostgreSQL: role "stranger" does not exist (28000)\n',
    );
    expect(await said(at(url.replace(/child_\w+/, 'nowhere')))).toBe(
      'While connecting to PostgreSQL: database "nowhere" does not exist (3D000)\n',
    );
    expect(await said(at('postgres://u:canary@127.0.0.1:1/x'))).toMatch(
      /^While connecting to PostgreSQL: .*ECONNREFUSED.*127\.0\.0\.1:1.*\n$/,
    );
  });

  it('is reported within five seconds when a server accepts the connection and does not answer', async () => {
    let taken = 0;
    const sockets: net.Socket[] = [];
    const silent = net.createServer((socket) => {
      taken ||= performance.now();
      sockets.push(socket);
    });
    await new Promise<void>((resume) => silent.listen(0, '127.0.0.1', resume));
    const { port } = silent.address() as net.AddressInfo;
    const gateway = children.start({
      ...at(`postgres://u:canary@127.0.0.1:${port}/x`),
      TRUSTED_PROXY: '127.0.0.1',
    });
    expect(await gateway.ended).toBe(1);
    const seconds = (performance.now() - taken) / 1000;
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(gateway.errors).toMatch(
      /^Tidegate could not start\.\nWhile connecting to PostgreSQL: [^\n]*(CONNECT_TIMEOUT|did not answer)[^\n]*\n$/,
    );
    expect(seconds).toBeLessThan(5);
  });

  it('does not become one when a signal ends it', async () => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      const sockets: net.Socket[] = [];
      const silent = net.createServer((socket) => void sockets.push(socket));
      await new Promise<void>((resume) => silent.listen(0, '127.0.0.1', resume));
      const { port } = silent.address() as net.AddressInfo;
      const gateway = children.start({ ...at(`postgres://u@127.0.0.1:${port}/x`), TRUSTED_PROXY: '127.0.0.1' });
      await until(() => sockets.length > 0);
      gateway.signal(name);
      expect([await gateway.ended, gateway.out, gateway.errors]).toEqual([0, '', '']);
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });

  it('names DATA_DIR when the folder cannot be written', async () => {
    const file = path.join(children.folder(), 'a file');
    fs.writeFileSync(file, '');
    for (const folder of [file, path.join(file, 'below')])
      expect(await said({ DATA_DIR: folder })).toMatch(
        new RegExp(`^DATA_DIR: the folder ${folder} cannot be written \\(E(NOTDIR|EXIST)\\)\\.\\n$`),
      );
  });

  it('names API_KEY_PEPPER when two first starts at the same time have different ones', async () => {
    const there = await children.database({ migrated: true });
    const starts = ['one', 'another'].map((name) =>
      children.start({
        ...there,
        API_KEY_PEPPER: `${name} pepper that is long enough for a test`,
        TRUSTED_PROXY: '::1',
      }),
    );
    await until(() => starts.some(({ over }) => over) && starts.some(({ out }) => out.includes('is listening')));
    const lost = starts.find(({ over }) => over)!;
    expect(lost.errors).toMatch(/^Tidegate could not start\.\nAPI_KEY_PEPPER: /);
    // A further pepper is accepted together with the known one, and alone from then on.
    const known = lost === starts[0] ? 'another' : 'one';
    const other = 'a further pepper that is long enough for a test';
    const list = (pepper: string) => children.quickCommand({ ...there, API_KEY_PEPPER: pepper }, 'account', 'list');
    expect((await list(other)).errors).toMatch(/^API_KEY_PEPPER: /);
    expect((await list(`${other},${known} pepper that is long enough for a test`)).code).toBe(0);
    expect((await list(other)).code).toBe(0);
  });
});

// A terminal, a container and a service manager know npm's process, or the group of all processes, and not the
// gateway's.
// Each test starts npm twice, the compiler, and the gateway.
describe('npm start', () => {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-npm-'));
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await children.preparedFolder('migrated');
    fs.chmodSync(project, 0o755);
    // A copy, because it compiles the program that the other tests run meanwhile.
    const root = fileURLToPath(new URL('../..', import.meta.url));
    // With what is built, so that each build only finds that nothing has changed.
    for (const part of [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'src',
      'drizzle',
      'schema',
      'docs',
      'dist',
    ])
      fs.cpSync(path.join(root, part), path.join(project, part), { recursive: true, preserveTimestamps: true });
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(project, 'node_modules'));
    build();
  });
  afterAll(() => fs.rmSync(project, { recursive: true, force: true }));
  const build = () => expect(spawnSync('npm', ['run', '--silent', 'build'], { cwd: project }).status).toBe(0);

  // A program that runs or starts meanwhile reads these files.
  it('builds, before it starts, nothing that is built, and a changed asset as a whole', () => {
    const built = (...part: string[]) => path.join(project, 'dist', ...part);
    const written = () =>
      new Map(
        fs
          .readdirSync(built(), { recursive: true, encoding: 'utf8' })
          .map((name) => [name, fs.statSync(built(name))] as const)
          .map(([name, { ino, mtimeMs }]) => [name, `${ino} ${mtimeMs}`]),
      );
    const before = written();
    const asset = path.join('server', 'assets', 'start.css');
    expect(before.has(asset)).toBe(true);
    build();
    expect(written()).toEqual(before);
    fs.appendFileSync(path.join(project, 'src', asset), '/* changed */\n');
    // What was open before the change is as it was.
    const open = fs.openSync(built(asset), 'r');
    const text = fs.readFileSync(built(asset), 'utf8');
    build();
    expect(fs.readFileSync(open, 'utf8')).toBe(text);
    fs.closeSync(open);
    expect(fs.readFileSync(built(asset), 'utf8')).toBe(`${text}/* changed */\n`);
    const changed = [...written()].filter(([name, state]) => before.get(name) !== state).map(([name]) => name);
    expect(changed.toSorted()).toEqual(['.built', path.dirname(asset), asset]);
  }, 120_000);

  type End = [how: string, workers: string, end: (npm: number) => void];
  const ends: End[] = [
    ['SIGTERM to npm', '1', (npm) => process.kill(npm, 'SIGTERM')],
    ['Ctrl-C, of several processes', '2', (npm) => process.kill(-npm, 'SIGINT')],
    ['the end of the terminal, of several processes', '2', (npm) => process.kill(-npm, 'SIGHUP')],
    ['SIGTERM to all of them', '2', (npm) => process.kill(-npm, 'SIGTERM')],
    ['Ctrl-C', '1', (npm) => process.kill(-npm, 'SIGINT')],
  ];
  it.each(ends)(
    'finishes what is under way on %s, and leaves no process behind',
    async (_, WORKERS, end) => {
      const npm = children.npmStart(project, { DATA_DIR: dataDir, WORKERS });
      try {
        const gateway = await npm;
        const { keys } = JSON.parse((await children.quickCommand({ DATA_DIR: dataDir }, ...createPlatform)).out);
        const { pid } = postmaster(dataDir)!;
        const sql = behind(dataDir);
        await sql.unsafe(`
        create table if not exists patience (held boolean); insert into patience values (true);
        create or replace function be_patient() returns trigger language plpgsql as $$
        begin
          while exists (select from patience) loop perform pg_sleep(0.02); end loop;
          return new;
        end $$;
        create or replace trigger be_patient before insert on account for each row execute function be_patient()`);
        const reply = gateway
          .speaker(keys.test)
          .post('/v1/accounts', { type: 'partner', nickname: nickname(), business_details: details() });
        await until(async () => (await sql`select from pg_stat_activity where wait_event = 'PgSleep'`).length > 0);
        end(gateway.pid);
        await until(() =>
          // One of several processes may accept a connection that no other serves any more.
          fetch(`${gateway.origin}/readyz`, { signal: AbortSignal.timeout(500) }).then(
            ({ status }) => status !== 200,
            () => true,
          ),
        );
        await sql`delete from patience`;
        expect((await reply).status).toBe(200);
        await sql.end({ timeout: 1 });
        await gateway.ended;
        await until(() => !alive(pid) && groupOf(gateway.pid).length === 0);
      } finally {
        for (const left of groupOf((await npm).pid)) process.kill(left, 'SIGKILL');
      }
    },
    120_000,
  );
});

// The gateway cannot restart a PostgreSQL that it did not start.
describe('a separate PostgreSQL that is away for a while', () => {
  let folder: string;
  const holds: Embedded[] = [];
  const hold = async () => {
    const embedded = await startEmbedded({ dir: path.join(folder, 'postgres') });
    holds.push(embedded);
    return embedded;
  };
  afterAll(async () => {
    for (const held of holds) await held.release();
  });

  it('loses no response, and is used again as soon as it is back', async () => {
    folder = await children.preparedFolder('migrated');
    const { host } = (await hold()).options;
    const environment = {
      DATABASE_URL: `postgres://tidegate@localhost/tidegate?host=${encodeURIComponent(host)}`,
      API_KEY_PEPPER: 'a pepper that is long enough for a test',
    };
    const made = await children.quickCommand(environment, ...createPlatform);
    const gateway = await children.gateway({ ...environment, ...hasty, TRUSTED_PROXY: '127.0.0.1' });
    const speaker = gateway.speaker(JSON.parse(made.out).keys.test, { 'x-forwarded-proto': 'https' });
    const ask = (nickname: string) =>
      speaker.post(
        '/v1/accounts',
        { type: 'partner', nickname, business_details: details() },
        { 'idempotency-key': nickname },
      );
    const kept = await ask('before');
    expect(kept.status).toBe(200);

    const { pid } = postmaster(folder)!;
    const backends = childrenOf(pid);
    process.kill(pid, 'SIGKILL');
    // Until they notice, they still answer.
    await until(() => ![pid, ...backends].some(alive));
    const [one, other, list] = await Promise.all([ask('one'), ask('other'), speaker.get('/v1/accounts')].map(answered));
    const [ready, health] = await Promise.all(
      ['/readyz', '/healthz'].map((at) => answered(fetch(gateway.origin + at))),
    );

    for (const reply of [one, other, list])
      expect(reply).toMatchObject({ status: 503, codes: ['service_unavailable'], body: { object: 'error' } });
    expect([ready, health]).toEqual([
      expect.objectContaining({ status: 503 }),
      expect.objectContaining({ status: 200 }),
    ]);
    await hold();
    const again = await eventually(
      () => ask('one'),
      ({ status }) => status === 200,
    );
    expect((await ask('one')).body).toEqual(again.body);
    expect((await speaker.get(`/v1/accounts/${kept.body.id}`)).body).toEqual(kept.body);
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    expect([gateway.over, gateway.errors]).toEqual([false, '']);
  });
});

describe('behind a trusted proxy, on a separate PostgreSQL', () => {
  let gateway: Gateway;
  let key: string;
  let before: Finished;
  beforeAll(async () => {
    const environment = await children.database();
    gateway = await children.gateway({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    before = await children.quickCommand(environment, 'account', 'list', '--json');
    const made = await children.quickCommand(environment, ...createPlatform);
    key = JSON.parse(made.out).keys.test;
  });
  afterAll(() => gateway.stop());

  // NODE_ENV is not set here: without it, too, the schema is not public.
  it('suggests no names of the schema', async () => {
    const { status, text } = await gateway
      .speaker(key, { 'x-forwarded-proto': 'https' })
      .graph('{ viewr { edition } }');
    expect([status, text]).toEqual([400, expect.stringContaining('viewr')]);
    expect(text).not.toMatch(/did you mean/i);
  });

  it('seeds no demo and prints no key', async () => {
    expect(before).toEqual({ code: 0, out: '{"accounts":[]}\n', errors: '' });
    expect(gateway.out).not.toContain('sk_');
    expect(gateway.keys).toEqual({});
  });

  it('refuses a plain request before it reads the key or the body', async () => {
    const domainError = {
      object: 'error',
      http_status_code: 403,
      errors: [{ code: 'https_required', message: 'Plain HTTP is not accepted. Use HTTPS.', metadata: {} }],
    };
    const authorizations = [{ authorization: `Bearer ${key}` }, { authorization: 'Bearer sk_test_wrong' }, {}];
    for (const headers of authorizations) {
      for (const proto of [{}, { 'x-forwarded-proto': 'http' }, { 'x-forwarded-proto': 'https, http' }]) {
        for (const place of ['/v1/accounts', '/v1/nowhere']) {
          const reply = await fetch(`${gateway.origin}${place}`, { headers: { ...headers, ...proto } as never });
          expect([place, reply.status, await reply.json()]).toEqual([place, 403, domainError]);
        }
      }
    }
    const graph = await gateway.speaker(key).graph('{ viewer { account { id } } }');
    expect([graph.status, graph.codes]).toEqual([403, ['https_required']]);
    const malformed = await gateway.speaker(key).post('/v1/accounts', '{');
    expect([malformed.status, malformed.body]).toEqual([403, domainError]);
  });

  // Over plain HTTP an attacker could change the page and read the key that is typed into it.
  it('refuses the page of the explorer and its files too', async () => {
    for (const place of ['/graphiql', '/graphiql/assets/none.js', '/graphql', '/']) {
      const page = await fetch(gateway.origin + place, { headers: { accept: 'text/html' }, redirect: 'manual' });
      expect([place, page.status, page.headers.get('content-type')]).toEqual([
        place,
        403,
        'application/json; charset=utf-8',
      ]);
    }
  });

  it('serves requests that came to the proxy over HTTPS, and makes browsers require it', async () => {
    const user = gateway.speaker(key, { 'x-forwarded-proto': 'https' });

    const reply = await user.get('/v1/accounts');

    expect([reply.status, reply.body.data.length]).toEqual([200, 1]);
    expect(reply.headers.get('strict-transport-security')).toContain('max-age=31536000');
  });

  it('answers probes without HTTPS, which load balancers do not use for them', async () => {
    expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  });

  // A forwarded header is reliable only from a trusted peer.
  it('trusts no peer except the proxy', async () => {
    const stranger = await children.gateway({
      ...(await children.database({ migrated: true })),
      TRUSTED_PROXY: '10.1.2.3',
    });

    const reply = await stranger.speaker(key, { 'x-forwarded-proto': 'https' }).get('/v1/accounts');

    expect([reply.status, reply.codes]).toEqual([403, ['https_required']]);
  });
});

describe('with a certificate', () => {
  const pair = children.folder();
  const [cert, key] = [path.join(pair, 'cert.pem'), path.join(pair, 'key.pem')];
  let gateway: Gateway;
  beforeAll(async () => {
    const made = spawnSync('openssl', [
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=tidegate'.split(' '),
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ]);
    expect(made.status).toBe(0);
    gateway = await children.gateway({ DATA_DIR, TLS_CERT_FILE: cert, TLS_KEY_FILE: key });
  });
  afterAll(() => gateway.stop());

  it('serves HTTPS, logs its address, and makes browsers require it', async () => {
    expect(gateway.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const reply = await new Promise<{ status: number | undefined; insist: string | undefined; text: string }>(
      (resolve, reject) => {
        const headers = { authorization: `Bearer ${gateway.keys[1]}` };
        https
          .get(`${gateway.origin}/v1/accounts?type=platform`, { ca: fs.readFileSync(cert), headers }, (answer) => {
            let text = '';
            answer.setEncoding('utf8').on('data', (part: string) => (text += part));
            answer.on('end', () =>
              resolve({ status: answer.statusCode, insist: answer.headers['strict-transport-security'], text }),
            );
          })
          .on('error', reject);
      },
    );

    expect(reply.status).toBe(200);
    expect(reply.insist).toContain('max-age=31536000');
    expect(JSON.parse(reply.text).data.map((account: { type: string }) => account.type)).toEqual(['platform']);
  });

  it('refuses a plain request without any data', async () => {
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = net.connect(Number(new URL(gateway.origin).port), '127.0.0.1');
      socket.setEncoding('latin1').on('data', (part: string) => (text += part));
      socket.on('close', () => resolve(text)).on('error', () => {});
      socket.write(`GET /v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.keys[1]}\r\n\r\n`);
    });

    expect(received).not.toMatch(/HTTP|[{}]|account/);
    expect(received.length).toBeLessThan(10);
  });
});

describe('with the explorer, introspection and suggestions off', () => {
  let gateway: Gateway;
  let platform: Speaker;
  beforeAll(async () => {
    gateway = await children.gateway({ DATA_DIR, EXPLORER: 'false', INTROSPECTION: 'false', NODE_ENV: 'production' });
    platform = gateway.speaker(gateway.keys[1]!);
  });
  afterAll(() => gateway.stop());

  it('logs at the default level a line for each request, and none for probes', async () => {
    const asked = [await platform.get('/v1/accounts'), await platform.graph('{ viewer { account { id } } }')];
    await fetch(`${gateway.origin}/readyz`);
    const last = await platform.get('/v1/nowhere');
    // Other lines may come between them, such as one about a statement that was slow.
    const written = () => gateway.log().filter(({ msg }) => msg === 'request');
    await until(() => written().some(({ requestId }) => requestId === last.headers.get('request-id')));

    expect(written().map(({ requestId, route, status }) => [requestId, route, status])).toEqual([
      [asked[0]?.headers.get('request-id'), '/v1/accounts', 200],
      [asked[1]?.headers.get('request-id'), '/graphql', 200],
      [last.headers.get('request-id'), 'none', 404],
    ]);
  });

  it('has no page, also for browsers', async () => {
    const accept = { accept: 'text/html' };
    const reply = await fetch(`${gateway.origin}/graphiql`, { headers: accept });
    expect([reply.status, (await reply.json()).errors[0].code]).toEqual([404, 'route_missing']);
    const start = await fetch(`${gateway.origin}/`, { headers: accept });
    expect([start.status, (await start.text()).includes('/graphiql')]).toEqual([200, false]);
    const graph = await fetch(`${gateway.origin}/graphql`, { headers: accept });
    expect([graph.status, graph.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8']);
  });

  it('does not print the address of a page that it does not serve', () => {
    expect(gateway.out).not.toContain('/graphiql');
  });

  it('does not reveal its schema, also not by suggestions, and still answers', async () => {
    const asked = await platform.graph('{ __schema { queryType { name } } }');
    expect([asked.status, asked.body.data]).toEqual([400, undefined]);
    const mistyped = await platform.graph('{ viewer { accout { id } } }');
    expect([mistyped.status, mistyped.text.includes('Did you mean')]).toEqual([400, false]);
    expect((await platform.graph('{ viewer { account { type } } }')).body.data).toEqual({
      viewer: { account: { type: 'PLATFORM' } },
    });
  });
});

describe('the log', () => {
  const canary = (place: string) => `canary-${place.replaceAll(' ', '-')}`;
  let gateway: Gateway;
  let key: string;
  const replies: Reply[] = [];
  beforeAll(async () => {
    gateway = await children.gateway({ DATA_DIR, LOG_LEVEL: 'debug' });
    const made = await children.quickCommand({ DATA_DIR }, ...createPlatform);
    key = JSON.parse(made.out).keys.test;
  });
  afterAll(() => gateway.stop());

  it('has one line of JSON for each request, with the id of its response', async () => {
    const platform = gateway.speaker(key);
    const asked = [
      await platform.get('/v1/accounts'),
      await platform.get('/v1/nowhere'),
      await platform.post('/v1/accounts', '{'),
      await platform.graph('{ viewer { account { id } } }'),
      await platform.graph('{ viewer { accout { id } } }'),
      await gateway.speaker('sk_test_wrong').get('/v1/accounts'),
    ];
    expect(asked.map(({ status }) => status)).toEqual([200, 404, 400, 200, 400, 401]);
    const ids = asked.map(({ headers }) => headers.get('request-id'));
    expect(asked[3]?.body.extensions.requestId).toBe(ids[3]);
    expect(new Set(ids).size).toBe(6);
    const lines = () =>
      gateway.log().filter(({ requestId, msg }) => ids.includes(requestId as string) && msg === 'request');
    // A line is written after the response was sent, so it may appear a moment later.
    await until(() => lines().length >= 6);

    expect(lines().map(({ requestId, method, route, status }) => [requestId, method, route, status])).toEqual([
      [ids[0], 'GET', '/v1/accounts', 200],
      [ids[1], 'GET', 'none', 404],
      [ids[2], 'POST', '/v1/accounts', 400],
      [ids[3], 'POST', '/graphql', 200],
      [ids[4], 'POST', '/graphql', 400],
      [ids[5], 'GET', '/v1/accounts', 401],
    ]);
    const own = lines()[0]!;
    expect(own.account).toMatch(/^account_/);
    expect([own.mode, typeof own.milliseconds, own.key]).toEqual(['test', 'number', expect.stringMatching(/^key_/)]);
  });

  it('has no secret and nothing that a client sent, for every outcome of a request', async () => {
    const platform = gateway.speaker(key, { 'user-agent': canary('user agent'), cookie: `a=${canary('cookie')}` });
    const send = async (reply: Promise<Reply>, status: number) => {
      const answered = await reply;
      expect([answered.status, answered.text]).toEqual([status, expect.any(String)]);
      replies.push(answered);
      return answered;
    };
    const user = (
      await send(
        platform.graph(
          'mutation ($i: CreateConnectedUserInput!) { createConnectedUser(input: $i) { account { id } } }',
          {
            i: { nickname: canary('nickname'), metadata: { [canary('metadata key')]: canary('metadata') } },
          },
        ),
        200,
      )
    ).body.data.createConnectedUser.account.id;
    const taxCard = { tax_card_number: canary('tax card') };
    const named = { account_id: user, full_name: canary('person'), relationship: { owner: true } };
    const iban = 'GB33BUKB20201555555555';
    const bank = { number: canary('account number'), domestic_credit: canary('routing'), iban };
    const address = payoutAddressBody(user, {
      name: canary('holder'),
      bank_account: bank,
      billing_details: { line1: canary('street'), city: 'a', state: 'b', postal_code: 'c', country: 'IN' },
    });
    const partner = { type: 'partner', nickname: canary('nickname'), business_details: details(canary('legal name')) };
    const idempotent = { 'idempotency-key': canary('idempotency key') };
    const fresh = (await send(platform.graph('mutation { createApiKey(input: { permission: FULL }) { secret } }'), 200))
      .body.data.createApiKey.secret;
    await send(platform.post('/v1/persons', { ...named, identification: taxCard }, idempotent), 200);
    await send(
      platform.post('/v1/persons', { ...named, identification: { tax_card_number: 'other' } }, idempotent),
      400,
    );
    await send(platform.post('/v1/addresses', address), 200);
    await send(platform.post('/v1/addresses', { ...address, currency: canary('currency') }), 400);
    await send(platform.post('/v1/accounts', partner), 409);
    await send(platform.post('/v1/accounts', `{ "${canary('malformed')}": `), 400);
    await send(platform.post('/v1/accounts', { [canary('parameter')]: 1 }), 400);
    await send(platform.get(`/v1/accounts?${canary('query')}=${canary('query value')}`), 400);
    await send(platform.get(`/v1/accounts?starting_after=${canary('cursor')}`), 400);
    await send(platform.get(`/v1/accounts/${canary('path')}`), 404);
    await send(platform.get(`/v1/${canary('place')}/x?api_key=${key}`), 404);
    await send(platform.with({ 'on-behalf-of': canary('on behalf') }).get('/v1/accounts'), 404);
    await send(platform.upload('identity_document', Buffer.from(canary('content')), canary('filename')), 400);
    await send(
      platform.graph(`query ${canary('x').replaceAll('-', '_')} { account(id: "${canary('literal')}") { id } }`),
      200,
    );
    await send(platform.graph('query ($id: ID!) { account(id: $id) { id } }', { id: canary('variable') }), 200);
    await send(platform.graph(`{ ${canary('field').replaceAll('-', '_')} }`), 400);
    await send(gateway.speaker(`${fresh.slice(0, -1)}${fresh.endsWith('0') ? '1' : '0'}`).get('/v1/accounts'), 401);
    await send(gateway.speaker(canary('key')).get('/v1/accounts'), 401);
    const basic = Buffer.from(`${fresh}:${canary('password')}`).toString('base64');
    replies.push(await platform.get('/v1/accounts', { authorization: `Basic ${basic}` }));
    expect(replies.at(-1)?.status).toBe(401);

    // An internal error: the failing statement contains what the client sent.
    const sql = behind(DATA_DIR);
    await sql.unsafe('alter table person rename to person_elsewhere');
    await send(platform.post('/v1/persons', { ...named, identification: taxCard }), 500);
    await send(platform.get(`/v1/persons?account_id=${user}&starting_after=${canary('lost cursor')}`), 500);
    await sql.unsafe('alter table person_elsewhere rename to person');
    await sql.end();

    const last = replies.at(-1)?.headers.get('request-id');
    await until(() => gateway.log().filter(({ requestId }) => requestId === last).length === 2);
    const output = `${gateway.out}${gateway.errors}`;
    expect(output.match(/canary[-_a-z]*/gi)).toBeNull();
    expect(output).not.toContain(iban);
    for (const secret of [key, fresh, basic]) expect(output.includes(secret)).toBe(false);
    // The embedded server writes a separate log, next to the data.
    const beside = fs.readFileSync(path.join(DATA_DIR, 'postgres', 'postgres.log'), 'utf8');
    expect(beside.match(/canary[-_a-z]*/gi)).toBeNull();
    for (const secret of [key, fresh, basic]) expect(beside.includes(secret)).toBe(false);
  });

  it('has a line for an internal error, with the id of the request', () => {
    const faults = replies.filter(({ status }) => status === 500);
    expect(faults.length).toBe(2);
    for (const fault of faults) {
      const lines = gateway.log().filter(({ requestId }) => requestId === fault.headers.get('request-id'));
      expect(lines.map(({ msg }) => msg)).toEqual(['fault', 'request']);
      expect(fault.body).toEqual({
        object: 'error',
        http_status_code: 500,
        errors: [{ code: 'service_fault', message: expect.any(String), metadata: {} }],
      });
    }
  });
});

/** Retries last five seconds; a request without a response after more than twice that time is lost. */
function answered<T>(reply: Promise<T>): Promise<T | 'no answer'> {
  return Promise.race([reply, new Promise<'no answer'>((resolve) => setTimeout(resolve, 12_000, 'no answer'))]);
}

/** A partner of the platform of the first demo, created under an idempotency key so that it can be retried. */
function create(gateway: Gateway, nickname: string): Promise<Reply> {
  return gateway
    .speaker(gateway.keys[1]!)
    .post(
      '/v1/accounts',
      { type: 'partner', nickname, business_details: details() },
      { 'idempotency-key': nickname.replaceAll(' ', '-') },
    );
}

/** The processes of a group. */
function groupOf(id: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,pid='], { encoding: 'utf8' });
  const all = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return all.filter(([of]) => of === id).map(([, pid]) => pid!);
}

/** Everything that the demo has, of both editions: accounts with what belongs to them, by name. */
async function demo(gateway: Gateway): Promise<Account[]> {
  const query = `{ accounts(first: 40) { nodes { id nickname type
    partners(first: 50) { nodes { id nickname } } addresses(first: 50) { nodes { id category } }
    persons(first: 50) { nodes { id fullName } } apiKeys(first: 50) { nodes { id } } } } }`;
  const found = await Promise.all(
    ([1, 2] as const).map(async (edition) => {
      const key = gateway.keys[edition];
      if (key === undefined) throw new Error(`There is no demo of Edition ${edition}.`);
      const { body } = await gateway.speaker(key).graph(query);
      return body.data.accounts.nodes as Account[];
    }),
  );
  // The sandbox issues receiving addresses later; they are not part of the seed.
  const seeded = ({ addresses, ...rest }: Account) => ({
    ...rest,
    addresses: { nodes: addresses.nodes.filter(({ category }) => category !== 'SERVICE_RECEIVE') },
  });
  return found.flat().map(seeded);
}

/** The same by name, without the ids, which differ at every seeding and determine the order within a second. */
function named(accounts: Account[]): Record<string, unknown> {
  return Object.fromEntries(accounts.map((account) => [account.nickname, nameless(account)]));
}

function nameless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => JSON.stringify(nameless(member))).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'id')
      .map(([name, member]) => [name, nameless(member)]),
  );
}
