import { useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { formatMoney, hundredths } from '../../format';
import { graphql, type VariablesOf, useSettled } from '../../graph';
import { AmountField, CreatePage, Empty, FoundField, Problem } from '../../parts';
import { useSession } from '../../session';
import { CustomerField } from '../receivables/customer-field';

const InvoicesQuery = graphql(`
  query InvoicesToCollect($search: String, $status: [ReceivableStatus!], $currency: [Currency!]) {
    receivables(search: $search, status: $status, currency: $currency, first: 100) {
      nodes { id currency status amountReconcilable invoice { referenceNumber } }
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

/** Creates a checkout from three fields: who pays, which invoice, and how much. */
export function CreateCheckout() {
  const { viewer } = useSession();
  return (
    <CreatePage
      kind="checkout"
      list={{ href: '/checkouts', name: 'Checkouts' }}
      mutation={CreateMutation}
      read={({ receivables: id, ...input }: Asked): Input => ({
        ...input,
        currency: 'INR',
        paymentMethods: ['UPI', 'CARDS'],
        // After the payment the customer comes to the gateway's own start page.
        redirectUrl: `${location.origin}/`,
        // The gateway names the member that is missing, and so its field.
        from: { accountId: input.from?.accountId ?? '' },
        receivables: id ? [{ id }] : [],
      })}
      addressOf={({ createCheckout: { checkout } }) => `/checkouts/${checkout.id}`}
    >
      <div className="fields">
        <CustomerField name="from.accountId" accountId={viewer.account.id} none="Choose …" required activated />
        <InvoiceFields />
      </div>
    </CreatePage>
  );
}

/** The invoice that is collected, and how much of it. */
function InvoiceFields() {
  const [text, setText] = useState('');
  const search = useSettled(text);
  const [chosen, setChosen] = useState<{ id: string; amount: string }>();
  const [{ data, error }] = useQuery({
    query: InvoicesQuery,
    variables: search ? { search } : { status: ['OPEN'], currency: ['INR'] },
  });
  const open =
    data?.receivables.nodes.filter(
      ({ status, currency, amountReconcilable }) =>
        status === 'OPEN' && currency === 'INR' && hundredths(amountReconcilable) > 0n,
    ) ?? [];
  if (error && !data) return <Problem error={error} />;
  if (data && open.length === 0 && search === '') return <NoInvoice />;
  const choose = (id: string) => {
    const found = open.find((each) => each.id === id);
    if (found || id === '') setChosen(found && { id, amount: found.amountReconcilable });
  };
  return (
    <>
      <FoundField
        name="receivables"
        label="Invoice"
        find="Find an invoice"
        required
        none="Choose …"
        options={open.map(({ id, invoice, currency, amountReconcilable: amount }) => ({
          value: id,
          name: `${invoice.referenceNumber} · ${formatMoney({ amount, currency })} open`,
        }))}
        onChange={choose}
        more={data?.receivables.pageInfo.hasNextPage ?? false}
        text={text}
        onText={setText}
      />
      <AmountField
        // Another invoice has another amount.
        key={chosen?.id}
        name="amount"
        label="Amount"
        required
        currency="INR"
        defaultValue={chosen?.amount ?? ''}
        hint="What is open, unless you ask for less."
      />
    </>
  );
}

function NoInvoice() {
  return (
    <Empty title="No open invoice in INR">
      <p>A checkout collects what a receivable still lacks.</p>
      <Link href="/receivables/new" className="button">
        New receivable
      </Link>
    </Empty>
  );
}
