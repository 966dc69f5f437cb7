import fs from 'node:fs';
import path from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import { type Connection, single } from '../connect/driver/connection.js';
import {
  type SchemaVersion,
  programVersion,
  databaseVersion,
  MigrationError,
  functionFiles,
  newerThan,
  folder,
} from './schema-version.js';
import { inTurn } from './advisory-lock.js';
import { MigrationSteps } from './migration-steps.js';
import { register } from '../cluster/functions.js';
import { distributionOf } from '../cluster/tables.js';
import { grant } from './privileges.js';

/** How a migration is run. */
export interface MigrationOptions {
  /** A role for serving: it gets exactly the privileges that a gateway needs, now and at every later migration. */
  grantTo?: string | undefined;
  /** The entry of the audit log about a migration by command, which is written with it. */
  action?: { operator: string; entry: object } | undefined;
  /** How long to wait for another migration to end, in seconds. */
  lockSeconds?: number | undefined;
  /** Receives a line for the operator, such as which connection holds the lock. */
  say?: ((line: string) => void) | undefined;
  /** Receives how many of its migrations and files of functions are done. */
  stepped?: ((done: number, of: number) => void) | undefined;
}

/** The version of a migrated database, and whether it had another one before. */
export type Migrated = SchemaVersion & { migrated: boolean };

const lockSecondsDefault = 60;

/**
 * Brings a database to this program's version in one transaction: the table migrations, the functions, the version, and
 * the privileges. A function that runs meanwhile ends in its old body, and what it calls afterwards is new; a statement
 * that begins later has the new functions. Several processes may start at once: a transaction-level advisory lock
 * admits one at a time, and it ends with the transaction even behind a pooler that keeps the session. Refuses, with a
 * MigrationError, a database that is newer than the program.
 */
export async function migrate(
  connection: Connection,
  { grantTo, action, lockSeconds = lockSecondsDefault, say, stepped }: MigrationOptions = {},
): Promise<Migrated> {
  const sql = single(connection, 'tidegate migrate');
  try {
    const own = programVersion();
    let migrated = false;
    await inTurn(sql, 'migrate', lockSeconds, say, async (tx) => {
      const found = await databaseVersion(tx);
      if (found && found.version > own.version)
        throw new MigrationError(`${newerThan(found, own)} Nothing was changed: migrate with the newer program.`);
      const current = found?.version === own.version && found.sha256 === own.sha256;
      if (!current) await apply(tx, own, say, stepped);
      migrated = !current;
      // On a cluster each of these statements needs all nodes: a current one is migrated while a node is away.
      if (!current || grantTo !== undefined || (await distributionOf(tx)) !== 'distributed') await grant(tx, grantTo);
      if (action)
        await tx`select append_operator_action(${action.operator}, ${JSON.stringify(action.entry)}::text::jsonb)`;
    });
    return { ...own, migrated };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The tables that record the migrations of a database, separate from the tables of the product. */
const bookkeeping = `
  create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null,
    created_at bigint);
  create table if not exists drizzle.schema_version (
    singleton boolean primary key default true check (singleton),
    version int not null, serves_from int not null, sha256 text not null,
    migrated timestamptz not null default now());
  create table if not exists drizzle.runtime_role (name text primary key);
  create table if not exists drizzle.pepper (slot int primary key, fingerprint text not null unique,
    since timestamptz not null default now());
`;

/**
 * Programs that do not store versions yet read `name` from this table, and would install their older functions again.
 * This view replaces the table, so that their start fails before they write anything.
 */
const guard = `
  do $$ begin
    if (select c.relkind from pg_class c where c.oid = to_regclass('drizzle.function_file')) = 'r' then
      drop table drizzle.function_file;
    end if;
  end $$;
  create or replace view drizzle.function_file as select version as "this database needs a newer program"
  from drizzle.schema_version;
`;

/**
 * Makes the tables as far as the migrations go that `wanted` accepts, and nothing else: a restore fills the tables as
 * they were, and then applies the rest.
 */
export async function makeTables(
  tx: postgres.TransactionSql,
  wanted: (migration: { hash: string }) => boolean = () => true,
  steps: MigrationSteps = new MigrationSteps(tx),
): Promise<void> {
  const [schema] = await tx`select to_regnamespace('drizzle') is not null as there`;
  // `create schema if not exists` needs the privilege to create a schema even if the schema exists.
  if (!schema!.there) await tx.unsafe('create schema drizzle');
  await tx.unsafe(bookkeeping);
  const [last] = await tx`select max(created_at)::text as created_at from drizzle.__drizzle_migrations`;
  const isNew = last?.created_at == null;
  const missing = migrationFiles().filter(({ folderMillis }) => isNew || Number(last.created_at) < folderMillis);
  steps.expect(missing.length);
  for (const [i, { folderMillis, hash, sql: statements }] of missing.entries()) {
    if (!wanted({ hash })) return;
    const since = performance.now();
    for (const statement of statements) await steps.run(statement);
    await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`;
    // A new database has all of them at once.
    if (!isNew) steps.applied(folderMillis, i + 1, missing.length, performance.now() - since);
    steps.done();
  }
}

/** The migrations of this program, in their order. */
export const migrationFiles = () => readMigrationFiles({ migrationsFolder: folder });

/** Applies the migrations that are missing, all functions and the version. */
export async function apply(
  tx: postgres.TransactionSql,
  own: SchemaVersion,
  say?: (line: string) => void,
  stepped?: (done: number, of: number) => void,
): Promise<void> {
  const distributed = (await distributionOf(tx)) === 'distributed';
  // Tables and functions are changed on all nodes over the same connections.
  if (distributed) await tx`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
  const steps = new MigrationSteps(tx, distributed, say, stepped);
  const functions = functionFiles();
  steps.expect(functions.length);
  await makeTables(tx, undefined, steps);
  for (const name of functions) {
    await steps.run(fs.readFileSync(path.join(folder, name), 'utf8'));
    steps.done();
  }
  if (distributed) await register(tx);
  await tx`insert into drizzle.schema_version (version, serves_from, sha256)
    values (${own.version}, ${own.servesFrom}, ${own.sha256})
    on conflict (singleton) do update set version = excluded.version, serves_from = excluded.serves_from,
      sha256 = excluded.sha256, migrated = now()`;
  await tx.unsafe(guard);
}
