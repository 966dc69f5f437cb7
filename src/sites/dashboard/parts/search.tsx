import { type FormEvent, useContext, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { places, useFilters } from './filters';
import { NoteContext, OrdersContext, replaced } from './orders';

/** How long nothing is typed before a list is searched. */
const pauseMilliseconds = 300;

/**
 * The search of a list, which the gateway answers in the order of the texts that it finds. It goes with no other
 * filter, so it says which ones it takes the place of. A list is searched while the text is typed, and at once with
 * Enter or when the input is left.
 */
export function Search({ placeholder }: { placeholder: string }) {
  const { params, set } = useFilters();
  const book = useContext(OrdersContext);
  const note = useContext(NoteContext);
  const id = useId();
  const value = params.get('search') ?? '';
  const [draft, setDraft] = useState(value);
  const applied = useRef(value);
  const apply = () => {
    const text = draft.trim();
    if (text === value) return;
    applied.current = text;
    const others = Object.fromEntries([...params.keys()].map((name) => [name, null]));
    const gone = Object.keys(others).filter((name) => name !== 'search' && !places.includes(name));
    // What goes is said once, at the first letter of the search.
    if (value === '' || text === '')
      note(
        replaced(
          book,
          'Search',
          gone.map((name) => name.replace(/(From|To)$/, '')),
        ),
      );
    // The way back leads to the list before the search, and not through each of its letters.
    set({ ...others, search: text }, { replace: value !== '' });
  };
  const applyTyped = useEffectEvent(apply);
  useEffect(() => {
    // Another filter or a link has changed the search. What is being typed stays.
    if (value !== applied.current) setDraft(value);
    applied.current = value;
  }, [value]);
  useEffect(() => {
    const timer = setTimeout(() => applyTyped(), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [draft]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    apply();
  };
  return (
    <form className="filter searching" onSubmit={submit}>
      <label htmlFor={id}>Search</label>
      <input
        id={id}
        type="search"
        value={draft}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={apply}
      />
    </form>
  );
}
