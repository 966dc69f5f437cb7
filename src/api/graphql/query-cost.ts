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
 * The number of nodes that an operation could touch, and the path that has the most of them. A list without a maximum
 * counts with its usual length, and may have more.
 */
export interface Estimate {
  nodes: number;
  path: string;
  nodesAtPath: number;
  /** The most points that the operation could cost, without those of its request. */
  points: number;
  /** The points that it costs with these nodes: fewer where the number of currencies has no maximum. */
  pointsUsual: number;
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

/** The nodes of parts, and their points: with these nodes, and at most. */
interface Counted {
  nodes: number;
  usual: number;
  most: number;
}

function estimate(parts: Part[], variables: Variables): Estimate {
  const found: Estimate = { nodes: 0, path: '', nodesAtPath: 0, points: 0, pointsUsual: 0, introspection: 0 };
  const names: string[] = [];
  const limited = (count: number) => Math.min(count, countMax);
  /** Adds up parts that could be read so often: usually, and at most. */
  const countAll = (all: Part[], times: number, timesMost: number): Counted => {
    const sum: Counted = { nodes: 0, usual: 0, most: 0 };
    for (const part of all) {
      const { nodes, usual, most } = count(part, times, timesMost);
      sum.nodes = limited(sum.nodes + nodes);
      sum.usual = limited(sum.usual + usual);
      sum.most = limited(sum.most + most);
    }
    return sum;
  };
  const count = (part: Part, times: number, timesMost: number): Counted => {
    const below: Counted = { nodes: 0, usual: 0, most: 0 };
    if (!part.asked(variables)) return below;
    const here = limited(times * part.size(variables));
    const hereMost = limited(timesMost * part.most(variables));
    names.push(part.name);
    if (part.counted && here > found.nodesAtPath) {
      found.nodesAtPath = here;
      found.path = names.join('.');
    }
    // Of the types that a member may have, the costliest counts.
    for (const parts of part.below) {
      const { nodes, usual, most } = countAll(parts, here, hereMost);
      below.nodes = Math.max(below.nodes, nodes);
      below.usual = Math.max(below.usual, usual);
      below.most = Math.max(below.most, most);
    }
    names.pop();
    const points = part.points(variables);
    if (part.name.startsWith('__')) found.introspection += limited(times * points);
    const [objects, objectsMost] = part.counted ? [here, hereMost] : [0, 0];
    return {
      nodes: limited(objects + below.nodes),
      usual: limited(times * points + objects * weights.object + below.usual),
      most: limited(timesMost * points + objectsMost * weights.object + below.most),
    };
  };
  const { nodes, usual, most } = countAll(parts, 1, 1);
  return Object.assign(found, { nodes, pointsUsual: usual, points: most });
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
    const here = Math.min(times * part.most(variables), countMax);
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
