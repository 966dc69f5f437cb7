import type { SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Listing } from '../../types/pagination.js';
import { apartIn, inKey, scansOf } from '../schema/lists.js';
import type { Scan, ScanKey } from './figure-scans.js';
import { type ListQuery, orderOf } from './position.js';

/** The filters whose values are in the key of the scanned index, in their order there. */
type Key = readonly string[];

/** The keys of the indexes in the order of a list: of those of one scan, or of the lists of callers. */
function keysOf(query: ListQuery, column: PgColumn | undefined): Key[] {
  const { table, listing } = query;
  const by = orderOf(query) ?? listing;
  const { keys = {} } = by;
  if (column === undefined || column === table.actingAccountId) return Object.values(keys);
  const found = scansOf(by).find(([, scan]) => scan.column === column)?.[1];
  return found ? (found.keys ?? Object.keys(keys)).map((name) => keys[name]!) : [];
}

/**
 * The key of the scanned index: that with most of the filters. A filter that the list always has is in the index of a
 * parent; in other lists it excludes few rows. Few rows have a flag, so it comes first. A filter of a key that is not
 * given has all its values, each with a scan of its own.
 */
export function keyOf(query: ListQuery, { scanKey, below }: Scan): Key | null {
  const { listing, request, parent } = query;
  if (below && !listing.below) return null;
  const names = Object.keys(request.filters).filter((name) => name !== scanKey?.filter);
  const isFixed = (name: string) => name in (listing.fixed ?? {});
  const isFlag = (name: string) => flagOf(listing, name) !== undefined;
  const serves = (key: Key) =>
    key.every((name) => names.includes(name) || listing.all?.[name]) &&
    (orderOf(query) !== undefined || key.some((name) => names.includes(name))) &&
    key.every((name) => inKey(listing.filters[name]) !== undefined);
  const ranks = keysOf(query, scanKey?.column)
    .filter(serves)
    .map((key) => {
      const given = key.filter((name) => names.includes(name));
      const places = given.map((name) => names.indexOf(name));
      return {
        key,
        rank: [
          Number(given.some(isFlag)),
          Number(given.some((name) => isFixed(name) === (parent !== undefined))),
          given.length,
          given.length - key.length,
          -Math.min(...places),
        ],
      };
    });
  return ranks.toSorted((one, other) => compared(other.rank, one.rank))[0]?.key ?? null;
}

/** What is between the parts of the key of a scan. */
export function apartOf(query: ListQuery, { length }: Key, scanKey: ScanKey | undefined): string {
  const by = orderOf(query) ?? {};
  return apartIn(by, length, scansOf(by).find(([, { column }]) => column === scanKey?.column)?.[1]);
}

/** Compares ranks by their first difference. */
const compared = (one: number[], other: number[]): number => one.map((n, i) => n - other[i]!).find(Boolean) ?? 0;

function flagOf({ filters }: Listing, name: string): SQL | undefined {
  const filter = filters[name];
  return filter && 'flag' in filter ? filter.flag : undefined;
}
