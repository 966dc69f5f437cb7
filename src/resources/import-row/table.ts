import {
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { dataImport } from '../import/table.js';

export const ImportRowStatus = {
  CREATED: 'created',
  VALID: 'valid',
  FAILED: 'failed',
  SEEN_BEFORE: 'seen_before',
} as const;
export type ImportRowStatus = (typeof ImportRowStatus)[keyof typeof ImportRowStatus];

/** What is wrong with a row of a file. */
export interface RowProblem {
  code: string;
  /** The column, as the header names it; null where the row as a whole is at fault. */
  column: string | null;
  message: string;
}

/** How they are listed. */
export const importRowLists = (t: Record<'importId' | 'status', PgColumn>): Lists =>
  listsBy({ importId: t.importId }, 'import_row_import', { status: t.status }, { own: false });

/** What became of one row of an import. */
export const importRow = pgTable(
  'import_row',
  {
    ...keyColumns(),
    importId: text('import_id').notNull(),
    row: integer('row').notNull(),
    status: text('status').$type<ImportRowStatus>().notNull(),
    objectId: text('object_id'),
    problems: jsonb('problems').$type<RowProblem[]>().notNull(),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'import_row_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('import_row_once').on(t.tenantId, t.livemode, t.importId, t.row),
    foreignKey({
      name: 'import_row_import',
      columns: [t.tenantId, t.livemode, t.importId],
      foreignColumns: [dataImport.tenantId, dataImport.livemode, dataImport.id],
    }),
    index('import_row_in_context').on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id),
    index('import_row_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('import_row_of_import').on(t.tenantId, t.livemode, t.importId, t.created, t.id),
    // An account asks for the rows of one of its imports, which have its visibility as well.
    index('import_row_of_import_in_context').on(t.tenantId, t.livemode, t.actingAccountId, t.importId, t.created, t.id),
    ...indexesOf('import_row', t, importRowLists(t)),
    check('import_row_status', isOneOf(t.status, ImportRowStatus)),
  ],
);
export type ImportRowRow = typeof importRow.$inferSelect;
