import {
  type FieldNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  Kind,
  type SelectionNode,
} from 'graphql';
import { argumentPath, camel, type Problem, snake } from '../../errors/problems.js';
import { asListed, type RootField } from './argument-problems.js';
import { isPageType } from './query-parts.js';
import { type GraphOperation, rootFieldNodes } from './root-fields.js';

/** A field below the root, whose arguments may be refused. */
export interface NestedField {
  node: FieldNode;
  field: RootField;
  /** The noun that begins the names of its parameters: that of the page's objects, or that of the object above it. */
  object: string;
  /** Names a problem of its arguments. */
  named: typeof asListed;
}

/**
 * The most fields that are looked at. A document can repeat a field often, and each would read the variables again.
 */
const fieldsMax = 100;

/** The fields below the root that an operation selects with arguments, or without those that they require. */
export function nestedFields({ schema, document, operationName }: GraphOperation, root: RootField[]): NestedField[] {
  const found: NestedField[] = [];
  const visited = new Set<string>();
  const walk = (type: GraphQLNamedType, selections: readonly SelectionNode[] = []): void => {
    for (const selection of selections) {
      if (found.length >= fieldsMax) return;
      if (selection.kind === Kind.FIELD) {
        const field = isCompositeType(type) && !isUnionType(type) ? type.getFields()[selection.name.value] : undefined;
        if (!field) continue;
        if (selection.arguments?.length || field.args.some(isRequiredArgument))
          found.push({ node: selection, field, ...namesOf(field, type) });
        walk(getNamedType(field.type), selection.selectionSet?.selections);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const name = selection.typeCondition?.name.value;
        walk((name && schema.getType(name)) || type, selection.selectionSet.selections);
      } else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = document.definitions.find(
          (d) => d.kind === Kind.FRAGMENT_DEFINITION && d.name.value === selection.name.value,
        );
        const on = fragment?.kind === Kind.FRAGMENT_DEFINITION && schema.getType(fragment.typeCondition.name.value);
        if (on && fragment.kind === Kind.FRAGMENT_DEFINITION) walk(on, fragment.selectionSet.selections);
      }
    }
  };
  for (const node of rootFieldNodes(document, operationName)) {
    const field = root.find(({ name }) => name === node.name.value);
    if (field) walk(getNamedType(field.type), node.selectionSet?.selections);
  }
  return found;
}

function namesOf(field: RootField, above: GraphQLNamedType): Pick<NestedField, 'object' | 'named'> {
  const type = getNamedType(field.type);
  const nodes = isObjectType(type) && isPageType(type) && type.getFields().nodes;
  if (nodes) return { object: nounOf(getNamedType(nodes.type)), named: asListed };
  return { object: nounOf(above), named: asArgument };
}

const nounOf = ({ name }: Pick<GraphQLObjectType, 'name'>) => snake(name).replace(/^_/, '');

/** A problem of an argument that is no page's: it has its own name also where a page's has that one on /v1. */
const asArgument = (p: Problem): Problem => {
  const name = /^\w+\.(\w+)/.exec(p.field ?? '')?.[1];
  const [, ...rest] = argumentPath(p.field);
  return name === undefined ? p : { ...p, path: [camel(name), ...rest] };
};
