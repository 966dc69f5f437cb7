import { X } from 'lucide-react';
import { type ReactNode, useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { formatMoney, typedAmount } from '../format/money';
import { formatDay } from '../format/time';
import { words } from '../format/words';
import { isAmount, isDay, useFilters } from './filters';
import { ends, NoteContext, OrdersContext, replaced, useChoose } from './orders';

interface ChipProps {
  label: string;
  name: string;
  /** Whether it is in use: then it stands out, and can be removed. */
  used: boolean;
  onRemove: () => void;
  className?: string;
  children: ReactNode;
}

/** A filter of a list, with a button that removes it while it is in use. */
export function Chip({ label, name, used, onRemove, className = '', children }: ChipProps) {
  const book = useContext(OrdersContext);
  const gone = used ? [] : (book?.choosing(name).gone ?? []);
  return (
    <div
      className={`filter chip ${className}`}
      data-used={used}
      title={book && gone.length > 0 ? replaced(book, label, gone) : undefined}
    >
      {children}
      {used && (
        <button type="button" className="chip-remove" onClick={onRemove}>
          <X aria-hidden />
          <span className="unseen">Remove {label}</span>
        </button>
      )}
    </div>
  );
}

/** Whether the address has a filter that goes with the order of the list. */
export function useUsed(name: string): boolean {
  const { params } = useFilters();
  const book = useContext(OrdersContext);
  return book ? book.uses(name) : ends.some((end) => params.has(name + end));
}

interface ChoiceProps {
  label: string;
  name: string;
  values: readonly string[];
  /** The first choice, which is no value. */
  none?: string | undefined;
  /** The names of values, where their words are not enough. */
  names?: Record<string, string>;
}

/** A filter with one value, or none. */
export function Choice({ label, name, values, none = 'All', names = {} }: ChoiceProps) {
  const { params } = useFilters();
  const choose = useChoose();
  const used = useUsed(name);
  const id = useId();
  return (
    <Chip label={label} name={name} used={used} onRemove={() => choose(name, { [name]: null })}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={used ? (params.get(name) ?? '') : ''}
        onChange={(event) => choose(name, { [name]: event.target.value })}
      >
        <option value="">{none}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {names[value] ?? (/^[A-Z]{3}$/.test(value) ? value : words(value))}
          </option>
        ))}
      </select>
    </Chip>
  );
}

/** The direction of a list, among all that its orders have. A search has an order of its own, that of what it finds. */
export function Sort() {
  const book = useContext(OrdersContext)!;
  const note = useContext(NoteContext);
  const { params, set } = useFilters();
  const id = useId();
  const searched = params.has('search');
  const sorts = [...new Set(Object.values(book.orders).flatMap((order) => Object.keys(order.sorts)))];
  const choose = (to: string) => {
    const { changes, gone } = book.choosing('', to);
    note(replaced(book, book.sortNames[to]!, gone));
    set(changes);
  };
  return (
    <div className="filter sort">
      <label htmlFor={id}>Sort</label>
      <select id={id} value={searched ? '' : book.sort} onChange={(event) => choose(event.target.value)}>
        {searched && <option value="">As found</option>}
        {sorts.map((sort) => (
          <option key={sort} value={sort}>
            {book.sortNames[sort]}
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
  /** The currency of amounts. */
  currency?: string | undefined;
}

/** A filter with two ends, of days or of amounts, which are asked for below the chip. */
export function Range({ label, name, type, currency }: RangeProps) {
  const { params } = useFilters();
  const choose = useChoose();
  const used = useUsed(name);
  const read = (end: string) => {
    const text = params.get(name + end) ?? '';
    if (type === 'date') return isDay(text) ? formatDay(text) : text;
    return currency && isAmount(text) ? formatMoney({ amount: text, currency }) : text;
  };
  const [from, to] = [read('From'), read('To')];
  const said = from && to ? (from === to ? from : `${from} – ${to}`) : from ? `from ${from}` : `to ${to}`;
  return (
    <Chip
      label={label}
      name={name}
      used={used}
      className="range"
      onRemove={() => choose(name, { [`${name}From`]: null, [`${name}To`]: null })}
    >
      <Opening label={label} said={used ? said : undefined}>
        {() => (
          <>
            <RangeEnd label={`${label} from`} placeholder="from" name={name} end="From" type={type} />
            <span aria-hidden="true">–</span>
            <RangeEnd label={`${label} to`} placeholder="to" name={name} end="To" type={type} />
          </>
        )}
      </Opening>
    </Chip>
  );
}

interface OpeningProps {
  label: string;
  /** What is chosen. */
  said: ReactNode;
  children: (close: () => void) => ReactNode;
}

/** What a chip asks for below it, once it is opened. Escape and a click beside it close it. */
export function Opening({ label, said, children }: OpeningProps) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDetailsElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Where there is no room to the right, the panel ends with its chip.
    const { right = 0 } = panel.current?.getBoundingClientRect() ?? {};
    if (open && right > document.documentElement.clientWidth) panel.current!.dataset.end = 'true';
  }, [open]);
  useEffect(() => {
    if (!open) return undefined;
    const close = () => setOpen(false);
    const onPress = (event: PointerEvent) => place.current?.contains(event.target as Node) || close();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      close();
      place.current?.querySelector('summary')?.focus();
    };
    addEventListener('pointerdown', onPress);
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('pointerdown', onPress);
      removeEventListener('keydown', onKey);
    };
  }, [open]);
  return (
    <details ref={place} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label} {said && <span className="chip-said">{said}</span>}
      </summary>
      {open && (
        <div className="chip-panel" role="group" aria-label={label} ref={panel}>
          {children(() => setOpen(false))}
        </div>
      )}
    </details>
  );
}

interface RangeEndProps extends Omit<RangeProps, 'currency'> {
  placeholder: string;
  end: 'From' | 'To';
}

/** An end of a range. It counts when the viewer leaves the field, or presses Enter in it. */
function RangeEnd({ label, placeholder, name, end, type }: RangeEndProps) {
  const { params } = useFilters();
  const choose = useChoose();
  const value = params.get(name + end) ?? '';
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  const text = type === 'date' ? draft.trim() : typedAmount(draft.trim());
  const take = () => text !== value && choose(name, { [name + end]: text });
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
