import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import type { Rule } from '../../../resources/compiled-edges.js';
import { rules } from '../../../resources/registry.js';
import { isTotal } from '../query-parts.js';
import { storedAs } from '../stored-names.js';

/** A field of a query with the fields selected below it; `field` is undefined for `__typename`. */
export interface Branch {
  key: string;
  /** The fields from the root, without aliases. */
  path: string;
  /** The type that has the field. */
  parent: GraphQLObjectType;
  field: GraphQLField<unknown, unknown> | undefined;
  node: FieldNode;
  rule: Rule | undefined;
  below: Branch[];
}

/** A query that PostgreSQL may answer by one statement. */
export interface Tree {
  operation: OperationDefinitionNode;
  branches: Branch[];
}

/** What of a query is left to the resolvers, and why. The empty path is that of the whole query. */
export interface Left {
  path: string;
  reason: string;
}

/** Thrown for a query that only the resolvers can answer, with what is left to them. */
export class NotCompilable extends Error {
  readonly left: readonly Left[];

  constructor(at: { path: string } | readonly Left[] = [], reason = 'A resolver computes it.') {
    super('only the resolvers can answer this');
    this.left = 'path' in at ? [{ path: at.path, reason }] : at;
  }
}

/**
 * The tree of a valid document. Throws `NotCompilable` when PostgreSQL alone cannot answer it: the document is not
 * exactly one query, or has a directive, an abstract type, or a field with a resolver and without a rule.
 */
export function treeOf(schema: GraphQLSchema, { definitions }: DocumentNode): Tree {
  const operations = definitions.filter((d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  const query = schema.getQueryType();
  if (!operation || operations.length > 1 || operation.operation !== OperationTypeNode.QUERY || !query)
    throw new NotCompilable({ path: '' }, 'The document is not exactly one query.');
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const d of definitions) if (d.kind === Kind.FRAGMENT_DEFINITION) fragments.set(d.name.value, d);
  const left: Left[] = [];

  const branches = (type: GraphQLObjectType, sets: SelectionSetNode[], above: string): Branch[] => {
    const byKey = new Map<string, FieldNode[]>();
    const collect = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        const field = selection.kind === Kind.FIELD ? selection : undefined;
        const spread = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : undefined;
        if (selection.directives?.length || spread?.directives?.length)
          left.push({ path: field ? pathOf(above, field) : above, reason: 'It has a directive.' });
        if (field) {
          const key = field.alias?.value ?? field.name.value;
          const same = byKey.get(key);
          if (same) same.push(field);
          else byKey.set(key, [field]);
          continue;
        }
        const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : spread!;
        const on = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
        if (on && on !== type && !(isAbstractType(on) && schema.isSubType(on, type))) continue;
        collect(fragment.selectionSet);
      }
    };
    for (const set of sets) collect(set);
    return [...byKey].map(([key, nodes]) => branch(type, key, nodes, above));
  };
  const branch = (parent: GraphQLObjectType, key: string, nodes: FieldNode[], above: string): Branch => {
    const node = nodes[0]!;
    const name = node.name.value;
    const path = pathOf(above, node);
    const leaf = { key, path, parent, field: parent.getFields()[name], node, below: [] };
    if (!leaf.field) {
      if (name !== '__typename') left.push({ path, reason: 'It is of the schema itself.' });
      return { ...leaf, rule: undefined };
    }
    const rule = rules.get(`${parent.name}.${name}`);
    const type = getNamedType(leaf.field.type);
    const known = !leaf.field.resolve || rule || storedAs(leaf.field) !== undefined || isTotal(parent, name);
    if (!known || isAbstractType(type)) left.push(...new NotCompilable({ path }).left);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return { ...leaf, rule, below: known && isObjectType(type) ? branches(type, sets, path) : [] };
  };
  const found = branches(query, [operation.selectionSet], '');
  // What is known of the caller alone takes no statement.
  if (left.length === 0 && !found.some(readsRows)) left.push({ path: '', reason: 'It needs no statement.' });
  if (left.length > 0) throw new NotCompilable(left);
  return { operation, branches: found };
}

const pathOf = (above: string, { name }: FieldNode) => (above === '' ? name.value : `${above}.${name.value}`);

/** Whether a root field reads rows. */
const readsRows = ({ rule, below }: Branch) => rule && (rule.read !== 'caller' || below.some((part) => part.rule));
