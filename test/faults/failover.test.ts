import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { Database } from '../../src/db/database.js';
import { makeCertificate } from '../support/certificate.js';
import { type Gateway, until, useChildren } from '../support/child.js';
import { type Server, Servers } from '../support/standby.js';
import { details, type Reply, type Speaker } from '../support/world.js';
import { hasty } from '../support/patient.js';

const children = useChildren();
const folder = children.folder();
const servers = new Servers(folder);
const writers = 8;

/** A primary, and a standby that has applied every write before the primary acknowledges it. */
let primary: Server;
let standby: Server;
let gateway: Gateway;
let me: Speaker;

let tenant = '';

beforeAll(async () => {
  const [first, second] = [await servers.copy('first'), await servers.copy('second')];
  await servers.copy('tls');
  // The standby is known before the primary accepts a write, so that each write waits for it.
  primary = await servers.start(first, ['synchronous_standby_names=*', 'synchronous_commit=remote_apply']);
  standby = await servers.start(second, [], primary);
  await until(() =>
    primary.sql`select from pg_stat_replication where sync_state = 'sync'`.then(
      (rows) => rows.length === 1,
      () => false,
    ),
  );
  // The standby comes first, so that the server must be chosen by its role and not by its position.
  const places = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
  const environment = {
    ...hasty,
    DATABASE_URL: `postgres://tidegate@${places}/tidegate?target_session_attrs=primary`,
    API_KEY_PEPPER: 'a pepper that is long enough for a test',
    TRUSTED_PROXY: '127.0.0.1',
    PUBLIC_URL: 'https://pay.example',
  };
  gateway = await children.gateway(environment);
  const create = ['account', 'create', '--type=user', '--edition=1', '--legal-name=Root Traders', '--json'];
  const { account, keys } = JSON.parse((await children.command(environment, ...create)).out);
  me = gateway.speaker(keys.test, { 'x-forwarded-proto': 'https' });
  tenant = account.id.replace('account_', '');
});

afterAll(async () => {
  await gateway?.stop();
  await servers.endAll();
});

describe('a standby that is promoted when its primary is killed', () => {
  const acknowledged = { partners: [] as string[], deposits: [] as string[] };
  const answers = new Map<string, number>();
  let over = false;
  const count = () => acknowledged.partners.length + acknowledged.deposits.length;

  /** One write, sent with one key until it is acknowledged. */
  const write = async (key: string, send: (key: string) => Promise<Reply>): Promise<Reply> => {
    for (;;) {
      const reply = await send(key);
      const answer = `${reply.status} ${reply.codes.join(' ')}`.trim();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (reply.status === 200) return reply;
      if (reply.status >= 400 && reply.status !== 503 && reply.status !== 409) throw new Error(reply.text);
      await sleep(50);
    }
  };
  const writer = async (n: number): Promise<void> => {
    for (let nth = 0; !over; nth++) {
      const key = `writer ${n} write ${nth}`;
      const partner = { type: 'partner', nickname: key, business_details: details() };
      await write(key, (used) => me.post('/v1/accounts', partner, { 'idempotency-key': used }));
      acknowledged.partners.push(key);
      const deposit = { amount: '1.00', currency: 'USD' };
      const made = await write(`${key} too`, (used) => me.post('/v1/deposits', deposit, { 'idempotency-key': used }));
      acknowledged.deposits.push(made.body.id);
    }
  };

  it('continues the writes, of which none is lost, executed twice or answered with 500', async () => {
    const running = Promise.all(Array.from({ length: writers }, (_, n) => writer(n)));
    running.catch(() => {
      over = true;
    });
    await until(() => count() >= 100 || over);

    primary.process.kill('SIGKILL');
    const killed = performance.now();
    await until(async () => (await fetch(`${gateway.origin}/readyz`)).status === 503);
    expect(performance.now() - killed).toBeLessThan(2_500);
    const before = count();
    await standby.sql`select pg_promote()`;
    const promoted = performance.now();
    await until(() => count() >= before + 100 || over);
    expect(performance.now() - promoted).toBeLessThan(15_000);
    over = true;
    await running;
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    expect(
      [...answers.keys()].filter(
        (answer) => !/^(200|503 service_unavailable|409 idempotency_key_in_use)$/.test(answer),
      ),
    ).toEqual([]);

    const { sql } = standby;
    const partners = await sql`
      select nickname from account where tenant_id = ${tenant} and not livemode and type = 'partner' order by nickname`;
    expect(partners.map(({ nickname }) => nickname)).toEqual(acknowledged.partners.toSorted());
    const deposits = await sql`select id from deposit where tenant_id = ${tenant} and not livemode order by id`;
    expect(deposits.map(({ id }) => id)).toEqual(acknowledged.deposits.toSorted());
    await until(async () => (await sql`select from deposit where status <> 'completed' limit 1`).length === 0);
    const [balance] =
      await sql`select pending::text from balance where tenant_id = ${tenant} and currency = 'USD' and not livemode`;
    expect(balance!.pending).toBe(`${acknowledged.deposits.length * 100}`);
    // The invariants of the ledger hold for the role that owns it, too.
    await sql`set role tidegate`;
    expect([...(await sql`select rule, what from violations`)]).toEqual([]);
    expect([gateway.over, gateway.errors]).toEqual([false, '']);
  });
});

describe('an old primary that comes back after a promotion', () => {
  it('is seen: no gateway starts with it, and the one that runs and the doctor say which is which', async () => {
    const old = await servers.start(primary.data, [], undefined, primary.port);
    const both = {
      DATABASE_URL: `postgres://tidegate@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/tidegate`,
      API_KEY_PEPPER: 'a pepper that is long enough for a test',
      TRUSTED_PROXY: '127.0.0.1',
    };
    const started = children.start(both);
    expect(await started.ended).toBe(1);
    const rivals = [`127.0.0.1:${primary.port} (timeline 1)`, `127.0.0.1:${standby.port} (timeline 2)`];
    expect(started.errors).toContain(`${rivals.join(' and ')} each take themselves for the primary.`);
    const doctor = await children.command(both, 'doctor', '--alert', 'TidegateUnavailable', '--json');
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.out).health.slice(0, 2)).toEqual([
      expect.objectContaining({
        ...{ check: 'servers', level: 'now' },
        finding: `127.0.0.1:${primary.port} takes itself for the primary, on timeline 1, and it is not the only one.`,
        command: 'pg_ctl stop --mode=fast --pgdata=DATA',
      }),
      expect.objectContaining({
        ...{ level: 'now', finding: expect.stringContaining('on timeline 2') },
        command: 'select pg_walfile_name(pg_current_wal_lsn()), pg_postmaster_start_time()',
      }),
    ]);
    // The gateway that runs looks every 30 seconds.
    const said = () => gateway.log().filter(({ check, level }) => check === 'servers' && level === 50);
    await until(() => said().length >= 2);
    expect(said().map(({ finding }) => finding)).toEqual([
      expect.stringContaining('on timeline 2, and it is not the only one.'),
      expect.stringContaining('on timeline 1, and it is not the only one.'),
    ]);
    old.process.kill('SIGKILL');
    expect(gateway.over).toBe(false);
  });
});

describe('sslmode', () => {
  const tls = path.join(folder, 'tls');
  let server: Server;
  const files = children.folder();
  beforeAll(async () => {
    for (const host of ['localhost', 'other.example']) makeCertificate(tls, { name: host, host });
    fs.writeFileSync(
      path.join(tls, 'pg_hba.conf'),
      'hostssl tidegate tidegate all trust\nhostnossl tidegate postgres all trust\n',
    );
    owned(tls, servers.ids);
    const certificate = ['ssl=on', 'ssl_cert_file=localhost.crt', 'ssl_key_file=localhost.key'];
    server = await servers.start(tls, certificate);
    // Where the tests may read them.
    for (const name of ['localhost.crt', 'other.example.crt'])
      fs.copyFileSync(path.join(tls, name), path.join(files, name));
  });

  const address = (host: string, parameters: string) => {
    const hosts = host.split(',').map((one) => `${one}:${server.port}`);
    return `postgres://tidegate@${hosts.join(',')}/tidegate${parameters}`;
  };
  const reached = async (host: string, parameters: string): Promise<boolean> => {
    const database = new Database(connectionOf(address(host, parameters)));
    try {
      return (await database.readiness.unready()) === undefined;
    } finally {
      await database.close();
    }
  };
  const own = path.join(files, 'localhost.crt');
  const foreign = path.join(files, 'other.example.crt');

  it.each([
    ['localhost', '?sslmode=prefer'],
    ['localhost', '?sslmode=require'],
    ['127.0.0.1', '?sslmode=require'],
    ['127.0.0.1', `?sslmode=require&sslrootcert=${own}`],
    ['127.0.0.1', `?sslmode=verify-ca&sslrootcert=${own}`],
    ['localhost', `?sslmode=verify-full&sslrootcert=${own}`],
    ['localhost,localhost', `?sslmode=verify-full&sslrootcert=${own}`],
  ])('reaches a server that requires TLS: %s%s', async (host, parameters) => {
    expect(await reached(host, parameters)).toBe(true);
  });

  it.each([
    ['localhost', ''],
    ['localhost', '?sslmode=disable'],
    ['127.0.0.1', `?sslmode=require&sslrootcert=${foreign}`],
    ['127.0.0.1', `?sslmode=verify-ca&sslrootcert=${foreign}`],
    ['127.0.0.1', `?sslmode=verify-full&sslrootcert=${own}`],
    ['localhost', `?sslmode=verify-full&sslrootcert=${foreign}`],
    ['localhost', '?sslmode=verify-full&sslrootcert=system'],
    ['localhost,localhost', `?sslmode=verify-full&sslrootcert=${foreign}`],
  ])('refuses a server that is not what it should be, or is refused by it: %s%s', async (host, parameters) => {
    expect(await reached(host, parameters)).toBe(false);
  });

  it('holds for the commands, too', async () => {
    const list = (root: string) =>
      children.command(
        {
          DATABASE_URL: address('localhost', `?sslmode=verify-full&sslrootcert=${root}`),
          API_KEY_PEPPER: 'a pepper that is long enough for a test',
        },
        ...['account', 'list', '--json'],
      );
    const [right, wrong] = await Promise.all([list(own), list(foreign)]);
    expect([right.code, right.errors]).toEqual([0, '']);
    expect(wrong.code).toBe(2);
  });
});

/** Gives a copied folder to the user of the server, so that only this user can read it. */
function owned(place: string, { uid, gid }: Servers['ids']): void {
  fs.chownSync(place, uid, gid);
  const folder = fs.statSync(place).isDirectory();
  fs.chmodSync(place, folder ? 0o700 : 0o600);
  if (folder) for (const name of fs.readdirSync(place)) owned(path.join(place, name), { uid, gid });
}
