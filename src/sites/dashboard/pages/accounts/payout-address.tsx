import { useState } from 'react';
import { ifsc } from '../../../../types/india';
import { currencies } from '../../format/money';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { type Failure, useWrite } from '../../graph/write';
import { useCopied } from '../../parts/facts';
import { CheckedField, CountryField, Form, SelectField, TextField } from '../../parts/form';
import { nameOf, useSession } from '../../session';
import type { RowOf } from '../../graph/pages';
import type { AccountDetail } from './query';

type Address = RowOf<AccountDetail['addresses']>;

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
/** What the form asks for: the number of the account is typed twice. */
type Asked = Input & { bankAccount?: { numberAgain?: string } };

interface PayoutAddressProps {
  account: AccountDetail;
  hint: string;
  /** The address that the new one replaces: the form begins with its details. */
  replaced?: Address;
  onDone?: () => void;
}

/** What the address of an account's page has when its form for a payout account is to be open. */
export const payoutAccount = 'payout-account';

/** The currencies of payout addresses, as in the gateway's src/editions; in Edition 2 the API takes others, too. */
const currenciesOf = (edition: number): readonly string[] =>
  edition === 1 ? ['INR'] : ['INR', ...currencies.filter((each) => each !== 'INR')];

const plain = (number: string | null | undefined) => (number ?? '').replaceAll(/[\s-]/g, '').toUpperCase();

/** Why an account number is not sent: both fields have to have the same one. */
function differing({ bankAccount }: Asked): Failure | undefined {
  if (plain(bankAccount?.number) === plain(bankAccount?.numberAgain)) return undefined;
  const words = 'Both account numbers have to be the same. A payout to a wrong one does not arrive.';
  return { messages: [], fields: { 'bankAccount.numberAgain': words } };
}

/** Adds the bank account that an account is paid out to. A stolen session could redirect payouts, so it takes a key. */
export function PayoutAddress({ account, hint, replaced, onDone }: PayoutAddressProps) {
  const { viewer } = useSession();
  const { write, pending, failure } = useWrite(CreateAddressMutation);
  const [fault, setFault] = useState<Failure>();
  const submit = async (asked: Asked, apiKey?: string) => {
    const found = differing(asked);
    setFault(found);
    if (found) return undefined;
    const { numberAgain: _, ...given } = asked.bankAccount ?? {};
    const fixed = {
      category: 'USER_PAYOUT',
      type: 'BANK_ACCOUNT',
      linkedId: account.id,
      linkedObject: 'ACCOUNT',
    } as const;
    // The gateway names the details that are missing, unless it gets none at all.
    const bankAccount = { number: null, ...given };
    const billingDetails = { line1: null, ...asked.billingDetails };
    const made = await write({ input: { ...asked, ...fixed, bankAccount, billingDetails } }, apiKey);
    if (made) onDone?.();
    return made;
  };
  return (
    <Form<Asked>
      label="Add a payout account"
      submit="Add bank account"
      withKey
      draft={`payout-account:${replaced?.id ?? account.id}`}
      {...{ pending, failure: fault ?? failure }}
      onSubmit={submit}
    >
      <p className="hint">{hint}</p>
      <div className="fields">
        <BankFields
          first={viewer.edition === 1}
          currencies={currenciesOf(viewer.edition)}
          account={account}
          replaced={replaced}
        />
      </div>
      <WithoutKey accountId={account.id} />
    </Form>
  );
}

interface BankFieldsProps {
  /** Whether it is that of Edition 1, which pays out in INR alone. */
  first: boolean;
  currencies: readonly string[];
  account: AccountDetail;
  replaced: Address | undefined;
}

function BankFields({ first, currencies: allowed, account, replaced }: BankFieldsProps) {
  const { legalName, physicalAddress } = account.businessDetails;
  const { number, domesticCredit, bankName } = replaced?.bankAccount ?? {};
  const [currency, setCurrency] = useState(replaced?.currency ?? 'INR');
  return (
    <>
      <TextField
        name="name"
        label="Account holder"
        defaultValue={replaced?.name ?? legalName ?? nameOf(account)}
        required
      />
      <SelectField
        name="currency"
        label="Currency"
        defaultValue={currency}
        options={allowed.map((value) => ({ value, name: value }))}
        onChange={setCurrency}
        required
      />
      <TextField
        name="bankAccount.number"
        label="Account number"
        defaultValue={number ?? undefined}
        required={first}
        hint={first ? undefined : 'Or give the IBAN.'}
      />
      <TextField name="bankAccount.numberAgain" label="Account number again" required={first} />
      {currency === 'INR' && (
        <CheckedField
          name="bankAccount.domesticCredit"
          label="Routing code (IFSC)"
          defaultValue={domesticCredit ?? undefined}
          check={(text) => (ifsc.holds(text) ? undefined : ifsc.message)}
          required={first}
        />
      )}
      {first ? (
        <TextField name="bankAccount.bankName" label="Bank" defaultValue={bankName ?? undefined} />
      ) : (
        <ForeignBank bank={replaced?.bankAccount ?? null} />
      )}
      <HolderFields at={replaced?.billingDetails ?? physicalAddress} />
    </>
  );
}

/** Where an account is that is paid out to in other currencies than INR. */
function ForeignBank({ bank }: { bank: Address['bankAccount'] }) {
  return (
    <>
      <TextField
        name="bankAccount.iban"
        label="IBAN"
        defaultValue={bank?.iban ?? undefined}
        hint="Instead of the account number."
      />
      <TextField
        name="bankAccount.bankName"
        label="Bank"
        defaultValue={bank?.bankName ?? undefined}
        hint="Or give the SWIFT/BIC code."
      />
      <TextField
        name="bankAccount.globalWire"
        label="SWIFT/BIC code"
        defaultValue={bank?.globalWire ?? undefined}
        hint="Instead of the name of the bank."
      />
    </>
  );
}

/** Where the holder of the account is. */
function HolderFields({ at }: { at: Address['billingDetails'] }) {
  return (
    <>
      <TextField name="billingDetails.line1" label="Street of the holder" defaultValue={at?.line1 ?? undefined} />
      <TextField name="billingDetails.city" label="City" defaultValue={at?.city ?? undefined} />
      <TextField name="billingDetails.state" label="State" defaultValue={at?.state ?? undefined} />
      <TextField name="billingDetails.postalCode" label="Postal code" defaultValue={at?.postalCode ?? undefined} />
      <CountryField name="billingDetails.country" label="Country" defaultValue={at?.country ?? undefined} />
    </>
  );
}

/**
 * The way for those who have no key: a link to this form, for a person who has one. It carries no details of a bank
 * account, so its author cannot have a wrong one confirmed by the person who opens it.
 */
function WithoutKey({ accountId }: { accountId: string }) {
  const link = `${location.origin}/dashboard/accounts/${accountId}?add=${payoutAccount}`;
  const { copied, copy } = useCopied(link);
  return (
    <p className="hint without-key">
      You have no key? Send a link to this form to a person who has one, and the details of the bank account by another
      way.
      <button type="button" className="button small" onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy the link'}
      </button>
      <span className="unseen" role="status">
        {copied && 'The link is copied.'}
      </span>
    </p>
  );
}
