import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql, type ResultOf, useSettled } from '../../graph';
import { FoundField } from '../../parts';
import { nameOf, NameFragment } from '../../session';

const UsersQuery = graphql(
  `
    query ActivatedUsers($search: String, $type: [AccountType!], $status: [AccountStatus!]) {
      accounts(search: $search, type: $type, status: $status, first: 100) {
        nodes { ...Name type status }
        pageInfo { hasNextPage }
      }
    }
  `,
  [NameFragment],
);

interface UserFieldProps {
  name: string;
  label: string;
  /** The first choice, where none has to be chosen. */
  none?: string;
  /** The user that is chosen already. */
  chosen?: ResultOf<typeof NameFragment>;
  onChange: (userId: string) => void;
}

/** An activated user of a platform: one of the newest, or any that is found by its name or e-mail address. */
export function UserField({ chosen, ...field }: UserFieldProps) {
  const [text, setText] = useState('');
  const search = useSettled(text);
  const [{ data }] = useQuery({
    query: UsersQuery,
    // A search goes with no other filter.
    variables: search ? { search } : { type: ['USER'], status: ['ACTIVATED'] },
  });
  const found = data?.accounts.nodes.filter(({ type, status }) => type === 'USER' && status === 'ACTIVATED') ?? [];
  const all = chosen && found.every(({ id }) => id !== chosen.id) ? [chosen, ...found] : found;
  return (
    <FoundField
      {...field}
      find="Find a user"
      defaultValue={chosen?.id}
      options={all.map((user) => ({ value: user.id, name: nameOf(user) }))}
      more={data?.accounts.pageInfo.hasNextPage ?? false}
      text={text}
      onText={setText}
    />
  );
}
