import { Link } from 'wouter';
import { dayBefore, dayOf } from '../../format/days';
import { currencies, currencyOf, hundredths } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { stateOf } from '../../format/receivables';
import { formatDay, gatewayNow } from '../../format/time';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { sent } from '../../graph/sent';
import { AccountFilter } from '../../parts/account-filter';
import { amountAndStatus, stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice, Range, Sort } from '../../parts/chips';
import { Export, type ExportSource } from '../../parts/export';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, isAmount, isDay, narrowing, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { useOrders } from '../../parts/orders';
import { Page } from '../../parts/page';
import { usePlace } from '../../parts/pager';
import { Search } from '../../parts/search';
import type { Column } from '../../parts/table';
import { Tabs } from '../../parts/tabs';
import { nameOf, useMayWrite, useSession, NameFragment } from '../../session';
import { Ageing } from './ageing';

const ReceivablesQuery = graphql(
  `
    query Receivables(
      $first: Int, $after: ID, $last: Int, $before: ID, $search: String, $orderBy: ReceivableOrder
      $status: [ReceivableStatus!], $currency: [Currency!], $dueDate: DateFilter, $amount: AmountFilter
      $account: ID, $billed: ID!, $isBilled: Boolean!
    ) {
      viewer { now }
      account(id: $billed) @include(if: $isBilled) { ...Name }
      receivables(
        first: $first, after: $after, last: $last, before: $before, search: $search, orderBy: $orderBy
        filter: { status: $status, currency: $currency, dueDate: $dueDate, amount: $amount, accountId: $account }
      ) {
        totalCount
        nodes {
          id currency status description amountReconcilable
          invoice { amount referenceNumber dueDate }
          account { ...Name }
          customer { ...Name }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment],
);

type Receivable = RowOf<ResultOf<typeof ReceivablesQuery>['receivables']>;
type Filters = Omit<
  VariablesOf<typeof ReceivablesQuery>,
  'first' | 'after' | 'last' | 'before' | 'billed' | 'isBilled'
>;

const statuses = ['OPEN', 'LOCKED', 'SETTLED', 'VOID'] as const;
const due = { due: 'DUE_DATE_ASC', 'due-last': 'DUE_DATE_DESC' };

/** What the list is ordered and filtered by, as the graph serves it. */
const orders = {
  orders: {
    created: { sorts: { newest: undefined }, filters: ['status', 'currency', 'customer'] },
    due: { sorts: due, filters: ['status', 'currency', 'customer', 'due'] },
    overdue: { sorts: due, filters: ['show', 'currency', 'customer', 'due'] },
    amount: {
      sorts: { amount: 'AMOUNT_DESC', least: 'AMOUNT_ASC' },
      filters: ['status', 'currency', 'customer', 'amount'],
    },
  },
  sortNames: { newest: 'Newest', due: 'Due first', 'due-last': 'Due last', amount: 'Largest', least: 'Smallest' },
  names: {
    ...{ status: 'Status', currency: 'Currency', amount: 'Amount', due: 'Due', customer: 'Customer' },
    show: 'Overdue',
  },
};

/** The days before today, with or without those of a filter: the graph's `overdue` begins its days in UTC alone. */
function beforeToday(timeZone: string, days: { gte?: string; lte?: string } = {}) {
  const yesterday = dayBefore(gatewayNow(), timeZone, 1);
  return { ...days, lte: days.lte !== undefined && days.lte < yesterday ? days.lte : yesterday };
}

/** The filters of the address as arguments of the list. */
function useArguments() {
  const timeZone = useTimeZone();
  const { params, one, range } = useFilters();
  const { viewer } = useSession();
  const book = useOrders(orders);
  const [byAmount, overdue] = [book.by === 'amount', book.by === 'overdue'];
  const status = overdue ? 'OPEN' : book.uses('status') && one('status', statuses);
  const days = book.uses('due') ? range('due', isDay) : undefined;
  // Amounts of several currencies have no common order.
  const currency = one('currency', currencies) ?? (byAmount ? currencyOf(viewer.edition) : undefined);
  const filters = {
    ...(status && { status: [status] }),
    ...(currency && { currency: [currency] }),
    ...sent({ dueDate: overdue ? beforeToday(timeZone, days) : days }),
    ...(byAmount && sent({ amount: range('amount', isAmount) })),
    ...(book.uses('customer') && { account: params.get('customer')! }),
  };
  const search = params.get('search');
  const orderBy = book.orderBy as Filters['orderBy'];
  const variables: Filters = search ? { search } : { ...filters, ...(orderBy && { orderBy }) };
  return { book, overdue, currency, variables };
}

/** The page of the list: of all receivables, or of those that bill a customer, with its name. */
function useReceivables(variables: Filters) {
  const billed = { isBilled: Boolean(variables.account), billed: variables.account ?? '' };
  return { ...billed, result: useLive(ReceivablesQuery, { ...variables, ...usePlace(), ...billed }) };
}

/** The export of what the filters select. */
function exportOf({ search, orderBy, account, ...filter }: Filters): ExportSource {
  return { receivables: search ? { search } : sent({ orderBy, filter: sent({ ...filter, accountId: account }) }) };
}

const importLink = (
  <Link href="/receivables/import" className="button">
    Import
  </Link>
);

/** The receivables: how old the open ones are, and all of them; or those that bill a customer. */
export function Receivables() {
  const { params, set } = useFilters();
  const { book, overdue, currency, variables } = useArguments();
  const { isBilled, result } = useReceivables(variables);
  const { viewer: asked, account: billed, receivables: page } = result.data ?? {};
  const { viewer } = useSession();
  const timeZone = useTimeZone();
  const create = useMayWrite() && (
    <Link href="/receivables/new" className="button primary">
      New receivable
    </Link>
  );
  const choose = (kind: string) =>
    set(kind === 'overdue' ? { ...book.choosing('show').changes, show: kind } : { show: null });
  return (
    <Page
      title={billed ? `Receivables of ${nameOf(billed)}` : 'Receivables'}
      back={billed ? { href: `/accounts/${billed.id}`, name: nameOf(billed) } : undefined}
      actions={
        <>
          <Export source={exportOf(variables)} />
          {create && importLink}
          {create}
        </>
      }
    >
      {!isBilled && <Ageing />}
      <FilterBar orders={book}>
        <Tabs
          kinds={[
            ['all', 'All'],
            ['overdue', 'Overdue'],
          ]}
          chosen={overdue ? 'overdue' : 'all'}
          onChoose={choose}
        />
        <Search placeholder="Reference or text" />
        <Choice label="Status" name="status" values={statuses} />
        <Choice label="Currency" name="currency" values={currencies} none={currency ?? 'All'} />
        <Range label="Amount" name="amount" type="amount" currency={currency} />
        <Range label="Due" name="due" type="date" />
        <AccountFilter label="Customer" name="customer" type="PARTNER" />
        <Sort />
      </FilterBar>
      <List
        label="Receivables"
        result={result}
        page={page}
        columns={columnsOf(asked && dayOf(asked.now, timeZone), viewer.account.type === 'PLATFORM')}
        href={({ id }) => `/receivables/${id}`}
        summed={({ invoice, currency, amountReconcilable }) => ({
          ...{ money: { amount: invoice.amount, currency }, open: amountReconcilable },
        })}
        empty={<NoReceivables {...{ overdue, create }} filtered={narrowing(params, 'customer').length > 0} />}
      />
    </Page>
  );
}

function columnsOf(today: string | undefined, ofUsers: boolean): Column<Receivable>[] {
  const columns: (Column<Receivable> | false)[] = [
    {
      head: 'Invoice',
      cell: ({ invoice, description }) => <Two hint={description}>{invoice.referenceNumber}</Two>,
    },
    { head: 'Customer', cell: ({ customer }) => customer && nameOf(customer) },
    ofUsers && { head: 'Owed to', cell: ({ account }) => nameOf(account) },
    stateColumn((receivable) => stateOf(receivable, today)),
    { head: 'Due', cell: ({ invoice }) => formatDay(invoice.dueDate), line: true },
    amountAndStatus(
      ({ invoice, currency }) => ({ amount: invoice.amount, currency }),
      (receivable) => stateOf(receivable, today),
      Open,
    ),
  ];
  return columns.filter((column) => column !== false);
}

/** What is open of a receivable that was paid in part; of the others the status says it. */
function Open({ amountReconcilable, invoice, currency }: Receivable) {
  const open = hundredths(amountReconcilable);
  if (open === 0n || open === hundredths(invoice.amount)) return null;
  return (
    <span className="hint line">
      <Money amount={amountReconcilable} currency={currency} /> open
    </span>
  );
}

interface NoReceivablesProps {
  filtered: boolean;
  overdue: boolean;
  create: React.ReactNode;
}

function NoReceivables({ filtered, overdue, create }: NoReceivablesProps) {
  if (filtered)
    return (
      <Empty title="No receivable matches">
        <ClearFilters kept="customer" />
      </Empty>
    );
  return overdue ? (
    <Empty title="No receivable is overdue" />
  ) : (
    <Empty title="No receivables yet">
      <p>A receivable is an invoice that you expect to be paid. Payments are counted towards it.</p>
      {create}
    </Empty>
  );
}
