import { daysBetween } from '../../format/days';
import { disputeStatuses } from '../../format/disputes';
import { receivedMethodsOf } from '../../format/methods';
import { currencies, currencyOf, hundredths } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { payerOf, textOfPayment } from '../../graph/payer';
import { sent } from '../../graph/sent';
import { AccountFilter } from '../../parts/account-filter';
import { amountAndStatus, stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice, Range, Sort } from '../../parts/chips';
import { Export, type ExportSource } from '../../parts/export';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, isAmount, isDay, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { useOrders } from '../../parts/orders';
import { Page } from '../../parts/page';
import { usePlace } from '../../parts/pager';
import { Search } from '../../parts/search';
import type { Column } from '../../parts/table';
import { Tabs } from '../../parts/tabs';
import { nameOf, useSession } from '../../session';
import { DisputeFilter, Disputes } from './disputes';
import { type Filters, type Payment, PaymentsQuery, stateOf } from './query';
import { TestPayment } from './test-payment';
import { ToReconcile } from './to-reconcile';

const statuses = ['INITIALIZED', 'PROCESSING', 'COMPLETED', 'CANCELLED', 'FAILED', 'REVERSED'] as const;

/** What the list of payments is ordered and filtered by, as the graph serves it. */
const orders = {
  orders: {
    created: {
      sorts: { newest: undefined, oldest: 'CREATED_ASC' },
      filters: ['status', 'method', 'currency', 'received', 'customer'],
    },
    amount: { sorts: { amount: 'AMOUNT_DESC', least: 'AMOUNT_ASC' }, filters: ['status', 'currency', 'amount'] },
    open: { sorts: { newest: undefined }, filters: ['show', 'method', 'currency', 'received', 'customer'] },
  },
  sortNames: { newest: 'Newest', oldest: 'Oldest', amount: 'Largest', least: 'Smallest' },
  names: {
    ...{ status: 'Status', currency: 'Currency', amount: 'Amount', received: 'Received', method: 'Method' },
    ...{ customer: 'Customer', show: 'To reconcile' },
  },
};

/** The filters of the address as arguments of the list. */
function useArguments() {
  const { params, one, range } = useFilters();
  const { viewer } = useSession();
  const timeZone = useTimeZone();
  const book = useOrders(orders);
  const byAmount = book.by === 'amount';
  const open = book.by === 'open';
  const search = params.get('search');
  const [status, method] = [
    book.uses('status') && one('status', statuses),
    book.uses('method') && one('method', receivedMethodsOf(viewer.edition)),
  ];
  // Amounts of several currencies have no common order.
  const currency = one('currency', currencies) ?? (byAmount ? currencyOf(viewer.edition) : undefined);
  const filters = {
    ...(open && { unreconciled: true }),
    ...(status && { status: [status] }),
    ...(method && { method: [method] }),
    ...(currency && { currency: [currency] }),
    ...(book.uses('customer') && { account: params.get('customer')! }),
    ...(byAmount && sent({ amount: range('amount', isAmount) })),
    ...(book.uses('received') && sent({ created: daysBetween(range('received', isDay), timeZone) })),
  };
  const orderBy = book.orderBy as Filters['orderBy'];
  const variables: Filters = search ? { search } : { ...filters, ...(orderBy && { orderBy }) };
  return { open, book, search, currency, variables };
}

/** The export of what the filters select. */
function exportOf({ search, orderBy, account, ...filter }: Filters): ExportSource {
  const all = { scope: 'DESCENDANTS' as const };
  return {
    deposits: search ? { search, ...all } : sent({ orderBy, ...all, filter: sent({ ...filter, accountId: account }) }),
  };
}

/** The lists of the page. */
const kinds = [
  ['all', 'All'],
  ['unreconciled', 'To reconcile'],
  ['disputes', 'Disputes'],
] as const;

/** The payments that were received, or the disputes of payments. */
export function Payments() {
  const { params, one, set } = useFilters();
  const onChoose = (kind: string) =>
    set({ show: kind === 'all' ? null : kind, status: null, sort: null, search: null });
  if (params.get('show') !== 'disputes') return <Received />;
  const status = one('status', ['OPEN', 'DECIDED']);
  const filter = sent({ status: status && [...disputeStatuses[status]] });
  return (
    <Page title="Payments" actions={<Export source={{ disputes: { filter } }} />}>
      <FilterBar>
        <Tabs kinds={kinds} chosen="disputes" onChoose={onChoose} />
        <DisputeFilter />
      </FilterBar>
      <Disputes />
    </Page>
  );
}

/** The payments that were received, newest first unless the viewer sorts them. */
function Received() {
  const { filtered, set } = useFilters();
  const { viewer } = useSession();
  const { open, book, search, currency, variables } = useArguments();
  const choose = (kind: string) => {
    if (kind === 'all') return set({ show: null });
    if (kind === 'disputes') return set({ status: null, sort: null, search: null, show: kind });
    return set({ ...book.choosing('show').changes, sort: null, show: kind });
  };
  const actions = (
    <>
      <TestPayment name="Test payment" />
      <Export source={exportOf(variables)} />
    </>
  );
  return (
    <Page title="Payments" actions={actions}>
      <FilterBar orders={book}>
        <Tabs kinds={kinds} chosen={open ? 'unreconciled' : 'all'} onChoose={choose} />
        <Search placeholder="Payer or description" />
        {!open && <Choice label="Status" name="status" values={statuses} />}
        <Choice label="Currency" name="currency" values={currencies} none={currency ?? 'All'} />
        {!open && <Range label="Amount" name="amount" type="amount" currency={currency} />}
        <Range label="Received" name="received" type="date" />
        <Choice label="Method" name="method" values={receivedMethodsOf(viewer.edition)} />
        <AccountFilter label="Customer" name="customer" type="PARTNER" />
        {!open && <Sort />}
      </FilterBar>
      {open && !search ? <ToReconcile filters={variables} filtered={filtered} /> : <All variables={variables} />}
    </Page>
  );
}

function All({ variables }: { variables: Filters }) {
  const { filtered } = useFilters();
  const result = useLive(PaymentsQuery, { ...variables, ...usePlace() });
  return (
    <List
      label="Payments"
      result={result}
      page={result.data?.deposits}
      columns={useColumns()}
      href={({ id }) => `/payments/${id}`}
      summed={(payment) => ({ money: payment })}
      empty={<NoPayments filtered={filtered} />}
    />
  );
}

function useColumns(): Column<Payment>[] {
  const time = useTimes();
  return [
    {
      head: 'From',
      cell: (payment) => (
        <Two hint={[isTakenBack(payment) && 'Money taken back', textOfPayment(payment)].filter(Boolean).join(' · ')}>
          {payerOf(payment)}
        </Two>
      ),
    },
    { head: 'To', cell: ({ toAccount }) => toAccount && nameOf(toAccount) },
    { head: 'Method', cell: ({ method }) => words(method) },
    stateColumn(stateOf),
    { head: 'Received', cell: ({ created }) => time(created), line: true },
    amountAndStatus(
      (payment) => payment,
      (payment) => stateOf(payment),
      Left,
    ),
  ];
}

/** Whether it takes back money of another payment. */
const isTakenBack = ({ amount }: Payment) => hundredths(amount) < 0n;

/** What is left of a payment for its reconciliation, if that is not all of it. */
function Left(payment: Payment) {
  if (stateOf(payment) !== 'REST_TO_RECONCILE') return null;
  return (
    <span className="hint line">
      <Money amount={payment.pendingRest} currency={payment.currency} /> to reconcile
    </span>
  );
}

function NoPayments({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No payment matches">
        <ClearFilters />
      </Empty>
    );
  return (
    <Empty title="No payments yet">
      <p>Give a customer the bank details of their receiving address, which are on the customer's page.</p>
      <TestPayment name="Play a test payment" />
    </Empty>
  );
}
