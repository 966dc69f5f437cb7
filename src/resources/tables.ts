import type { Edition } from '../editions/edition.js';
import type { NonEmptyArray } from 'type-graphql';
import type { Operation } from '../operation/operation.js';
import type { ListSize } from '../types/pagination.js';
import type { FieldWeight } from '../types/weights.js';
import type { EventType } from './event/catalogue.js';
import { oldAnswers } from '../operation/old-answers.js';
import type { DeclaredWork } from '../operation/work.js';
import { changesOf } from './changes.js';
import { ImportKind } from './import/table.js';
import { type OperationRow, type Path, type Resource, type Shape, type StoredObject, storedObject } from './define.js';
import { type Rule, ruleOfEdge, ruleOfRead } from './compiled-edges.js';
import { edgeResolver, returnsOf, type RootReader, rootReader, rootResolver } from './edge-resolvers.js';
import { type Edge, isType, nodeFinder, type NodeRow } from './edges.js';
import { keysOfShape } from './shape.js';

/** A row of the endpoint table: a path of /v1, the root field that serves it, and the format of its response. */
export interface Route extends Path {
  field: string;
  shape: Shape;
  /** The `Link` header of the response. */
  link?: Resource['link'];
}

/** How the rows of an import are created. */
export interface ImportOperation {
  field: string;
  defaults: Readonly<Record<string, string>>;
  compared: (edition: Edition) => boolean;
}

/**
 * Builds the tables from the declarations, one per concern. Throws an error with a name when something is declared
 * twice or refers to something that does not exist.
 */
export function tablesOf(declared: readonly Resource[]) {
  refuseTwice(declared);
  const stored = (noun: string) => storedObject(noun, declared);
  const routes = routesOf(declared, stored);
  describeShapes(declared, routes);
  return {
    operations: operationsOf(declared, 'operations', stored),
    restOperations: operationsOf(declared, 'restOperations', stored),
    routes,
    restRoutes: restRoutesOf(declared),
    sizes: sizesOf(declared),
    weights: weightsOf(declared),
    events: eventsOf(declared, stored),
    work: workOf(declared),
    imports: importsOf(declared),
    ...graphOf(declared),
  };
}

type Stored = (noun: string) => StoredObject | undefined;

function refuseTwice(declared: readonly Resource[]): void {
  const [prefixes, nouns] = [new Map<string, string>(), new Map<string, string>()];
  for (const { object, node, stored } of declared) {
    if (node) once(prefixes, node.prefix, object, 'prefix');
    for (const noun of Object.keys(stored ?? {})) once(nouns, noun, object, 'object');
  }
}

function operationsOf(declared: readonly Resource[], part: 'operations' | 'restOperations', stored: Stored) {
  const operations = new Map<string, Operation>();
  for (const { object, [part]: rows = {} } of declared)
    for (const [name, row] of Object.entries<OperationRow>(rows)) {
      const {
        object: own = object,
        reads: _,
        routes: __,
        v1: ___,
        rest: ____,
        imports: _____,
        ofCaller: ______,
        answers: returned,
        ...permission
      } = row;
      const answers = permission.access === 'write' ? (returned ?? stored(own)?.table) : undefined;
      if (permission.access === 'write' && !answers)
        throw new Error(`the operation ${name} writes, and no table stores the responses for its object`);
      once(operations, name, { name, object: own, ...permission, answers }, 'operation');
    }
  return operations;
}

/** The routes that have their own code, each with its operation and the noun of what it answers. */
function restRoutesOf(declared: readonly Resource[]) {
  return declared.flatMap(({ object, restOperations = {} }) =>
    Object.entries(restOperations).map(([field, { rest }]) => ({ ...rest, field, object })),
  );
}

function routesOf(declared: readonly Resource[], stored: Stored): Route[] {
  const routes = new Map<string, Route>();
  const shapeOf = (name: string, { object, v1 }: OperationRow, of: Resource): Shape => {
    const shape = v1 ?? stored(object ?? of.object)?.v1;
    if (!shape) throw new Error(`the operation ${name} has a route, and no shape formats its response for /v1`);
    return shape;
  };
  for (const resource of declared)
    for (const [field, row] of Object.entries(resource.operations ?? {}))
      for (const path of row.routes ?? []) {
        const link = path.answers === 'list' ? undefined : resource.link;
        const route = { ...path, field, shape: shapeOf(field, row, resource), ...(link && { link }) };
        once(routes, `${path.method} ${path.path}`, route, 'route');
      }
  return [...routes.values()];
}

/**
 * Asks each shape for its keys, before it formats objects: a shape that has been optimized and then runs on the row
 * that describes it is twice as slow from then on.
 */
function describeShapes(declared: readonly Resource[], routes: readonly Route[]): void {
  for (const { stored = {} } of declared) for (const { v1 } of Object.values(stored)) keysOfShape(v1);
  for (const { shape, exported = shape } of routes) for (const each of [shape, exported]) keysOfShape(each);
}

function sizesOf(declared: readonly Resource[]): Record<string, ListSize> {
  const sizes = new Map<string, ListSize>();
  for (const resource of declared)
    for (const [name, size] of Object.entries(resource.sizes ?? {})) once(sizes, name, size, 'size of a list');
  return Object.fromEntries(sizes);
}

function weightsOf(declared: readonly Resource[]): Record<string, FieldWeight> {
  const weights = new Map<string, FieldWeight>();
  for (const resource of declared)
    for (const [name, weight] of Object.entries(resource.weights ?? {}))
      once(weights, name, weight, 'weight of a field');
  return Object.fromEntries(weights);
}

/** The operation of each kind of import. */
function importsOf(declared: readonly Resource[]): ReadonlyMap<string, ImportOperation> {
  const imports = new Map<string, ImportOperation>();
  for (const { operations = {} } of declared)
    for (const [field, { imports: each }] of Object.entries(operations))
      if (each) {
        const { kind, defaults = {}, compared = () => true } = each;
        once(imports, kind, { field, defaults, compared }, 'import');
      }
  for (const kind of Object.values(ImportKind))
    if (!imports.has(kind)) throw new Error(`no operation declares that it imports ${kind}`);
  return imports;
}

/** The work that the worker does for the resources, by its name. */
function workOf(declared: readonly Resource[]): ReadonlyMap<string, DeclaredWork> {
  const works = new Map<string, DeclaredWork>([['delete_old_answers', oldAnswers]]);
  for (const resource of declared)
    for (const [name, work] of Object.entries(resource.work ?? {})) once(works, name, work, 'work');
  return works;
}

/** The event types, in the order of their declarations. */
function eventsOf(declared: readonly Resource[], stored: Stored): Map<string, EventType> {
  const events = new Map<string, EventType>();
  for (const { events: types = {} } of declared)
    for (const [type, given] of Object.entries(types)) {
      const {
        when,
        object = type.split('.')[0]!,
        modes = ['test', 'live'],
      } = typeof given === 'string' ? { when: given } : given;
      if (!stored(type.split('.')[0]!)) throw new Error(`the event type ${type} begins with no declared object`);
      if (!stored(object))
        throw new Error(`the events of type ${type} are about ${object}, which is no declared object`);
      once(events, type, { type, object, when, modes }, 'event');
    }
  return events;
}

/**
 * The parts of the graph: the resolver classes, the readers of root fields that only read, and the rules of the fields
 * that the query compiler can read instead.
 */
function graphOf(declared: readonly Resource[]) {
  const resolvers: Function[] = [];
  const rules = new Map<string, Rule>();
  const readers = new Map<string, RootReader>();
  const edges = new Map<string, Edge>();
  const nodes = declared.flatMap(({ node }) => node ?? []);
  const nodeOf = nodeFinder(nodes);
  for (const { object, node, operations = {}, fields = [], resolvers: own = [] } of declared) {
    const reads = Object.entries(operations).flatMap(([name, { reads }]) => (reads ? [[name, reads] as const] : []));
    if (reads.length > 0) {
      if (!node) throw new Error(`the operation ${reads[0]![0]} reads ${object}, which declares no node`);
      resolvers.push(rootResolver(object, node, reads));
    }
    for (const [name, read] of reads) {
      readers.set(name, rootReader(object, node!, read));
      const rule = ruleOfRead(read, node!);
      if (rule) rules.set(`Query.${name}`, rule);
    }
    for (const [name, { ofCaller }] of Object.entries(operations))
      if (ofCaller) rules.set(`Query.${name}`, { read: 'caller', of: ofCaller });
    resolvers.push(...own);
    for (const each of [...(node ? changesOf(node) : []), ...fields]) {
      resolvers.push(edgeResolver(each, nodeOf));
      const node = isType(each.of) ? undefined : nodeOf(each.of);
      const type = isType(each.of) ? each.of : node!.type;
      for (const [name, edge] of Object.entries(each.edges)) {
        const field = `${type.name}.${name}`;
        once(edges, field, edge, 'field');
        if (!returnsOf(edge, nodeOf)()) throw new Error(`the field ${field} has no type`);
        const rule = (node ? node.compiled : true) && ruleOfEdge(edge, nodeOf);
        if (rule) rules.set(field, rule);
      }
    }
  }
  const [first, ...others] = resolvers;
  if (!first) throw new Error('no resource declares a resolver');
  return {
    resolvers: [first, ...others] satisfies NonEmptyArray<Function>,
    rules: rules as ReadonlyMap<string, Rule>,
    readers: readers as ReadonlyMap<string, RootReader>,
    nodeTypes: inOrder(nodes, declared, nodeOf),
  };
}

/** The types of all nodes in the order of the schema: each after the types that its own fields return. */
function inOrder(
  nodes: NodeRow[],
  declared: readonly Resource[],
  nodeOf: (table: NodeRow['rows']) => NodeRow,
): string[] {
  const ordered = new Set<NodeRow>();
  for (const { node, fields = [] } of declared) {
    if (!node) continue;
    const own = fields.filter(({ of }) => of === node.rows).flatMap(({ edges }) => Object.values(edges));
    const answered = new Set<unknown>(own.map((edge) => [returnsOf(edge, nodeOf)()].flat()[0]));
    for (const each of nodes) if (answered.has(each.type)) ordered.add(each);
    ordered.add(node);
  }
  return [...ordered].map(({ type }) => type.name);
}

function once<V>(table: Map<string, V>, name: string, value: V, what: string): void {
  if (table.has(name)) throw new Error(`the ${what} ${name} is declared twice`);
  table.set(name, value);
}
