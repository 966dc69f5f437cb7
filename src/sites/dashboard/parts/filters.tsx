import { useSearchParams } from 'wouter';
import { sent } from '../graph/sent';

/** The filters of a list. They are part of the address, so a filtered list can be kept and shared. */
export function useFilters() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>, options: { replace?: boolean; state?: object } = {}) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      // Another filter makes another list, which begins with its first page.
      for (const place of places) next.delete(place);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === '') next.delete(name);
        else next.set(name, value);
      }
      return next;
    }, options);
  /** The value of a filter, if it is one of the allowed values. */
  const one = <T extends string>(name: string, allowed: readonly T[]): T | undefined =>
    allowed.find((value) => value === params.get(name));
  /** Both ends of a range, such as `dueFrom` and `dueTo`; undefined when it has neither. */
  const range = <T extends string>(name: string, isValue: (text: string) => text is T) => {
    const end = (place: string) => {
      const text = params.get(name + place) ?? '';
      return isValue(text) ? text : undefined;
    };
    const [gte, lte] = [end('From'), end('To')];
    return gte === undefined && lte === undefined ? undefined : sent({ gte, lte });
  };
  /** Whether a filter or a search leaves out some of the list. */
  const filtered = narrowing(params).length > 0;
  /** Leaves the list without filters, apart from `kept`. */
  const clear = (kept?: string) => set(Object.fromEntries(narrowing(params, kept).map((name) => [name, null])));
  return { params, set, clear, one, range, filtered };
}

/** What of the address leaves out some of the list, without `kept`, which says whose list it is. */
export const narrowing = (params: URLSearchParams, kept?: string): string[] =>
  [...params.keys()].filter((name) => name !== 'show' && name !== kept && !places.includes(name));

/** Where in its list a page is, in the address. */
export const places = ['after', 'before', 'from'];

/** The button below an empty list that has filters apart from `kept`. */
export function ClearFilters({ kept }: { kept?: string }) {
  const { params, clear } = useFilters();
  if (narrowing(params, kept).length === 0) return null;
  return (
    <button type="button" className="button" onClick={() => clear(kept)}>
      Clear filters
    </button>
  );
}

/** Whether a text is a day, such as `2026-11-30`. */
export const isDay = (text: string): text is string => /^\d{4}-\d\d-\d\d$/.test(text);

/** Whether a text is an amount of money. */
export const isAmount = (text: string): text is string => /^-?\d+(\.\d{1,2})?$/.test(text);
