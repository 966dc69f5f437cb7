import { Link } from 'wouter';
import { currencies, currencyOf, hundredths } from '../../format/money';
import { stateOf } from '../../format/receivables';
import { formatDay } from '../../format/time';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
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
import { nameOf, useMayWrite, useSession, NameFragment } from '../../session';
import { Ageing } from './ageing';
import { CustomerReceivables } from './of-customer';

const ReceivablesQuery = graphql(
  `
    query Receivables(
      $after: ID, $search: String, $orderBy: ReceivableOrder, $status: [ReceivableStatus!]
      $currency: [Currency!], $dueDate: DateFilter, $overdue: Boolean, $amount: AmountFilter
    ) {
      viewer { now }
      receivables(
        first: 25, after: $after, search: $search, orderBy: $orderBy
        filter: {
          status: $status, currency: $currency, dueDate: $dueDate, overdue: $overdue, amount: $amount
        }
      ) {
        nodes {
          id currency status description amountReconcilable
          invoice { amount referenceNumber dueDate }
          account { ...Name }
          customer { ...Name }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [NameFragment],
);

type Receivable = RowOf<ResultOf<typeof ReceivablesQuery>['receivables']>;

const statuses = ['OPEN', 'LOCKED', 'SETTLED', 'VOID'] as const;
const orders = {
  due: 'DUE_DATE_ASC',
  'due-last': 'DUE_DATE_DESC',
  amount: 'AMOUNT_DESC',
  least: 'AMOUNT_ASC',
} as const;
const orderNames = { due: 'Due first', 'due-last': 'Due last', amount: 'Largest', least: 'Smallest' };
const sorts = Object.keys(orders) as (keyof typeof orders)[];

/** The filters of the address as arguments of the list. Each order goes with filters of its own. */
function useArguments() {
  const { params, one, range } = useFilters();
  const { viewer } = useSession();
  const [sort, status, currency] = [one('sort', sorts), one('status', statuses), one('currency', currencies)];
  const overdue = params.get('show') === 'overdue';
  const by: FilterChoicesProps['by'] = overdue || sort?.startsWith('due') ? 'due' : sort ? 'amount' : 'created';
  const filters = {
    created: sent({ status: status && [status], currency: currency && [currency] }),
    due: overdue ? { overdue } : sent({ status: status && [status], dueDate: range('due', isDay) }),
    // Amounts of several currencies have no common order.
    amount: sent({ currency: [currency ?? currencyOf(viewer.edition)], amount: range('amount', isAmount) }),
  }[by];
  const orderBy = orders[sort ?? 'due'];
  const [search, after] = [params.get('search'), params.get('after')];
  const ordered = { ...(by !== 'created' && { orderBy }), ...filters };
  const variables: VariablesOf<typeof ReceivablesQuery> = { after, ...(search ? { search } : ordered) };
  return { by, overdue, search, variables };
}

/** The export of what the filters select. */
function exportOf({ search, orderBy, after: _, ...filter }: VariablesOf<typeof ReceivablesQuery>): ExportSource {
  return { receivables: search ? { search } : sent({ orderBy, filter }) };
}

/** The receivables of the account, or those that bill the customer of the address. */
export function Receivables() {
  const customerId = useFilters().params.get('customer');
  return customerId === null ? <AllReceivables /> : <CustomerReceivables customerId={customerId} />;
}

/** The receivables: how old the open ones are, and all of them. */
function AllReceivables() {
  const { set, filtered } = useFilters();
  const { by, overdue, search, variables } = useArguments();
  const result = useLive(ReceivablesQuery, variables);
  const { viewer } = useSession();
  const mayWrite = useMayWrite();
  const create = mayWrite && (
    <Link href="/receivables/new" className="button primary">
      New receivable
    </Link>
  );
  return (
    <Page
      title="Receivables"
      actions={
        <>
          <Export source={exportOf(variables)} />
          {mayWrite && (
            <Link href="/receivables/import" className="button">
              Import
            </Link>
          )}
          {create}
        </>
      }
    >
      <Ageing />
      <FilterBar>
        <Tabs
          kinds={[
            ['all', 'All'],
            ['overdue', 'Overdue'],
          ]}
          chosen={overdue ? 'overdue' : 'all'}
          onChoose={(kind) => set({ ...cleared, show: kind === 'overdue' ? kind : null, sort: null, search: null })}
        />
        <Search placeholder="Reference or text" />
        {!search && <FilterChoices by={by} overdue={overdue} currency={variables.currency?.[0]} />}
      </FilterBar>
      <List
        label="Receivables"
        result={result}
        page={result.data?.receivables}
        columns={columnsOf(result.data?.viewer.now, viewer.account.type === 'PLATFORM')}
        href={({ id }) => `/receivables/${id}`}
        empty={<NoReceivables {...{ filtered, overdue, create }} />}
      />
    </Page>
  );
}

interface FilterChoicesProps {
  by: 'created' | 'due' | 'amount';
  overdue: boolean;
  /** The currency of a list by amount. */
  currency: string | undefined;
}

/** The filters that go with the chosen list and its order. */
function FilterChoices({ by, overdue, currency }: FilterChoicesProps) {
  return (
    <>
      {!overdue && <Choice label="Sort" name="sort" values={sorts} names={orderNames} none="Newest" clears={others} />}
      {!overdue && by !== 'amount' && <Choice label="Status" name="status" values={statuses} />}
      {by === 'due' && !overdue && <Range label="Due" name="due" type="date" />}
      {by !== 'due' && (
        <Choice label="Currency" name="currency" values={currencies} none={by === 'amount' ? currency : 'All'} />
      )}
      {by === 'amount' && <Range label="Amount" name="amount" type="amount" />}
    </>
  );
}

/** The filters that do not go with every order. */
const others = ['status', 'currency', 'dueFrom', 'dueTo', 'amountFrom', 'amountTo'];
const cleared = Object.fromEntries(others.map((name) => [name, null]));

function columnsOf(now: string | undefined, ofUsers: boolean): Column<Receivable>[] {
  const columns: (Column<Receivable> | false)[] = [
    {
      head: 'Invoice',
      cell: ({ invoice, description }) => <Two hint={description}>{invoice.referenceNumber}</Two>,
    },
    { head: 'Customer', cell: ({ customer }) => customer && nameOf(customer) },
    ofUsers && { head: 'Owed to', cell: ({ account }) => nameOf(account) },
    stateColumn((receivable) => stateOf(receivable, now)),
    { head: 'Due', cell: ({ invoice }) => formatDay(invoice.dueDate), line: true },
    amountAndStatus(
      ({ invoice, currency }) => ({ amount: invoice.amount, currency }),
      (receivable) => stateOf(receivable, now),
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
        <ClearFilters />
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
