import { createContext, useContext } from 'react';
import { words } from '../format/words';
import { useFilters } from './filters';

/** An order of a list: what the address calls its directions, and the filters that go with it. */
interface Order {
  /** The directions by their names in the address, as the graph calls them; the first one is the usual one. */
  sorts: Readonly<Record<string, string | undefined>>;
  filters: readonly string[];
}

/** The orders of a list by name, the usual one first, and how the page calls their filters and their directions. */
interface Orders {
  orders: Readonly<Record<string, Order>>;
  names: Readonly<Record<string, string>>;
  sortNames: Readonly<Record<string, string>>;
}

/** What of a list's filters is in use, and what goes together. */
export interface OrderBook extends Orders {
  /** The order of the list: that of the chosen direction, or the one that serves most of the filters in use. */
  by: string;
  /** The direction, as the address calls it. */
  sort: string;
  /** The same as the graph calls it; undefined where it is the usual one. */
  orderBy: string | undefined;
  /** Whether a filter is in use and goes with the order. */
  uses: (name: string) => boolean;
  /** The changes of the address by which a filter or a direction is chosen, and what has to go for it. */
  choosing: (name: string, sort?: string) => { changes: Record<string, string | null>; gone: string[] };
}

/** What a chip needs of its list; undefined where all filters go together. */
export const OrdersContext = createContext<OrderBook | undefined>(undefined);

/** Says beside the filters what had to go for one of them, which the viewer can undo. */
export const NoteContext = createContext<(text: string) => void>(() => undefined);

/** What the parameters of a filter end with in the address: nothing for a value, the others for a range. */
export const ends = ['', 'From', 'To'];

/**
 * The orders of a list with what the address says. The gateway serves each list by an index, so a range of amounts goes
 * with the order by amount alone, and so on: a filter that does not go with those in use takes their place.
 */
export function useOrders(given: Orders): OrderBook {
  const { params } = useFilters();
  const { orders } = given;
  const all = [...new Set(Object.values(orders).flatMap(({ filters }) => filters))];
  const inUse = all.filter((name) => ends.some((end) => params.has(name + end)));
  // The filter that chooses one of the page's lists outweighs all others.
  const weight = (name: string) => (name === 'show' ? all.length : 1);
  const served = ({ filters }: Order) =>
    inUse.filter((name) => filters.includes(name)).reduce((rank, name) => rank + weight(name), 0);
  /** The order that keeps most of what is in use, of those that fit; among equals, the present one. */
  const best = (fits: (order: Order) => boolean, present?: string) =>
    Object.keys(orders)
      .filter((name) => fits(orders[name]!))
      .map((name) => ({ name, rank: served(orders[name]!) + (name === present ? 0.5 : 0) }))
      .toSorted((a, b) => b.rank - a.rank)[0]?.name;
  const asked = params.get('sort') ?? '';
  const by = best(({ sorts }) => asked in sorts) ?? best(() => true)!;
  const { sorts, filters } = orders[by]!;
  const sort = asked in sorts ? asked : Object.keys(sorts)[0]!;
  const choosing: OrderBook['choosing'] = (name, to) => {
    const fits = to === undefined ? (order: Order) => order.filters.includes(name) : ({ sorts }: Order) => to in sorts;
    const next = orders[best(fits, by) ?? by]!;
    const others = inUse.filter((each) => each !== name && !next.filters.includes(each));
    const changes: Record<string, string | null> = Object.fromEntries(
      others.flatMap((each) => ends.map((end) => [each + end, null])),
    );
    if (to !== undefined) changes.sort = to === Object.keys(Object.values(orders)[0]!.sorts)[0] ? null : to;
    else if (!(asked in next.sorts)) changes.sort = null;
    return { changes: { ...changes, search: null }, gone: params.has('search') ? ['search', ...others] : others };
  };
  const uses = (name: string) => inUse.includes(name) && filters.includes(name);
  return { ...given, by, sort, orderBy: sorts[sort], uses, choosing };
}

/** Sets a filter of the list, and says what had to go for it. */
export function useChoose() {
  const { set } = useFilters();
  const book = useContext(OrdersContext);
  const note = useContext(NoteContext);
  return (name: string, changes: Record<string, string | null>) => {
    const removed = Object.values(changes).every((value) => value === null || value === '');
    if (!book || removed) {
      note('');
      return set(changes);
    }
    const { changes: others, gone } = book.choosing(name);
    note(replaced(book, nameOf(book, name), gone));
    return set({ ...others, ...changes });
  };
}

/** What the page calls a filter. */
const nameOf = (book: Pick<Orders, 'names'> | undefined, name: string) =>
  ({ search: 'Search', sort: 'Sort' })[name] ?? book?.names[name] ?? words(name);

/** What the page says of filters that had to go. */
export function replaced(book: Pick<Orders, 'names'> | undefined, chosen: string, gone: readonly string[]): string {
  if (gone.length === 0) return '';
  const names = listed([...new Set(gone)].map((each) => nameOf(book, each)));
  const why = [chosen, names].some((each) => each.includes('Search'))
    ? 'a search is of the whole list.'
    : 'this list cannot be filtered by both at once.';
  return `${chosen} takes the place of ${names}: ${why}`;
}

/** What the page says of filters in use that others would take the place of, before one of these is chosen. */
export function apartFrom(book: OrderBook): string {
  const others = Object.keys(book.names)
    .filter((name) => name !== 'show' && !book.uses(name))
    .map((name) => ({ name, gone: book.choosing(name).gone.filter((each) => each !== 'search' && each !== 'show') }))
    .filter(({ gone }) => gone.length > 0);
  if (others.length === 0) return '';
  const inUse = [...new Set(others.flatMap(({ gone }) => gone))];
  const verb = inUse.length > 1 ? 'do' : 'does';
  const [used, apart] = [inUse, others.map(({ name }) => name)].map((names) => names.map((name) => nameOf(book, name)));
  return `${listed(used!)} ${verb} not go together with ${listed(apart!, 'or')}: choosing one removes the other.`;
}

/** Names in a sentence: `Status, Method and Amount`. */
const listed = (names: readonly string[], word = 'and') =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
