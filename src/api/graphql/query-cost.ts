import {
  type DocumentNode,
  getNamedType,
  GraphQLError,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { type Variables, type ListSizes, isListOfObjects, isPart, QueryParts, type Part } from './query-parts.js';

/** The number of nodes that an operation could touch, and the path that has the most of them. */
export interface Estimate {
  nodes: number;
  path: string;
  nodesAtPath: number;
}

/** Estimates an operation for the variables of a request. */
export type Estimator = (variables: Variables) => Estimate;

/**
 * The largest count. A larger one makes no difference, and the product of sixteen pages is beyond exact whole numbers.
 */
const countMax = 1_000_000_000_000;

/**
 * Counts the nodes that an operation could touch before any of it runs. A node is an object with an id, or a member of
 * a list that has a size in `sizes`. Sizes multiply along each path. Each alias counts; fields with one response key
 * count once; the rows of a connection count once for `nodes` and once for `edges`. The constructor throws for a list
 * of objects without a size.
 */
export class NodeCounter {
  readonly #counted = new Set<string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly sizes: ListSizes,
  ) {
    const known = new Set(Object.keys(sizes.lists));
    for (const type of Object.values(schema.getTypeMap())) {
      if (!isObjectType(type) || isIntrospectionType(type)) continue;
      if (type.getFields().id) this.#counted.add(type.name);
      for (const field of Object.values(type.getFields())) {
        const name = `${type.name}.${field.name}`;
        if (!isListOfObjects(field) || isPart(type, field.name)) continue;
        const size = sizes.lists[name];
        if (size === undefined) throw new Error(`the list ${name} has no size`);
        known.delete(name);
        if (size !== 0) this.#counted.add(getNamedType(field.type).name);
      }
    }
    const [unknown] = known;
    if (unknown !== undefined) throw new Error(`${unknown} has a size and is no list of objects`);
  }

  /** Whether objects of a type are nodes. */
  counts(type: string): boolean {
    return this.#counted.has(type);
  }

  /** The estimator of an operation of a valid document; undefined when the document has no such operation. */
  of(document: DocumentNode, operationName: string | null | undefined): Estimator | undefined {
    const operations = document.definitions.filter(
      (d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION,
    );
    const operation = operationName ? operations.find((d) => d.name?.value === operationName) : operations[0];
    const root = operation && this.schema.getRootType(operation.operation);
    if (!operation || !root) return undefined;
    const parts = new QueryParts(this.schema, this.sizes, this.#counted, document, operation).parts(root);
    return (variables) => estimate(parts, variables);
  }
}

/** Refuses an operation that could touch too many nodes. */
export function refuseTooMany({ nodes, path, nodesAtPath }: Estimate, limit: number): void {
  if (nodes <= limit) return;
  const countText = (count: number) => (count >= countMax ? `at least ${countMax}` : String(count));
  const message = `The operation could touch ${countText(nodes)} nodes, of which ${countText(nodesAtPath)} are at ${path}; the limit is ${limit}. Ask for smaller pages with first or last, or for the inner objects in requests of their own.`;
  throw new GraphQLError(message, { extensions: { code: 'QUERY_TOO_LARGE', http: { status: 400 } } });
}

function estimate(parts: Part[], variables: Variables): Estimate {
  const found: Estimate = { nodes: 0, path: '', nodesAtPath: 0 };
  const names: string[] = [];
  const countAll = (all: Part[], times: number): number =>
    Math.min(
      all.reduce((sum, part) => sum + count(part, times), 0),
      countMax,
    );
  const count = (part: Part, times: number): number => {
    if (!part.asked(variables)) return 0;
    const here = Math.min(times * part.size(variables), countMax);
    names.push(part.name);
    if (part.counted && here > found.nodesAtPath) {
      found.nodesAtPath = here;
      found.path = names.join('.');
    }
    let below = 0;
    for (const parts of part.below) below = Math.max(below, countAll(parts, here));
    names.pop();
    return Math.min((part.counted ? here : 0) + below, countMax);
  };
  found.nodes = countAll(parts, 1);
  return found;
}
