import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns } from '../db/schema/columns.js';

/** A transfer as a bank reports it; the amount is minor units as a string of digits. */
export interface NoticeObject {
  toAccountId: string;
  toAddressId: string;
  amount: string;
  currency: string;
  fromAccountId: string | null;
  paymentMethod: string;
  statementDescriptor: string | null;
}

/**
 * White space as Unicode has it, and the mark at the beginning of some files: banks and spreadsheets pad references
 * with it. `btrim` of PostgreSQL and a class of characters in a regular expression read it alike.
 */
export const whiteSpace =
  '\\u0009\\u000A\\u000B\\u000C\\u000D\\u0020\\u0085\\u00A0\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006' +
  '\\u2007\\u2008\\u2009\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000\\uFEFF';

/** A reference without the white space around it, in SQL. */
export const bareReference = (reference: SQLWrapper): SQL => sql`btrim(${reference}, E'${sql.raw(whiteSpace)}')`;

/** Whether the reference of a stored notice has white space around it, as those of earlier releases may. */
export const isPadded = ({ reference }: { reference: SQLWrapper }): SQL =>
  sql`${reference} <> ${bareReference(reference)}`;

/**
 * A bank's report about a transfer, under the bank's own reference. A repeated report is the same notice, and a
 * reversal that arrives before its deposit waits for it.
 */
export const bankNotice = pgTable(
  'bank_notice',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    reference: text('reference').notNull(),
    event: text('event').$type<'received' | 'reversed'>().notNull(),
    created: keyColumns().created,
    depositId: text('deposit_id'),
    content: jsonb('content').$type<NoticeObject>().notNull(),
  },
  (t) => [
    primaryKey({ name: 'bank_notice_pkey', columns: [t.tenantId, t.livemode, t.reference, t.event] }),
    index('bank_notice_age').on(t.created, t.tenantId, t.livemode, t.reference, t.event),
    // The operator looks for a transfer of any tenant.
    index('bank_notice_by_reference').on(t.reference),
    index('bank_notice_waiting').on(t.created, t.tenantId, t.livemode, t.reference).where(sql`deposit_id is null`),
    // References were stored with the white space around them once. This finds them by what is compared, and they alone
    // can be duplicates: the primary key has the others.
    index('bank_notice_padded').on(t.tenantId, t.livemode, bareReference(t.reference)).where(isPadded(t)),
    check('bank_notice_event', sql`${t.event} in ('received', 'reversed')`),
  ],
);

export type BankNoticeRow = typeof bankNotice.$inferSelect;

/**
 * What took money of a deposit back in live mode, under its own reference: a bank's recall, or a chargeback that the
 * operator recorded. `depositId` is the deposit with the negative amount, and `disputesId` the one that it disputes.
 */
export const clawback = pgTable(
  'clawback',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    kind: text('kind').$type<'recall' | 'chargeback'>().notNull(),
    reference: text('reference').notNull(),
    created: keyColumns().created,
    disputesId: text('disputes_id').notNull(),
    depositId: text('deposit_id').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    reasonCode: text('reason_code').notNull(),
    /** What was reported beyond `amount`, which is unexplained: refunds had paid it back, or it was a fee. */
    beyond: bigint('beyond', { mode: 'bigint' }),
  },
  (t) => [
    primaryKey({ name: 'clawback_pkey', columns: [t.tenantId, t.livemode, t.kind, t.reference] }),
    index('clawback_by_reference').on(t.reference),
    check('clawback_kind', sql`${t.kind} in ('recall', 'chargeback')`),
    check('clawback_amount', sql`${t.amount} > 0`),
  ],
);

export const UnexplainedStatus = { OPEN: 'open', RESOLVED: 'resolved' } as const;
export type UnexplainedStatus = (typeof UnexplainedStatus)[keyof typeof UnexplainedStatus];

export const UnexplainedReason = {
  BEYOND_ATTEMPT: 'beyond_attempt',
  BEYOND_DEPOSIT: 'beyond_deposit',
  DUPLICATE: 'duplicate',
  OTHER_CURRENCY: 'other_currency',
  RECORDED: 'recorded',
} as const;
export type UnexplainedReason = (typeof UnexplainedReason)[keyof typeof UnexplainedReason];

/** How a bank or an acquirer has decided what took money back and is unexplained. */
export const UnexplainedDecision = { WON: 'won', LOST: 'lost' } as const;
export type UnexplainedDecision = (typeof UnexplainedDecision)[keyof typeof UnexplainedDecision];

/**
 * Money that an acquirer took with an attempt to pay, and that the attempt does not explain; or, as a negative amount,
 * what a bank or an acquirer took back beyond a deposit, or of an attempt that was taken in another currency. It is
 * posted against a contra account and is in no balance, until the operator says what became of it. Spec: decisions,
 * 8.14.
 */
export const unexplained = pgTable(
  'unexplained',
  {
    ...keyColumns(),
    /** The attempt that took it; of a negative amount, the one that took it in another currency. */
    transactionId: text('transaction_id'),
    /** The deposit with the negative amount that took the rest, or that a bank has reversed. */
    depositId: text('deposit_id'),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    /** What of a negative amount was taken from the account since, because a refund had failed. */
    covered: bigint('covered', { mode: 'bigint' }).notNull().default(sql`0`),
    currency: text('currency').notNull(),
    reason: text('reason').$type<UnexplainedReason>().notNull(),
    status: text('status').$type<UnexplainedStatus>().notNull(),
    /** What an operator who recorded it knew: the bank's or acquirer's reference, and its story. */
    reference: text('reference'),
    note: text('note'),
    /** Whether what was taken back has come back, by the decision of its dispute. */
    decision: text('decision').$type<UnexplainedDecision>(),
    resolution: text('resolution'),
    resolvedBy: text('resolved_by'),
    resolvedAt: bigint('resolved_at', { mode: 'number' }),
  },
  (t) => [
    primaryKey({ name: 'unexplained_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    // What an attempt took, once. What was taken back of it has its reference.
    uniqueIndex('unexplained_of_transaction').on(t.tenantId, t.livemode, t.transactionId).where(sql`amount > 0`),
    unique('unexplained_of_reference').on(t.tenantId, t.livemode, t.reference),
    uniqueIndex('unexplained_beyond').on(t.tenantId, t.livemode, t.depositId).where(sql`reason = 'beyond_deposit'`),
    // The operator searches all tenants: by id, by reference, and by status for what is open.
    index('unexplained_by_id').on(t.id),
    index('unexplained_by_reference').on(t.reference).where(sql`reference is not null`),
    index('unexplained_queue').on(t.status, t.created, t.id, t.livemode),
    check('unexplained_status', isOneOf(t.status, UnexplainedStatus)),
    check('unexplained_reason', isOneOf(t.reason, UnexplainedReason)),
    check('unexplained_decision', isOneOf(t.decision, UnexplainedDecision)),
    check(
      'unexplained_decided',
      sql`${t.decision} is null or (${t.amount} < 0 and (${t.decision} = 'lost' or ${t.status} = 'resolved'))`,
    ),
    check(
      'unexplained_amount',
      sql`num_nonnulls(${t.transactionId}, ${t.depositId}) = 1
        and case ${t.reason} when 'recorded' then ${t.amount} < 0
          when 'beyond_deposit' then ${t.amount} < 0 and ${t.depositId} is not null
          else ${t.amount} > 0 and ${t.transactionId} is not null end
        and ${t.covered} between 0 and case when ${t.depositId} is null then 0 else -${t.amount} end`,
    ),
    check(
      'unexplained_recorded',
      sql`num_nonnulls(${t.reference}, ${t.note}) = case when ${t.reason} = 'recorded' then 2 else 0 end`,
    ),
    check(
      'unexplained_resolution',
      sql`num_nonnulls(${t.resolution}, ${t.resolvedBy}, ${t.resolvedAt})
        = case when ${t.status} = 'resolved' then 3 else 0 end`,
    ),
  ],
);
export type UnexplainedRow = typeof unexplained.$inferSelect;

export const OperatorRole = { READ: 'read', OPERATE: 'operate' } as const;
export type OperatorRole = (typeof OperatorRole)[keyof typeof OperatorRole];

// The following tables are about the whole deployment, so they have no tenant.

/** A person who operates the service, with a key of their own. Only the keyed hash of the key is stored. */
export const operator = pgTable(
  'operator',
  {
    id: text('id').primaryKey(),
    created: bigint('created', { mode: 'number' }).notNull(),
    createdBy: text('created_by').notNull(),
    name: text('name').notNull(),
    role: text('role').$type<OperatorRole>().notNull(),
    prefix: text('prefix').notNull(),
    digest: text('digest').notNull(),
    pepperId: text('pepper_id').notNull(),
    lastUsedAt: bigint('last_used_at', { mode: 'number' }),
    revokedAt: bigint('revoked_at', { mode: 'number' }),
  },
  (t) => [
    uniqueIndex('operator_digest').on(t.digest),
    // A name is free again once its operator is revoked.
    uniqueIndex('operator_name').on(sql`lower(${t.name})`).where(sql`revoked_at is null`),
    check('operator_role', isOneOf(t.role, OperatorRole)),
  ],
);
export type OperatorRow = typeof operator.$inferSelect;

/** A sign-in of an operator in a browser. Only the keyed hash of its token is stored. */
export const operatorSession = pgTable(
  'operator_session',
  {
    digest: text('digest').primaryKey(),
    created: bigint('created', { mode: 'number' }).notNull(),
    expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
    /** Null for a session that was made with OPERATOR_KEY. */
    operatorId: text('operator_id'),
    /** The keyed hash of the OPERATOR_KEY that made the session: the session ends when the key changes. */
    keyDigest: text('key_digest'),
  },
  (t) => [
    foreignKey({ name: 'operator_session_operator', columns: [t.operatorId], foreignColumns: [operator.id] }),
    index('operator_session_age').on(t.expiresAt),
    check('operator_session_holder', sql`(operator_id is null) <> (key_digest is null)`),
  ],
);

export const ActionOutcome = {
  ATTEMPTED: 'attempted',
  SUCCEEDED: 'succeeded',
  REFUSED: 'refused',
  FAILED: 'failed',
} as const;
export type ActionOutcome = (typeof ActionOutcome)[keyof typeof ActionOutcome];

/**
 * The audit log: what operators do. An action has an entry before it takes effect, and another one with its outcome.
 * The entries are numbered without gaps and form a hash chain. No row is ever changed or removed.
 */
export const operatorAction = pgTable(
  'operator_action',
  {
    number: bigint('number', { mode: 'number' }).primaryKey(),
    id: text('id').notNull(),
    created: bigint('created', { mode: 'number' }).notNull(),
    /** The number of the first entry of the action, which is this one's own number for the first. */
    action: bigint('action', { mode: 'number' }).notNull(),
    outcome: text('outcome').$type<ActionOutcome>().notNull(),
    operator: text('operator').notNull(),
    operatorId: text('operator_id'),
    operation: text('operation').notNull(),
    objectId: text('object_id'),
    /** Not `tenant_id`, because this table is not distributed by tenant. */
    tenant: text('tenant'),
    mode: text('mode').$type<'test' | 'live'>(),
    requestId: text('request_id').notNull(),
    code: text('code'),
    details: jsonb('details').$type<Record<string, unknown>>().notNull(),
    hash: text('hash').notNull(),
  },
  (t) => [
    uniqueIndex('operator_action_id').on(t.id),
    index('operator_action_of_action').on(t.action),
    index('operator_action_begun').on(t.number).where(sql`number = action`),
    // Of the other lists, only these indexes have the order. With that of the number itself, PostgreSQL would look for
    // a rare operator or operation among all actions.
    index('operator_action_of_operator').on(t.operator, sql`(-${t.number})`).where(sql`number = action`),
    index('operator_action_of_operation').on(t.operation, sql`(-${t.number})`).where(sql`number = action`),
    index('operator_action_of_both').on(t.operator, t.operation, sql`(-${t.number})`).where(sql`number = action`),
    index('operator_action_of_object').on(t.objectId, t.action).where(sql`object_id is not null`),
    check('operator_action_outcome', isOneOf(t.outcome, ActionOutcome)),
    check('operator_action_mode', sql`${t.mode} in ('test', 'live')`),
  ],
);
export type OperatorActionRow = typeof operatorAction.$inferSelect;
