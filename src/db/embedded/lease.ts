import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './place.js';
import { postmasterFile, ask } from './postmaster.js';
import { refuseForeign } from './folder.js';
import { openFifo, close, listened } from './fifo.js';
import { supervised } from './supervisor.js';

const { O_RDONLY, O_WRONLY } = fs.constants;

/** Where to log in, as postgres.js options. The port only names the socket; without it PGPORT would decide. */
type Login = { host: string; port: number; username: string; database: string };

/** A lease on the embedded PostgreSQL: the server runs until the last lease holder's `release`, or the end of its process. */
export interface Embedded {
  /** The plain role `tidegate`, owner of the database `tidegate` and no superuser: revoked privileges bind it. */
  options: Login;
  /** The superuser, for tests that create databases. */
  admin: Login;
  /** Lets go of the server; the last lease holder's release stops it and waits until it has stopped. Idempotent. */
  release(): Promise<void>;
}

/** A lease, when a server answers and cannot stop any more; otherwise whether it is at least awaking. */
export async function attach(place: Place): Promise<Embedded | 'awaking' | undefined> {
  const socket = postmasterFile(place)[4];
  if (!socket) return undefined;
  refuseForeign(socket, place.user);
  const present = openFifo(place.present, O_RDONLY);
  const lease = openFifo(place.leases, O_WRONLY);
  const letGo = () => [present, lease].forEach(close);
  const answer = present !== undefined && lease !== undefined && counts(place, lease) ? await ask(socket) : 'silence';
  if (answer !== 'yes') {
    letGo();
    return answer === 'awaking' ? answer : undefined;
  }
  let released: Promise<void> | undefined;
  return {
    options: { host: socket, port: 5432, username: 'tidegate', database: 'tidegate' },
    admin: { host: socket, port: 5432, username: 'postgres', database: 'postgres' },
    release() {
      if (!released) letGo();
      return (released ??= stopped(place));
    },
  };
}

/**
 * At the end of the file the supervisor hides the FIFO and looks once more. So a FIFO that is still in its place proves
 * that the last look is yet to come and will see us; the line makes that look return instead of waiting for our end.
 */
function counts(place: Place, lease: number): boolean {
  try {
    fs.writeSync(lease, '\n');
    return fs.lstatSync(place.leases).ino === fs.fstatSync(lease).ino;
  } catch {
    return false;
  }
}

/** The last lease holder waits until the server is gone; one who remains, or arrives meanwhile, ends the waiting. */
async function stopped(place: Place): Promise<void> {
  while (!listened(place.present) && supervised(place)) await sleep(5);
}
