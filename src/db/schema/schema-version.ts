import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';

export const folder = fileURLToPath(new URL('../../../drizzle', import.meta.url));

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

/** The version of this program: the number in `drizzle/version.json`, and the hash of the current files. */
export function programVersion(): SchemaVersion {
  const { version, servesFrom } = JSON.parse(
    fs.readFileSync(path.join(folder, 'version.json'), 'utf8'),
  ) as SchemaVersion;
  return { version, servesFrom, sha256: hashOfFiles() };
}

/** The hash over every file that a migration applies, in their order. */
export function hashOfFiles(): string {
  const hash = createHash('sha256');
  const migrations = fs.readdirSync(folder).filter((name) => name.endsWith('.sql'));
  for (const name of [...migrations.sort(), ...functionFiles()])
    hash.update(`${name}\n`).update(fs.readFileSync(path.join(folder, name)));
  return hash.digest('hex');
}

/** The names of the files of SQL functions below drizzle/, in the order in which they are applied. */
export function functionFiles(): string[] {
  const names = fs.readdirSync(path.join(folder, 'functions'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.sql'))
    .map((name) => `functions/${name.replaceAll(path.sep, '/')}`)
    .sort();
}

/**
 * The version of a database. It is undefined before the first migration, and for a database whose last migration did
 * not store a version yet.
 */
export async function databaseVersion(sql: postgres.ISql): Promise<SchemaVersion | undefined> {
  const [known] = await sql`select to_regclass('drizzle.schema_version') is not null as there`;
  if (!known!.there) return undefined;
  const [row] = await sql`select version, serves_from, sha256 from drizzle.schema_version`;
  return row && { version: row.version, servesFrom: row.serves_from, sha256: row.sha256 };
}

/**
 * Compares a database's version with this program's: `current`, `older` or `newer`. A newer database states the oldest
 * program that can serve it, so that an older gateway can restart while a release is rolled out. Throws a
 * MigrationError when this program cannot serve it.
 */
export function compared(
  found: SchemaVersion | undefined,
  own: SchemaVersion = programVersion(),
): 'current' | 'older' | 'newer' {
  if (!found || found.version < own.version) return 'older';
  if (found.version === own.version) return found.sha256 === own.sha256 ? 'current' : 'older';
  if (found.servesFrom > own.version) {
    throw new MigrationError(
      `${newerThan(found, own)} Only programs from version ${found.servesFrom} on can serve it: start a newer program.`,
    );
  }
  return 'newer';
}

/** The sentence about a database that is older than the program, when the program may not migrate it. */
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
