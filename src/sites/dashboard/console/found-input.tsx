import { useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../graph/graphql';
import { useDebounced } from '../graph/find';
import { Field } from '../parts/field';
import { useError } from '../parts/form';
import { FindQuery } from './find';
import { nameOf } from './parts';

type Found = ResultOf<typeof FindQuery>['find']['objects'][number];

interface FoundInputProps {
  name: string;
  label: string;
  hint: string;
  placeholder?: string;
  required?: boolean;
  /** Which of what is found can be chosen. */
  fits: (found: Found) => boolean;
  /** How it is called, beside its mode. */
  called: (found: Found) => string;
  defaultValue?: string | undefined;
}

/**
 * A field for an object by what people have of it: its id, its name or its number. What is chosen is said below it, and
 * its id is the value of the form; of several that are found one is chosen. Until one is, the value is what was typed,
 * which the gateway refuses: without a value, a field that need not be filled in would be lost unseen.
 */
function FoundInput({ name, label, hint, fits, called, defaultValue = '', ...input }: FoundInputProps) {
  const [text, setText] = useState(defaultValue);
  const [chosen, setChosen] = useState<string>();
  const typed = text.trim();
  const debounced = useDebounced(text);
  const [{ data, fetching }] = useQuery({
    query: FindQuery,
    variables: { text: debounced },
    pause: !/[\p{L}\p{N}]/u.test(debounced),
  });
  const isAnswered = debounced === typed && typed !== '' && !fetching;
  const rows = isAnswered ? (data?.find.objects.filter(fits) ?? []) : [];
  // A root has one id in both modes.
  const found = [...new Map(rows.map((row) => [row.id, row])).values()];
  const row = found.length === 1 ? found[0] : found.find(({ id }) => id === chosen);
  return (
    <>
      <Field
        label={label}
        hint={row ? called(row) : isAnswered && found.length === 0 ? 'Nothing was found.' : hint}
        error={useError(name)}
      >
        {(attributes) => (
          <input
            {...attributes}
            {...input}
            type="text"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <input type="hidden" name={name} value={row?.id ?? typed} />
      {found.length > 1 && (
        <Field label={`${label}: which one`}>
          {(attributes) => (
            <select {...attributes} value={row?.id ?? ''} onChange={(event) => setChosen(event.target.value)}>
              <option value="">Choose …</option>
              {found.map((each) => (
                <option key={each.id} value={each.id}>
                  {called(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </>
  );
}

const nameOfFound = ({ account, id }: Found) => (account ? nameOf(account) : id);

type NamedProps = Pick<FoundInputProps, 'name' | 'label' | 'required' | 'defaultValue'> & {
  hint?: string;
};

/** A field for an account by its name or its id. */
export function AccountInput({ hint = 'Its name or its id.', ...field }: NamedProps) {
  return (
    <FoundInput
      {...field}
      hint={hint}
      placeholder="Name or account_…"
      fits={({ type }) => type === 'ACCOUNT'}
      called={(found) => `${nameOfFound(found)} · …${found.id.slice(-8)}`}
    />
  );
}

/** A field for a live receiving address by the number of its bank account or its id. */
export function AddressInput(field: NamedProps) {
  return (
    <FoundInput
      hint="Its account number or IBAN, or its id."
      {...field}
      placeholder="Account number or address_…"
      fits={({ type, livemode }) => type === 'ADDRESS' && livemode}
      called={(found) => [nameOfFound(found), found.currency, found.reference].filter(Boolean).join(' · ')}
    />
  );
}
