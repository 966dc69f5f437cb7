import type { SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { ArgsType, type ClassType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { type Problem, problem, DomainError, snake } from '../request/problems.js';
import { DateTime } from './scalars.js';

export const pageSizeDefault = 10;
export const pageSizeMax = 100;
/** The list limit of /v1. Spec: Limits. */
export const limitMax = 10;
export const totalCountMax = 10_000;
/** How many members a list among the parameters has at most, unless a parameter says less. */
export const listMembersMax = 1_000;
export const listMembersFault = `must have at most ${listMembersMax} members`;

@InputType({ description: 'A range of creation times; all given bounds must hold.' })
export class TimeFilter {
  @Field(() => DateTime, { nullable: true })
  eq?: number | null;
  @Field(() => DateTime, { nullable: true })
  gt?: number | null;
  @Field(() => DateTime, { nullable: true })
  gte?: number | null;
  @Field(() => DateTime, { nullable: true })
  lt?: number | null;
  @Field(() => DateTime, { nullable: true })
  lte?: number | null;
}

/**
 * The page arguments that every list takes, on both APIs: /v1 spells them limit, starting_after and ending_before.
 * Spec: Shared list parameters.
 */
@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: `How many of the newest, after \`after\` if given; 1 to ${pageSizeMax}, ${pageSizeDefault} by default.`,
  })
  first?: number | null;
  @Field(() => ID, { nullable: true, description: 'The id of an object: the page of the older ones that follow it.' })
  after?: string | null;
  @Field(() => Int, { nullable: true, description: 'How many of the oldest, before `before` if given.' })
  last?: number | null;
  @Field(() => ID, {
    nullable: true,
    description: 'The id of an object: the page of the newer ones nearest to it, still newest first.',
  })
  before?: string | null;
  @Field(() => TimeFilter, { nullable: true, description: 'Only objects created within this range.' })
  created?: TimeFilter | null;
}

/** The names of the page arguments: everything else among a list's arguments is a filter. */
const paging = new Set(['first', 'after', 'last', 'before']);

/** A filter by one value that either of two columns may have, such as the account on one of the sides of a deposit. */
interface Either {
  either: readonly [PgColumn, PgColumn];
}

/**
 * A filter by a list of values of a column that a view derives. No statistics are of it, and PostgreSQL takes an equality
 * for rare, reads all there is and sorts it; asked this way, it expects most rows to do, and walks the index of the list.
 */
interface Derived {
  derived: PgColumn;
}

/** How many members a list has that takes no page arguments: so many, or as many as its arguments say, each by its name. */
export type ListSize = number | ((argument: (name: string) => unknown) => number);

/** How an object is listed: its filters by their dotted names in the graph, and the account columns among them. */
export interface Listing {
  /** The object as the specification names it; problems begin with it. */
  object: string;
  filters: Record<string, PgColumn | Either | Derived>;
  /** Filters that name an account, and so widen the list from the acting account to all that is visible. */
  byAccount: string[];
  /** Filters that always hold, such as the type of account that an edge is about. */
  fixed?: Record<string, unknown>;
  /** What orders the list, newest first, instead of the creation time; the id breaks ties either way. */
  order?: PgColumn;
  /** A condition that always holds. */
  where?: SQL;
}

/** One page to read: which end, how many, from which cursor, under which filters. */
export interface PageRequest {
  backward: boolean;
  size: number;
  cursor: string | undefined;
  filters: Record<string, unknown>;
}

const readSizes = [2, 6, 11, 26, 51, pageSizeMax + 1];

/**
 * How many rows a statement reads to have so many: a few numbers, which it carries in its text. Of a limit that is a
 * parameter PostgreSQL knows nothing, and plans the statement anew every time it is run.
 */
export function readOf(rows: number): number {
  return readSizes.find((size) => size >= rows) ?? rows;
}

/** The problem of a page that is asked for from both ends; `other` is the graph's name of what goes with the other end. */
export function cursorConflict(object: string, other: 'after' | 'first'): Problem {
  return problem('parameter_invalid', `${object}.ending_before`, {
    v1: 'cannot be combined with starting_after',
    graph: `cannot be combined with ${other}`,
  });
}

/** Turns the arguments of a list into what to read, or refuses what contradicts itself. */
export function pageRequest({ object, fixed, byAccount }: Listing, args: PageArgs): PageRequest {
  const { first, after, last, before } = args;
  const backward = last != null || before != null;
  const problems: Problem[] = [];
  if (backward && (first != null || after != null)) {
    problems.push({
      ...cursorConflict(object, after != null ? 'after' : 'first'),
      path: [before != null ? 'before' : 'last'],
    });
  }
  const size = (backward ? last : first) ?? pageSizeDefault;
  if (size < 1 || size > pageSizeMax) {
    problems.push({
      ...problem('parameter_invalid', `${object}.limit`, `must be from 1 to ${pageSizeMax}`),
      path: [backward ? 'last' : 'first'],
    });
  }
  const filters = filtersOf(args);
  for (const [name, value] of Object.entries(filters))
    if (Array.isArray(value) && value.length > listMembersMax)
      problems.push(
        problem('parameter_invalid', `${object}.${name.split('.').map(snake).join('.')}`, listMembersFault),
      );
  if (problems.length > 0) throw new DomainError(...problems);
  return {
    backward,
    size,
    cursor: (backward ? before : after) ?? undefined,
    filters: { ...alone(filters, byAccount), ...fixed },
  };
}

/** One account in a list of accounts is an equality: its index then has the order of the list, and nothing is sorted. */
function alone(filters: Record<string, unknown>, byAccount: string[]): Record<string, unknown> {
  for (const name of byAccount) {
    const value = filters[name];
    if (Array.isArray(value) && value.length === 1) filters[name] = value[0];
  }
  return filters;
}

/** The filters that are set, flat and by dotted name; null and empty text ask for nothing. */
function filtersOf(args: object, at = ''): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null || value === '' || (at === '' && paging.has(name))) continue;
    if (typeof value === 'object' && !Array.isArray(value)) Object.assign(out, filtersOf(value, `${at}${name}.`));
    else out[at + name] = value;
  }
  return out;
}

/** A page as both APIs read it; what is not asked for is not computed. */
export interface Page<T> {
  nodes: T[];
  /** Whether more objects exist beyond the page in the direction of paging. */
  hasNext: boolean;
  edges(): { cursor: string; node: T }[];
  pageInfo: PageInfo;
  totalCount(): Promise<number | null>;
}

@ObjectType({ simpleResolvers: true, description: 'Where a page stands in its list.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether older objects follow the page.' })
  hasNextPage: boolean | (() => Promise<boolean>);
  @Field(() => Boolean, { description: 'Whether newer objects precede the page.' })
  hasPreviousPage: boolean | (() => Promise<boolean>);
  @Field(() => ID, { nullable: true })
  startCursor: string | null;
  @Field(() => ID, { nullable: true })
  endCursor: string | null;
}

/** The connection type of an object, as Relay has it, with `nodes` beside the edges. A cursor is the id itself. */
export function connectionOf<T extends object>(name: string, type: () => ClassType<T>) {
  @ObjectType(`${name}Edge`, { simpleResolvers: true, description: 'One object of a page, with its cursor.' })
  class Edge {
    @Field(() => ID, { description: "The node's id; /v1 takes it as starting_after." })
    cursor: string;
    @Field(type)
    node: T;
  }
  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: 'A page of a list, newest first.' })
  class Connection {
    @Field(() => [Edge])
    edges: unknown;
    @Field(() => [type()])
    nodes: T[];
    @Field(() => PageInfo)
    pageInfo: PageInfo;
    @Field(() => Int, {
      nullable: true,
      description: `How many objects the whole list has; null beyond ${totalCountMax}. Counted only when asked for.`,
    })
    totalCount: unknown;
  }
  return Connection as unknown as ClassType<Page<T>>;
}
