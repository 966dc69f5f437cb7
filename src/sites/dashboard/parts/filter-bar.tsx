import { SlidersHorizontal } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { places, useFilters } from './filters';
import { apartFrom, NoteContext, type OrderBook, OrdersContext } from './orders';

/** What the address has beside filters that have a chip. */
const others = ['search', 'show', 'sort', ...places];

interface FilterBarProps {
  children: ReactNode;
  /** Whether a phone shows all of them at once, because they say what the page is about. */
  shown?: boolean;
  /** The orders of the list, which say what of its filters goes together. */
  orders?: OrderBook;
}

/**
 * The filters of a list, each a chip: those in use stand out and can be removed. A phone shows kinds, search and the
 * filters in use at once, and the others behind a button that counts those in use.
 */
export function FilterBar({ children, shown = false, orders }: FilterBarProps) {
  const { params, clear } = useFilters();
  const [, setParams] = useSearchParams();
  const [open, setOpen] = useState(false);
  /** What had to go for a filter, and the address before. */
  const [noted, setNoted] = useState<{ text: string; before: URLSearchParams }>();
  useEffect(() => {
    const forget = () => setNoted(undefined);
    addEventListener('popstate', forget);
    return () => removeEventListener('popstate', forget);
  }, []);
  const undo = () => {
    setParams(noted!.before);
    setNoted(undefined);
  };
  const used = new Set([...params.keys()].map((name) => name.replace(/(From|To)$/, '')));
  const chips = [...used].filter((name) => !others.includes(name));
  return (
    <NoteContext value={(text) => setNoted(text === '' ? undefined : { text, before: params })}>
      <OrdersContext value={orders}>
        <div className="filters" data-open={shown || open}>
          {children}
          {!shown && (
            <button type="button" className="button filters-more" aria-expanded={open} onClick={() => setOpen(!open)}>
              <SlidersHorizontal aria-hidden /> Filters
              {chips.length > 0 && <span className="waiting-count">{chips.length}</span>}
            </button>
          )}
          {chips.length > 1 && (
            <button
              type="button"
              className="link clear-all"
              onClick={() => {
                setNoted(undefined);
                clear();
              }}
            >
              Clear all
            </button>
          )}
          <p className="hint filters-note" role="status">
            {noted?.text ?? (orders && apartFrom(orders))}
            {noted && (
              <button type="button" className="link" onClick={undo}>
                Undo
              </button>
            )}
          </p>
        </div>
      </OrdersContext>
    </NoteContext>
  );
}
