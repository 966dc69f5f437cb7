import { useState } from 'react';
import { useQuery } from 'urql';
import { useDebounced } from '../graph/find';
import { graphql } from '../graph/graphql';
import { nameOf, NameFragment } from '../session';
import { Chip, Opening, useUsed } from './chips';
import { Field } from './field';
import { useFilters } from './filters';
import { useChoose } from './orders';
import { Problem } from './problem';
import { Lines } from './skeleton';

const FoundQuery = graphql(
  `
    query AccountsToFilterBy($search: String, $type: [AccountType!]) {
      accounts(search: $search, filter: { type: $type }, scope: DESCENDANTS, first: 25) {
        nodes { ...Name type }
        pageInfo { hasNextPage }
      }
    }
  `,
  [NameFragment],
);

const ChosenQuery = graphql('query AccountOfFilter($id: ID!) { account(id: $id) { ...Name } }', [NameFragment]);

interface AccountFilterProps {
  label: string;
  name: string;
  type: 'USER' | 'PARTNER';
}

/** A filter by an account, which is found by its name: a customer, or a user of a platform. */
export function AccountFilter({ label, name, type }: AccountFilterProps) {
  const { params } = useFilters();
  const choose = useChoose();
  const used = useUsed(name);
  const id = params.get(name) ?? '';
  const [{ data }] = useQuery({ query: ChosenQuery, variables: { id }, pause: !used });
  const said = data?.account ? nameOf(data.account) : '…';
  return (
    <Chip label={label} name={name} used={used} onRemove={() => choose(name, { [name]: null })}>
      <Opening label={label} said={used ? said : undefined}>
        {(close) => (
          <Found
            type={type}
            label={label}
            onChoose={(chosen) => {
              close();
              choose(name, { [name]: chosen });
            }}
          />
        )}
      </Opening>
    </Chip>
  );
}

interface FoundProps {
  type: AccountFilterProps['type'];
  label: string;
  onChoose: (id: string) => void;
}

function Found({ type, label, onChoose }: FoundProps) {
  const [text, setText] = useState('');
  const search = useDebounced(text);
  // A search goes with no other filter.
  const [{ data, error }] = useQuery({ query: FoundQuery, variables: search ? { search } : { type: [type] } });
  const accounts = data?.accounts?.nodes.filter((account) => account.type === type);
  return (
    <div className="chip-find">
      <Field label={`Name of the ${label.toLowerCase()}`}>
        {(input) => <input {...input} value={text} onChange={(event) => setText(event.target.value)} autoFocus />}
      </Field>
      {!accounts && (error ? <Problem error={error} /> : <Lines count={3} />)}
      <ul className="choices">
        {accounts?.map((account) => (
          <li key={account.id}>
            <button type="button" onClick={() => onChoose(account.id)}>
              {nameOf(account)}
            </button>
          </li>
        ))}
      </ul>
      {accounts?.length === 0 && <p className="hint">No account has this name.</p>}
      {data?.accounts?.pageInfo.hasNextPage && <p className="hint">Type a name to find the others.</p>}
    </div>
  );
}
