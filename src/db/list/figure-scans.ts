import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Listing } from '../../types/pagination.js';
import { ofOthers } from '../schema/filter-index.js';
import { type Counted, partOf, type Rows } from './position.js';

const p = sql.placeholder;

/** The column with the parent or account whose rows an index has, its value, and the filter that names it. */
export interface ScanKey {
  column: PgColumn;
  value: SQL;
  filter?: string;
}

/** Rows of a list that one index has: those of a parent or of an account, or else those on the caller's list. */
export interface Scan {
  /** The column with the parent or account, and its value. Without one, the scan is the root list. */
  scanKey?: ScanKey;
  /** Whether it is of the rows that are not on the root list. */
  below?: true;
  /** Further conditions of the scan. */
  where: SQL[];
  /** The value of the filter in the key, where it is not the one that the caller gives. */
  key?: SQL;
}

/**
 * The scans of what a figure counts. Of a root account that is everything on the root list and off it. Without `own`,
 * a row is always on the list of the account that it belongs to.
 */
export function scansOfFigure(table: Rows, listing: Listing, { counted, descendants, key: keyed }: Counted): Scan[] {
  const account = partOf(1);
  const key = keyed === undefined ? {} : { key: partOf(2) };
  const ofRoot = sql`${account} = 'account_' || ${p('tenantId')}::text`;
  const own: Scan = { scanKey: { column: counted, value: account }, where: [], ...key };
  if (!descendants) return [own];
  const others = { column: table.actingAccountId, value: account };
  return [
    { ...own, where: [sql`not ${ofRoot}`] },
    ...(listing.own
      ? [{ scanKey: others, where: [ofOthers(table.actingAccountId, listing.own), sql`not ${ofRoot}`], ...key }]
      : []),
    { where: [ofRoot], ...key },
    { below: true, where: [ofRoot], ...key },
  ];
}
