import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as apply } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';

export type Connection = postgres.Options<Record<string, never>>;

const folder = fileURLToPath(new URL('../../drizzle', import.meta.url));

/**
 * Brings a database to this version: the table migrations first, then every file of
 * `drizzle/functions` whose text has changed. Safe when several processes start at once,
 * since an advisory lock on the one connection lets only one of them work at a time.
 */
export async function migrate(connection: Connection): Promise<void> {
  await exclusively(connection, 'migrate', async (sql) => {
    await apply(drizzle(sql), { migrationsFolder: folder });
    await applyFunctions(sql);
  });
}

/** Does a piece of work while no other process on this database does the same; the lock goes with its connection, whatever dies. */
export async function exclusively<T>(
  connection: Connection,
  work: string,
  run: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres({ ...connection, max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await sql`select pg_advisory_lock(hashtextextended(${`tidegate:${work}`}, 0))`;
    return await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function applyFunctions(sql: postgres.Sql): Promise<void> {
  await sql.unsafe('create table if not exists drizzle.function_file (name text primary key, sha256 text not null)');
  const applied = new Map((await sql`select name, sha256 from drizzle.function_file`).map((r) => [r.name, r.sha256]));
  for (const name of fs.readdirSync(path.join(folder, 'functions')).sort()) {
    const text = fs.readFileSync(path.join(folder, 'functions', name), 'utf8');
    const sha256 = createHash('sha256').update(text).digest('hex');
    if (applied.get(name) === sha256) continue;
    // Several statements in one simple query are one implicit transaction: a file is applied whole or not at all.
    await sql.unsafe(text);
    await sql`insert into drizzle.function_file values (${name}, ${sha256}) on conflict (name) do update set sha256 = excluded.sha256`;
  }
}
