import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';

export type Connection = postgres.Options<Record<string, never>>;

const folder = fileURLToPath(new URL('../../drizzle', import.meta.url));

/** A database that this program cannot use as it is. The message is one or more sentences for the operator. */
export class MigrationError extends Error {}

/** A version of the schema: tables and functions together. */
export interface SchemaVersion {
  /** Rises by one with every release whose tables or functions differ. */
  version: number;
  /** The oldest version of the program that can serve a database at this version. */
  servesFrom: number;
  /** The hash over the text of all migrations and function files. */
  sha256: string;
}

/** How a migration is run. */
export interface MigrationOptions {
  /** A role to serve with: it gets what a gateway needs and no more, now and at every later migration. */
  grantTo?: string | undefined;
  /** How long to wait for another migration to end, in seconds. */
  lockSeconds?: number | undefined;
  /** Takes a line for the operator, such as which connection holds the lock. */
  say?: ((line: string) => void) | undefined;
}

const lockSecondsDefault = 60;
/** The seeding of a demo, which others wait for, takes longer than a migration. */
const advisoryLockSeconds = 600;
const saidAfterMilliseconds = 1_500;
const triedEveryMilliseconds = 250;
const deadlock = '40P01';

/** The version of this program: the number in `drizzle/version.json`, and the hash of the files as they are. */
export function programVersion(): SchemaVersion {
  const { version, servesFrom } = JSON.parse(
    fs.readFileSync(path.join(folder, 'version.json'), 'utf8'),
  ) as SchemaVersion;
  return { version, servesFrom, sha256: hashOfFiles() };
}

/** The hash over every file that a migration applies, in their order. */
export function hashOfFiles(): string {
  const hash = createHash('sha256');
  for (const name of ['.', 'functions'].flatMap(sqlFiles))
    hash.update(`${name}\n`).update(fs.readFileSync(path.join(folder, name)));
  return hash.digest('hex');
}

function sqlFiles(below: string): string[] {
  const names = fs.readdirSync(path.join(folder, below)).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name) => path.join(below, name));
}

/** The version of a database; undefined before its first migration, and of one that was last migrated before versions were kept. */
export async function databaseVersion(sql: postgres.ISql): Promise<SchemaVersion | undefined> {
  const [known] = await sql`select to_regclass('drizzle.schema_version') is not null as there`;
  if (!known!.there) return undefined;
  const [row] = await sql`select version, serves_from, sha256 from drizzle.schema_version`;
  return row && { version: row.version, servesFrom: row.serves_from, sha256: row.sha256 };
}

/**
 * What a database at this version is for this program: `current`, `older`, or `newer`. A newer one can be served when it says
 * so, which lets a gateway start again while a release is rolled out. A MigrationError when it cannot be served.
 */
export function compared(found: SchemaVersion | undefined): 'current' | 'older' | 'newer' {
  const own = programVersion();
  if (!found || found.version < own.version) return 'older';
  if (found.version === own.version) return found.sha256 === own.sha256 ? 'current' : 'older';
  if (found.servesFrom > own.version) {
    throw new MigrationError(
      `${newerThan(found, own)} Only programs from version ${found.servesFrom} on can serve it: start a newer program.`,
    );
  }
  return 'newer';
}

/** The sentence about a database that is older than the program where the program may not migrate it. */
export function olderThan(found: SchemaVersion | undefined): string {
  const own = programVersion();
  if (found?.version === own.version)
    return `The database is at version ${own.version}, and so is this program, but their tables or functions differ.`;
  const version = found ? `at version ${found.version}` : 'not migrated to any numbered version';
  return `The database is ${version}; this program needs version ${own.version}.`;
}

/** The sentence about a database that is newer than the program. */
export function newerThan(found: SchemaVersion, own = programVersion()): string {
  return `The database is at version ${found.version}, newer than this program's version ${own.version}.`;
}

/**
 * Brings a database to this program's version in one transaction: the table migrations, the functions, the version, and the
 * privileges. A request that is served meanwhile uses the old functions or the new ones, never some of each. Safe when several
 * processes start at once: an advisory lock of the transaction lets one of them work at a time, and ends with the transaction
 * also behind a pooler that keeps the session. Refuses, with a MigrationError, a database that is newer than the program.
 */
export async function migrate(
  connection: Connection,
  { grantTo, lockSeconds = lockSecondsDefault, say }: MigrationOptions = {},
): Promise<SchemaVersion> {
  const sql = single(connection, 'tidegate migrate');
  try {
    const own = programVersion();
    await inTurn(sql, 'migrate', lockSeconds, say, async (tx) => {
      const found = await databaseVersion(tx);
      if (found && found.version > own.version)
        throw new MigrationError(`${newerThan(found, own)} Nothing was changed: migrate with the newer program.`);
      if (found?.version !== own.version || found.sha256 !== own.sha256) await apply(tx, own);
      await grant(tx, grantTo);
    });
    return own;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Does a piece of work while no other process on this database does the same; the lock goes with its connection, whatever dies. */
export async function withAdvisoryLock<T>(
  connection: Connection,
  work: string,
  run: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = single(connection, `tidegate ${work}`);
  try {
    await waitFor(sql, work, advisoryLockSeconds, undefined, async () => {
      const [{ got } = { got: false }] = await sql`select pg_try_advisory_lock(${keyOf(sql, work)}) as got`;
      return got ? true : undefined;
    });
    return await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** One connection that works through every pooler: no statement is prepared by name. */
export function single(connection: Connection, name: string, session: Record<string, unknown> = {}): postgres.Sql {
  return postgres({
    ...connection,
    connection: { ...connection.connection, ...session, application_name: name },
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 2,
    onnotice: () => {},
  } as never);
}

const keyOf = (sql: postgres.ISql, work: string) => sql`hashtextextended(${`tidegate:${work}`}, 0)`;

/**
 * Runs work in a transaction that has the lock. Each try is a transaction of its own, so that waiting holds nothing.
 * A deadlock with requests that are served meanwhile undoes the transaction, which is then tried again until the limit.
 */
async function inTurn<T>(
  sql: postgres.Sql,
  work: string,
  seconds: number,
  say: MigrationOptions['say'],
  run: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  const attempt = async (tx: postgres.TransactionSql) => {
    const [{ got } = { got: false }] = await tx`select pg_try_advisory_xact_lock(${keyOf(tx, work)}) as got`;
    return got ? { result: await run(tx) } : undefined;
  };
  const until = performance.now() + seconds * 1000;
  const tried = () =>
    (sql.begin(attempt) as Promise<{ result: T } | undefined>).catch((error: unknown) => {
      if ((error as { code?: string }).code !== deadlock || performance.now() > until) throw error;
      say?.(`A deadlock with other statements undid "${work}", which is tried again.`);
      return undefined;
    });
  const done = await waitFor(sql, work, seconds, say, tried);
  return done.result;
}

/** Tries until there is a result; says after a moment who holds the lock, and gives up at the limit with a MigrationError. */
async function waitFor<T>(
  sql: postgres.Sql,
  work: string,
  seconds: number,
  say: ((line: string) => void) | undefined,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const since = performance.now();
  for (let said = false; ; await sleep(triedEveryMilliseconds)) {
    const result = await attempt();
    if (result !== undefined) return result;
    const waited = performance.now() - since;
    if (waited > seconds * 1000) {
      throw new MigrationError(
        `The lock for "${work}" was not free within ${seconds} s: ${await holderOf(sql, work)}. If that connection is an idle one of a pooler, end it with pg_terminate_backend, and set MIGRATION_URL to the address of PostgreSQL itself.`,
      );
    }
    if (!said && waited > saidAfterMilliseconds && say) {
      say(`Waiting up to ${seconds} s for the lock for "${work}": ${await holderOf(sql, work)}.`);
      said = true;
    }
  }
}

/** Who holds the lock, as far as this role may see it. */
async function holderOf(sql: postgres.Sql, work: string): Promise<string> {
  const [holder] = await sql`
    select a.pid, a.usename, a.application_name, a.client_addr::text, a.state, a.xact_start is not null as working,
           to_char(coalesce(a.xact_start, a.state_change, a.backend_start) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
    from pg_locks l left join pg_stat_activity a on a.pid = l.pid, (select ${keyOf(sql, work)} as key) k
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.classid::bigint = ((k.key >> 32) & 4294967295) and l.objid::bigint = (k.key & 4294967295)`;
  if (!holder) return 'its holder has just let go of it';
  const { pid, usename, application_name, client_addr, state, since } = holder;
  const name = application_name ? `"${application_name}"` : 'without an application name';
  return `it is held by the connection with pid ${pid} of role "${usename ?? 'unknown'}", application ${name}, from ${client_addr ?? 'the local socket'}, ${state ?? 'in an unknown state'} since ${since ?? 'an unknown time'}`;
}

/** What a database remembers about its migrations, beside the tables of the product. */
const bookkeeping = `
  create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
  create table if not exists drizzle.schema_version (
    singleton boolean primary key default true check (singleton), version int not null, serves_from int not null, sha256 text not null,
    migrated timestamptz not null default now());
  create table if not exists drizzle.runtime_role (name text primary key);
  create table if not exists drizzle.pepper (slot int primary key, fingerprint text not null unique, since timestamptz not null default now());
`;

/**
 * Programs from before versions were kept read `name` from this table, and would put their older functions back.
 * What they find in its place makes their start fail before they have written anything.
 */
const guard = `
  do $$ begin
    if (select c.relkind from pg_class c where c.oid = to_regclass('drizzle.function_file')) = 'r' then drop table drizzle.function_file; end if;
  end $$;
  create or replace view drizzle.function_file as select version as "this database needs a newer program" from drizzle.schema_version;
`;

async function apply(tx: postgres.TransactionSql, own: SchemaVersion): Promise<void> {
  const [schema] = await tx`select to_regnamespace('drizzle') is not null as there`;
  // `if not exists` asks for the privilege to create one also where there is one.
  if (!schema!.there) await tx.unsafe('create schema drizzle');
  await tx.unsafe(bookkeeping);
  const [last] = await tx`select max(created_at)::text as created_at from drizzle.__drizzle_migrations`;
  for (const { folderMillis, hash, sql: statements } of readMigrationFiles({ migrationsFolder: folder })) {
    if (last?.created_at != null && Number(last.created_at) >= folderMillis) continue;
    for (const statement of statements) await tx.unsafe(statement);
    await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`;
  }
  for (const name of sqlFiles('functions')) await tx.unsafe(fs.readFileSync(path.join(folder, name), 'utf8'));
  await tx`insert into drizzle.schema_version (version, serves_from, sha256) values (${own.version}, ${own.servesFrom}, ${own.sha256})
    on conflict (singleton) do update set version = excluded.version, serves_from = excluded.serves_from, sha256 = excluded.sha256, migrated = now()`;
  await tx.unsafe(guard);
}

/** What a serving role needs in the schema of the bookkeeping. */
const neededOfBookkeeping = [
  ['select', 'drizzle.schema_version, drizzle.runtime_role'],
  ['select, insert', 'drizzle.pepper'],
] as const;

/**
 * Gives every serving role what it needs, and takes from it and from the owner what would change the append-only tables.
 * Said again at each migration, for new tables, and because a restore without privileges has lost them.
 */
async function grant(tx: postgres.TransactionSql, grantTo: string | undefined): Promise<void> {
  const [{ owner, lists } = { owner: '', lists: '' }] = await tx`
    select (select t.tableowner from pg_tables t where t.schemaname = 'public' and t.tablename = 'entry') as owner,
           (select string_agg(format('public.%I', name), ', ') from unnest(append_only_tables()) name) as lists`;
  if (grantTo !== undefined && grantTo !== owner) {
    const [role] = await tx`
      select rolsuper, pg_has_role(oid, ${owner}::name, 'member') as owns from pg_roles where rolname = ${grantTo}`;
    if (!role) throw new MigrationError(`There is no role "${grantTo}" on this server: create it first.`);
    if (role.rolsuper)
      throw new MigrationError(`The role "${grantTo}" is a superuser, from which no privilege can be withheld.`);
    if (role.owns) throw new MigrationError(`The role "${grantTo}" is a member of "${owner}", which owns the tables.`);
    await tx`insert into drizzle.runtime_role (name) values (${grantTo}) on conflict (name) do nothing`;
  }
  await tx.unsafe(`revoke update, delete, truncate on ${lists} from public, ${quoted(owner)}`);
  const roles = await tx`select r.name from drizzle.runtime_role r join pg_roles p on p.rolname = r.name order by 1`;
  for (const { name } of roles) {
    const role = quoted(name);
    await tx.unsafe(`
      grant usage on schema public, drizzle to ${role};
      revoke create on schema public, drizzle from ${role};
      revoke all on all tables in schema public from ${role};
      grant select, insert, update, delete on all tables in schema public to ${role};
      revoke update, delete on ${lists} from ${role};
      revoke all on all tables in schema drizzle from ${role};
      grant execute on all functions in schema public to ${role};
      ${neededOfBookkeeping.map(([privileges, tables]) => `grant ${privileges} on ${tables} to ${role};`).join('\n')}`);
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
