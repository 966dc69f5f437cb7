import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { folder } from './schema-version.js';

/**
 * A statement that did not get a lock while the migration has others. The migration is undone then, so that the
 * requests that wait for it go on.
 */
export class LocksInUse extends Error {}

/** How long a statement waits for a lock at a time, in milliseconds, at most. */
const lockMillisecondsMax = 700;
/**
 * How long a statement is repeated for its locks, while requests wait for those that the migration has. A request waits
 * for 2 s, and then releases its own locks.
 */
const patienceMilliseconds = 7_000;
const pauseMilliseconds = 100;
const lockTimeout = '55P03';
const unlimited = 'set local lock_timeout to default';

/**
 * The statements of a migration, one after the other in its transaction. Each waits for a lock for less time than
 * PostgreSQL takes to look for a deadlock, and is then repeated alone, so no deadlock with requests undoes the
 * migration.
 */
export class MigrationSteps {
  #lockMilliseconds: number | undefined;
  #done = 0;
  #of = 0;

  constructor(
    private readonly tx: postgres.TransactionSql,
    /** On a cluster the nodes have the locks, and their own search for deadlocks. */
    private readonly distributed = false,
    private readonly say?: (line: string) => void,
    /** Receives how many of the expected parts are done. */
    private readonly stepped?: (done: number, of: number) => void,
  ) {}

  /** Says that so many more parts are to come. */
  expect(parts: number): void {
    this.#of += parts;
  }

  /** Counts one of the expected parts. */
  done(): void {
    this.stepped?.(++this.#done, this.#of);
  }

  async run(statement: string): Promise<void> {
    if (this.distributed) return void (await this.tx.unsafe(statement));
    this.#lockMilliseconds ??= await this.#patience();
    const until = performance.now() + patienceMilliseconds;
    for (let said = false; ; said = true) {
      const isLast = performance.now() > until;
      try {
        const limited = `set local lock_timeout = ${this.#lockMilliseconds};\n${statement};\n${unlimited}`;
        await this.tx.savepoint((step) => step.unsafe(limited));
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== lockTimeout) throw error;
        const text = `"${headOf(statement)}" waits for other statements. ${await this.#oldest()}`;
        if (isLast) throw new LocksInUse(text);
        if (!said) this.say?.(text);
      }
      await sleep(pauseMilliseconds);
    }
  }

  /** Reports a migration that is applied. */
  applied(folderMillis: number, nth: number, of: number, milliseconds: number): void {
    const seconds = Math.round(milliseconds / 100) / 10;
    this.say?.(`Migration ${nameOf(folderMillis)} is applied (${nth} of ${of}, ${seconds} s).`);
  }

  async #patience(): Promise<number> {
    const [row] = await this.tx`
      select extract(epoch from current_setting('deadlock_timeout')::interval) * 700 as milliseconds`;
    return Math.max(1, Math.min(lockMillisecondsMax, Math.floor(Number(row!.milliseconds))));
  }

  /** Which connection has the oldest transaction of the others, as far as this role may see it. */
  async #oldest(): Promise<string> {
    // Within a transaction PostgreSQL answers what it has answered before.
    await this.tx`select pg_stat_clear_snapshot()`;
    const [row] = await this.tx`
      select a.pid, a.application_name as name, floor(extract(epoch from clock_timestamp() - a.xact_start)) as seconds
      from pg_stat_activity a
      where a.datname = current_database() and a.pid <> pg_backend_pid() and a.xact_start is not null
      order by a.xact_start
      limit 1`;
    return row
      ? `The oldest transaction is that of the connection with pid ${row.pid} ("${row.name}"), ${row.seconds} s old.`
      : 'No other connection has a transaction any more.';
  }
}

/** The beginning of a statement, without its comments. */
const headOf = (statement: string): string =>
  statement
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 80);

/** The name of a migration, by when it was made. */
function nameOf(folderMillis: number): string {
  const file = path.join(folder, 'meta', '_journal.json');
  const { entries } = JSON.parse(fs.readFileSync(file, 'utf8')) as { entries: { when: number; tag: string }[] };
  return entries.find(({ when }) => when === folderMillis)?.tag ?? String(folderMillis);
}
