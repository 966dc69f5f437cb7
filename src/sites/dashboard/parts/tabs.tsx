import { useContext } from 'react';
import { NoteContext, OrdersContext, replaced } from './orders';

/** Kinds of a list, of which one is shown. */
export function Tabs({ kinds, chosen, onChoose }: TabsProps) {
  const book = useContext(OrdersContext);
  const note = useContext(NoteContext);
  const choose = (value: string, name: string) => {
    const isWhole = value === kinds[0]?.[0];
    note(isWhole ? '' : replaced(book, name, book?.choosing('show').gone ?? []));
    onChoose(value);
  };
  return (
    <div className="filter tabs" role="group" aria-label="Show">
      {kinds.map(([value, name]) => (
        <button key={value} type="button" aria-pressed={chosen === value} onClick={() => choose(value, name)}>
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
