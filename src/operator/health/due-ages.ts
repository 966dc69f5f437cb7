import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { CrossTenantReads } from '../../db/doors.js';
import type { Preparable } from '../../db/read/row-mapper.js';
import { fixedLimit } from '../../db/schema/drizzle-types.js';
import { job } from '../../jobs/table.js';
import { event } from '../../resources/event/table.js';
import { webhookEndpoint } from '../../resources/webhook-endpoint/table.js';

/** So many events without a number are read, in the order of tenants, of each tenant the oldest first. */
const eventsMax = 10_000;

/** The database's time of the statement, which bounds an index scan. */
const now = sql`floor(extract(epoch from statement_timestamp()))::bigint`;

/** The work by whose age money is late. */
export type DueWork = 'job' | 'payout' | 'delivery' | 'event';
export type DueAges = Record<DueWork, number>;

/**
 * The seconds for which the oldest work of each kind is overdue, on the nodes that answer; 0 where there is none. Each
 * failed attempt at a job makes it due later, so a job that fails is overdue since its first failure.
 */
export async function dueAges(database: CrossTenantReads): Promise<DueAges> {
  const live = (column: PgColumn) => eq(column, sql`true`);
  const until = (due: PgColumn) => sql`${due} <= ${now}`;
  const [dueJobs, failingJobs, duePayouts, failingPayouts, deliveries, events] = await Promise.all([
    first(database, 'oldest_due_job', job, job.due, and(until(job.due), live(job.livemode))),
    first(database, 'oldest_failing_job', job, job.failingSince, and(isNotNull(job.failingSince), live(job.livemode))),
    first(database, 'oldest_due_payout', job, job.due, and(until(job.due), live(job.livemode), payouts)),
    first(
      database,
      'oldest_failing_payout',
      job,
      job.failingSince,
      and(isNotNull(job.failingSince), live(job.livemode), payouts),
    ),
    first(
      database,
      'oldest_due_delivery',
      webhookEndpoint,
      webhookEndpoint.due,
      and(eq(webhookEndpoint.enabled, sql`true`), until(webhookEndpoint.due), live(webhookEndpoint.livemode)),
    ),
    oldestEvent(database),
  ]);
  return {
    job: Math.max(dueJobs, failingJobs),
    payout: Math.max(duePayouts, failingPayouts),
    delivery: deliveries,
    event: events,
  };
}

const payouts = eq(job.kind, sql`'pay_out'`);

const age = (since: PgColumn | SQL) => sql<number | null>`(${now} - ${since})::int`.as('age');

/** The age of the row that is due first: one entry of an index. */
async function first(
  database: CrossTenantReads,
  name: string,
  table: PgTable,
  due: PgColumn,
  where: SQL | undefined,
): Promise<number> {
  return oldest(database, name, (db) =>
    db
      .select({ age: age(due) })
      .from(table)
      .where(where)
      .orderBy(due)
      .limit(fixedLimit(1)),
  );
}

async function oldestEvent(database: CrossTenantReads): Promise<number> {
  const unnumbered = (db: PostgresJsDatabase) =>
    db
      .select({ created: event.created })
      .from(event as PgTable)
      .where(and(isNull(event.number), eq(event.livemode, true)))
      .orderBy(event.tenantId, event.livemode, event.created)
      .limit(fixedLimit(eventsMax))
      .as('unnumbered');
  return oldest(database, 'oldest_unnumbered_event', (db) => {
    const found = unnumbered(db);
    return db.select({ age: age(sql`min(${found.created})`) }).from(found);
  });
}

/** The greatest age of those that the shards have. */
async function oldest(
  database: CrossTenantReads,
  name: string,
  build: (db: PostgresJsDatabase) => Preparable,
): Promise<number> {
  const rows = await database.crossTenant.read<{ age: number | null }>(name, build);
  return Math.max(0, ...rows.map((row) => row.age ?? 0));
}
