import type { Logger } from 'pino';
import { sql } from 'drizzle-orm';
import type { CrossTenantReads, WorkerCalls } from '../db/doors.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { DomainError } from '../errors/problems.js';
import { faultLine } from '../errors/log.js';
import { type TenantWork, workerFault } from './table.js';
import { modeOf } from '../request/mode.js';

/** How many faults one poll reads. */
const faultsMax = 100;
/** The longest pause: an attempt that is further ahead is due, because the clock was ahead when it was stored. */
const pauseSecondsMax = 60;
/** The pause after an attempt that an outage or another statement's lock may have interrupted. */
const interruptedMilliseconds = 1_000;

/** Work of a tenant and mode that has failed. */
export interface FailedWork extends TenantAndMode {
  work: TenantWork;
}

/** The fields of a log line that say whose work it is about. */
export const workLine = (work: TenantWork, { tenantId, livemode }: TenantAndMode) => ({
  tenant: tenantId,
  mode: modeOf(livemode),
  work,
});

/**
 * The work that fails, by tenant and mode. A failed attempt is stored and logged, and the next one waits longer each
 * time. The first attempt that succeeds deletes the fault.
 */
export class Faults {
  /** When the next attempt at failed work may begin. */
  readonly #pausedUntil = new Map<string, number>();
  /** Work whose last attempt may have been interrupted by an outage or a lock. */
  readonly #interrupted = new Set<string>();
  #after: FailedWork | undefined;

  constructor(
    private readonly database: CrossTenantReads & WorkerCalls,
    private readonly log: Logger,
    private readonly onFailure: (work: TenantWork) => void = () => {},
  ) {}

  /** Whether work waits for its next attempt. */
  paused(work: TenantWork, tenantAndMode: TenantAndMode): boolean {
    return (this.#pausedUntil.get(keyOf(work, tenantAndMode)) ?? 0) > performance.now();
  }

  /** Does a piece of a tenant's work; returns what it returns, and false when it fails or has to wait. */
  async attempt(work: TenantWork, tenantAndMode: TenantAndMode, run: () => Promise<boolean>): Promise<boolean> {
    const key = keyOf(work, tenantAndMode);
    const values: [string, boolean, string] = [tenantAndMode.tenantId, tenantAndMode.livemode, work];
    const known = this.#pausedUntil.has(key);
    try {
      if (known) {
        const [row] = await this.database.work('claim_worker_fault', values);
        const wait = Number(row?.claim_worker_fault);
        if (wait > 0) {
          this.#pause(key, wait * 1000);
          return false;
        }
      }
      const more = await run();
      this.#interrupted.delete(key);
      if (known) await this.#clear(key, values);
      return more;
    } catch (error) {
      this.onFailure(work);
      await this.#record(key, values, error);
      return false;
    }
  }

  async #clear(key: string, values: [string, boolean, string]): Promise<void> {
    await this.database.work('clear_worker_fault', values);
    this.#pausedUntil.delete(key);
    const [tenantId, livemode, work] = values;
    this.log.info(workLine(work as TenantWork, { tenantId, livemode }), 'work of a tenant succeeds again');
  }

  /**
   * Stores a failed attempt. PostgreSQL's outages and the locks of other statements are no fault of a tenant, so the
   * first attempt that ends by one of them is repeated; from the second one on it is a fault.
   */
  async #record(key: string, values: [string, boolean, string], error: unknown): Promise<void> {
    const [tenantId, livemode, work] = values;
    const line = { ...workLine(work as TenantWork, { tenantId, livemode }), ...faultLine(error) };
    if (error instanceof DomainError && !this.#interrupted.has(key)) {
      this.#interrupted.add(key);
      if (this.#pausedUntil.has(key)) this.#pause(key, interruptedMilliseconds);
      this.log.debug(line, 'work of a tenant was interrupted');
      return;
    }
    try {
      const [row] = await this.database.work('record_worker_fault', [...values, line.message]);
      const seconds = Number(row?.record_worker_fault);
      this.#pause(key, seconds * 1000);
      this.log.warn({ ...line, nextAttemptSeconds: seconds }, 'work of a tenant failed and will be tried again');
    } catch (unavailable) {
      this.#pause(key, interruptedMilliseconds);
      this.log.debug({ ...line, unavailable: faultLine(unavailable).message }, 'a fault could not be stored');
    }
  }

  /** Notes stored faults, a bounded number each time; returns those whose next attempt is due. */
  async due(): Promise<FailedWork[]> {
    const rows = await this.database.crossTenant.read<FailedWork & { wait: number }>(
      'tenants_with_faults',
      (db) =>
        db
          .select({
            tenantId: workerFault.tenantId,
            livemode: workerFault.livemode,
            work: workerFault.work,
            wait: sql<number>`(${workerFault.nextAttempt} - extract(epoch from statement_timestamp()))::float8`,
          })
          .from(workerFault)
          .where(
            sql`(${workerFault.tenantId}, ${workerFault.livemode}, ${workerFault.work}) >
              (${sql.placeholder('tenantId')}::text, ${sql.placeholder('livemode')}::boolean,
                ${sql.placeholder('work')}::text)`,
          )
          .orderBy(workerFault.tenantId, workerFault.livemode, workerFault.work)
          .limit(faultsMax),
      {
        tenantId: this.#after?.tenantId ?? '',
        livemode: this.#after?.livemode ?? false,
        work: this.#after?.work ?? '',
      },
      { by: ['tenantId', 'livemode', 'work'], limit: faultsMax },
    );
    this.#after = rows.length < faultsMax ? undefined : rows.at(-1);
    const isDue = ({ wait }: { wait: number }) => wait <= 0 || wait > pauseSecondsMax;
    for (const row of rows) this.#pause(keyOf(row.work, row), isDue(row) ? 0 : row.wait * 1000);
    return rows.filter(isDue);
  }

  #pause(key: string, milliseconds: number): void {
    this.#pausedUntil.set(key, performance.now() + milliseconds);
  }
}

const keyOf = (work: TenantWork, { tenantId, livemode }: TenantAndMode) => `${work} ${tenantId} ${livemode}`;
