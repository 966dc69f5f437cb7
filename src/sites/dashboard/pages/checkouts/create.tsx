import { useState } from 'react';
import { flushSync } from 'react-dom';
import { Link } from 'wouter';
import { currencyOf, formatMoney, hundredths, type Most, sum } from '../../format/money';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { CreatePage } from '../../parts/create-page';
import { Empty } from '../../parts/empty';
import { AmountField, SelectField } from '../../parts/form';
import { FoundField } from '../../parts/found-field';
import { useSession } from '../../session';
import { CustomerField } from '../receivables/customer-field';
import { UserField } from '../receivables/user-field';

const InvoicesQuery = graphql(`
  query InvoicesToCollect($accountId: ID, $search: String, $status: [ReceivableStatus!], $currency: [Currency!]) {
    receivables(filter: { accountId: $accountId, status: $status, currency: $currency }, search: $search, first: 100) {
      nodes { id currency status amountReconcilable account { id } customer { id } invoice { referenceNumber } }
      pageInfo { hasNextPage }
    }
  }
`);

const CreateMutation = graphql(`
  mutation CreateCheckout($input: CreateCheckoutInput!) {
    createCheckout(input: $input) { checkout { id } }
  }
`);

type Input = VariablesOf<typeof CreateMutation>['input'];
/** What the form asks for by its fields; the rest of the input is chosen beside them, or always the same. */
type Asked = Pick<Input, 'amount'> & { from?: Input['from']; expiresInSeconds?: string };
type Invoice = RowOf<ResultOf<typeof InvoicesQuery>['receivables']>;
type Method = Input['paymentMethods'][number];

const methods: readonly (readonly [Method, string])[] = [
  ['UPI', 'UPI'],
  ['CARDS', 'Cards'],
];

const day = 86_400;
/** For how long the link works, by seconds. */
const times = [1, 3, 7, 30].map((days) => ({ value: String(days * day), name: days === 1 ? 'A day' : `${days} days` }));

/** Creates a checkout: who pays, which invoices, how much and how; a platform also says to which of its users. */
export function CreateCheckout() {
  const { viewer } = useSession();
  const currency = currencyOf(viewer.edition);
  const [{ payeeId, customerId }, setSides] = useState({ payeeId: viewer.account.id, customerId: '' });
  const [invoices, setInvoices] = useState<readonly Invoice[]>([]);
  const [chosen, setChosen] = useState<readonly Method[]>(methods.map(([method]) => method));
  const choose = (sides: { payeeId: string; customerId: string }) => {
    setSides(sides);
    setInvoices([]);
  };
  return (
    <CreatePage
      kind="checkout"
      list={{ href: '/checkouts', name: 'Checkouts' }}
      mutation={CreateMutation}
      read={({ amount, from, expiresInSeconds }: Asked): Input => ({
        amount,
        ...(expiresInSeconds && { expiresInSeconds: Number(expiresInSeconds) }),
        currency,
        paymentMethods: [...chosen],
        // After the payment the customer comes to the gateway's own start page.
        redirectUrl: `${location.origin}/`,
        // The gateway names the member that is missing, and so its field.
        from: { accountId: from?.accountId ?? '' },
        receivables: invoices.map(({ id }) => ({ id })),
      })}
      addressOf={({ createCheckout: { checkout } }) => `/checkouts/${checkout.id}`}
    >
      <div className="fields">
        {viewer.account.type === 'PLATFORM' && (
          <UserField
            name="payee"
            label="Received by"
            required
            none="Choose …"
            onChange={(id) => choose({ payeeId: id || viewer.account.id, customerId: '' })}
          />
        )}
        <CustomerField
          name="from.accountId"
          accountId={payeeId}
          none="Choose …"
          required
          activated
          onChange={(id) => choose({ payeeId, customerId: id })}
        />
        <InvoiceFields
          key={customerId}
          {...{ payeeId, customerId, currency }}
          chosen={invoices}
          onChange={setInvoices}
        />
        <MethodFields chosen={chosen} onChange={setChosen} />
        <SelectField name="expiresInSeconds" label="Can be paid for" none="The usual time" options={times} />
      </div>
    </CreatePage>
  );
}

interface MethodFieldsProps {
  chosen: readonly Method[];
  onChange: (methods: readonly Method[]) => void;
}

/** The methods that the payment page offers, at least one. */
function MethodFields({ chosen, onChange }: MethodFieldsProps) {
  const tick = (method: Method, to: boolean) =>
    onChange(methods.map(([each]) => each).filter((each) => (each === method ? to : chosen.includes(each))));
  return (
    <fieldset className="field">
      <legend>Can be paid by</legend>
      {methods.map(([method, name]) => (
        <label className="check" key={method}>
          <input
            type="checkbox"
            checked={chosen.includes(method)}
            disabled={chosen.length === 1 && chosen[0] === method}
            onChange={(event) => tick(method, event.target.checked)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

interface InvoiceFieldsProps {
  payeeId: string;
  customerId: string;
  currency: string;
  chosen: readonly Invoice[];
  onChange: (invoices: readonly Invoice[]) => void;
}

/**
 * The invoices that are collected, in the order in which a payment counts towards them, and how much of them: those
 * that bill the customer, or that do not say whom they bill.
 */
function InvoiceFields({ payeeId, customerId, currency, chosen, onChange }: InvoiceFieldsProps) {
  const isChosen = (id: string) => chosen.some((each) => each.id === id);
  const more = chosen.length > 0;
  const field = { name: 'receivables', label: more ? 'Another invoice' : 'Invoice', required: !more };
  return (
    <>
      {more && <Chosen invoices={chosen} onRemove={(id) => onChange(chosen.filter((each) => each.id !== id))} />}
      {customerId === '' && <SelectField {...field} none="Choose the customer first" options={[]} />}
      {customerId !== '' && (
        <FoundField
          {...field}
          // What was chosen stands above, and the field is for the next one.
          key={chosen.length}
          none={more ? 'None' : 'Choose …'}
          find="Find an invoice"
          query={InvoicesQuery}
          // A search goes with no other filter.
          variables={(search) =>
            search ? { search } : { accountId: payeeId, status: ['OPEN' as const], currency: [currency] }
          }
          listOf={({ receivables }) => receivables}
          fits={({ id, account, customer, status, currency: billed, amountReconcilable }) =>
            account.id === payeeId &&
            !isChosen(id) &&
            (customer === null || customer.id === customerId) &&
            status === 'OPEN' &&
            billed === currency &&
            hundredths(amountReconcilable) > 0n
          }
          called={nameOfInvoice}
          onChange={(_, invoice) => invoice && onChange([...chosen, invoice])}
          empty={more ? <p className="hint">There is no other open invoice.</p> : <NoInvoice currency={currency} />}
        />
      )}
      <AmountField
        most={more ? mostOf(chosen, currency) : undefined}
        // Other invoices have another amount.
        key={chosen.map(({ id }) => id).join()}
        name="amount"
        label="Amount"
        required
        currency={currency}
        defaultValue={more ? openOf(chosen) : ''}
        hint="What is open, unless you ask for less."
      />
    </>
  );
}

const openOf = (invoices: readonly Invoice[]) => sum(invoices.map(({ amountReconcilable }) => amountReconcilable));

/** How much is open of the invoices. */
function mostOf(invoices: readonly Invoice[], currency: string): Most {
  const amount = openOf(invoices);
  const names = invoices.map(({ invoice }) => invoice.referenceNumber).join(', ');
  return { amount, words: `At most ${formatMoney({ amount, currency })} is open on ${names}.` };
}

const nameOfInvoice = ({ invoice, currency, amountReconcilable: amount }: Invoice): string =>
  `${invoice.referenceNumber} · ${formatMoney({ amount, currency })} open`;

function Chosen({ invoices, onRemove }: { invoices: readonly Invoice[]; onRemove: (id: string) => void }) {
  const remove = (id: string, form: HTMLFormElement | null) => {
    flushSync(() => onRemove(id));
    // The draft of the form is kept without it.
    form?.dispatchEvent(new Event('input', { bubbles: true }));
  };
  return (
    <ul
      className="chosen-invoices"
      aria-label="Invoices of the checkout"
      data-chosen-for="receivables"
      data-chosen={invoices.map(({ id }) => id).join('\n')}
    >
      {invoices.map((invoice) => (
        <li key={invoice.id}>
          <span>{nameOfInvoice(invoice)}</span>
          <button
            type="button"
            className="button small"
            onClick={(event) => remove(invoice.id, event.currentTarget.form)}
          >
            Remove<span className="unseen"> {invoice.invoice.referenceNumber}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function NoInvoice({ currency }: { currency: string }) {
  return (
    <Empty title={`This customer has no open invoice in ${currency}`}>
      <p>A checkout collects what a receivable still lacks.</p>
      <Link href="/receivables/new" className="button">
        New receivable
      </Link>
    </Empty>
  );
}
