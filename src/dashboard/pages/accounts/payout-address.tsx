import { useState } from 'react';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { wrongKey } from '../../graph/with-key';
import { useWrite } from '../../graph/write';
import { Form, TextField } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { useSession } from '../../session';

const CreateAddressMutation = graphql(`
  mutation CreatePayoutAddress($input: CreateAddressInput!) {
    createAddress(input: $input) {
      address {
        id
        account {
          id
          requirements {
            fieldName
          }
        }
      }
    }
  }
`);

type Input = VariablesOf<typeof CreateAddressMutation>['input'];

/**
 * Adds the bank account that an account is paid out to. No session may do this, so that a stolen one cannot redirect
 * payouts: the form asks for an API key, sends it once and forgets it.
 */
export function PayoutAddress({ accountId, hint }: { accountId: string; hint: string }) {
  const { viewer } = useSession();
  const { write, pending, failure } = useWrite(CreateAddressMutation);
  const [fault, setFault] = useState<string>();
  const submit = async ({ apiKey = '', ...input }: Input & { apiKey?: string }) => {
    const wrong = wrongKey(apiKey, viewer.mode);
    setFault(wrong);
    if (wrong !== undefined) return;
    const fixed = {
      category: 'USER_PAYOUT',
      type: 'BANK_ACCOUNT',
      linkedId: accountId,
      linkedObject: 'ACCOUNT',
    } as const;
    await write({ input: { ...input, ...fixed } }, apiKey);
  };
  return (
    <Form<Input & { apiKey?: string }>
      label="Add a payout account"
      submit="Add bank account"
      {...{ pending, failure }}
      onSubmit={submit}
    >
      <fieldset>
        <legend>Bank account for payouts</legend>
        <p className="hint">{hint}</p>
        <div className="fields">
          <TextField name="name" label="Account holder" />
          <TextField name="currency" label="Currency" defaultValue="INR" hint="Three letters, such as INR." />
          <TextField name="bankAccount.number" label="Account number" />
          <TextField name="bankAccount.bankName" label="Bank" />
          {viewer.edition === 1 ? (
            <TextField name="bankAccount.domesticCredit" label="Routing code (IFSC)" />
          ) : (
            <>
              <TextField name="bankAccount.iban" label="Or IBAN" />
              <TextField name="bankAccount.globalWire" label="SWIFT/BIC code" />
            </>
          )}
          <TextField name="billingDetails.line1" label="Street" />
          <TextField name="billingDetails.city" label="City" />
          <TextField name="billingDetails.state" label="State" />
          <TextField name="billingDetails.postalCode" label="Postal code" />
          <TextField name="billingDetails.country" label="Country" hint="Two letters, such as IN." />
          <TextField
            name="apiKey"
            type="password"
            label="Secret key"
            hint="Where money goes is changed with a key, not with a session. The key is sent once and not kept."
          />
        </div>
        {fault !== undefined && <Problem error={{ messages: [fault], fields: {} }} />}
      </fieldset>
    </Form>
  );
}
