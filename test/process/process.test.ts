import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { alive } from '../support/alive.js';
import { behind, type Gateway, postmaster, until, useChildren } from '../support/child.js';
import { details, eventually, type Reply } from '../support/world.js';
import { demoIn } from './process-fixture.js';

// Each test starts Node and PostgreSQL, which takes long on a busy machine.

const children = useChildren();
const { folder } = demoIn(children);

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
  });

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
    gateway = await children.gateway({ DATA_DIR: folder.DATA_DIR });
  });

  it('of the gateway leaves no PostgreSQL behind, and loses no acknowledged partner', async () => {
    const { pid } = postmaster(folder.DATA_DIR)!;
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

    gateway = await children.gateway({ DATA_DIR: folder.DATA_DIR });
    const sql = behind(folder.DATA_DIR);
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
    const { pid } = postmaster(folder.DATA_DIR)!;
    const before = await Promise.all(names('before').map((name) => create(gateway, name)));
    expect(before.map(({ status }) => status)).toEqual(Array(6).fill(200));

    const under = names('while').map((name) => create(gateway, name));
    process.kill(pid, 'SIGKILL');
    const probes = [fetch(`${gateway.origin}/readyz`), fetch(`${gateway.origin}/healthz`)] as const;
    const replies = await Promise.all(under);
    const [ready, health] = await Promise.all(probes);

    for (const { status, body, headers } of replies.filter((answer) => answer.status !== 200)) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      expect(body).toEqual({
        object: 'error',
        http_status_code: 503,
        errors: [{ code: 'service_unavailable', message: expect.any(String), metadata: {} }],
      });
    }
    expect([200, 503]).toContain(ready.status);
    expect(health.status).toBe(200);
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

    const { pid } = postmaster(folder.DATA_DIR)!;
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
    gateway = await children.gateway({ DATA_DIR: folder.DATA_DIR, ...environment });
    const found = await gateway.speaker(gateway.keys[1]!).get('/v1/accounts?status=draft');
    user = found.body.data[0].id;
    sql = behind(folder.DATA_DIR);
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
    const { pid } = postmaster(folder.DATA_DIR)!;
    const { reply, letGo } = await waiting();

    gateway.signal('SIGTERM');
    await draining();
    expect([503, 'refused']).toContain(await ready());
    await letGo();

    expect([(await reply)?.status, (await reply)?.body.metadata]).toEqual([200, { seeded: 'demo', note: 'kept' }]);
    await sql.end();
    expect(await gateway.ended).toBe(0);
    expect([alive(pid), postmaster(folder.DATA_DIR)]).toEqual([false, undefined]);
    expect(gateway.errors).toBe('');
  });

  it('ends the gateway at once when it is repeated after a second, and leaves no PostgreSQL behind', async () => {
    await start();
    const { pid } = postmaster(folder.DATA_DIR)!;
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
    const { pid } = postmaster(folder.DATA_DIR)!;
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
    expect(await said(at(url.replace('tidegate@', 'outsider:canary@')))).toBe(
      'While connecting to PostgreSQL: role "outsider" does not exist (28000)\n',
    );
    expect(await said(at(url.replace(/child_\w+/, 'nowhere')))).toBe(
      'While connecting to PostgreSQL: database "nowhere" does not exist (3D000)\n',
    );
    expect(await said(at('postgres://u:canary@127.0.0.1:1/x'))).toMatch(
      /^While connecting to PostgreSQL: .*ECONNREFUSED.*127\.0\.0\.1:1.*\n$/,
    );
  });

  it('is reported when a server accepts the connection and does not answer', async () => {
    const sockets: net.Socket[] = [];
    const silent = net.createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resume) => silent.listen(0, '127.0.0.1', resume));
    const { port } = silent.address() as net.AddressInfo;
    const gateway = children.start({
      ...at(`postgres://u:canary@127.0.0.1:${port}/x`),
      TRUSTED_PROXY: '127.0.0.1',
    });
    expect(await gateway.ended).toBe(1);
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(gateway.errors).toMatch(
      /^Tidegate could not start\.\nWhile connecting to PostgreSQL: [^\n]*(CONNECT_TIMEOUT|did not answer)[^\n]*\n$/,
    );
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
