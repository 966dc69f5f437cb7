import { isNotNull, sql } from 'drizzle-orm';
import type { Database } from '../db/database.js';
import type { TenantAndMode } from '../db/tenant-and-mode.js';
import { idempotency } from '../operation/table.js';
import { event } from '../resources/event/table.js';
import { requestLog } from '../resources/request-log/table.js';
import { webhookDelivery } from '../resources/webhook-delivery/table.js';
import type { TenantWork } from './table.js';
import { TenantWalk } from './tenants.js';

/** The time for which the worker keeps rows that may be deleted. */
export interface Retention {
  /** Seconds for the stored responses of idempotency keys; the database keeps them for at least a day. */
  idempotencySeconds: number;
  /** Seconds for events; undefined keeps them for ever. */
  eventSeconds?: number | undefined;
  /** Seconds for the request log: 7 days by default; 0 deletes all of it. */
  requestSeconds?: number | undefined;
}

/** The retention that the README promises when no setting changes it. */
export const retentionDefault: Retention = { idempotencySeconds: 48 * 3600 };
export const requestSecondsDefault = 7 * 86_400;

/** A row that may be old; undefined when a database function decides it. */
export type Aged = TenantAndMode & { old?: boolean };

const ago = (seconds: number) => sql`extract(epoch from statement_timestamp()) - ${sql.raw(String(seconds))}`;

/** The kinds of old rows, each with a walk over the tenants that may have some. */
export function deletions(
  database: Database,
  { idempotencySeconds, eventSeconds, requestSeconds = requestSecondsDefault }: Retention,
): { work: TenantWork; walk: TenantWalk<Aged> }[] {
  const answers = new TenantWalk<Aged>(database, 'tenants_with_answers', {
    table: idempotency,
    order: [idempotency.created],
    columns: { old: sql<boolean>`${idempotency.created} < ${ago(Math.max(idempotencySeconds, 86_400))}` },
  });
  const events = new TenantWalk<Aged>(database, 'tenants_with_numbers', {
    table: event,
    where: isNotNull(event.number),
  });
  const deliveries = new TenantWalk<Aged>(database, 'tenants_with_deliveries', {
    table: webhookDelivery,
    order: [webhookDelivery.created],
    columns: { old: sql<boolean>`${webhookDelivery.created} < ${ago(30 * 86_400)}` },
  });
  const requests = new TenantWalk<Aged>(database, 'tenants_with_requests', {
    table: requestLog,
    order: [requestLog.id],
    columns: { old: sql<boolean>`${requestLog.created} < ${ago(requestSeconds)}` },
  });
  return [
    { work: 'delete_old_answers', walk: answers },
    ...(eventSeconds === undefined ? [] : [{ work: 'delete_old_events' as const, walk: events }]),
    { work: 'delete_old_deliveries', walk: deliveries },
    { work: 'delete_old_requests', walk: requests },
  ];
}
