import fs from 'node:fs';
import type { NonEmptyArray } from 'type-graphql';
import type { Operation } from '../operation/operation.js';
import { nodeType } from '../types/relay-node.js';
import { type Path, type Resource, resources, type Shape, storedObject } from './define.js';

/** A row of the endpoint table: a path of /v1, the root field that answers it, and how the answer is spelled. */
export interface Route extends Path {
  field: string;
  shape: Shape;
  /** The header `Link` of the answer. */
  link?: Resource['link'];
}

/*
 * Each folder beside this file that has a file `resource` is a resource. They are read in the order of their names, after
 * those that they import, so that the fields of the schema are always in the same order.
 */
const here = new URL('.', import.meta.url);
const folders = fs.readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
for (const name of folders.map((folder) => folder.name).sort()) {
  const file = ['resource.ts', 'resource.js'].find((each) => fs.existsSync(new URL(`${name}/${each}`, here)));
  if (file === undefined) continue;
  const { default: resource } = (await import(new URL(`${name}/${file}`, here).href)) as { default?: Resource };
  if (!resource || !resources.includes(resource)) throw new Error(`${name}/${file} has no resource as default export`);
}

/** What is built from the declarations: a table per concern. Building it fails when one thing is declared twice. */
function registryOf(declared: readonly Resource[]) {
  const operations = new Map<string, Operation>();
  const restOperations = new Map<string, Operation>();
  const routes = new Map<string, Route>();
  const prefixes = new Map<string, string>();
  const sizes = new Map<string, NonNullable<Resource['sizes']>[string]>();
  const events = new Map<string, string>();
  const nouns = new Map<string, string>();
  for (const resource of declared) {
    const { object, node } = resource;
    if (node) {
      once(prefixes, node.prefix, node.type.name, 'prefix');
      nodeType(node.prefix, node.type.name);
    }
    for (const noun of Object.keys(resource.stored ?? {})) once(nouns, noun, object, 'object');
    for (const [table, rows] of [
      [operations, resource.operations],
      [restOperations, resource.restOperations ?? {}],
    ] as const)
      for (const [name, { object: own, routes: _, v1: __, ...row }] of Object.entries(rows)) {
        const noun = own ?? object;
        const answers = row.access === 'write' ? storedObject(noun)?.table : undefined;
        if (row.access === 'write' && !answers) throw new Error(`the answers of ${name} are stored in no table`);
        once(table, name, { name, object: noun, ...row, answers }, 'operation');
      }
    for (const [field, { routes: paths = [], v1, object: own = object }] of Object.entries(resource.operations))
      for (const path of paths) {
        const shape = v1 ?? storedObject(own)?.v1;
        if (!shape) throw new Error(`${path.method} ${path.path} has no shape`);
        const link = path.answers === 'list' ? undefined : resource.link;
        once(routes, `${path.method} ${path.path}`, { ...path, field, shape, ...(link && { link }) }, 'route');
      }
    for (const [name, size] of Object.entries(resource.sizes ?? {})) once(sizes, name, size, 'size of a list');
    for (const type of resource.events ?? []) {
      if (!storedObject(type.split('.')[0]!)) throw new Error(`the event ${type} is about no object`);
      once(events, type, object, 'event');
    }
  }
  return { operations, restOperations, routes: [...routes.values()], sizes: Object.fromEntries(sizes), events };
}

function once<V>(table: Map<string, V>, name: string, value: V, what: string): void {
  if (table.has(name)) throw new Error(`the ${what} ${name} is declared twice`);
  table.set(name, value);
}

/** By name, what each root field is; and what is an operation of /v1 alone. */
export const { operations, restOperations, routes, sizes, events } = registryOf(resources);

/** The classes with the resolvers of all resources. */
export const resolvers = resources.flatMap((resource) => resource.resolvers) as unknown as NonEmptyArray<Function>;

/** An operation of either API. */
export function operationOf(name: string): Operation {
  const operation = operations.get(name) ?? restOperations.get(name);
  if (!operation) throw new Error(`no resource declares the operation ${name}`);
  return operation;
}
