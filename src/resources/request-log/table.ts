import { check, index, integer, pgTable, primaryKey, text, type PgColumn } from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';

export const RequestApi = { GRAPHQL: 'graphql', REST: 'rest' } as const;
export type RequestApi = (typeof RequestApi)[keyof typeof RequestApi];

export const RequestOutcome = { SUCCEEDED: 'succeeded', REFUSED: 'refused', FAILED: 'failed' } as const;
export type RequestOutcome = (typeof RequestOutcome)[keyof typeof RequestOutcome];

/** How logged requests are listed. */
export const requestLogLists = (t: Record<'api' | 'outcome' | 'operation', PgColumn>): Lists => ({
  filters: {
    api: { derived: t.api, because: 'Most accounts use one API, so an index by it would find almost all rows.' },
    outcome: t.outcome,
    operation: t.operation,
  },
  byAccount: [],
  keys: { outcome: ['outcome'], operation: ['operation'] },
});

/**
 * The requests of an account's keys and sessions, without anything that they contained. The id is the id of the
 * request, which begins with its time, so the primary key has the order of the age. Gateways write the rows in batches,
 * after the answers.
 */
export const requestLog = pgTable(
  'request_log',
  {
    ...keyColumns(),
    api: text('api').$type<RequestApi>().notNull(),
    operation: text('operation').notNull(),
    status: integer('status').notNull(),
    outcome: text('outcome').$type<RequestOutcome>().notNull(),
    /** The codes of the errors in the answer. */
    codes: text('codes').array().notNull(),
    durationMilliseconds: integer('milliseconds').notNull(),
    apiKeyId: text('api_key_id'),
    sessionId: text('session_id'),
    /** The account that a platform acted for. */
    onBehalfOf: text('on_behalf_of'),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'request_log_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    index('request_log_in_context').on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id),
    index('request_log_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    // Who asks the operator about a request has its id alone.
    index('request_log_by_id').using('hash', t.id),
    ...indexesOf('request_log', t, requestLogLists(t)),
    check('request_log_api', isOneOf(t.api, RequestApi)),
    check('request_log_outcome', isOneOf(t.outcome, RequestOutcome)),
  ],
);
export type RequestLogRow = typeof requestLog.$inferSelect;
