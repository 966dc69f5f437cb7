import type { Seeded } from './seed.ts';

/**
 * One HTTP request, and the conversion of its answer into the common form in which contenders' answers are compared.
 */
export interface Ask {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  canonical(answer: any): unknown;
}

/** One measurement: the same query to each contender, over the same ids. */
export interface Workload {
  name: string;
  title: string;
  /** Whether it writes: then ids and times differ between answers. */
  writes?: true;
  /** The number of connections, where it is not the usual one. */
  connections?: number;
  /** Several requests, which are sent in turn. */
  asks: Partial<Record<Contender, Ask[]>>;
}

/** The same requests in the format of the load generator. */
export function requestsOf(asks: Ask[]): { method: string; path: string; body?: string }[] {
  return asks.map(({ method, path, body }) => ({
    method,
    path,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }));
}

export const contenders = ['tidegate', 'stock', 'postgraphile', 'mercurius', 'rest'] as const;
export type Contender = (typeof contenders)[number];

export const titles: Record<Contender, string> = {
  tidegate: 'Tidegate',
  stock: 'Apollo + Express + type-graphql',
  postgraphile: 'PostGraphile 5',
  mercurius: 'Mercurius (jit)',
  rest: 'hand-written Fastify REST',
};

const fields =
  'id created type status nickname address businessDetails { legalName dba email website type ids { business ' +
  'tax } physicalAddress { line1 city state postalCode country } merchantCategoryCode } metadata';
const Q1 = `query Q1($id: ID!) { account(id: $id) { ${fields} } }`;
const Q2 = `query Q2 { accounts(first: 10) { nodes { ${fields} } } }`;
const Q3 = `query Q3 { accounts(first: 10) { nodes {
  id nickname status setting { id liveFx payouts { enabled interval } }
  addresses(first: 5) { nodes { id category currency status bankAccount { bankName last4 } } }
  depositsIn(first: 5) { nodes { id created amount currency status fromAccount { nickname } } }
  balance { available { amount currency } pending { amount currency } } } } }`;
/** The same from another account on each time. */
const Q3After = Q3.replace('query Q3', 'query Q3($after: ID!)').replace('first: 10', 'first: 10, after: $after');
const M1 = `mutation M1($input: CreateDepositInput!) { createDeposit(input: $input) { deposit {
  id created amount currency status paymentMethod statementDescriptor metadata
  from { accountId addressId } to { accountId addressId } } } }`;

const graphileFields = 'rowId created type status nickname address businessDetails metadata';
const tenantAndMode = 'tenantId: $tenant, livemode: false';
const graphileQ1 =
  `query Q1($tenant: String!, $id: String!) { accountByTenantIdAndLivemodeAndRowId(${tenantAndMode}, rowId: $id) ` +
  `{ ${graphileFields} } }`;
const graphileList =
  'allAccounts(condition: { tenantId: $tenant, livemode: false, onRootList: true ' +
  '}, orderBy: [CREATED_DESC, ROW_ID_DESC], first: 10)';
const graphileQ2 = `query Q2($tenant: String!) { ${graphileList} { nodes { ${graphileFields} } } }`;
const graphileQ3 = `query Q3($tenant: String!) { ${graphileList} { nodes {
  rowId nickname status
  setting: accountSettingByTenantIdAndLivemodeAndAccountId { rowId liveFx payoutsEnabled payoutsInterval }
  addresses: addressesByTenantIdAndLivemodeAndLinkedId(orderBy: [CREATED_DESC, ROW_ID_DESC], first: 5) { nodes { rowId
  category currency status bankAccount } }
  depositsIn: depositsByTenantIdAndLivemodeAndToAccountId(orderBy: [CREATED_DESC, ROW_ID_DESC], first: 5) {
    nodes { rowId created amount currency status fromAccount: accountByTenantIdAndLivemodeAndFromAccountId { nickname }
    } }
  balances: balancesByTenantIdAndLivemodeAndAccountId(orderBy: [CURRENCY_ASC]) { nodes { currency available pending } }
  } } }`;
const graphileM1 = `mutation M1($input: CreateDepositInput!) { createDeposit(input: $input) { result {
  rowId created amount currency status paymentMethod statementDescriptor metadata fromAccountId fromAddressId
  toAccountId toAddressId } } }`;

/** The workloads that also run over 64 connections, where requests wait for each other. */
const alsoAtMany = ['Q1', 'M1', 'REST by id', 'REST list', 'REST create', 'first page', 'balance'];
export const many = 64;

/** Every workload over the seeded rows, and some of them again over many connections. */
export function workloads(seeded: Seeded, addressOfReceiver: string): Workload[] {
  const all = workloadsOf(seeded, addressOfReceiver);
  const again = all
    .filter(({ name }) => alsoAtMany.includes(name))
    .map((workload) => ({
      ...workload,
      name: `${workload.name} at ${many}`,
      title: `${workload.title}, over ${many} connections`,
      connections: many,
    }));
  return [...all, ...again];
}

function workloadsOf({ tenant, users, receiver, deep, platform }: Seeded, addressOfReceiver: string): Workload[] {
  const graph = (query: string, of: (data: any) => unknown, variables: object[] = [{}]): Ask[] =>
    variables.map((v) => ({
      method: 'POST',
      path: '/graphql',
      body: { query, variables: v },
      canonical: ({ data }) => of(data),
    }));
  const get = (...paths: string[]): Ask[] =>
    paths.map((path) => ({ method: 'GET', path, canonical: (answer) => answer }));
  const ids = users.map((id) => ({ id }));

  const same = (query: string, of: (data: any) => unknown, variables?: object[]) => {
    const asks = graph(query, of, variables);
    return { tidegate: asks, stock: asks, mercurius: asks };
  };
  const input = { amount: '125.00', currency: 'USD', to: { accountId: receiver }, statementDescriptor: 'INVOICE 17' };
  const written = (deposit: any) => ({ ...deposit, id: 'new', created: 'now' });
  const post: Ask[] = [
    {
      method: 'POST',
      path: '/v1/deposits',
      body: { amount: '125.00', currency: 'USD', to: { account_id: receiver }, statement_descriptor: 'INVOICE 17' },
      canonical: (answer) => ({ ...answer, id: 'new', created: 'now' }),
    },
  ];
  // PostGraphile only calls the function: it reads no address before, and it creates no idempotency key.
  const call = { account: platform, operation: 'createDeposit', request: {} };
  const args = {
    amount: '12500',
    currency: 'USD',
    toAccountId: receiver,
    toAddressId: addressOfReceiver,
    fromAccountId: null,
    fromAddressId: null,
    paymentMethod: 'domestic_credit',
    statementDescriptor: 'INVOICE 17',
  };

  return [
    {
      name: 'Q1',
      title: 'one account, 20 fields with nested hashes',
      asks: {
        ...same(Q1, (data) => accountOf(data.account), ids),
        postgraphile: graph(
          graphileQ1,
          (data) => graphileAccount(data.accountByTenantIdAndLivemodeAndRowId),
          ids.map((id) => ({ ...id, tenant })),
        ),
      },
    },
    {
      name: 'Q2',
      title: 'a list of 10 accounts with the same fields',
      asks: {
        ...same(Q2, (data) => data.accounts.nodes.map(accountOf)),
        postgraphile: graph(graphileQ2, (data) => data.allAccounts.nodes.map(graphileAccount), [{ tenant }]),
      },
    },
    {
      name: 'Q3',
      title: 'dashboard: 10 accounts, each with setting, 5 addresses, 5 deposits with their payers, balance',
      asks: {
        ...same(Q3, (data) => data.accounts.nodes.map(dashboardOf)),
        postgraphile: graph(graphileQ3, (data) => data.allAccounts.nodes.map(graphileDashboard), [{ tenant }]),
      },
    },
    {
      name: 'Q3 differing',
      title: 'the dashboard of the 10 accounts after another account each time, so that no reads are shared',
      asks: same(
        Q3After,
        (data) => data.accounts.nodes.map(dashboardOf),
        users.map((after) => ({ after })),
      ),
    },
    {
      name: 'M1',
      title: 'create a deposit',
      writes: true,
      asks: {
        ...same(M1, (data) => written(data.createDeposit.deposit), [{ input }]),
        postgraphile: graph(graphileM1, (data) => written(graphileDeposit(data.createDeposit.result[0])), [
          { input: { pTenant: tenant, pLive: false, pEnvelope: call, pArgs: args } },
        ]),
      },
    },
    pair('REST by id', 'GET /v1/accounts/:id', get(...users.map((id) => `/v1/accounts/${id}`))),
    pair('REST list', 'GET /v1/accounts, 10 of them', get('/v1/accounts')),
    { ...pair('REST create', 'POST /v1/deposits', post), writes: true },
    pair('first page', 'GET /v1/deposits, the newest 10', get('/v1/deposits')),
    pair('deep page', 'GET /v1/deposits from the middle of all', get(`/v1/deposits?starting_after=${deep}`)),
    pair('balance', 'GET /v1/balance of one account', get(...users.map((id) => `/v1/balance?account_id=${id}`))),
    {
      name: 'totals',
      title: 'dashboard totals: a month of deposits of one account by day, method and currency',
      asks: { tidegate: graph(totals(), (data) => data.account.depositTotals, ids) },
    },
  ];
}

function pair(name: string, title: string, asks: Ask[]): Workload {
  return { name, title, asks: { tidegate: asks, rest: asks } };
}

function totals(): string {
  const day = 86_400_000;
  const at = (days: number) => new Date(Math.floor(Date.now() / day) * day + days * day).toISOString();
  return (
    `query Totals($id: ID!) { account(id: $id) { depositTotals(from: "${at(-30)}", to: "${at(0)}", interval: ` +
    'DAY) { start paymentMethod currency count amount } } }'
  );
}

const time = (text: string) => Date.parse(text) / 1000;
const moneyText = (minor: string) => `${minor.padStart(3, '0').slice(0, -2)}.${minor.padStart(3, '0').slice(-2)}`;

function accountOf(a: any) {
  return { ...a, created: time(a.created) };
}
function dashboardOf(a: any) {
  const deposits = a.depositsIn.nodes.map((d: any) => ({ ...d, created: time(d.created) }));
  return { ...a, depositsIn: { nodes: deposits } };
}

/** PostGraphile has its own names, complete hashes, and enums as they are stored. */
function graphileAccount({ rowId: id, businessDetails: b, ...a }: any) {
  const { line1, city, state, postalCode, country } = b.physicalAddress;
  const { legalName, dba, email, website, merchantCategoryCode } = b;
  return {
    id,
    ...a,
    created: Number(a.created),
    type: a.type.toUpperCase(),
    status: a.status.toUpperCase(),
    address: a.address.toUpperCase(),
    businessDetails: {
      ...{ legalName, dba, email, website, type: b.type.toUpperCase(), merchantCategoryCode },
      ids: { business: b.ids.business, tax: b.ids.tax },
      physicalAddress: { line1, city, state, postalCode, country },
    },
  };
}
function graphileDashboard({ rowId: id, nickname, status, setting, addresses, depositsIn, balances }: any) {
  const each = (name: string) => balances.nodes.map((b: any) => ({ amount: moneyText(b[name]), currency: b.currency }));
  return {
    id,
    nickname,
    status: status.toUpperCase(),
    setting: {
      id: setting.rowId,
      liveFx: setting.liveFx,
      payouts: { enabled: setting.payoutsEnabled, interval: setting.payoutsInterval.toUpperCase() },
    },
    addresses: {
      nodes: addresses.nodes.map(({ rowId, category, currency, status: s, bankAccount }: any) => ({
        ...{ id: rowId, category: category.toUpperCase(), currency, status: s.toUpperCase() },
        bankAccount: { bankName: bankAccount.bankName, last4: bankAccount.last4 },
      })),
    },
    depositsIn: {
      nodes: depositsIn.nodes.map((d: any) => ({
        ...{ id: d.rowId, created: Number(d.created), amount: moneyText(d.amount), currency: d.currency },
        ...{ status: d.status.toUpperCase(), fromAccount: d.fromAccount },
      })),
    },
    balance: { available: each('available'), pending: each('pending') },
  };
}
function graphileDeposit({
  rowId,
  amount,
  status,
  paymentMethod,
  fromAccountId,
  fromAddressId,
  toAccountId,
  toAddressId,
  ...d
}: any) {
  return {
    ...d,
    id: rowId,
    amount: moneyText(amount),
    status: status.toUpperCase(),
    paymentMethod: paymentMethod.toUpperCase(),
    from: { accountId: fromAccountId, addressId: fromAddressId },
    to: { accountId: toAccountId, addressId: toAddressId },
  };
}
