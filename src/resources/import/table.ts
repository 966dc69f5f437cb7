import {
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
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { account } from '../account/table.js';
import { BulkStatus, workColumns } from '../export/table.js';
import { file } from '../file/table.js';

export const ImportKind = { PARTNERS: 'partners', RECEIVABLES: 'receivables' } as const;
export type ImportKind = (typeof ImportKind)[keyof typeof ImportKind];

/** How they are listed. */
export const importLists = (t: Record<'accountId' | 'status', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'data_import_account', { status: t.status });

/**
 * The creation of an object for each row of a CSV file, or its trial, by the worker. Its times are wall-clock times.
 */
export const dataImport = pgTable(
  'data_import',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    kind: text('kind').$type<ImportKind>().notNull(),
    fileId: text('file_id').notNull(),
    dryRun: boolean('dry_run').notNull(),
    /** Whether rows are stored whose objects were seen before. */
    allowDuplicates: boolean('allow_duplicates').notNull().default(false),
    /** The rows of the file, and how many of them are done. */
    rows: integer('rows').notNull(),
    rowsDone: integer('rows_done').notNull().default(0),
    rowsFailed: integer('rows_failed').notNull().default(0),
    rowsSeenBefore: integer('rows_seen_before').notNull().default(0),
    ...workColumns(),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'data_import_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'data_import_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    foreignKey({
      name: 'data_import_file',
      columns: [t.tenantId, t.livemode, t.fileId],
      foreignColumns: [file.tenantId, file.livemode, file.id],
    }),
    index('data_import_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('data_import_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('data_import_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    index('data_import_of_file').on(t.tenantId, t.livemode, t.fileId, t.created, t.id),
    index('data_import_due').on(t.due, t.tenantId, t.livemode, t.id),
    ...indexesOf('data_import', t, importLists(t)),
    check('data_import_kind', isOneOf(t.kind, ImportKind)),
    check('import_status', isOneOf(t.status, BulkStatus)),
  ],
);
export type ImportRow = typeof dataImport.$inferSelect;
