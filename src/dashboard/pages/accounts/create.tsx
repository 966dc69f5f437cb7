import { Link, useLocation } from 'wouter';
import { words } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { Form, SelectField, TextField } from '../../parts/form';
import { Card, Page } from '../../parts/page';

const CreateUserMutation = graphql(`
  mutation CreateUser($input: CreateConnectedUserInput!) {
    createConnectedUser(input: $input) {
      account {
        id
      }
    }
  }
`);

const CreateCustomerMutation = graphql(`
  mutation CreateCustomer($input: CreateAccountInput!) {
    createAccount(input: $input) {
      account {
        id
      }
    }
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
    <Page title="New user" back={{ href: '/users', name: 'Users' }}>
      <Card>
        <Form
          label="New user"
          submit="Create user"
          {...{ pending, failure }}
          onSubmit={submit}
          actions={<Cancel to="/users" />}
        >
          <div className="fields">
            <TextField name="nickname" label="Name" hint="A short name that no other account has." />
            <TextField name="businessDetails.legalName" label="Legal name" />
            <TextField name="businessDetails.email" label="E-mail" type="email" />
            <SelectField name="businessDetails.type" label="Legal form" none="Choose …" options={businessTypes} />
          </div>
        </Form>
      </Card>
    </Page>
  );
}

/** Creates a customer of the acting account. */
export function CreateCustomer() {
  const [, go] = useLocation();
  const { write, pending, failure } = useWrite(CreateCustomerMutation);
  const submit = async (input: Omit<VariablesOf<typeof CreateCustomerMutation>['input'], 'type'>) => {
    // The gateway names details that are missing one by one, so it gets the details even when all are empty.
    const made = await write({ input: { ...input, businessDetails: input.businessDetails ?? {}, type: 'PARTNER' } });
    if (made) go(`/accounts/${made.createAccount.account.id}`);
  };
  return (
    <Page title="New customer" back={{ href: '/customers', name: 'Customers' }}>
      <Card>
        <Form
          label="New customer"
          submit="Create customer"
          {...{ pending, failure }}
          onSubmit={submit}
          actions={<Cancel to="/customers" />}
        >
          <div className="fields">
            <TextField name="nickname" label="Name" hint="A short name that no other account has." />
            <TextField name="businessDetails.legalName" label="Legal name" />
            <TextField name="businessDetails.email" label="E-mail" type="email" />
            <SelectField name="businessDetails.type" label="Legal form" none="Choose …" options={businessTypes} />
            <TextField name="businessDetails.physicalAddress.line1" label="Street" />
            <TextField name="businessDetails.physicalAddress.city" label="City" />
            <TextField name="businessDetails.physicalAddress.postalCode" label="Postal code" />
            <TextField name="businessDetails.physicalAddress.country" label="Country" hint="Two letters, such as US." />
          </div>
        </Form>
      </Card>
    </Page>
  );
}

function Cancel({ to }: { to: string }) {
  return (
    <Link href={to} className="button">
      Cancel
    </Link>
  );
}
