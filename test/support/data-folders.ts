import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { inject } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { Database } from '../../src/db/database.js';
import { poolsDefault } from '../../src/db/connect/database-settings.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import { migrate } from '../../src/db/schema/migrate.js';
import { seedDemo } from '../../src/server/demo/demo.js';
import { Operator } from '../../src/operator/operator.js';

/** What a prepared data folder contains: an empty database of this version, or that and the demo. */
export type Content = 'migrated' | 'demo';

const pepperOf = (folder: string) => fs.readFileSync(path.join(folder, 'pepper'), 'utf8');

/**
 * Copies a prepared data folder into an empty one; returns the pepper of its keys. The first test file of a run that
 * needs it prepares it: initdb, the migrations and the demo take seconds of processor time, a copy almost none. Tests
 * of a first start begin with an empty folder.
 */
export async function copyDataFolder(folder: string, content: Content): Promise<string> {
  const template = await prepared(content);
  // `-a` keeps the owner, who is another user where the tests run as root.
  run('cp', '-a', `${template}/.`, folder);
  return pepperOf(folder);
}

/** The folder to copy. Workers that need it at the same time wait for the one that prepares it. */
async function prepared(content: Content): Promise<string> {
  const folder = path.join(inject('dataFolders'), content);
  const sql = postgres({ ...inject('admin'), max: 1 });
  try {
    await sql`select pg_advisory_lock(hashtextextended(${folder}, 0))`;
    if (!fs.existsSync(folder)) {
      const draft = `${folder}-draft`;
      fs.rmSync(draft, { recursive: true, force: true });
      fs.mkdirSync(draft, { mode: 0o755 });
      if (content === 'demo') await copyDataFolder(draft, 'migrated');
      await prepare(draft, content);
      fs.renameSync(draft, folder);
    }
    return folder;
  } finally {
    await sql.end();
  }
}

async function prepare(folder: string, content: Content): Promise<void> {
  const dir = path.join(folder, 'postgres');
  const embedded = await startEmbedded({ dir, durable: false });
  try {
    if (content === 'migrated') {
      await migrate(embedded.options);
      fs.writeFileSync(path.join(folder, 'pepper'), 'the pepper of a prepared data folder', { mode: 0o600 });
      // So that no start seeds a demo.
      fs.writeFileSync(path.join(folder, 'demo.json'), JSON.stringify({ attempt: 1, whole: true }));
    } else {
      // Each connection plans the statements of the functions anew, so fewer of them take less of the processor.
      const database = new Database(embedded.options, undefined, { pools: { ...poolsDefault, write: 2, worker: 1 } });
      const pepper = pepperOf(folder);
      await seedDemo(new Operator(database, buildGraph(), pepper), pepper, () => {});
      await database.close();
    }
  } finally {
    await embedded.release();
  }
  for (const name of ['run', 'postgres.log']) fs.rmSync(path.join(dir, name), { recursive: true, force: true });
}

function run(program: string, ...args: string[]): void {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
