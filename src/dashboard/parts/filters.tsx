import { useId } from 'react';
import { useSearchParams } from 'wouter';
import { words } from '../format/words';

/** The filters of a list. They are part of the address, so a filtered list can be kept and shared. */
export function useFilters() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      // Another filter makes another list, which begins with its first page.
      if (!('after' in changes)) next.delete('after');
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === '') next.delete(name);
        else next.set(name, value);
      }
      return next;
    });
  /** The value of a filter, if it is one of the allowed values. */
  const one = <T extends string>(name: string, allowed: readonly T[]): T | undefined =>
    allowed.find((value) => value === params.get(name));
  return { params, set, one };
}

interface ChoiceProps {
  label: string;
  name: string;
  values: readonly string[];
}

/** A filter with one value, or none. */
export function Choice({ label, name, values }: ChoiceProps) {
  const { params, set } = useFilters();
  const id = useId();
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={params.get(name) ?? ''} onChange={(event) => set({ [name]: event.target.value })}>
        <option value="">All</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {/^[A-Z]{3}$/.test(value) ? value : words(value)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The way to older and newer pages of a list. */
export function Pager({ pageInfo }: { pageInfo: { hasNextPage: boolean; endCursor: string | null } }) {
  const { params, set } = useFilters();
  const later = params.has('after');
  if (!later && !pageInfo.hasNextPage) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <button type="button" className="button small" disabled={!later} onClick={() => set({ after: null })}>
        Newest
      </button>
      <button
        type="button"
        className="button small"
        disabled={!pageInfo.hasNextPage}
        onClick={() => set({ after: pageInfo.endCursor })}
      >
        Older
      </button>
    </nav>
  );
}
