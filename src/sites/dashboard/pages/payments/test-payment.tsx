import { useState } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation } from 'wouter';
import { methodsOf } from '../../format/methods';
import { currencyOf } from '../../format/money';
import { words } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { type Failure, useWrite } from '../../graph/write';
import { DialogButton } from '../../parts/dialog';
import { AmountField, Form, SelectField, TextField } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { useMayTest } from '../../parts/test-tools';
import { nameOf, useSession, NameFragment } from '../../session';
import { ReconcileMutation } from './reconcile';
import { CustomerField } from '../receivables/customer-field';
import { UserField } from '../receivables/user-field';
import { complete } from './tools';

const NewestUserQuery = graphql(
  `
    query NewestUser {
      accounts(filter: { type: [USER], status: [ACTIVATED] }, first: 1) { nodes { ...Name } }
    }
  `,
  [NameFragment],
);

const PlacesQuery = graphql(
  `
    query PlacesToPay($payeeId: ID!, $customerId: ID!, $chosen: Boolean!) {
      payee: account(id: $payeeId) {
        ...Name
        addresses(filter: { category: [SERVICE_RECEIVE], status: [ACTIVATED] }, first: 10) { nodes { ...Place } }
      }
      customer: account(id: $customerId) @include(if: $chosen) {
        ...Name
        addresses(filter: { category: [SERVICE_RECEIVE], status: [ACTIVATED] }, first: 5) { nodes { ...Place } }
      }
    }
  `,
  [
    NameFragment,
    graphql(`
      fragment Place on Address { id currency bankAccount { number iban } }
    `),
  ],
);

const PayMutation = graphql(`
  mutation CreateTestPayment($input: CreateDepositInput!) {
    createDeposit(input: $input) { deposit { id status } }
  }
`);

type Input = VariablesOf<typeof PayMutation>['input'];

/** A receivable that a payment is to pay. */
interface Paid {
  id: string;
  amount: string;
  currency: string;
  reference: string;
}

interface TestPaymentProps {
  /** Who receives; without it the viewer chooses. */
  payeeId?: string | undefined;
  /** Who pays; without it the viewer chooses. */
  customerId?: string | undefined;
  /** What it pays. */
  receivable?: Paid;
}

/** A button that plays a payment of a customer: the sandbox has no customers of its own that could pay. */
export function TestPayment({ name, small, ...sides }: TestPaymentProps & { name: string; small?: boolean }) {
  if (!useMayTest()) return null;
  return (
    <DialogButton title={name} label={`${name} …`} className={`button${small ? ' small' : ''}`}>
      {(close) => <Payee {...sides} onClose={close} />}
    </DialogButton>
  );
}

type StepProps = TestPaymentProps & { onClose: () => void };

/** Who receives: the acting account, or for a platform one of its users. */
function Payee({ payeeId: given, ...sides }: StepProps) {
  const { viewer } = useSession();
  const choose = given === undefined && viewer.account.type === 'PLATFORM';
  const [{ data, error }] = useQuery({ query: NewestUserQuery, pause: !choose });
  const newest = data?.accounts?.nodes[0];
  const [chosen, setChosen] = useState<string>();
  const payeeId = choose ? (chosen ?? newest?.id) : (given ?? viewer.account.id);
  if (error) return <Problem error={error} />;
  if (choose && data && !newest) return <p className="hint">Activate a user first: it receives the payment.</p>;
  if (payeeId === undefined) return <Lines count={5} />;
  return (
    <>
      {choose && newest && <UserField name="payee" label="Received by" chosen={newest} onChange={setChosen} />}
      <PayForm key={payeeId} payeeId={payeeId} {...sides} />
    </>
  );
}

interface Asked {
  from?: string;
  to: string;
  amount: Input['amount'];
  currency: string;
  paymentMethod: NonNullable<Input['paymentMethod']>;
  statementDescriptor?: string;
}

function NoPlace({ payee }: { payee: string }) {
  return <p className="hint">{payee} has no receiving address yet. It gets one some seconds after it was activated.</p>;
}

function PayForm({ payeeId, customerId, receivable, onClose }: StepProps & { payeeId: string }) {
  const [, go] = useLocation();
  const pay = useWrite(PayMutation);
  const finish = useWrite(complete);
  const reconcile = useWrite(ReconcileMutation);
  const [from, setFrom] = useState(customerId ?? '');
  /** The payment that was made and not counted towards the receivable. */
  const [made, setMade] = useState<string>();
  const variables = { payeeId, customerId: from, chosen: from !== '' };
  const [{ data, error }] = useQuery({ query: PlacesQuery, variables });
  const submit = async ({ from: payer, to, ...input }: Asked) => {
    const sides = { ...(payer && { from: { accountId: payer } }), to: { addressId: to } };
    const paid = await pay.write({ input: { ...input, ...sides } });
    if (!paid) return;
    const { id } = paid.createDeposit.deposit;
    if (!receivable) return go(`/payments/${id}`);
    // The bank of the sandbox needs two seconds; it is refused if it was as fast as this.
    await finish.write({ input: { id } });
    const done = await reconcile.write({ input: { id, receivables: [{ id: receivable.id, amount: input.amount }] } });
    if (done) onClose();
    else setMade(id);
  };
  if (made && receivable && reconcile.failure)
    return <NotCounted paymentId={made} reference={receivable.reference} failure={reconcile.failure} />;
  if (!data?.payee) return error ? <Problem error={error} /> : <Lines count={5} />;
  // The addresses at which a customer can pay: its own ones first, then those of the payee.
  const places = [data.customer, data.payee].flatMap((account) =>
    (account?.addresses?.nodes ?? []).map(({ id, currency, bankAccount }) => ({
      value: id,
      name: `${nameOf(account!)} · ${currency} · …${(bankAccount?.number ?? bankAccount?.iban ?? '').slice(-4)}`,
    })),
  );
  if (places.length === 0) return error ? <Problem error={error} /> : <NoPlace payee={nameOf(data.payee)} />;
  return (
    <Form<Asked>
      label="Test payment"
      submit="Pay"
      pending={pay.pending || finish.pending || reconcile.pending}
      failure={pay.failure}
      onSubmit={submit}
    >
      <p className="hint">
        {receivable ? 'It is counted towards the invoice when it has arrived.' : 'It arrives within seconds.'}
      </p>
      <CustomerField
        name="from"
        label="Paid by"
        accountId={payeeId}
        none="A payer who is not known"
        activated
        chosen={data.customer?.id === customerId ? data.customer : null}
        onChange={setFrom}
      />
      <SelectField key={places[0]?.value} name="to" label="Paid to" options={places} />
      <MoneyFields receivable={receivable} />
    </Form>
  );
}

interface NotCountedProps {
  paymentId: string;
  reference: string;
  failure: Failure;
}

/** What the viewer reads of a payment that was made, and whose reconciliation was refused. */
function NotCounted({ paymentId, reference, failure }: NotCountedProps) {
  return (
    <div className="form">
      <p>The payment was made, but it does not count towards {reference}:</p>
      <Problem error={{ ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] }} />
      <div className="form-end">
        <Link href={`/payments/${paymentId}`} className="button primary">
          Open the payment
        </Link>
      </div>
    </div>
  );
}

function MoneyFields({ receivable }: { receivable: Paid | undefined }) {
  const { viewer } = useSession();
  const currencies = [...new Set([currencyOf(viewer.edition), 'USD'])];
  return (
    <>
      <AmountField name="amount" label="Amount" required defaultValue={receivable?.amount} />
      <SelectField
        name="currency"
        label="Currency"
        defaultValue={receivable?.currency}
        options={currencies.map((value) => ({ value, name: value }))}
      />
      <SelectField
        name="paymentMethod"
        label="Method"
        options={methodsOf(viewer.edition).map((value) => ({ value, name: words(value) }))}
      />
      <TextField
        name="statementDescriptor"
        label="Text of the payment"
        hint="With the number of an invoice, that invoice is suggested when you reconcile it."
        defaultValue={receivable?.reference}
      />
    </>
  );
}
