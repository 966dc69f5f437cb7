import type { PgTable } from 'drizzle-orm/pg-core';
import type { Permission } from '../auth/permissions.js';
import type { Context } from '../operation/context.js';
import type { Operation } from '../operation/operation.js';
import type { ListSize } from '../types/pagination.js';
import type { Fields, NodeRow, RootRead } from './edges.js';

/** How /v1 spells an object, from the row of its table, or from what its root field answers. */
export type Shape = (row: never) => object;

/** A path of /v1. `answers` says where in the root field's answer the object is: its own value, a page, a payload's member. */
export interface Path {
  method: 'GET' | 'POST';
  path: string;
  answers: 'object' | 'list' | 'payload';
  /** The argument that a parameter of the path stands for, where they are named differently. */
  params?: Record<string, string>;
  /** Arguments of the field that the path does not take. */
  without?: readonly string[];
  /** An extension: a path that the specification does not show. */
  extension?: true;
}

const paths = (more: Pick<Path, 'extension'>) => ({
  get: (path: string): Path => ({ method: 'GET', path, answers: 'object', ...more }),
  list: (path: string, differing: Pick<Path, 'params' | 'without'> = {}): Path => ({
    method: 'GET',
    path,
    answers: 'list',
    ...differing,
    ...more,
  }),
  post: (path: string): Path => ({ method: 'POST', path, answers: 'payload', ...more }),
});
/** Paths that the specification shows. Spec: Endpoint table. */
export const { get, list, post } = paths({});
/** Paths that it does not show. */
export const extension = paths({ extension: true });

/** One operation: a root field of the graph, with the paths of /v1 that it answers. */
export interface OperationRow extends Omit<Permission, 'object'> {
  /** How it reads, where it reads the resource's own objects and no more. */
  reads?: RootRead;
  /** The noun that begins the names of its parameters, where it is another than its resource's. */
  object?: string;
  /** What is wrong with its parameters by themselves. */
  rules?: (input: object) => ReturnType<NonNullable<Operation['rules']>>;
  routes?: readonly Path[];
  /** How /v1 spells its answer, where it is not the object. */
  v1?: Shape;
}

/** A table whose rows are told of as objects, by the answers to idempotency keys and by events. */
export interface StoredObject {
  table: PgTable;
  v1: Shape;
}

/** A table whose rows are objects of /v1. */
export const stored = <T extends PgTable>(table: T, v1: (row: T['$inferSelect']) => object): StoredObject => ({
  table,
  v1,
});

/** A resource: all that the rest of the program has to know of it. */
export interface Resource {
  /** The noun that begins the names of its parameters, and the object of its answers. */
  object: string;
  node?: NodeRow;
  /** Its objects as they are stored: its own, under its noun, and others that events are about. */
  stored?: Readonly<Record<string, StoredObject>>;
  /** The operations that do not just read its objects. */
  resolvers?: readonly Function[];
  operations?: Readonly<Record<string, OperationRow>>;
  /** Operations of /v1 that the graph does not have; their routes have code of their own. */
  restOperations?: Readonly<Record<string, OperationRow>>;
  /** The header `Link` of each answer of /v1 that is one object. */
  link?: (row: never, context: Context) => string;
  /** The fields with edges to and from other objects, and what else is no column, by the type that gets them. */
  fields?: readonly Fields[];
  /** How many members the lists of objects have that take no page arguments, by type and field. */
  sizes?: Readonly<Record<string, ListSize>>;
  /** The types of its events. */
  events?: readonly string[];
}

const declared: Resource[] = [];

/** Declares a resource. Resources are in the order in which their files are evaluated: by name, and after those they import. */
export function defineResource(resource: Resource): Resource {
  declared.push(resource);
  return resource;
}

/** All resources. They are all there once registry.ts has been imported. */
export const resources: readonly Resource[] = declared;

/** What is stored under a noun, such as the object of an event. */
export function storedObject(noun: string, among = resources): StoredObject | undefined {
  for (const { stored } of among) if (stored && Object.hasOwn(stored, noun)) return stored[noun];
  return undefined;
}

/** What the ids of a prefix are of. */
export function nodeOf(prefix: string): NodeRow | undefined {
  return resources.find(({ node }) => node?.prefix === prefix)?.node;
}
