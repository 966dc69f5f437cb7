import { Ctx, type ClassType, Root } from 'type-graphql';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Child } from '../../db/list/statement.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { account } from '../../resources/account/table.js';
import { fieldsResolver } from '../../resources/edge-resolvers.js';
import type { OperatorContext } from '../context.js';
import { OperatorAccount } from './type.js';

/** A part of the operator's graph: what the operator reads and does about one matter. */
export interface OperatorModule {
  /** The resolver classes of its root fields, and of fields that are no edges. */
  resolvers: readonly Function[];
  /**
   * For each root field, the noun that begins the names of its parameters in errors, as in /v1 and in OperatorError.
   */
  fields: Readonly<Record<string, string>>;
  /** The edges of its types to rows of the same tenant and mode. */
  edges?: readonly OperatorEdges[];
  /** How many members those lists have that take no page arguments, by type and field. */
  sizes?: Readonly<Record<string, number>>;
}

/** The edges of a type. */
export interface OperatorEdges {
  of: ClassType<object>;
  edges: Readonly<Record<string, OperatorEdge>>;
}

interface OperatorEdge {
  read: 'one' | 'all';
  returns: ClassType<object>;
  table: Child;
  match: PgColumn;
  /** The property of the parent's row whose value the column has, or the value itself. */
  of: string | ((row: TenantAndMode) => string);
  description: string;
}

/** The edges of a type whose objects are rows of a table. */
export const edgesOf = (of: ClassType<object>, edges: OperatorEdges['edges']): OperatorEdges => ({ of, edges });

/** An edge to the one object that has the value of a property of the row in a column; null when there is none. */
export const one = (
  returns: ClassType<object>,
  table: Child,
  match: PgColumn,
  of: OperatorEdge['of'],
  description: string,
): OperatorEdge => ({ read: 'one', returns, table, match, of, description });

/** An edge to all objects that have the id of the row in a column, newest first. */
export const all = (returns: ClassType<object>, table: Child, match: PgColumn, description: string): OperatorEdge => ({
  read: 'all',
  returns,
  table,
  match,
  of: 'id',
  description,
});

/** The edge to the root account of the tenant of a row, which has its name. */
export const root = one(
  OperatorAccount,
  account,
  account.id,
  ({ tenantId }) => `account_${tenantId}`,
  'The root account of its tenant, in the same mode.',
);

/** The class that resolves the edges of a type. */
export function operatorEdgeResolver({ of, edges }: OperatorEdges): Function {
  const fields = Object.entries(edges).map(([name, { read, returns, table, match, of: property, description }]) => ({
    name,
    returns: (): ClassType | [ClassType] => (read === 'all' ? [returns as ClassType] : (returns as ClassType)),
    shown: { nullable: read === 'one', description },
    run: (row: TenantAndMode, { related }: OperatorContext) => {
      // A row has the property that its edge names; the types of the tables differ.
      const value: string | null = typeof property === 'function' ? property(row) : Reflect.get(row, property);
      if (value === null) return null;
      return related[read](table, match, row, value);
    },
    parameters: [Root(), Ctx()],
  }));
  return fieldsResolver(() => of, fields);
}
