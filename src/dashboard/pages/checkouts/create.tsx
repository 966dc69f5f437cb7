import { useState } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation } from 'wouter';
import { formatMoney, hundredths } from '../../format';
import { graphql, type ResultOf, useWrite, type VariablesOf } from '../../graph';
import { AmountField, Card, Empty, Form, Lines, Page, Problem, SelectField } from '../../parts';
import { nameOf, NameFragment } from '../../session';

const FormQuery = graphql(
  `
    query CheckoutForm {
      accounts(type: [PARTNER], status: [ACTIVATED], first: 100) { nodes { ...Name } }
      receivables(status: [OPEN], currency: ["INR"], first: 100) {
        nodes {
          id currency description amountReconcilable
          invoice { referenceNumber }
        }
      }
    }
  `,
  [NameFragment],
);

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
  const [{ data, error }] = useQuery({ query: FormQuery });
  const open = data?.receivables.nodes.filter(({ amountReconcilable }) => hundredths(amountReconcilable) > 0n);
  return (
    <Page title="New checkout" back={{ href: '/checkouts', name: 'Checkouts' }}>
      <Card>
        {error && !data && <Problem error={error} />}
        {!data && !error && <Lines count={5} />}
        {open?.length === 0 && (
          <Empty title="No open invoice in INR">
            <p>A checkout collects what a receivable still lacks.</p>
            <Link href="/receivables/new" className="button">
              New receivable
            </Link>
          </Empty>
        )}
        {data && open && open.length > 0 && <CheckoutForm customers={data.accounts.nodes} receivables={open} />}
      </Card>
    </Page>
  );
}

type Answer = ResultOf<typeof FormQuery>;

interface CheckoutFormProps {
  customers: Answer['accounts']['nodes'];
  receivables: Answer['receivables']['nodes'];
}

function CheckoutForm({ customers, receivables }: CheckoutFormProps) {
  const [, go] = useLocation();
  const { write, pending, failure } = useWrite(CreateMutation);
  const submit = async ({ receivables: id, ...input }: Asked) => {
    const fixed: Pick<Input, 'currency' | 'paymentMethods' | 'redirectUrl'> = {
      currency: 'INR',
      paymentMethods: ['UPI', 'CARDS'],
      // After the payment the customer comes to the gateway's own start page.
      redirectUrl: `${location.origin}/`,
    };
    // The gateway names the member that is missing, and so its field.
    const from = { accountId: input.from?.accountId ?? '' };
    const made = await write({ input: { ...input, ...fixed, from, receivables: id ? [{ id }] : [] } });
    if (made) go(`/checkouts/${made.createCheckout.checkout.id}`);
  };
  const cancel = (
    <Link href="/checkouts" className="button">
      Cancel
    </Link>
  );
  return (
    <Form<Asked>
      label="New checkout"
      submit="Create checkout"
      {...{ pending, failure }}
      onSubmit={submit}
      actions={cancel}
    >
      <Fields customers={customers} receivables={receivables} />
    </Form>
  );
}

function Fields({ customers, receivables }: CheckoutFormProps) {
  const [chosen, setChosen] = useState('');
  return (
    <div className="fields">
      <SelectField
        name="from.accountId"
        label="Customer"
        required
        none="Choose …"
        options={customers.map((account) => ({ value: account.id, name: nameOf(account) }))}
      />
      <SelectField
        name="receivables"
        label="Invoice"
        required
        none="Choose …"
        onChange={setChosen}
        options={receivables.map(({ id, invoice, currency, amountReconcilable: amount }) => ({
          value: id,
          name: `${invoice.referenceNumber} · ${formatMoney({ amount, currency })} open`,
        }))}
      />
      <AmountField
        // Another invoice has another amount.
        key={chosen}
        name="amount"
        label="Amount"
        required
        currency="INR"
        defaultValue={receivables.find(({ id }) => id === chosen)?.amountReconcilable ?? ''}
        hint="What is open, unless you ask for less."
      />
    </div>
  );
}
