import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './place.js';
import { postmasterFile, ask } from './postmaster.js';
import { refuseForeign } from './folder.js';
import { openFifo, close, listened } from './fifo.js';
import { supervised } from './supervisor.js';

const { O_RDONLY, O_WRONLY } = fs.constants;

/** The login, as postgres.js options. The port only determines the socket's name; without it, PGPORT would decide. */
type Login = { host: string; port: number; username: string; database: string };

/**
 * A lease on the embedded PostgreSQL: the server runs until the last lease holder's `release`, or the end of its
 * process.
 */
export interface Embedded {
  /** The plain role `tidegate`, owner of the database `tidegate` and no superuser: revoked privileges bind it. */
  options: Login;
  /** The superuser, for tests that create databases. */
  admin: Login;
  /** Releases the lease. The release of the last lease holder also waits until the server has stopped. Idempotent. */
  release(): Promise<void>;
}

/** A lease, if a server answers and will not stop before its release; otherwise whether a server is starting. */
export async function attach(place: Place): Promise<Embedded | 'awaking' | undefined> {
  const socket = postmasterFile(place)[4];
  if (!socket) return undefined;
  refuseForeign(socket, place.user);
  const present = openFifo(place.present, O_RDONLY);
  const lease = openFifo(place.leases, O_WRONLY);
  const closeBoth = () => [present, lease].forEach(close);
  const answer =
    present !== undefined && lease !== undefined && supervisorSees(place, lease) ? await ask(socket) : 'silence';
  if (answer !== 'yes') {
    closeBoth();
    return answer === 'awaking' ? answer : undefined;
  }
  let released: Promise<void> | undefined;
  return {
    options: { host: socket, port: 5432, username: 'tidegate', database: 'tidegate' },
    admin: { host: socket, port: 5432, username: 'postgres', database: 'postgres' },
    release() {
      if (!released) closeBoth();
      return (released ??= stopped(place));
    },
  };
}

/**
 * Whether the supervisor will see this lease. At the end of the file, the supervisor renames the FIFO and reads once
 * more. So a FIFO that still has its name proves that the last read is yet to come, and will see this lease. The line
 * makes that read return at once instead of waiting for the end of this process.
 */
function supervisorSees(place: Place, lease: number): boolean {
  try {
    fs.writeSync(lease, '\n');
    return fs.lstatSync(place.leases).ino === fs.fstatSync(lease).ino;
  } catch {
    return false;
  }
}

/** Waits until the server has stopped, or at once returns if another process has a lease or gets one meanwhile. */
async function stopped(place: Place): Promise<void> {
  while (!listened(place.present) && supervised(place)) await sleep(5);
}
