import { useState } from 'react';
import { pan } from '../../../../formats/india';
import { words } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { useWrite } from '../../graph/write';
import { CheckedField, Form, TextField } from '../../parts/form';
import { UploadField } from '../../parts/upload';
import type { AccountDetail } from './query';

const CreatePersonMutation = graphql(`
  mutation CreatePerson($input: CreatePersonInput!) {
    createPerson(input: $input) {
      person {
        id
        account { id requirements { fieldName } }
      }
    }
  }
`);

type Input = VariablesOf<typeof CreatePersonMutation>['input'];

const allRoles = ['director', 'owner', 'representative'] as const;

interface AddPersonProps {
  accountId: string;
  roles: string[];
  hint: string;
  /** Whether tax cards of the account's persons are those of India. */
  inIndia: boolean;
}

/** The persons of an account with their roles. */
export function PersonList({ persons }: { persons: readonly RowOf<AccountDetail['persons']>[] }) {
  return (
    <ul className="persons">
      {persons.map(({ id, fullName, relationship }) => (
        <li key={id}>
          <strong>{fullName}</strong>
          <span className="hint">
            {Object.entries(relationship)
              .filter(([, held]) => held === true)
              .map(([role]) => words(role))
              .join(', ')}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Adds a person to an account, in the roles that it lacks. */
export function AddPerson({ accountId, roles, hint, inIndia }: AddPersonProps) {
  const { write, pending, failure } = useWrite(CreatePersonMutation);
  const [added, setAdded] = useState(0);
  const submit = async ({ fullName, relationship, identification }: Input) => {
    // A box that is not checked is absent from the form.
    const held = Object.fromEntries(allRoles.map((role) => [role, relationship?.[role] !== undefined]));
    const input = { accountId, fullName, relationship: held, ...(identification && { identification }) };
    const made = await write({ input });
    if (made) setAdded(added + 1);
    return made;
  };
  return (
    <Form<Input>
      key={added}
      label="Add a person"
      submit="Add person"
      draft={`person:${accountId}`}
      {...{ pending, failure }}
      onSubmit={submit}
    >
      <p className="hint">{hint}</p>
      <div className="fields">
        <TextField name="fullName" label="Full name" required />
        <div className="field" role="group" aria-label="Roles">
          <span className="label">Roles</span>
          {allRoles.map((role) => (
            <label key={role} className="check">
              <input type="checkbox" name={`relationship.${role}`} defaultChecked={roles.includes(role)} />
              {words(role)}
            </label>
          ))}
        </div>
        <CheckedField
          name="identification.taxCardNumber"
          label={inIndia ? 'Tax card number (PAN)' : 'Tax card number'}
          check={(text) => (inIndia && !pan.holds(text) ? pan.message : undefined)}
        />
        <UploadField
          name="identification.taxCardImage"
          label="Or an image of the tax card"
          purpose="identity_document"
        />
      </div>
    </Form>
  );
}
