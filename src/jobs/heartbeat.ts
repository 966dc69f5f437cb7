import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerCalls } from '../db/doors.js';
import { version } from '../config/version.js';

/** One small commit of each process in this time. The operator's graph takes a process as dead after 30 seconds. */
const beatMilliseconds = 2_000;

/**
 * Says every 2 seconds that this process runs, so that operators see which gateways are alive, and so finds out whether
 * the database stores what is written, also where no client writes. One commit follows the other.
 */
export class Heartbeat {
  readonly #id = `gateway_${randomUUID().replaceAll('-', '')}`;

  constructor(
    private readonly database: WorkerCalls,
    private readonly stop: AbortSignal,
  ) {}

  /** Beats until the worker stops, and then says that the process ends. An outage is logged by others. */
  async run(): Promise<void> {
    while (!this.stop.aborted) {
      await this.#beat();
      await sleep(beatMilliseconds, undefined, { signal: this.stop }).catch(() => {});
    }
    await this.database.work('remove_gateway_process', [this.#id]).catch(() => {});
  }

  /** One commit. One that hangs does not keep the process from ending. */
  async #beat(): Promise<void> {
    const beaten = new AbortController();
    const values = [this.#id, os.hostname(), process.pid, version];
    const stopped = once(this.stop, 'abort', { signal: beaten.signal });
    await Promise.race([this.database.beat('report_gateway_process', values), stopped]).catch(() => {});
    stopped.catch(() => {});
    beaten.abort();
  }
}
