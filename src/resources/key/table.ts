import { bigint, check, foreignKey, index, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { isOneOf, keyColumns, updatedAt, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';

export const KeyPermission = { FULL: 'full', READ: 'read' } as const;
export type KeyPermission = (typeof KeyPermission)[keyof typeof KeyPermission];

/** API keys. The secret itself is not stored: only its keyed hash, and a short prefix that identifies it for people. */
export const apiKey = pgTable(
  'api_key',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    permission: text('permission').$type<KeyPermission>().notNull(),
    prefix: text('prefix').notNull(),
    digest: text('digest').notNull(),
    /**
     * The public name of the pepper of the digest; null for a key that is older than this column and was not used
     * since.
     */
    pepperId: text('pepper_id'),
    expiresAt: bigint('expires_at', { mode: 'number' }),
    revokedAt: bigint('revoked_at', { mode: 'number' }),
    lastUsedAt: bigint('last_used_at', { mode: 'number' }),
    ...visibilityColumns(),
    ...updatedAt(),
  },
  (t) => [
    primaryKey({ name: 'api_key_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('api_key_digest').on(t.tenantId, t.livemode, t.digest),
    foreignKey({
      name: 'api_key_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('api_key_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('api_key_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('api_key_by_id').on(t.id),
    index('api_key_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    check('api_key_permission', isOneOf(t.permission, KeyPermission)),
  ],
);
export type ApiKeyRow = typeof apiKey.$inferSelect;
