import { index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../db/schema/columns.js';

/**
 * One row per answered write: the request, as a hash per parameter, and the row that was the answer.
 * The statement that writes the effect also inserts this row, so it exists exactly when the effect does.
 */
export const idempotency = pgTable(
  'idempotency',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    /** The acting account: the one that a platform acts for, otherwise the key's own. */
    accountId: text('account_id').notNull(),
    key: text('key').notNull(),
    created: keyColumns().created,
    operation: text('operation').notNull(),
    request: jsonb('request').$type<Record<string, string>>().notNull(),
    /** The id of the answered request: it distinguishes a retry after a lost answer from a replay. */
    requestId: text('request_id'),
    answer: jsonb('answer').notNull(),
  },
  (t) => [
    primaryKey({ name: 'idempotency_pkey', columns: [t.tenantId, t.livemode, t.accountId, t.key] }),
    index('idempotency_age').on(t.tenantId, t.livemode, t.created),
  ],
);
