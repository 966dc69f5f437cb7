import { currencies } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { dayBefore, startOfDay } from '../../format/days';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { Choice, FilterBar, isAmount, isDay, Pager, Range, Tabs, useFilters } from '../../parts/filters';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Search } from '../../parts/text-filter';
import { type Column, Table } from '../../parts/table';
import { nameOf, useSession } from '../../session';
import { Export } from './export';
import { type Filters, isUnreconciled, type Payment, PaymentsQuery } from './query';

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
      { currency: [currency ?? (viewer.edition === 2 ? 'INR' : 'USD')], amount: range('amount', isAmount) }
    : {
        status: open ? ['COMPLETED'] : status && [status],
        method: method && [method],
        currency: currency && [currency],
        created: days && {
          gte: days.gte && startOfDay(days.gte, timeZone),
          lt: days.lte && startOfDay(dayBefore(`${days.lte}T00:00:00Z`, 'UTC', -1), timeZone),
        },
      };
  const ordered = { ...filters, ...(sort && !open && { orderBy: orders[sort] }) };
  return { open, byAmount, search, variables: search ? { search } : ordered };
}

/** The payments that were received, newest first unless the viewer sorts them. */
export function Payments() {
  const { params, set } = useFilters();
  const { open, byAmount, search, variables } = useArguments();
  // The gateway does not select by what is open, so a page of the list is larger than what is shown of it.
  const page = { first: open ? 100 : 25, after: params.get('after') };
  const { data, error, ask } = useLive(PaymentsQuery, { ...variables, ...page });
  const rows = data?.deposits.nodes.filter((payment) => !open || isUnreconciled(payment));
  return (
    <Page title="Payments" actions={<Export variables={variables} only={open ? isUnreconciled : undefined} />}>
      <FilterBar>
        <Tabs
          kinds={[
            ['all', 'All'],
            ['unreconciled', 'To reconcile'],
          ]}
          chosen={open ? 'unreconciled' : 'all'}
          onChoose={(kind) => set({ show: kind === 'all' ? null : kind, status: null, sort: null, search: null })}
        />
        <Search placeholder="Payer or description" />
        {!search && <FilterChoices open={open} byAmount={byAmount} currency={variables.currency?.[0]} />}
      </FilterBar>
      {error && !data && <Problem error={error} onRetry={ask} />}
      {!rows && !error && <Lines count={10} />}
      {rows && rows.length > 0 && <Rows rows={rows} />}
      {rows?.length === 0 && <NoPayments filtered={[...params.keys()].length > 0} open={open} />}
      {data && <Pager pageInfo={data.deposits.pageInfo} />}
    </Page>
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

function Rows({ rows }: { rows: Payment[] }) {
  const time = useTimes();
  const columns: Column<Payment>[] = [
    {
      head: 'From',
      cell: ({ fromAccount, statementDescriptor }) => (
        <span className="two-lines">
          <strong className="clip">{fromAccount ? nameOf(fromAccount) : 'Unknown payer'}</strong>
          <span className="hint clip">{statementDescriptor}</span>
        </span>
      ),
    },
    { head: 'To', cell: ({ toAccount }) => toAccount && nameOf(toAccount) },
    { head: 'Method', cell: ({ paymentMethod }) => words(paymentMethod) },
    {
      head: 'Status',
      cell: (payment) => <Status value={isUnreconciled(payment) ? 'UNRECONCILED' : payment.status} />,
    },
    { head: 'Received', cell: ({ created }) => time(created) },
    {
      head: 'Amount',
      cell: (payment) => (
        <span className="two-lines">
          <Money amount={payment.amount} currency={payment.currency} />
          <span className="only-narrow">
            <Status value={isUnreconciled(payment) ? 'UNRECONCILED' : payment.status} />
          </span>
        </span>
      ),
      end: true,
    },
  ];
  return <Table label="Payments" columns={columns} rows={rows} href={({ id }) => `/payments/${id}`} />;
}

function NoPayments({ filtered, open }: { filtered: boolean; open: boolean }) {
  if (open) return <Empty title="Everything on this page is reconciled" />;
  return filtered ? (
    <Empty title="No payment matches">
      <p>Choose other filters.</p>
    </Empty>
  ) : (
    <Empty title="No payments yet">
      <p>Give a customer the bank details of their receiving address, or create a test payment through the API.</p>
    </Empty>
  );
}
