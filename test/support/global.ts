import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { initialize } from '../../src/db/cluster/initialize.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import { migrate } from '../../src/db/schema/migrate.js';
import { alive } from './alive.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * The login to the run's PostgreSQL as superuser; test databases belong to the role `tidegate`, which has no
     * privileges.
     */
    admin: { host: string; port: number; username: string; database: string };
    /** The database of CITUS_URL, which is distributed: every test file uses this one, with tenants of its own. */
    distributed: string | undefined;
    /** The folder of the run's data folders, the prepared ones too; see data-folders.ts. */
    dataFolders: string;
  }
}

/**
 * The PostgreSQL of a run: the embedded one, or that of TEST_DATABASE_URL, such as another version's. This names a
 * superuser and the folder of a socket: postgres://postgres@/postgres?host=/folder, with the port 5432.
 */
async function server(dir: string) {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) return startEmbedded({ dir, durable: false });
  const host = new URL(url.replace('@/', '@localhost/')).searchParams.get('host')!;
  const admin = { host, port: 5432, username: 'postgres', database: 'postgres' };
  const sql = postgres({ ...admin, max: 1, onnotice: () => {} });
  const known = await sql`select 1 from pg_roles where rolname = 'tidegate'`;
  if (known.length === 0) await sql.unsafe('create role tidegate login');
  await sql.unsafe('drop database if exists tidegate_template');
  await sql.end();
  return { admin, options: { ...admin, username: 'tidegate' }, release: async () => {} };
}

/** Makes the folder of a run, and removes those of runs that were killed: they fill the memory that holds them. */
function runFolder(): string {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const [, pid] = /^tidegate-test-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !alive(Number(pid)))
      fs.rmSync(path.join(os.tmpdir(), name), { recursive: true, force: true });
  }
  return fs.mkdtempSync(path.join(os.tmpdir(), `tidegate-test-${process.pid}-`));
}

/** Prepares one real PostgreSQL per run, with a migrated template database that every test file clones. */
export default async function ({ provide }: TestProject): Promise<() => Promise<void>> {
  const base = runFolder();
  fs.chmodSync(base, 0o755);
  const citus = process.env.CITUS_URL;
  const embedded = citus === undefined ? await server(path.join(base, 'postgres')) : undefined;
  if (embedded) {
    const sql = postgres({ ...embedded.admin, max: 1 });
    await sql.unsafe('create database tidegate_template owner tidegate');
    await migrate({ ...embedded.options, database: 'tidegate_template' });
    await sql.end();
    provide('admin', embedded.admin);
  } else {
    const connection = connectionOf(citus!);
    await migrate(connection);
    await initialize(connection);
  }
  provide('distributed', citus);
  const dataFolders = path.join(base, 'data-folders');
  fs.mkdirSync(dataFolders, { mode: 0o755 });
  provide('dataFolders', dataFolders);
  return async () => {
    await embedded?.release();
    fs.rmSync(base, { recursive: true, force: true });
  };
}
