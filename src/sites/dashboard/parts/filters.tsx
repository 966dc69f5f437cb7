import { SlidersHorizontal } from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useSearchParams } from 'wouter';
import { typedAmount } from '../format/money';
import { words } from '../format/words';
import { sent } from '../graph/sent';

/** The filters of a list. They are part of the address, so a filtered list can be kept and shared. */
export function useFilters() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>, options: { replace?: boolean } = {}) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      // Another filter makes another list, which begins with its first page.
      if (!('after' in changes)) next.delete('after');
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
  const filtered = [...params.keys()].some((name) => !places.includes(name));
  return { params, set, one, range, filtered };
}

/** What the address has beside filters: which list, and where in it. */
const places = ['after', 'show'];

/** Leaves the list without filters. It is for a list that has nothing with them. */
export function ClearFilters() {
  const { params, set, filtered } = useFilters();
  if (!filtered) return null;
  const filters = [...params.keys()].filter((name) => name !== 'show');
  return (
    <button
      type="button"
      className="button"
      onClick={() => set(Object.fromEntries(filters.map((name) => [name, null])))}
    >
      Clear filters
    </button>
  );
}

/** What the address has beside filters. */
const others = ['after', 'search', 'show', 'sort'];

interface FilterBarProps {
  children: ReactNode;
  /** Whether a phone shows all of them at once, because they say what the page is about. */
  shown?: boolean;
}

/** The filters of a list. A phone shows kinds and search at once, and the others behind a button that counts them. */
export function FilterBar({ children, shown = false }: FilterBarProps) {
  const { params } = useFilters();
  const [open, setOpen] = useState(false);
  const used = new Set([...params.keys()].map((name) => name.replace(/(From|To)$/, '')));
  const count = [...used].filter((name) => !others.includes(name)).length;
  return (
    <div className="filters" data-open={shown || open}>
      {children}
      {!shown && (
        <button type="button" className="button filters-more" aria-expanded={open} onClick={() => setOpen(!open)}>
          <SlidersHorizontal aria-hidden /> Filters
          {count > 0 && <span className="waiting-count">{count}</span>}
        </button>
      )}
    </div>
  );
}

/** Whether a text is a day, such as `2026-11-30`. */
export const isDay = (text: string): text is string => /^\d{4}-\d\d-\d\d$/.test(text);

/** Whether a text is an amount of money. */
export const isAmount = (text: string): text is string => /^-?\d+(\.\d{1,2})?$/.test(text);

interface ChoiceProps {
  label: string;
  name: string;
  values: readonly string[];
  /** The first choice, which is no value. */
  none?: string | undefined;
  /** The names of values, where their words are not enough. */
  names?: Record<string, string>;
  /** Filters that do not go with another value of this one. */
  clears?: readonly string[];
}

/** A filter with one value, or none. */
export function Choice({ label, name, values, none = 'All', names = {}, clears = [] }: ChoiceProps) {
  const { params, set } = useFilters();
  const id = useId();
  const choose = (value: string) => set({ ...Object.fromEntries(clears.map((other) => [other, null])), [name]: value });
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={params.get(name) ?? ''} onChange={(event) => choose(event.target.value)}>
        <option value="">{none}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {names[value] ?? (/^[A-Z]{3}$/.test(value) ? value : words(value))}
          </option>
        ))}
      </select>
    </div>
  );
}

interface RangeProps {
  label: string;
  name: string;
  type: 'date' | 'amount';
}

/** A filter with two ends, of days or of amounts. */
export function Range({ label, name, type }: RangeProps) {
  const id = useId();
  return (
    <div className="filter range" role="group" aria-labelledby={id}>
      <span id={id}>{label}</span>
      <RangeEnd label={`${label} from`} placeholder="from" name={`${name}From`} type={type} />
      <span aria-hidden="true">–</span>
      <RangeEnd label={`${label} to`} placeholder="to" name={`${name}To`} type={type} />
    </div>
  );
}

/** An end of a range. It counts when the viewer leaves the field, or presses Enter in it. */
function RangeEnd({ label, placeholder, name, type }: RangeProps & { placeholder: string }) {
  const { params, set } = useFilters();
  const value = params.get(name) ?? '';
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  const text = type === 'date' ? draft.trim() : typedAmount(draft.trim());
  const take = () => text !== value && set({ [name]: text });
  return (
    <input
      type={type === 'date' ? 'date' : 'text'}
      inputMode={type === 'date' ? undefined : 'decimal'}
      placeholder={placeholder}
      aria-label={label}
      aria-invalid={value !== '' && !(type === 'date' ? isDay(value) : isAmount(value))}
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && take()}
    />
  );
}

/** Kinds of a list, of which one is shown. */
export function Tabs({ kinds, chosen, onChoose }: TabsProps) {
  return (
    <div className="filter tabs" role="group" aria-label="Show">
      {kinds.map(([value, name]) => (
        <button key={value} type="button" aria-pressed={chosen === value} onClick={() => onChoose(value)}>
          {name}
        </button>
      ))}
    </div>
  );
}

interface TabsProps {
  kinds: readonly (readonly [value: string, name: string])[];
  chosen: string;
  onChoose: (value: string) => void;
}

/** The way to older and newer pages of a list. */
export function Pager({ pageInfo }: { pageInfo: { hasNextPage: boolean; endCursor: string | null } }) {
  const { params, set } = useFilters();
  const later = params.has('after');
  if (!later && !pageInfo.hasNextPage) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <button type="button" className="button small" disabled={!later} onClick={() => set({ after: null })}>
        First page
      </button>
      <button
        type="button"
        className="button small"
        disabled={!pageInfo.hasNextPage}
        onClick={() => set({ after: pageInfo.endCursor })}
      >
        Next page
      </button>
    </nav>
  );
}
