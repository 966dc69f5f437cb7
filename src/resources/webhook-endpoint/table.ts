import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, updatedAt, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { account } from '../account/table.js';

export const WebhookDisabledReason = { BY_REQUEST: 'by_request', FAILING: 'failing', GONE: 'gone' } as const;
export type WebhookDisabledReason = (typeof WebhookDisabledReason)[keyof typeof WebhookDisabledReason];

/** How they are listed. */
export const webhookEndpointLists = (t: Record<'accountId' | 'enabled', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'webhook_endpoint_account', { enabled: t.enabled });

/**
 * An address of an account that its events are sent to. The secret that signs them is encrypted for this row. Its times
 * are wall-clock times: a test clock does not move deliveries.
 */
export const webhookEndpoint = pgTable(
  'webhook_endpoint',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    url: text('url').notNull(),
    eventTypes: text('event_types').array().notNull(),
    description: text('description'),
    /** Whether a platform's endpoint also gets the events of its connected users: `scope` in both APIs. */
    connected: boolean('connected').notNull(),
    enabled: boolean('enabled').notNull(),
    disabledReason: text('disabled_reason').$type<WebhookDisabledReason>(),
    /** The GraphQL query whose result is the body of its deliveries; null for the event itself. */
    query: text('query'),
    /** The points that the query could cost for each delivery. */
    queryCost: integer('query_cost'),
    secretSealed: text('secret_sealed').notNull(),
    previousSecretSealed: text('previous_secret_sealed'),
    /** Until when deliveries are signed with the previous secret, too. */
    previousSecretUntil: bigint('previous_secret_until', { mode: 'number' }),
    /** When the first of the present failures happened; null after a success. */
    failingSince: bigint('failing_since', { mode: 'number' }),
    /** When its next delivery is due; null when none is pending. */
    due: bigint('due', { mode: 'number' }),
    /** Until when a worker has claimed the endpoint, so that no other one sends its deliveries. */
    claimedUntil: bigint('claimed_until', { mode: 'number' }),
    ...visibilityColumns(),
    ...updatedAt(),
  },
  (t) => [
    primaryKey({ name: 'webhook_endpoint_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'webhook_endpoint_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('webhook_endpoint_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('webhook_endpoint_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('webhook_endpoint_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    // Those that fail, or were disabled because they did: of one account, and of all, the longest first.
    index('webhook_endpoint_failing')
      .on(t.tenantId, t.livemode, t.accountId, t.failingSince, t.id)
      .where(sql`failing_since is not null and disabled_reason is distinct from 'by_request'`),
    index('webhook_endpoint_failing_of_tenant')
      .on(t.tenantId, t.livemode, t.failingSince, t.id)
      .where(sql`failing_since is not null and disabled_reason is distinct from 'by_request'`),
    // Of all tenants, for the operator.
    index('webhook_endpoint_failing_of_all')
      .on(t.failingSince, t.tenantId, t.livemode, t.id)
      .where(sql`failing_since is not null and disabled_reason is distinct from 'by_request'`),
    index('webhook_endpoint_due').on(t.due, t.tenantId, t.livemode, t.id).where(sql`enabled and due is not null`),
    ...indexesOf('webhook_endpoint', t, webhookEndpointLists(t)),
    check('webhook_endpoint_reason', isOneOf(t.disabledReason, WebhookDisabledReason)),
  ],
);
export type WebhookEndpointRow = typeof webhookEndpoint.$inferSelect;
