import {
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isCompositeType,
  isObjectType,
  isUnionType,
  isRequiredArgument,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { seedTrade } from './trade.js';
import { givenIn, nickname, type Speaker, useWorld } from '../support/world.js';
import { covering } from '../support/scale.js';

// Counts the statements of documents that are larger than clients may send.
const world = useWorld({ worker: false, environment: { GRAPHQL_NODES_MAX: '100000', GRAPHQL_TOKENS_MAX: '20000' } });
const given = givenIn(world);
const schema = buildGraph();
/** A platform whose users have traded and have every kind of object. */
let platform: Speaker;
/** A platform with users that have no objects yet. */
let newcomer: Speaker;
let users: Speaker[];

beforeAll(async () => {
  platform = await given.platform(2);
  await seedTrade(world.sql, {
    platform: platform.id,
    edition: 2,
    livemode: false,
    users: 12,
    trades: 20,
    others: 3,
  });
  for (let i = 0; i < 10; i++) await platform.partner();
  for (const statement of completed(platform.id)) await world.sql.unsafe(statement);
  newcomer = await given.platform(1);
  users = [];
  for (let i = 0; i < 8; i++) users.push(await newcomer.connectedUser());
});

/**
 * Gives the traded objects what trade does not: documents, the payout of each batch of locks, reconciliations,
 * transfers, and a delivery with its event for each webhook endpoint.
 */
function completed(owner: string): string[] {
  const tenantAndMode = `(tenant_id, livemode) = ('${owner.replace('account_', '')}', false)`;
  const file = "'file_' || right(id, 8)";
  return [
    `update account set supporting_documentation = supporting_documentation ||
       jsonb_build_object('ownershipStructureDocument', ${file}, 'physicalAddressDocument', ${file})
     where ${tenantAndMode} and owner_id is not null`,
    `update address set supporting_documentation = jsonb_build_object('idDocument', ${file})
     where ${tenantAndMode} and linked_id <> '${owner}'`,
    `update lock_batch b set payout_id = (
       select max(p.id) from payout p
       where (p.tenant_id, p.livemode, p.account_id, p.source_currency) =
         (b.tenant_id, b.livemode, b.account_id, b.held_in))
     where ${tenantAndMode}`,
    `update event set type = 'deposit.reconciled',
       data = data || jsonb_build_object('allocations', jsonb_build_array(
         jsonb_build_object('receivable_id', 'receivable_' || right(id, 8), 'amount', '500')))
     where ${tenantAndMode} and object = 'deposit'`,
    `update payment set type = 'transfer' where ${tenantAndMode} and type = 'deposit'`,
    `update webhook_delivery set endpoint_id = 'webhook_' || right(id, 8),
       event_id = 'event_' || right(id, 8), context_id = 'account_user_' || right(id, 8)
     where ${tenantAndMode}`,
    // The newest events are those of the deposits.
    `update event set created = created - 31536000 where ${tenantAndMode} and object <> 'deposit'`,
  ];
}

/** How many statements a request takes, without the key's own. */
async function statementsOf(ask: () => Promise<{ status: number; body: any }>): Promise<number> {
  const { observers } = world.database;
  let count = 0;
  observers.push({
    began({ name, pool }) {
      if (
        pool !== 'worker' &&
        pool !== 'poll' &&
        !['key_owner', 'touch_api_key', 'take_allowance', 'count_senders'].includes(name)
      )
        count++;
      return () => {};
    },
  });
  try {
    const { status, body } = await ask();
    expect([status, body.errors]).toEqual([200, undefined]);
  } finally {
    observers.pop();
  }
  return count;
}

const fields = 'id nickname status businessDetails { legalName ids { tax } physicalAddress { city } } metadata';

/** The resolvers take this number of statements, for every number of parents. */
const queries: [name: string, query: string, statements: number, whole: number][] = [
  ['one account', `query ($id: ID!) { account(id: $id) { ${fields} } }`, 1, 1],
  ['a list of accounts', `query ($first: Int) { accounts(first: $first) { nodes { ${fields} } } }`, 1, 1],
  // The accounts, their settings, addresses, deposits and balances, and the payers of the deposits.
  [
    'the dashboard',
    `query ($first: Int) { accounts(first: $first) { nodes {
      id nickname status setting { id liveFx payouts { enabled interval } }
      addresses(first: 5) { nodes { id category currency status bankAccount { bankName last4 } } }
      depositsIn(first: 5) { nodes { id created amount currency status fromAccount { nickname } } }
      balance { available { amount currency } pending { amount currency } } } } }`,
    6,
    1,
  ],
  // The receivables, their deposits, the payments of those, and the resulting balance transactions.
  [
    'receivables with their deposits',
    `query ($first: Int) { receivables(first: $first) { nodes { id amountLocked
      lockedDeposits { amount payment { balanceTransactions { nodes { category amount } } } } } } }`,
    4,
    1,
  ],
  // The checkouts, both accounts, the attempts with the effective one, the deposits and the receivables.
  [
    'checkouts',
    `query ($first: Int) { checkouts(first: $first) { nodes { id url status fromAccount { nickname } toAccount {
      nickname }
      effectiveTransaction { id } transactions(first: 5) { nodes { status } } deposit { amount } receivables { id } } }
      }`,
    6,
    6,
  ],
  [
    'a chain of edges',
    'query ($first: Int) { accounts(first: $first) { nodes { partners { nodes { owner { setting { id } } } } } } }',
    4,
    1,
  ],
  [
    'two aliases of one account',
    'query ($id: ID!) { a: account(id: $id) { id } b: account(id: $id) { nickname } }',
    1,
    1,
  ],
];

describe('the number of statements', () => {
  it.each(queries)('is fixed: %s', async (_, query, statements, whole) => {
    const asked = [2, 10, 2, 10].map((first) => (query.includes('$id') ? { id: platform.id } : { first }));
    const taken = [];
    for (const variables of asked) taken.push(await statementsOf(() => platform.graph(query, variables)));
    // From the third time on, PostgreSQL answers the complete query if it can.
    expect(taken).toEqual([statements, statements, whole, whole]);
  });
  it('is fixed: the checkouts of receivables, with their counts', async () => {
    const exporter = await given.directUser(2);
    const invoice = { amount: '100.00', currency: 'INR', creation_date: '2026-10-01', due_date: '2026-12-01' };
    const common = { currency: 'INR', purpose_code: 'P0802', transaction_type: 'services' };
    const from = { account_id: (await exporter.partner()).id };
    const receivables: { id: string }[] = [];
    for (let i = 0; i < 8; i++) {
      const body = { ...common, invoice: { ...invoice, reference_number: nickname() } };
      receivables.push({ id: (await exporter.post('/v1/receivables', body)).body.id });
    }
    const terms = { amount: '1.00', currency: 'INR', payment_methods: ['upi'], redirect_url: 'https://shop.example/' };
    expect((await exporter.post('/v1/checkouts', { ...terms, from, receivables })).status).toBe(200);
    const query =
      'query ($first: Int) { receivables(first: $first) { nodes { ' +
      'checkouts(first: 1) { totalCount nodes { id } } } } }';
    for (const first of [1, 8, 1, 8])
      expect(
        await statementsOf(async () => {
          const reply = await exporter.graph(query, { first });
          const counts = reply.body.data.receivables.nodes.map((node: any) => node.checkouts.totalCount);
          expect(counts).toEqual(Array(first).fill(1));
          return reply;
        }),
      ).toBe(3);
  });

  it('of a write is one, after those that read what it needs', async () => {
    const query =
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    // One reads the platform, and one calls the function.
    for (let i = 0; i < 2; i++)
      expect(await statementsOf(() => newcomer.graph(query, { input: { nickname: nickname() } }))).toBe(2);
  });

  it('is one for an object and one for a page of /v1', async () => {
    expect(await statementsOf(() => newcomer.get(`/v1/accounts/${users[0]!.id}`))).toBe(1);
    expect(await statementsOf(() => newcomer.get('/v1/accounts'))).toBe(1);
    expect(await statementsOf(() => newcomer.get('/v1/deposits'))).toBe(1);
    expect(await statementsOf(() => newcomer.get(`/v1/balance?account_id=${users[0]!.id}`))).toBe(1);
  });

  it('of a deposit is one, and with a payer three: its destination, the payer, and the write', async () => {
    const receiver = await given.directUser(1);
    const body = { amount: '10.00', currency: 'USD' };
    expect(await statementsOf(() => receiver.post('/v1/deposits', body))).toBe(1);
    const from = { account_id: (await receiver.partner()).id };
    expect(await statementsOf(() => receiver.post('/v1/deposits', { ...body, from }))).toBe(3);
  });
});

/** The lists of the graph, by the types of their objects. */
const roots = Object.values(schema.getQueryType()!.getFields()).filter(({ type }) => isConnection(type));

function isConnection(type: GraphQLField<unknown, unknown>['type']): boolean {
  return getNamedType(type).name.endsWith('Connection');
}
function nodeOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type = getNamedType(field.type) as GraphQLObjectType;
  return isConnection(type) ? nodeOf(type.getFields().nodes!) : type;
}
const resolved = (type: GraphQLObjectType) => Object.values(type.getFields()).filter((field) => field.resolve);

/** A field with its required arguments, all fields of a page, and a selection of its objects. */
function asked(field: GraphQLField<unknown, unknown>, below: string, paging = ''): string {
  const month = { from: '"2026-01-01T00:00:00Z"', to: '"2027-01-01T00:00:00Z"', interval: 'MONTH', currency: '"USD"' };
  const required = field.args.filter((arg) => isRequiredArgument(arg)).map(({ name }) => name as keyof typeof month);
  const args = [...required.map((name) => `${name}: ${month[name]}`), paging].filter(Boolean).join(', ');
  const head = args === '' ? field.name : `${field.name}(${args})`;
  const type = getNamedType(field.type);
  if (isConnection(type))
    return (
      `${head} { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { ` +
      `${below} } } nodes { ${below} } }`
    );
  return isCompositeType(type) ? `${head} { ${below} }` : head;
}

/** A scalar field of the objects of a field. */
function plain(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return '';
  if (isUnionType(type)) return '__typename';
  return 'id' in nodeOf(field).getFields() ? 'id' : '__typename';
}

const seeded = 'test/api/trade.ts gives the users of the platform rows of each kind';
/** What the users of the platform have none of, and what only the answer to a creation or a rotation has. */
const nothing = ['Account.connectedUsers', 'Payout.retriedBy', 'WebhookEndpoint.secret'];
/** Fields that need no row, or that have no rows here. */
const hollow = [
  'Deposit.methodDetails',
  'Deposit.bankDetails',
  'Deposit.receivableMatches',
  'Payment.source',
  'Account.nextPayoutAt',
  'Account.nextPayouts',
  'Account.payoutsBlockedBy',
  'Payout.completedAt',
  'Refund.completedAt',
  'Refund.failedAt',
  'Payout.expectedArrivalAt',
  'Account.requirements',
  'Account.capability',
  'Receivable.metadata',
  'Receivable.systemMessages',
  'Checkout.metadata',
  'Export.contentPath',
  'Event.deliveries',
  'Event.matchReasons',
  'Event.customer',
  ...['Checkout', 'Dispute', 'Payout', 'Receivable', 'Refund'].map((type) => `${type}.events`),
  'ImportRow.problems',
  'ImportRow.object',
];

/** Filters that select objects with a value at an edge, because the newest ones have none. */
const narrowed: Record<string, string> = {
  'Address.deposits': ', category: [SERVICE_RECEIVE]',
  'Deposit.disputedBy': `, created: { lt: "${new Date(Date.now() - 172_800_000).toISOString()}" }`,
};

const edges = roots.flatMap((root) =>
  resolved(nodeOf(root)).map((field) => [root.name, field.name, root, field] as const),
);

describe('the number of statements is independent of the number of parents', () => {
  const list = (root: GraphQLField<unknown, unknown>, field: GraphQLField<unknown, unknown>, below: string) => {
    const account = root.name === 'balanceTransactions' ? ', accountId: "account_user_00000001"' : '';
    const narrow = narrowed[`${nodeOf(root).name}.${field.name}`] ?? '';
    return (
      `query ($first: Int) { list: ${root.name}(first: $first${account}${narrow}) { totalCount nodes { ${below} ` +
      '} } }'
    );
  };
  /** The number for two parents and for ten, with the response for ten. */
  const taken = async (query: string) => {
    const counts: number[] = [];
    let nodes: any[] = [];
    for (const first of [2, 10])
      counts.push(
        await statementsOf(async () => {
          const reply = await platform.graph(query, { first });
          nodes = reply.body.data?.list?.nodes ?? [];
          expect([query, reply.body.errors, nodes.length], seeded).toEqual([query, undefined, first]);
          return reply;
        }),
      );
    return { counts, nodes };
  };

  // Where not everything is tried, an edge is read from one of the lists of its type.
  const tried = covering(edges, ([root, field, from]) => [root, `${nodeOf(from).name}.${field}`], 1);
  it.each(tried)('%s { %s }, with every field of its objects', async (_, __, root, field) => {
    const type = getNamedType(field.type);
    const name = `${nodeOf(root).name}.${field.name}`;
    const { counts, nodes } = await taken(list(root, field, asked(field, plain(field))));
    expect({ name, counts }).toEqual({ name, counts: [counts[0], counts[0]] });
    const empty = nodes.filter((node) => {
      const value = node[field.name];
      return value === null || (value.nodes ?? value).length === 0;
    });
    // Partners lack much of what users have. The same edges of `accounts` have values.
    if (!hollow.includes(name) && root.name !== 'partners')
      expect([name, empty.length], seeded).toEqual([name, nothing.includes(name) ? 10 : 0]);
    if (!isObjectType(type)) return;
    const further = resolved(nodeOf(field)).map((one) => asked(one, plain(one)));
    if (further.length === 0) return;
    const deep = await taken(list(root, field, asked(field, further.join(' '), isConnection(type) ? 'first: 3' : '')));
    expect({ name, counts: deep.counts }).toEqual({ name, counts: [deep.counts[0], deep.counts[0]] });
  });

  it.each(tried.filter(([, , , field]) => isConnection(field.type)))(
    '%s { %s }, from a cursor and backward',
    async (_, __, root, field) => {
      const of = nodeOf(field).name;
      const own = roots.find((one) => nodeOf(one).name === of);
      // The attempts to pay and the allocations have no root list.
      const others =
        of === 'Allocation' ? locks(root) : { newest: 'transaction_00000240', oldest: 'transaction_00000001' };
      const { newest, oldest } = own ? await endsOf(own) : await others;
      const beyond = [`first: 1, after: "${newest}"`, `last: 1, before: "${oldest}"`, 'last: 1'];
      // Every page is empty, so every cursor is checked.
      for (const paging of [...beyond, `first: 1, after: "${oldest}"`, `last: 1, before: "${newest}"`]) {
        const { counts } = await taken(list(root, field, asked(field, plain(field), paging)));
        expect([paging, counts]).toEqual([paging, [counts[0], counts[0]]]);
      }
    },
  );

  /** The ends of all allocations, in the order in which these parents have them. */
  const locks = async (root: GraphQLField<unknown, unknown>) => {
    const order = root.name === 'payouts' ? '(batch_id, id)' : 'id';
    const [row] = await world.sql.unsafe(
      `select array_agg(id order by ${order} desc) as ids from receivable_lock where tenant_id = $1`,
      [platform.id.replace('account_', '')],
    );
    return { newest: row!.ids.at(0) as string, oldest: row!.ids.at(-1) as string };
  };

  const endsOf = async (root: GraphQLField<unknown, unknown>) => {
    const account = root.name === 'balanceTransactions' ? ', accountId: "account_user_00000001"' : '';
    const { body } = await platform.graph(
      `{ newest: ${root.name}(first: 1${account}) { nodes { id } } oldest: ${root.name}(last: 1${account}) { ` +
        'nodes { id } } }',
    );
    return { newest: body.data.newest.nodes[0].id as string, oldest: body.data.oldest.nodes[0].id as string };
  };

  it('covers every list', () => {
    expect(roots.length).toBeGreaterThanOrEqual(14);
    expect(edges.length).toBeGreaterThan(70);
  });
});
