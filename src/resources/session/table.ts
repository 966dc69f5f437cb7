import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, index, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { account } from '../account/table.js';
import { apiKey } from '../key/table.js';

export const SessionRole = { READ: 'read', OPERATE: 'operate' } as const;
export type SessionRole = (typeof SessionRole)[keyof typeof SessionRole];

/**
 * Sessions: short-lived tokens for browsers, each made by an API key. The token itself is not stored, only its keyed
 * hash.
 */
export const session = pgTable(
  'session',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    /** The key that made the session. The session ends when this key is revoked or expires. */
    apiKeyId: text('api_key_id').notNull(),
    role: text('role').$type<SessionRole>().notNull(),
    /** The origins whose pages may use the session; empty when every origin that the gateway admits may. */
    allowedOrigins: text('allowed_origins').array().notNull(),
    digest: text('digest').notNull(),
    expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
    revokedAt: bigint('revoked_at', { mode: 'number' }),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'session_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('session_digest').on(t.tenantId, t.livemode, t.digest),
    foreignKey({
      name: 'session_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    foreignKey({
      name: 'session_api_key',
      columns: [t.tenantId, t.livemode, t.apiKeyId],
      foreignColumns: [apiKey.tenantId, apiKey.livemode, apiKey.id],
    }),
    index('session_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('session_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('session_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    index('session_of_api_key').on(t.tenantId, t.livemode, t.apiKeyId, t.created, t.id),
    // The sessions of a key that have not ended, which are bounded.
    index('session_of_key').on(t.tenantId, t.livemode, t.apiKeyId, t.expiresAt).where(sql`revoked_at is null`),
    index('session_age').on(t.tenantId, t.livemode, t.created, t.id),
    check('session_role', isOneOf(t.role, SessionRole)),
  ],
);
export type SessionRow = typeof session.$inferSelect;
