import { disputeStatuses } from '../../format/disputes';
import { dayBefore, startOfDay } from '../../format/days';
import { currencies, currencyOf } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { amountAndStatus, stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Export, type ExportSource } from '../../parts/export';
import { Choice, ClearFilters, FilterBar, isAmount, isDay, Range, Tabs, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import { Search } from '../../parts/search';
import type { Column } from '../../parts/table';
import { nameOf, useSession } from '../../session';
import { DisputeFilter, Disputes } from './disputes';
import { type Filters, type Payment, PaymentsQuery, stateOf } from './query';
import { TestPayment } from './test-payment';
import { ToReconcile } from './to-reconcile';

const statuses = ['INITIALIZED', 'PROCESSING', 'COMPLETED', 'CANCELLED', 'FAILED', 'REVERSED'] as const;
const methods = [
  'AFFIRM',
  'AFTERPAY',
  'CARD',
  'CHECK',
  'DOMESTIC_CREDIT',
  'DOMESTIC_DEBIT',
  'DOMESTIC_FAST_CREDIT',
  'DOMESTIC_WIRE',
  'GLOBAL_WIRE',
  'KLARNA',
  'UPI',
] as const;
const orders = { oldest: 'CREATED_ASC', amount: 'AMOUNT_DESC', least: 'AMOUNT_ASC' } as const;
const orderNames = { oldest: 'Oldest', amount: 'Largest', least: 'Smallest' };
const sorts = Object.keys(orders) as (keyof typeof orders)[];

/** The filters of the address as arguments of the list. Each order goes with filters of its own. */
function useArguments() {
  const { params, one, range } = useFilters();
  const { viewer } = useSession();
  const timeZone = useTimeZone();
  const open = params.get('show') === 'unreconciled';
  const search = params.get('search');
  const [sort, currency] = [one('sort', sorts), one('currency', currencies)];
  const [status, method] = [one('status', statuses), one('method', methods)];
  const byAmount = !open && (sort === 'amount' || sort === 'least');
  const days = range('received', isDay);
  const filters: Filters = byAmount
    ? // Amounts of several currencies have no common order.
      sent({ currency: [currency ?? currencyOf(viewer.edition)], amount: range('amount', isAmount) })
    : sent({
        ...(open ? { unreconciled: true } : { status: status && [status] }),
        method: method && [method],
        currency: currency && [currency],
        created:
          days &&
          sent({
            gte: days.gte && startOfDay(days.gte, timeZone),
            lt: days.lte && startOfDay(dayBefore(`${days.lte}T00:00:00Z`, 'UTC', -1), timeZone),
          }),
      });
  const ordered = { ...filters, ...(sort && !open && { orderBy: orders[sort] }) };
  return { open, byAmount, search, variables: search ? { search } : ordered };
}

/** The export of what the filters select. */
function exportOf({ search, orderBy, method, ...filter }: Filters): ExportSource {
  return { deposits: search ? { search } : sent({ orderBy, filter: sent({ ...filter, paymentMethod: method }) }) };
}

/** The lists of the page. */
const kinds = [
  ['all', 'All'],
  ['unreconciled', 'To reconcile'],
  ['disputes', 'Disputes'],
] as const;

/** The payments that were received, or the disputes of payments. */
export function Payments() {
  const { params, one } = useFilters();
  if (params.get('show') !== 'disputes') return <Received />;
  const status = one('status', ['OPEN', 'DECIDED']);
  const filter = sent({ status: status && [...disputeStatuses[status]] });
  return (
    <Page title="Payments" actions={<Export source={{ disputes: { filter } }} />}>
      <FilterBar>
        <Kinds chosen="disputes" />
        <DisputeFilter />
      </FilterBar>
      <Disputes />
    </Page>
  );
}

function Kinds({ chosen }: { chosen: string }) {
  const { set } = useFilters();
  return (
    <Tabs
      kinds={kinds}
      chosen={chosen}
      onChoose={(kind) => set({ show: kind === 'all' ? null : kind, status: null, sort: null, search: null })}
    />
  );
}

/** The payments that were received, newest first unless the viewer sorts them. */
function Received() {
  const { filtered } = useFilters();
  const { open, byAmount, search, variables } = useArguments();
  const actions = (
    <>
      <TestPayment name="Test payment" />
      <Export source={exportOf(variables)} />
    </>
  );
  return (
    <Page title="Payments" actions={actions}>
      <FilterBar>
        <Kinds chosen={open ? 'unreconciled' : 'all'} />
        <Search placeholder="Payer or description" />
        {!search && <FilterChoices open={open} byAmount={byAmount} currency={variables.currency?.[0]} />}
      </FilterBar>
      {open && !search ? <ToReconcile filters={variables} filtered={filtered} /> : <All variables={variables} />}
    </Page>
  );
}

function All({ variables }: { variables: Filters }) {
  const { params, filtered } = useFilters();
  const result = useLive(PaymentsQuery, { ...variables, first: 25, after: params.get('after') });
  return (
    <List
      label="Payments"
      result={result}
      page={result.data?.deposits}
      columns={useColumns()}
      href={({ id }) => `/payments/${id}`}
      empty={<NoPayments filtered={filtered} />}
    />
  );
}

interface FilterChoicesProps {
  open: boolean;
  byAmount: boolean;
  /** The currency of a list by amount. */
  currency: string | undefined;
}

/** The filters that go with the chosen list and its order. */
function FilterChoices({ open, byAmount, currency }: FilterChoicesProps) {
  return (
    <>
      {!open && <Choice label="Sort" name="sort" values={sorts} names={orderNames} none="Newest" clears={others} />}
      {!open && !byAmount && <Choice label="Status" name="status" values={statuses} />}
      {!byAmount && <Choice label="Method" name="method" values={methods} />}
      <Choice label="Currency" name="currency" values={currencies} none={byAmount ? currency : 'All'} />
      {byAmount && <Range label="Amount" name="amount" type="amount" />}
      {!byAmount && <Range label="Received" name="received" type="date" />}
    </>
  );
}

/** The filters that do not go with every order. */
const others = ['status', 'method', 'amountFrom', 'amountTo', 'receivedFrom', 'receivedTo'];

function useColumns(): Column<Payment>[] {
  const time = useTimes();
  return [
    {
      head: 'From',
      cell: ({ fromAccount, statementDescriptor }) => (
        <Two hint={statementDescriptor}>{fromAccount ? nameOf(fromAccount) : 'Unknown payer'}</Two>
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
