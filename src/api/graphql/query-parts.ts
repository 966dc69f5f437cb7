import type { ListLength, ListSize } from '../../types/pagination.js';
import { type FieldWeight, pointsOf, weights } from '../../types/weights.js';
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** The sizes of the lists of a schema. */
export interface ListSizes {
  page: { default: number; max: number };
  /**
   * The sizes of lists of objects without page arguments, by type and field. 0 is for values that belong to their
   * object, such as its funds by currency; only ANSWER_BYTES_MAX limits them. A list without a maximum may have more
   * members: RequestBudget also counts the objects that are really returned, and each of them costs its points.
   */
  lists: Record<string, ListSize>;
  /** What fields weigh in addition to their objects, by type and field. */
  weights?: Readonly<Record<string, FieldWeight>>;
}

export type Variables = Readonly<Record<string, unknown>>;

/** A field that leads to nodes or costs points. */
export interface Part {
  name: string;
  counted: boolean;
  /** The number of its members for each of its parents, as nodes. */
  size: (variables: Variables) => number;
  /** The same for points: more where the number has no maximum. */
  most: (variables: Variables) => number;
  asked: (variables: Variables) => boolean;
  /** The points that it costs for each of its parents, without its objects. */
  points: (variables: Variables) => number;
  /** The parts below, one list for each type that a member may have. */
  below: Part[][];
}

/** A field of a document, with its own directives and those of the fragments around it within its selection set. */
interface Found {
  node: FieldNode;
  conditions: DirectiveNode[];
}

type Arguments = readonly ArgumentNode[];

const one = () => 1;
const free = () => 0;

/** Finds the parts of an operation that lead to nodes, with their sizes as functions of the variables. */
export class QueryParts {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #defaults = new Map<string, ValueNode>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly sizes: ListSizes,
    private readonly counted: ReadonlySet<string>,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    for (const d of document.definitions) if (d.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(d.name.value, d);
    for (const { variable, defaultValue } of operation.variableDefinitions ?? [])
      if (defaultValue) this.#defaults.set(variable.name.value, defaultValue);
  }

  parts(root: GraphQLObjectType): Part[] {
    return this.#parts(root, [this.operation.selectionSet]);
  }

  /** The parts in the selection sets of one object. Fields with one response key are one field, as in the answer. */
  #parts(type: GraphQLObjectType, sets: SelectionSetNode[], page?: Part['size'], around: Arguments = []): Part[] {
    const byKey = new Map<string, Found[]>();
    const spread = new Set<string>();
    const collect = ({ selections }: SelectionSetNode, around: DirectiveNode[]): void => {
      for (const selection of selections) {
        const conditions = selection.directives?.length ? [...around, ...selection.directives] : around;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const same = byKey.get(key);
          if (same) same.push({ node: selection, conditions });
          else byKey.set(key, [{ node: selection, conditions }]);
          continue;
        }
        let inner: {
          typeCondition?: FragmentDefinitionNode['typeCondition'] | undefined;
          selectionSet: SelectionSetNode;
        };
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const name = selection.name.value;
          const fragment = this.#fragments.get(name);
          // Without a condition, a second spread adds nothing to the first.
          if (!fragment || (spread.has(name) && conditions.length === 0)) continue;
          if (conditions.length === 0) spread.add(name);
          inner = fragment;
        } else inner = selection;
        const on = inner.typeCondition && this.schema.getType(inner.typeCondition.name.value);
        if (on && on !== type && !(isAbstractType(on) && this.schema.isSubType(on, type))) continue;
        collect(inner.selectionSet, conditions);
      }
    };
    for (const set of sets) collect(set, []);
    const parts = [...byKey.values()].flatMap((found) => this.#part(type, found, page, around) ?? []);
    // PostgreSQL reads the rows of a page whichever of its fields are selected, unless only their number is.
    if (page && !parts.some(({ name }) => name === 'nodes' || name === 'edges')) {
      const asked = rowsAskedBy([...byKey.values()]);
      parts.push({ name: 'nodes', counted: true, size: page, most: page, asked, points: free, below: [] });
    }
    return parts;
  }

  #part(
    parent: GraphQLObjectType,
    found: Found[],
    page: Part['size'] | undefined,
    around: Arguments,
  ): Part | undefined {
    const { node } = found[0]!;
    const name = node.name.value;
    const field = parent.getFields()[name];
    const type = field && getNamedType(field.type);
    const points = this.#pointsOf(parent, node);
    if (!field || !type || (!isObjectType(type) && !isAbstractType(type))) {
      if (points === free) return undefined;
      return { name, counted: false, size: one, most: one, asked: askedBy(found), points, below: [] };
    }
    const paged = field.args.some((argument) => argument.name === 'first');
    const listed = isListOfObjects(field);
    const list = this.sizes.lists[`${parent.name}.${name}`];
    const counted = listed
      ? list !== undefined
        ? list !== 0
        : isNodes(name)
      : this.counted.has(type.name) || isAbstractType(type);
    // The lists of a figure have the sizes that its arguments say.
    const given = node.arguments?.length ? node.arguments : around;
    const lengthOf = (as: 'nodes' | 'points') =>
      !listed ? one : (page ?? this.#sizeOf(typeof list === 'object' ? list[as] : list, given));
    const sets = found.flatMap(({ node: { selectionSet } }) => selectionSet ?? []);
    const types = isObjectType(type) ? [type] : this.schema.getPossibleTypes(type);
    const below = types
      .map((each) => this.#parts(each, sets, paged ? this.#pageSize(node) : undefined, given))
      .filter((parts) => parts.length > 0);
    if (!counted && below.length === 0 && points === free) return undefined;
    const sizes = { size: lengthOf('nodes'), most: lengthOf('points') };
    return { name, counted, ...sizes, asked: askedBy(found), points, below };
  }

  /** What a field costs for each of its parents, without its objects. */
  #pointsOf(parent: GraphQLObjectType, { name: { value: name }, arguments: given }: FieldNode): Part['points'] {
    if (name === '__schema' || name === '__type') return () => weights.introspection;
    // One look at the list, if the page has a cursor.
    if (parent.name === 'PageInfo' && name.startsWith('has')) return () => weights.object;
    if (isTotal(parent, name)) return () => weights.total;
    const isWrite = parent === this.schema.getMutationType() && name !== '__typename';
    const weight = this.sizes.weights?.[`${parent.name}.${name}`] ?? (isWrite ? 'write' : undefined);
    if (weight === undefined) return free;
    const argument = this.#argumentsOf(given);
    return (variables) => pointsOf(weight, argument(variables));
  }

  /** The values of a field's arguments, by their names. */
  #argumentsOf(given: Arguments | undefined): (variables: Variables) => (name: string) => unknown {
    const values = new Map((given ?? []).map((argument) => [argument.name.value, this.#valueOf(argument)]));
    return (variables) => (name) => values.get(name)?.(variables);
  }

  #sizeOf(list: ListLength | undefined, given: Arguments): Part['size'] {
    if (typeof list !== 'function') return () => list || 1;
    const argument = this.#argumentsOf(given);
    return (variables) => list(argument(variables));
  }

  #pageSize({ arguments: given }: FieldNode): Part['size'] {
    const { default: size, max } = this.sizes.page;
    const sizes = (given ?? [])
      .filter(({ name }) => name.value === 'first' || name.value === 'last')
      .map((argument) => this.#valueOf(argument));
    if (sizes.length === 0) return () => size;
    return (variables) => {
      let largest: number | undefined;
      for (const value of sizes) {
        const found = value(variables);
        if (found === undefined || found === null) continue;
        // The resolver refuses an invalid or too large size later; here it counts as the largest size.
        const rows = typeof found === 'number' && found <= max ? Math.max(found, 0) : max;
        largest = Math.max(largest ?? 0, rows);
      }
      return largest ?? size;
    };
  }

  /**
   * The value of an argument as JSON: a literal, a variable's value, or its default. Only the length of a list matters.
   */
  #valueOf({ value }: { value?: ValueNode | undefined } = {}): (variables: Variables) => unknown {
    if (value?.kind === Kind.VARIABLE) {
      const name = value.name.value;
      const otherwise = this.#valueOf({ value: this.#defaults.get(name) });
      return (variables) => (variables[name] === undefined ? otherwise(variables) : variables[name]);
    }
    if (value?.kind === Kind.OBJECT) {
      const members = value.fields.map((member) => [member.name.value, this.#valueOf(member)] as const);
      return (variables) => Object.fromEntries(members.map(([name, valueIn]) => [name, valueIn(variables)]));
    }
    const literal = literalOf(value);
    return () => literal;
  }
}

function literalOf(value: ValueNode | undefined): unknown {
  if (value?.kind === Kind.INT) return Number(value.value);
  if (value?.kind === Kind.LIST) return value.values;
  if (value?.kind === Kind.STRING || value?.kind === Kind.ENUM) return value.value;
  return value === undefined || value.kind === Kind.NULL ? undefined : value;
}

/** Whether a field is selected: at least one of its occurrences is not left out by a directive. */
function askedBy(found: Found[]): Part['asked'] {
  if (found.some(({ conditions }) => conditions.length === 0)) return () => true;
  return (variables) => found.some(({ conditions }) => conditions.every((directive) => holds(directive, variables)));
}

/** Whether the rows of a page are read: a page of which only the number of its list is selected has none. */
function rowsAskedBy(fields: Found[][]): Part['asked'] {
  const named = fields.map((found) => ({ name: found[0]!.node.name.value, asked: askedBy(found) }));
  return (variables) => !isCountOnly(named.flatMap(({ name, asked }) => (asked(variables) ? name : [])));
}

/** Whether only the number of the whole list is selected of a page, so that none of its rows is needed. */
export const isCountOnly = (names: readonly string[]): boolean =>
  names.includes('totalCount') && names.every((name) => name === 'totalCount' || name === '__typename');

function holds({ name, arguments: given }: DirectiveNode, variables: Variables): boolean {
  const value = given?.find((argument) => argument.name.value === 'if')?.value;
  const condition =
    value?.kind === Kind.VARIABLE ? variables[value.name.value] : value?.kind === Kind.BOOLEAN && value.value;
  // The default of a variable is ignored: a field that may be selected counts.
  if (typeof condition !== 'boolean') return true;
  return name.value === 'skip' ? !condition : name.value === 'include' ? condition : true;
}

/** Whether a field is a list of objects. */
export function isListOfObjects({ type }: GraphQLField<unknown, unknown>): boolean {
  const named = getNamedType(type);
  return isListType(isNonNullType(type) ? type.ofType : type) && (isObjectType(named) || isAbstractType(named));
}

const isNodes = (name: string) => name === 'nodes';

/** Whether a field is the rows of a page, whose size is that of the page. */
export function isPart(type: GraphQLObjectType, name: string): boolean {
  return isPageType(type) && (isNodes(name) || name === 'edges');
}

/** Whether a type is a page of a list. */
export const isPageType = ({ name }: GraphQLObjectType): boolean => /(Connection|Page)$/.test(name);

/** Whether a field counts the whole list of a page. */
export const isTotal = (type: GraphQLObjectType, name: string): boolean => name === 'totalCount' && isPageType(type);
