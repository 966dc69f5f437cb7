import { useState } from 'react';
import { useQuery } from 'urql';
import { dayBefore } from '../../format/days';
import { currencies, currencyOf } from '../../format/money';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { CreatePage } from '../../parts/create-page';
import { AmountField, SelectField, TextField } from '../../parts/form';
import { UploadField } from '../../parts/upload';
import { nameOf, useSession } from '../../session';
import { CustomerField } from './customer-field';
import { UserField } from './user-field';

const FormQuery = graphql(`
  query ReceivableForm {
    purposeCodes { code description }
  }
`);

const CreateMutation = graphql(`
  mutation CreateReceivable($input: CreateReceivableInput!) {
    createReceivable(input: $input) { receivable { id } }
  }
`);

type Input = VariablesOf<typeof CreateMutation>['input'];

/** Creates a receivable from an invoice. The currency of both is the same, so the form has it once. */
export function CreateReceivable() {
  const { viewer } = useSession();
  const [{ data }] = useQuery({ query: FormQuery });
  const [currency, setCurrency] = useState<string>(currencyOf(viewer.edition));
  const [accountId, setAccountId] = useState('');
  return (
    <CreatePage
      kind="receivable"
      list={{ href: '/receivables', name: 'Receivables' }}
      mutation={CreateMutation}
      read={(input: Input) => ({ ...input, invoice: { ...input.invoice, currency: input.currency } })}
      addressOf={({ createReceivable: { receivable } }) => `/receivables/${receivable.id}`}
    >
      <fieldset>
        <legend>Invoice</legend>
        <div className="fields">
          {viewer.account.type === 'PLATFORM' && (
            <UserField name="accountId" label="Owed to" none={nameOf(viewer.account)} onChange={setAccountId} />
          )}
          <CustomerField
            name="customerId"
            accountId={accountId || viewer.account.id}
            none="Not known"
            hint="Whom the invoice bills."
          />
          <InvoiceFields currency={currency} onCurrency={setCurrency} />
        </div>
        <UploadField name="invoice.document" label="Invoice document" purpose="invoice" />
      </fieldset>
      <fieldset>
        <legend>What it is for</legend>
        <div className="fields">
          <PurposeFields codes={data?.purposeCodes ?? []} currency={currency} />
        </div>
      </fieldset>
    </CreatePage>
  );
}

function InvoiceFields({ currency, onCurrency }: { currency: string; onCurrency: (currency: string) => void }) {
  const { viewer } = useSession();
  return (
    <>
      <TextField name="invoice.referenceNumber" label="Invoice number" required />
      <SelectField
        name="currency"
        label="Currency"
        defaultValue={currency}
        options={currencies.map((value) => ({ value, name: value }))}
        onChange={onCurrency}
      />
      <AmountField name="invoice.amount" label="Amount" currency={currency} required />
      <TextField
        name="invoice.creationDate"
        label="Invoice date"
        type="date"
        required
        defaultValue={dayBefore(viewer.now, 'UTC', 0)}
      />
      <TextField name="invoice.dueDate" label="Due date" type="date" required />
    </>
  );
}

interface PurposeProps {
  codes: readonly { code: string; description: string }[];
  currency: string;
}

function PurposeFields({ codes, currency }: PurposeProps) {
  return (
    <>
      <SelectField
        name="transactionType"
        label="Goods or services"
        required
        none="Choose …"
        options={[
          { value: 'GOODS', name: 'Goods' },
          { value: 'SERVICES', name: 'Services' },
        ]}
      />
      <SelectField
        name="purposeCode"
        label="Purpose"
        required
        none="Choose …"
        hint="The code of the Reserve Bank of India that describes the transaction."
        options={codes.map(({ code, description }) => ({ value: code, name: `${code} · ${description}` }))}
      />
      <TextField name="description" label="Description" hint="A text of your own." />
      <AmountField
        name="amountMaximumReconcilable"
        label="Amount to be paid here"
        currency={currency}
        hint="Less than the invoice if a part of it is paid elsewhere. Otherwise leave it empty."
      />
    </>
  );
}
