import { type ComponentProps, useState } from 'react';
import { Field } from './field';
import { type Option, SelectField } from './form';

interface FoundFieldProps extends ComponentProps<typeof SelectField> {
  /** Whether the list has more than the options. */
  more: boolean;
  /** What is sought, and what its field is called. */
  text: string;
  find: string;
  onText: (text: string) => void;
}

/** A select of a list that may be longer than what it shows: then a text above it finds the others. */
export function FoundField({ more, text, find, onText, options, onChange, ...field }: FoundFieldProps) {
  const [chosen, setChosen] = useState<Option>();
  const all = chosen && options.every(({ value }) => value !== chosen.value) ? [chosen, ...options] : options;
  const choose = (value: string) => {
    setChosen(all.find((option) => option.value === value));
    onChange?.(value);
  };
  return (
    <>
      {(more || text !== '') && (
        <Field label={find} hint={`${options.length}${more ? ' or more' : ''} found; choose below.`}>
          {(input) => (
            <input
              {...input}
              type="search"
              autoComplete="off"
              value={text}
              onChange={(event) => onText(event.target.value)}
              // The form is sent by its button alone.
              onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            />
          )}
        </Field>
      )}
      <SelectField {...field} options={all} onChange={choose} />
    </>
  );
}
