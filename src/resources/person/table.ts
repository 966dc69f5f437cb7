import { sql } from 'drizzle-orm';
import { foreignKey, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { type MetadataMap, keyColumns, updatedAt, visibilityColumns } from '../../db/schema/columns.js';
import { fileIndexes, ofOthers } from '../../db/schema/filter-index.js';

/** The roles that a person holds in the account's business; one person may hold several. */
export interface RelationshipObject {
  director?: boolean | null;
  owner?: boolean | null;
  representative?: boolean | null;
}

/** How a person is identified; the two images are file ids. */
export interface IdentificationObject {
  /**
   * Masked except for its last four characters. In the clear in a row that is older than the encryption, until a start
   * encrypts it.
   */
  taxCardNumber?: string | null;
  /** The number, encrypted for this person by `Secrets.seal`. */
  taxCardSealed?: string | null;
  taxCardImage?: string | null;
  passportImage?: string | null;
}

export const person = pgTable(
  'person',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    fullName: text('full_name').notNull(),
    relationship: jsonb('relationship').$type<RelationshipObject>().notNull(),
    identification: jsonb('identification').$type<IdentificationObject>().notNull(),
    metadata: jsonb('metadata').$type<MetadataMap>(),
    ...visibilityColumns(),
    ...updatedAt(),
  },
  (t) => [
    primaryKey({ name: 'person_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'person_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('person_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('person_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    ...fileIndexes('person', t, {
      tax_card: sql`${t.identification} ->> 'taxCardImage'`,
      passport: sql`${t.identification} ->> 'passportImage'`,
    }),
    index('person_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
  ],
);
export type PersonRow = typeof person.$inferSelect;
