import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { programVersion } from '../../src/db/schema/schema-version.js';
import { until, useChildren } from '../support/child.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const children = useChildren();
let environment: { DATABASE_URL: string; API_KEY_PEPPER: string };
let [one, other, watch]: postgres.Sql[] = [];

beforeAll(async () => {
  environment = await children.database();
  expect((await children.command(environment, 'migrate')).code).toBe(0);
  const database = new URL(environment.DATABASE_URL).pathname.slice(1);
  const open = () =>
    postgres({ ...inject('admin'), username: 'tidegate', database, max: 1, onnotice: () => {}, idle_timeout: 0 });
  [one, other, watch] = [open(), open(), open()];
});
afterAll(async () => {
  for (const sql of [one, other, watch]) await sql?.end({ timeout: 1 });
});

let versions = 0;

/** The program with one more migration, of the accounts first and of the deposits then. */
function laterProgram() {
  const { version } = programVersion();
  const [folder, nth] = [children.folder(), ++versions];
  for (const part of ['dist', 'drizzle', 'package.json'])
    fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const journalFile = path.join(folder, 'drizzle', 'meta', '_journal.json');
  const journal = JSON.parse(fs.readFileSync(journalFile, 'utf8'));
  const last = journal.entries.at(-1);
  const tag = `9${String(nth).padStart(3, '0')}_later`;
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + nth, tag });
  fs.writeFileSync(journalFile, JSON.stringify(journal));
  const columns = ['account', 'deposit'].map((table) => `ALTER TABLE "${table}" ADD COLUMN "later_${nth}" text;`);
  fs.writeFileSync(path.join(folder, 'drizzle', `${tag}.sql`), columns.join('--> statement-breakpoint\n'));
  const own = { version: version + nth, servesFrom: 1, sha256: String(nth) };
  fs.writeFileSync(path.join(folder, 'drizzle', 'version.json'), JSON.stringify(own));
  const start = (seconds: number) => {
    const env = { ...process.env, ...environment, MIGRATION_LOCK_SECONDS: String(seconds) };
    const child = spawn(process.execPath, [path.join(folder, 'dist', 'cli.js'), 'migrate'], { env });
    const run = { errors: '', code: undefined as number | null | undefined, ended: Promise.resolve() };
    child.stderr.setEncoding('utf8').on('data', (text: string) => (run.errors += text));
    run.ended = new Promise((resolve, reject) => {
      child.once('error', reject).once('close', (code) => {
        run.code = code;
        resolve();
      });
    });
    return run;
  };
  return { tag, column: `later_${nth}`, start };
}

/** Whether the migration has a table for itself. */
const hasAlone = async (table: string) =>
  (
    await watch!`select from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.relation = ${table}::regclass and l.mode = 'AccessExclusiveLock' and l.granted
        and a.application_name = 'tidegate migrate'`
  ).length > 0;
const columnsOf = async (name: string) =>
  (await watch!`select table_name from information_schema.columns where column_name = ${name} order by 1`).map(
    ({ table_name: table }) => table,
  );

describe('a migration of tables that are written meanwhile', () => {
  it('is not undone by a deadlock with a write that has one of them and needs another one', async () => {
    const { tag, column, start } = laterProgram();
    let run!: ReturnType<typeof start>;
    const write = one!.begin(async (tx) => {
      await tx`update deposit set livemode = livemode where false`;
      run = start(60);
      await until(() => hasAlone('account'));
      // Each waits for the other one now. A write waits for two seconds, as it does in a gateway.
      await tx`set local lock_timeout = '2s'`;
      await tx`update account set livemode = livemode where false`;
    });
    // Whichever limit of the write ends first: PostgreSQL looks for a deadlock after a second, also while the migration
    // waits. The migration itself waits for less, so that it is never the one that is undone.
    await expect(write).rejects.toMatchObject({ code: expect.stringMatching(/^(55P03|40P01)$/) });
    await run.ended;
    const waits = '"ALTER TABLE "deposit" ADD COLUMN "later_1" text;" waits for other statements. The oldest';
    expect([run.code, run.errors.split('\n').length, run.errors]).toEqual([0, 3, expect.stringContaining(waits)]);
    expect(run.errors).toMatch(new RegExp(`\nMigration ${tag} is applied \\(1 of 1, [\\d.]+ s\\)\\.\n$`));
    expect(await columnsOf(column)).toEqual(['account', 'deposit']);
  });

  it('lets requests go on while it waits for a long one, and ends without a change after its time', async () => {
    const { column, start } = laterProgram();
    const oldest = async (tx: postgres.TransactionSql) => {
      await tx`select from deposit limit 1`;
      const [row] = await tx`select pg_backend_pid() as pid`;
      return `The oldest transaction is that of the connection with pid ${row!.pid} `;
    };
    let end = () => {};
    let told = '';
    const earlier = other!.begin(async (tx) => {
      told = await oldest(tx);
      await new Promise<void>((resolve) => (end = resolve));
    });
    await until(() => told !== '');
    await one!.begin(async (tx) => {
      const now = await oldest(tx);
      const run = start(9);
      // It names the oldest one of each moment.
      await until(() => run.errors.includes(told));
      end();
      await earlier;
      // It is undone, so what it had is free: a request that needs it is served before the migration has ended.
      const undone = '"migrate" was undone (attempt 1), and is tried again for up to 9 s.';
      await until(() => run.errors.includes(undone));
      expect(run.errors.slice(run.errors.indexOf(undone))).toContain(now);
      await other!`update account set livemode = livemode where false`;
      expect(run.code).toBeUndefined();
      await run.ended;
      expect([run.code, run.errors]).toEqual([
        expect.any(Number),
        expect.stringMatching(/Other statements undid "migrate" \d+ times in 9 s\. .*Nothing was changed\./),
      ]);
      expect(run.code).not.toBe(0);
      expect(await columnsOf(column)).toEqual([]);
    });
    // The long one has ended.
    const again = start(60);
    await again.ended;
    expect([again.code, await columnsOf(column)]).toEqual([0, ['account', 'deposit']]);
  });
});
