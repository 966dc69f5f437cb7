import { Link } from 'wouter';
import { countryName } from '../../format/countries';
import { currencies, currencyOf, hundredths } from '../../format/money';
import { useTimes } from '../../format/time';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { sent } from '../../graph/sent';
import { statusColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice, Sort } from '../../parts/chips';
import { Export, type ExportSource } from '../../parts/export';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { useOrders } from '../../parts/orders';
import { Page } from '../../parts/page';
import { usePlace } from '../../parts/pager';
import { Search } from '../../parts/search';
import type { Column } from '../../parts/table';
import { nameOf, useMayWrite, useSession, NameFragment } from '../../session';
import { NeedFragment, Needs, useUsersInNeed } from './needs';

const AccountsQuery = graphql(
  `
    query Accounts(
      $type: [AccountType!], $status: [AccountStatus!], $search: String, $orderBy: AccountOrder
      $currency: Currency, $first: Int, $after: ID, $last: Int, $before: ID
      $customers: Boolean!, $users: Boolean!, $scope: AccountScope! = SELF
    ) {
      accounts(
        filter: { type: $type, status: $status }, search: $search, orderBy: $orderBy, orderCurrency: $currency
        scope: $scope, first: $first, after: $after, last: $last, before: $before
      ) {
        totalCount
        nodes {
          id type created ...Name status
          businessDetails { legalName physicalAddress { city country } }
          balance { available { amount currency } pending { amount currency } }
          requirements @include(if: $users) { fieldName }
          attention(scope: DESCENDANTS) @include(if: $users) { items(limit: 10) { ...Need } }
          owner @include(if: $customers) { ...Name }
          owes @include(if: $customers) { currencies { total { amount currency } } }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment, NeedFragment],
);

type Account = RowOf<ResultOf<typeof AccountsQuery>['accounts']>;

const statuses = ['DRAFT', 'VERIFYING', 'ACTIVATED', 'DEACTIVATED', 'HOLD'] as const;

/** What the lists are ordered and filtered by. Amounts of several currencies have no common order. */
const created = { sorts: { newest: undefined }, filters: ['status'] };
const balance = { sorts: { balance: 'BALANCE_DESC', least: 'BALANCE_ASC' }, filters: ['currency'] };
const needs = { sorts: { needs: undefined }, filters: [] };
const ordersOf = { PARTNER: { created, balance }, USER: { created, needs, balance } };
const named = {
  sortNames: { newest: 'Newest', needs: 'Needs attention', balance: 'Largest balance', least: 'Smallest balance' },
  names: { status: 'Status', currency: 'Currency' },
};

/** What differs between the users of a platform and the customers of an account. */
const kinds = {
  USER: {
    title: 'Users',
    path: '/users',
    create: 'New user',
    none: 'No users yet',
    hint: 'A user gets paid through your platform.',
  },
  PARTNER: {
    title: 'Customers',
    path: '/customers',
    create: 'New customer',
    none: 'No customers yet',
    hint: 'A customer pays you. When it is activated, it gets an address to which it can pay.',
  },
} as const;

/** The hint of a platform without customers. */
const hintOfUsers = 'The customers of your users appear here, and your own. To add one for a user, act as that user.';

/** The users of a platform; in the order of their needs, those for whom something waits. */
export function Users() {
  const { one } = useFilters();
  return one('sort', ['needs']) ? <UsersInNeed /> : <Accounts type="USER" />;
}

function UsersInNeed() {
  const { result, users, more } = useUsersInNeed();
  return (
    <Page title="Users" actions={useCreateLink('USER')}>
      <FilterBar orders={useOrders({ orders: ordersOf.USER, ...named })}>
        <Choices currency={undefined} />
      </FilterBar>
      <List
        label="Users"
        result={result}
        page={users && { nodes: users, pageInfo: { hasNextPage: false, endCursor: null } }}
        columns={useColumns('USER', false)}
        href={({ id }) => `/accounts/${id}`}
        empty={
          <Empty title="Nothing waits">
            <p>No user of yours needs attention.</p>
            <ClearFilters />
          </Empty>
        }
      />
      {more && <p className="hint">More waits than is shown: of each kind, what has waited longest.</p>}
    </Page>
  );
}

/** The way to a new account, for those who may write. */
function useCreateLink(type: keyof typeof kinds) {
  const { path, create } = kinds[type];
  return (
    useMayWrite() && (
      <Link href={`${path}/new`} className="button primary">
        {create}
      </Link>
    )
  );
}

/** The customers of an account, which the graph calls partners. */
export function Customers() {
  return <Accounts type="PARTNER" />;
}

/**
 * The filters of the address as arguments of the list. A search goes with no filter, and finds the account itself. An
 * order by balance goes with no status, and has the accounts that have had a balance in its currency. The customers of
 * a platform are those of its users, too.
 */
function useArguments(type: keyof typeof kinds) {
  const { params, one } = useFilters();
  const { viewer } = useSession();
  const book = useOrders({ orders: ordersOf[type], ...named });
  const byBalance = book.by === 'balance';
  const status = book.uses('status') && one('status', statuses);
  const ofUsers = type === 'PARTNER' && viewer.account.type === 'PLATFORM';
  const search = params.get('search');
  const currency = byBalance ? (one('currency', currencies) ?? currencyOf(viewer.edition)) : undefined;
  const filters = {
    type: [type],
    ...(status && { status: [status] }),
    ...(currency && { currency, orderBy: book.orderBy as 'BALANCE_DESC' }),
  };
  const variables: VariablesOf<typeof AccountsQuery> = {
    ...{ ...usePlace(), customers: type === 'PARTNER', users: type === 'USER' },
    ...(ofUsers && { scope: 'DESCENDANTS' as const }),
    ...(search ? { search } : filters),
  };
  return { ofUsers, book, search, currency, variables };
}

interface Exportable {
  source: ExportSource;
  /** What the file has beside the rows of the page. */
  holds?: string;
}

/**
 * The export of what the filters select. A search finds accounts of every type, apart from that of the customers of
 * one account.
 */
function exportOf(
  { search, orderBy, currency, scope, type, status }: VariablesOf<typeof AccountsQuery>,
  ownerId: string | undefined,
): Exportable {
  if (!search)
    return { source: { accounts: sent({ orderBy, orderCurrency: currency, scope, filter: sent({ type, status }) }) } };
  if (ownerId !== undefined) return { source: { partners: { accountId: ownerId, search } } };
  return {
    source: { accounts: sent({ search, scope }) },
    holds: 'The file has all accounts that the search finds: users, customers and your own.',
  };
}

function Accounts({ type }: { type: keyof typeof kinds }) {
  const { title, none, hint } = kinds[type];
  const { filtered } = useFilters();
  const { viewer } = useSession();
  const { ofUsers, book, search, currency, variables } = useArguments(type);
  const result = useLive(AccountsQuery, variables);
  const page = result.data?.accounts;
  const action = useCreateLink(type);
  return (
    <Page
      title={title}
      actions={
        <>
          <Export {...exportOf(variables, viewer.account.type === 'PLATFORM' ? undefined : viewer.account.id)} />
          {type === 'PARTNER' && action && (
            <Link href="/customers/import" className="button">
              Import
            </Link>
          )}
          {action}
        </>
      }
    >
      <FilterBar orders={book}>
        <Search placeholder="Name or e-mail" />
        <Choices currency={currency} />
      </FilterBar>
      <List
        label={title}
        result={result}
        page={page && { ...page, nodes: page.nodes.filter((account) => account.type === type) }}
        columns={useColumns(type, ofUsers)}
        href={({ id }) => `/accounts/${id}`}
        empty={
          <Empty
            title={
              search
                ? 'Nothing was found'
                : currency
                  ? `No balances in ${currency} yet`
                  : filtered
                    ? 'No account matches'
                    : none
            }
          >
            {!filtered && <p>{ofUsers ? hintOfUsers : hint}</p>}
            {filtered ? <ClearFilters /> : action}
          </Empty>
        }
      />
    </Page>
  );
}

type Row = Pick<Account, 'id' | 'businessDetails' | 'created' | 'nickname' | 'status'> & Partial<Account>;

function useColumns(type: keyof typeof kinds, ofUsers: boolean): Column<Row>[] {
  const time = useTimes();
  const balance = (head: string, of: 'available' | 'pending'): Column<Row> => ({
    ...{ head, end: true, cell: ({ balance }) => <Amounts amounts={balance?.[of]} /> },
  });
  return [
    {
      head: 'Name',
      cell: (account) => <Two hint={account.businessDetails.legalName}>{nameOf(account)}</Two>,
    },
    ...(type === 'USER' ? [{ head: 'Needs', cell: (account: Row) => <Needs {...account} /> }] : []),
    ofUsers
      ? { head: 'Customer of', cell: ({ owner }) => owner && nameOf(owner) }
      : {
          head: 'Place',
          cell: ({ businessDetails: { physicalAddress: at } }) =>
            [at?.city, at?.country && countryName(at.country)].filter(Boolean).join(', '),
        },
    { head: 'Added', cell: ({ created }) => time(created, 'date'), line: true },
    ...(type === 'USER'
      ? [balance('Available', 'available')]
      : [
          balance('At its bank details', 'pending'),
          { head: 'Owes', cell: ({ owes }: Row) => <Owed owes={owes} />, end: true },
        ]),
    statusColumn(true),
  ];
}

/** The filters of the list: a status, or the currency of an order by balance. */
function Choices({ currency }: { currency: string | undefined }) {
  return (
    <>
      <Choice label="Status" name="status" values={statuses} />
      <Choice label="Currency" name="currency" values={currencies} none={currency ?? 'All'} />
      <Sort />
    </>
  );
}

/** What a customer owes. The graph does not add up more than 10,000 invoices of one customer. */
function Owed({ owes }: { owes: Row['owes'] }) {
  if (owes?.currencies === null) return <span className="hint">over 10,000 invoices</span>;
  return <Amounts amounts={owes?.currencies.map(({ total }) => total)} />;
}

/** Amounts of a row; undefined where the gateway refused them. */
function Amounts({ amounts }: { amounts: readonly { amount: string; currency: string }[] | undefined }) {
  if (!amounts) return <span className="hint none">not known</span>;
  const filled = amounts.filter(({ amount }) => hundredths(amount) !== 0n);
  if (filled.length === 0) return <span className="hint none">–</span>;
  return (
    <span className="two-lines">
      {filled.map((money) => (
        <Money key={money.currency} {...money} />
      ))}
    </span>
  );
}
