import fs from 'node:fs';
import type { Operation } from '../operation/operation.js';
import { nodeType } from '../types/relay-node.js';
import { type Resource, resources } from './define.js';
import { declareEventTypes } from './event/catalogue.js';
import { tablesOf } from './tables.js';

export type { ImportOperation, Route } from './tables.js';

/*
 * Each folder next to this file that has a file `resource` is a resource. They are imported in the order of their
 * names, each after the resources that it imports itself, so that the fields of the schema are always in the same
 * order.
 */
const here = new URL('.', import.meta.url);
const folders = fs.readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
for (const name of folders.map((folder) => folder.name).sort()) {
  const file = ['resource.ts', 'resource.js'].find((each) => fs.existsSync(new URL(`${name}/${each}`, here)));
  if (file === undefined) continue;
  const { default: resource } = (await import(new URL(`${name}/${file}`, here).href)) as { default?: Resource };
  if (!resource || !resources.includes(resource)) throw new Error(`${name}/${file} has no resource as default export`);
}

for (const { node } of resources) if (node) nodeType(node.prefix, node.type.name);

export const {
  operations,
  restOperations,
  routes,
  restRoutes,
  sizes,
  weights,
  events,
  resolvers,
  readers,
  rules,
  nodeTypes,
  work,
  imports,
} = tablesOf(resources);

declareEventTypes(events.values());

/** An operation of either API. */
export function operationOf(name: string): Operation {
  const operation = operations.get(name) ?? restOperations.get(name);
  if (!operation) throw new Error(`no resource declares the operation ${name}`);
  return operation;
}
