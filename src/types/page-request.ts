import type { PgColumn } from 'drizzle-orm/pg-core';
import { DomainError, type Problem, problem, snake } from '../errors/problems.js';
import { orderedBy } from './list-order.js';
import { searchProblems } from './list-search.js';
import { nearestList } from './nearest-list.js';
import {
  cursorConflict,
  type Listing,
  listMembersFault,
  listMembersMax,
  type PageArgs,
  pageSizeDefault,
  pageSizeMax,
  type PageRequest,
} from './pagination.js';

/** The names of the page arguments. Every other argument of a list is a filter. */
const paging = new Set(['first', 'after', 'last', 'before', 'orderBy', 'scope']);

/**
 * Converts the arguments of a list to a page request. Refuses arguments that contradict each other, exceed a limit, or
 * are served by no index. `parent` is the column of the parent, where the list is an edge.
 */
export function pageRequest(listing: Listing, args: PageArgs, parent?: PgColumn): PageRequest {
  const problems: Problem[] = [];
  const request = judged(listing, args, parent, problems);
  if (request && problems.length === 0) return request;
  const found = (tried: PageArgs) => {
    const faults: Problem[] = [];
    judged(listing, tried, parent, faults);
    return faults;
  };
  const nearest = problems.some((each) => each.nearest) ? nearestList(listing, args, found) : undefined;
  throw new DomainError(...problems.map((each) => ({ ...each, ...(each.nearest && { nearest }) })));
}

function judged(
  listing: Listing,
  args: PageArgs,
  parent: PgColumn | undefined,
  problems: Problem[],
): PageRequest | undefined {
  const { object, fixed, byAccount } = listing;
  const { first, after, last, before } = args;
  const backward = last != null || before != null;
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
  const given = filtersOf(args);
  const filters = listing.read?.(given, problems) ?? given;
  for (const [name, value] of Object.entries(filters))
    if (Array.isArray(value) && value.length > listMembersMax)
      problems.push(
        problem('parameter_invalid', `${object}.${name.split('.').map(snake).join('.')}`, listMembersFault),
      );
  const excluded = searchProblems(object, args, filters);
  if (excluded.length > 0) {
    problems.push(...excluded);
    return undefined;
  }
  const { order, ascending, ...ordered } = orderedBy(
    listing,
    args.orderBy,
    alone(filters, byAccount),
    parent,
    problems,
  );
  return {
    backward,
    size,
    cursor: (backward ? before : after) ?? undefined,
    filters: { ...ordered.filters, ...fixedIn(listing, order) },
    order,
    ascending,
    includesDescendants:
      args.scope === 'descendants' || byAccount.some((name) => name in filters || name in (fixed ?? {})),
  };
}

/** The filters that always apply, without those that the key of an order contains. */
function fixedIn({ fixed = {}, orders }: Listing, order: string | undefined): Record<string, unknown> {
  const takes = (order === undefined ? undefined : orders?.[order]?.view?.takes) ?? [];
  return Object.fromEntries(Object.entries(fixed).filter(([name]) => !takes.includes(name)));
}

/** Converts a list of one account to an equality: its index then has the order of the list, and needs no sort. */
function alone(filters: Record<string, unknown>, byAccount: readonly string[]): Record<string, unknown> {
  for (const name of byAccount) {
    const value = filters[name];
    if (Array.isArray(value) && value.length === 1) filters[name] = value[0];
  }
  return filters;
}

/** The filters that are set, flat and by dotted name. Null and empty text count as not set. */
function filtersOf(args: object, at = ''): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null || value === '' || (at === '' && paging.has(name))) continue;
    if (typeof value === 'object' && !Array.isArray(value)) Object.assign(out, filtersOf(value, `${at}${name}.`));
    else out[at + name] = value;
  }
  return out;
}
