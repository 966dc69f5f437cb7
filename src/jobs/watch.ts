import { isNull, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Logger } from 'pino';
import type { CrossTenantReads } from '../db/doors.js';
import { fixedLimit } from '../db/schema/drizzle-types.js';
import { DomainError } from '../errors/problems.js';
import { event } from '../resources/event/table.js';
import { dataExport } from '../resources/export/table.js';
import { dataImport } from '../resources/import/table.js';
import { webhookEndpoint } from '../resources/webhook-endpoint/table.js';
import { faultLine } from '../errors/log.js';
import { PollTimer } from './poll-timer.js';
import { job, workerFault } from './table.js';
import { rowWork } from './work.js';

const watchMilliseconds = 200;
const everyMilliseconds = 250;
/** A poll that has no answer by then says nothing: each kind of work is looked for by itself. */
const lateMilliseconds = 1_000;

/** The database's time of the statement: a clock that moves during the statement cannot bound an index scan. */
export const now = sql`floor(extract(epoch from statement_timestamp()))::bigint`;

/** The rows that are work of one kind. */
interface Work {
  table: PgTable & { tenantId: PgColumn; livemode: PgColumn };
  where?: SQL;
  /** The beginning of the index in whose order the first row is found: tenant and mode follow. */
  by?: PgColumn;
  /** The shortest time between two polls for it, unless something wakes what looks; 250 ms by default. */
  every?: number;
}

const until = (due: PgColumn) => sql`${due} <= ${now}`;

/**
 * The kinds of work that have to be found, and that have their own code. What looks for the rows of a kind has its
 * condition from here.
 */
export const kinds = {
  jobs: { table: job, where: until(job.due), by: job.due },
  events: { table: event, where: isNull(event.number) },
  faults: { table: workerFault, every: 1_000 },
  deliveries: {
    table: webhookEndpoint,
    where: sql`${webhookEndpoint.enabled} and ${until(webhookEndpoint.due)} and
      coalesce(${webhookEndpoint.claimedUntil}, 0) not between ${now} + 1 and ${now} + 3600`,
    by: webhookEndpoint.due,
  },
  exports: { table: dataExport, where: until(dataExport.due), by: dataExport.due, every: 500 },
  imports: { table: dataImport, where: until(dataImport.due), by: dataImport.due, every: 500 },
} satisfies Record<string, Work>;
export type Kind = keyof typeof kinds;
/** All kinds: those of the resources have the names of their work. */
const all: [name: string, Work][] = [
  ...Object.entries<Work>(kinds),
  ...[...rowWork].map(([name, { table, where, everyMilliseconds: every }]): [string, Work] => [
    name,
    { table, every, ...(where && { where }) },
  ]),
];

/** The names of all kinds. */
export const kindNames: readonly string[] = all.map(([name]) => name);

/** The kinds of which there is work: of each, the first entry of an index is read. */
function statement(db: PostgresJsDatabase) {
  const first = ([kind, { table, where, by }]: [string, Work]) =>
    db
      .select({ kind: sql<string>`${sql.raw(`'${kind}'`)}` })
      .from(table as PgTable)
      .where(where)
      .orderBy(...(by ? [by] : []), table.tenantId, table.livemode)
      .limit(fixedLimit(1));
  const [one, other, ...more] = all.map(first);
  return unionAll(one!, other!, ...more);
}

/**
 * Finds out of which kinds there is work, by one small statement five times a second, so that no other poll is made
 * while there is none. When it fails or is late, such as by a lock on one of its tables, there may be work of every
 * kind.
 */
export class Watch {
  /** They say when the next poll for a kind of work begins. */
  readonly timers: Record<Kind, PollTimer>;
  readonly #timers: ReadonlyMap<string, PollTimer>;
  readonly #pause = new PollTimer(watchMilliseconds);

  constructor(
    private readonly database: CrossTenantReads,
    private readonly log: Logger,
    private readonly stop: AbortSignal,
  ) {
    this.#timers = new Map(all.map(([kind, { every = everyMilliseconds }]) => [kind, new PollTimer(every)]));
    this.timers = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, this.timerOf(kind)])) as Record<
      Kind,
      PollTimer
    >;
    stop.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** The timer of a kind of work. */
  timerOf(kind: string): PollTimer {
    const found = this.#timers.get(kind);
    if (!found) throw new Error(`there is no work ${kind}`);
    return found;
  }

  /** Looks until the worker stops. */
  async run(): Promise<void> {
    while (!this.stop.aborted) {
      const late = setTimeout(() => this.#notifyAll(), lateMilliseconds);
      try {
        for (const kind of await this.poll()) this.timerOf(kind).notify();
      } catch (error) {
        this.#notifyAll();
        // The log reports an outage once, and not at each attempt.
        const outage = error instanceof DomainError && error.status === 503;
        this.log[outage ? 'debug' : 'warn'](faultLine(error), 'the worker looks for each kind of work by itself');
      } finally {
        clearTimeout(late);
      }
      await this.#pause.next(true);
    }
  }

  /** The kinds of which there is work now. */
  async poll(): Promise<Set<string>> {
    const rows = await this.database.crossTenant.read<{ kind: string }>('kinds_of_work', statement);
    return new Set(rows.map(({ kind }) => kind));
  }

  #notifyAll(): void {
    for (const timer of this.#timers.values()) timer.notify();
  }

  #end(): void {
    for (const timer of [this.#pause, ...this.#timers.values()]) timer.end();
  }
}
