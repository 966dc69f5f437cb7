import { argumentPath, camel, type Nearest, type Problem, snake } from '../errors/problems.js';
import { type Listing, neededBy } from './list-order.js';

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that were tried, and how far they are from those that were refused. */
interface Tried {
  args: Arguments;
  distance: number;
}

/** How many combinations are tried at most. The one that is looked for is among the first ten. */
const triesMax = 60;

/** What one change costs: a list in another order has the same objects, and one without a filter has others. */
const [added, orderLost, filterLost] = [1, 2, 4];

/** A value for a currency that must be given. Each edition has lists of it. */
const exampleCurrency = 'USD';

/**
 * The nearest combination of arguments that an index serves: with the order that a range needs, with one currency, by
 * creation, or without the filters that exclude one another, whichever changes the list least. Undefined if nothing
 * that was tried is served. `refused` says what is refused of arguments.
 */
export function nearestList(
  listing: Listing,
  args: object,
  refused: (args: object) => readonly Problem[],
): Nearest | undefined {
  const given = { ...args } as Record<string, unknown>;
  // A cursor is a place in one order, and the size of a page is judged by itself.
  for (const name of ['first', 'after', 'last', 'before']) delete given[name];
  const waiting: Tried[] = [{ args: given, distance: 0 }];
  const seen = new Set<string>();
  for (let tries = 0; tries < triesMax; tries++) {
    const next = waiting.sort((one, other) => one.distance - other.distance).shift();
    if (!next) return undefined;
    const problems = refused(next.args);
    if (problems.length === 0) return changesOf(given, next.args);
    for (const change of changesFor(listing, next.args, problems)) {
      // Only these arguments have other values than they were given.
      const { orderBy, currency, orderCurrency } = change.args;
      const key = JSON.stringify([Object.keys(change.args), orderBy, currency, orderCurrency]);
      if (seen.has(key)) continue;
      seen.add(key);
      waiting.push({ args: change.args, distance: next.distance + change.distance });
    }
  }
  return undefined;
}

function changesOf(before: Arguments, after: Arguments): Nearest {
  const set = Object.entries(after).filter(([name, value]) => before[name] !== value);
  return {
    without: Object.keys(before).filter((name) => before[name] != null && after[name] === undefined),
    set: Object.fromEntries(set),
  };
}

/** The arguments that differ by one step from those that were refused. */
function changesFor(listing: Listing, args: Arguments, problems: readonly Problem[]): Tried[] {
  const names = [...new Set(problems.map(({ field }) => String(argumentPath(field)[0])))];
  const by = /^(.+)_(asc|desc)$/.exec(String(args.orderBy ?? ''));
  const order = by?.[1] === undefined || by[1] === 'created' ? undefined : camel(by[1]);
  const changes: Tried[] = [];
  for (const needed of new Set(names.map((name) => neededBy(listing, name))))
    if (needed !== undefined && needed !== order)
      changes.push({ args: { ...args, orderBy: `${snake(needed)}_${by?.[2] ?? 'desc'}` }, distance: added });
  const { one = {}, view } = (order === undefined ? undefined : listing.orders?.[order]) ?? {};
  for (const name of [...Object.keys(one), ...(view ? [view.required.name] : [])]) {
    const [first = exampleCurrency] = [args[name] ?? undefined].flat();
    if (names.includes(name)) changes.push({ args: { ...args, [name]: view ? first : [first] }, distance: added });
  }
  if (args.orderBy != null) changes.push({ args: withoutThese(args, ['orderBy']), distance: orderLost });
  const filters = names.filter((name) => name !== 'orderBy' && args[name] != null);
  if (filters.length > 0) changes.push({ args: withoutThese(args, filters), distance: filterLost * filters.length });
  return changes;
}

const withoutThese = (args: Arguments, names: readonly string[]): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
