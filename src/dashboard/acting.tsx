import { UserRoundCog } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from './graph';
import { DialogButton, Lines, Problem, Status } from './parts';
import { nameOf, useSession, NameFragment } from './session';

const UsersQuery = graphql(
  `
    query UsersToActAs {
      accounts(type: [USER], first: 100) {
        nodes {
          ...Name status
          businessDetails { legalName }
        }
      }
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
  const [{ data, error }] = useQuery({ query: UsersQuery });
  const [filter, setFilter] = useState('');
  if (error) return <Problem error={error} />;
  if (!data) return <Lines count={4} />;
  const matches = data.accounts.nodes.filter((user) => nameOf(user).toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <p className="hint">You see the lists of this user, and what you do is done for them.</p>
      <div className="field">
        <label htmlFor="user-filter">Name</label>
        <input id="user-filter" value={filter} onChange={(event) => setFilter(event.target.value)} autoFocus />
      </div>
      <ul className="choices">
        {matches.map((user) => (
          <li key={user.id}>
            <button type="button" onClick={() => actAs(user.id)}>
              <span className="clip">{nameOf(user)}</span> <Status value={user.status} />
            </button>
          </li>
        ))}
      </ul>
      {matches.length === 0 && <p className="hint">No user has this name.</p>}
    </>
  );
}
