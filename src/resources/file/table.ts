import {
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
import { account } from '../account/table.js';
import { bytea, isOneOf, type MetadataMap, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';

export const FilePurpose = {
  ADDITIONAL_VERIFICATION: 'additional_verification',
  IDENTITY_DOCUMENT: 'identity_document',
  TAX_DOCUMENT: 'tax_document',
  INVOICE: 'invoice',
  LOGO: 'logo',
  IMPORT: 'import',
  DISPUTE_EVIDENCE: 'dispute_evidence',
} as const;
export type FilePurpose = (typeof FilePurpose)[keyof typeof FilePurpose];

/** How they are listed. */
export const fileLists = (t: Record<'accountId' | 'purpose', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'file_account', { purpose: t.purpose });

/** The metadata of an uploaded document. Its bytes are in `file_content`, which no list reads. */
export const file = pgTable(
  'file',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    purpose: text('purpose').$type<FilePurpose>().notNull(),
    filename: text('filename').notNull(),
    contentType: text('content_type').notNull(),
    size: integer('size').notNull(),
    sha256: text('sha256').notNull(),
    metadata: jsonb('metadata').$type<MetadataMap>(),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'file_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'file_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('file_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('file_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('file_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    ...indexesOf('file', t, fileLists(t)),
    check('file_purpose', isOneOf(t.purpose, FilePurpose)),
  ],
);
export type FileRow = typeof file.$inferSelect;

/** The bytes of a file, in a table of their own, so that a list of files never reads them. */
export const fileContent = pgTable(
  'file_content',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    id: keyColumns().id,
    content: bytea('content').notNull(),
  },
  (t) => [
    primaryKey({ name: 'file_content_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'file_content_file',
      columns: [t.tenantId, t.livemode, t.id],
      foreignColumns: [file.tenantId, file.livemode, file.id],
    }),
  ],
);
