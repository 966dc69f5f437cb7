import type { PgTable } from 'drizzle-orm/pg-core';
import { fromRow } from '../db/read/row-mapper.js';
import type { Permission } from '../auth/permissions.js';
import type { Caller } from '../request/caller.js';
import type { Context } from '../operation/context.js';
import type { Operation } from '../operation/operation.js';
import type { ListSize } from '../types/pagination.js';
import type { Edition } from '../editions/edition.js';
import { prefixOf } from '../types/relay-node.js';
import type { FieldWeight } from '../types/weights.js';
import type { Fields, NodeRow, RootRead } from './edges.js';
import type { Mode } from '../request/mode.js';
import type { ImportKind } from './import/table.js';
import type { DeclaredWork } from '../operation/work.js';

/**
 * Formats an object for /v1, from the row of its table or from the result of its root field. The caller matters where
 * a session sees less than a key.
 */
export type Shape = (row: never, caller: Caller) => object;

/**
 * A path of /v1. `answers` says where in the result of the root field the object is: the value itself, a page, or a
 * member of a payload.
 */
export interface Path {
  method: 'GET' | 'POST';
  path: string;
  answers: 'object' | 'list' | 'payload';
  /** The argument for each parameter of the path whose name differs from that of its argument. */
  params?: Record<string, string>;
  /** Arguments of the field, or members of its input, that the path does not take. */
  without?: readonly string[];
  /** Formats the objects of an export of the list, where they have more than those of the list. */
  exported?: Shape;
  /** An extension: a path that the specification does not show. */
  extension?: true;
}

const paths = (more: Pick<Path, 'extension'>) => ({
  get: (path: string): Path => ({ method: 'GET', path, answers: 'object', ...more }),
  list: (path: string, differing: Pick<Path, 'params' | 'without' | 'exported'> = {}): Path => ({
    method: 'GET',
    path,
    answers: 'list',
    ...differing,
    ...more,
  }),
  post: (path: string, differing: Pick<Path, 'without'> = {}): Path => ({
    method: 'POST',
    path,
    answers: 'payload',
    ...differing,
    ...more,
  }),
});
/** Paths that the specification shows. Spec: Endpoint table. */
export const { get, list, post } = paths({});
/** Paths that the specification does not show. */
export const extension = paths({ extension: true });

/** One operation: a root field of the graph, with the paths of /v1 that it serves. */
export interface OperationRow extends Omit<Permission, 'object'> {
  /** How the operation reads, where it only reads objects of its own resource. */
  reads?: RootRead;
  /** What it returns, where that is known of the caller without a look at the database. */
  ofCaller?: (context: Context) => object;
  /** The noun that begins the names of its parameters, where it differs from the noun of the resource. */
  object?: string;
  /** Returns the problems of its parameters that need no look at the database. */
  rules?: NonNullable<Operation['rules']>;
  /** The parameters that name the object whose currency its amounts have, with the table of the object. */
  currencyOf?: NonNullable<Operation['currencyOf']>;
  /** The greatest length of its texts, where it differs from that of other operations. */
  textLengthMax?: number;
  /**
   * The values of parameters that it accepts, where the type of the parameter has more; its rules refuse the others.
   */
  accepts?: Operation['accepts'];
  /** Its parameter `scope` is `self` for all callers but platforms. */
  scopeOfPlatforms?: true;
  /** The limits of its parameters by their paths on /v1, for the contract; its rules refuse what exceeds them. */
  limits?: Operation['limits'];
  /** Its field is not nullable in the graph: it shows what the request has already, so that nothing refuses it. */
  notNull?: true;
  /** Why no event reports it, where none does: each other write has one. */
  withoutEvent?: string;
  /** The codes of its refusals that not every operation has. */
  refusals?: Operation['refusals'];
  /** The table of the row that it returns, where that is not the table of its object. */
  answers?: PgTable;
  /** Whether it ends a key or session, or replaces one, and so is answered although the allowance is used up. */
  ends?: Operation['ends'];
  routes?: readonly Path[];
  /**
   * The kind of import that calls it for each row of a file, with the columns that a row need not have, and where its
   * rows are compared with the objects that exist: everywhere by default.
   */
  imports?: {
    kind: ImportKind;
    defaults?: Readonly<Record<string, string>>;
    compared?: (edition: Edition) => boolean;
  };
  /** Formats its response for /v1, where the response is not the object. */
  v1?: Shape;
  /** Its route, where the route has its own code. */
  rest?: RestRoute;
}

/** What the contract says about an operation of /v1 that the graph does not have. Its route has its own code. */
export interface RestRoute {
  method: 'GET' | 'POST';
  path: string;
  extension: true;
  /** A short title. */
  summary: string;
  /** What it does, for clients. */
  description: string;
  /** The JSON Schema of the form that it takes, whose member `file` is the content of a file. */
  form?: Readonly<Record<string, unknown>>;
  /** The OpenAPI objects of its query parameters and headers. */
  parameters?: readonly Readonly<Record<string, unknown>>[];
  /** The content types of its response, where the response is not the object. */
  content?: readonly string[];
  /** Whether it answers ranges of the content, and whether the client has it already. */
  ranged?: true;
}

/** A table whose rows appear as objects in events and in responses that are stored under idempotency keys. */
export interface StoredObject {
  table: PgTable;
  v1: (row: never) => object;
  /** Formats a stored row, whose columns have their names in the database. */
  rowV1: (row: Record<string, unknown>) => object;
}

/** A table whose rows are objects of /v1. */
export const stored = <T extends PgTable>(table: T, v1: (row: T['$inferSelect']) => object): StoredObject => ({
  table,
  v1,
  rowV1: (row) => v1(fromRow(table, row)),
});

/** A resource: everything about it that the rest of the program uses. */
export interface Resource {
  /** The noun that begins the names of its parameters, and the `object` of its responses. */
  object: string;
  node?: NodeRow;
  /** Its stored objects: its own under its noun, and other objects that events are about. */
  stored?: Readonly<Record<string, StoredObject>>;
  /** The resolvers of the operations that do more than read its objects. */
  resolvers?: readonly Function[];
  operations?: Readonly<Record<string, OperationRow>>;
  /** Operations of /v1 that the graph does not have. Their routes have their own code. */
  restOperations?: Readonly<Record<string, OperationRow & { rest: RestRoute }>>;
  /** The `Link` header of each response of /v1 that is one object. */
  link?(this: void, row: object, context: Context): string;
  /** The fields that are no columns, such as edges from and to other objects, by the type that gets them. */
  fields?: readonly Fields[];
  /** How many members those lists of objects have that take no page arguments, by type and field. */
  sizes?: Readonly<Record<string, ListSize>>;
  /** What those fields weigh that cost more than their objects, by type and field. */
  weights?: Readonly<Record<string, FieldWeight>>;
  /** What the worker does for it tenant by tenant, by the name that operators see. */
  work?: Readonly<Record<string, DeclaredWork>>;
  /** The types of its events, each with when it happens. */
  events?: Readonly<Record<string, string | EventDeclaration>>;
}

/** A type of events that differs from most: they are about the object that its name begins with, in both modes. */
interface EventDeclaration {
  /** When it happens, as a sentence for clients. */
  when: string;
  /** The noun of the object that the event is about, where the type does not begin with it. */
  object?: string;
  /** The modes in which it happens. */
  modes?: readonly Mode[];
}

const declared: Resource[] = [];

/**
 * Declares a resource. Resources are in the order in which their files are evaluated: by name, and after the files they
 * import.
 */
export function defineResource(resource: Resource): Resource {
  declared.push(resource);
  return resource;
}

/** All resources. The list is complete once registry.ts has been imported. */
export const resources: readonly Resource[] = declared;

/** The stored object with a noun, such as the object of an event. */
export function storedObject(noun: string, among = resources): StoredObject | undefined {
  for (const { stored } of among) if (stored && Object.hasOwn(stored, noun)) return stored[noun];
  return undefined;
}

/** The node of an id, if the caller may read its objects: a session cannot read those that only API keys can. */
export function readableNode(id: string, { session }: Caller): NodeRow | undefined {
  const found = nodeOf(prefixOf(id));
  return found?.keysOnly && session ? undefined : found;
}

/** The node whose ids begin with a prefix. */
function nodeOf(prefix: string): NodeRow | undefined {
  return resources.find(({ node }) => node?.prefix === prefix)?.node;
}
