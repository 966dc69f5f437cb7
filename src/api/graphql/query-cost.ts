import {
  type DocumentNode,
  getNamedType,
  GraphQLError,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
} from 'graphql';
import { weights } from '../../types/weights.js';
import { type Variables, type ListSizes, isListOfObjects, isPart, QueryParts, type Part } from './query-parts.js';
import { operationOf } from './root-fields.js';

/**
 * The number of nodes that an operation could touch, and the path that has the most of them. Where the size of a list
 * is a usual one, such as of the currencies of a figure, it may touch more.
 */
export interface Estimate {
  nodes: number;
  path: string;
  nodesAtPath: number;
  /** The points that the operation could cost with these nodes, without those of its request. */
  points: number;
  /** The points among them that no execution counts, because the library itself answers introspection. */
  introspection: number;
}

/** What one path of an operation could cost. */
interface PathCost {
  path: string;
  /** How often it could be read. */
  times: number;
  /** The points each time. */
  weight: number;
  cost: number;
}

/** Estimates an operation for the variables of a request. */
export interface Estimator {
  (variables: Variables): Estimate;
  /** What each path could cost. */
  paths(variables: Variables): PathCost[];
}

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
    const operation = operationOf(document, operationName);
    const root = operation && this.schema.getRootType(operation.operation);
    if (!operation || !root) return undefined;
    const parts = new QueryParts(this.schema, this.sizes, this.#counted, document, operation).parts(root);
    return Object.assign((variables: Variables) => estimate(parts, variables), {
      paths: (variables: Variables) => pathCosts(parts, variables),
    });
  }
}

/** Refuses an operation that could touch too many nodes. */
export function refuseTooMany({ nodes, path, nodesAtPath }: Estimate, limit: number): void {
  if (nodes <= limit) return;
  const countText = (count: number) => (count >= countMax ? `at least ${countMax}` : String(count));
  const message =
    `The operation could touch ${countText(nodes)} nodes, of which ${countText(nodesAtPath)} are at ${path}; the ` +
    `limit is ${limit}. Ask for smaller pages with first or last, or for the inner objects in requests of their ` +
    'own.';
  throw new GraphQLError(message, { extensions: { code: 'QUERY_TOO_LARGE', http: { status: 400 } } });
}

function estimate(parts: Part[], variables: Variables): Estimate {
  const found: Estimate = { nodes: 0, path: '', nodesAtPath: 0, points: 0, introspection: 0 };
  const names: string[] = [];
  const limited = (count: number) => Math.min(count, countMax);
  const countAll = (all: Part[], times: number): [nodes: number, points: number] => {
    let [nodes, points] = [0, 0];
    for (const part of all) {
      const [moreNodes, morePoints] = count(part, times);
      nodes = limited(nodes + moreNodes);
      points = limited(points + morePoints);
    }
    return [nodes, points];
  };
  const count = (part: Part, times: number): [nodes: number, points: number] => {
    if (!part.asked(variables)) return [0, 0];
    const here = limited(times * part.size(variables));
    names.push(part.name);
    if (part.counted && here > found.nodesAtPath) {
      found.nodesAtPath = here;
      found.path = names.join('.');
    }
    // Of the types that a member may have, the costliest counts.
    let [nodes, points] = [0, 0];
    for (const parts of part.below) {
      const [nodesBelow, pointsBelow] = countAll(parts, here);
      nodes = Math.max(nodes, nodesBelow);
      points = Math.max(points, pointsBelow);
    }
    names.pop();
    const own = limited(times * part.points(variables));
    if (part.name.startsWith('__')) found.introspection += own;
    const objects = part.counted ? here : 0;
    return [limited(objects + nodes), limited(own + objects * weights.object + points)];
  };
  [found.nodes, found.points] = countAll(parts, 1);
  return found;
}

/**
 * What each path costs, in the order of the document. Of the types that a member may have, only the costliest is
 * listed, so that the sum is the cost of the operation.
 */
function pathCosts(parts: Part[], variables: Variables): PathCost[] {
  const sum = (lines: PathCost[]) => lines.reduce((total, { cost }) => total + cost, 0);
  const linesOf = (part: Part, times: number, above: string): PathCost[] => {
    if (!part.asked(variables)) return [];
    const path = above === '' ? part.name : `${above}.${part.name}`;
    const here = Math.min(times * part.size(variables), countMax);
    const own: PathCost[] = [];
    const line = (count: number, weight: number) => {
      if (weight > 0) own.push({ path, times: count, weight, cost: Math.min(count * weight, countMax) });
    };
    line(times, part.points(variables));
    line(here, part.counted ? weights.object : 0);
    const below = part.below
      .map((each) => each.flatMap((inner) => linesOf(inner, here, path)))
      .sort((a, b) => sum(b) - sum(a));
    return [...own, ...(below[0] ?? [])];
  };
  return parts.flatMap((part) => linesOf(part, 1, ''));
}
