import { and, asc, desc, eq, getTableName, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import { problem, DomainError } from '../errors/problems.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import type { Operator } from './operator.js';
import { modeOf } from '../request/mode.js';

/** Which objects of all tenants to list; `after` is the `next` of the previous page. */
export interface ListFilter<S> {
  status?: S | undefined;
  livemode?: boolean | undefined;
  tenantId?: string | undefined;
  after?: string | undefined;
  limit?: number | undefined;
}

/** A page of a list; `next` is the cursor of the next page, and null at the end. */
export interface ListPage<T> {
  nodes: T[];
  next: string | null;
}

export const listedMax = 200;

/** The tenant of a root account's id, with or without the prefix: an operator copies the id as a whole. */
export const tenantOf = (id: string) => id.replace(/^account_/, '');

/**
 * Reads one page, newest first, or oldest first for what waits for the operator, which is a queue.
 * The id and the mode break ties, because a root has the same id in both modes. The index has this order within each
 * status, so the statement reads the requested statuses in parallel subqueries and merges them.
 */
export async function listed<
  T extends PgTable & Record<'tenantId' | 'livemode' | 'id' | 'created' | 'status', PgColumn>,
>(
  operator: Operator,
  name: string,
  table: T,
  statuses: readonly string[],
  { status, livemode, tenantId, after, limit = listedMax }: ListFilter<string>,
  oldestFirst: boolean,
): Promise<ListPage<T['$inferSelect']>> {
  const { placeholder } = sql;
  const from = after === undefined ? undefined : cursorOf(after, getTableName(table));
  const conditions: Record<string, SQL | undefined> = {
    mode: livemode === undefined ? undefined : eq(table.livemode, placeholder('livemode')),
    tenant: tenantId === undefined ? undefined : eq(table.tenantId, placeholder('tenantId')),
    after:
      from &&
      sql`(${table.created}, ${table.id}, ${table.livemode}) ${oldestFirst ? sql`>` : sql`<`}
        (${placeholder('created')}::bigint, ${placeholder('id')}::text, ${placeholder('lastLivemode')}::boolean)`,
  };
  const values: Record<string, unknown> = {
    livemode,
    tenantId: tenantId && tenantOf(tenantId),
    ...from,
    limit: limit + 1,
  };
  const parts = status === undefined ? statuses : [status];
  for (const [i, part] of parts.entries()) values[`status${i}`] = part;
  // With a fixed mode, ordering by mode changes nothing, but makes PostgreSQL sort the merged rows.
  const columns = [table.created, table.id, ...(livemode === undefined ? [table.livemode] : [])];
  const order = columns.map((column) => (oldestFirst ? asc(column) : desc(column)));
  const given = Object.entries({ status, ...conditions }).flatMap(([name, one]) => (one === undefined ? [] : name));
  const rows = await operator.read<TenantAndMode & { id: string; created: number }>(
    `${name}:${oldestFirst ? 'oldest' : 'newest'}:${given.join(':')}`,
    (db) => {
      const [one, other, ...more] = parts.map((_, i) =>
        db
          .select()
          .from(table as PgTable)
          .where(and(eq(table.status, placeholder(`status${i}`)), ...Object.values(conditions)))
          .orderBy(...order)
          .limit(placeholder('limit')),
      );
      if (!other) return one!;
      return unionAll(one!, other, ...more)
        .orderBy(...order)
        .limit(placeholder('limit'));
    },
    values,
  );
  const nodes = rows.slice(0, limit);
  const last = rows.length > limit ? nodes.at(-1) : undefined;
  return {
    nodes: nodes as T['$inferSelect'][],
    next: last ? `${last.created}.${last.id}.${modeOf(last.livemode)}` : null,
  };
}

/** The refusal of a cursor that is none of the list of these objects. */
export const noCursor = (object: string) =>
  new DomainError(
    problem('parameter_invalid', `${object}.starting_after`, 'must be the cursor of a page of this list'),
  );

/** Reads a cursor: the position at which a page ended. */
function cursorOf(text: string, object: string): { created: string; id: string; lastLivemode: boolean } {
  const [, created, id, mode] = /^(\d{1,12})\.(\w{1,100})\.(live|test)$/.exec(text) ?? [];
  if (created === undefined || id === undefined) throw noCursor(object);
  return { created, id, lastLivemode: mode === 'live' };
}

/** A page of rows that were read with one more; its cursor has the values of `position` in the last of them. */
export function pageOf<T>(rows: T[], limit: number, position: (row: T) => unknown[]): ListPage<T> {
  const nodes = rows.slice(0, limit);
  const last = rows.length > limit ? nodes.at(-1) : undefined;
  return { nodes, next: last ? Buffer.from(JSON.stringify(position(last))).toString('base64url') : null };
}

/**
 * Reads a cursor of `pageOf`: the values by which a list is ordered, as `v0` and so on. The first one is a number, the
 * third one a mode, and the others are texts.
 */
export function valuesOf(text: string, object: string, length: number): Record<string, unknown> {
  let values: unknown;
  try {
    values = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    values = undefined;
  }
  if (Array.isArray(values) && values.length === length) {
    const [created, , livemode] = values as unknown[];
    const mode = typeof livemode === 'boolean';
    const others = values.filter((_, i) => i !== 0 && i !== 2);
    const texts = others.every((value) => typeof value === 'string' && value.length <= 300 && !value.includes('\0'));
    if (Number.isSafeInteger(created) && mode && texts)
      return Object.fromEntries(values.map((value, i) => [`v${i}`, i === 0 ? String(value) : value]));
  }
  throw noCursor(object);
}
