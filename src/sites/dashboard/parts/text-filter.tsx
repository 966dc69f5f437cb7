import { type FormEvent, useId } from 'react';
import { useFilters } from './filters';
import { useChoose } from './orders';

interface TextFilterProps {
  label: string;
  name: string;
  placeholder?: string;
  /** Whether a phone shows it at once, as it does a search: then its placeholder says what it is. */
  shown?: boolean;
  /** Values to choose from; others can be typed. */
  suggestions?: readonly string[];
}

/** A filter by a text, which is part of the address. It applies with Enter, or when the input is left. */
export function TextFilter({ label, name, placeholder, shown = false, suggestions }: TextFilterProps) {
  const { params } = useFilters();
  const choose = useChoose();
  const id = useId();
  const value = params.get(name) ?? '';
  const apply = (text: string) => {
    if (text.trim() === value) return;
    choose(name, { [name]: text.trim() });
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    apply(String(new FormData(event.currentTarget).get('text')));
  };
  return (
    <form className={`filter ${shown ? 'searching' : ''}`} onSubmit={submit}>
      <label htmlFor={id}>{label}</label>
      <input
        key={value}
        id={id}
        name="text"
        type="text"
        defaultValue={value}
        placeholder={placeholder}
        list={suggestions && `${id}-list`}
        autoComplete="off"
        spellCheck={false}
        onBlur={(event) => apply(event.target.value)}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </form>
  );
}
