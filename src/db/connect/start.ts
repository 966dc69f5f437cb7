import type postgres from 'postgres';
import { ConfigError } from '../../config/config.js';
import type { Secrets } from '../../config/secrets.js';
import { BackupError } from '../backup/manifest.js';
import { poolsDefault, type PoolSettings } from './database-settings.js';
import { type Connection, single } from './driver/connection.js';
import { databaseVersion, MigrationError, type SchemaVersion } from '../schema/schema-version.js';

/** The step of a start, as its error names it. */
export type StartStep =
  | 'backing up the database'
  | 'restoring the database'
  | 'connecting to PostgreSQL'
  | 'migrating the database'
  | 'reading the cluster'
  | 'changing the cluster'
  | 'seeding the demo'
  | 'listening';

/** A failed start: its step, and the message of PostgreSQL or of the system. The message never contains a password. */
export class StartError extends Error {}

/** Runs one step of a start. Its error names the step; an error of the program itself keeps its stack. */
export async function during<T>(step: StartStep, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ([ConfigError, MigrationError, BackupError, StartError].some((known) => error instanceof known)) throw error;
    const { code, message, hint, stack } = error as { code?: unknown; message: string; hint?: string; stack?: string };
    // Messages of the operating system already contain their code.
    const named = message.includes(String(code)) ? message : `${message} (${String(code)})`;
    const detail = typeof code === 'string' ? `${named}${hint ? `\n${hint}` : ''}` : (stack ?? message);
    throw new StartError(`While ${step}: ${detail}`, { cause: error });
  }
}

/** Without this limit, a server that accepts a connection and never answers would block a start forever. */
const answerMilliseconds = 4_500;

async function answered<T>(sql: postgres.Sql, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, refuse) => {
    timer = setTimeout(
      () =>
        refuse(
          new StartError(
            `While connecting to PostgreSQL: the server did not answer within ${answerMilliseconds / 1000} s.`,
          ),
        ),
      answerMilliseconds,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => {});
    await sql.end({ timeout: 0 });
  }
}

/** The version of the database. The session has the gateway's limits, and this checks that the server applies them. */
export async function versionOf(
  connection: Connection,
  { statementMilliseconds, lockMilliseconds }: PoolSettings = poolsDefault,
): Promise<SchemaVersion | undefined> {
  const limits = { statement_timeout: statementMilliseconds, lock_timeout: lockMilliseconds };
  const sql = single(connection, 'tidegate start', limits);
  return answered(
    sql,
    (async () => {
      const [kept] = await sql`
        select extract(epoch from current_setting('statement_timeout')::interval) * 1000 as statement_timeout,
               extract(epoch from current_setting('lock_timeout')::interval) * 1000 as lock_timeout`;
      for (const [name, limit] of Object.entries(limits)) {
        if (Number(kept![name]) === limit) continue;
        throw new StartError(
          `While connecting to PostgreSQL: a session does not have the ${name} that the gateway requests; a ` +
            `PgBouncer may ignore it. Set it for the role: alter role … set ${name} = '${limit}ms'.`,
        );
      }
      return databaseVersion(sql);
    })(),
  );
}

/**
 * Refuses peppers that this database does not know. The database stores the public name of each pepper: the first start
 * stores the first name, and each start with a further pepper adds its name. Concurrent first starts agree on one name.
 */
export async function known(connection: Connection, secrets: Secrets): Promise<void> {
  const sql = single(connection, 'tidegate start');
  const names = secrets.pepperIds;
  const work = async () => {
    // Only one row can have a slot: of two first starts, the second finds the name that the first stored.
    await sql`insert into drizzle.pepper (slot, fingerprint) values (1, ${names.at(-1)!}) on conflict do nothing`;
    for (;;) {
      const stored = (await sql`select fingerprint from drizzle.pepper`).map((row) => row.fingerprint as string);
      if (!names.some((name) => stored.includes(name)))
        throw new ConfigError(
          'API_KEY_PEPPER: must be the secret with which the API keys of this database were hashed. To change ' +
            'it, put the new secret before the old one, with a comma between them.',
        );
      const missing = names.find((name) => !stored.includes(name));
      if (missing === undefined) return;
      await sql`insert into drizzle.pepper (slot, fingerprint) select coalesce(max(slot), 0) + 1, ${missing}
        from drizzle.pepper on conflict do nothing`;
    }
  };
  await answered(sql, work());
}
