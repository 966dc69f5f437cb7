import type { Logger } from 'pino';
import type { WorkerCalls } from '../db/doors.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { DomainError } from '../errors/problems.js';
import { faultLine } from '../errors/log.js';
import { workLine } from './faults.js';
import type { Numbering } from './numbering.js';
import { OwnWork } from './table.js';

const batchMax = 50;

/** Runs the jobs of a tenant that a database function does, some in each call. */
export class JobBatches {
  /**
   * The batch size of a tenant and mode after a batch has failed: half of the previous size each time, until the
   * failing job is alone in its batch.
   */
  readonly #batches = new Map<string, number>();

  constructor(
    private readonly database: WorkerCalls,
    private readonly log: Logger,
    private readonly numbers: Numbering,
  ) {}

  /**
   * Runs a batch of jobs; returns whether there may be more. The database counts a failed attempt against the job that
   * fails, and keeps the work of the other jobs. When a whole batch fails, the next batch has half of its size; a job
   * that fails alone in its batch gets the failed attempt. Throws when PostgreSQL is unavailable.
   */
  async run({ tenantId, livemode }: TenantAndMode): Promise<boolean> {
    const key = `${tenantId} ${livemode}`;
    const size = this.#batches.get(key) ?? batchMax;
    const line = workLine(OwnWork.RUN_JOBS, { tenantId, livemode });
    try {
      const rows = await this.database.work('run_due_jobs', [tenantId, livemode, size]);
      if (size * 2 >= batchMax) this.#batches.delete(key);
      else this.#batches.set(key, size * 2);
      const failed = rows.filter((row) => row.job_error !== null);
      const [first] = failed;
      if (first)
        this.log.warn(
          { ...line, job: first.job_id, kind: first.job_kind, message: first.job_error, failed: failed.length },
          'jobs of a tenant failed and will be tried again',
        );
      if (rows.length > 0) this.numbers.soon();
      return rows.length > 0;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      this.#batches.set(key, Math.max(1, Math.floor(size / 2)));
      if (size === 1) {
        const message = String((error as Error).message);
        const [row] = await this.database.work('charge_first_job', [tenantId, livemode, message]);
        if (Number(row?.charge_first_job) === 0) throw error;
      }
      this.log.warn({ ...line, ...faultLine(error), size }, 'jobs of a tenant will be tried again');
      return true;
    }
  }
}
