import { asc, sql } from 'drizzle-orm';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import type { WebhookAttemptObject } from '../../resources/webhook-delivery/table.js';
import { type WebhookEndpointRow, webhookEndpoint } from '../../resources/webhook-endpoint/table.js';
import type { Operator } from '../operator.js';
import { type ListPage, pageOf, valuesOf } from '../paging.js';

const { placeholder } = sql;

/** An endpoint whose deliveries fail, with its latest failed attempt; null where its deliveries are too old. */
export type FailingEndpoint = WebhookEndpointRow & { attempt: WebhookAttemptObject | null };

/** The latest deliveries of an endpoint in which its latest failure is sought: newer ones may wait for their turn. */
const deliveriesMax = 20;

/**
 * Lists the webhook endpoints of all tenants whose deliveries fail, or that are disabled because they did, those that
 * have failed the longest first. One that its account has disabled is left out.
 */
export async function listFailing(
  operator: Operator,
  limit: number,
  after?: string,
): Promise<ListPage<FailingEndpoint>> {
  const from = after === undefined ? undefined : valuesOf(after, 'webhook_endpoint', 4);
  const { failingSince, tenantId, livemode, id, disabledReason } = webhookEndpoint;
  const columns = [failingSince, tenantId, livemode, id];
  const rows = await operator.read<WebhookEndpointRow>(
    `operator_failing_webhooks${from ? ':after' : ''}`,
    (db) =>
      db
        .select()
        .from(webhookEndpoint)
        .where(
          sql`${failingSince} is not null and ${disabledReason} is distinct from 'by_request'${
            from
              ? sql` and (${sql.join(columns, sql`, `)}) > (${placeholder('v0')}::bigint, ${placeholder('v1')}::text,
                  ${placeholder('v2')}::boolean, ${placeholder('v3')}::text)`
              : sql``
          }`,
        )
        .orderBy(...columns.map((column) => asc(column)))
        .limit(placeholder('limit')),
    { ...from, limit: limit + 1 },
  );
  const { nodes, next } = pageOf(rows, limit, (row) => [row.failingSince, row.tenantId, row.livemode, row.id]);
  const attempts = await lastFailures(operator, nodes);
  return { nodes: nodes.map((row) => ({ ...row, attempt: attempts.get(row.id) ?? null })), next };
}

/** The latest failed attempt of each endpoint, by one statement. */
async function lastFailures(
  operator: Operator,
  endpoints: readonly (TenantAndMode & { id: string })[],
): Promise<Map<string, WebhookAttemptObject>> {
  if (endpoints.length === 0) return new Map();
  const lists = ['tenants', 'modes', 'ids'].map((name) => sql`${placeholder(name)}::text[]`);
  const rows = await operator.read<{ id: string; attempt: WebhookAttemptObject }>(
    'operator_webhook_failures',
    (db) =>
      db.select({ id: sql<string>`key.id`, attempt: sql<WebhookAttemptObject>`f.attempt` }).from(
        sql`unnest(${sql.join(lists, sql`, `)}) as key(tenant, mode, id) cross join lateral (
            select d.attempts -> 0 as attempt from (
              select x.attempts, x.created, x.id from webhook_delivery x
              where x.tenant_id = key.tenant and x.livemode = key.mode::boolean and x.endpoint_id = key.id
              order by x.created desc, x.id desc limit ${sql.raw(String(deliveriesMax))}
            ) d where d.attempts -> 0 ->> 'error' is not null
            order by (d.attempts -> 0 ->> 'at')::bigint desc, d.id desc limit 1
          ) f`,
      ),
    {
      tenants: endpoints.map(({ tenantId }) => tenantId),
      modes: endpoints.map(({ livemode }) => String(livemode)),
      ids: endpoints.map(({ id }) => id),
    },
  );
  return new Map(rows.map(({ id, attempt }) => [id, attempt]));
}
