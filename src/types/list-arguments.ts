import { is } from 'drizzle-orm';
import { PgColumn } from 'drizzle-orm/pg-core';
import { isScalarType } from 'graphql';
import { ArgsType, type ClassType, Field, ID } from 'type-graphql';
import { AccountScope } from './account-scope.js';
import { MetadataFilter, searchText } from './list-search.js';
import { type Listing, type PageArgs, pageArgsOf } from './pagination.js';
import { AmountFilter, DateFilter } from './range-filters.js';
import { Currency } from './scalars.js';

/**
 * What clients read of an argument, with its type where the declaration of the list does not say it: the values of an
 * enum, of which the filter takes several, an input type, or a scalar, in brackets for several.
 */
type Told = string | readonly [type: object, text: string];

/** The argument of a list by the account of its objects, which are named. */
export const ofAccount = (objects: string): string =>
  `Only ${objects} of this account. It may be any account that the caller can see.`;

/**
 * The arguments of a list, in their order: a line for each filter, range or condition that the listing declares. For a
 * list that can be searched, `search` says in which texts. Returns the arguments of the list, and those of the lists of
 * one parent, which are found by it alone. Throws an error that names an argument which the listing does not have.
 */
export function argsOf(
  name: string,
  listing: Listing,
  told: Readonly<Record<string, Told>>,
  order?: string,
): [ofRoot: ClassType<PageArgs>, ofParent: ClassType<PageArgs>] {
  const made = (names: readonly string[]): ClassType<PageArgs> => {
    @ArgsType()
    class ListArgs extends pageArgsOf(name, order) {}
    const add = (argument: string, type: unknown, description: string, more: object = { nullable: true }) =>
      Field(() => type as ClassType, { description, ...more })(ListArgs.prototype, argument);
    for (const argument of names) {
      const [type, text] = typed(listing, argument, told[argument]!);
      if (argument === 'scope') add(argument, type, text, { defaultValue: AccountScope.SELF });
      else add(argument, type, argument === 'search' ? searchText(text) : text);
      if (argument === 'search') add('metadata', MetadataFilter, 'Only objects with this key in their metadata.');
    }
    return ListArgs;
  };
  const names = Object.keys(told);
  const ofRoot = new Set(['search', 'scope', ...listing.byAccount]);
  return [made(names), made(names.filter((argument) => !ofRoot.has(argument)))];
}

/** The type of an argument in the graph, and its text. */
function typed(listing: Listing, argument: string, told: Told): readonly [type: unknown, text: string] {
  if (typeof told !== 'string') {
    const [type, text] = told;
    const isValues = typeof type === 'object' && !isScalarType(type) && !Array.isArray(type);
    return [isValues ? [type] : type, text];
  }
  if (argument === 'search') return [String, told];
  if (argument === 'scope') return [AccountScope, told];
  if (listing.byAccount.includes(argument)) return [ID, told];
  const range = listing.orders?.[argument];
  if (range) return [range.type === 'text' ? DateFilter : AmountFilter, told];
  const filter = listing.filters[argument];
  const isColumn = is(filter, PgColumn);
  if (listing.conditions?.[argument] || (!isColumn && filter && 'flag' in filter)) return [Boolean, told];
  if (isColumn && filter.dataType === 'boolean') return [Boolean, told];
  if (isColumn && argument === 'currency') return [[Currency], told];
  throw new Error(`the argument ${argument} of lists of ${listing.object} has no type, and is no filter that says it`);
}
