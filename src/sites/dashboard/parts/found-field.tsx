import { type ComponentProps, type ReactNode, useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { useDebounced } from '../graph/find';
import type { Connection } from '../graph/pages';
import { Field } from './field';
import { type Option, SelectField } from './form';
import { Problem } from './problem';

interface FoundFieldProps<Data, Variables extends AnyVariables, Row>
  extends Omit<ComponentProps<typeof SelectField>, 'options'> {
  query: TypedDocumentNode<Data, Variables>;
  /** What the query asks for: what is sought, or without it the usual list. A search goes with few other filters. */
  variables: (search: string) => NoInfer<Variables>;
  /** The list of an answer; null where it is refused. */
  listOf: (data: Data) => (Pick<Connection<Row>, 'nodes'> & { pageInfo: { hasNextPage: boolean } }) | null;
  /** Whether a row of the list can be chosen. */
  fits?: (row: Row) => boolean;
  /** How a row is called. */
  called: (row: Row) => string;
  /** What the field for a search is called. */
  find: string;
  /** What is chosen already. */
  chosen?: Option | undefined;
  /** What takes the place of the field when the list has nothing to choose. */
  empty?: ReactNode;
  /** Gets the row, too, unless none is chosen. */
  onChange?: (id: string, row?: Row) => void;
}

/** A select of a list that may be longer than what it shows: then a text above it finds the others. */
export function FoundField<Data, Variables extends AnyVariables, Row extends { id: string }>({
  query,
  variables,
  listOf,
  fits = () => true,
  called,
  find,
  chosen: given,
  empty,
  onChange,
  ...field
}: FoundFieldProps<Data, Variables, Row>) {
  const [text, setText] = useState('');
  const search = useDebounced(text);
  const [chosen, setChosen] = useState(given);
  const [{ data, error }] = useQuery({ query, variables: variables(search) });
  const list = data && listOf(data);
  const rows = list?.nodes.filter(fits) ?? [];
  const found = rows.map((row): Option => ({ value: row.id, name: called(row) }));
  const more = list?.pageInfo.hasNextPage ?? false;
  if (error && !list && text === '') return <Problem error={error} />;
  if (empty && list && found.length === 0 && !more && text === '') return empty;
  const all = chosen && found.every(({ value }) => value !== chosen.value) ? [chosen, ...found] : found;
  const choose = (value: string) => {
    setChosen(all.find((option) => option.value === value));
    onChange?.(
      value,
      rows.find(({ id }) => id === value),
    );
  };
  return (
    <>
      {(more || text !== '') && (
        <Field label={find} hint={`${found.length}${more ? ' or more' : ''} found; choose below.`}>
          {(input) => (
            <input
              {...input}
              type="search"
              autoComplete="off"
              value={text}
              onChange={(event) => setText(event.target.value)}
              // The form is sent by its button alone.
              onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            />
          )}
        </Field>
      )}
      <SelectField {...field} defaultValue={given?.value} options={all} onChange={choose} />
    </>
  );
}
