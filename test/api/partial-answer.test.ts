import { getNamedType, type GraphQLField, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { locked } from './holding.js';
import { eventually, givenIn, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const hasty = useWorld({ worker: false, environment: { SLOW_SECONDS: '1' } });
const given = givenIn(world);
const schema = buildGraph();

/** The errors of an answer by the names of their paths, with their codes. */
const refusals = ({ body }: Reply): Record<string, string> =>
  Object.fromEntries((body.errors ?? []).map((each: any) => [each.path.join('.'), each.extensions.error.code]));

/** What can be compared of the answers to one document. */
const comparable = ({ status, headers, text, body }: Reply) => ({
  status,
  retryAfter: headers.get('retry-after'),
  // What is left of the allowance depends on the time.
  text: text.replaceAll(body.extensions.requestId, '').replace(/"remaining":.*/s, ''),
});

/** The answers to a document by the resolvers, and from the third on by a compiled statement where one is possible. */
async function answers(speaker: Speaker, query: string, variables: object = {}): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (let i = 0; i < 4; i++) replies.push(await speaker.graph(query, variables));
  return replies;
}

describe('a refused field', () => {
  let user: Speaker;
  let platform: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
    platform = await given.platform(1);
    for (let i = 0; i < 3; i++) await user.partner();
  });

  const deposits = `mutation ($x: CreateDepositInput!, $y: CreateDepositInput!) {
    first: createDeposit(input: $x) { deposit { id amount } }
    second: createDeposit(input: $y) { deposit { id } }
    third: createDeposit(input: $x) { deposit { id } }
  }`;
  const sides = async () => {
    const { id } = await user.partner();
    return { x: deposit(id), y: deposit('account_nope') };
  };
  const deposit = (from: string) => ({
    ...{ amount: '500.00', currency: 'USD' },
    ...{ from: { accountId: from }, to: { accountId: user.id } },
  });

  it('of a mutation leaves the answers of those that were done, before and after it', async () => {
    const before = (await user.get('/v1/deposits')).body.data.length;
    const reply = await user.graph(deposits, await sides());
    expect([reply.status, refusals(reply)]).toEqual([200, { second: 'resource_missing' }]);
    const { first, second, third } = reply.body.data;
    expect([first.deposit.amount, second]).toEqual(['500.00', null]);
    const stored = (await user.get('/v1/deposits')).body.data.map(({ id }: { id: string }) => id);
    expect(stored).toHaveLength(before + 2);
    expect(stored).toEqual(expect.arrayContaining([first.deposit.id, third.deposit.id]));
  });

  it('is each of several mutations that share an Idempotency-Key, which stores nothing', async () => {
    const before = (await user.get('/v1/deposits')).text;
    const reply = await user.graph(deposits, await sides(), { 'idempotency-key': 'several' });
    const code = 'idempotency_key_ambiguous';
    expect(reply.body.data).toEqual({ first: null, second: null, third: null });
    expect(refusals(reply)).toEqual({ first: code, second: code, third: code });
    expect((await user.get('/v1/deposits')).text).toBe(before);
  });

  it('is the same when its request is repeated with its key', async () => {
    const ask = () =>
      user.graph(
        'mutation ($y: CreateDepositInput!) { made: createDeposit(input: $y) { deposit { id } } }',
        { y: deposit('account_nope') },
        { 'idempotency-key': 'refused-once' },
      );
    const [one, other] = [await ask(), await ask()];
    expect([one.body.data, refusals(one)]).toEqual([{ made: null }, { made: 'resource_missing' }]);
    expect([other.body.data, refusals(other)]).toEqual([{ made: null }, { made: 'resource_missing' }]);
  });

  it.each(['application/json', 'application/graphql-response+json'])(
    'leaves the status 200 and the other fields: %s',
    async (accept) => {
      const query = '{ viewer { mode } deposits(first: 0) { nodes { id } } accounts(first: 1) { nodes { id } } }';
      const reply = await user.graph(query, {}, { accept });
      expect([reply.status, refusals(reply)]).toEqual([200, { deposits: 'parameter_invalid' }]);
      expect(reply.body.data).toEqual({
        viewer: { mode: 'TEST' },
        deposits: null,
        accounts: { nodes: [{ id: expect.any(String) }] },
      });
    },
  );

  /** A selection of what a field answers. */
  const selection = (field: GraphQLField<unknown, unknown>): string => {
    const type = getNamedType(field.type);
    return isObjectType(type) ? '{ __typename }' : '';
  };
  /** Arguments that the field refuses. */
  const wrong: Record<string, string> = {
    balanceChart: 'from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z", interval: DAY',
    depositChart: 'from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z", interval: DAY',
    balanceHistory: 'from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z", interval: DAY',
    depositTotals: 'from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z", interval: DAY',
    balanceStatement: 'from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z", currency: USD',
    topUsers: 'from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z"',
    receivableAgeing: 'timeZone: "Nowhere/Land"',
    billedAgeing: 'timeZone: "Nowhere/Land"',
  };
  /** Figures that refuse no argument. Only an outage can refuse them. */
  const always = ['attention', 'balance', 'receivableTotals', 'statusCounts'];
  const account = schema.getType('Account');
  const below = isObjectType(account)
    ? Object.values(account.getFields()).filter(({ args, name }) => args.length > 0 && !always.includes(name))
    : [];

  it.each(below.map((field) => [field.name, field] as const))(
    'of an account is null alone, by the resolvers and by a compiled query alike: %s',
    async (name, field) => {
      const args = wrong[name] ?? 'first: 0';
      const refused = `${name}(${args}) ${selection(field)}`;
      const query = `{ viewer { account { id other: persons(first: 1) { __typename } ${refused} } } }`;
      const list = `{ accounts(first: 2) { nodes { id ${refused} } } }`;
      const [first, ...more] = await answers(user, query);
      expect([first!.status, Object.keys(refusals(first!))]).toEqual([200, [`viewer.account.${name}`]]);
      expect(first!.body.data.viewer.account).toEqual({
        id: user.id,
        other: { __typename: 'PersonConnection' },
        [name]: null,
      });
      for (const each of more) expect(comparable(each)).toEqual(comparable(first!));
      const [listed, ...again] = await answers(user, list);
      expect(listed!.body.data.accounts.nodes.map((node: any) => node[name])).toEqual([null, null]);
      expect(Object.keys(refusals(listed!))).toEqual([`accounts.nodes.0.${name}`, `accounts.nodes.1.${name}`]);
      for (const each of again) expect(comparable(each)).toEqual(comparable(listed!));
    },
  );

  it('of a list that the key may not see is null alone', async () => {
    const query = '{ viewer { mode } connectedAccountSettings(first: 1) { nodes { id } } }';
    const replies = await answers(user, query);
    for (const reply of replies) {
      expect(reply.body.data).toEqual({ viewer: { mode: 'TEST' }, connectedAccountSettings: null });
      expect(refusals(reply)).toEqual({ connectedAccountSettings: 'permission_denied' });
    }
  });

  it('counts once for each parent that has it, and an answer with more than 1,000 is refused', async () => {
    const nodes = Array.from({ length: 100 }, () => `"${platform.id}"`).join(' ');
    const names = ['addresses', 'depositsIn', 'depositsOut', 'files', 'partners', 'payments', 'payouts', 'persons'];
    const edges = names.map((name) => `${name}(first: 0) { nodes { id } }`).join(' ');
    const lists = Array.from({ length: 9 }, (_, i) => `n${i}: nodes(ids: [${nodes}]) { ... on Account { ...E } }`);
    const query = `{ ${lists.join(' ')} } fragment E on Account { ${edges} }`;
    const small = await world.another({ environment: { GRAPHQL_TOKENS_MAX: '9999' } });
    const answer = await fetch(`${small}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    await world.endLast();
    const { data, errors } = (await answer.json()) as any;
    expect([answer.status, data, errors.map((each: any) => each.extensions.code)]).toEqual([
      400,
      undefined,
      ['ANSWER_TOO_LARGE'],
    ]);
  });
});

describe('a field that PostgreSQL takes too long for', () => {
  it.each([
    [
      'a list',
      'deposit',
      '{ slow: deposits(currency: ["AED"]) { nodes { id } } accounts(first: 1) { nodes { __typename } } }',
      { slow: null, accounts: { nodes: [{ __typename: 'Account' }] } },
      ['slow'],
    ],
    [
      'the lists of two accounts',
      'deposit',
      '{ accounts(first: 2, orderBy: CREATED_ASC) { nodes { slow: depositsIn(currency: ["AED"]) { nodes { id } } } } }',
      { accounts: { nodes: [{ slow: null }, { slow: null }] } },
      ['accounts.nodes.0.slow', 'accounts.nodes.1.slow'],
    ],
    [
      'two lists',
      'deposit',
      '{ a: deposits(currency: ["AED"]) { nodes { id } } b: deposits(currency: ["EUR"]) { nodes { id } } ' +
        'c: accounts(first: 1) { nodes { __typename } } }',
      { a: null, b: null, c: { nodes: [{ __typename: 'Account' }] } },
      ['a', 'b'],
    ],
    [
      'numbers by status',
      'deposit',
      '{ viewer { account { statusCounts { deposits { total } } receivableTotals { currencies { currency } } } } }',
      { viewer: { account: { statusCounts: null, receivableTotals: { currencies: [] } } } },
      ['viewer.account.statusCounts'],
    ],
    [
      'totals of receivables',
      'receivable',
      '{ viewer { account { receivableTotals { currencies { currency } } persons { nodes { id } } } } }',
      { viewer: { account: { receivableTotals: null, persons: { nodes: [] } } } },
      ['viewer.account.receivableTotals'],
    ],
    [
      'a balance of the past',
      'entry',
      '{ viewer { account { balance(asOf: "2026-01-01T00:00:00Z") { accountId } persons { nodes { id } } } } }',
      { viewer: { account: { balance: null, persons: { nodes: [] } } } },
      ['viewer.account.balance'],
    ],
  ])('is null alone, also in a compiled query: %s', async (_, table, query, data, paths) => {
    const user = await givenIn(hasty).directUser(1);
    await user.partner();
    // Its statement exists before the table is locked.
    await answers(user, query);
    const free = await locked(hasty, table);
    try {
      for (let i = 0; i < 2; i++) {
        const reply = await user.graph(query);
        expect([reply.status, reply.headers.get('retry-after'), reply.body.data]).toEqual([200, '1', data]);
        expect(refusals(reply)).toEqual(Object.fromEntries(paths.map((path) => [path, 'service_unavailable'])));
        expect(reply.body.errors[0].message).toContain('PostgreSQL took longer than 1 s for this request');
      }
    } finally {
      await free();
    }
    // On a busy machine a statement may once more take longer than 1 s.
    await eventually(
      () => user.graph(query),
      ({ body }) => body.errors === undefined,
    );
  });
});
