import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerCalls } from '../db/doors.js';
import { version } from '../config/version.js';

/** One small statement of each process in this time. The operator's graph takes a process as dead after three. */
const beatMilliseconds = 10_000;

/** Says every 10 seconds that this process runs, so that operators see which gateways are alive. */
export class Heartbeat {
  readonly #id = `gateway_${randomUUID().replaceAll('-', '')}`;

  constructor(
    private readonly database: WorkerCalls,
    private readonly stop: AbortSignal,
  ) {}

  /** Beats until the worker stops, and then says that the process ends. An outage is logged by others. */
  async run(): Promise<void> {
    while (!this.stop.aborted) {
      await this.database
        .work('report_gateway_process', [this.#id, os.hostname(), process.pid, version])
        .catch(() => {});
      await sleep(beatMilliseconds, undefined, { signal: this.stop }).catch(() => {});
    }
    await this.database.work('remove_gateway_process', [this.#id]).catch(() => {});
  }
}
