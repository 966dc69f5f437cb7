import { type SQL, sql } from 'drizzle-orm';
import { bigint, customType, index, type PgColumn, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from './columns.js';

/** Text in the order of its bytes, so that the texts with the same start are one range of an index. */
const bytewise = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

/** Whether an entry is a text of an account, and no pair of metadata. */
export const isTextOfAccount = (t: Record<'id' | 'start', PgColumn>): SQL =>
  sql`left(${t.id}, 8) = 'account_' and left(${t.start}, 1) <> '='`;

/** The kind of the object of an entry. */
export const kindOf = (id: PgColumn): SQL => sql`split_part(${id}, '_', 1)`;

/**
 * What search finds objects by: a row for each word of an object, with the text from that word on, and a row for each
 * pair of its metadata. The functions that write an object write these rows. Every search is a range of an index.
 */
export const searchEntry = pgTable(
  'search_entry',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    /** A hash of the kind of object and the account whose list it is on; see `search_list`. */
    list: bigint('list', { mode: 'bigint' }).notNull(),
    /** A hash of the kind of object, if it is on the root list. */
    rootList: bigint('root_list', { mode: 'bigint' }),
    start: bytewise('start').notNull(),
    /** The creation time with a minus sign: ascending, the newest comes first. */
    age: bigint('age', { mode: 'number' }).notNull(),
    id: keyColumns().id,
  },
  (t) => [
    primaryKey({ name: 'search_entry_pkey', columns: [t.tenantId, t.livemode, t.list, t.start, t.age, t.id] }),
    index('search_entry_root')
      .on(t.tenantId, t.livemode, t.rootList, t.start, t.age, t.id)
      .where(sql`root_list is not null`),
    // What is not on the root list, by the kind of object, which the id begins with.
    index('search_entry_below')
      .on(t.tenantId, t.livemode, kindOf(t.id), t.start, t.age, t.id)
      .where(sql`root_list is null`),
    // The operator searches the accounts of all tenants.
    index('search_entry_account').on(t.start, t.age, t.id, t.livemode).where(isTextOfAccount(t)),
  ],
);

/** The tenants and modes whose objects from before the search are still to be added, and how far that is. */
export const searchBackfill = pgTable(
  'search_backfill',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    /** The id of the last object that was added: accounts come first, then deposits, then receivables. */
    upTo: text('up_to').notNull(),
    /** When the backfill may begin, in seconds since 1970. */
    notBefore: bigint('not_before', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ name: 'search_backfill_pkey', columns: [t.tenantId, t.livemode] })],
);
