import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { bytea, isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { account } from '../account/table.js';

/** The states of exports and imports. */
export const BulkStatus = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  EXPIRED: 'expired',
} as const;
export type BulkStatus = (typeof BulkStatus)[keyof typeof BulkStatus];

export const ExportFormat = { CSV: 'csv', JSONL: 'jsonl' } as const;
export type ExportFormat = (typeof ExportFormat)[keyof typeof ExportFormat];

/**
 * The columns by which processes share the work. A process has it until `due`, and its attempt has a number: what an
 * earlier attempt still writes changes nothing. After the end, `due` is when the content is deleted, and then the row.
 */
export const workColumns = () => ({
  status: text('status').$type<BulkStatus>().notNull(),
  /** What the caller may see and do; the work is done as this caller. */
  caller: jsonb('caller').$type<object>().notNull(),
  error: text('error'),
  attempts: integer('attempts').notNull().default(0),
  due: bigint('due', { mode: 'number' }).notNull(),
  completedAt: bigint('completed_at', { mode: 'number' }),
  expiresAt: bigint('expires_at', { mode: 'number' }),
});

/** How they are listed. */
export const exportLists = (t: Record<'accountId' | 'status', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'data_export_account', { status: t.status });

/** A whole list of /v1 as a file, made by the worker. Its times are wall-clock times. */
export const dataExport = pgTable(
  'data_export',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    list: text('list').notNull(),
    filters: text('filters').notNull(),
    format: text('format').$type<ExportFormat>().notNull(),
    rows: integer('rows').notNull().default(0),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    /** The parts of the content that are stored. */
    parts: integer('parts').notNull().default(0),
    sha256: text('sha256'),
    /** When the list was as the content has it. */
    snapshotAt: bigint('snapshot_at', { mode: 'number' }),
    ...workColumns(),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'data_export_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'data_export_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('data_export_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('data_export_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('data_export_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    index('data_export_due').on(t.due, t.tenantId, t.livemode, t.id),
    ...indexesOf('data_export', t, exportLists(t)),
    check('export_status', isOneOf(t.status, BulkStatus)),
    check('data_export_format', isOneOf(t.format, ExportFormat)),
  ],
);
export type ExportRow = typeof dataExport.$inferSelect;

/** A piece of the content of an export, so that a download reads a little at a time and can begin anywhere. */
export const exportPart = pgTable(
  'export_part',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    exportId: text('export_id').notNull(),
    /** Its first byte in the whole content. */
    start: bigint('start', { mode: 'number' }).notNull(),
    content: bytea('content').notNull(),
  },
  (t) => [
    primaryKey({ name: 'export_part_pkey', columns: [t.tenantId, t.livemode, t.exportId, t.start] }),
    foreignKey({
      name: 'export_part_export',
      columns: [t.tenantId, t.livemode, t.exportId],
      foreignColumns: [dataExport.tenantId, dataExport.livemode, dataExport.id],
    }),
  ],
);
