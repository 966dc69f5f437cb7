import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { single } from '../../src/db/connect/driver/connection.js';
import { makeTables, migrationFiles } from '../../src/db/schema/migrate.js';
import { programVersion } from '../../src/db/schema/schema-version.js';
import { Secrets } from '../../src/config/secrets.js';
import { behind, type Gateway, until, useChildren } from '../support/child.js';
import { figures, patience, scale, secondsSince } from '../support/scale.js';
import { details, must, type Speaker } from '../support/world.js';

vi.setConfig(patience);

const children = useChildren();
const { clients, writes } = scale.backup;
/** A write that the gateway acknowledged, with the time of its answer. */
interface Acknowledged {
  path: string;
  key: string;
  body: Record<string, unknown>;
  answer: Record<string, any>;
  at: number;
}

let DATA_DIR: string;
let gateway: Gateway;
let apiKey: string;
let over = false;
const acknowledged: Acknowledged[] = [];
const failed: string[] = [];
const parent = children.folder();
const archive = path.join(parent, 'archive');
/** What the backup command printed, and the times at which it began and ended. */
let report: { backup: string; id: string; rows: number; tables: number; bytes: number; kept_apart: string };
let [began, ended] = [0, 0];

const connect = ({ DATABASE_URL }: { DATABASE_URL: string }) => single(connectionOf(DATABASE_URL), 'a test');
const speaker = (): Speaker => gateway.speaker(apiKey);

async function write(client: number): Promise<void> {
  for (let nth = 0; !over; nth++) {
    const key = `client ${client} write ${nth}`;
    const kind = nth % 3;
    const place = ['/v1/accounts', '/v1/deposits', '/v1/receivables'][kind]!;
    const dates = { creation_date: '2026-10-01', due_date: '2026-12-01' };
    const body = [
      { type: 'partner', nickname: key, business_details: details() },
      { amount: `${1 + nth}.00`, currency: 'USD', metadata: { key } },
      {
        ...{ currency: 'USD', purpose_code: 'P0802', transaction_type: 'services' },
        invoice: { amount: '100.00', currency: 'USD', reference_number: key, ...dates },
      },
    ][kind]!;
    const reply = await speaker().post(place, body, { 'idempotency-key': key });
    if (reply.status !== 200) failed.push(`${place}: ${reply.text}`);
    else acknowledged.push({ path: place, key, body, answer: reply.body, at: performance.now() });
    // Enough is there: a steady load goes on, and leaves processor time to the backup.
    if (!scale.whole && acknowledged.length > writes) await pause(20);
  }
}

/** The rows of an append-only table of a tenant, by key, without what is set later. */
const hashes = async (sql: postgres.Sql, table: string) =>
  new Map(
    (await sql.unsafe(`select to_jsonb(t) - 'number' as row from ${table} t`)).map(({ row }) => {
      const text = JSON.stringify(row);
      return [createHash('sha256').update(text).digest('hex'), text] as const;
    }),
  );

const json = async (environment: Record<string, string>, ...args: string[]) => {
  const finished = await children.quickCommand(environment, ...args, '--json');
  expect([finished.code, finished.out.slice(0, 1)], finished.errors).toEqual([0, '{']);
  return { ...JSON.parse(finished.out), errors: finished.errors } as Record<string, any>;
};

beforeAll(async () => {
  DATA_DIR = await children.preparedFolder('migrated');
  gateway = await children.gateway({ DATA_DIR, LOG_LEVEL: 'error', RATE_LIMIT: 'off' });
  const made = await json({ DATA_DIR }, 'account', 'create', '--type=user', '--edition=1', '--legal-name=Root Traders');
  apiKey = (made as any).keys.test;
  const hook = { url: 'https://example.com/', event_types: ['webhook_endpoint.tested'] };
  expect((await speaker().post('/v1/webhook_endpoints', hook)).status).toBe(200);
  const running = Promise.all(Array.from({ length: clients }, (_, n) => write(n)));
  await until(() => acknowledged.length >= writes || failed.length > 0);
  // The first seals come some seconds after the first postings.
  const sql = behind(DATA_DIR);
  await until(async () => (await sql`select from posting_seal limit 1`).length > 0);
  await sql.end();
  began = performance.now();
  report = (await json({ DATA_DIR }, 'backup', archive)) as any;
  ended = performance.now();
  const enough = acknowledged.length + writes / 5;
  await until(() => acknowledged.length >= enough || failed.length > 0);
  over = true;
  await running;
}, 600_000);

describe(`a backup while ${clients} clients write`, () => {
  let restored: string;
  let again: Gateway;
  let second: postgres.Sql;
  let first: postgres.Sql;
  beforeAll(async () => {
    restored = children.folder();
    first = behind(DATA_DIR);
  });
  afterAll(async () => {
    await first?.end();
    await second?.end();
    await again?.stop();
    await gateway.stop();
  });

  it('disturbs no request, and says what it does not contain', () => {
    expect(failed).toEqual([]);
    expect(report.kept_apart).toMatch(
      /^The backup does not contain the pepper [0-9a-f]{8}, nor that of the encryption keys [0-9a-f]{8}\. Keep them /,
    );
    // Requests were answered while it ran, and its folder is complete.
    expect(acknowledged.filter(({ at }) => at > began && at < ended).length).toBeGreaterThan(0);
    expect(fs.readdirSync(parent)).toEqual(['archive']);
    expect(fs.statSync(archive).mode & 0o777).toBe(0o700);
    const gaps = acknowledged.filter(({ at }) => at > began - 100 && at < ended + 100).map(({ at }) => at);
    const longest = Math.max(...gaps.toSorted((a, b) => a - b).map((at, i, all) => at - (all[i - 1] ?? at)));
    figures('backup', {
      ...{ acknowledged: acknowledged.length, rows: report.rows, megabytes: (report.bytes / 1e6).toFixed(1) },
      ...{ took: `${((ended - began) / 1000).toFixed(1)} s`, 'longest pause of writes': `${longest.toFixed(0)} ms` },
    });
  });

  it('is restored with a correct ledger, and with a warning where its pepper is missing', async () => {
    const start = Date.now();
    const result = await json({ DATA_DIR: restored }, 'restore', archive);
    expect(result).toMatchObject({ restored: 'now', id: report.id, rows: report.rows, tables: report.tables });
    expect(result.ledger).toMatchObject({ violations: 0, broken_seals: 0 });
    expect(result.ledger.postings).toBeGreaterThan(0);
    expect(result.errors).toMatch(/^Operators and API keys that were revoked after \S+ work again: /);
    expect(result.errors).toMatch(/^API_KEY_PEPPER is not a pepper of this backup \([0-9a-f]{8}\)\. /m);
    expect(result.errors).toMatch(
      /^Tax card numbers or secrets of webhook endpoints are encrypted .+ \([0-9a-f]{8}\)\. /m,
    );
    figures('restore', { rows: report.rows, took: secondsSince(start) });

    // A start would make a pepper of its own, under which no key works, so it is refused.
    const wrong = children.start({ DATA_DIR: restored });
    expect(await wrong.ended).toBe(1);
    expect(wrong.errors).toContain('API_KEY_PEPPER: must be the secret with which the API keys of this database');
    for (const name of ['pepper', 'encryption-key']) fs.cpSync(path.join(DATA_DIR, name), path.join(restored, name));
    const repeated = await json({ DATA_DIR: restored }, 'restore', archive);
    expect([repeated.restored, repeated.errors]).toEqual(['before', '']);
  });

  it('has everything that was acknowledged before it began, equal, and of the rest all or nothing', async () => {
    again = await children.gateway({ DATA_DIR: restored, LOG_LEVEL: 'error', RATE_LIMIT: 'off' });
    second = behind(restored);
    // The gateway of the original does not run on this database, so the doctor must not say that it has ended.
    const others = await second`select process from gateway_process where process <> ${again.pid}`;
    expect(others).toEqual([]);
    const answers = new Set((await second`select key from idempotency`).map(({ key }) => key as string));
    const before = acknowledged.filter(({ at }) => at < began);
    expect(before.length).toBeGreaterThanOrEqual(writes);
    expect(before.filter(({ key }) => !answers.has(key)).map(({ key }) => key)).toEqual([]);
    // An answer and its object are written together: a repeated key finds both, or makes both now.
    const each = scale.whole ? 1_000 : 60;
    const sample = [...before.slice(-each), ...acknowledged.slice(-each)];
    let lost = 0;
    for (const { path: place, key, body, answer } of sample) {
      const had = answers.has(key);
      if (!had) lost++;
      const me = again.speaker(apiKey);
      const reply = await me.post(place, body, { 'idempotency-key': key });
      expect([key, reply.status, reply.headers.get('idempotent-replayed')]).toEqual([key, 200, had ? 'true' : null]);
      if (had) expect(reply.body).toEqual(answer);
      const shown = await must(me.get(`${place}/${reply.body.id}`));
      if (place === '/v1/accounts' && had) expect(shown).toEqual(answer);
      else expect(shown).toMatchObject({ id: reply.body.id, object: answer.object });
    }
    figures('after the restore', {
      ...{ 'acknowledged before': before.length, 'of these lost': 0 },
      ...{ 'acknowledged later and asked again': sample.length, 'of these made anew': lost },
    });
    const [doubled] = await second`
      select count(*)::int as n from (
        select nickname from account where type = 'partner' group by nickname having count(*) > 1
      ) t`;
    expect(doubled!.n).toBe(0);
    expect([...(await second`select rule, what from violations`)]).toEqual([]);
  });

  it('has rows of the ledger that are those of the original, to the byte', async () => {
    // Into a database of another server, where no gateway has changed it.
    const target = await children.database();
    await json(target, 'restore', archive);
    const copy = connect(target);
    for (const table of ['posting', 'entry', 'contra_entry', 'event', 'api_key', 'posting_seal', 'seal_block']) {
      const [original, copied] = [await hashes(first, table), await hashes(copy, table)];
      expect([...copied].filter(([hash]) => !original.has(hash)).map(([, text]) => text)).toEqual([]);
      if (table !== 'contra_entry') expect([table, copied.size > 0]).toEqual([table, true]);
    }
    // The owner of the tables has given up these privileges there, too.
    const [may] = await copy`select has_table_privilege('entry', 'update') as yes`;
    expect(may!.yes).toBe(false);
    await copy.end();
  });
});

describe('a backup that cannot be used', () => {
  /** A database that stays empty, because each restore into it is refused. */
  let target: Awaited<ReturnType<typeof children.database>>;
  let sql: postgres.Sql;
  beforeAll(async () => {
    target = await children.database();
    sql = connect(target);
  });
  afterAll(() => sql?.end());
  const refusal = async (folder: string) => {
    const refused = await children.quickCommand(target, 'restore', folder);
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(await sql`select from pg_class c where c.relnamespace = 'public'::regnamespace`).toHaveLength(0);
    return refused.errors;
  };
  /** A copy of the archive with one change. */
  const changed = (name: string, change: (folder: string) => void) => {
    const folder = path.join(parent, name);
    fs.cpSync(archive, folder, { recursive: true });
    change(folder);
    return folder;
  };
  const manifestOf = (folder: string, change: (manifest: any) => void) => {
    const file = path.join(folder, 'manifest.json');
    const content = JSON.parse(fs.readFileSync(file, 'utf8'));
    change(content);
    fs.writeFileSync(file, JSON.stringify(content));
    fs.writeFileSync(`${file}.sha256`, createHash('sha256').update(JSON.stringify(content)).digest('hex'));
  };
  const data = 'public.deposit.copy.gz';

  it.each<[string, (folder: string) => void, RegExp]>([
    [
      'truncated',
      (at) => fs.truncateSync(path.join(at, data), 100),
      /^The backup is damaged: public\.deposit\.copy\.gz has 100 bytes instead of \d+\.\n$/,
    ],
    [
      'changed',
      (at) => {
        const bytes = fs.readFileSync(path.join(at, data));
        bytes[bytes.length >> 1]! ^= 1;
        fs.writeFileSync(path.join(at, data), bytes);
      },
      /^The backup is damaged: the content of public\.deposit\.copy\.gz does not match its checksum\.\n$/,
    ],
    [
      'without a file',
      (at) => fs.rmSync(path.join(at, data)),
      /^The backup is incomplete: it has no file public\.deposit\.copy\.gz\.\n$/,
    ],
    [
      'interrupted',
      (at) => fs.rmSync(path.join(at, 'manifest.json')),
      /is no complete backup: its manifest\.json cannot be read \(ENOENT\)\.\n$/,
    ],
    [
      'with a changed manifest',
      (at) => fs.appendFileSync(path.join(at, 'manifest.json'), ' '),
      /^The backup is damaged: manifest\.json does not match its checksum\.\n$/,
    ],
    [
      'of a newer format',
      (at) => manifestOf(at, (m) => (m.format = 2)),
      /^The backup has the format 2, and this program knows the format 1 only: /,
    ],
    [
      'of a newer program',
      (at) => manifestOf(at, (m) => (m.schema.version += 1)),
      /^The backup is of a database at version \d+, newer than this program's version \d+/,
    ],
    [
      'with a migration that this program does not have',
      (at) => manifestOf(at, (m) => m.migrations.push({ hash: 'a'.repeat(64), at: 9e12 })),
      /^The backup is of a database at version \d+, newer than this program's version \d+, or of another line/,
    ],
    [
      'without a table',
      (at) => manifestOf(at, (m) => m.tables.pop()),
      /^The backup is incomplete: it has no table public\./,
    ],
    [
      'with another number of rows',
      (at) => manifestOf(at, (m) => m.tables.find((t: any) => t.file === data).rows++),
      /^The backup is damaged: public\.deposit\.copy\.gz has \d+ rows instead of \d+\. Nothing was changed\.\n$/,
    ],
    [
      'with rows that a foreign key refuses',
      (at) =>
        manifestOf(at, (m) => {
          // The rows of an empty table in the place of the accounts.
          const [account, { file, bytes, sha256 }] = ['account', 'bank_notice'].map((name) =>
            m.tables.find((t: any) => t.name === name),
          );
          Object.assign(account, { file, bytes, sha256, rows: 0 });
        }),
      new RegExp(
        String.raw`^The rows of \w+ could not be restored: ` +
          String.raw`insert or update on table "\w+" violates foreign key constraint .* Nothing was changed\.\n$`,
      ),
    ],
  ])('is refused: %s', async (name, change, sentence) => {
    expect(await refusal(changed(name, change))).toMatch(sentence);
  });

  it('is not written over an existing folder, nor into a missing one', async () => {
    const there = await children.quickCommand({ DATA_DIR }, 'backup', archive);
    expect([there.code, there.errors]).toEqual([
      2,
      `${archive} exists already. A backup is written to a new folder.\n`,
    ]);
    const nowhere = path.join(parent, 'missing', 'archive');
    const refused = await children.quickCommand({ DATA_DIR }, 'backup', nowhere);
    expect([refused.code, refused.errors]).toEqual([2, `The backup could not be written to ${nowhere} (ENOENT).\n`]);
  });

  it('is not restored over data', async () => {
    const refused = await children.quickCommand({ DATA_DIR }, 'restore', archive);
    expect(refused.code).toBe(2);
    expect(refused.errors).toMatch(/^The database is not empty: it has \d+ tables, views and sequences\. /);
  });
});

describe('a backup after a change of the pepper', () => {
  it('names the pepper of the keys that work, and a restore warns where that is missing', async () => {
    const source = await children.database({ migrated: true });
    const [before, after] = [source.API_KEY_PEPPER, 'another pepper that is long enough for a test'];
    const create = (pepper: string) =>
      json({ ...source, API_KEY_PEPPER: pepper }, 'account', 'create', '--type=user', '--edition=1', '--legal-name=A');
    await create(before);
    await create(`${after},${before}`);
    const [was, is] = [before, after].map((pepper) => Secrets.of(pepper).pepperIds[0]!) as [string, string];
    const sql = connect(source);
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, error, failing_since)
      select tenant_id, false, 'job_fails', 1, 'retire_address', 'none', '{}', 99999999999, 'failed', 1
      from account limit 1`;
    // Money of live mode in a ledger without a check, and work that is late once it is restored.
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select tenant_id, true, 'job_late', 1, 'no_payout', 'none', '{}', 1 from account limit 1`;
    await sql`insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id, on_root_list)
      select tenant_id, true, id, 'USD', false, id, true from account limit 1`;
    const both = await json(source, 'backup', path.join(parent, 'both-peppers'));
    await sql`delete from job where id in ('job_fails', 'job_late')`;
    await sql`delete from balance where livemode`;
    expect(both.kept_apart).toContain(`the peppers ${[was, is].toSorted().join(', ')}.`);

    await sql`update api_key set revoked_at = 1 where pepper_id = ${was}`;
    await sql.end();
    const folder = path.join(parent, 'new-pepper');
    expect((await json(source, 'backup', folder)).kept_apart).toContain(`the pepper ${is}.`);
    const target = await children.database();
    expect((await json(target, 'restore', folder)).errors).toMatch(
      new RegExp(`^API_KEY_PEPPER is not a pepper of this backup \\(${is}\\)\\. `, 'm'),
    );
    expect((await json({ ...target, API_KEY_PEPPER: after }, 'restore', folder)).errors).toBe('');

    const other = await children.database();
    const { errors } = await json(other, 'restore', path.join(parent, 'both-peppers'));
    expect(errors).toMatch(new RegExp(`^API_KEY_PEPPER lacks peppers of this backup \\(${is}\\)\\. `, 'm'));
    // It ends with what the doctor finds, but for what is always so before a gateway has run.
    const { out } = await children.quickCommand(other, 'doctor', '--json');
    const bad = (JSON.parse(out).health as Record<string, string>[]).filter(({ level }) => level !== 'ok');
    const leftOut = ['gateways', 'secrets', 'backups', 'ledgers', 'late work'];
    const [outside, inside] = [true, false].map((left) =>
      bad.filter(({ check }) => leftOut.includes(check!) === left),
    ) as [typeof bad, typeof bad];
    expect([...new Set(outside.map(({ check }) => check))].toSorted()).toEqual(leftOut.toSorted());
    for (const { finding } of outside) expect(errors).not.toContain(finding);
    expect(inside.map(({ finding, command }) => `${finding} ${command}`)).toEqual([
      'In test mode 1 job and the work of 0 tenants fail and are tried again. tidegate job list --stuck',
    ]);
    expect(errors.split('\n')).toContain(`${inside[0]!.finding} ${inside[0]!.command}`);
  });
});

describe('a backup of an older version', () => {
  it('is migrated where it is restored', async () => {
    const source = await children.database();
    const sql = connect(source);
    const applied = migrationFiles().slice(0, 10);
    await sql.begin(async (tx) => {
      await makeTables(tx, ({ hash }) => applied.some((one) => one.hash === hash));
      await tx`insert into drizzle.schema_version (version, serves_from, sha256) values (20, 1, ${'0'.repeat(64)})`;
      await tx`insert into test_clock values ('00112233445566778899aabbccddeeff', false, 5, 1700000000)`;
    });
    const folder = path.join(parent, 'older');
    await json(source, 'backup', folder);
    const target = await children.database();
    expect(await json(target, 'restore', folder)).toMatchObject({ restored: 'now', version: 20, rows: 1 });
    const restored = connect(target);
    expect([...(await restored`select version from drizzle.schema_version`)]).toEqual([
      { version: programVersion().version },
    ]);
    expect([...(await restored`select offset_seconds::int as n from test_clock`)]).toEqual([{ n: 5 }]);
    await Promise.all([sql.end(), restored.end()]);
  });
});

describe('a command that is killed', () => {
  it('leaves no folder that looks like a backup', async () => {
    const target = await children.database({ migrated: true });
    const sql = connect(target);
    const folder = path.join(parent, 'killed');
    // The backup waits for this lock when it has copied the tables before.
    await sql.unsafe('begin; lock table receivable in access exclusive mode');
    const running = children.startCommand(target, 'backup', folder);
    const partial = () => fs.readdirSync(parent).find((name) => name.startsWith('killed.partial-'));
    await until(() => fs.existsSync(path.join(parent, partial() ?? 'none', 'public.payout.copy.gz')));
    running.signal('SIGKILL');
    await running.ended;
    await sql.unsafe('rollback');
    expect(fs.existsSync(folder)).toBe(false);
    expect((await children.quickCommand(target, 'restore', path.join(parent, partial()!))).errors).toMatch(
      /is no complete backup: its manifest\.json cannot be read/,
    );
    expect((await children.quickCommand(target, 'backup', folder)).code).toBe(0);
    await sql.end();
  });

  it('leaves an empty database, into which the backup is then restored', async () => {
    const target = await children.database();
    const sql = connect(target);
    const running = children.startCommand(target, 'restore', archive);
    await until(
      async () =>
        (
          await sql`select from pg_stat_activity where datname = current_database()
            and application_name = 'tidegate restore' and query like 'copy%'`
        ).length > 0,
    );
    running.signal('SIGKILL');
    await running.ended;
    const tables = () => sql`select from pg_class where relnamespace = 'public'::regnamespace`;
    await until(async () => (await tables()).length === 0);
    expect((await json(target, 'restore', archive)).restored).toBe('now');
    await sql.end();
  });
});
