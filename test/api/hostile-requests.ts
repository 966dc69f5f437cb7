import fc from 'fast-check';
import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLSchema,
  getIntrospectionQuery,
  isObjectType,
  getNamedType,
} from 'graphql';
import { beforeAll } from 'vitest';
import { routes } from '../../src/resources/registry.js';
import { inputOf, pdf } from '../support/bodies.js';
import {
  details,
  givenIn,
  nickname,
  payoutAddressBody,
  type Reply,
  type Speaker,
  type World,
} from '../support/world.js';

/** fast-check prints it with the counterexample on failure; the same seed makes the same requests. */
export const seed = 20_260_131;
export const perRun = 25;

/** A possibly harmful request; `wrong` means that the gateway must refuse it. */
export interface Asked {
  speaker: 'platform' | 'connected' | 'user' | 'second';
  method: 'GET' | 'POST';
  path: string;
  body?: string | FormData | Uint8Array;
  headers?: Record<string, string>;
}

/** Numbers that JSON.stringify cannot write: the text gets them in place of these placeholders. */
const numerals: Record<string, string> = {
  '@infinite@': '1e999',
  '@precise@': '123456789012345678901234567890.123456789',
  '@minus zero@': '-0.0',
};
export const jsonText = (value: unknown) =>
  Object.entries(numerals).reduce(
    (text, [mark, digits]) => text.replaceAll(`"${mark}"`, digits),
    JSON.stringify(value) ?? '',
  );
const nested = (depth: number, value: unknown = 1): unknown => (depth === 0 ? value : nested(depth - 1, [value]));

const texts = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udfffx',
    '\uffff',
    '\u202egnp.exe',
    '😀',
    '👩‍👩‍👧'.repeat(50),
    'a'.repeat(5_001),
    '𝒳'.repeat(6_000),
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    'NaN',
    'true',
    '0',
    '-1',
    '1e3',
    "'; drop table account; --",
    '${7*7}{{7*7}}',
    '%s%n%00',
    '../../etc/passwd',
    '\r\nX-Header: y',
    '<script>',
    'account_0',
    'account_😀',
    '99999999999999999999',
    '2026-13-45T99:99:99Z',
    ...Object.keys(numerals),
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const hostileKeys = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toJSON',
    'then',
    'length',
    '',
    '0',
    'a.b',
    '$ref',
    'id',
    'input',
    '\u0000',
    '\ud800',
    'k'.repeat(41),
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: texts },
  fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, 1e21, 2 ** 31, -(2 ** 53), Number.MAX_VALUE),
  fc.constantFrom<unknown>([], {}, [[]], [null], [{}], { length: 1 }, { then: 'x' }, { toString: 1 }, { toJSON: null }),
  fc.constantFrom(20, 200, 2_000).map((depth) => nested(depth)),
  fc.constant(Array.from({ length: 500 }, () => 'USD')),
  fc.constant(JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}')),
  fc.dictionary(hostileKeys, texts, { maxKeys: 12 }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
);

/** Every path into a body, at each of which a wrong value can be put. */
function places(value: unknown, at: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [at];
  return [at, ...Object.entries(value).flatMap(([name, member]) => places(member, [...at, name]))];
}
/**
 * The body with another value at a path. Its objects have no prototype, since keys may have the names of prototype
 * members.
 */
function put(value: unknown, [name, ...rest]: string[], put_: unknown): unknown {
  if (name === undefined) return put_;
  const entries = Object.entries(value as object).map(([key, member]) => [
    key,
    key === name ? put(member, rest, put_) : member,
  ]);
  return Object.fromEntries(entries);
}
const absent = undefined;

/** A body with one to three wrong values at random paths. */
function spoiled(template: () => object): fc.Arbitrary<unknown> {
  const change = fc.record({
    place: fc.nat(1_000),
    value: fc.oneof({ weight: 6, arbitrary: hostile }, fc.constant(absent)),
    key: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, hostileKeys),
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce<unknown>((body, { place, value, key }) => {
      const all = places(body);
      const at = all[place % all.length]!;
      // An empty body stays empty, or half of the requests would be the same one.
      if (at.length === 0 && place % 7 !== 0) return body;
      if (key === null || typeof body !== 'object' || body === null || Array.isArray(body)) return put(body, at, value);
      return Object.fromEntries([...Object.entries(body), [key, value]]);
    }, template()),
  );
}

const encoded = (text: string) => encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));

const queryNames = fc.constantFrom(
  ...['limit', 'starting_after', 'ending_before', 'created.gte', 'created[lt]', 'created', 'created.eq.x', 'status'],
  ...['status[]', 'type', 'address', 'address.partner', 'address[partner][x]', 'account_id', 'linked_id', 'category'],
  ...['currency', 'is_reusable', 'wallet.provider', 'vpa.upi.onetime', 'payouts.enabled', 'purpose', 'id', 'first'],
  ...['payouts.reason_code_not_enabled', 'capability.multicurrency_exports_v1', '__proto__', '__proto__[x]', 'a[b'],
  ...['constructor.prototype.x', '[]', '[[x]]', '.', '..', '', 'x]y'],
);
const queries = fc
  .array(fc.tuple(queryNames, texts), { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&'));
const headers = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, string>>(
    { 'idempotency-key': ' ' },
    { 'idempotency-key': 'k'.repeat(256) },
    { 'idempotency-key': 'ключ'.normalize('NFKD').replaceAll(/./g, '\u00ff') },
    { 'on-behalf-of': "account_' or 1=1" },
    { 'on-behalf-of': 'x'.repeat(5_000) },
    { accept: 'text/html' },
    { 'content-encoding': 'gzip' },
    { 'x-forwarded-proto': 'http' },
    { 'x-http-method-override': 'DELETE' },
  ),
);
/** The caller: most often the platform, which can see all created objects. */
const anyCaller = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Asked['speaker']>('platform') },
  fc.constantFrom<Asked['speaker']>('connected', 'user', 'second'),
);
export const json = { 'content-type': 'application/json' };

const gets = [...routes.filter(({ method }) => method === 'GET').map(({ path }) => path), '/v1/files/:id/content'];

export const uploads: fc.Arbitrary<Asked> = fc
  .record({
    purpose: fc.option(fc.oneof(fc.constantFrom('logo', 'invoice'), texts)),
    filename: texts,
    content: fc.oneof(
      fc.constant(pdf),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    ),
    fields: fc.array(
      fc.tuple(
        fc.oneof(
          hostileKeys,
          hostileKeys.map((key) => `metadata[${key}]`),
        ),
        texts,
      ),
      {
        maxLength: 3,
      },
    ),
    files: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ purpose, filename, content, fields, files }) => {
    const form = new FormData();
    if (purpose !== null) form.append('purpose', purpose);
    for (const [name, value] of fields) form.append(name, value);
    for (let i = 0; i < files; i++) form.append('file', new Blob([new Uint8Array(content)]), filename);
    return { speaker: 'user' as const, method: 'POST' as const, path: '/v1/files', body: form };
  });

const graphPost = (speaker: Asked['speaker'], document: string, variables: unknown, more = {}): Asked => ({
  speaker,
  method: 'POST',
  path: '/graphql',
  body: jsonText({ query: document, variables }),
  headers: { ...json, ...more },
});
const leaves = (field: GraphQLField<unknown, unknown>) => {
  const type = getNamedType(field.type);
  return isObjectType(type) || 'getFields' in type ? '{ __typename }' : '';
};

const mutationOf = (field: GraphQLField<unknown, unknown>) =>
  `mutation ($input: ${field.args[0]!.type}) { ${field.name}(input: $input) ${leaves(field)} }`;

/**
 * Requests without a valid operation, or with a valid one on nothing: listed one by one, since each is a separate case.
 */
export const documents: unknown[] = [
  { query: '{' },
  { query: '' },
  { query: 5 },
  { query: ['{ viewer { mode } }'] },
  { query: { a: 1 } },
  { query: '{ viewer { mode } }', variables: [] },
  { query: '{ viewer { mode } }', variables: 'x' },
  { query: '{ viewer { mode } }', variables: 5 },
  { query: '{ viewer { mode } }', operationName: 'nobody' },
  { query: '{ viewer { mode } }', operationName: 5 },
  { query: '{ viewer { mode } }', extensions: 'x' },
  { query: '{ viewer { mode } }', extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } } },
  { query: 'query A { viewer { mode } } query B { viewer { mode } }' },
  {
    query: 'query ($__proto__: ID!) { account(id: $__proto__) { id } }',
    variables: JSON.parse('{"__proto__":"x"}'),
  },
  { query: 'fragment F on Account { ...F } { viewer { account { ...F } } }' },
  { query: 'subscription { viewer { mode } }' },
  { query: '{ node(id: "account_\\u0000") { id } }' },
  { query: '{ node(id: "__proto___x") { id } constructor: node(id: "constructor_x") { id } }' },
  { query: '{ nodes(ids: ["account_\\uD800", "toString_", "_", ""]) { id } }' },
  { query: `{ nodes(ids: [${'"account_0",'.repeat(101)}]) { id } }` },
  { query: '{ accounts(first: 2147483648) { nodes { id } } }' },
  { query: '{ accounts(created: { gte: "+275760-09-13T00:00:00.001Z" }) { nodes { id } } }' },
  { query: '{ accounts(created: { gte: "0000-01-01T00:00:00Z" }) { nodes { id } } }' },
  { query: 'mutation { createAccount(input: { metadata: { a: { b: [1] } } }) { account { id } } }' },
  { query: 'mutation { createAccount(input: $input) { account { id } } }' },
  { query: 'mutation { activateAccount(input: { id: null }) { account { id } } }' },
  ...[5, 50, 150].map((depth) => ({
    query: `mutation { createAccount(input: ${'{ a: '.repeat(depth)}1${' }'.repeat(depth)}) { account { id } } }`,
  })),
  ...[10, 100].map((depth) => ({
    query: `{ viewer { account ${'{ owner '.repeat(depth)}{ id }${' }'.repeat(depth)} } }`,
  })),
];
export const spoiledDocuments: fc.Arbitrary<Asked> = fc
  .tuple(
    anyCaller,
    fc.oneof(
      texts.map((query) => ({ query })),
      hostile.map((query) => ({ query })),
      hostile.map((variables) => ({ query: '{ viewer { mode } }', variables })),
      hostile.map((operationName) => ({ query: '{ viewer { mode } }', operationName })),
      hostile.map((extensions) => ({ query: '{ viewer { mode } }', extensions })),
      texts.map((id) => ({ query: `{ node(id: ${JSON.stringify(id)}) { id } }` })),
      hostile,
    ),
  )
  .map(([speaker, body]) => ({
    speaker,
    method: 'POST' as const,
    path: '/graphql',
    body: jsonText(body),
    headers: json,
  }));

/** Requests of four callers with what no client should send, and the objects that they name. */
export function hostileRequestsIn(world: World) {
  const given = givenIn(world);
  const speakers = {} as Record<Asked['speaker'], Speaker>;
  /** Objects that exist, so that a fuzzed request gets past the first look-up. */
  const ids: Record<string, string> = {};
  let schema: GraphQLSchema;

  beforeAll(async () => {
    const [platform, user, second] = await Promise.all([given.platform(1), given.directUser(1), given.directUser(2)]);
    const connected = await platform.connectedUser();
    Object.assign(speakers, { platform, connected, user, second });
    schema = buildClientSchema((await user.graph(getIntrospectionQuery({ inputValueDeprecation: true }))).body.data);
    const made = async (reply: Promise<Reply>) => {
      const { status, text, body } = await reply;
      if (status !== 200) throw new Error(text);
      return (body.id ?? body.data[0].id) as string;
    };
    // A separate draft for requests that change an account's status, and an unused key for requests that end keys.
    ids.account = (await platform.connectedUser()).id;
    ids.account_setting = await made(platform.get(`/v1/account_settings?account_id=${ids.account}`));
    ids.address = await made(platform.post('/v1/addresses', templates.addresses()));
    ids.person = await made(platform.post('/v1/persons', { ...templates.persons(), account_id: ids.account }));
    ids.file = await made(platform.upload('logo', pdf));
    ids.platform = platform.id;
    ids.partner = (await platform.partner()).id;
    ids.receivable = await made(platform.post('/v1/receivables', templates.receivables()));
    ids.deposit = await made(platform.post('/v1/deposits', templates.deposits()));
    await made(platform.post(`/v1/test_helpers/deposits/${ids.deposit}/complete`));
    const key = await platform.graph('mutation { createApiKey(input: { permission: READ }) { apiKey { id } } }');
    ids.api_key = key.body.data.createApiKey.apiKey.id;
    const hook = { url: 'https://example.com/hooks', event_types: ['file.*'] };
    ids.webhook_endpoint = await made(platform.post('/v1/webhook_endpoints', hook));
  });

  /** Valid bodies, by the resource that is created or changed. */
  const templates = {
    accounts: () => ({
      type: 'partner',
      nickname: nickname(),
      business_details: {
        ...details(),
        ids: { tax: '1' },
        estimated_monthly_volume: { amount: '10.00', currency: 'USD' },
      },
      metadata: { a: '1' },
    }),
    account: () => ({
      nickname: nickname(),
      logo_id: ids.file,
      business_details: { ...details(), ids: { tax_gst: 'g' }, tax_gst: 'g' },
      supporting_documentation: { id_document: null },
      tos_acceptance: { ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'x' },
      metadata: { a: '1' },
    }),
    account_setting: () => ({
      address: { partner: true },
      address_currency: { partner: ['USD'] },
      payouts: { enabled: true, interval: 'weekly', weekly_anchor: 1, monthly_anchor: null },
      metadata: { a: '1' },
    }),
    addresses: () =>
      payoutAddressBody(ids.account!, { supporting_documentation: { id_document: null }, metadata: { a: '1' } }),
    address: () => ({ metadata: { a: '1' } }),
    webhook_endpoints: () => ({
      url: 'https://example.com/hooks',
      event_types: ['deposit.*'],
      description: 'a',
      scope: 'self',
    }),
    webhook_endpoint: () => ({ description: 'changed', event_types: ['*'] }),
    redeliver: () => ({ after_number: 1_000_000 }),
    persons: () => ({
      full_name: 'Asha Rao',
      relationship: { director: true, owner: true },
      identification: { tax_card_number: 'ABCDE1234F' },
      metadata: { a: '1' },
    }),
    deposits: () => ({
      amount: '10.00',
      currency: 'USD',
      from: { account_id: ids.partner },
      to: { account_id: ids.platform, address_id: null },
      payment_method: 'domestic_wire',
      statement_descriptor: 'INV 7',
      metadata: { a: '1' },
    }),
    reconcile: () => ({ receivables: [{ id: ids.receivable, amount: '0.01' }] }),
    receivables: () => ({
      account_id: ids.platform,
      currency: 'USD',
      invoice: {
        amount: '10.00',
        currency: 'USD',
        creation_date: '2026-01-31',
        due_date: '2026-02-28',
        reference_number: 'INV 7',
        document: null,
      },
      purpose_code: 'P0802',
      transaction_type: 'goods',
      amount_maximum_reconcilable: '9.00',
      description: 'Hulls',
      metadata: { a: '1' },
    }),
    receivable: () => ({ amount_maximum_reconcilable: '8.00', description: 'Hulls', metadata: { a: '1' } }),
    verify: () => ({ outcome: 'activated' }),
    fail: () => ({ reason_code: 'general' }),
    dispute: () => ({ amount: '0.01', reason_code: 'duplicate' }),
    clock: () => ({ advance_seconds: 1 }),
  };

  /** The template of a route, by the last name of its path. */
  function templateOf(path: string): object {
    const names = path.split('/').filter((name) => name !== '' && name !== 'v1' && name !== 'test_helpers');
    const last = names.at(-1)!;
    const name = last === ':id' ? names[0]!.replace(/(s|es)$/, '').replace(/ss$/, 'ss') : last;
    const resource = name === 'addresse' ? 'address' : name;
    return resource in templates ? templates[resource as keyof typeof templates]() : {};
  }

  const inputs: Record<string, () => object> = {
    createAccount: () => templates.accounts(),
    createConnectedUser: () => templates.account(),
    updateAccount: () => ({ id: ids.account, ...templates.account() }),
    updateAccountSetting: () => ({ id: ids.account_setting, ...templates.account_setting() }),
    createAddress: () => templates.addresses(),
    updateAddress: () => ({ id: ids.address, ...templates.address() }),
    createPerson: () => ({ account_id: ids.account, ...templates.persons() }),
    updatePerson: () => ({ id: ids.person, ...templates.persons() }),
    createApiKey: () => ({ account_id: ids.account, permission: 'full', expires_in_seconds: 60 }),
    rotateApiKey: () => ({ id: ids.api_key, grace_seconds: 60 }),
    revokeApiKey: () => ({ id: ids.api_key }),
    createDeposit: () => templates.deposits(),
    reconcileDeposit: () => ({ id: ids.deposit, ...templates.reconcile() }),
    reconcileDeposits: () => ({ deposits: [{ id: ids.deposit, ...templates.reconcile() }] }),
    disputeTestDeposit: () => ({ id: ids.deposit, ...templates.dispute() }),
    recallTestDeposit: () => ({ id: ids.deposit, ...templates.dispute() }),
    createReceivable: () => templates.receivables(),
    updateReceivable: () => ({ id: ids.receivable, ...templates.receivable() }),
    advanceTestClock: () => templates.clock(),
    createWebhookEndpoint: () => templates.webhook_endpoints(),
    updateWebhookEndpoint: () => ({ id: ids.webhook_endpoint, description: 'changed' }),
    rotateWebhookSecret: () => ({ id: ids.webhook_endpoint }),
    testWebhookEndpoint: () => ({ id: ids.webhook_endpoint }),
    redeliverWebhooks: () => ({ id: ids.webhook_endpoint, ...templates.redeliver() }),
  };
  const inputFor = (mutation: string): object => {
    const object = /(Address|Deposit|Person|Receivable|Payout)$/.exec(mutation)?.[0].toLowerCase() ?? 'account';
    return inputOf(inputs[mutation]?.() ?? { id: ids[object] ?? `${object}_0` });
  };

  const pathIds = (path: string) => {
    const object = path.replace('/v1/', '').replace('test_helpers/', '').split('/')[0]!;
    const singular = object.replace(/(ss)es$/, '$1').replace(/([^s])s$/, '$1');
    const known = ids[singular] ?? `${singular}_0`;
    return fc.oneof({ weight: 2, arbitrary: fc.constant(known) }, texts.filter((text) => text !== '').map(encoded));
  };

  /** Every POST route; those that take more than an id are drawn more often. */
  const posts = routes
    .filter(({ method }) => method === 'POST')
    .flatMap((route) => (Object.keys(templateOf(route.path)).length > 0 ? [route, route, route] : [route]));

  /** POST requests whose bodies are changed at random; some of them are still valid. */
  const spoiledPosts: fc.Arbitrary<Asked> = fc.constantFrom(...posts).chain(({ path }) =>
    fc
      .tuple(
        anyCaller,
        pathIds(path),
        spoiled(() => templateOf(path)),
        headers,
      )
      .map(([speaker, id, body, more]) => ({
        speaker,
        method: 'POST' as const,
        path: path.replace(':id', id),
        body: jsonText(body),
        headers: { ...json, ...more },
      })),
  );
  /** POST requests with an unknown parameter among others, which are never accepted. */
  const wrongPosts: fc.Arbitrary<Asked> = fc.constantFrom(...posts).chain(({ path }) =>
    fc
      .tuple(
        anyCaller,
        pathIds(path),
        spoiled(() => templateOf(path)),
        hostile,
      )
      .map(([speaker, id, body, value]) => ({
        speaker,
        method: 'POST' as const,
        path: path.replace(':id', id),
        body: jsonText(
          typeof body === 'object' && body !== null && !Array.isArray(body)
            ? Object.fromEntries([...Object.entries(body), ['no_such_parameter', value === undefined ? null : value]])
            : [body ?? null],
        ),
        headers: json,
      })),
  );
  /** Bodies that are not a JSON object, and content types that are not JSON. */
  const noBodies: fc.Arbitrary<Asked> = fc.constantFrom(...posts).chain(({ path }) =>
    fc
      .tuple(
        anyCaller,
        pathIds(path),
        fc.oneof(
          fc.constantFrom(
            '{',
            '[]',
            '"x"',
            '1',
            'true',
            '{"a":1,}',
            "{'a':1}",
            '\ufeff{}x',
            'NaN',
            '{"a":"\\ud8"}',
            '{}{}',
          ),
          fc.constantFrom(10_000, 30_000).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
          fc.constantFrom(5_000, 9_000).map((depth) => `${'{"a":'.repeat(depth)}`),
          fc.constant('x'.repeat(70_000)),
          fc.uint8Array({ minLength: 1, maxLength: 40 }).filter((bytes) => bytes[0]! > 0x7f),
        ),
      )
      .map(([speaker, id, body]) => ({
        speaker,
        method: 'POST' as const,
        path: path.replace(':id', id),
        body,
        headers: json,
      })),
  );
  const spoiledGets: fc.Arbitrary<Asked> = fc.constantFrom(...gets).chain((path) =>
    fc.tuple(anyCaller, pathIds(path), queries, headers).map(([speaker, id, query, more]) => ({
      speaker,
      method: 'GET' as const,
      path: `${path.replace(':id', id)}?${query}`,
      headers: more,
    })),
  );

  const fieldsOf = (root: 'mutation' | 'query') =>
    Object.values((root === 'mutation' ? schema.getMutationType() : schema.getQueryType())!.getFields());
  /** The schema is known only after a gateway has answered, so its fields are chosen by number. */
  const chosen = (root: 'mutation' | 'query') =>
    fc.nat(1_000).map((n) => {
      const fields = fieldsOf(root);
      return fields[n % fields.length]!;
    });

  const spoiledMutations: fc.Arbitrary<Asked> = chosen('mutation').chain((field) =>
    fc
      .tuple(
        anyCaller,
        spoiled(() => inputFor(field.name)),
        headers,
      )
      .map(([speaker, input, more]) => graphPost(speaker, mutationOf(field), { input }, more)),
  );
  const wrongMutations: fc.Arbitrary<Asked> = chosen('mutation').chain((field) =>
    fc
      .tuple(
        anyCaller,
        spoiled(() => inputFor(field.name)),
        hostile,
      )
      .map(([speaker, body, value]) => {
        const hash = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
        const entries = [...Object.entries(hash), ['noSuchParameter', value === undefined ? null : value] as const];
        return graphPost(speaker, mutationOf(field), { input: Object.fromEntries(entries) });
      }),
  );
  const spoiledQueries: fc.Arbitrary<Asked> = chosen('query').chain((field) =>
    fc
      .tuple(anyCaller, fc.array(hostile, { minLength: field.args.length, maxLength: field.args.length }))
      .map(([speaker, values]) => {
        const declared = field.args.map(({ name, type }) => `$${name}: ${type}`);
        const passed = field.args.map(({ name }) => `${name}: $${name}`);
        const of = (list: string[]) => (list.length === 0 ? '' : `(${list.join(', ')})`);
        const variables = Object.fromEntries(field.args.map(({ name }, i) => [name, values[i]]));
        return graphPost(speaker, `query ${of(declared)} { ${field.name}${of(passed)} ${leaves(field)} }`, variables);
      }),
  );
  return {
    speakers,
    ids,
    templates,
    spoiledPosts,
    wrongPosts,
    noBodies,
    spoiledGets,
    spoiledMutations,
    wrongMutations,
    spoiledQueries,
  };
}
