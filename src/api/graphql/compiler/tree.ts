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
import { storedAs } from '../stored-names.js';

/** A field of a query with the fields selected below it; `field` is undefined for `__typename`. */
export interface Branch {
  key: string;
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

/** Thrown for a selection that only a resolver can answer. */
export class NotCompilable extends Error {}

/**
 * The tree of a valid document, or undefined when PostgreSQL alone cannot answer it: the document is not exactly one
 * query, or has a directive, an abstract type, or a field with a resolver and without a rule.
 */
export function treeOf(schema: GraphQLSchema, { definitions }: DocumentNode): Tree | undefined {
  const operations = definitions.filter((d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  const query = schema.getQueryType();
  if (!operation || operations.length > 1 || operation.operation !== OperationTypeNode.QUERY || !query)
    return undefined;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const d of definitions) if (d.kind === Kind.FRAGMENT_DEFINITION) fragments.set(d.name.value, d);

  const branches = (type: GraphQLObjectType, sets: SelectionSetNode[]): Branch[] => {
    const byKey = new Map<string, FieldNode[]>();
    const collect = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        if (selection.directives && selection.directives.length > 0) throw new NotCompilable();
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const same = byKey.get(key);
          if (same) same.push(selection);
          else byKey.set(key, [selection]);
          continue;
        }
        const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
        if (!fragment || (fragment.directives && fragment.directives.length > 0)) throw new NotCompilable();
        const on = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
        if (on && on !== type && !(isAbstractType(on) && schema.isSubType(on, type))) continue;
        collect(fragment.selectionSet);
      }
    };
    for (const set of sets) collect(set);
    return [...byKey].map(([key, nodes]) => branch(type, key, nodes));
  };
  const branch = (parent: GraphQLObjectType, key: string, nodes: FieldNode[]): Branch => {
    const node = nodes[0]!;
    const name = node.name.value;
    if (name === '__typename') return { key, parent, field: undefined, node, rule: undefined, below: [] };
    const field = parent.getFields()[name];
    const rule = rules.get(`${parent.name}.${name}`);
    if (!field || (field.resolve && !rule && storedAs(field) === undefined)) throw new NotCompilable();
    const type = getNamedType(field.type);
    if (isAbstractType(type)) throw new NotCompilable();
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return { key, parent, field, node, rule, below: isObjectType(type) ? branches(type, sets) : [] };
  };
  try {
    return { operation, branches: branches(query, [operation.selectionSet]) };
  } catch (error) {
    if (error instanceof NotCompilable) return undefined;
    throw error;
  }
}
