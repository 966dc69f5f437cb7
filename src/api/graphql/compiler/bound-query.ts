import type { GraphQLSchema } from 'graphql';
import { getArgumentValues } from 'graphql/execution/values.js';
import { seenBy } from '../../../db/list/pages.js';
import { columnOf, shape, values } from '../../../db/list/statement.js';
import { classOfCount, classOfPage, presentRead, type ReadClass } from '../../../db/read/read-class.js';
import { listOf, visibilityOf } from '../../../db/read/visibility.js';
import type { Context } from '../../../operation/context.js';
import { check, checkEdge } from '../../../operation/guard.js';
import type { Rule } from '../../../resources/compiled-edges.js';
import { operationOf } from '../../../resources/registry.js';
import { AccountScope } from '../../../types/account-scope.js';
import { type PageArgs, readOf } from '../../../types/pagination.js';
import { pageRequest } from '../../../types/page-request.js';
import { withoutFilter } from '../filter-argument.js';
import { emptyCurrency, shownCurrency, type Terms } from './statement.js';
import { type Branch, NotCompilable } from './tree.js';

/**
 * The most rows of a compiled query. Its answer is one text in PostgreSQL's memory, and a row may have 100 kB. A query
 * that may return more rows goes through the resolvers, which stop when the answer gets too large.
 */
const rowsMax = 1_000;
/** The usual length of a short list of links, as its cost has it, and the most objects of one. */
const links = { usual: 10, max: 100 };

/** A compiled query with the variables of a request. */
export interface BoundQuery {
  /** The name of its statement among those of its document. */
  name: string;
  terms: Terms;
  /** The values of the parameters of the statement. */
  given: Record<string, unknown>;
  /** The classes of the reads of which the statement is made. */
  parts: ReadClass[];
}

/** A branch that takes arguments or is a list, and the index of the nearest such branch above it. */
export interface BoundBranch {
  branch: Branch;
  below: number | undefined;
}

/** The rules whose fields take arguments, or have many objects. */
const binding = new Set<Rule['read']>(['one', 'caller', 'page', 'edge', 'computed', 'links', 'funds']);

/** The branches of a query that take arguments or are lists. */
export function boundBranches(branches: Branch[], below?: number, found: BoundBranch[] = []): BoundBranch[] {
  for (const branch of branches) {
    const at = branch.rule && binding.has(branch.rule.read) ? found.push({ branch, below }) - 1 : below;
    boundBranches(branch.below, at, found);
  }
  return found;
}

/**
 * Binds a query to the variables of a request. Throws what the resolvers would refuse, and `NotCompilable` where
 * only they can answer.
 */
export function boundQuery(
  schema: GraphQLSchema,
  branches: BoundBranch[],
  variables: Record<string, unknown>,
  context: Context,
): BoundQuery {
  const { scope, edition } = context;
  const visibility = visibilityOf(scope.caller);
  const terms: Terms = { visibility, lists: new Map(), ids: new Map(), links: new Map() };
  const given = { [emptyCurrency]: edition.currency, [shownCurrency]: edition.balanceCurrency };
  const bound: BoundQuery = { name: `compiled:${visibility}`, terms, given, parts: [] };
  const rows: number[] = [];
  for (const [i, { branch, below }] of branches.entries()) {
    const { field, node, parent } = branch;
    const args = withoutFilter(field!.args.length > 0 ? getArgumentValues(field!, node, variables) : {});
    if (parent === schema.getQueryType()) check(operationOf(field!.name), args, context);
    else checkEdge(field!, args, context);
    const above = (below === undefined ? undefined : rows[below]) ?? 1;
    rows[i] = above * bindBranch(bound, branch, args, { prefix: `q${i}_`, above, context });
    if (rows[i]! > rowsMax)
      throw new NotCompilable(branch, `With the lists around it, it may have more than ${rowsMax} objects.`);
  }
  return bound;
}

/** Adds what a branch asks; returns the most objects that it has below one object, or the usual number of them. */
function bindBranch(
  bound: BoundQuery,
  branch: Branch,
  args: Record<string, unknown>,
  { prefix, above, context }: { prefix: string; above: number; context: Context },
): number {
  const { terms, given, parts } = bound;
  const rule = branch.rule!;
  const give = (more: object) => {
    for (const [name, value] of Object.entries(more)) given[prefix + name] = value;
  };
  if (rule.read === 'one' || rule.read === 'caller') {
    terms.ids.set(branch, prefix);
    const caller = rule.read === 'caller' ? Object.entries(rule.of(context)) : [['id', args.id]];
    give(Object.fromEntries(caller.map(([name, value]) => [name, value == null ? null : String(value)])));
    parts.push(presentRead);
    return 1;
  }
  if (rule.read === 'funds') {
    if (args.asOf != null || args.scope === AccountScope.DESCENDANTS)
      throw new NotCompilable(branch, 'It is a balance of the past, or of several accounts.');
    parts.push(presentRead);
    return 1;
  }
  if (rule.read === 'links') {
    terms.links.set(branch, Math.min(Math.floor(rowsMax / above), links.max));
    return links.usual;
  }
  if (rule.read !== 'page' && rule.read !== 'edge' && rule.read !== 'computed') return 1;
  const { caller } = context.scope;
  const computed = rule.read === 'computed' ? rule.pages : undefined;
  const listing = rule.read === 'computed' ? rule.pages.listing : seenBy(caller, rule.table, rule.listing);
  const request = pageRequest(listing, args as PageArgs, rule.read === 'edge' ? columnOf(rule.match) : undefined);
  const changing = request.order !== undefined && listing.orders?.[request.order]?.view !== undefined;
  if (changing) throw new NotCompilable(branch, 'Its order is by a value that changes.');
  if (computed && request.cursor !== undefined)
    throw new NotCompilable(branch, 'The object of its cursor is looked for first.');
  const own = rule.read === 'page' ? listOf(caller, request.includesDescendants) : terms.visibility;
  terms.lists.set(branch, { listing, request, visibility: own, prefix });
  bound.name += rule.read === 'computed' ? `/${readOf(request.size + 1)}` : `/${shape(rule.table, request, own)}`;
  give({ ...values(request), size: request.size });
  parts.push(computed?.classes.page ?? classOfPage(listing, request));
  if (branch.below.some(({ node }) => node.name.value === 'totalCount'))
    parts.push(computed?.classes.count ?? classOfCount(listing, request));
  return request.size;
}
