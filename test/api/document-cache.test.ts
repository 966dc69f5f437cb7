import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getNamedType, isObjectType, parse } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { NodeCounter } from '../../src/api/graphql/query-cost.js';
import { buildGraph, graphRules, publicSizes } from '../../src/api/graphql/server.js';
import { SubscriptionRefused, subscriptionReader } from '../../src/api/graphql/subscription.js';
import { config } from '../../src/config/config.js';
import type { Context } from '../../src/operation/context.js';
import { RequestBudget } from '../../src/limits/budget.js';
import { documentLimitsOf } from '../../src/server/graphql/endpoints.js';
import { DocumentCache } from '../../src/api/graphql/document-cache.js';
import { QueryCompiler } from '../../src/api/graphql/compiler/compiler.js';
import { receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { givenIn, nickname, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let platform: Speaker;
let user: Speaker;

beforeAll(async () => {
  platform = await given.platform(1);
  user = await platform.connectedUser();
});

interface Asked {
  body: { query: string; variables?: unknown; operationName?: unknown; extensions?: unknown };
  headers?: Record<string, string>;
}

/** The complete response without the parts that differ each time. */
async function ask(speaker: Speaker, { body, headers: sent }: Asked) {
  const response = await fetch(`${world.origin}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${speaker.key}`, 'content-type': 'application/json', ...sent },
    body: JSON.stringify(body),
  });
  const requestId = response.headers.get('request-id')!;
  const text = await response.text();
  // The ids of two requests are not compressed to the same length.
  const parts = ['date', 'request-id', 'content-length', 'ratelimit'];
  const headers = [...response.headers].filter(([name]) => !parts.includes(name));
  // What is left of the allowance changes with the time.
  const left = text.replace(/"remaining":\d+/, '"remaining":0').replace(/"resetSeconds":\d+/, '"resetSeconds":0');
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    text: left.replaceAll(requestId, 'req'),
  };
}

const account = 'query Account($id: ID!) { account(id: $id) { id nickname livemode owner { type } } }';
const two = `${account} query Viewer { viewer { edition } }`;
const responseType = { accept: 'application/graphql-response+json' };

describe('a JSON value', () => {
  // Keys that are numbers come first in JavaScript and by length in PostgreSQL; spaces and escapes differ, too.
  const metadata = { '10': 'ten', '2': 'two', b: 'a: b, "c": {}', 'a, b': ' spaces  ', ä: 'ü\n\t\u0007\u2028\\' };
  const queries: [fields: string, query: string][] = [
    ['Account.metadata', '{ accounts { nodes { id metadata owner { metadata } } } }'],
    [
      'AccountSetting.metadata',
      '{ accountSettings { nodes { id metadata addressCurrency { platform user partner } } } }',
    ],
    ['Address.metadata', '{ addresses { nodes { id metadata bankAccount { number last4 } } } }'],
    ['Deposit.metadata Deposit.paymentMethodDetails', '{ deposits { nodes { id metadata paymentMethodDetails } } }'],
    ['Receivable.metadata', '{ receivables { nodes { id metadata invoice { amount referenceNumber } } } }'],
    ['Event.object', '{ events { nodes { id object } } }'],
    ['File.metadata', '{ files { nodes { id metadata } } }'],
    ['Person.metadata', '{ persons { nodes { id metadata } } }'],
    [
      '',
      '{ accounts { nodes { metadata businessDetails { legalName dba } supportingDocumentation { idDocument } } } }',
    ],
  ];
  // Edition 1 has no checkouts.
  const inSecond: typeof queries = [['Checkout.metadata', '{ checkouts { nodes { id metadata } } }']];

  it('belongs to a field that these documents query', () => {
    const types = Object.values(buildGraph().getTypeMap()).filter((type) => isObjectType(type));
    const fields = types.flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => ['Metadata', 'JSONObject'].includes(getNamedType(field.type).name))
        .map((field) => `${type.name}.${field.name}`),
    );
    const asked = [...queries, ...inSecond].flatMap(([names]) => names.split(' ')).filter((name) => name !== '');
    expect(fields.sort()).toEqual(asked.sort());
  });

  let owner: Speaker;
  let payee: PayeeFixture;
  beforeAll(async () => {
    owner = await given.directUser(1);
    await owner.partner({ metadata });
    await owner.partner();
    const deposit = await owner.post('/v1/deposits', { amount: '10.00', currency: 'USD', metadata });
    expect(deposit.status).toBe(200);
    const receivable = await owner.post(
      '/v1/receivables',
      receivableBody({ amount: '9.99', reference_number: 'a "b", c: d' }, { metadata }),
    );
    expect([receivable.fieldNames, receivable.status]).toEqual([[], 200]);
    payee = await PayeeFixture.open(world);
    const checkout = await payee.user.post('/v1/checkouts', {
      ...{
        amount: '10.00',
        currency: 'INR',
        from: { account_id: payee.partnerId },
        payment_methods: ['upi'],
        metadata,
      },
      ...{ receivables: [{ id: await payee.receivable('10.00') }], redirect_url: 'https://shop.example/' },
    });
    expect([checkout.fieldNames, checkout.status]).toEqual([[], 200]);
  });

  it.each([...queries, ...inSecond])(
    'has the same bytes in every kind of execution and every repetition: %s',
    async (names, query) => {
      const speaker = names === 'Checkout.metadata' ? payee.user : owner;
      const texts: string[] = [];
      for (let ask = 0; ask < 6; ask++) {
        const reply = await speaker.graph(query);
        expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
        texts.push(reply.text.replaceAll(reply.headers.get('request-id')!, 'req'));
      }
      expect(new Set(texts)).toEqual(new Set([texts[0]]));
      expect(texts[0]).toContain('nodes');
    },
  );
});

/** Requests with different results; each must have the same result if its document is already in the cache. */
const cases: [string, (id: string) => Asked][] = [
  ['a query', (id) => ({ body: { query: account, variables: { id } } })],
  ['another media type', (id) => ({ body: { query: account, variables: { id } }, headers: responseType })],
  [
    'a client of many media types',
    (id) => ({
      body: { query: account, variables: { id } },
      headers: { accept: 'application/graphql-response+json, application/json; q=0.9, */*; q=0.1' },
    }),
  ],
  ['an unknown media type', (id) => ({ body: { query: account, variables: { id } }, headers: { accept: 'text/csv' } })],
  ['an operation by its name', (id) => ({ body: { query: two, variables: { id }, operationName: 'Account' } })],
  ['no name where there are two', (id) => ({ body: { query: two, variables: { id } } })],
  ['a name that no operation has', (id) => ({ body: { query: two, variables: { id }, operationName: 'None' } })],
  ['an empty name', (id) => ({ body: { query: account, variables: { id }, operationName: '' } })],
  ['a variable that is missing', () => ({ body: { query: account } })],
  ['a variable of the wrong type', () => ({ body: { query: account, variables: { id: { a: 1 } } } })],
  [
    'null for variables and extensions',
    (id) => ({
      body: { query: `{ account(id: "${id}") { id } }`, variables: null, operationName: null, extensions: null },
    }),
  ],
  ['extensions', (id) => ({ body: { query: account, variables: { id }, extensions: { any: 1 } } })],
  ['a refusal', () => ({ body: { query: account, variables: { id: 'account_none' } } })],
  [
    'an error besides data',
    (id) => ({
      body: {
        query:
          'query Both($id: ID!) { account(id: $id) { partners(first: 500) { ' +
          'nodes { id } } } accounts { nodes { id } } }',
        variables: { id },
      },
    }),
  ],
  [
    'a mutation that is refused',
    () => ({
      body: {
        query: 'mutation Update($input: UpdateAccountInput!) { updateAccount(input: $input) { account { id } } }',
        variables: { input: { id: 'account_none' } },
      },
    }),
  ],
  ['introspection', () => ({ body: { query: '{ __type(name: "Account") { name fields { name } } }' } })],
  [
    'fragments and directives',
    (id) => ({
      body: {
        query:
          'query Some($id: ID!, $with: Boolean = false) { account(id: $id) { ...F @include(if: $with) ' +
          '__typename } } fragment F on Account { id }',
        variables: { id, with: true },
      },
    }),
  ],
];

describe('a cached document', () => {
  it.each(cases)('is answered like the first time: %s', async (_, asked) => {
    const first = await ask(platform, asked(user.id));
    for (let i = 0; i < 3; i++) expect(await ask(platform, asked(user.id))).toEqual(first);
  });

  it('is answered for each caller by its visibility', async () => {
    const asked = { body: { query: account, variables: { id: user.id } } };
    const outsider = await given.platform(1);
    expect((await ask(platform, asked)).text).toContain(user.id);
    expect((await ask(outsider, asked)).text).toContain('RESOURCE_MISSING');
    expect((await ask(outsider.using('sk_test_none'), asked)).status).toBe(401);
    expect((await ask(platform, asked)).text).toContain(user.id);
  });

  it('writes once for a key, and shows the replay', async () => {
    const query =
      'mutation Create($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    const variables = { input: { nickname: nickname() } };
    const headers = { 'idempotency-key': nickname() };
    const first = await ask(platform, { body: { query, variables }, headers });
    const again = await ask(platform, { body: { query, variables }, headers });
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
  });
});

/** The memory of an object or array of a parsed document on average, measured with Node 20 on x64. */
const objectBytes = 74;

/** How many objects and arrays a value consists of, each counted once. */
function objectsIn(value: object): number {
  const seen = new Set<object>([value]);
  for (const each of seen)
    for (const member of Object.values(each)) if (typeof member === 'object' && member !== null) seen.add(member);
  return seen.size;
}

/** What the cache needs, where it answers nothing. */
const partsOf = (nodes: { counter: NodeCounter; max: number }) => ({
  ...{ nodes, onFault: () => {} },
  checked: (text: string) => parse(text),
});

describe('the cache of validated documents', () => {
  it('has the documents of subscriptions for streams, and answers none of them itself', async () => {
    const schema = buildGraph();
    const counter = new NodeCounter(schema, publicSizes);
    const unused = () => Promise.reject(new Error('nothing is executed here'));
    const documents = new DocumentCache(new QueryCompiler(schema), unused, partsOf({ counter, max: 1_000 }));
    const limits = { ...documentLimitsOf(config({ serves: true }, {})), introspection: true };
    const onFault = () => {};
    const read = subscriptionReader(schema, { ...limits, rules: graphRules, nodes: counter, documents, onFault });
    const context = { requestId: 'req', budget: new RequestBudget() } as Context;
    const query = 'query A { viewer { mode } } subscription B { balance { accountId } }';
    for (const operationName of ['A', 'B', 'A']) {
      const document = documents.documentOf(query);
      expect(read({ query, operationName }, context)?.live).toBe(operationName === 'B' ? true : undefined);
      expect(documents.has(query)).toBe(true);
      if (document) expect(documents.documentOf(query)).toBe(document);
      expect(await documents.answer({ query, operationName }, context)).toBeUndefined();
    }
    // What is in the cache is neither parsed nor validated.
    documents.learn('no document', documents.documentOf(query)!);
    expect(read({ query: 'no document', operationName: 'B' }, context)?.live).toBe(true);
    expect(() => read({ query: 'none, either' }, context)).toThrow(SubscriptionRefused);
    expect(documents.has('none, either')).toBe(false);
  });

  // A parsed document needs many times the memory of its text.
  it('has at most about 40 MB of documents, of any number and length', async () => {
    const fields = 'id nickname status type created edition livemode logoId address subType ';
    const text = (n: number) => `query Q${1_000 + n} { accounts { nodes { ${fields.repeat(70)} } } }`;
    const schema = buildGraph();
    const nodes = { counter: new NodeCounter(schema, publicSizes), max: 1 };
    const unused = () => Promise.reject(new Error('nothing is executed here'));
    const cache = new DocumentCache(new QueryCompiler(schema), unused, partsOf(nodes));
    const learned = Array.from({ length: 400 }, (_, n) => {
      const document = parse(text(n));
      cache.learn(text(n), document);
      return new WeakRef(document);
    });
    const most = Math.floor(550_000 / text(0).length);
    const newest = Array.from({ length: most }, (_, i) => 400 - most + i);
    expect(learned.flatMap((_, n) => (cache.has(text(n)) ? [n] : []))).toEqual(newest);
    const bytes = most * objectsIn(parse(text(0))) * objectBytes;
    expect(bytes).toBeGreaterThan(15_000_000);
    expect(bytes).toBeLessThan(50_000_000);

    // Whether something else still refers to the other documents, such as the compiler or a closure, only the collector
    // knows: private members and variables are out of reach of a program. A collection that is asked for is complete.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // A document that a WeakRef has returned or taken stays in memory until the end of the job.
    await new Promise((resume) => setImmediate(resume));
    collect();
    expect(learned.flatMap((reference, n) => (reference.deref() === undefined ? [] : [n]))).toEqual(newest);
    // The cache itself must stay in memory until here.
    expect(cache).toBeInstanceOf(DocumentCache);
  });
});
