import { useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { dayBefore } from '../../format/days';
import { currencies, currencyOf, formatMoney, readAmount } from '../../format/money';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { CreatePage } from '../../parts/create-page';
import { useFilters } from '../../parts/filters';
import { AmountField, SelectField, TextField } from '../../parts/form';
import { PageSkeleton } from '../../parts/skeleton';
import { UploadField } from '../../parts/upload';
import { nameOf, NameFragment, useSession } from '../../session';
import { CustomerField } from './customer-field';
import { type PaymentToBill, referenceIn, sidesOf, textOf, usePaymentToBill } from './from-payment';
import { UserField } from './user-field';

const FormQuery = graphql(`
  query ReceivableForm {
    purposeCodes { code description }
  }
`);

const CustomerQuery = graphql(
  `
    query CustomerOfForm($id: ID!) {
      account(id: $id) { ...Name }
    }
  `,
  [NameFragment],
);

const CreateMutation = graphql(`
  mutation CreateReceivable($input: CreateReceivableInput!) {
    createReceivable(input: $input) { receivable { id } }
  }
`);

type Input = VariablesOf<typeof CreateMutation>['input'];

/**
 * Creates a receivable from an invoice. Made from a payment it is filled in with what the payment says, and leads back
 * to it, where it is chosen.
 */
export function CreateReceivable() {
  const payment = usePaymentToBill();
  return payment === undefined ? <PageSkeleton /> : <ReceivableForm payment={payment} />;
}

function ReceivableForm({ payment }: { payment: PaymentToBill | null }) {
  const { viewer } = useSession();
  const [{ data }] = useQuery({ query: FormQuery });
  const [currency, setCurrency] = useState<string>(payment?.currency ?? currencyOf(viewer.edition));
  const sides = payment && sidesOf(payment);
  const payee = sides?.payee && sides.payee.id !== viewer.account.id ? sides.payee : undefined;
  const [accountId, setAccountId] = useState(payee?.id ?? '');
  return (
    <CreatePage
      kind="receivable"
      list={payment ? { href: payment.back({}), name: 'Payment' } : { href: '/receivables', name: 'Receivables' }}
      mutation={CreateMutation}
      draft={payment ? `receivable:${payment.id}` : 'receivable'}
      // The currency of both is the same, so the form has it once.
      read={(input: Input) => ({ ...input, invoice: { ...input.invoice, currency: input.currency } })}
      addressOf={({
        createReceivable: {
          receivable: { id },
        },
      }) => (payment ? payment.back({ receivable: id }) : `/receivables/${id}`)}
    >
      <fieldset>
        <legend>Invoice</legend>
        {payment && <p className="hint">{paidWords(payment)}</p>}
        <div className="fields">
          {viewer.account.type === 'PLATFORM' && (
            <UserField
              name="accountId"
              label="Owed to"
              none={nameOf(viewer.account)}
              chosen={payee}
              onChange={setAccountId}
            />
          )}
          <Customer payment={payment} accountId={accountId || viewer.account.id} />
          <InvoiceFields payment={payment} currency={currency} onCurrency={setCurrency} />
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

/** What is known of the payment that the receivable is to explain. */
function paidWords(payment: PaymentToBill): string {
  const text = textOf(payment);
  const left = formatMoney({ amount: payment.pendingRest, currency: payment.currency });
  return `${left} of the payment wait for an invoice.${text && ` The bank's text: ${text}`}`;
}

/** Whom the invoice bills; a payer that is no customer yet can be made one, who is then chosen here. */
function Customer({ payment, accountId }: { payment: PaymentToBill | null; accountId: string }) {
  const { viewer } = useSession();
  const { params } = useFilters();
  const newId = params.get('customer');
  const [{ data }] = useQuery({ query: CustomerQuery, variables: { id: newId ?? '' }, pause: newId === null });
  const chosen = newId === null ? payment && sidesOf(payment).payer : data?.account;
  if (newId !== null && !data) return null;
  return (
    <div>
      <CustomerField
        name="customerId"
        accountId={accountId}
        none="Not known"
        hint="Whom the invoice bills."
        chosen={chosen}
      />
      {payment && !chosen && accountId === viewer.account.id && (
        <Link href={`/customers/new?${params}`} className="button small">
          Name the payer as a new customer
        </Link>
      )}
    </div>
  );
}

interface InvoiceFieldsProps {
  payment: PaymentToBill | null;
  currency: string;
  onCurrency: (currency: string) => void;
}

function InvoiceFields({ payment, currency, onCurrency }: InvoiceFieldsProps) {
  const { viewer } = useSession();
  const today = dayBefore(viewer.now, 'UTC', 0);
  return (
    <>
      <TextField
        name="invoice.referenceNumber"
        label="Invoice number"
        required
        defaultValue={payment ? referenceIn(payment) : undefined}
      />
      <SelectField
        name="currency"
        label="Currency"
        defaultValue={currency}
        options={[...new Set([currency, ...currencies])].map((value) => ({ value, name: value }))}
        onChange={onCurrency}
      />
      <AmountField
        name="invoice.amount"
        label="Amount"
        currency={currency}
        required
        defaultValue={payment ? readAmount(payment.pendingRest) : undefined}
      />
      <TextField name="invoice.creationDate" label="Invoice date" type="date" required defaultValue={today} />
      {/* What has been paid was due by now. */}
      <TextField
        name="invoice.dueDate"
        label="Due date"
        type="date"
        required
        defaultValue={payment ? today : undefined}
      />
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
