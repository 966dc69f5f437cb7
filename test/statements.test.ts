import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, nickname, type Speaker, useWorld } from './world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let platform: Speaker;
let users: Speaker[];

beforeAll(async () => {
  platform = await given.platform(1);
  users = [];
  for (let i = 0; i < 8; i++) users.push(await platform.connectedUser());
});

/** How many statements something takes, the key's own apart. */
async function statementsOf(ask: () => Promise<{ status: number; body: any }>): Promise<number> {
  const { database } = world;
  const { read, text, call } = database;
  let count = 0;
  database.read = ((...args: Parameters<typeof read>) => {
    if (args[0] !== 'key_holder') count++;
    return read.apply(database, args);
  }) as typeof read;
  database.text = ((...args: Parameters<typeof text>) => {
    count++;
    return text.apply(database, args);
  }) as typeof text;
  database.call = (...args) => {
    if (args[0] !== 'touch_api_key') count++;
    return call.apply(database, args);
  };
  try {
    const { status, body } = await ask();
    expect([status, body.errors]).toEqual([200, undefined]);
  } finally {
    Object.assign(database, { read, text, call });
  }
  return count;
}

const fields = 'id nickname status businessDetails { legalName ids { tax } physicalAddress { city } } metadata';
const dashboard = `nodes { ${fields} setting { payouts { enabled } } addresses(first: 5) { nodes { id } }
  depositsIn(first: 5) { nodes { amount fromAccount { nickname } } } balance { available { amount } } }`;

/** What is measured against the peers takes this many statements of the resolvers, whatever the number of parents. */
const queries: [name: string, query: string, statements: number][] = [
  ['one account', `query ($id: ID!) { account(id: $id) { ${fields} } }`, 1],
  ['a list of accounts', `query ($first: Int) { accounts(first: $first) { nodes { ${fields} } } }`, 1],
  // No deposit here has a payer, so the payers' statement is not needed.
  ['the dashboard', `query ($first: Int) { accounts(first: $first) { ${dashboard} } }`, 5],
  [
    'a chain of edges',
    'query ($first: Int) { accounts(first: $first) { nodes { partners { nodes { owner { setting { id } } } } } } }',
    2,
  ],
  ['two aliases of one account', 'query ($id: ID!) { a: account(id: $id) { id } b: account(id: $id) { nickname } }', 1],
];

describe('the number of statements', () => {
  it.each(queries)('is fixed: %s', async (_, query, statements) => {
    const asked = [1, 8, 1, 8].map((first) => (query.includes('$id') ? { id: users[0]!.id } : { first }));
    const taken = [];
    for (const variables of asked) taken.push(await statementsOf(() => platform.graph(query, variables)));
    // From the third time on PostgreSQL answers the query whole.
    expect(taken).toEqual([statements, statements, 1, 1]);
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
      'query ($first: Int) { receivables(first: $first) { nodes { checkouts(first: 1) { totalCount nodes { id } } } } }';
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

  it('of a write is one, after those that look for what it needs', async () => {
    const query =
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    // The platform is looked up, and the function called.
    for (let i = 0; i < 2; i++)
      expect(await statementsOf(() => platform.graph(query, { input: { nickname: nickname() } }))).toBe(2);
  });

  it('is one for an object and one for a page of /v1', async () => {
    expect(await statementsOf(() => platform.get(`/v1/accounts/${users[0]!.id}`))).toBe(1);
    expect(await statementsOf(() => platform.get('/v1/accounts'))).toBe(1);
    expect(await statementsOf(() => platform.get('/v1/deposits'))).toBe(1);
    expect(await statementsOf(() => platform.get(`/v1/balance?account_id=${users[0]!.id}`))).toBe(1);
  });

  it('of a deposit are two: where it goes, and the write', async () => {
    const receiver = await given.directUser(1);
    const body = { amount: '10.00', currency: 'USD' };
    expect(await statementsOf(() => receiver.post('/v1/deposits', body))).toBe(2);
  });
});
