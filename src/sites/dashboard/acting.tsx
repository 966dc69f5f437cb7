import { UserRoundCog } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useDebounced } from './graph/find';
import { graphql } from './graph/graphql';
import { DialogButton } from './parts/dialog';
import { Field } from './parts/field';
import { Problem } from './parts/problem';
import { Lines } from './parts/skeleton';
import { Status } from './parts/status';
import { nameOf, useSession, NameFragment } from './session';

const UsersQuery = graphql(
  `
    query UsersToActAs($search: String, $type: [AccountType!]) {
      accounts(search: $search, filter: { type: $type }, first: 100) { nodes { ...Name type status } }
    }
  `,
  [NameFragment],
);

/** The button of a platform that lets it see and do what one of its users can. */
export function ActAs() {
  const label = (
    <>
      <UserRoundCog aria-hidden /> Act as a user
    </>
  );
  return (
    <DialogButton title="Act as a user" label={label} className="button small">
      {() => <Users />}
    </DialogButton>
  );
}

function Users() {
  const { actAs } = useSession();
  const [text, setText] = useState('');
  const search = useDebounced(text);
  // A search goes with no other filter.
  const variables = search ? { search } : { type: ['USER' as const] };
  const [{ data, error }] = useQuery({ query: UsersQuery, variables });
  if (!data?.accounts) return error ? <Problem error={error} /> : <Lines count={4} />;
  const users = data.accounts.nodes.filter(({ type }) => type === 'USER');
  return (
    <>
      <p className="hint">You see the lists of this user, and what you do is done for them.</p>
      <Field label="Name">
        {(input) => <input {...input} value={text} onChange={(event) => setText(event.target.value)} autoFocus />}
      </Field>
      <ul className="choices">
        {users.map((user) => (
          <li key={user.id}>
            <button type="button" onClick={() => actAs(user.id)}>
              <span className="clip">{nameOf(user)}</span> <Status value={user.status} />
            </button>
          </li>
        ))}
      </ul>
      {users.length === 0 && <p className="hint">No user has this name.</p>}
    </>
  );
}
