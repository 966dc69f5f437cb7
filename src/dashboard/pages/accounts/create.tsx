import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { words } from '../../format';
import { type Failure, graphql, useWrite, type VariablesOf } from '../../graph';
import { Card, CountryField, Form, Page, SelectField, TextField } from '../../parts';
import { useSession } from '../../session';

const CreateUserMutation = graphql(`
  mutation CreateUser($input: CreateConnectedUserInput!) {
    createConnectedUser(input: $input) { account { id } }
  }
`);

const CreateCustomerMutation = graphql(`
  mutation CreateCustomer($input: CreateAccountInput!) {
    createAccount(input: $input) { account { id } }
  }
`);

const types = ['COMPANY', 'LIMITED_LIABILITY_PARTNERSHIP', 'SOLE_PROPRIETOR', 'INDIVIDUAL', 'PARTNERSHIP', 'BUSINESS'];
const businessTypes = types.map((value) => ({ value, name: words(value) }));

/** Creates a user of the platform. What is missing for its activation is asked for on its page. */
export function CreateUser() {
  const [, go] = useLocation();
  const { write, pending, failure } = useWrite(CreateUserMutation);
  const submit = async (input: VariablesOf<typeof CreateUserMutation>['input']) => {
    const made = await write({ input });
    if (made) go(`/accounts/${made.createConnectedUser.account.id}`);
  };
  return (
    <CreateAccount kind="user" list={{ href: '/users', name: 'Users' }} {...{ pending, failure, submit }}>
      <TextField name="nickname" label="Name" hint="A short name that no other account has." />
      <TextField name="businessDetails.legalName" label="Legal name" />
      <TextField name="businessDetails.email" label="E-mail" type="email" />
      <SelectField name="businessDetails.type" label="Legal form" none="Choose …" options={businessTypes} />
    </CreateAccount>
  );
}

/** Creates a customer of the acting account. */
export function CreateCustomer() {
  const [, go] = useLocation();
  const { viewer } = useSession();
  const { write, pending, failure } = useWrite(CreateCustomerMutation);
  const submit = async (input: Omit<VariablesOf<typeof CreateCustomerMutation>['input'], 'type'>) => {
    // The gateway names the details that are missing, unless it gets none at all.
    const businessDetails = { legalName: null, ...input.businessDetails };
    const made = await write({ input: { ...input, businessDetails, type: 'PARTNER' } });
    if (made) go(`/accounts/${made.createAccount.account.id}`);
  };
  const first = viewer.edition === 1;
  return (
    <CreateAccount kind="customer" list={{ href: '/customers', name: 'Customers' }} {...{ pending, failure, submit }}>
      <TextField name="nickname" label="Name" hint="A short name that no other account has." required={first} />
      <TextField name="businessDetails.legalName" label="Legal name" required />
      <TextField name="businessDetails.email" label="E-mail" type="email" required={first} />
      <SelectField name="businessDetails.type" label="Legal form" none="Choose …" options={businessTypes} required />
      <TextField name="businessDetails.physicalAddress.line1" label="Street" />
      <TextField name="businessDetails.physicalAddress.city" label="City" />
      <TextField name="businessDetails.physicalAddress.postalCode" label="Postal code" required={!first} />
      <CountryField name="businessDetails.physicalAddress.country" label="Country" required />
    </CreateAccount>
  );
}

interface CreateAccountProps<Input> {
  kind: string;
  list: { href: string; name: string };
  pending: boolean;
  failure: Failure | undefined;
  submit: (input: Input) => Promise<void>;
  children: ReactNode;
}

function CreateAccount<Input>({ kind, list, pending, failure, submit, children }: CreateAccountProps<Input>) {
  const cancel = (
    <Link href={list.href} className="button">
      Cancel
    </Link>
  );
  return (
    <Page title={`New ${kind}`} back={list}>
      <Card>
        <Form<Input>
          label={`New ${kind}`}
          submit={`Create ${kind}`}
          {...{ pending, failure }}
          onSubmit={submit}
          actions={cancel}
        >
          <div className="fields">{children}</div>
        </Form>
      </Card>
    </Page>
  );
}
