import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { Chip, Opening, useUsed } from './chips';
import { Field } from './field';
import { useFilters } from './filters';
import { useChoose } from './orders';
import { Problem } from './problem';
import { Lines } from './skeleton';

interface ChipFindProps {
  label: string;
  /** The name of the filter in the address. */
  name: string;
  /** What is chosen, in words. */
  said: string;
  /** The list that something is found in; it is called with the value to filter by. */
  children: (choose: (value: string) => void) => ReactNode;
}

/** A filter by one of many objects, which is found by its name. */
export function ChipFind({ label, name, said, children }: ChipFindProps) {
  const choose = useChoose();
  const used = useUsed(name);
  return (
    <Chip label={label} name={name} used={used} onRemove={() => choose(name, { [name]: null })}>
      <Opening label={label} said={used ? said : undefined}>
        {(close) =>
          children((value) => {
            close();
            choose(name, { [name]: value });
          })
        }
      </Opening>
    </Chip>
  );
}

/** The id that a filter has in the address; `pause` is for the query of its name, where the filter is not used. */
export function useChosenId(name: string) {
  return { id: useFilters().params.get(name) ?? '', pause: !useUsed(name) };
}

interface FoundProps {
  label: string;
  hint?: string;
  text: string;
  onText: (text: string) => void;
  error?: CombinedError | undefined;
  isLoading: boolean;
  /** What was found; absent before there is an answer. */
  found?: { id: string; name: string; value: string }[] | undefined;
  onChoose: (value: string) => void;
  none: string;
  /** Said where more is there than is shown. */
  more?: string | false | undefined;
}

/** A text to find objects by, and those that were found, to choose one of them. */
export function Found({ label, hint, text, onText, error, isLoading, found, onChoose, none, more }: FoundProps) {
  return (
    <div className="chip-find">
      <Field label={label} hint={hint}>
        {(input) => (
          <input
            {...input}
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onText(event.target.value)}
            autoFocus
          />
        )}
      </Field>
      {error && <Problem error={error} />}
      {isLoading && <Lines count={3} />}
      {found && (
        <ul className="choices">
          {found.map(({ id, name, value }) => (
            <li key={id}>
              <button type="button" title={id} onClick={() => onChoose(value)}>
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
      {found?.length === 0 && <p className="hint">{none}</p>}
      {more && <p className="hint">{more}</p>}
    </div>
  );
}
