import fs from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type postgres from 'postgres';
import { inTurn } from '../schema/advisory-lock.js';
import { type Connection, single } from '../connect/driver/connection.js';
import { apply, makeTables, migrationFiles } from '../schema/migrate.js';
import { grant } from '../schema/privileges.js';
import { programVersion } from '../schema/schema-version.js';
import { type FoundTable, tablesOf } from './backup.js';
import { withoutLimits } from './limits.js';
import { BackupError, type Manifest, readBackup, type TableEntry } from './manifest.js';

/** What a restore has done. */
export interface Restored {
  manifest: Manifest;
  /** Whether an earlier run had restored this backup already. */
  before: boolean;
  /** The serving roles of the backup that this server does not have, and that got no privileges. */
  missingRoles: string[];
}

/** How a restore is made. */
interface RestoreOptions {
  lockSeconds: number;
  say: (line: string) => void;
  /** Receives how many bytes of the backup are restored, and how many it has. */
  restored: (bytes: number, of: number) => void;
  /** Receives how many steps of its migration to the version of this program are done, and how many it has. */
  migrated: (done: number, of: number) => void;
  /** Who restores, and the entry of the audit log about it. */
  action: { operator: string; entry: (manifest: Manifest) => object };
}

/** By which a database says where its rows are from, so that a repeated restore knows its own work. */
const origin = (id: string) => `restored from the backup ${id}`;

/**
 * Restores a backup into an empty database, in one transaction: an interrupted restore leaves the database empty, and
 * can be repeated. The tables are made as they were when the backup was made, filled, and then migrated to the version
 * of this program; privileges are granted as a migration grants them. Refuses a damaged backup, one of a newer program,
 * and a database that is not empty.
 */
export async function restore(
  connection: Connection,
  folder: string,
  { lockSeconds, say, restored, migrated, action }: RestoreOptions,
): Promise<Restored> {
  const manifest = await readBackup(path.resolve(folder));
  refuseNewer(manifest);
  const sql = single(connection, 'tidegate restore');
  try {
    const before = await inTurn(sql, 'migrate', lockSeconds, say, async (tx) => {
      await withoutLimits(tx);
      const [found] = await tx`select obj_description(to_regnamespace('drizzle'), 'pg_namespace') as comment`;
      if (found!.comment === origin(manifest.id)) return true;
      await refuseOccupied(tx);
      await fill(tx, manifest, path.resolve(folder), restored);
      await apply(tx, programVersion(), say, migrated);
      await endSessions(tx);
      await tx`select append_operator_action(${action.operator},
        ${JSON.stringify(action.entry(manifest))}::text::jsonb)`;
      await tx.unsafe(`comment on schema drizzle is '${origin(manifest.id)}'`);
      await grant(tx, undefined);
      return false;
    });
    // Without statistics the first statements would get bad plans, and keep them.
    if (!before) await sql.unsafe('analyze');
    const missing = await sql`
      select r.name from drizzle.runtime_role r
      where not exists (select from pg_roles p where p.rolname = r.name) order by 1`;
    return { manifest, before, missingRoles: missing.map(({ name }) => name as string) };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function refuseNewer({ schema, migrations }: Manifest): void {
  const own = programVersion();
  const known = new Set(migrationFiles().map(({ hash }) => hash));
  if (schema.version > own.version || migrations.some(({ hash }) => !known.has(hash)))
    throw new BackupError(
      `The backup is of a database at version ${schema.version}, newer than this program's version ` +
        `${own.version}, or of another line of migrations: restore it with the program that made it, or a newer ` +
        'one.',
    );
}

async function refuseOccupied(tx: postgres.TransactionSql): Promise<void> {
  const [found] = await tx`
    select count(*)::int as relations from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'drizzle') and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`;
  if (found!.relations > 0)
    throw new BackupError(
      `The database is not empty: it has ${found!.relations} tables, views and sequences. A backup is restored ` +
        'into an empty database, such as that of a new DATA_DIR; nothing was changed.',
    );
}

/**
 * Ends the sessions of the backup, of which some may have been revoked since, and forgets its gateways: none of them
 * runs on this database.
 */
async function endSessions(tx: postgres.TransactionSql): Promise<void> {
  await tx`delete from gateway_process`;
  await tx`delete from operator_session`;
  await tx`update session set revoked_at = wall_clock() where revoked_at is null`;
}

async function fill(
  tx: postgres.TransactionSql,
  manifest: Manifest,
  folder: string,
  restored: RestoreOptions['restored'],
): Promise<void> {
  const applied = new Set(manifest.migrations.map(({ hash }) => hash));
  await makeTables(tx, ({ hash }) => applied.has(hash));
  const tables = await tablesOf(tx);
  for (const { schema, name, columns } of manifest.tables) {
    const same = tables.find((one) => one.schema === schema && one.name === name);
    if (same?.columns.toSorted().join() !== columns.toSorted().join())
      throw new BackupError(
        `The backup is damaged: ${schema}.${name} is no table of its version, or has other columns.`,
      );
  }
  const size = manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const found of await parentsFirst(tx, tables)) {
    const entry = manifest.tables.find(({ schema, name }) => schema === found.schema && name === found.name);
    if (!entry) throw new BackupError(`The backup is incomplete: it has no table ${found.schema}.${found.name}.`);
    await copyIn(tx, found, entry, folder, (bytes) => restored(done + bytes, size));
    done += entry.bytes;
  }
}

/** Orders tables so that each comes after those that its foreign keys refer to. */
async function parentsFirst(tx: postgres.TransactionSql, tables: FoundTable[]): Promise<FoundTable[]> {
  const keys = await tx`
    select c.relname as child, p.relname as parent from pg_constraint k
    join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
    where k.contype = 'f' and k.conrelid <> k.confrelid`;
  const ordered: FoundTable[] = [];
  const rest = new Set(tables);
  while (rest.size > 0) {
    const names = new Set([...rest].map(({ name }) => name));
    const free = [...rest].filter(({ name }) => !keys.some(({ child, parent }) => child === name && names.has(parent)));
    if (free.length === 0) throw new Error(`The foreign keys of ${[...names].join(', ')} form a circle.`);
    for (const one of free) rest.delete(one);
    ordered.push(...free);
  }
  return ordered;
}

async function copyIn(
  tx: postgres.TransactionSql,
  found: FoundTable,
  entry: TableEntry,
  folder: string,
  restored: (bytes: number) => void,
): Promise<void> {
  const columns = entry.columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
  const copy = tx.unsafe(`copy "${found.schema}"."${found.name}" (${columns}) from stdin`);
  // The driver types the stream as that of the query.
  const sink = (await copy.writable()) as unknown as Writable;
  // When PostgreSQL refuses the rows at their end, the driver rejects the query, which has already ended, and
  // the stream would wait for ever. The driver's types do not declare `reject`.
  const refused = new Promise<never>((_, reject) => {
    void Object.assign(copy, { reject });
  });
  refused.catch(() => {});
  const source = fs.createReadStream(path.join(folder, entry.file));
  const measured = async function* (pieces: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const piece of pieces) {
      restored((bytes += piece.length));
      yield piece;
    }
  };
  try {
    await Promise.race([pipeline(source, measured, createGunzip({ chunkSize: 256 * 1024 }), sink), refused]);
  } catch (error) {
    source.destroy();
    const { message, code } = error as NodeJS.ErrnoException;
    throw new BackupError(
      `The rows of ${found.name} could not be restored: ${message} (${code}). Nothing was changed.`,
    );
  }
  const [stored] = await tx.unsafe(`select count(*)::float8 as rows from "${found.schema}"."${found.name}"`);
  if (stored!.rows !== entry.rows)
    throw new BackupError(
      `The backup is damaged: ${entry.file} has ${stored!.rows} rows instead of ${entry.rows}. Nothing was changed.`,
    );
}
