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

/** What to lease: `dir` has the data and the log, `durable: false` risks the data in a crash, for the asynchronous commit of tests. */
export type Start = { dir: string; durable?: boolean; progress?: Progress };

/**
 * A lease on the PostgreSQL of a data folder (README.md in this folder has a worked example), made, started or joined as needed; who starts it decides `durable`.
 * As root the server runs as `postgres` or `nobody`, and keeps in /var/tmp what that user cannot reach elsewhere.
 * Refuses when this platform has no binaries, and when the server does not answer: with the end of its log.
 */
export async function startEmbedded({ dir, durable = true, progress = () => {} }: Start): Promise<Embedded> {
  const kit = packageFolder();
  const place = locate(dir, progress);
  const bin = binaries(kit, place.user, progress);
  let deadline = Date.now() + PATIENCE_MS;
  let guard: number | undefined;
  try {
    for (let failures = 0; Date.now() < deadline; await sleep(10)) {
      const found = await attach(place);
      if (typeof found === 'object') return found;
      // Recovery after a crash takes its time, and giving up would only make the next start begin it again.
      if (found === 'awaking') deadline = Date.now() + PATIENCE_MS;
      if (supervised(place)) continue;
      if (guard !== undefined && (failures += 1) === FAILURES_MAX) break;
      guard = close(guard);
      await sleep(200 * failures);
      guard = await alone(place, () => supervise(place, bin, durable, progress));
    }
  } finally {
    close(guard);
  }
  throw new Error(`PostgreSQL in ${place.home} does not answer. ${ELSEWHERE}\n${text(place.log).slice(-2000)}`);
}

const PATIENCE_MS = 30_000;
const FAILURES_MAX = 5;

/**
 * One starter at a time: a folder moved into place with a FIFO in it, which its owner keeps open for reading while at
 * work; nothing is done when there is such an owner. A pid would not do as the sign of life: after the restart of a
 * container it soon is somebody else's, or our own.
 */
async function alone<T>(place: Place, work: () => Promise<T>): Promise<T | undefined> {
  const folder = path.join(place.run, 'starting');
  for (const sign of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    if (listened(path.join(folder, sign))) return undefined;
    fs.rmSync(path.join(folder, sign), { force: true });
  }
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
