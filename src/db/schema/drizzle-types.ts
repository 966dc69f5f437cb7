import { getTableColumns, sql, type Subquery } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** A limit in the text of a statement: PostgreSQL would plan one with a parameter again at each run. */
// Drizzle writes any expression as the limit, and its type knows numbers only.
export const fixedLimit = (rows: number) => sql.raw(String(rows)) as unknown as number;

/** The columns of a subquery. */
// Drizzle's type has none when those of its table are not known.
export const columnsOf = (child: Subquery) => child as unknown as Readonly<Record<string, PgColumn>>;

/** The property that has a column in the rows of its table. */
export function propertyOf(column: PgColumn): string {
  const found = Object.entries(getTableColumns(column.table)).find(([, each]) => each.name === column.name);
  if (!found) throw new Error(`a table has no column ${column.name}`);
  return found[0];
}
