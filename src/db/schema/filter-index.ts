import { and, Column, is, type SQL, sql } from 'drizzle-orm';
import { type IndexBuilder, index, type PgColumn } from 'drizzle-orm/pg-core';

/**
 * A value of a key. A boolean is text there: PostgreSQL rewrites `= false` as NOT, and would then not find the index.
 */
const asText = (filter: Column | SQL): SQL =>
  is(filter, Column) && filter.dataType === 'boolean' ? sql`${filter}::text` : sql`${filter}`;

/**
 * The rows that belong to a parent and match a filter: both values as one text. PostgreSQL can use no index of the
 * parent alone for a condition on this expression, so it never reads rows of the parent that do not match, whatever its
 * statistics say about the value. Ids have no spaces, so two different pairs never have the same text.
 */
export const pairOf = (parent: Column, filter: Column | SQL, apart = ' '): SQL =>
  sql`(${parent} || ${literal(apart)} || ${asText(filter)})`;

/** Several values of a key as one text. The values of filters have no spaces. */
export const composite = (parts: readonly (PgColumn | SQL)[], apart = ' '): PgColumn | SQL =>
  parts.length === 1 ? parts[0]! : joined(parts.map(asText), apart);

/** Texts as one. */
export const joined = (parts: readonly SQL[], apart = ' '): SQL => sql.join([...parts], sql` || ${literal(apart)} || `);

const literal = (text: string): SQL => sql.raw(`'${text}'`);

/** The value of `pairOf` for given values. */
export const pairValue = (parent: SQL, value: SQL, apart = ' '): SQL =>
  sql`(${parent}::text || ${literal(apart)} || ${value}::text)`;

/** The filter's value of the rows on the root list; NULL for other rows. */
export const rootOf = (onRootList: Column, filter: Column | SQL): SQL =>
  sql`(case when ${onRootList} then ${asText(filter)} end)`;

/** The filter's value of the rows that are not on the root list; NULL for other rows. */
export const belowOf = (onRootList: Column, filter: Column | SQL): SQL =>
  sql`(case when not ${onRootList} then ${asText(filter)} end)`;

/**
 * The key of such a text in an index, its hash, which takes 8 bytes instead of some 50. The tenant and the mode remain
 * columns of the index: PostgreSQL has to know that their conditions exclude no row that the index finds, because it
 * would otherwise expect few rows, and sort them all.
 */
const keyOf = (pair: SQL): SQL => sql`hashtextextended(${pair}, 0)`;

/**
 * The condition that a pair has given values. The index finds the hash, and the texts are compared because other texts
 * may have the same one, in a form for which PostgreSQL does not expect fewer rows: a plain `=` made it sort all rows.
 */
export const isPair = (pair: SQL, value: SQL): SQL =>
  sql`${keyOf(pair)} = ${keyOf(value)} and nullif(${pair} = ${value}, false) is not null`;

/**
 * The key of a parent in an index of its list: a hash of 4 bytes, which takes no room, because a text of an id would be
 * aligned like the time behind it. The tenant and the mode are columns of the index here, too.
 */
export const parentKey = (parent: Column | SQL): SQL => sql`hashtext(${parent})`;

/** The condition that the column of a parent has a value, for an index by `parentKey`; see `isPair`. */
export const isParent = (parent: Column | SQL, value: SQL): SQL =>
  sql`${parentKey(parent)} = ${parentKey(sql`(${value})::text`)} and nullif(${parent} = ${value}, false) is not null`;

/** The condition that a column of a parent has one of the values, for the same index. */
export const isAnyParent = (parent: SQL, values: SQL): SQL =>
  sql`${parentKey(parent)} = any((select array_agg(${parentKey(sql`v`)}) from unnest(${values}::text[]) v)::int[])
    and ${parent} = any(${values}::text[])`;

/** The rows that are on the list of an acting account because of another account, such as one of its partners. */
export const ofOthers = (actingAccountId: Column, own: Column): SQL => sql`${actingAccountId} <> ${own}`;

/** The columns that a table with lists has, as its indexes see them. */
export interface Columns {
  tenantId: PgColumn;
  livemode: PgColumn;
  id: PgColumn;
  created: PgColumn;
  actingAccountId: PgColumn;
  onRootList: PgColumn;
}

/** What lists are filtered by, columns or texts of the row, with the last part of the names of their indexes. */
type Filters = Record<string, readonly (PgColumn | SQL)[]>;

/** Whether no row is without a value, so that an index has all rows. */
const always = (parts: readonly (PgColumn | SQL)[]): boolean => parts.every((part) => is(part, Column) && part.notNull);

/** What all lists of a table have in common. */
export interface Common {
  /** The columns and expressions that order the lists. */
  order?: (PgColumn | SQL)[];
  /** A condition of all lists. */
  where?: SQL;
  /** What is between the parts of a key; see `apartIn`. */
  apart?: (parts: number) => string;
}

/**
 * For each filter the index of the root list and the index of the lists of acting accounts. With `own`, the column with
 * the account of a row, an account finds the rows that are its own by `parentIndexes`, and only other rows of its list
 * here. With `below`, a third index has the rows that are not on the root list: a platform's list of all objects that
 * it can see is made of it and of the root list.
 */
export function listIndexes(
  table: string,
  t: Columns,
  filters: Filters,
  { own, below, ...common }: Common & { own?: PgColumn; below?: true } = {},
): IndexBuilder[] {
  const others = own && ofOthers(t.actingAccountId, own);
  return Object.entries(filters).flatMap(([name, parts]) => {
    const apart = common.apart?.(parts.length);
    const filter = composite(parts, apart);
    const [root, actingAccount] = [rootOf(t.onRootList, filter), pairOf(t.actingAccountId, filter, apart)];
    const valued = always(parts) ? undefined : sql`${actingAccount} is not null`;
    return [
      built(`${table}_root_${name}`, t, root, common, sql`${root} is not null`),
      built(`${table}_context_by_${name}`, t, keyOf(actingAccount), common, others, valued),
      ...(below ? [belowIndex(`${table}_below_${name}`, t, belowOf(t.onRootList, filter), common)] : []),
    ];
  });
}

const belowIndex = (name: string, t: Columns, key: SQL, common: Common): IndexBuilder =>
  built(name, t, key, common, sql`${key} is not null`);

/** The index of the list of a parent by the hash of its id. The listing names the parent in `hashed`. */
export function parentIndex(name: string, t: Columns, parent: PgColumn, common: Common = {}): IndexBuilder {
  return built(name, t, parentKey(parent), common, parent.notNull ? undefined : sql`${parent} is not null`);
}

/** For each filter the index of the lists of a parent. */
export function parentIndexes(
  name: string,
  t: Columns,
  parent: PgColumn,
  filters: Filters,
  common: Common = {},
): IndexBuilder[] {
  return Object.entries(filters).map(([last, parts]) => {
    const apart = common.apart?.(parts.length);
    const pair = pairOf(parent, composite(parts, apart), apart);
    const valued = parent.notNull && always(parts) ? undefined : sql`${pair} is not null`;
    return built(`${name}_by_${last}`, t, keyOf(pair), common, valued);
  });
}

/** For each place of a row that can name a file the index of the rows by that file, with the last part of its name. */
export function fileIndexes(table: string, t: Columns, places: Record<string, SQL | PgColumn>): IndexBuilder[] {
  return Object.entries(places).map(([name, place]) =>
    index(`${table}_of_${name}`)
      .on(t.tenantId, t.livemode, sql`(${place})`, t.created, t.id)
      .where(sql`(${place}) is not null`),
  );
}

function built(
  name: string,
  t: Columns,
  key: SQL,
  { order = [t.created, t.id], where }: Common,
  ...more: (SQL | undefined)[]
): IndexBuilder {
  const all = index(name).on(t.tenantId, t.livemode, key, ...order);
  const condition = and(where, ...more);
  return condition ? all.where(condition) : all;
}
