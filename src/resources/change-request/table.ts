import {
  bigint,
  check,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { isOneOf, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';

/** How far a change request has come. Silent: all statuses. */
export const ChangeRequestStatus = {
  OPEN: 'open',
  ACCEPTED: 'accepted',
  DECLINED: 'declined',
  WITHDRAWN: 'withdrawn',
} as const;
export type ChangeRequestStatus = (typeof ChangeRequestStatus)[keyof typeof ChangeRequestStatus];

/** The greatest length of why a change is requested, and of what the service says to it. */
export const reasonLengthMax = 500;

/** As many details as an account has that may change. */
export const changesMax = 24;

/** A text, an amount in minor units with its currency, or nothing. */
export type MemberValue = string | { amount: string; currency: string } | null;

/** What a member of an account becomes, by its path, such as `businessDetails.legalName`. */
export interface Change {
  path: string;
  from: MemberValue;
  to: MemberValue;
}

/** How they are listed. */
export const changeRequestLists = (t: Record<'accountId' | 'status', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'change_request_account', { status: t.status });

/** Details of an account that is not a draft, as its owner asks the service to change them. Silent: all fields. */
export const changeRequest = pgTable(
  'change_request',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    changes: jsonb('changes').$type<Change[]>().notNull(),
    status: text('status').$type<ChangeRequestStatus>().notNull(),
    /** Why, in the words of who asks. */
    reason: text('reason'),
    /** What the service says to it. */
    answer: text('answer'),
    answeredAt: bigint('answered_at', { mode: 'number' }),
    ...visibilityColumns(),
    ...version(),
  },
  (t) => [
    primaryKey({ name: 'change_request_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    uniqueIndex('change_request_open').on(t.tenantId, t.livemode, t.accountId).where(sql`status = 'open'`),
    index('change_request_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('change_request_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('change_request_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    // The operator searches all tenants: by id, and by status for those that wait for an answer.
    index('change_request_by_id').on(t.id),
    index('change_request_queue').on(t.status, t.created, t.id, t.livemode),
    ...indexesOf('change_request', t, changeRequestLists(t)),
    check('change_request_status', isOneOf(t.status, ChangeRequestStatus)),
  ],
);
export type ChangeRequestRow = typeof changeRequest.$inferSelect;
