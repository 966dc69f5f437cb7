import { words } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { ActionButton } from '../../parts/action';
import { isInIndia } from './numbers';
import { allRoles, held, PersonFields } from './person';
import type { AccountDetail } from './query';

const UpdateMutation = graphql(`
  mutation UpdatePerson($input: UpdatePersonInput!) {
    updatePerson(input: $input) {
      person {
        id fullName
        account { id requirements { fieldName } }
      }
    }
  }
`);

const RemoveMutation = graphql(`
  mutation RemovePerson($input: RemovePersonInput!) {
    removePerson(input: $input) {
      person {
        id
        account { id requirements { fieldName } }
      }
    }
  }
`);

type Person = RowOf<AccountDetail['persons']>;
type Input = Omit<VariablesOf<typeof UpdateMutation>['input'], 'id'>;

const rolesOf = ({ relationship }: Person) => allRoles.filter((role) => relationship[role]);

/** The persons of an account with their roles. Those of a draft can be changed and removed. */
export function PersonList({ account }: { account: AccountDetail }) {
  return (
    <ul className="persons">
      {account.persons?.nodes.map((person) => (
        <li key={person.id}>
          <strong>{person.fullName}</strong>
          <span className="hint">{rolesOf(person).map(words).join(', ')}</span>
          {account.status === 'DRAFT' && (
            <span className="row-actions">
              <EditPerson person={person} inIndia={isInIndia(account.businessDetails)} />
              <RemovePerson person={person} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function EditPerson({ person, inIndia }: { person: Person; inIndia: boolean }) {
  const { id, fullName, identification } = person;
  return (
    <ActionButton
      name="Edit"
      about={fullName}
      title={`Edit ${fullName}`}
      small
      submit="Save"
      mutation={UpdateMutation}
      // An empty name is no name: absent, it would stay as it was.
      read={({ fullName: name, relationship, identification: card }: Input) => ({
        ...{ id, fullName: name ?? '', relationship: held(relationship) },
        ...(card && { identification: card }),
      })}
    >
      <PersonFields
        fullName={fullName}
        roles={rolesOf(person)}
        inIndia={inIndia}
        given={{ taxCardNumber: identification.taxCardNumber, hasImage: identification.taxCardImage !== null }}
      />
    </ActionButton>
  );
}

function RemovePerson({ person: { id, fullName } }: { person: Person }) {
  return (
    <ActionButton
      name="Remove"
      about={fullName}
      title={`Remove ${fullName}?`}
      small
      danger
      submit="Remove person"
      mutation={RemoveMutation}
      read={() => ({ id })}
    >
      <p className="hint">The account then has this person in no role. You can add the person again.</p>
    </ActionButton>
  );
}
