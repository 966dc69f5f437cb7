import { useState } from 'react';
import { useQuery } from 'urql';
import { useDebounced } from '../graph/find';
import { graphql } from '../graph/graphql';
import { nameOf, NameFragment } from '../session';
import { ChipFind, Found, useChosenId } from './chip-find';

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
  const { id, pause } = useChosenId(name);
  const [{ data }] = useQuery({ query: ChosenQuery, variables: { id }, pause });
  return (
    <ChipFind label={label} name={name} said={data?.account ? nameOf(data.account) : '…'}>
      {(choose) => <FoundAccounts type={type} label={label} onChoose={choose} />}
    </ChipFind>
  );
}

interface FoundAccountsProps {
  type: AccountFilterProps['type'];
  label: string;
  onChoose: (id: string) => void;
}

function FoundAccounts({ type, label, onChoose }: FoundAccountsProps) {
  const [text, setText] = useState('');
  const search = useDebounced(text);
  // A search goes with no other filter.
  const [{ data, error }] = useQuery({ query: FoundQuery, variables: search ? { search } : { type: [type] } });
  const accounts = data?.accounts?.nodes.filter((account) => account.type === type);
  return (
    <Found
      label={`Name of the ${label.toLowerCase()}`}
      text={text}
      onText={setText}
      error={accounts ? undefined : error}
      isLoading={!accounts && !error}
      found={accounts?.map((account) => ({ id: account.id, name: nameOf(account), value: account.id }))}
      onChoose={onChoose}
      none="No account has this name."
      more={data?.accounts?.pageInfo.hasNextPage && 'Type a name to find the others.'}
    />
  );
}
