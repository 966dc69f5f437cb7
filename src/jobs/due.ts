import { type SQL, sql } from 'drizzle-orm';
import type { CrossTenantReads } from '../db/doors.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { acquirerKinds, job } from './table.js';
import { type Found, rowsMax, TenantScan } from './tenant-scan.js';
import { kinds, now } from './watch.js';

/** How many pages one poll reads of each order. */
const pagesMax = 2;
/** Jobs that are due for a shorter time are found first. */
const newlyDueSeconds = 10;

/** A job that a poll has read. */
interface Seen extends TenantAndMode {
  due: number;
  ready: boolean;
  poll: boolean;
}

/** The tenants and modes with due jobs. */
export interface Due {
  /** With jobs that the database runs. */
  runs: TenantAndMode[];
  /** With status polls of an acquirer. */
  polls: TenantAndMode[];
  /** Whether a poll at once may find further tenants. */
  more: boolean;
}

/**
 * Finds tenants with due jobs. Each poll reads a bounded number of index entries in three orders, so that neither many
 * jobs of one tenant nor many tenants hide a job: the newly due jobs, the newest first; all due jobs in the same order,
 * going on where the previous poll ended; and all jobs in the order of tenants.
 */
export class DueJobs {
  readonly #scan: TenantScan<Seen>;
  #after: Seen | undefined;

  constructor(private readonly database: CrossTenantReads) {
    this.#scan = new TenantScan<Seen>(database, 'tenants_with_jobs', {
      table: job,
      order: [job.due, job.id],
      columns: seen,
    });
  }

  async poll(): Promise<Due> {
    const rows: Seen[] = [];
    const newly = await this.#pages(rows, (after) => this.#byDue('tenants_with_new_jobs', newlyDue, after));
    const byDue = await this.#pages(rows, (after) => this.#byDue('tenants_with_due_jobs', due, after), this.#after);
    this.#after = byDue.ended ? undefined : byDue.last;
    const byTenant = await this.#pages(rows, () => this.#scan.next());
    const ready = rows.filter((row) => row.ready);
    return {
      runs: ready.filter(({ poll }) => !poll),
      polls: ready.filter(({ poll }) => poll),
      more: ready.length > 0 && !(newly.ended && byDue.ended && byTenant.ended),
    };
  }

  /** Reads some pages behind a row; returns whether the last one was the end. */
  async #pages(
    rows: Seen[],
    page: (after: Seen | undefined) => Promise<Found<Seen>>,
    after?: Seen,
  ): Promise<{ ended: boolean; last: Seen | undefined }> {
    let last = after;
    for (let n = 0; n < pagesMax; n++) {
      const found = await page(last);
      rows.push(...found.rows);
      last = found.rows.at(-1);
      if (found.ended) return { ended: true, last };
    }
    return { ended: false, last };
  }

  /**
   * The next due jobs, the newest first. It goes on behind the tenant of a row, so that of jobs that a tenant has in
   * one second a single page is read.
   */
  async #byDue(name: string, where: SQL, after: Seen | undefined): Promise<Found<Seen>> {
    const { placeholder } = sql;
    const rows = await this.database.crossTenant.read<Seen>(
      name,
      (db) =>
        db
          .select({ tenantId: job.tenantId, livemode: job.livemode, ...seen })
          .from(job)
          .where(
            sql`${where} and (${job.due}, ${job.tenantId}, ${job.livemode}) <
              (${placeholder('due')}::bigint, ${placeholder('tenantId')}::text, ${placeholder('livemode')}::boolean)`,
          )
          .orderBy(sql`${job.due} desc, ${job.tenantId} desc, ${job.livemode} desc`)
          .limit(rowsMax),
      {
        due: after?.due ?? Number.MAX_SAFE_INTEGER,
        tenantId: after?.tenantId ?? '',
        livemode: after?.livemode ?? false,
      },
      { by: ['due', 'tenantId', 'livemode'], descending: true, limit: rowsMax },
    );
    return { rows, ended: rows.length < rowsMax };
  }
}

const due = kinds.jobs.where;
const newlyDue = sql`${due} and ${job.due} > ${now} - ${sql.raw(String(newlyDueSeconds))}`;
const seen = {
  due: job.due,
  ready: sql<boolean>`${due}`,
  poll: sql<boolean>`${job.kind} in (${sql.raw(acquirerKinds.map((kind) => `'${kind}'`).join())})`,
};
