import type { SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Link as LinkTable, Rows } from '../db/list/statement.js';
import { hidesRows } from '../db/read/visibility.js';
import type { Context } from '../operation/context.js';
import type { Listing } from '../types/pagination.js';
import {
  type ComputedPages,
  type Edge,
  type Funds,
  listingOf,
  type NodeRow,
  type Place,
  type RootRead,
  type Through,
} from './edges.js';

/** The SQL of the value in a place of a row. */
export function valueIn(of: Place, column: (property: string) => string): string {
  return typeof of === 'string' ? column(of) : `(${column(of[0])} ->> '${of[1]}')`;
}

/** How the query compiler reads a field in PostgreSQL: it reads the same rows as the field's resolver. */
export type Rule =
  | { read: 'one'; table: Rows }
  | { read: 'page'; table: Rows; listing: Listing }
  | { read: 'caller'; of: (context: Context) => object }
  | { read: 'link'; table: Rows; match: PgColumn; of: Place }
  | { read: 'links'; table: Rows; of: string | Through; each: boolean }
  | { read: 'edge'; table: Rows; listing: Listing; match: PgColumn | LinkTable }
  | { read: 'computed'; pages: ComputedPages }
  | { read: 'object'; of: Record<string, string> }
  | { read: 'value'; json: (column: (property: string) => string) => string }
  | { read: 'jsonb'; jsonb: (column: (property: string) => string) => string }
  | { read: 'stored'; as: SQL }
  | { read: 'funds'; funds: Funds };

/** The query compiler's rule for a root field; undefined where only the resolvers can read it. */
export function ruleOfRead(read: RootRead, node: NodeRow): Rule | undefined {
  const { rows: table } = node;
  if (!node.compiled) return undefined;
  if (read.read === 'page') return { read: 'page', table, listing: listingOf(node, read.fixed) };
  // Whether a row is shown is not in its statement; a list excludes the rows that are not.
  return node.shown ? undefined : { read: 'one', table };
}

/** The query compiler's rule for an edge; undefined where only the resolvers can read it. */
export function ruleOfEdge(edge: Edge, nodeOf: (table: Rows) => NodeRow): Rule | undefined {
  if (edge.read === 'object') return { read: 'object', of: edge.of };
  if (edge.read === 'value') {
    if (edge.funds) return { read: 'funds', funds: edge.funds };
    if (edge.pages) return { read: 'computed', pages: edge.pages };
    if (edge.as) return { read: 'stored', as: edge.as };
    if (edge.jsonb) return { read: 'jsonb', jsonb: edge.jsonb };
    return edge.json && { read: 'value', json: edge.json };
  }
  const node = nodeOf(edge.table);
  const { table } = edge;
  if (!node.compiled) return undefined;
  if (edge.read === 'edge') return { read: 'edge', table, listing: listingOf(node, edge.fixed), match: edge.match };
  // What a session does not see is a filter of lists alone.
  if (hidesRows(table)) return undefined;
  if (edge.read === 'links') return { read: 'links', table, of: edge.of, each: edge.each };
  return { read: 'link', table, match: edge.match, of: edge.of };
}
