import { ArgsType, type ClassType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DomainError, type Problem, problem } from '../errors/problems.js';
import type { AccountScope } from './account-scope.js';
import { DateTime } from './scalars.js';

export const pageSizeDefault = 10;
export const pageSizeMax = 100;
/** The list limit of /v1. Spec: Limits. */
export const limitMax = 10;
export const totalCountMax = 10_000;
/** The most members of a list among the parameters, unless a parameter has a lower limit. */
export const listMembersMax = 1_000;
export const listMembersFault = `must have at most ${listMembersMax} members`;

@InputType({ description: 'A range of creation times; all given bounds must hold.' })
export class TimeFilter {
  @Field(() => DateTime, { nullable: true, description: 'Only objects created at this second.' })
  eq?: number | null;
  @Field(() => DateTime, { nullable: true, description: 'Only objects created after this second.' })
  gt?: number | null;
  @Field(() => DateTime, { nullable: true, description: 'Only objects created at this second or later.' })
  gte?: number | null;
  @Field(() => DateTime, { nullable: true, description: 'Only objects created before this second.' })
  lt?: number | null;
  @Field(() => DateTime, { nullable: true, description: 'Only objects created at this second or earlier.' })
  lte?: number | null;
}

/** Which page of a list to read. */
@ArgsType()
export class CursorArgs {
  @Field(() => Int, {
    nullable: true,
    description:
      `How many objects from the start of the list, which is the newest one by default: 1 to ${pageSizeMax}, ` +
      `${pageSizeDefault} by default. See \`PageInfo\`.`,
  })
  first?: number | null;
  @Field(() => ID, {
    nullable: true,
    description: 'A cursor: the page begins with the object that follows it in the list.',
  })
  after?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: `How many objects from the end of the list: 1 to ${pageSizeMax}.`,
  })
  last?: number | null;
  @Field(() => ID, {
    nullable: true,
    description: 'A cursor: the page ends with the object that precedes it in the list.',
  })
  before?: string | null;
}

/**
 * The page arguments that every list of objects with ids takes, on both APIs. In /v1 they are limit, starting_after and
 * ending_before; `order_by` is an extension.
 * Spec: Shared list parameters.
 */
@ArgsType()
export class PageArgs extends CursorArgs {
  @Field(() => TimeFilter, { nullable: true, description: 'Only objects created within this range.' })
  created?: TimeFilter | null;
  /** Declared by `pageArgsOf`, with the orders of a type. */
  orderBy?: string | null;
  /** Declared by the lists that an index of the whole tenant serves. */
  scope?: AccountScope;
}

const newestFirst = 'The order of the list; the newest first by default.';

/** The page arguments of the lists of a type, by its name: its lists have an enum of orders of their own. */
export function pageArgsOf(name: string, description = newestFirst): ClassType<PageArgs> {
  @ArgsType()
  class OrderedPageArgs extends PageArgs {
    @Field(() => orders.get(name)!, { nullable: true, description })
    declare orderBy?: string | null;
  }
  return OrderedPageArgs;
}

/** A number of members: a constant, or computed from the arguments of a field by their names. */
export type ListLength = number | ((argument: (name: string) => unknown) => number);
/**
 * The number of members of a list without page arguments. One without a maximum may have two: the usual number counts
 * as nodes, so that no query is refused for what few accounts have, and a larger one as points.
 */
export type ListSize = ListLength | { nodes: ListLength; points: ListLength };

export { type Listing, listingOf } from './list-order.js';

/** One page to read: which end, how many, from which cursor, under which filters. */
export interface PageRequest {
  backward: boolean;
  size: number;
  cursor: string | undefined;
  filters: Record<string, unknown>;
  /** The order by a value, if it is not the order by time. */
  order: string | undefined;
  ascending: boolean;
  /** Whether the list shows more than the acting account's own list: all rows that the caller sees. */
  includesDescendants: boolean;
}

const readSizes = [2, 6, 11, 26, 51, pageSizeMax + 1];

/**
 * The LIMIT of a statement that needs at least `rows` rows: one of a few sizes, so that few statements exist. The limit
 * is in the statement's text, because PostgreSQL would plan a statement with a LIMIT parameter again at each run.
 */
export function readOf(rows: number): number {
  return readSizes.find((size) => size >= rows) ?? rows;
}

/** Refuses an argument `limit` of a field that is not from 1 to `max`. `object` is the type with the field. */
export function refuseLimit(object: string, limit: number, max: number): void {
  if (limit < 1 || limit > max)
    throw new DomainError({
      ...problem('parameter_invalid', `${object}.limit`, `must be from 1 to ${max}`),
      path: ['limit'],
    });
}

/** The problem of a page requested from both ends; `other` is the graph's argument for the other end. */
export function cursorConflict(object: string, other: 'after' | 'first'): Problem {
  return problem('parameter_invalid', `${object}.ending_before`, {
    v1: 'cannot be combined with starting_after. Leave out one of them.',
    graph: `cannot be combined with ${other}. Leave out one of them.`,
  });
}

/** A page as both APIs read it. The functions compute their part only when a client requests it. */
export interface Page<T> {
  nodes: T[];
  /** Whether more objects exist beyond the page in the direction of paging. */
  hasNext: boolean;
  edges(): { cursor: string; node: T }[];
  pageInfo: PageInfo;
  totalCount(): Promise<number | null>;
}

@ObjectType({
  simpleResolvers: true,
  description:
    'The position of a page in its list. Lists are ordered from the newest object to the oldest, unless ' +
    '`orderBy` gives another order, and so is each page. ' +
    'For the first page, send `first` alone; for the next one, `first` and `after` with the `endCursor` of this ' +
    'page. To page backwards, send `last` and `before` with the `startCursor`. Cursors are opaque: send them as ' +
    'they came. In a list in the order of creation the id of an object is accepted, too. ' +
    '`first` and `after` cannot be combined with `last` and `before`.',
})
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether objects follow the page.' })
  hasNextPage: boolean | (() => Promise<boolean>);
  @Field(() => Boolean, { description: 'Whether objects precede the page.' })
  hasPreviousPage: boolean | (() => Promise<boolean>);
  @Field(() => ID, {
    nullable: true,
    description: 'The cursor of the first object of the page; null for an empty page.',
  })
  startCursor: string | null;
  @Field(() => ID, {
    nullable: true,
    description: 'The cursor of the last object of the page; null for an empty page.',
  })
  endCursor: string | null;
}

/** The orders of the lists of each type, by its name. */
const orders = new Map<string, object>();

/**
 * Declares the orders of the lists of a type: an enum for each type, so that one may get further orders without the
 * others. Each value of /v1 is the name in lower case.
 */
function declareOrder(name: string, more: Readonly<Record<string, string>>): void {
  const texts = { CREATED_DESC: 'The newest first.', CREATED_ASC: 'The oldest first.', ...more };
  const order = Object.fromEntries(Object.keys(texts).map((key) => [key, key.toLowerCase()]));
  registerEnumType(order, {
    name: `${name}Order`,
    description: `The orders of a list of objects of the type \`${name}\`.`,
    valuesConfig: Object.fromEntries(Object.entries(texts).map(([key, description]) => [key, { description }])),
  });
  orders.set(name, order);
}

/**
 * The connection type of an object, as in Relay, with `nodes` next to the edges. `more` are the orders of its
 * lists besides those by time, with their descriptions.
 */
export function connectionOf<T extends object>(
  name: string,
  type: () => ClassType<T>,
  more: Readonly<Record<string, string>> = {},
) {
  declareOrder(name, more);
  @ObjectType(`${name}Edge`, { simpleResolvers: true, description: 'One object of a page, with its cursor.' })
  class Edge {
    @Field(() => ID, { description: 'The place of the object in the list, for `after` and `before`. It is opaque.' })
    cursor: string;
    @Field(type, { description: 'The object.' })
    node: T;
  }
  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: 'A page of a list.' })
  class Connection {
    @Field(() => [Edge], { description: 'The objects of the page, each with its cursor.' })
    edges: unknown;
    @Field(() => [type()], { description: 'The objects of the page, without cursors.' })
    nodes: T[];
    @Field(() => PageInfo, { description: 'The position of the page in its list.' })
    pageInfo: PageInfo;
    @Field(() => Int, {
      nullable: true,
      description:
        `The number of objects in the whole list; null beyond ${totalCountMax}. Counted only when the query ` +
        'selects it.',
    })
    totalCount: unknown;
  }
  // A page counts and edges lazily, under other names than its fields have: the resolvers return a Page.
  return Connection as unknown as ClassType<Page<T>>;
}
