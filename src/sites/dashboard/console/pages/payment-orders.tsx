import { formatDay } from '../../format/time';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { amountAndStatus, statusColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { SelectField, TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Tabs } from '../../parts/tabs';
import { Action } from '../action';
import { graphql } from '../graphql';
import { pageOf, Payee } from '../parts';
import { useMayAct } from '../session';
import { OrderActions } from './order-actions';
import { type Order, OrdersQuery, type OwnAccount } from './order-query';
import { AddAccount, numberOf, OwnAccounts } from './own-accounts';

const OrderedQuery = graphql(`
  query OrderedPayouts($id: ID!, $after: String) {
    orderedPayouts(id: $id, first: 25, after: $after) {
      nodes {
        id livemode accountId amount currency status bankReference
        account { id nickname businessDetails { legalName } }
        address { id name bankAccount { bankName last4 } }
      }
      next
    }
  }
`);

const CreateMutation = graphql(`
  mutation CreatePaymentOrder($input: CreatePaymentOrderInput!) {
    createPaymentOrder(input: $input) { order { id status } }
  }
`);

type Payout = ResultOf<typeof OrderedQuery>['orderedPayouts']['nodes'][number];

const kinds = [
  ['orders', 'Orders'],
  ['accounts', 'Your accounts'],
] as const;

/** The files by which banks pay payouts: gathered by one operator, approved by another, and given to the bank. */
export function PaymentOrders() {
  const { params, set } = useFilters();
  const shown = params.get('show') ?? 'orders';
  const order = params.get('order');
  const result = useLive(OrdersQuery, { after: order ? null : params.get('after') });
  const accounts = result.data?.ownAccounts ?? [];
  const page = pageOf(result.data?.paymentOrders);
  const mayAct = useMayAct();
  const ofAccounts = shown === 'accounts';
  return (
    <Page
      title={order ? 'Payouts of an order' : 'Payment orders'}
      back={order ? { href: '/payment-orders', name: 'Payment orders' } : undefined}
      subtitle={<p className="hint">Files by which a bank pays payouts, approved by a second operator.</p>}
      actions={ofAccounts ? <AddAccount onDone={result.ask} /> : <Create accounts={accounts} onDone={result.ask} />}
    >
      <FilterBar>
        <Tabs
          kinds={kinds}
          chosen={shown}
          onChoose={(show) => set({ show: show === 'orders' ? null : show, order: null })}
        />
      </FilterBar>
      {ofAccounts && <OwnAccounts />}
      {!ofAccounts && order && <Ordered id={order} />}
      {!ofAccounts && !order && (
        <List
          label="Payment orders"
          result={result}
          page={page}
          href={({ id }) => `/payment-orders?order=${id}`}
          columns={[...columns(accounts), ...(mayAct ? [decision(accounts, result.ask)] : [])]}
          empty={
            <Empty title="No payment order yet">
              <p>An order gathers the payouts that wait, for the bank of one account on one day.</p>
            </Empty>
          }
        />
      )}
    </Page>
  );
}

const columns = (accounts: readonly OwnAccount[]): Column<Order>[] => [
  {
    head: 'Pay on',
    cell: ({ valueDate, ownAccountId, note }) => {
      const from = accounts.find(({ id }) => id === ownAccountId);
      return <Two hint={note ?? (from && `from ${numberOf(from)}`)}>{formatDay(valueDate)}</Two>;
    },
  },
  {
    head: 'Gathered',
    cell: ({ created, createdBy, decidedBy, sentBy }) => (
      <span className="two-lines">
        <Time at={created} />
        <span className="hint">{[createdBy, decidedBy, sentBy && `sent by ${sentBy}`].filter(Boolean).join('; ')}</span>
      </span>
    ),
  },
  statusColumn(),
  { head: 'Payouts', cell: ({ payouts }) => payouts?.toLocaleString(), end: true },
  {
    head: 'Total',
    cell: ({ total, currency }) => total !== null && <Money amount={total} currency={currency} />,
    end: true,
  },
];

const decision = (accounts: readonly OwnAccount[], onDone: () => void): Column<Order> => ({
  head: 'Decision',
  end: true,
  cell: (order) => (
    <OrderActions order={order} from={accounts.find(({ id }) => id === order.ownAccountId)} onDone={onDone} />
  ),
});

/** The payouts of an order, in the order of its file. */
function Ordered({ id }: { id: string }) {
  const { params } = useFilters();
  const result = useLive(OrderedQuery, { id, after: params.get('after') });
  return (
    <List
      label="Payouts of the order"
      result={result}
      page={pageOf(result.data?.orderedPayouts)}
      columns={[
        { head: 'Payee', cell: (payout) => <Payee payout={payout} /> },
        { head: "The bank's reference", cell: ({ bankReference }) => bankReference },
        statusColumn(),
        amountAndStatus(
          (payout: Payout) => payout,
          ({ status }) => status,
        ),
      ]}
      empty={
        <Empty title="No payouts">
          <p>They were given back when the order was rejected.</p>
        </Empty>
      }
    />
  );
}

function Create({ accounts, onDone }: { accounts: readonly OwnAccount[]; onDone: () => void }) {
  const open = accounts.filter(({ closedAt }) => closedAt === null);
  if (open.length === 0) return null;
  return (
    <Action
      name="Gather payouts"
      kind="primary"
      title="Gather payouts"
      submit="Gather them"
      mutation={CreateMutation}
      input={{}}
      done="The order waits for another operator."
      onDone={onDone}
    >
      <p className="hint">
        Live mode: real money. All payouts under way in the currency of the account that are in no order yet, 10,000 at
        most. Nothing is paid until another operator approves it.
      </p>
      <SelectField
        name="ownAccountId"
        label="From"
        options={open.map((each) => ({ value: each.id, name: `${numberOf(each)}, ${each.currency}` }))}
      />
      <TextField name="valueDate" label="Pay on" type="date" required />
    </Action>
  );
}
