import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Link as LinkTable, Rows } from '../db/list/statement.js';
import type { Listing } from '../types/pagination.js';
import { type Edge, type Funds, listingOf, type NodeRow, type Place, type RootRead } from './edges.js';

/** The SQL of the value in a place of a row. */
export function valueIn(of: Place, column: (property: string) => string): string {
  return typeof of === 'string' ? column(of) : `(${column(of[0])} ->> '${of[1]}')`;
}

/** How the query compiler reads a field in PostgreSQL: it reads the same rows as the field's resolver. */
export type Rule =
  | { read: 'one'; table: Rows }
  | { read: 'page'; table: Rows; listing: Listing }
  | { read: 'link'; table: Rows; match: PgColumn; of: Place }
  | { read: 'edge'; table: Rows; listing: Listing; match: PgColumn | LinkTable }
  | { read: 'object'; of: Record<string, string> }
  | { read: 'value'; json: (column: (property: string) => string) => string }
  | { read: 'funds'; funds: Funds };

/** The query compiler's rule for a root field; undefined where only the resolvers can read it. */
export function ruleOfRead(read: RootRead, node: NodeRow): Rule | undefined {
  if (!node.compiled || node.shown) return undefined;
  const { rows: table } = node;
  return read.read === 'one' ? { read: 'one', table } : { read: 'page', table, listing: listingOf(node, read.fixed) };
}

/** The query compiler's rule for an edge; undefined where only the resolvers can read it. */
export function ruleOfEdge(edge: Edge, nodeOf: (table: Rows) => NodeRow): Rule | undefined {
  if (edge.read === 'object') return { read: 'object', of: edge.of };
  if (edge.read === 'value') {
    if (edge.funds) return { read: 'funds', funds: edge.funds };
    return edge.json && { read: 'value', json: edge.json };
  }
  const node = nodeOf(edge.table);
  if (!node.compiled || edge.read === 'links') return undefined;
  const { table } = edge;
  if (edge.read === 'link') return { read: 'link', table, match: edge.match, of: edge.of };
  return { read: 'edge', table, listing: listingOf(node, edge.fixed), match: edge.match };
}
