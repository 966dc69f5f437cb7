import { ifsc } from '../../../../formats/india';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { CheckedField, CountryField, Form, TextField } from '../../parts/form';
import { useSession } from '../../session';

const CreateAddressMutation = graphql(`
  mutation CreatePayoutAddress($input: CreateAddressInput!) {
    createAddress(input: $input) {
      address {
        id
        account { id requirements { fieldName } }
      }
    }
  }
`);

type Input = VariablesOf<typeof CreateAddressMutation>['input'];

interface PayoutAddressProps {
  accountId: string;
  hint: string;
  onDone?: () => void;
}

/** Adds the bank account that an account is paid out to. A stolen session could redirect payouts, so it takes a key. */
export function PayoutAddress({ accountId, hint, onDone }: PayoutAddressProps) {
  const { viewer } = useSession();
  const { write, pending, failure } = useWrite(CreateAddressMutation);
  const submit = async (input: Input, apiKey?: string) => {
    const fixed = {
      category: 'USER_PAYOUT',
      type: 'BANK_ACCOUNT',
      linkedId: accountId,
      linkedObject: 'ACCOUNT',
    } as const;
    // The gateway names the details that are missing, unless it gets none at all.
    const bankAccount = { number: null, ...input.bankAccount };
    const billingDetails = { line1: null, ...input.billingDetails };
    if (await write({ input: { ...input, ...fixed, bankAccount, billingDetails } }, apiKey)) onDone?.();
  };
  const first = viewer.edition === 1;
  return (
    <Form<Input>
      label="Add a payout account"
      submit="Add bank account"
      withKey
      {...{ pending, failure }}
      onSubmit={submit}
    >
      <p className="hint">{hint}</p>
      <div className="fields">
        <TextField name="name" label="Account holder" required />
        <TextField name="currency" label="Currency" defaultValue="INR" hint="Three letters, such as INR." required />
        <TextField
          name="bankAccount.number"
          label="Account number"
          required={first}
          hint={first ? undefined : 'Or give the IBAN.'}
        />
        {first ? (
          <>
            <CheckedField
              name="bankAccount.domesticCredit"
              label="Routing code (IFSC)"
              check={(text) => (ifsc.holds(text) ? undefined : ifsc.message)}
              required
            />
            <TextField name="bankAccount.bankName" label="Bank" />
          </>
        ) : (
          <>
            <TextField name="bankAccount.iban" label="IBAN" hint="Instead of the account number." />
            <TextField name="bankAccount.bankName" label="Bank" hint="Or give the SWIFT/BIC code." />
            <TextField name="bankAccount.globalWire" label="SWIFT/BIC code" hint="Instead of the name of the bank." />
          </>
        )}
        <TextField name="billingDetails.line1" label="Street of the holder" />
        <TextField name="billingDetails.city" label="City" />
        <TextField name="billingDetails.state" label="State" />
        <TextField name="billingDetails.postalCode" label="Postal code" />
        <CountryField name="billingDetails.country" label="Country" />
      </div>
    </Form>
  );
}
