import { useState } from 'react';
import { Link } from 'wouter';
import { currencyOf, formatMoney, hundredths } from '../../format/money';
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
/** What the form asks for; the rest of the input is always the same. */
type Asked = Pick<Input, 'amount'> & { from?: Input['from']; receivables?: string };

/** Creates a checkout: who pays, which invoice, and how much; a platform also says to which of its users. */
export function CreateCheckout() {
  const { viewer } = useSession();
  const currency = currencyOf(viewer.edition);
  const [{ payeeId, customerId }, setSides] = useState({ payeeId: viewer.account.id, customerId: '' });
  return (
    <CreatePage
      kind="checkout"
      list={{ href: '/checkouts', name: 'Checkouts' }}
      mutation={CreateMutation}
      read={({ amount, from, receivables: id }: Asked): Input => ({
        amount,
        currency,
        paymentMethods: ['UPI', 'CARDS'],
        // After the payment the customer comes to the gateway's own start page.
        redirectUrl: `${location.origin}/`,
        // The gateway names the member that is missing, and so its field.
        from: { accountId: from?.accountId ?? '' },
        receivables: id ? [{ id }] : [],
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
            onChange={(id) => setSides({ payeeId: id || viewer.account.id, customerId: '' })}
          />
        )}
        <CustomerField
          name="from.accountId"
          accountId={payeeId}
          none="Choose …"
          required
          activated
          onChange={(id) => setSides({ payeeId, customerId: id })}
        />
        <InvoiceFields key={customerId} {...{ payeeId, customerId, currency }} />
      </div>
    </CreatePage>
  );
}

type Invoice = RowOf<ResultOf<typeof InvoicesQuery>['receivables']>;

interface Sides {
  payeeId: string;
  customerId: string;
  currency: string;
}

/**
 * The invoice that is collected, and how much of it: one that bills the customer, or that does not say whom it bills.
 */
function InvoiceFields({ payeeId, customerId, currency }: Sides) {
  const [chosen, setChosen] = useState<Invoice>();
  const field = { name: 'receivables', label: 'Invoice', required: true };
  return (
    <>
      {customerId === '' && <SelectField {...field} none="Choose the customer first" options={[]} />}
      {customerId !== '' && (
        <FoundField
          {...field}
          none="Choose …"
          find="Find an invoice"
          query={InvoicesQuery}
          // A search goes with no other filter.
          variables={(search) =>
            search ? { search } : { accountId: payeeId, status: ['OPEN' as const], currency: [currency] }
          }
          listOf={({ receivables }) => receivables}
          fits={({ account, customer, status, currency: billed, amountReconcilable }) =>
            account.id === payeeId &&
            (customer === null || customer.id === customerId) &&
            status === 'OPEN' &&
            billed === currency &&
            hundredths(amountReconcilable) > 0n
          }
          called={({ invoice, currency: billed, amountReconcilable: amount }) =>
            `${invoice.referenceNumber} · ${formatMoney({ amount, currency: billed })} open`
          }
          onChange={(_, invoice) => setChosen(invoice)}
          empty={<NoInvoice currency={currency} />}
        />
      )}
      <AmountField
        // Another invoice has another amount.
        key={chosen?.id}
        name="amount"
        label="Amount"
        required
        currency={currency}
        defaultValue={chosen?.amountReconcilable ?? ''}
        hint="What is open, unless you ask for less."
      />
    </>
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
