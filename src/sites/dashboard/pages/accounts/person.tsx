import { useState } from 'react';
import { pan } from '../../../../types/india';
import { words } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { CheckedField, Form, TextField } from '../../parts/form';
import { UploadField } from '../../parts/upload';

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

/** The roles that a person can have in an account. */
export const allRoles = ['director', 'owner', 'representative'] as const;

/** The roles of a form, of which a box that is not checked is absent. */
export const held = (relationship: Input['relationship'] | null | undefined) =>
  Object.fromEntries(allRoles.map((role) => [role, relationship?.[role] !== undefined]));

interface AddPersonProps {
  accountId: string;
  roles: string[];
  hint: string;
  /** Whether tax cards of the account's persons are those of India. */
  inIndia: boolean;
}

/** Adds a person to an account, in the roles that it lacks. */
export function AddPerson({ accountId, roles, hint, inIndia }: AddPersonProps) {
  const { write, pending, failure } = useWrite(CreatePersonMutation);
  const [added, setAdded] = useState(0);
  const submit = async ({ fullName, relationship, identification }: Input) => {
    const input = { accountId, fullName, relationship: held(relationship), ...(identification && { identification }) };
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
      <PersonFields roles={roles} inIndia={inIndia} />
    </Form>
  );
}

interface PersonFieldsProps {
  /** The name that was given before. */
  fullName?: string;
  roles: readonly string[];
  inIndia: boolean;
  /** What was given of the tax card before; what stays empty is kept. */
  given?: { taxCardNumber: string | null; hasImage: boolean } | undefined;
}

/** The fields of a person. */
export function PersonFields({ fullName, roles, inIndia, given }: PersonFieldsProps) {
  return (
    <div className="fields">
      <TextField name="fullName" label="Full name" defaultValue={fullName} required />
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
        hint={
          given?.taxCardNumber ? `The number is ${given.taxCardNumber}. Leave the field empty to keep it.` : undefined
        }
        check={(text) => (inIndia && !pan.holds(text) ? pan.message : undefined)}
      />
      <UploadField
        name="identification.taxCardImage"
        label="Or an image of the tax card"
        purpose="identity_document"
        {...(given?.hasImage && { hint: 'An image is stored. Another one replaces it.' })}
      />
    </div>
  );
}
