import { type ReactNode, useState } from 'react';
import { currenciesOf, formatMoney, type Money, sum } from '../format/money';
import { useFilters } from './filters';

/** The money of a row that is added up: its amount, and what is open of it where that is another figure. */
export interface Summed {
  money: Money;
  open?: string;
}

/** The rows that the viewer has ticked. */
export interface Selection {
  has: (id: string) => boolean;
  /** Ticks rows, or takes them out. */
  tick: (ids: readonly string[], to: boolean) => void;
}

/** The ticked rows of a list with what they come to. They stay while the viewer turns the pages of the same list. */
export function useSelection<Row extends { id: string }>(
  rows: readonly Row[] | undefined,
  summed: ((row: Row) => Summed) | undefined,
): { selection: Selection | undefined; foot: ReactNode } {
  const { params } = useFilters();
  const list = new URLSearchParams([...params].filter(([name]) => !['after', 'before', 'from'].includes(name)));
  const [state, setState] = useState({ list: String(list), ticked: new Map<string, Summed>() });
  const ticked = state.list === String(list) ? state.ticked : new Map<string, Summed>();
  const take = (next: Map<string, Summed>) => setState({ list: String(list), ticked: next });
  if (!summed) return { selection: undefined, foot: null };
  const now = new Map(rows?.map((row) => [row.id, summed(row)]));
  const tick = (ids: readonly string[], to: boolean) => {
    const next = new Map(ticked);
    for (const id of ids) {
      if (to) next.set(id, now.get(id)!);
      else next.delete(id);
    }
    take(next);
  };
  // A row of the page counts with what it is now.
  const all = [...ticked].map(([id, then]) => now.get(id) ?? then);
  const elsewhere = [...ticked.keys()].filter((id) => !now.has(id)).length;
  return {
    selection: { has: (id) => ticked.has(id), tick },
    foot: <SelectionFoot summed={all} elsewhere={elsewhere} onClear={() => take(new Map())} />,
  };
}

interface FootProps {
  summed: readonly Summed[];
  /** How many of them are on other pages of the list. */
  elsewhere: number;
  onClear: () => void;
}

/** How many rows are ticked, and their sums by currency. */
function SelectionFoot({ summed, elsewhere, onClear }: FootProps) {
  if (summed.length === 0) return null;
  return (
    <section className="list-foot" aria-label="Selected">
      <div className="list-foot-said" role="status">
        <p>
          {summed.length} selected{elsewhere > 0 && `, ${elsewhere} on other pages`} · {sumsOf(summed)}
        </p>
      </div>
      <button type="button" className="button" onClick={onClear}>
        Clear
      </button>
    </section>
  );
}

/** The sums by currency, with what is open of them where that is less. */
function sumsOf(summed: readonly Summed[]): string {
  return currenciesOf(summed.map(({ money }) => money))
    .map((currency) => {
      const own = summed.filter(({ money }) => money.currency === currency);
      const amount = sum(own.map(({ money }) => money.amount));
      const open = sum(own.map(({ money, open }) => open ?? money.amount));
      const total = `${formatMoney({ amount, currency })} ${currency}`;
      return open === amount ? total : `${total}, ${formatMoney({ amount: open, currency })} of it open`;
    })
    .join(' + ');
}
