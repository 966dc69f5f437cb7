import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Database } from '../../src/db/database.js';
import { programVersion } from '../../src/db/schema/schema-version.js';
import { seedEdition } from '../../src/server/demo/demo.js';
import { versionText } from '../../src/server/build/print-schema.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { Operator } from '../../src/operator/operator.js';
import { makeCertificate } from '../support/certificate.js';
import { Bouncer, bouncerProgram } from '../support/bouncer.js';
import { type Gateway, until, useChildren } from '../support/child.js';
import { freePort } from '../support/ports.js';
import { details, eventually, type Speaker } from '../support/world.js';

const children = useChildren();
const createPlatform = ['account', 'create', '--type=platform', '--edition=2', '--legal-name=Root Traders', '--json'];
const own = programVersion();

/**
 * Opens connections of the superuser and of others to a database of the run's PostgreSQL, and closes them after the
 * tests.
 */
const connections: postgres.Sql[] = [];
const connect = (url: string, { username, ...more }: { username?: string; connection?: object } = {}) => {
  const database = new URL(url).pathname.slice(1);
  const sql = postgres({
    ...inject('admin'),
    ...(username && { username }),
    database,
    max: 1,
    onnotice: () => {},
    ...more,
  } as never) as postgres.Sql;
  connections.push(sql);
  return sql;
};
afterAll(async () => {
  await Promise.all(connections.map((sql) => sql.end({ timeout: 1 })));
});

/** The text of a function in the database. */
const bodyOf = async (sql: postgres.Sql, name: string) =>
  (await sql`select prosrc from pg_proc where proname = ${name}`)[0]!.prosrc as string;
/** Changes a function of the database, as another version of the program would. */
const mark = (sql: postgres.Sql) =>
  sql.unsafe(
    `create or replace function touch_api_key(p_tenant text, p_live boolean, p_id text) returns void language plpgsql as
      $$ begin /* another version */ end $$`,
  );
const marked = async (sql: postgres.Sql) => (await bodyOf(sql, 'touch_api_key')).includes('another version');

describe('the version of the schema', () => {
  it('increases with every change of a migration or function file: run `npm run schema` after such a change', () => {
    const text = fs.readFileSync('drizzle/version.json', 'utf8');
    expect(versionText(JSON.parse(text))).toBe(text);
    const { version } = JSON.parse(versionText({ ...JSON.parse(text), sha256: 'of other files' }));
    expect(version).toBe(own.version + 1);
  });

  it('is stored, and an older program reports it and changes nothing', async () => {
    const environment = await children.database();
    const sql = connect(environment.DATABASE_URL);
    const migrated = await children.quickCommand(environment, 'migrate', '--json');
    expect(migrated).toEqual({ code: 0, out: `{"migrated":true,"version":${own.version}}\n`, errors: '' });
    // A second run has nothing to do, and says so.
    const again = await children.quickCommand(environment, 'migrate', '--json');
    expect(again).toEqual({ code: 0, out: `{"migrated":false,"version":${own.version}}\n`, errors: '' });
    expect(await sql`select version, sha256 from drizzle.schema_version`).toEqual([
      { version: own.version, sha256: own.sha256 },
    ]);
    await mark(sql);
    await sql`update drizzle.schema_version set version = ${own.version + 1}, serves_from = ${own.version + 1}, sha256 =
      ''`;

    const newer = `The database is at version ${own.version + 1}, newer than this program's version ${own.version}.`;
    const command = await children.quickCommand(environment, 'migrate');
    expect(command).toEqual({
      code: 2,
      out: '',
      errors: expect.stringMatching(/^[^\n]+ Nothing was changed: [^\n]+\n$/),
    });
    expect(command.errors).toContain(newer);
    const gateway = children.start({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    expect(await gateway.ended).toBe(1);
    expect(gateway.errors).toBe(
      `Tidegate could not start.\n${newer} Only programs from version ${own.version + 1} on can serve it: ` +
        `start a newer program.\n`,
    );
    expect(await marked(sql)).toBe(true);
  });

  // During a rolling deploy, a gateway of the previous release may have to start again.
  it('that is newer is served by the older program if the newer version allows it', async () => {
    const environment = await children.database({ migrated: true });
    const sql = connect(environment.DATABASE_URL);
    await mark(sql);
    await sql`update drizzle.schema_version set version = ${own.version + 1}, serves_from = ${own.version}, sha256 =
      ''`;

    const gateway = await children.gateway({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    expect(gateway.errors).toBe(
      `The database is at version ${own.version + 1}, newer than this program's version ${own.version}. This ` +
        `program serves it without changing it.\n`,
    );
    expect(await gateway.stop()).toBe(0);
    expect(await marked(sql)).toBe(true);
  });

  // Before versions were stored, a program compared its function files with this table and applied those that differed.
  it('prevents a program from before versions were stored from restoring its functions', async () => {
    const environment = await children.database({ migrated: true });
    const sql = connect(environment.DATABASE_URL, { username: 'tidegate' });
    await sql.unsafe('create table if not exists drizzle.function_file (name text primary key, sha256 text not null)');
    await expect(sql.unsafe('select name, sha256 from drizzle.function_file')).rejects.toThrow('does not exist');
  });

  it('is reached from a database from before versions were stored', async () => {
    const environment = await children.database({ migrated: true });
    const sql = connect(environment.DATABASE_URL, { username: 'tidegate' });
    await mark(sql);
    await sql.unsafe(`drop view drizzle.function_file; drop view violations; drop table drizzle.schema_version,
      drizzle.runtime_role, drizzle.pepper;
      create table drizzle.function_file (name text primary key, sha256 text not null); insert into
      drizzle.function_file values ('key.sql', 'x')`);

    expect(await children.quickCommand(environment, 'account', 'list')).toEqual({
      code: 2,
      out: '',
      errors:
        `The database is not migrated to any numbered version; this program needs version ${own.version}. Run ` +
        `the command "tidegate migrate", or start the gateway, which does so.\n`,
    });
    const gateway = await children.gateway({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    expect([await marked(sql), await gateway.stop()]).toEqual([false, 0]);
  });
});

describe('a migration', () => {
  it('is run by `tidegate migrate` and by no other command, nor by a gateway without the setting for it', async () => {
    const environment = await children.database();
    const sql = connect(environment.DATABASE_URL);
    const tables = async () => (await sql`select from pg_tables where schemaname in ('public', 'drizzle')`).length;
    for (const words of [['account', 'list'], ['ledger', 'audit'], ['key', 'list', '--account=x'], createPlatform]) {
      const { code, out, errors } = await children.quickCommand(environment, ...words);
      expect([words, code, out, errors]).toEqual([words, 2, '', expect.stringContaining('"tidegate migrate"')]);
    }
    const serving = { ...environment, TRUSTED_PROXY: '127.0.0.1', MIGRATE: 'never' };
    const refused = children.start(serving);
    expect(await refused.ended).toBe(1);
    expect(refused.errors).toBe(
      `Tidegate could not start.\nThe database is not migrated to any numbered version; this program needs ` +
        `version ${own.version}. Run the command "tidegate migrate".\n`,
    );
    expect(await tables()).toBe(0);

    expect((await children.quickCommand(environment, 'migrate')).code).toBe(0);
    const gateway = await children.gateway(serving);
    expect((await children.quickCommand(environment, 'account', 'list', '--json')).out).toBe('{"accounts":[]}\n');
    expect(await gateway.stop()).toBe(0);
  });

  it('changes nothing when one of its files cannot be applied, and reports the failed step and reason', async () => {
    const environment = await children.database({ migrated: true });
    const sql = connect(environment.DATABASE_URL, { username: 'tidegate' });
    await mark(sql);
    await sql.unsafe(`drop view violations; create view violations as select 1 as other;
      update drizzle.schema_version set version = 0, sha256 = ''`);

    const { code, errors } = await children.quickCommand(environment, 'migrate');
    expect([code, errors]).toEqual([
      2,
      expect.stringMatching(/^While migrating the database: cannot change name of view column /),
    ]);
    expect(await marked(sql)).toBe(true);
    expect(await sql`select version from drizzle.schema_version`).toEqual([{ version: 0 }]);
  });

  it('reports who holds its lock, and fails at the limit', async () => {
    const environment = { ...(await children.database()), MIGRATION_LOCK_SECONDS: '3' };
    const forgotten = connect(environment.DATABASE_URL, {
      username: 'tidegate',
      connection: { application_name: 'a forgotten pooler' },
    });
    const [{ pid } = { pid: 0 }] = await forgotten<[{ pid: number }]>`
      select pg_backend_pid() as pid, pg_advisory_lock(hashtextextended('tidegate:migrate', 0))`;
    const holder =
      `held by the connection with pid ${pid} of role "tidegate", application "a forgotten pooler", from the ` +
      'local socket, idle since ';

    const waiting = await children.quickCommand(environment, 'migrate');
    expect([waiting.code, waiting.out]).toEqual([2, '']);
    expect(waiting.errors).toContain(`Waiting up to 3 s for the lock for "migrate": it is ${holder}`);
    expect(waiting.errors).toContain(`The lock for "migrate" was not free within 3 s: it is ${holder}`);
    expect(waiting.errors).toContain('MIGRATION_URL');
  });

  it.each<[string, () => Record<string, string>]>([
    ['one process', () => ({ TRUSTED_PROXY: '127.0.0.1' })],
    ['two processes', () => ({ TRUSTED_PROXY: '127.0.0.1', WORKERS: '2' })],
    ['a certificate', () => makeCertificate(children.folder())],
  ])('holds a start with %s, whose probes and APIs say so', async (_, more) => {
    const environment = await children.database();
    const holder = connect(environment.DATABASE_URL, { username: 'tidegate' });
    await holder`select pg_advisory_lock(hashtextextended('tidegate:migrate', 0))`;
    const settings = { ...environment, ...more(), MIGRATION_LOCK_SECONDS: '600', PORT: String(await freePort()) };
    const tls = 'TLS_CERT_FILE' in settings;
    const ask = async (path: string, method = 'GET') => {
      const to = { host: 'localhost', port: settings.PORT, path, method, ...(tls && { rejectUnauthorized: false }) };
      const [reply] = (await once((tls ? https : http).request(to).end(), 'response')) as [http.IncomingMessage];
      return [reply.statusCode, reply.headers['retry-after'], JSON.parse(await text(reply))];
    };
    const probes = ['/healthz', '/servez', '/readyz'];

    const gateway = children.start(settings);
    await until(() => gateway.errors.includes('Waiting up to 600 s for the lock for "migrate"') || gateway.over);
    expect(await Promise.all(probes.map((path) => ask(path)))).toEqual([
      [200, undefined, { status: 'ok' }],
      [503, '1', { status: 'starting' }],
      [503, '1', { status: 'starting' }],
    ]);
    expect([await ask('/v1/deposits', 'POST'), await ask('/graphql', 'POST')]).toMatchObject([
      [503, '1', { http_status_code: 503, errors: [{ code: 'service_unavailable' }] }],
      [503, '1', { errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] }],
    ]);
    await holder`select pg_advisory_unlock_all()`;
    await until(() => gateway.out.includes('Tidegate is listening') || gateway.over);
    expect(await Promise.all(probes.map((path) => ask(path)))).toEqual(
      probes.map(() => [200, undefined, { status: 'ok' }]),
    );
    gateway.signal('SIGTERM');
    expect(await gateway.ended).toBe(0);
  });
});

describe('an owner and a serving role', () => {
  const tag = randomUUID().slice(0, 8);
  const [owner, runtime] = [`owner_${tag}`, `runtime_${tag}`];
  let environment: { DATABASE_URL: string; API_KEY_PEPPER: string };
  let admin: postgres.Sql;
  let serving: Record<string, string>;
  let gateway: Gateway;
  const urlOf = (role: string) => environment.DATABASE_URL.replace('tidegate@', `${role}@`);
  const migrated = () => children.quickCommand({ DATABASE_URL: urlOf(owner) }, 'migrate', '--grant-to', runtime);
  const audit = async () =>
    JSON.parse((await children.quickCommand(serving, 'ledger', 'audit', '--json')).out).violations;

  beforeAll(async () => {
    environment = await children.database();
    admin = connect(environment.DATABASE_URL);
    const { pathname } = new URL(environment.DATABASE_URL);
    await admin.unsafe(`create role ${owner} login; create role ${runtime} login;
      alter database ${pathname.slice(1)} owner to ${owner}`);
    serving = { ...environment, DATABASE_URL: urlOf(runtime), TRUSTED_PROXY: '127.0.0.1' };
  });
  afterAll(async () => {
    await gateway?.stop();
    await admin.unsafe(
      `reassign owned by ${owner} to postgres; drop owned by ${owner}, ${runtime}; drop role ${owner}, ${runtime}`,
    );
  });

  it('are separate: the role serves, and has no privilege to change the schema or the ledger', async () => {
    expect(await migrated()).toMatchObject({ code: 0, errors: '' });
    const made = await children.quickCommand(serving, ...createPlatform);
    expect(made).toMatchObject({ code: 0, errors: '' });
    // No migration is pending, so a role that cannot migrate also starts by default.
    gateway = await children.gateway(serving);
    const platform = gateway.speaker(JSON.parse(made.out).keys.test, { 'x-forwarded-proto': 'https' });
    await trade(platform);
    // A quarter of trade, with every kind of write, and the work of a worker.
    const database = new Database({
      ...inject('admin'),
      username: runtime,
      database: new URL(serving.DATABASE_URL!).pathname.slice(1),
    });
    const pepper = serving.API_KEY_PEPPER!;
    const editions = [1, 2] as const;
    const operator = new Operator(database, buildGraph(), pepper);
    await Promise.all(editions.map((edition) => seedEdition(operator, pepper, edition, 1, () => {})));
    await database.close();
    // Edition 2 is paid out in the currency that it receives.
    const kinds = [
      'deposit',
      'dispute',
      'payout',
      'payout_end',
      'reversal',
      ...(editions[0] === 1 ? ['conversion'] : []),
    ];
    expect(await admin`select kind from posting group by 1 order by 1`).toEqual(
      expect.arrayContaining(kinds.map((kind) => ({ kind }))),
    );
    expect(await audit()).toEqual([]);
    expect((await children.quickCommand(serving, 'ledger', 'verify', '--json')).code).toBe(0);
    expect(gateway.log().filter(({ level }) => Number(level) >= 50)).toEqual([]);

    const sql = connect(environment.DATABASE_URL, { username: runtime });
    const forbidden = [
      'create table mine (x int)',
      'create schema mine',
      'create table drizzle.mine (x int)',
      'alter table entry add column x int',
      'drop function touch_api_key(text, boolean, text)',
      'create or replace view violations as select 1 as x',
      'truncate account',
      'update drizzle.schema_version set version = 0',
      'insert into drizzle.runtime_role values (current_user)',
      `set role ${owner}`,
    ];
    for (const table of ['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal'])
      forbidden.push(
        `update ${table} set tenant_id = tenant_id`,
        `delete from ${table}`,
        `truncate ${table}`,
        `alter table ${table} owner to ${runtime}`,
      );
    for (const statement of forbidden)
      expect([
        statement,
        await sql.unsafe(statement).then(
          () => 'done',
          (e: { code: string }) => e.code,
        ),
      ]).toEqual([statement, '42501']);
    // PostgreSQL warns about a grant without the right to grant, and grants nothing.
    for (const table of ['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal']) {
      await sql.unsafe(`grant update, delete, truncate on ${table} to ${runtime}`);
      expect(await sql`select has_table_privilege(${runtime}, ${table}, 'update, delete, truncate') as may`).toEqual([
        { may: false },
      ]);
    }
  });

  it('are too few for what needs the owner, which the commands say', async () => {
    const folder = path.join(os.tmpdir(), `tidegate-no-backup-${process.pid}`);
    const needs = 'This needs the role that owns the tables: name it in MIGRATION_URL.\n';
    for (const [args, step] of [
      [['backup', folder], 'backing up'],
      [['migrate', '--grant-to', runtime], 'migrating'],
    ] as const) {
      const { code, errors } = await children.quickCommand(serving, ...args);
      expect([code, errors]).toEqual([2, expect.stringContaining(`While ${step} the database: permission denied`)]);
      expect(errors.endsWith(needs)).toBe(true);
    }
    expect(fs.existsSync(folder)).toBe(false);
  });

  it('are restored after a restore without privileges, and the audit reports what is missing until then', async () => {
    // The result of `pg_restore --no-acl`: every table has the privileges of a new table of its owner.
    await admin.unsafe(`revoke all on all tables in schema public, drizzle from ${runtime};
      revoke usage on schema public, drizzle from ${runtime}, public;
      grant all on posting, entry, contra_entry, seal_block, posting_seal to ${owner}`);
    const lost = await children.quickCommand(serving, 'account', 'list');
    expect(lost).toMatchObject({
      code: 2,
      errors: expect.stringMatching(
        /^While connecting to PostgreSQL: permission denied for schema drizzle \(42501\)\n/,
      ),
    });
    const found = await admin`select what from violations where rule = 'append-only is not enforced' order by 1`;
    expect(found.map(({ what }) => what)).toContain(`entry: ${owner} has UPDATE`);
    expect(found).toHaveLength(15);

    expect(await migrated()).toMatchObject({ code: 0, errors: '' });
    expect(await audit()).toEqual([]);
    expect((await children.quickCommand(serving, 'account', 'list')).code).toBe(0);
  });

  it.each([
    [
      'a grant to the role',
      (to: string) => `grant update on entry to ${to}`,
      (to: string) => `revoke update on entry from ${to}`,
      (to: string) => `entry: ${to} has UPDATE`,
    ],
    [
      'a grant to everybody',
      () => 'grant delete on posting to public',
      () => 'revoke delete on posting from public',
      () => 'posting: PUBLIC has DELETE',
    ],
    [
      'a membership that brings it',
      (to: string) => `grant pg_write_all_data to ${to}`,
      (to: string) => `revoke pg_write_all_data from ${to}`,
      (to: string) => `seal_block: ${to} has UPDATE`,
    ],
    [
      'a membership in the owner',
      (to: string) => `grant ${owner} to ${to}`,
      (to: string) => `revoke ${owner} from ${to}`,
      (to: string) => `the serving role ${to} is a member of ${owner}, which owns the tables`,
    ],
    [
      'a superuser',
      (to: string) => `alter role ${to} superuser`,
      (to: string) => `alter role ${to} nosuperuser`,
      (to: string) => `the serving role ${to} is a superuser`,
    ],
  ] as const)('are reported as broken by %s', async (_, breaks, mends, what) => {
    await admin.unsafe(breaks(runtime));
    const found = await admin`select what from violations where rule = 'append-only is not enforced'`;
    await admin.unsafe(mends(runtime));
    expect(found.map((row) => row.what)).toContain(what(runtime));
    expect(await admin`select what from violations where rule = 'append-only is not enforced'`).toEqual([]);
  });

  it.each([
    ['that does not exist', () => 'nowhere', 'There is no role "nowhere" on this server: create it first.\n'],
    [
      'that is a superuser',
      () => 'postgres',
      'The role "postgres" is a superuser, from which no privilege can be withheld.\n',
    ],
  ])('refuse a role %s', async (_, role, message) => {
    const refused = await children.quickCommand({ DATABASE_URL: urlOf(owner) }, 'migrate', '--grant-to', role());
    expect(refused).toEqual({ code: 2, out: '', errors: message });
  });
});

/** Some writes through both APIs, by a platform of Edition 2. */
async function trade(platform: Speaker): Promise<void> {
  const done = async (reply: Promise<{ status: number; text: string; body: any }>) => {
    const { status, text, body } = await reply;
    expect([status, text]).toEqual([200, text]);
    return body;
  };
  const made = await done(
    platform.graph(
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
      { input: { nickname: randomUUID() } },
    ),
  );
  const user = platform.actingFor(made.data.createConnectedUser.account.id);
  const partner = await done(
    user.post('/v1/accounts', {
      type: 'partner',
      nickname: randomUUID(),
      business_details: { ...details(), type: 'business' },
    }),
  );
  expect((await done(user.get(`/v1/accounts/${partner.id}`))).id).toBe(partner.id);
  await done(
    platform.post('/v1/persons', {
      account_id: made.data.createConnectedUser.account.id,
      full_name: 'Asha Rao',
      relationship: { owner: true },
      identification: { tax_card_number: 'ABCPE1234F' },
    }),
  );
  await done(user.upload('invoice', Buffer.from('%PDF-1.4 a document')));
  const own = await done(platform.post('/v1/test_helpers/clock', { advance_seconds: 60 }));
  expect(own.object).toBe('clock');
  const events = await eventually(
    () => platform.get('/v1/events'),
    ({ body }) => body.data.length > 3,
  );
  expect(events.status).toBe(200);
}

// `.ci/run` installs PgBouncer where it can; elsewhere these chapters are skipped, and the line shows why.
describe.skipIf(!bouncerProgram)(
  `behind PgBouncer in transaction mode${bouncerProgram ? '' : ' (skipped: no pgbouncer is installed)'}`,
  () => {
    let bouncer: Bouncer;
    let environment: { DATABASE_URL: string; API_KEY_PEPPER: string };
    let admin: postgres.Sql;
    let pooled: Record<string, string>;

    const start = async (more: Record<string, string> = {}) => {
      bouncer = new Bouncer();
      await bouncer.start(more);
      const { pathname } = new URL(environment.DATABASE_URL);
      pooled = {
        ...environment,
        DATABASE_URL: `postgres://tidegate@127.0.0.1:${bouncer.port}${pathname}`,
        TRUSTED_PROXY: '127.0.0.1',
      };
    };
    const stop = () => bouncer.stop();
    beforeAll(async () => {
      environment = await children.database();
      admin = connect(environment.DATABASE_URL);
    });

    it('reports the parameter that PgBouncer does not accept', async () => {
      await start({ ignore_startup_parameters: '' });
      const refused = await children.quickCommand(pooled, 'account', 'list');
      await stop();
      expect(refused).toEqual({
        code: 2,
        out: '',
        errors: expect.stringMatching(
          /^While connecting to PostgreSQL: unsupported startup parameter: (statement|lock)_timeout /,
        ),
      });
    });

    describe('that ignores the limits of a session', () => {
      beforeAll(() => start());
      afterAll(stop);

      it('is not served until the role has these limits', async () => {
        const gateway = children.start(pooled);
        expect(await gateway.ended).toBe(1);
        expect(gateway.errors).toContain("alter role … set statement_timeout = '60000ms'");
        const { pathname } = new URL(environment.DATABASE_URL);
        const role = `alter role tidegate in database ${pathname.slice(1)} set`;
        await admin.unsafe(`${role} statement_timeout = '60s'; ${role} lock_timeout = '15s'`);
        // Connections from before keep their settings. Wait for their end, or PgBouncer might use one of them once
        // more.
        await admin`select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = 'tidegate'
          and datname = current_database()`;
      });

      it('leaves no lock of a migration behind, and serves', async () => {
        const settings = { ...pooled, PREPARED_STATEMENTS: 'false', MIGRATION_LOCK_SECONDS: '2' };
        for (let time = 0; time < 3; time++) {
          expect(await children.quickCommand(settings, 'migrate')).toMatchObject({ code: 0, errors: '' });
          expect(
            await admin`select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database
              where datname = current_database())`,
          ).toHaveLength(0);
        }
        const gateways = [await children.gateway(settings), await children.gateway(settings)];
        const made = await children.quickCommand(settings, ...createPlatform);
        expect(made).toMatchObject({ code: 0, errors: '' });
        const [one, other] = gateways.map((gateway) =>
          gateway.speaker(JSON.parse(made.out).keys.test, { 'x-forwarded-proto': 'https' }),
        ) as [Speaker, Speaker];
        await trade(one);
        const reads = Array.from({ length: 60 }, (_, i) =>
          (i % 2 ? one : other).get(`/v1/accounts?limit=${1 + (i % 7)}`),
        );
        const writes = Array.from({ length: 30 }, (_, i) =>
          (i % 2 ? one : other).graph(
            'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
            { input: { nickname: `pooled ${i}` } },
          ),
        );
        const replies = await Promise.all([...reads, ...writes]);
        expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
        expect(new Set(replies.slice(60).map(({ body }) => body.data.createConnectedUser.account.id)).size).toBe(30);
        expect(JSON.parse((await children.quickCommand(settings, 'ledger', 'audit', '--json')).out).violations).toEqual(
          [],
        );
        for (const gateway of gateways) expect([await gateway.stop(), gateway.errors]).toEqual([0, '']);
      });

      // A session lock stays on the pooler's connection after its client has disconnected: older programs left such
      // locks.
      it('migrates at MIGRATION_URL, and reports which connection holds a lock that was left', async () => {
        const left = postgres(pooled.DATABASE_URL!, { max: 1, fetch_types: false, prepare: false });
        const [{ pid } = { pid: 0 }] = await left<
          [{ pid: number }]
        >`select pg_backend_pid() as pid, pg_advisory_lock(hashtextextended('tidegate:migrate', 0))`;
        await left.end();
        const settings = { ...pooled, MIGRATION_URL: environment.DATABASE_URL, MIGRATION_LOCK_SECONDS: '1' };
        const refused = await children.quickCommand(settings, 'migrate');
        expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining(`pid ${pid} of role "tidegate"`)]);
        await admin`select pg_terminate_backend(${pid})`;
        expect(await children.quickCommand(settings, 'migrate')).toMatchObject({ code: 0, errors: '' });
      });
    });
  },
);
