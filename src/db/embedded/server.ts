import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Progress, locate, type Place } from './place.js';
import { packageFolder, binaries } from './binaries.js';
import { supervised, supervise } from './supervisor.js';
import { close, listened, makeFifo, openFifo } from './fifo.js';
import { attach, type Embedded } from './lease.js';
import { ELSEWHERE, text, ownFolder, moved } from './folder.js';

const { O_RDONLY } = fs.constants;

/**
 * What to lease. `dir` contains the data and the log. With `durable: false` a crash may lose data; this is for tests,
 * which commit asynchronously.
 */
export type Start = { dir: string; durable?: boolean; progress?: Progress };

/**
 * A lease on the PostgreSQL of a data folder (README.md in this folder has a worked example). Makes the data, starts
 * the server or joins it, as needed. The process that starts the server decides `durable`. If this process is root, the
 * server runs as `postgres` or `nobody`, and files that this user cannot access elsewhere are in /var/tmp. Refuses when
 * this platform has no binaries, or when the server does not answer; that error contains the end of the server's log.
 */
export async function startEmbedded({ dir, durable = true, progress = () => {} }: Start): Promise<Embedded> {
  const kit = packageFolder();
  const place = locate(dir, progress);
  const bin = binaries(kit, place.user, progress);
  let told = performance.now();
  let deadline = told + PATIENCE_MS;
  let lease: number | undefined;
  try {
    for (let failures = 0; performance.now() < deadline; await sleep(10)) {
      const found = await attach(place);
      if (typeof found === 'object') return found;
      // Wait as long as the server's process lives: a busy machine is slow, and recovery after a crash may take long
      // and would begin again with the next start.
      const lives = supervised(place);
      if (lives || found === 'awaking') deadline = performance.now() + PATIENCE_MS;
      if (performance.now() > told + PATIENCE_MS) {
        told = performance.now();
        progress('PostgreSQL takes long to start');
      }
      if (lives) continue;
      if (lease !== undefined && (failures += 1) === FAILURES_MAX) break;
      lease = close(lease);
      await sleep(200 * failures);
      lease = await asOnlyStarter(place, () => supervise(place, bin, durable, progress));
      // Making the data may take long, too, in this process or in another one.
      if (lease !== undefined || starterWorks(place)) deadline = performance.now() + PATIENCE_MS;
    }
  } finally {
    close(lease);
  }
  throw new Error(`PostgreSQL in ${place.home} does not answer. ${ELSEWHERE}\n${text(place.log).slice(-2000)}`);
}

const PATIENCE_MS = 30_000;
const FAILURES_MAX = 5;

/** Whether a starter works; removes the signs of those that have ended. */
function starterWorks(place: Place): boolean {
  const folder = path.join(place.run, 'starting');
  for (const sign of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    if (listened(path.join(folder, sign))) return true;
    fs.rmSync(path.join(folder, sign), { force: true });
  }
  return false;
}

/**
 * Runs the work of a start in one process at a time. The starter moves a folder with a FIFO into place, and keeps the
 * FIFO open for reading while it works; if another starter does so, this does nothing. A pid could not show that the
 * starter is alive: after the restart of a container, another process, or this one, may soon have the same pid.
 */
async function asOnlyStarter<T>(place: Place, work: () => Promise<T>): Promise<T | undefined> {
  if (starterWorks(place)) return undefined;
  const folder = path.join(place.run, 'starting');
  const draft = fs.mkdtempSync(`${folder}-`);
  const sign = path.basename(draft);
  ownFolder(draft, place.user, 0o700);
  makeFifo(path.join(draft, sign), place.user);
  const alive = openFifo(path.join(draft, sign), O_RDONLY);
  try {
    return moved(draft, folder) ? await work() : undefined;
  } finally {
    fs.rmSync(path.join(folder, sign), { force: true });
    close(alive);
  }
}
