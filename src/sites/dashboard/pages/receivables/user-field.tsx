import { graphql, type ResultOf } from '../../graph/graphql';
import { FoundField } from '../../parts/found-field';
import { nameOf, NameFragment } from '../../session';

const UsersQuery = graphql(
  `
    query ActivatedUsers($search: String, $type: [AccountType!], $status: [AccountStatus!]) {
      accounts(search: $search, filter: { type: $type, status: $status }, first: 100) {
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
  required?: boolean;
  /** The user that is chosen already. */
  chosen?: ResultOf<typeof NameFragment> | undefined;
  onChange: (userId: string) => void;
}

/** An activated user of a platform: one of the newest, or one that a search finds by its name or e-mail address. */
export function UserField({ chosen, ...field }: UserFieldProps) {
  return (
    <FoundField
      {...field}
      find="Find a user"
      query={UsersQuery}
      // A search goes with no other filter.
      variables={(search) => (search ? { search } : { type: ['USER' as const], status: ['ACTIVATED' as const] })}
      listOf={({ accounts }) => accounts}
      fits={({ type, status }) => type === 'USER' && status === 'ACTIVATED'}
      called={nameOf}
      chosen={chosen && { value: chosen.id, name: nameOf(chosen) }}
    />
  );
}
