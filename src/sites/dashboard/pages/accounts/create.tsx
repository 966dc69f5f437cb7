import { graphql, type VariablesOf } from '../../graph/graphql';
import { CreatePage } from '../../parts/create-page';
import { useFilters } from '../../parts/filters';
import { CountryField, SelectField, TextField } from '../../parts/form';
import { PageSkeleton } from '../../parts/skeleton';
import { useSession } from '../../session';
import { type PaymentToBill, usePaymentToBill } from '../receivables/from-payment';
import { businessTypes } from './business-types';

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

/** Creates a user of the platform. What is missing for its activation is asked for on its page. */
export function CreateUser() {
  return (
    <CreatePage
      kind="user"
      list={{ href: '/users', name: 'Users' }}
      mutation={CreateUserMutation}
      read={(input: VariablesOf<typeof CreateUserMutation>['input']) => input}
      addressOf={({ createConnectedUser: { account } }) => `/accounts/${account.id}`}
    >
      <div className="fields">
        <TextField name="nickname" label="Name" hint="A short name that no other account has." />
        <TextField name="businessDetails.legalName" label="Legal name" />
        <TextField name="businessDetails.email" label="E-mail" type="email" />
        <SelectField name="businessDetails.type" label="Legal form" none="Choose …" options={businessTypes} />
      </div>
    </CreatePage>
  );
}

type Customer = VariablesOf<typeof CreateCustomerMutation>['input'];

/** Creates a customer of the acting account, also from the payer of a payment, to whose receivable it then leads. */
export function CreateCustomer() {
  const payment = usePaymentToBill();
  return payment === undefined ? <PageSkeleton /> : <CustomerForm payment={payment} />;
}

function CustomerForm({ payment }: { payment: PaymentToBill | null }) {
  const { viewer } = useSession();
  const { params } = useFilters();
  const payer = payment?.bankDetails?.payer;
  const first = viewer.edition === 1;
  return (
    <CreatePage
      kind="customer"
      draft={payment ? `customer:${payment.id}` : 'customer'}
      list={
        payment
          ? { href: `/receivables/new?${params}`, name: 'New receivable' }
          : { href: '/customers', name: 'Customers' }
      }
      mutation={CreateCustomerMutation}
      // The gateway names the details that are missing, unless it gets none at all.
      read={(input: Omit<Customer, 'type'>): Customer => ({
        ...{ ...input, type: 'PARTNER' },
        businessDetails: { legalName: null, ...input.businessDetails },
      })}
      addressOf={({ createAccount: { account } }) =>
        payment ? `/receivables/new?${params}&customer=${account.id}` : `/accounts/${account.id}`
      }
    >
      <div className="fields">
        <TextField name="nickname" label="Name" hint="A short name that no other account has." required={first} />
        <TextField
          name="businessDetails.legalName"
          label="Legal name"
          required
          defaultValue={payer?.name ?? undefined}
        />
        <TextField name="businessDetails.email" label="E-mail" type="email" required={first} />
        <SelectField name="businessDetails.type" label="Legal form" none="Choose …" options={businessTypes} required />
        <TextField name="businessDetails.physicalAddress.line1" label="Street" />
        <TextField name="businessDetails.physicalAddress.city" label="City" />
        <TextField name="businessDetails.physicalAddress.postalCode" label="Postal code" required={!first} />
        <CountryField
          name="businessDetails.physicalAddress.country"
          label="Country"
          required
          defaultValue={payer?.country ?? undefined}
        />
      </div>
    </CreatePage>
  );
}
