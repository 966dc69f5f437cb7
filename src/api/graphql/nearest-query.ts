import {
  type ArgumentNode,
  type ASTNode,
  astFromValue,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLResolveInfo,
  isInputType,
  Kind,
  type ObjectFieldNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
  visit,
} from 'graphql';
import { shownFilters } from '../../errors/problems.js';
import { pageSizeMax } from '../../types/pagination.js';
import { pageArguments } from '../rest/list-path.js';
import { explorerPlace } from './explorer.js';

type Values = Readonly<Record<string, unknown>>;

/** An argument of a list, or a member of an input that has a list. */
type Declared = Pick<GraphQLArgument, 'name' | 'type' | 'defaultValue' | 'deprecationReason'>;

/**
 * The longest link. An answer has one for each problem, so a client must not make it many times longer than its query.
 */
export const linkLengthMax = 2_000;

/** The links of one execution, by the field: an edge is refused once for each parent. */
const links = new WeakMap<object, Map<FieldNode, string | undefined>>();

/**
 * The address that opens an operation of the client in the explorer, with other arguments of the field that `info` is
 * about, and without what is beside it. All values are in its text. It selects `ids` where the client's own selection
 * is too long, and is undefined if it is too long with them.
 */
export function explorerLink(
  info: GraphQLResolveInfo,
  argumentsFor: (node: FieldNode) => ArgumentNode[],
  ids = 'nodes { id }',
): string | undefined {
  const known = links.get(info.variableValues) ?? new Map<FieldNode, string | undefined>();
  links.set(info.variableValues, known);
  const [node] = info.fieldNodes as [FieldNode, ...FieldNode[]];
  if (known.has(node)) return known.get(node);
  const args = argumentsFor(node);
  const made = [node.selectionSet, selected(ids)].map((selection) =>
    linkTo(print(documentOf(info, { ...node, arguments: args, selectionSet: selection! }))),
  );
  const link = made.find(({ length }) => length <= linkLengthMax);
  known.set(node, link);
  return link;
}

const linkTo = (query: string): string => `${explorerPlace}#${new URLSearchParams({ query })}`;

const name = (value: string) => ({ kind: Kind.NAME, value }) as const;

/** The selection set of a text with one level below each field. */
const selected = (text: string): SelectionSetNode => {
  const [field, inner] = text.split(/[ {}]+/);
  const leaf: FieldNode = { kind: Kind.FIELD, name: name(inner!) };
  return setOf({ kind: Kind.FIELD, name: name(field!), selectionSet: setOf(leaf) });
};

const setOf = (...selections: SelectionNode[]): SelectionSetNode => ({ kind: Kind.SELECTION_SET, selections });

/** The arguments of a list as GraphQL writes them. The size of the page is the client's own. */
export function argumentsOf(declared: readonly Declared[], values: Values, node: FieldNode): ArgumentNode[] {
  const shaped = shapedAs(declared, values);
  return declared.flatMap(({ name: argument, type }) => {
    if (argument === 'first' || argument === 'last') {
      const isSize = Number(values[argument]) >= 1 && Number(values[argument]) <= pageSizeMax;
      return isSize ? (node.arguments?.filter((each) => each.name.value === argument) ?? []) : [];
    }
    const value = valueOf(shaped[argument], type);
    return value ? [{ kind: Kind.ARGUMENT, name: name(argument), value }] : [];
  });
}

/** The values of a list as its declared arguments have them, without a page: the filters are members of `filter`. */
export function shapedAs(declared: readonly Declared[], values: Values): Values {
  const current = declared.filter(({ deprecationReason }) => deprecationReason == null);
  const within: Record<string, unknown> = { ...values };
  for (const { name: argument } of current) delete within[argument];
  const given = current.map(({ name: argument, type, defaultValue }): [string, unknown] => {
    if (argument === 'filter') return [argument, filterOf(type as GraphQLInputObjectType, within)];
    return [argument, values[argument] === defaultValue ? undefined : values[argument]];
  });
  return Object.fromEntries(given.filter(([argument, value]) => value != null && !pageArguments.includes(argument)));
}

/** The filters of a list as members of `filter`, each once: where two take a filter, the first that takes its value. */
function filterOf(type: GraphQLInputObjectType, values: Values): Values | undefined {
  const members: Record<string, unknown> = {};
  const told = new Set<string>();
  for (const { name: member, type: of } of Object.values(type.getFields())) {
    const filter = shownFilters.get(member) ?? member;
    if (told.has(filter) || !valueOf(values[filter], of)) continue;
    told.add(filter);
    members[member] = values[filter];
  }
  return told.size > 0 ? members : undefined;
}

/** A value as GraphQL writes it. Undefined for none, and for one that the type does not have. */
function valueOf(value: unknown, type: GraphQLInputType): ConstValueNode | undefined {
  if (value === null || value === undefined) return undefined;
  try {
    return (astFromValue(value, type) as ConstValueNode | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** The document that selects one field and what is above it, with the fragments that it uses. */
function documentOf(info: GraphQLResolveInfo, field: FieldNode): DocumentNode {
  const keys: string[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = info.path; at; at = at.prev)
    if (typeof at.key === 'string') keys.unshift(at.key);
  const selection = pathTo(info, info.operation.selectionSet, keys, field);
  const operation = {
    ...info.operation,
    variableDefinitions: [],
    selectionSet: selection ? setOf(selection) : info.operation.selectionSet,
  };
  const fragments = new Map<string, FragmentDefinitionNode>();
  const take = (node: ASTNode): void => {
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = info.fragments[value];
        if (!fragment || fragments.has(value)) return;
        fragments.set(value, fragment);
        take(fragment);
      },
    });
  };
  take(operation);
  return written(info, { kind: Kind.DOCUMENT, definitions: [operation, ...fragments.values()] });
}

/** The selection that leads to a field along the keys of an answer. A fragment on the way becomes a part of it. */
function pathTo(
  info: GraphQLResolveInfo,
  { selections }: SelectionSetNode,
  keys: readonly string[],
  field: FieldNode,
): SelectionNode | undefined {
  const [key, ...below] = keys;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      if ((selection.alias ?? selection.name).value !== key) continue;
      if (below.length === 0) return field;
      const inner = selection.selectionSet && pathTo(info, selection.selectionSet, below, field);
      if (inner) return { ...selection, selectionSet: setOf(inner) };
      continue;
    }
    const of = selection.kind === Kind.FRAGMENT_SPREAD ? info.fragments[selection.name.value] : selection;
    const inner = of && pathTo(info, of.selectionSet, keys, field);
    if (!inner) continue;
    const condition = of.typeCondition && { typeCondition: of.typeCondition };
    return { kind: Kind.INLINE_FRAGMENT, ...condition, selectionSet: setOf(inner) };
  }
  return undefined;
}

/** A document with the values of its variables in their places. A variable without a value is left out. */
function written({ schema, operation, variableValues }: GraphQLResolveInfo, document: DocumentNode): DocumentNode {
  const types = new Map(
    operation.variableDefinitions?.map(({ variable, type }) => [variable.name.value, typeFromAST(schema, type)]),
  );
  const valueIn = (variable: string) => {
    const type = types.get(variable);
    if (!type || !isInputType(type)) return undefined;
    const value = variableValues[variable];
    return value === null ? ({ kind: Kind.NULL } as const) : valueOf(value, type);
  };
  const withoutVariable = ({ value }: ArgumentNode | ObjectFieldNode) =>
    value.kind === Kind.VARIABLE && valueIn(value.name.value) === undefined ? null : undefined;
  return visit(document, {
    Argument: { enter: withoutVariable },
    ObjectField: { enter: withoutVariable },
    Variable: { leave: ({ name: { value } }) => valueIn(value) ?? { kind: Kind.NULL } },
  });
}
