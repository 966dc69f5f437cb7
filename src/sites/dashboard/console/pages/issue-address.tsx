import { currencyOf } from '../../format/money';
import { SelectField, TextField } from '../../parts/form';
import { Action } from '../action';
import { graphql } from '../graphql';
import { nameOf } from '../parts';
import type { Account } from './account-query';

const IssueMutation = graphql(`
  mutation IssueAddress($input: IssueAddressInput!) {
    issueAddress(input: $input) { address { id } }
  }
`);

/** Records a live address that a bank has issued for an account. */
export function IssueAddress({ account }: { account: Account }) {
  return (
    <Action
      name="Issue an address"
      small
      title={`Issue an address to ${nameOf(account)}`}
      submit="Issue the address"
      mutation={IssueMutation}
      input={{ accountId: account.id }}
      done="The address is issued."
    >
      <SelectField
        name="category"
        label="For"
        options={[
          { value: 'SERVICE_RECEIVE', name: 'Receiving money' },
          { value: 'SERVICE_FEE_ADVANCE', name: 'Fees in advance' },
        ]}
      />
      <TextField name="currency" label="Currency" placeholder={currencyOf(account.edition)} maxLength={3} required />
      <TextField name="bankAccount.bankName" label="Bank" />
      <TextField name="bankAccount.number" label="Account number" hint="The number, or the IBAN." />
      <TextField name="bankAccount.iban" label="IBAN" />
      <TextField name="bankAccount.domesticCredit" label="Routing code for credits" hint="Such as an IFSC." />
      <TextField name="bankAccount.globalWire" label="SWIFT/BIC" />
    </Action>
  );
}
