import type { GraphQLArgument } from 'graphql';
import { snake } from '../../errors/problems.js';
import { type Route, routes } from '../../resources/registry.js';
import { amountText } from '../../types/scalars.js';

/** The arguments of a page, which a whole list does not have. */
export const pageArguments: readonly string[] = ['first', 'after', 'last', 'before'];

/** A path of a list on /v1, the arguments that are in it by their names there, and those that it does not take. */
export interface PathOfList {
  path: string;
  inPath: Readonly<Record<string, string>>;
  without: readonly string[];
}

type Values = Readonly<Record<string, unknown>>;

function pathOf({ path, params = {}, without = [] }: Pick<Route, 'path' | 'params' | 'without'>): PathOfList {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, params[name] ?? name]);
  return { path, inPath: Object.fromEntries(names) as Record<string, string>, without };
}

/** The paths of the list of a root field on /v1, the shortest first. */
export const pathsOf = (name: string): PathOfList[] =>
  routes
    .filter(({ answers, field }) => answers === 'list' && field === name)
    .map(pathOf)
    .toSorted((one, other) => Object.keys(one.inPath).length - Object.keys(other.inPath).length);

const isGiven = (values: Values, name: string) => values[name] !== null && values[name] !== undefined;

/** The shortest path that takes what is given. */
export const pathFor = (paths: readonly PathOfList[], values: Values): PathOfList | undefined =>
  paths.find(
    ({ inPath, without }) =>
      Object.values(inPath).every((name) => isGiven(values, name)) && !without.some((name) => isGiven(values, name)),
  );

/** The path and the query of a list on /v1: `pathFor` what is given, or the shortest where none takes it. */
export function listOnV1(
  paths: readonly PathOfList[],
  declared: readonly Pick<GraphQLArgument, 'name' | 'defaultValue'>[],
  values: Values,
): [list: string, query: string] {
  const { path, inPath } = pathFor(paths, values) ?? paths[0]!;
  // A text of half a character is refused when the list is read; no address can have it.
  const list = path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(values[inPath[name]!]).toWellFormed()),
  );
  const search = new URLSearchParams();
  for (const { name, defaultValue } of declared)
    if (!Object.values(inPath).includes(name) && values[name] !== defaultValue) add(search, snake(name), values[name]);
  return [list, search.toString()];
}

/** Adds a value to a query as /v1 writes it. An empty list is empty text, which is refused, and not the whole list. */
function add(search: URLSearchParams, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const each of value.length > 0 ? value : ['']) add(search, name, each);
  } else if (typeof value === 'object') {
    for (const [member, each] of Object.entries(value)) add(search, `${name}.${snake(member)}`, each);
  } else search.append(name, typeof value === 'bigint' ? amountText(value) : String(value));
}
