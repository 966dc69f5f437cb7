import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { openClient } from '../connect/driver/connection.js';
import type { Place } from './place.js';
import { code, text } from './folder.js';

const NO_LISTENER: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);

/**
 * The answer of the server at a socket: it is ready; it is starting; it refuses the login or gives no answer in time;
 * or no server listens.
 */
export async function ask(socket: string): Promise<'yes' | 'awaking' | 'no' | 'silence'> {
  if (!fs.existsSync(path.join(socket, '.s.PGSQL.5432'))) return 'silence';
  const login = { host: socket, port: 5432, username: 'tidegate', database: 'tidegate', ssl: false };
  const client = openClient({ ...login, max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => {} });
  try {
    await client`select 1`;
    return 'yes';
  } catch (error) {
    // A server on a busy machine may need longer than the time limit, and still uses its data.
    if (!(error instanceof postgres.PostgresError)) return NO_LISTENER.has(code(error)) ? 'silence' : 'no';
    return error.code === '57P03' ? 'awaking' : 'no';
  } finally {
    await client.end({ timeout: 1 });
  }
}

/**
 * The running server of the cluster. If another program has the pid of postmaster.pid by now, this removes the file:
 * PostgreSQL would refuse to start while it exists.
 */
export function postmaster(place: Place): { pid: number; socket: string } | undefined {
  const [pid = '', , , , socket = ''] = postmasterFile(place);
  try {
    process.kill(Number(pid || NaN), 0);
  } catch (error) {
    if (code(error) !== 'EPERM') return undefined;
  }
  const ps = () => spawnSync('ps', ['-ww', '-o', 'args=', '-p', pid], { encoding: 'utf8' }).stdout;
  const command = process.platform === 'linux' ? text(`/proc/${pid}/cmdline`) : ps();
  if (command.includes('postgres')) return { pid: Number(pid), socket };
  fs.rmSync(path.join(place.cluster, 'postmaster.pid'), { force: true });
  return undefined;
}

/**
 * The lines of postmaster.pid. The first is the pid; the fifth is the socket's folder, chosen by the starter's TMPDIR.
 */
export function postmasterFile(place: Place): string[] {
  return text(path.join(place.cluster, 'postmaster.pid')).split('\n');
}
