import type postgres from 'postgres';
import { ConfigError } from '../../config/config.js';
import type { Secrets } from '../../config/secrets.js';
import { BackupError } from '../backup/manifest.js';
import { poolsDefault, type PoolSettings } from './database-settings.js';
import { type Connection, single } from './driver/connection.js';
import { rivalPrimaries, Servers } from './driver/servers.js';
import { causeOf, outageOf } from './outage.js';
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

/** The SQLSTATE of what the role of the connection may not do. */
const insufficientPrivilege = '42501';
/** The steps that read or change what the serving role may not. */
const ofOwner: ReadonlySet<StartStep> = new Set([
  'backing up the database',
  'restoring the database',
  'migrating the database',
  'changing the cluster',
]);
const needsOwner = 'This needs the role that owns the tables: name it in MIGRATION_URL.';

/** Runs one step of a start. Its error names the step; an error of the program itself keeps its stack. */
export async function during<T>(step: StartStep, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ([ConfigError, MigrationError, BackupError, StartError].some((known) => error instanceof known)) throw error;
    const { code, message, hint, stack } = error as { code?: unknown; message: string; hint?: string; stack?: string };
    // Messages of the operating system already contain their code.
    const named = message.includes(String(code)) ? message : `${message} (${String(code)})`;
    const owner = code === insufficientPrivilege && ofOwner.has(step) ? needsOwner : undefined;
    const help = [hint, owner].filter(Boolean).map((line) => `\n${line}`);
    const detail = typeof code === 'string' ? `${named}${help.join('')}` : (stack ?? message);
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

/**
 * Refuses an address of which two servers take themselves for the primary: after a failover the old one came back, and
 * writes to it would be lost or make a second ledger.
 */
export async function refuseRivals(connection: Connection): Promise<void> {
  const servers = Servers.of(connection);
  if (!servers.several) return;
  const rivals = rivalPrimaries(await servers.states());
  if (rivals.length === 0) return;
  const names = rivals.map(({ name, timeline }) => `${name} (timeline ${timeline})`).join(' and ');
  throw new StartError(
    `While connecting to PostgreSQL: ${names} each take themselves for the primary. After a promotion the one with ` +
      'the higher timeline has the writes: stop the other one, and make it a standby (pg_rewind).',
  );
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

/** Refuses secrets that are not those of the database. A command works without the encryption keys. */
export async function knownSecrets(
  connection: Connection,
  secrets: Secrets,
  { migrates, say }: { migrates: boolean; say: (line: string) => void },
): Promise<void> {
  await during('connecting to PostgreSQL', () => known(connection, secrets));
  const unchecked = migrates && (await during('connecting to PostgreSQL', () => knownEncryption(connection, secrets)));
  if (unchecked) say(unchecked);
}

/**
 * Refuses peppers that this database does not know. The database stores the public name of each pepper: the first start
 * stores the first name, and each start with a further pepper adds its name. Concurrent first starts agree on one name.
 * Any other start writes nothing, so the doctor can look at a server that takes no writes.
 */
async function known(connection: Connection, secrets: Secrets): Promise<void> {
  const sql = single(connection, 'tidegate start');
  const names = secrets.pepperIds;
  const work = async () => {
    for (;;) {
      const stored = (await sql`select fingerprint from drizzle.pepper`).map((row) => row.fingerprint as string);
      if (stored.length === 0) {
        // Only one row can have a slot: of two first starts, the second finds the name that the first stored.
        await sql`insert into drizzle.pepper (slot, fingerprint) values (1, ${names.at(-1)!}) on conflict do nothing`;
        continue;
      }
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

/** What SQL statements of an operator write for a key that is lost for good, in place of its name. */
const lostName = 'lost';
/** How long the check of the encryption keys may take: without a value under the first key it reads every row. */
const encryptionMilliseconds = 60_000;

/**
 * Refuses encryption keys that cannot be those of this database: there are webhook secrets or tax card numbers under
 * keys that are not configured, and none under the first key. Each start encrypts everything under the first key, so a
 * right one is found at the first row; a new one has the one before it behind it. What cannot be found out now, because
 * a node of a cluster is away or a pooler ends the statement early, is no reason not to start: returns that sentence.
 */
async function knownEncryption(connection: Connection, secrets: Secrets): Promise<string | undefined> {
  const names = secrets.encryptionIds;
  const known = [...names, lostName].join(' ');
  const sql = single(connection, 'tidegate start', { statement_timeout: encryptionMilliseconds });
  const first = `v1.${names[0]}.`;
  try {
    // A cluster refuses a subquery without a column, and without a limit it gathers all its rows.
    const [own] = await sql`
      select exists (select 1 from webhook_endpoint where starts_with(secret_sealed, ${first}) limit 1)
        or exists (select 1 from person where starts_with(identification ->> 'taxCardSealed', ${first}) limit 1)
        as found`;
    if (own!.found) return undefined;
    const unknown = await sql`
      select distinct split_part(x.sealed, '.', 2) as name from (
        select secret_sealed as sealed from webhook_endpoint
        union all select identification ->> 'taxCardSealed' from person
      ) x where x.sealed is not null and split_part(x.sealed, '.', 2) <> all(string_to_array(${known}, ' '))
      order by 1`;
    if (unknown.length === 0) return undefined;
    const missing = unknown.map(({ name }) => name).join(', ');
    throw new ConfigError(
      'ENCRYPTION_KEY: must be the secret that encrypted the webhook secrets and tax card numbers of this ' +
        `database (${missing}), or API_KEY_PEPPER the one from which it derives. To change it, put the new ` +
        'secret before the old one, with a comma between them.',
    );
  } catch (error) {
    if (outageOf(error) === undefined) throw error;
    return `Whether ENCRYPTION_KEY is the one of this database could not be checked: ${causeOf(error).message}`;
  } finally {
    await sql.end({ timeout: 0 });
  }
}
