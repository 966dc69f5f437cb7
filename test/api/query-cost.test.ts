import fc from 'fast-check';
import {
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isEnumType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { demos } from '../../src/server/demo/demo.js';
import { buildGraph, publicSizes } from '../../src/api/graphql/server.js';
import { NodeCounter } from '../../src/api/graphql/query-cost.js';
import { buildOperatorGraph, sizes as operatorSizes } from '../../src/operator/graph/graph.js';
import { weights } from '../../src/types/weights.js';
import { routes } from '../../src/resources/registry.js';
import { workloads } from '../bench/workloads.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { scale } from '../support/scale.js';
import { givenIn, must, Speaker, useWorld, type World } from '../support/world.js';

const world = useWorld({
  worker: false,
  demo: true,
  environment: { OPERATOR_KEY: '0123456789abcdef0123456789abcdef' },
});
const given = givenIn(world);
const schema = buildGraph();
const counter = new NodeCounter(schema, publicSizes);
const runs = scale.documents;

/** The number of nodes that a document is estimated to touch. */
const estimated = (document: string, variables: Record<string, unknown> = {}, name?: string) =>
  counter.of(parse(document), name)!(variables);

/** How many statements a request runs, without the look-up of its key and the lease of its allowance. */
async function statementsOf({ database }: World, ask: () => Promise<unknown>): Promise<number> {
  const { read, text, call } = database;
  let count = 0;
  const counted = <T extends (...args: any[]) => any>(run: T) =>
    ((...args) => {
      if (!['key_owner', 'touch_api_key', 'take_allowance', 'count_senders'].includes(args[0])) count++;
      return run.apply(database, args);
    }) as T;
  Object.assign(database, { read: counted(read), text: counted(text), call: counted(call) });
  try {
    await ask();
  } finally {
    Object.assign(database, { read, text, call });
  }
  return count;
}

describe('the estimated cost of an operation', () => {
  const cases: [what: string, document: string, variables: Record<string, unknown>, nodes: number][] = [
    ['one object', '{ account(id: "x") { id owner { id } } }', {}, 2],
    ['a page of the default size', '{ deposits { nodes { id } } }', {}, 10],
    ['a page by a literal', '{ deposits(last: 7) { nodes { id } } }', {}, 7],
    ['a page by a variable', 'query ($n: Int) { deposits(first: $n) { nodes { id } } }', { n: 40 }, 40],
    ['a page by the default of a variable', 'query ($n: Int = 33) { deposits(first: $n) { nodes { id } } }', {}, 33],
    [
      'a page by a variable that is null',
      'query ($n: Int = 33) { deposits(first: $n) { nodes { id } } }',
      { n: null },
      10,
    ],
    ['a page by a variable without a value', 'query ($n: Int) { deposits(first: $n) { nodes { id } } }', {}, 10],
    ['a page that is too large, which is refused', '{ deposits(first: 5000) { nodes { id } } }', {}, 100],
    ['nodes and edges of one page', '{ deposits(first: 4) { nodes { id } edges { cursor node { id } } } }', {}, 8],
    ['a page of which only the end is selected', '{ deposits(first: 9) { pageInfo { endCursor } } }', {}, 9],
    [
      'pages in pages',
      '{ accounts(first: 5) { nodes { depositsIn(first: 6) { nodes { id fromAccount { id } } } } } }',
      {},
      65,
    ],
    ['aliases', '{ a: deposits(first: 3) { nodes { id } } b: deposits(first: 4) { nodes { id } } }', {}, 7],
    [
      'one field in two places',
      '{ deposits(first: 3) { nodes { id } } deposits(first: 3) { nodes { amount } } }',
      {},
      3,
    ],
    [
      'fragments that repeat a field',
      'query { accounts(first: 2) { nodes { ...A ...B ...A } } } fragment A on Account { owner { id } } ' +
        'fragment B on Account { owner { nickname } ...A }',
      {},
      4,
    ],
    ['objects by their ids', '{ nodes(ids: ["a", "b", "c"]) { id } }', {}, 3],
    ['objects by ids in a variable', 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ['a', 'b'] }, 2],
    [
      'the costliest type that an object may have',
      '{ node(id: "x") { ... on Account { depositsIn(first: 5) { nodes { id ' +
        '} } } ... on Deposit { toAccount { id } } } }',
      {},
      6,
    ],
    [
      'nothing for what a directive leaves out',
      '{ deposits(first: 9) @skip(if: true) { nodes { id } } viewer { mode } }',
      {},
      0,
    ],
    [
      'what a variable leaves out',
      'query ($no: Boolean!) { deposits(first: 9) { nodes { id toAccount @include(if: $no) { id } } } }',
      { no: false },
      9,
    ],
    [
      'what a variable lets in',
      'query ($yes: Boolean!) { deposits(first: 9) { nodes { id toAccount @include(if: $yes) { id } } } }',
      { yes: true },
      18,
    ],
    [
      'steps of a chart, in as many currencies as an account usually has',
      '{ account(id: "x") { balanceHistory(from: "2026-01-01T00:00:00Z", to: ' +
        '"2026-01-11T00:00:00Z", interval: DAY) { start } } }',
      {},
      45,
    ],
    [
      'a mutation',
      'mutation { createAccount(input: {}) { account { id partners(first: 20) { nodes { id } } } } }',
      {},
      21,
    ],
    [
      'values that come with their object',
      '{ accounts(first: 2) { nodes { balance { available { amount } } } } }',
      {},
      2,
    ],
    ['the schema', '{ __schema { types { name fields { name } } } }', {}, 0],
  ];
  it.each(cases)('counts %s', (_, document, variables, nodes) => {
    expect(estimated(document, variables).nodes).toBe(nodes);
  });

  it('belongs to the operation that is named', () => {
    const document = 'query A { deposits(first: 3) { nodes { id } } } query B { deposits(first: 5) { nodes { id } } }';
    expect([estimated(document, {}, 'A').nodes, estimated(document, {}, 'B').nodes]).toEqual([3, 5]);
    expect(counter.of(parse(document), 'C')).toBeUndefined();
  });

  it('is at most a tenth of the limit for every dashboard of the benchmark', () => {
    const ids = { tenant: 't', users: ['account_1'], receiver: 'account_1', deep: 'account_1', platform: 'account_1' };
    const asked = workloads(ids as never, 'address_1').flatMap(({ name, asks }) =>
      (asks.tidegate ?? []).flatMap(({ body }) => {
        const { query, variables } = (body ?? {}) as { query?: string; variables?: Record<string, unknown> };
        return query === undefined ? [] : [{ name, nodes: estimated(query, variables).nodes }];
      }),
    );
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter(({ nodes }) => nodes > 1_000)).toEqual([]);
  });

  it('uses the size of every list, in both schemas', () => {
    const { 'Deposit.receivables': _, ...lists } = publicSizes.lists;
    expect(() => new NodeCounter(schema, { ...publicSizes, lists })).toThrow(
      'the list Deposit.receivables has no size',
    );
    const more = { ...operatorSizes.lists, 'Account.nothing': 1 };
    expect(() => new NodeCounter(buildOperatorGraph(), { ...operatorSizes, lists: more })).toThrow('Account.nothing');
  });
});

describe('an operation that could touch too many nodes', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });
  const inner = (levels: number): string =>
    levels === 0 ? 'id' : `toAccount{depositsIn(first:100){nodes{${inner(levels - 1)}}}}`;
  const query = (levels: number) => `{deposits(first:100){nodes{${inner(levels)}}}}`;
  const sized = 'query ($n: Int) { accounts(first: $n) { nodes { depositsIn(first: $n) { nodes { id } } } } }';

  it.each([
    [2, '1020200', '1000000'],
    [3, '102020200', '100000000'],
  ])(
    'is refused before any statement runs, with the path and the numbers: %i levels of deposits',
    async (levels, all, most) => {
      expect(query(2)).toHaveLength(114);
      for (let ask = 0; ask < 4; ask++) {
        let reply!: Awaited<ReturnType<typeof user.graph>>;
        const statements = await statementsOf(world, async () => {
          reply = await user.graph(query(levels));
        });

        expect([reply.status, reply.body]).toEqual([
          400,
          {
            errors: [
              {
                message:
                  `The operation could touch ${all} nodes, of which ${most} are at ` +
                  `deposits.nodes${'.toAccount.depositsIn.nodes'.repeat(levels)}; the limit is 10000. Ask for ` +
                  'smaller pages with first or last, or for the inner objects in requests of their own.',
                extensions: {
                  ...{ code: 'QUERY_TOO_LARGE', docUrl: '/docs/errors#QUERY_TOO_LARGE' },
                  requestId: reply.headers.get('request-id'),
                },
              },
            ],
            extensions: { requestId: reply.headers.get('request-id') },
          },
        ]);
        expect(statements).toBe(0);
      }
    },
  );

  it('is refused by its variables, also when its document is cached', async () => {
    for (let ask = 0; ask < 4; ask++) {
      const [small, large] = [await user.graph(sized, { n: 99 }), await user.graph(sized, { n: 100 })];
      expect([small.status, small.body.errors]).toEqual([200, undefined]);
      expect([large.status, large.codes]).toEqual([400, [undefined]]);
      expect(large.body.errors[0].extensions.code).toBe('QUERY_TOO_LARGE');
    }
  });

  it('is refused as a GET too', async () => {
    const reply = await user.get(`/graphql?query=${encodeURIComponent(query(2))}`);
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([400, 'QUERY_TOO_LARGE']);
  });

  it('is refused for the operator too', async () => {
    const document = '{ accounts(first: 200) { nodes { id persons { id } files { id } addresses { id } } } }';
    const more =
      '{ accounts(first: 200) { nodes { id persons { id } files { id } addresses { id } } } payouts(first: ' +
      '200) { nodes { account { persons { id } files { id } addresses { id } } } } }';
    const ask = (asked: string) =>
      fetch(`${world.origin}/operator/graphql`, {
        method: 'POST',
        headers: { authorization: 'Bearer 0123456789abcdef0123456789abcdef', 'content-type': 'application/json' },
        body: JSON.stringify({ query: asked }),
      });
    expect((await ask(document)).status).toBe(200);
    const refused = await ask(more);
    expect([refused.status, ((await refused.json()) as any).errors[0].extensions.code]).toEqual([
      400,
      'QUERY_TOO_LARGE',
    ]);
  });
});

describe('a limit of 100 nodes', () => {
  const small = useWorld({ worker: false, environment: { GRAPHQL_NODES_MAX: '100' } });

  it('counts the returned nodes where the estimate uses a usual size: receivables that one deposit paid', async () => {
    const payee = await PayeeFixture.open(small);
    const { user } = payee;
    const deposit = await user.post('/v1/deposits', {
      ...{ amount: '120.00', currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' },
    });
    expect([deposit.fieldNames, deposit.status]).toEqual([[], 200]);
    const { id } = deposit.body;
    await must(user.post(`/v1/test_helpers/deposits/${id}/process`));
    await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
    const receivables = await Promise.all(Array.from({ length: 100 }, () => payee.receivable('1.00')));
    const reconciled = await user.post(`/v1/deposits/${id}/reconcile`, {
      receivables: receivables.map((each) => ({ id: each, amount: '1.00' })),
    });
    expect([reconciled.fieldNames, reconciled.status]).toEqual([[], 200]);

    for (let ask = 0; ask < 4; ask++) {
      const reply = await user.graph(`{ deposit(id: "${id}") { id receivables { id } } }`);
      expect([reply.status, reply.codes]).toEqual([400, ['answer_too_large']]);
      expect(reply.body.data ?? null).toBeNull();
      expect((await user.graph('{ deposits(first: 100) { nodes { id } } }')).body.errors).toBeUndefined();
    }
  });
});

describe('a random document', () => {
  let speakers: Speaker[];
  let ids: string[];
  beforeAll(async () => {
    speakers = (await demos(world.operator, world.pepper)).map(
      ({ accountId, testKey, edition }) => new Speaker(world, accountId, testKey, edition),
    );
    const found = await speakers[0]!.graph(
      '{ accounts(first: 20) { nodes { id } } deposits(first: 20) { nodes { ' +
        'id } } receivables(first: 20) { nodes { id } } }',
    );
    ids = Object.values<any>(found.body.data).flatMap(({ nodes }) => nodes.map(({ id }: any) => id));
    expect(ids.length).toBeGreaterThan(20);
  });

  interface Written {
    text: string;
    fragments: string[];
  }

  /**
   * Writes a selection of a type; every object selects its typename, so that the nodes of a response can be counted.
   */
  function selection(gen: (max: number) => number, type: GraphQLObjectType, depth: number, written: Written): string {
    const fields = Object.values(type.getFields()).filter((field) => fits(field, depth));
    const chosen = Array.from({ length: 1 + gen(3) }, () => fields[gen(fields.length)]!).filter(Boolean);
    const parts = ['__typename', ...chosen.map((field) => fieldText(gen, field, depth, written))];
    return parts.join(' ');
  }
  const fits = (field: GraphQLField<unknown, unknown>, depth: number) => {
    const type = getNamedType(field.type);
    if (field.args.some(({ name, type: given }) => isNonNullType(given) && !(name in required))) return false;
    // An id of another type would make the response null; `node` accepts each type.
    if (field.name !== 'node' && field.args.some(({ name }) => name === 'id')) return false;
    if (otherwise.has(field.name)) return false;
    return depth > 0 || !(isObjectType(type) || isInterfaceType(type));
  };
  /** Fields that one of the editions lacks, or that need more arguments than a list of objects does. */
  const otherwise = new Set(['checkouts', 'connectedAccountSettings', 'balance', 'balanceAggregate', 'events']);
  const required: Record<string, (gen: (max: number) => number) => string> = {
    id: (gen) => `"${ids[gen(ids.length)]}"`,
    ids: (gen) => `[${Array.from({ length: 1 + gen(4) }, () => `"${ids[gen(ids.length)]}"`).join(', ')}]`,
    from: () => '"2026-01-01T00:00:00Z"',
    to: () => '"2026-12-31T00:00:00Z"',
    interval: (gen) => ['WEEK', 'MONTH'][gen(2)]!,
  };
  function fieldText(
    gen: (max: number) => number,
    field: GraphQLField<unknown, unknown>,
    depth: number,
    written: Written,
  ): string {
    const args = field.args
      .filter(({ type }) => isNonNullType(type))
      .map(({ name }) => `${name}: ${required[name]!(gen)}`);
    if (field.args.some(({ name }) => name === 'first')) {
      const size = ['first: 1', 'first: 2', 'first: 3', 'last: 2', 'first: $n', ''][gen(6)]!;
      if (size) args.push(size);
    }
    const type = getNamedType(field.type);
    const alias = `f${gen(1_000_000)}: `;
    const given = args.length > 0 ? `(${args.join(', ')})` : '';
    const head = `${gen(8) === 0 || given !== '' ? alias : ''}${field.name}${given}`;
    if (isInterfaceType(type)) {
      const types = schema.getPossibleTypes(type);
      const each = [types[gen(types.length)]!, schema.getType('Account') as GraphQLObjectType];
      return (
        `${head} { __typename ` +
        `${each.map((t) => `... on ${t.name} { ${selection(gen, t, depth - 1, written)} }`).join(' ')} }`
      );
    }
    if (!isObjectType(type)) return isEnumType(type) || args.length === 0 ? head : head;
    const inside = selection(gen, type, depth - 1, written);
    if (gen(5) > 0) return `${head} { ${inside} }`;
    const name = `F${written.fragments.length}x${gen(1_000_000)}`;
    written.fragments.push(`fragment ${name} on ${type.name} { ${inside} }`);
    return `${head} { __typename ...${name} ...${name} }`;
  }

  const nodesIn = (answer: unknown): number => {
    if (Array.isArray(answer)) return answer.reduce<number>((sum, each) => sum + nodesIn(each), 0);
    if (typeof answer !== 'object' || answer === null) return 0;
    const { __typename: type } = answer as { __typename?: string };
    return (
      (type !== undefined && counter.counts(type) ? 1 : 0) +
      Object.values(answer).reduce<number>((sum, each) => sum + nodesIn(each), 0)
    );
  };

  /**
   * The least number of objects that were read for an answer: the members of each page once, and every other object.
   * Fields of a page may have aliases, so its longest list counts.
   */
  const objectsIn = (answer: unknown, ofPage = false): number => {
    if (Array.isArray(answer)) return answer.reduce<number>((sum, each) => sum + objectsIn(each, ofPage), 0);
    if (typeof answer !== 'object' || answer === null) return 0;
    const { __typename: type = '' } = answer as { __typename?: string };
    const isPage = /(Connection|Edge)$/.test(type);
    const lists = Object.values(answer).filter((value) => Array.isArray(value));
    const rows = type.endsWith('Connection') ? Math.max(0, ...lists.map(({ length }) => length)) : 0;
    const own = !ofPage && counter.counts(type) ? 1 : 0;
    return Object.values(answer).reduce<number>((sum, each) => sum + objectsIn(each, isPage), own + rows);
  };

  it(`never returns more nodes or points than its estimate, in ${runs} documents`, async () => {
    let answered = 0;
    let nodes = 0;
    await fc.assert(
      fc.asyncProperty(fc.gen(), fc.integer({ min: 1, max: 3 }), fc.boolean(), async (g, n, second) => {
        const gen = (max: number) => g(fc.integer, { min: 0, max: Math.max(max - 1, 0) });
        const written: Written = { text: '', fragments: [] };
        const body = selection(gen, schema.getQueryType()!, 7, written);
        // Every declared variable must be used.
        const [account, deposit] = ['Account', 'Deposit'].map((name) =>
          selection(gen, schema.getType(name) as GraphQLObjectType, 4, written),
        );
        const lists =
          `a: accounts(first: $n) { __typename nodes { ${account} } } d: deposits(last: 3) { __typename edges { ` +
          `__typename node { ${deposit} } } }`;
        const document = `query ($n: Int) { ${body} ${lists} } ${written.fragments.join(' ')}`;
        const reply = await speakers[second ? 1 : 0]!.graph(document, { n });
        // The edition lacks the root field, or the document has too many tokens: nothing ran, or that field did not.
        if (!reply.body.data) return;
        const [most, there] = [estimated(document, { n }), nodesIn(reply.body.data)];
        expect({ document, most: most.nodes >= there }).toEqual({ document, most: true });
        const { requested, actual } = reply.cost!;
        // A list that is longer than usual is taken afterwards.
        const foreseen = weights.request + most.points;
        expect({ document, requested }).toEqual({ document, requested: Math.max(foreseen, actual) });
        const least = weights.request + weights.object * objectsIn(reply.body.data);
        expect({ document, actual, within: least <= actual && actual <= requested }).toEqual({
          document,
          actual,
          within: true,
        });
        // The second and the third time, the answer may come from one statement; and the dry run foretells the cost.
        for (let i = 0; i < 2; i++) {
          const again = await speakers[second ? 1 : 0]!.graph(document, { n });
          expect({ document, cost: again.cost }).toMatchObject({ document, cost: { requested, actual } });
        }
        const foretold = await speakers[second ? 1 : 0]!.graph(
          `query ($it: DryRunInput) {
             rateLimit(dryRun: $it) { dryRun { requested paths { cost } problems { code } } } }`,
          { it: { query: document, variables: { n } } },
        );
        const { dryRun } = foretold.body.data.rateLimit;
        const sum = dryRun.paths.reduce((total: number, { cost }: { cost: number }) => total + cost, weights.request);
        expect({ document, ...dryRun, paths: sum }).toEqual({
          document,
          requested: foreseen,
          problems: [],
          paths: foreseen,
        });
        answered += 1;
        nodes += there;
      }),
      { numRuns: runs },
    );
    // Documents that find nothing would prove nothing: each selects an account and three deposits at least.
    expect(answered).toBeGreaterThan(runs / 2);
    expect(nodes).toBeGreaterThan(4 * answered);
  });

  it('has a price for each kind of field, however it is written', () => {
    const price = (document: string, variables = {}) => estimated(document, variables).points;
    const page = '{ deposits(first: 20) { nodes { id } } }';
    for (const same of [
      '{ deposits(first: 20) { __typename } }',
      '{ deposits(first: 20) { pageInfo { endCursor } } }',
      '{ deposits(first: 20, filter: { status: [COMPLETED], currency: ["USD"] }) { nodes { id } } }',
      '{ deposits(first: 20, scope: DESCENDANTS, filter: { unreconciled: true }) { nodes { id } } }',
      '{ deposits(first: 20) { ...F ...F } } fragment F on DepositConnection { nodes { id __typename } }',
      '{ ... on Query { x: deposits(last: 20) { edges { node { a: id b: id c: __typename } } } } }',
    ])
      expect(price(same)).toBe(price(page));
    expect(
      price('query ($f: DepositFilter) { deposits(first: 20, filter: $f) { nodes { id } } }', { f: { status: [] } }),
    ).toBe(price(page));
    expect(price('query ($n: Int) { deposits(first: $n) { nodes { id } } }', { n: 20 })).toBe(price(page));
    expect(price('query ($n: Int = 20) { deposits(first: $n) { nodes { id } } }')).toBe(price(page));
    expect(price('{ a: deposits(first: 20) { nodes { id } } b: deposits(first: 20) { nodes { id } } }')).toBe(40);
    expect(price('{ nodes(ids: ["a", "b", "c"]) { id } }')).toBe(3);
    expect(price('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ['a', 'b', 'c'] })).toBe(3);
    expect(price('{ a: deposits(first: 1) { x: totalCount y: totalCount } }')).toBe(200);
    expect(
      price(
        'mutation { a: voidReceivable(input: {}) { receivable { id } } b: ' +
          'voidReceivable(input: {}) { receivable { id } } }',
      ),
    ).toBe(102);
    expect(price('{ a: __schema { __typename } b: __type(name: "Account") { name } }')).toBe(1_000);
    expect(price('{ account(id: "x") { balance { accountId } } }')).toBe(2);
    expect(price('{ account(id: "x") { balance(asOf: "2026-01-01T00:00:00Z") { accountId } } }')).toBe(51);
    expect(price('query ($t: DateTime) { account(id: "x") { balance(asOf: $t) { accountId } } }', { t: 'T' })).toBe(51);
    expect(price('{ deposits(first: 20) { pageInfo { a: hasNextPage b: hasPreviousPage } } }')).toBe(22);
    expect(price('{ __typename }')).toBe(0);
  });
});

describe('a route of /v1', () => {
  const slow = useWorld({
    worker: false,
    environment: { RATE_LIMIT: 'enforce', RATE_LIMIT_BURST: '900000000', RATE_LIMIT_PER_SECOND: '1' },
  });

  it('costs its request and the objects that it answers, whatever its limit', async () => {
    const user = await givenIn(slow).directUser(1);
    await Promise.all(Array.from({ length: 12 }, () => user.partner()));
    const remaining = (reply: { headers: Headers }) => Number(/r=(\d+)/.exec(reply.headers.get('ratelimit')!)![1]);
    const lists = routes.filter(
      ({ method, answers, path }) => method === 'GET' && answers === 'list' && !path.includes(':'),
    );
    expect(lists.length).toBeGreaterThan(8);
    let answered = 0;
    // A point comes back each second, from the charge of the answer before, which was after its request was sent.
    let charged = performance.now();
    let before = remaining(await user.get(`/v1/accounts/${user.id}`));
    for (const { path } of lists)
      for (const query of ['', '?limit=1', '?limit=3', '?%6cimit=4', '?limit=10', '?limit=11', '?limit=1&limit=10']) {
        const started = performance.now();
        const reply = await user.get(`${path}${query}`);
        const after = remaining(reply);
        // The key may not call such a route, which is known before anything is charged.
        if (['route_missing', 'permission_denied'].includes(reply.codes[0]!)) {
          expect(after).toBeGreaterThanOrEqual(before);
          [before, charged] = [after, started];
          continue;
        }
        const restored = (performance.now() - charged) / 1_000 + 1;
        const objects = reply.status === 200 ? reply.body.data.length : 0;
        const cost = before - after;
        expect({ path, query, cost, is: Math.abs(cost - weights.request - objects) <= restored }).toEqual({
          ...{ path, query, cost },
          is: true,
        });
        answered += objects;
        [before, charged] = [after, started];
      }
    expect(answered).toBeGreaterThan(30);
  });
});
