import fs from 'node:fs';
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  type GraphQLField,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  printSchema,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { graphText } from '../../src/server/build/print-schema.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { catalogue, type ProblemCode } from '../../src/errors/catalogue.js';
import {
  givenIn,
  inputTypeOf,
  must,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  type Speaker,
  useWorld,
  type World,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const committed = fs.readFileSync(new URL('../../schema/graph.graphql', import.meta.url), 'utf8');

const modern = 'application/graphql-response+json';
const legacy = 'application/json';

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** The names of the statements of a request, in order, without the look-up of the API key. */
async function statementsOf(of: World, ask: () => Promise<unknown>): Promise<string[]> {
  const { database } = of;
  const names: string[] = [];
  const { read, call } = database;
  // Counts each call and forwards it: every read is one statement, and every write one call of a function.
  database.read = ((...args: Parameters<typeof read>) => {
    // The same look-up has a separate plan for a single value.
    names.push(args[0].replace(/^ones:/, 'one:'));
    return read.apply(database, args);
  }) as typeof read;
  database.call = (...args) => {
    names.push(args[0]);
    return call.apply(database, args);
  };
  try {
    await ask();
  } finally {
    Object.assign(database, { read, call });
  }
  return names
    .filter((name) => !['key_owner', 'touch_api_key', 'take_allowance', 'count_senders'].includes(name))
    .sort();
}

describe('limits of an operation, over the wire', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  const deep = (levels: number) => `viewer { account { ${'owner { '.repeat(levels - 3)} id ${'}'.repeat(levels - 1)}`;
  const bomb = (type: string, leaf: string) =>
    `${times(30, (i) => `fragment F${i} on ${type} { ...F${i + 1} ...F${i + 1} }`)} fragment F30 on ${type} { ` +
    `${leaf} }`;
  const create = (n: number, selection = 'account { id }') =>
    `c${n}: createAccount(input: { type: PARTNER, nickname: "Limit ${n}", businessDetails: { legalName: "L", ` +
    `email: "l@l.example", type: COMPANY, physicalAddress: { country: "US" } } }) { ${selection} }`;

  // Eight tokens for each operation.
  const operations = (count: number) => times(count, (n) => `query A${n} { viewer { mode } }`);

  const refused: [what: string, document: string, code: string][] = [
    ['17 levels', `{ ${deep(17)} }`, 'QUERY_TOO_DEEP'],
    [
      '17 levels of introspection',
      `{ __schema { types { ${'ofType { '.repeat(14)} name ${'} '.repeat(14)} } } }`,
      'QUERY_TOO_DEEP',
    ],
    ['31 aliases', `{ viewer { ${times(31, (n) => `a${n}: edition`)} } }`, 'QUERY_TOO_MANY_ALIASES'],
    ['11 root fields', `{ ${times(11, () => 'viewer { edition }')} }`, 'QUERY_TOO_MANY_ROOT_FIELDS'],
    ['11 directives', `{ viewer { ${times(11, () => 'edition @include(if: true)')} } }`, 'QUERY_TOO_MANY_DIRECTIVES'],
    ['1001 tokens', `{ viewer { edition mode permission onBehalf } } ${operations(124)}`, 'GRAPHQL_PARSE_FAILED'],
    ['11 mutations', `mutation { ${times(11, (n) => create(n))} }`, 'QUERY_TOO_MANY_ROOT_FIELDS'],
    [
      'a mutation that answers too deep',
      `mutation { ${create(1, `account { ${'owner { '.repeat(15)} id ${'}'.repeat(15)} }`)} }`,
      'QUERY_TOO_DEEP',
    ],
  ];
  it.each(refused)('refuse %s with 400 and a code, before any statement runs', async (_, document, code) => {
    let reply!: Reply;

    const statements = await statementsOf(world, async () => {
      reply = await user.graph(document, {}, { accept: modern });
    });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.body.errors.map((e: any) => e.extensions.code)).toEqual([code]);
    expect(statements).toEqual([]);
  });

  const passing: [what: string, document: string, data: unknown][] = [
    // A direct user has no owner, so the deeper levels are not executed; the depth of the document counts.
    ['16 levels', `{ ${deep(16)} }`, { viewer: { account: { owner: null } } }],
    [
      '30 aliases',
      `{ viewer { ${times(30, (n) => `a${n}: edition`)} } }`,
      { viewer: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`a${n}`, 1])) },
    ],
    ['10 root fields', `{ ${times(10, () => 'viewer { edition }')} }`, { viewer: { edition: 1 } }],
    ['10 directives', `{ viewer { ${times(10, () => 'edition @include(if: true)')} } }`, { viewer: { edition: 1 } }],
  ];
  it.each(passing)('let %s pass', async (_, document, data) => {
    const reply = await user.graph(document, {}, { accept: modern });

    expect([reply.status, reply.body.errors, reply.body.data]).toEqual([200, undefined, data]);
  });

  it('let 1000 tokens pass', async () => {
    const reply = await user.post('/graphql', { query: operations(125), operationName: 'A124' }, { accept: modern });

    expect([reply.status, reply.body.errors, reply.body.data]).toEqual([200, undefined, { viewer: { mode: 'TEST' } }]);
  });

  it('report each limit once when a document exceeds several', async () => {
    const aliases = times(31, (n) => `a${n}: edition`);
    const reply = await user.graph(`{ ${deep(17)} viewer { ${aliases} } }`, {}, { accept: modern });

    expect(reply.body.errors.map((e: any) => e.extensions.code)).toEqual(['QUERY_TOO_DEEP', 'QUERY_TOO_MANY_ALIASES']);
  });

  // The library counts a billion selections before the gateway's own rules run, so the code is the library's.
  const bombs: [what: string, document: string][] = [
    ['root fields', `{ ...F0 } ${bomb('Query', 'viewer { edition }')}`],
    ['aliases', `{ viewer { account { ...F0 } } } ${bomb('Account', 'a: id')}`],
    ['plain fields', `{ viewer { account { ...F0 } } } ${bomb('Account', 'id')}`],
    ['mutations', `mutation { ...F0 } ${bomb('Mutation', create(1))}`],
  ];
  it.each(bombs)('refuse fragments that double 30 times to %s, before any statement runs', async (_, document) => {
    let reply!: Reply;

    const statements = await statementsOf(world, async () => {
      reply = await user.graph(document, {}, { accept: modern });
    });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.body.errors.map((e: any) => [e.extensions.code, e.extensions.validationErrorCode])).toEqual([
      ['GRAPHQL_VALIDATION_FAILED', 'MAX_RECURSIVE_SELECTIONS_EXCEEDED'],
    ]);
    expect(statements).toEqual([]);
  });

  it('allow the query of a dashboard', async () => {
    const platform = await given.platform(1);
    const connected = await platform.connectedUser({ nickname: 'Dashing' });
    const partner = await connected.partner({ nickname: 'Payer' });

    const reply = await platform.graph(dashboard, { first: 20 }, { accept: modern });

    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    const [user, self] = reply.body.data.accounts.nodes;
    expect([user.id, self.id]).toEqual([connected.id, platform.id]);
    expect(user.partners).toMatchObject({ totalCount: 1, nodes: [{ id: partner.id, owner: { id: connected.id } }] });
    expect(self.connectedUsers.nodes).toEqual([{ id: connected.id, nickname: 'Dashing' }]);
  });
});

/** The query of an application's first page. */
const dashboard = `query Dashboard($first: Int) {
  viewer { edition mode permission onBehalf account { id type status } }
  accounts(first: $first) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes {
      id type status nickname created metadata
      businessDetails { legalName email physicalAddress { city country } }
      capability { multicurrencyExportsV1 }
      setting { id payouts { enabled interval reasonCodeNotEnabled } address { partner user } }
      connectedUsers(first: 5) { nodes { id nickname } }
      partners(first: 5) {
        totalCount
        nodes { id nickname status owner { id } addresses(first: 2) { nodes { id currency status } } }
      }
      addresses(first: 5) { nodes { id category currency status bankAccount { bankName last4 } account { id } } }
      persons(first: 5) { nodes { id fullName relationship { director owner representative } } }
      apiKeys(first: 5) { nodes { prefix permission lastUsedAt } }
      files(first: 5) { nodes { id purpose filename size } }
    }
  }
}`;

const introspection = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});

describe('the schema', () => {
  it('is committed as it is emitted', () => {
    expect(graphText()).toBe(committed);
  });

  it('can be introspected completely, and equals the committed one', async () => {
    const user = await given.directUser(2);

    const reply = await user.graph(introspection, {}, { accept: modern });

    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    expect(`${printSchema(buildClientSchema(reply.body.data))}\n`).toBe(committed);
  });

  // The explorer shows the descriptions, and clients have no other manual of the graph.
  describe('describes', () => {
    const schema = buildGraph();
    const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
    const own = types.filter(
      (type) => isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) || isEnumType(type),
    );
    const fields = own.flatMap((type) =>
      isObjectType(type) || isInterfaceType(type)
        ? Object.values(type.getFields()).map((field) => [type.name, field] as const)
        : [],
    );
    const inputs = own.filter(isInputObjectType);
    const undescribed = (entries: { name: string; description?: string | null | undefined }[]) =>
      entries.filter((entry) => !entry.description?.trim()).map((entry) => entry.name);

    it('every object, interface, enum and scalar', () => {
      const others = types.filter(
        (type) => !isInputObjectType(type) && !/^(Query|Mutation|String|Int|ID|Boolean)$/.test(type.name),
      );
      expect(undescribed(others)).toEqual([]);
    });

    it('every input object', () => {
      expect(undescribed(inputs)).toEqual([]);
    });

    it('every operation, and every other field that takes arguments', () => {
      const taking = fields.filter(([type, field]) => field.args.length > 0 || type === 'Query' || type === 'Mutation');
      expect(
        undescribed(taking.map(([type, field]) => ({ name: `${type}.${field.name}`, description: field.description }))),
      ).toEqual([]);
    });

    it('every argument except the id of an object and the input of a mutation, whose names are sufficient', () => {
      const args = fields.flatMap(([type, field]) =>
        field.args
          .filter(({ name }) => !['input', 'id', 'ids'].includes(name))
          .map((arg) => ({ name: `${type}.${field.name}(${arg.name})`, description: arg.description })),
      );
      expect(undescribed(args)).toEqual([]);
    });
  });
});

describe('a schema that is not public', () => {
  const closed = useWorld({ worker: false, environment: { INTROSPECTION: 'false', EXPLORER: 'false' } });
  let user: Speaker;
  beforeAll(async () => {
    user = await givenIn(closed).directUser(1);
  });

  const asking = {
    'the whole schema': introspection,
    'one type': '{ __type(name: "Account") { name fields { name } } }',
    'the schema next to data': '{ viewer { edition } s: __schema { queryType { name } } }',
    'the schema in a fragment': '{ ...A } fragment A on Query { __schema { types { name } } }',
    'the schema under a mutation': 'mutation { __schema { types { name } } }',
  };
  it.each(Object.entries(asking))('is not introspected by %s', async (_, document) => {
    const reply = await user.graph(document, {}, { accept: modern });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.text).not.toContain('AccountConnection');
  });

  it('still serves queries, and the type name of an object', async () => {
    const reply = await user.graph('{ __typename viewer { __typename edition } }', {}, { accept: modern });

    expect([reply.status, reply.body.data]).toEqual([
      200,
      { __typename: 'Query', viewer: { __typename: 'Viewer', edition: 1 } },
    ]);
  });

  it('has no explorer page and no file of it when the explorer is off, and the dashboard leads to none', async () => {
    const html = { headers: { accept: 'text/html' } };
    const [page, endpoint] = await Promise.all([
      fetch(`${closed.origin}/graphiql`, html),
      fetch(`${closed.origin}/graphql`, html),
    ]);

    expect([page.status, endpoint.status]).toEqual([404, 401]);
    const open = await (await fetch(`${world.origin}/graphiql`)).text();
    const [, script] = / src="([^"]+)"/.exec(open)!;
    const [there, here] = await Promise.all([world, closed].map(({ origin }) => fetch(`${origin}${script}`)));
    expect([there!.status, here!.status]).toEqual([200, 404]);
    const dashboards = await Promise.all(
      [world, closed].map(async ({ origin }) => (await fetch(`${origin}/dashboard`)).text()),
    );
    expect(dashboards.map((text) => text.includes('data-explorer="off"'))).toEqual([false, true]);
  });
});

describe('errors in production', () => {
  const production = useWorld({ worker: false, environment: { NODE_ENV: 'production' } });
  let user: Speaker;
  let developer: Speaker;
  beforeAll(async () => {
    [user, developer] = await Promise.all([givenIn(production).directUser(1), given.directUser(1)]);
  });

  const hint = /did you mean/i;
  const trace = /stacktrace|node_modules|\bat [\w.<>]+ \(|\.[jt]s:\d+/;
  const typos: Record<string, [document: string, variables?: object]> = {
    'a root field': ['{ viewr { edition } }'],
    'a field': ['{ viewer { editon } }'],
    'an argument': ['{ accounts(frist: 1) { nodes { id } } }'],
    'an argument of a nested field': ['{ accounts { nodes { partners(frist: 1) { nodes { id } } } } }'],
    'an enum value': ['{ accounts(status: [DRAFTS]) { nodes { id } } }'],
    'an enum value of a nested field': ['{ accounts { nodes { addresses(status: [ACTIVATE]) { nodes { id } } } } }'],
    'an enum value in a variable': [
      'query ($s: [AccountStatus!]) { accounts(status: $s) { nodes { id } } }',
      { s: ['DRAFTS'] },
    ],
    'an enum value in a variable of a nested field': [
      'query ($s: [AddressStatus!]) { accounts { nodes { addresses(status: $s) { nodes { id } } } } }',
      { s: ['ACTIVATE'] },
    ],
    'a member of an input': ['mutation { activateAccount(input: { idd: "x" }) { account { id } } }'],
    'a member of an input in a variable': [
      'mutation ($i: ActivateAccountInput!) { activateAccount(input: $i) { account { id } } }',
      { i: { id: 'x', idd: 'x' } },
    ],
    'a type': ['query ($i: ActivateAccountInputs!) { viewer { edition } }'],
    'the type of a fragment': ['{ node(id: "x") { ... on Acount { id } } }'],
    'a directive': ['{ viewer { edition @includes(if: true) } }'],
    'a field of an interface that one of its types has': ['{ node(id: "x") { nickname } }'],
  };
  it.each(Object.entries(typos))(
    'do not suggest names of the schema for a typo in %s',
    async (_, [document, variables]) => {
      const reply = await user.graph(document, variables, { accept: modern });

      expect(reply.status).toBe(400);
      expect(reply.body.errors.length).toBeGreaterThan(0);
      expect(reply.text).not.toMatch(hint);
      expect(reply.text).not.toMatch(trace);
    },
  );

  // Proves that the pattern above finds a suggestion.
  it('suggest a name in development, without a stack trace', async () => {
    const reply = await developer.graph('{ viewr { edition } }', {}, { accept: modern });

    expect(reply.text).toMatch(hint);
    expect(reply.text).not.toMatch(trace);
  });
});

/** Every response has its request id: in the header, in the extensions, and in each error. */
function carriesRequestId(headers: Headers, body: any): void {
  const id = headers.get('request-id');
  expect(id).toMatch(/^req_\w+$/);
  expect(body.extensions?.requestId).toBe(id);
  for (const error of body.errors ?? []) expect(error.extensions.requestId).toBe(id);
}

const json = { 'content-type': 'application/json', accept: modern };
const viewer = '{ viewer { edition } }';
const createEvil =
  'mutation Evil { createAccount(input: { type: PARTNER, nickname: "Evil", businessDetails: { legalName: "E", ' +
  'email: "e@e.example", type: COMPANY, physicalAddress: { country: "US" } } }) { account { id } } }';
const search = (parameters: Record<string, string>) => `?${new URLSearchParams(parameters)}`;

describe('requests that the endpoint refuses', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  interface Refused {
    status: number;
    code: Uppercase<ProblemCode>;
    init?: RequestInit;
    search?: string;
    allow?: string;
  }
  const post = (body: unknown, headers: Record<string, string> = json): RequestInit => ({
    method: 'POST',
    headers,
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
  const form = () => {
    const data = new FormData();
    data.set('operations', JSON.stringify({ query: createEvil }));
    data.set('map', '{}');
    return data;
  };

  const refusals: Record<string, Refused> = {
    'a batch of operations': {
      status: 400,
      code: 'BODY_INVALID',
      init: post([{ query: createEvil }, { query: viewer }]),
    },
    'a batch of one': { status: 400, code: 'BODY_INVALID', init: post([{ query: createEvil }]) },
    'an empty batch': { status: 400, code: 'BODY_INVALID', init: post([]) },
    'a multipart body': { status: 400, code: 'BODY_INVALID', init: { method: 'POST', body: form() } },
    'a multipart body without a preflight': {
      status: 400,
      code: 'BODY_INVALID',
      init: { method: 'POST', body: form(), headers: { 'apollo-require-preflight': 'true' } },
    },
    'a form': {
      status: 400,
      code: 'BODY_INVALID',
      init: { method: 'POST', body: new URLSearchParams({ query: createEvil }) },
    },
    'plain text': {
      status: 400,
      code: 'BODY_INVALID',
      init: post({ query: createEvil }, { 'content-type': 'text/plain' }),
    },
    'GraphQL as plain text': {
      status: 400,
      code: 'BODY_INVALID',
      init: post(createEvil, { 'content-type': 'application/graphql' }),
    },
    'a body without a type': { status: 400, code: 'BODY_INVALID', init: post(Buffer.from('{"query":"{a}"}'), {}) },
    'broken JSON': { status: 400, code: 'BODY_INVALID', init: post('{"query": ') },
    'bytes that are not UTF-8': {
      status: 400,
      code: 'BODY_INVALID',
      init: post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    },
    'JSON that is not an object': { status: 400, code: 'BODY_INVALID', init: post('"query"') },
    'a body that is too large': {
      status: 400,
      code: 'BODY_TOO_LARGE',
      init: post({ query: `${createEvil} #${'x'.repeat(65_536)}` }),
    },
    'a mutation by GET': {
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      search: search({ query: createEvil }),
      allow: 'POST',
    },
    'a mutation by GET, by its name': {
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      search: search({ query: `query Good ${viewer} ${createEvil}`, operationName: 'Evil' }),
      allow: 'POST',
    },
    PUT: {
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      init: { ...post({ query: createEvil }), method: 'PUT' },
      allow: 'GET, POST',
    },
    DELETE: { status: 405, code: 'METHOD_NOT_ALLOWED', init: { method: 'DELETE' }, allow: 'GET, POST' },
  };
  it.each(Object.entries(refusals))(
    '%s is refused and has no effect',
    async (_, { status, code, init, search, allow }) => {
      const response = await fetch(`${world.origin}/graphql${search ?? ''}`, {
        ...init,
        headers: { authorization: `Bearer ${user.key}`, ...init?.headers },
      });
      const body: any = await response.json();

      expect(response.status).toBe(status);
      expect(response.headers.get('allow')).toBe(allow ?? null);
      expect(body).not.toHaveProperty('data');
      expect((await user.get('/v1/accounts?type=partner')).body.data).toEqual([]);
      expect(body.errors).toEqual([
        {
          message: expect.any(String),
          extensions: {
            code,
            httpStatus: status,
            docUrl: `/docs/errors#${code.toLowerCase()}`,
            error: { code: code.toLowerCase(), message: body.errors[0].message, metadata: {} },
            requestId: response.headers.get('request-id'),
          },
        },
      ]);
      // A method that the endpoint does not have is refused before anything is charged.
      const charged = !['PUT', 'DELETE'].includes(init?.method ?? 'GET');
      const cost = charged ? { cost: expect.any(Object) } : {};
      expect(body.extensions).toEqual({ requestId: response.headers.get('request-id'), ...cost });
    },
  );

  // The name selects the operation that runs. A wrong name must run nothing, especially by GET.
  describe.each(['GET', 'POST'])('an operation name that the document does not have, by %s', (method) => {
    it.each([
      ['a mutation', createEvil],
      ['a query', `query Good ${viewer}`],
      ['both', `query Good ${viewer} ${createEvil}`],
    ])('runs no operation of %s', async (_, query) => {
      const speaker = await given.directUser(1);
      const parameters = { query, operationName: 'Other' };

      const reply =
        method === 'GET'
          ? await speaker.get(`/graphql${search(parameters)}`, { accept: modern })
          : await speaker.post('/graphql', parameters, { accept: modern });

      expect((await speaker.get('/v1/accounts?type=partner')).body.data).toEqual([]);
      expect([reply.status, reply.body.errors?.[0]?.extensions.code]).toEqual([400, 'OPERATION_RESOLUTION_FAILURE']);
      expect(reply.body).not.toHaveProperty('data');
      carriesRequestId(reply.headers, reply.body);
    });
  });

  // The key would belong to the first mutation; the second would get its response, or would make it fail.
  it.each([
    ['side by side', (fields: string) => `mutation { ${fields} }`],
    ['in a fragment', (fields: string) => `mutation { ...Both } fragment Both on Mutation { ${fields} }`],
    ['in an inline fragment', (fields: string) => `mutation { ... on Mutation { ${fields} } }`],
  ])('two mutations under one Idempotency-Key, %s, are refused, and neither runs', async (_, document) => {
    const speaker = await given.directUser(1);
    const one = createEvil.slice(createEvil.indexOf('{') + 1, -1);
    const fields = `one: ${one.trim()} two: ${one.trim().replace('"Evil"', '"Worse"')}`;

    const reply = await speaker.graph(document(fields), {}, { 'idempotency-key': 'once' });

    expect((await speaker.get('/v1/accounts?type=partner')).body.data).toEqual([]);
    expect(reply.body.data).toEqual({ one: null, two: null });
    const refused = { code: 'IDEMPOTENCY_KEY_AMBIGUOUS', httpStatus: 400 };
    expect(reply.body.errors.map(({ extensions }: any) => extensions)).toMatchObject([refused, refused]);
  });

  it('a subscription is refused as a document that cannot run, and not as an internal error', async () => {
    const reply = await user.graph('subscription { viewer { edition } }', {}, { accept: modern });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.body.errors[0].extensions.code).not.toBe('INTERNAL_SERVER_ERROR');
  });
});

// Another site's page can make a browser send these requests; without a preflight it cannot add an Authorization
// header.
describe('a request that another site can make a browser send', () => {
  const foreign = { origin: 'https://evil.example', cookie: 'session=1; key=sk_test_1' };
  const requests: Record<string, [search: string, init: RequestInit]> = {
    'a query by GET': [search({ query: viewer }), {}],
    'a mutation by GET': [search({ query: createEvil }), {}],
    'a key in the query string': [search({ query: viewer, key: 'sk_test_x', authorization: 'Bearer sk_test_x' }), {}],
    'plain text': ['', { method: 'POST', body: JSON.stringify({ query: createEvil }) }],
    'a form': ['', { method: 'POST', body: new URLSearchParams({ query: createEvil }) }],
    'a file form': ['', { method: 'POST', body: new FormData() }],
    'a bare POST': ['', { method: 'POST' }],
  };
  it.each(Object.entries(requests))(
    'is 401 as %s, and other origins cannot read the response',
    async (_, [query, init]) => {
      const response = await fetch(`${world.origin}/graphql${query}`, {
        ...init,
        headers: { ...foreign, ...init.headers },
      });
      const body: any = await response.json();

      expect(response.status).toBe(401);
      expect(body.errors.map((e: any) => e.extensions.code)).toEqual(['AUTHENTICATION_REQUIRED']);
      carriesRequestId(response.headers, body);
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    },
  );

  it('is not allowed by a preflight', async () => {
    const response = await fetch(`${world.origin}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      },
    });

    expect(response.ok).toBe(false);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  it('returns the explorer without data for a navigation', async () => {
    const response = await fetch(`${world.origin}/graphql${search({ query: viewer })}`, {
      headers: { accept: 'text/html', ...foreign },
    });

    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });
});

describe('the status of a response', () => {
  let user: Speaker;
  let reader: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
    const key = await user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    reader = user.using(key.body.data.createApiKey.secret);
  });

  interface Row {
    status: number;
    /** Whether the response has a `data` entry, which is never null. */
    data: 'some' | 'none';
    codes?: string[];
    body: unknown;
    by?: () => Speaker;
  }
  // A document that cannot run is 400 under either type; test/api/graphql-http.test.ts has the reason.
  const rows: Record<string, Row> = {
    data: { status: 200, data: 'some', body: { query: viewer } },
    'null for a missing object': { status: 200, data: 'some', body: { query: '{ node(id: "account_x") { id } }' } },
    'an error together with data': {
      status: 200,
      data: 'some',
      codes: ['PARAMETER_INVALID'],
      body: { query: '{ viewer { edition } node(id: "a\\u0000") { id } }' },
    },
    'an object that does not exist': {
      status: 200,
      data: 'some',
      codes: ['RESOURCE_MISSING'],
      body: { query: '{ account(id: "account_x") { id } }' },
    },
    'a refused list': {
      status: 200,
      data: 'some',
      codes: ['PERMISSION_DENIED'],
      body: { query: '{ connectedAccountSettings { nodes { id } } }' },
    },
    'a refused mutation': {
      status: 200,
      data: 'some',
      codes: ['PERMISSION_DENIED'],
      body: { query: createEvil },
      by: () => reader,
    },
    'broken syntax': { status: 400, data: 'none', codes: ['GRAPHQL_PARSE_FAILED'], body: { query: '{' } },
    'an unknown field': {
      status: 400,
      data: 'none',
      codes: ['GRAPHQL_VALIDATION_FAILED'],
      body: { query: '{ viewer { pet } }' },
    },
    'a literal of the wrong type': {
      status: 400,
      data: 'none',
      codes: ['PARAMETER_INVALID'],
      body: { query: '{ accounts(first: "ten") { nodes { id } } }' },
    },
    'a variable of the wrong type': {
      status: 400,
      data: 'none',
      codes: ['PARAMETER_INVALID'],
      body: { query: 'query ($n: Int) { accounts(first: $n) { nodes { id } } }', variables: { n: 'ten' } },
    },
    'a variable that is missing': {
      status: 400,
      data: 'none',
      codes: ['PARAMETER_MISSING'],
      body: { query: 'query ($id: ID!) { account(id: $id) { id } }' },
    },
    'several operations and no name': {
      status: 400,
      data: 'none',
      codes: ['OPERATION_RESOLUTION_FAILURE'],
      body: { query: `query A ${viewer} query B ${viewer}` },
    },
    'no query': { status: 400, data: 'none', body: { variables: {} } },
    'an empty query': { status: 400, data: 'none', body: { query: '' } },
    'an empty body': { status: 400, data: 'none', body: '' },
    'a query that is not a text': { status: 400, data: 'none', body: { query: 5 } },
    'variables that are not an object': { status: 400, data: 'none', body: { query: viewer, variables: [1] } },
    // Apollo's clients send the document after this answer.
    'an unknown persisted query': {
      status: 200,
      data: 'none',
      codes: ['PERSISTED_QUERY_NOT_FOUND'],
      body: { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } },
    },
    'a body that is not JSON': { status: 400, data: 'none', codes: ['BODY_INVALID'], body: '{' },
    'a wrong key': {
      status: 401,
      data: 'none',
      codes: ['API_KEY_INVALID'],
      body: { query: viewer },
      by: () => user.using('sk_test_no'),
    },
    'acting for an unknown account': {
      status: 404,
      data: 'none',
      codes: ['RESOURCE_MISSING'],
      body: { query: viewer },
      by: () => platform.actingFor('account_00000000000000000000000000000000'),
    },
  };
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(1);
  });

  describe.each([legacy, modern])('as %s', (accept) => {
    it.each(Object.entries(rows))('for %s', async (_, { status, data, codes, body, by }) => {
      const reply = await (by?.() ?? user).post('/graphql', body, { accept });

      expect(reply.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
      expect(reply.status).toBe(status);
      const entry = 'data' in reply.body ? (reply.body.data === null ? 'null' : 'some') : 'none';
      expect(entry).toBe(data);
      if (codes) expect(reply.body.errors.map((e: any) => e.extensions.code)).toEqual(codes);
      else expect(reply.body.errors?.length).toBe(data === 'some' ? undefined : 1);
      carriesRequestId(reply.headers, reply.body);
    });
  });

  const accepts: [accept: string, type: string][] = [
    ['*/*', legacy],
    ['application/*', legacy],
    [`${modern}, ${legacy};q=0.9`, modern],
    [`${legacy}, ${modern};q=0.5`, legacy],
    [`${modern};q=0.5, ${legacy};q=0.9`, legacy],
    [`text/html, ${modern}`, modern],
  ];
  // A refused client must be able to read the reason, so domain errors use the accepted type as well.
  it.each(accepts)('has the type that Accept: %s prefers, for errors too', async (accept, type) => {
    const [good, refused, unread] = await Promise.all([
      user.post('/graphql', { query: viewer }, { accept }),
      user.using('sk_test_no').post('/graphql', { query: viewer }, { accept }),
      user.post('/graphql', '{', { accept }),
    ]);

    const types = [good, refused, unread].map((reply) => reply.headers.get('content-type'));
    expect(types).toEqual(Array.from({ length: 3 }, () => `${type}; charset=utf-8`));
  });

  it('is 406 when the client accepts no type that the endpoint offers', async () => {
    const reply = await user.post('/graphql', { query: viewer }, { accept: 'image/png' });

    expect([reply.status, reply.body.data]).toEqual([406, undefined]);
    carriesRequestId(reply.headers, reply.body);
  });

  it('may not be cached', async () => {
    const reply = await user.get(`/graphql${search({ query: viewer })}`);

    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });
});

describe('the problems of an operation', () => {
  let platform: Speaker;
  let user: Speaker;
  let taken: string;
  beforeAll(async () => {
    platform = await given.platform(1);
    user = await platform.connectedUser();
    taken = (await user.partner()).nickname;
  });

  const business = { legalName: 'L', email: 'l@l.example', type: 'COMPANY', physicalAddress: { country: 'US' } };
  const businessV1 = { legal_name: 'L', email: 'l@l.example', type: 'company', physical_address: { country: 'US' } };

  interface Row {
    mutation: 'createAccount' | 'createAddress' | 'createPerson';
    input: (ids: { id: string; taken: string }) => object;
    path: string;
    body: (ids: { id: string; taken: string }) => object;
    status: number;
    problems: [code: ProblemCode, fieldName: string, argumentPath: (string | number)[]][];
  }
  const rows: Record<string, Row> = {
    'everything missing': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', businessDetails: { website: 'https://x.example' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', business_details: { website: 'https://x.example' } }),
      status: 400,
      problems: [
        ['parameter_missing', 'account.nickname', ['input', 'nickname']],
        ['parameter_missing', 'account.business_details.legal_name', ['input', 'businessDetails', 'legalName']],
        ['parameter_missing', 'account.business_details.email', ['input', 'businessDetails', 'email']],
        ['parameter_missing', 'account.business_details.type', ['input', 'businessDetails', 'type']],
        [
          'parameter_missing',
          'account.business_details.physical_address.country',
          ['input', 'businessDetails', 'physicalAddress', 'country'],
        ],
      ],
    },
    'members that the input type requires': {
      mutation: 'createAccount',
      input: () => ({ nickname: nickname() }),
      path: '/v1/accounts',
      body: () => ({ nickname: nickname() }),
      status: 400,
      problems: [
        ['parameter_missing', 'account.type', ['input', 'type']],
        ['parameter_missing', 'account.business_details', ['input', 'businessDetails']],
      ],
    },
    'null and an empty object where a value is required': {
      mutation: 'createAccount',
      input: () => ({ type: null, nickname: nickname(), businessDetails: {} }),
      path: '/v1/accounts',
      body: () => ({ type: null, nickname: nickname(), business_details: {} }),
      status: 400,
      problems: [
        ['parameter_invalid_empty', 'account.type', ['input', 'type']],
        ['parameter_invalid_empty', 'account.business_details', ['input', 'businessDetails']],
      ],
    },
    'a malformed value': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', nickname: nickname(), businessDetails: { ...business, email: 'nobody' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', nickname: nickname(), business_details: { ...businessV1, email: 'nobody' } }),
      status: 400,
      problems: [['parameter_invalid', 'account.business_details.email', ['input', 'businessDetails', 'email']]],
    },
    'a malformed value and a missing one': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', businessDetails: { ...business, email: 'nobody' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', business_details: { ...businessV1, email: 'nobody' } }),
      status: 400,
      problems: [
        ['parameter_invalid', 'account.business_details.email', ['input', 'businessDetails', 'email']],
        ['parameter_missing', 'account.nickname', ['input', 'nickname']],
      ],
    },
    'an enum value that does not exist': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', nickname: nickname(), businessDetails: { ...business, type: 'GUILD' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', nickname: nickname(), business_details: { ...businessV1, type: 'guild' } }),
      status: 400,
      problems: [['parameter_invalid', 'account.business_details.type', ['input', 'businessDetails', 'type']]],
    },
    'a value of the wrong type, and an unknown member': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', nickname: 5, businessDetails: business, colour: 'red' }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', nickname: 5, business_details: businessV1, colour: 'red' }),
      status: 400,
      problems: [
        ['parameter_unknown', 'account.colour', ['input', 'colour']],
        ['parameter_invalid', 'account.nickname', ['input', 'nickname']],
      ],
    },
    'metadata that break their rules': {
      mutation: 'createAccount',
      input: () => ({
        type: 'PARTNER',
        nickname: nickname(),
        businessDetails: business,
        metadata: { snake_case: 5, 'with.dot': 'x'.repeat(501), fine: 'x' },
      }),
      path: '/v1/accounts',
      body: () => ({
        type: 'partner',
        nickname: nickname(),
        business_details: businessV1,
        metadata: { snake_case: 5, 'with.dot': 'x'.repeat(501), fine: 'x' },
      }),
      status: 400,
      problems: [
        ['parameter_invalid', 'account.metadata.snake_case', ['input', 'metadata', 'snake_case']],
        ['parameter_invalid', 'account.metadata.with.dot', ['input', 'metadata', 'with.dot']],
      ],
    },
    'a nickname that is taken': {
      mutation: 'createAccount',
      input: (ids) => ({ type: 'PARTNER', nickname: ids.taken, businessDetails: business }),
      path: '/v1/accounts',
      body: (ids) => ({ type: 'partner', nickname: ids.taken, business_details: businessV1 }),
      status: 409,
      problems: [['nickname_taken', 'account.nickname', ['input', 'nickname']]],
    },
    'an object outside the visibility': {
      mutation: 'createAddress',
      input: () => payoutAddressInput('account_0'),
      path: '/v1/addresses',
      body: () => payoutAddressBody('account_0'),
      status: 404,
      problems: [['resource_missing', 'address.linked_id', ['input', 'linkedId']]],
    },
    'currencies that do not exist, and a rule of the edition': {
      mutation: 'createAddress',
      input: ({ id }) => payoutAddressInput(id, { currency: 'XXX', bankAccount: { number: '12341' } }),
      path: '/v1/addresses',
      body: ({ id }) => payoutAddressBody(id, { currency: 'XXX', bank_account: { number: '12341' } }),
      status: 400,
      problems: [
        ['parameter_invalid', 'address.currency', ['input', 'currency']],
        ['parameter_missing', 'address.bank_account.domestic_credit', ['input', 'bankAccount', 'domesticCredit']],
      ],
    },
    'a person with texts as booleans': {
      mutation: 'createPerson',
      input: ({ id }) => ({ accountId: id, fullName: 'F', relationship: { owner: 'yes', director: 1 } }),
      path: '/v1/persons',
      body: ({ id }) => ({ account_id: id, full_name: 'F', relationship: { owner: 'yes', director: 1 } }),
      status: 400,
      problems: [
        ['parameter_invalid', 'person.relationship.director', ['input', 'relationship', 'director']],
        ['parameter_invalid', 'person.relationship.owner', ['input', 'relationship', 'owner']],
      ],
    },
  };
  it.each(Object.entries(rows))('are one entry each, with the same content as on /v1: %s', async (_, row) => {
    const speaker = row.mutation === 'createPerson' ? platform : user;
    const ids = { id: user.id, taken };
    const type = inputTypeOf(row.mutation);

    const [graph, v1] = await Promise.all([
      speaker.graph(
        `mutation ($input: ${type}!) { ${row.mutation}(input: $input) { __typename } }`,
        { input: row.input(ids) },
        { accept: modern },
      ),
      speaker.post(row.path, row.body(ids)),
    ]);

    const problems = v1.body.errors.map((e: any) => [e.code, e.metadata.field_name]);
    expect([v1.status, problems]).toEqual([row.status, row.problems.map(([code, fieldName]) => [code, fieldName])]);
    expect(graph.body.errors.map(({ message, extensions }: any) => ({ message, extensions }))).toEqual(
      row.problems.map(([code, fieldName, argumentPath], i) => ({
        message: expect.any(String),
        extensions: {
          code: code.toUpperCase(),
          httpStatus: row.status,
          docUrl: `/docs/errors#${code}`,
          argumentPath,
          // Exactly the item of the /v1 response, including its message.
          error: { code, message: v1.body.errors[i].message, metadata: { field_name: fieldName } },
          requestId: graph.headers.get('request-id'),
        },
      })),
    );
  });

  const queries: Record<string, [document: string, search: string, problems: [string, string, (string | number)[]][]]> =
    {
      'a page of size zero': ['accounts(first: 0)', 'limit=0', [['parameter_invalid', 'account.limit', ['first']]]],
      'a page beyond the limit, backward': [
        'accounts(last: 101)',
        'limit=101',
        [['parameter_invalid', 'account.limit', ['last']]],
      ],
      'an unknown cursor': [
        'accounts(after: "account_0")',
        'starting_after=account_0',
        [['parameter_invalid', 'account.starting_after', ['after']]],
      ],
      'an unknown cursor, backward': [
        'accounts(before: "account_0")',
        'ending_before=account_0',
        [['parameter_invalid', 'account.ending_before', ['before']]],
      ],
      'a page size that is not a number': [
        'accounts(first: "ten")',
        'limit=ten',
        [['parameter_invalid', 'account.limit', ['first']]],
      ],
      'an unknown argument': [
        'accounts(colour: "red")',
        'colour=red',
        [['parameter_unknown', 'account.colour', ['colour']]],
      ],
      'a filter by an object outside the visibility': [
        'addresses(linkedId: "account_0", after: "address_0")',
        'starting_after=address_0&linked_id=account_0',
        [['parameter_invalid', 'address.starting_after', ['after']]],
      ],
    };
  it.each(Object.entries(queries))(
    'of a list have the same names as on /v1: %s',
    async (_, [field, search, problems]) => {
      const path = field.startsWith('accounts') ? '/v1/accounts' : '/v1/addresses';

      const [graph, v1] = await Promise.all([
        user.graph(`{ ${field} { nodes { id } } }`, {}, { accept: modern }),
        user.get(`${path}?${search}`),
      ]);

      const problemsOf = (reply: Reply) => reply.codes.map((code, i) => [code, reply.fieldNames[i]]);
      const expected = problems.map(([code, fieldName]) => [code, fieldName]);
      expect([v1.status, problemsOf(v1), problemsOf(graph)]).toEqual([400, expected, expected]);
      expect(graph.body.errors.map((e: any) => e.extensions.argumentPath)).toEqual(problems.map(([, , at]) => at));
    },
  );

  it('include every error that does not concern arguments', async () => {
    const reply = await user.graph(
      '{ viewer { pet } accounts(colour: "red") { nodes { id } } }',
      {},
      { accept: modern },
    );

    expect(reply.status).toBe(400);
    expect(reply.body.errors).toHaveLength(2);
    expect(reply.text).toContain('pet');
    expect(reply.text).toContain('colour');
  });

  it('in a nested field keep their path in the response', async () => {
    const reply = await user.graph('{ list: accounts { nodes { id mail: addresses(first: 101) { nodes { id } } } } }');

    expect(reply.status).toBe(200);
    const { path, extensions } = reply.body.errors[0];
    expect(path).toEqual(['list', 'nodes', 0, 'mail']);
    expect(extensions).toMatchObject({
      code: 'PARAMETER_INVALID',
      httpStatus: 400,
      argumentPath: ['first'],
      error: { code: 'parameter_invalid', metadata: { field_name: 'address.limit' } },
    });
  });
});

describe('an object that is missing or not visible', () => {
  const missing = {
    account: 'account(id: "account_0")',
    accountSetting: 'accountSetting(id: "account_setting_0")',
    address: 'address(id: "address_0")',
    balance: 'balance(accountId: "account_0")',
    balanceAggregate: 'balanceAggregate(accountId: "account_0")',
    balanceTransaction: 'balanceTransaction(id: "bt_0")',
    checkout: 'checkout(id: "checkout_0")',
    deposit: 'deposit(id: "deposit_0")',
    event: 'event(id: "event_0")',
    file: 'file(id: "file_0")',
    apiKey: 'apiKey(id: "key_0")',
    person: 'person(id: "person_0")',
    receivable: 'receivable(id: "receivable_0")',
    payment: 'payment(id: "payment_0")',
    payout: 'payout(id: "payout_0")',
    transaction: 'transaction(id: "transaction_0")',
    session: 'session(id: "session_0")',
    webhookEndpoint: 'webhookEndpoint(id: "webhook_0")',
    webhookDelivery: 'webhookDelivery(id: "delivery_0")',
    requestLog: 'requestLog(id: "req_0")',
    export: 'export(id: "export_0")',
    import: 'import(id: "import_0")',
    importRow: 'importRow(id: "import_row_0")',
  };
  let second: Speaker;
  beforeAll(async () => {
    second = await given.directUser(2);
  });

  it('is selected by every nullable root field that is no list, and by node', async () => {
    const reply = await second.graph('{ __type(name: "Query") { fields { name type { kind name } } } }');
    const objects = reply.body.data.__type.fields.filter(
      ({ type }: any) => /^(OBJECT|INTERFACE)$/.test(type.kind) && !type.name.endsWith('Connection'),
    );
    expect(objects.map((field: any) => field.name).sort()).toEqual([...Object.keys(missing), 'node'].sort());
  });

  // Each query runs four times: a compiled statement answers a document that is repeated.
  it.each(Object.entries(missing))(
    'is null at its path, and the other fields have their values: %s',
    async (name, asked) => {
      const query =
        `query ${name} { viewer { edition } own: account(id: "${second.id}") { id } gone: ${asked} { __typename ` +
        '} accounts { nodes { id } } }';
      for (let ask = 0; ask < 4; ask++) {
        const { status, body } = await second.graph(query);
        expect([status, body.data]).toEqual([
          200,
          {
            viewer: { edition: 2 },
            own: { id: second.id },
            gone: null,
            accounts: { nodes: [{ id: second.id }] },
          },
        ]);
        expect(body.errors.map(({ path, extensions }: any) => [path, extensions.code, extensions.httpStatus])).toEqual([
          [['gone'], 'RESOURCE_MISSING', 404],
        ]);
      }
    },
  );

  it('is null in the edition that lacks its type, where its list is empty and /v1 has no such path', async () => {
    const user = await given.directUser(1);
    const { status, body } = await user.graph(
      `{ viewer { edition } checkouts(status: [COMPLETED]) { nodes { id } edges { cursor } totalCount pageInfo {
        hasNextPage hasPreviousPage } }
         checkout(id: "checkout_0") { id } transaction(id: "transaction_0") { id } account(id: "${user.id}") {
         checkoutsIn { totalCount } } }`,
    );
    expect([status, body.data]).toEqual([
      200,
      {
        viewer: { edition: 1 },
        checkouts: {
          nodes: [],
          edges: [],
          totalCount: 0,
          pageInfo: { hasNextPage: false, hasPreviousPage: false },
        },
        checkout: null,
        transaction: null,
        account: { checkoutsIn: { totalCount: 0 } },
      },
    ]);
    expect(body.errors.map(({ path, extensions }: any) => [path, extensions.code])).toEqual([
      [['checkout'], 'ROUTE_MISSING'],
      [['transaction'], 'ROUTE_MISSING'],
    ]);
    const wrong = await user.graph('{ checkouts(first: 101) { nodes { id } } }');
    expect(wrong.body.errors[0].message).toBe('first must be from 1 to 100.');
    const bad = await user.graph('{ checkouts(status: [gone]) { nodes { id } } }');
    expect([bad.status, bad.codes]).toEqual([400, ['parameter_invalid']]);
    for (const path of ['/v1/checkouts', '/v1/checkouts/checkout_0'])
      expect([(await user.get(path)).status, (await user.get(path)).codes]).toEqual([404, ['route_missing']]);
  });
});

describe('the statements of a query', () => {
  let few: Speaker;
  let many: Speaker;
  const usersOf = { few: 2, many: 40 };

  /** A checkout with a declined attempt and a successful one. */
  async function paidCheckout(user: Speaker, partner: string): Promise<Reply> {
    const receivable = await user.post('/v1/receivables', {
      currency: 'INR',
      invoice: {
        ...{ amount: '100.00', currency: 'INR', creation_date: '2026-10-01', due_date: '2026-12-01' },
        reference_number: nickname(),
      },
      purpose_code: 'P0802',
      transaction_type: 'services',
    });
    const made = await user.post('/v1/checkouts', {
      ...{ amount: '60.00', currency: 'INR', from: { account_id: partner }, payment_methods: ['upi'] },
      receivables: [{ id: receivable.body.id }],
      redirect_url: 'https://shop.example/',
    });
    await must(user.post(`/v1/test_helpers/checkouts/${made.body.id}/decline`));
    return user.post(`/v1/test_helpers/checkouts/${made.body.id}/pay`);
  }

  /** A platform whose users each have an address, a person, a file and a partner. */
  async function platformOf(users: number): Promise<Speaker> {
    const platform = await given.platform(2);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const create =
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    await Promise.all(
      Array.from({ length: users }, async () => {
        const made = await platform.graph(create, { input: { nickname: nickname() } });
        const id: string = made.body.data.createConnectedUser.account.id;
        const user = platform.actingFor(id);
        const [logo, document, card] = await Promise.all([
          user.upload('logo', png, 'logo.png'),
          user.upload('identity_document', png, 'id.png'),
          user.upload('identity_document', png, 'card.png'),
        ]);
        const replies = await Promise.all([
          user.partner().then((partner) => paidCheckout(user, partner.id)),
          platform.post('/v1/addresses', payoutAddressBody(id)),
          platform.post('/v1/persons', {
            account_id: id,
            full_name: 'Meera Rao',
            relationship: { owner: true },
            identification: { tax_card_image: card.body.id },
          }),
          platform.post(`/v1/accounts/${id}`, {
            logo_id: logo.body.id,
            supporting_documentation: { id_document: document.body.id },
          }),
        ]);
        for (const reply of replies) if (reply.status !== 200) throw new Error(reply.text);
      }),
    );
    return platform;
  }
  beforeAll(async () => {
    [few, many] = await Promise.all([platformOf(usersOf.few), platformOf(usersOf.many)]);
  });

  const costOf = async (speaker: Speaker, document: string): Promise<string[]> => {
    let reply!: Reply;
    const statements = await statementsOf(world, async () => {
      reply = await speaker.graph(document);
    });
    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    return statements;
  };

  const schema = buildGraph();
  const edges = edgesOf(schema);

  it('are counted for every list of the graph and every edge from its objects', () => {
    const named = new Set(edges.map(([name]) => name.split(' ')[0]));
    for (const edge of ['accounts.partners', 'accounts.setting', 'accounts.requirements', 'persons.taxCardImage'])
      expect(named).toContain(edge);
    expect(edges.length).toBeGreaterThanOrEqual(43);
  });

  // One statement for the list and one per edge on the path; a page's count or its check for a next page may need one
  // more.
  it.each(edges)('are as many for 40 parents as for 2: %s', async (_, document, bound) => {
    const [two, forty] = [await costOf(few, document), await costOf(many, document)];

    expect(forty).toEqual(two);
    expect(forty.length).toBeLessThanOrEqual(bound);
  });

  it('are one per edge of a dashboard three levels deep', async () => {
    const document = `{
      accounts(first: 50) {
        nodes {
          setting { id }
          owner { id }
          partners(first: 5) { nodes { addresses(first: 5) { nodes { account { owner { id } } } } setting { id } } }
          addresses(first: 5) { nodes { account { id } } }
          persons(first: 5) { nodes { account { id } taxCardImage { id account { id } } } }
          apiKeys(first: 5) { nodes { prefix } }
        }
      }
    }`;

    const [two, forty] = [await costOf(few, document), await costOf(many, document)];

    // One for the list and one for each of the 14 edges, minus the edges whose objects another batch has already read:
    // whether two edges to the same table share a batch depends on which parents PostgreSQL returns first.
    expect([...new Set(forty)]).toEqual([...new Set(two)]);
    for (const statements of [two, forty]) expect(statements.length).toBeLessThanOrEqual(15);
  });

  it('are as many for 40 nodes by id as for 2', async () => {
    const listed = await many.graph('{ accounts(first: 40) { nodes { id } } persons(first: 40) { nodes { id } } }');
    const ids: string[] = [...listed.body.data.accounts.nodes, ...listed.body.data.persons.nodes].map((n) => n.id);
    expect(ids).toHaveLength(80);
    const cost = (some: string[]) => costOf(many, `{ nodes(ids: ${JSON.stringify(some)}) { id } }`);

    expect(await cost(ids)).toEqual(await cost([ids[0]!, ids[79]!]));
    expect(await cost(ids)).toHaveLength(2);
  });
});

/**
 * A query for each list of the graph, each edge of its objects and each form of its arguments, with the maximum number
 * of statements.
 */
function edgesOf(schema: GraphQLSchema): [name: string, document: string, bound: number][] {
  const paged = (field: GraphQLField<unknown, unknown>) => field.args.some((arg) => arg.name === 'first');
  const nodeOf = (type: GraphQLOutputType): GraphQLObjectType => {
    const connection = getNamedType(type) as GraphQLObjectType;
    return getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType;
  };
  const leaf = (type: GraphQLObjectType) =>
    Object.values(type.getFields()).find((f) => !isObjectType(getNamedType(f.type)) && f.args.length === 0)!.name;
  const isList = (type: GraphQLOutputType): boolean =>
    type instanceof GraphQLNonNull ? isList(type.ofType) : type instanceof GraphQLList;

  return Object.values(schema.getQueryType()!.getFields())
    .filter(paged)
    .flatMap((list) =>
      Object.values(nodeOf(list.type).getFields()).flatMap((edge) => {
        const type = getNamedType(edge.type);
        if (!isObjectType(type)) return [];
        // A nested object is read with its row.
        if (!paged(edge) && !isList(edge.type) && type.getInterfaces().length === 0) return [];
        const asked = (name: string, selection: string, bound: number): [string, string, number] => [
          `${list.name}.${edge.name}${name}`,
          `{ ${list.name}(first: 100) { nodes { id ${edge.name}${selection} } } }`,
          bound,
        ];
        if (paged(edge)) {
          const own = leaf(nodeOf(edge.type));
          return [
            asked(' nodes', `(first: 2) { nodes { ${own} } }`, 2),
            asked(' from behind', `(last: 2) { nodes { ${own} } }`, 2),
            asked(' totalCount', '(first: 2) { totalCount }', 3),
            asked(' pageInfo', '(first: 2) { pageInfo { hasNextPage hasPreviousPage } }', 3),
            asked(' pageInfo from behind', '(last: 2) { pageInfo { hasNextPage hasPreviousPage } }', 3),
          ];
        }
        // Fields with figures over time need a range.
        const takes = (argument: string) => edge.args.some(({ name }) => name === argument);
        const span = 'from: "2026-01-01T00:00:00Z", to: "2026-01-08T00:00:00Z"';
        const range = takes('interval') ? `(${span}, interval: DAY)` : takes('from') ? `(${span})` : '';
        // Requirements may read several kinds of objects, but the number of statements does not depend on the number of
        // parents.
        if (isList(edge.type)) return [asked('', `${range} { ${leaf(type)} }`, 5)];
        // A deposit refers to its checkout through its payment, which is a separate edge.
        const between = edge.name === 'checkout' && list.name === 'deposits' ? 1 : 0;
        return [asked('', ` { ${leaf(type)} }`, 2 + between)];
      }),
    );
}

describe('an internal error', () => {
  const broken = useWorld({ worker: false });
  const message =
    'The service failed to handle the request. Retry later, and report the request id if the error persists.';
  let user: Speaker;
  beforeAll(async () => {
    user = await givenIn(broken).directUser(1);
    expect((await user.get('/v1/persons')).status).toBe(200);
    // From here on PostgreSQL refuses statements on persons, with the statement and its parameters in the driver's
    // error.
    await broken.sql`alter table person rename to person_gone`;
  });

  const secret = 'ABCPE1234F';
  const person = {
    fullName: 'Leaky Lakshmi',
    relationship: { director: true },
    identification: { taxCardNumber: secret },
  };
  const personV1 = {
    full_name: 'Leaky Lakshmi',
    relationship: { director: true },
    identification: { tax_card_number: secret },
  };
  const ofPerson = 'ABCPE1234F|Leaky|Lakshmi|person_gone|create_person';
  const leak = new RegExp(`${ofPerson}|relation|select |insert |postgres|drizzle|node_modules|42P01|stack`, 'i');
  const itemOf = { code: 'service_fault', message, metadata: {} };

  const v1: Record<string, () => Promise<Reply>> = {
    'a list': () => user.get('/v1/persons'),
    'an object': () => user.get(`/v1/persons/person_${secret}`),
    'a creation': () => user.post('/v1/persons', personV1),
  };
  it.each(Object.entries(v1))('is 500 on /v1 and reveals nothing about its cause, in %s', async (_, ask) => {
    const reply = await ask();

    expect([reply.status, reply.body]).toEqual([500, { object: 'error', http_status_code: 500, errors: [itemOf] }]);
    expect([...reply.headers.values()].join('\n') + reply.text).not.toMatch(leak);
    expect(reply.headers.get('request-id')).toMatch(/^req_\w+$/);
  });

  const graph: Record<string, [document: string, path: (string | number)[], variables?: object]> = {
    'a list': ['{ persons { nodes { id } } }', ['persons']],
    'an edge': ['{ viewer { account { persons { nodes { id } } } } }', ['viewer', 'account', 'persons']],
    'an object': [`{ node(id: "person_${secret}") { id } }`, ['node']],
    'a creation': [
      'mutation ($input: CreatePersonInput!) { createPerson(input: $input) { person { id } } }',
      ['createPerson'],
      { input: person },
    ],
  };
  it.each(Object.entries(graph))('is masked in the graph, in %s', async (_, [document, path, variables]) => {
    const reply = await user.graph(document, variables, { accept: modern });

    const requestId = reply.headers.get('request-id');
    // The operation ran, so the status of the response is 200; the status of the fault is in the error.
    expect(reply.status).toBe(200);
    expect(reply.body.errors).toEqual([
      {
        message,
        locations: expect.any(Array),
        path,
        extensions: {
          ...{ code: 'SERVICE_FAULT', httpStatus: 500, docUrl: '/docs/errors#service_fault' },
          ...{ error: itemOf, requestId },
        },
      },
    ]);
    expect(JSON.stringify([reply.body.errors, reply.body.extensions])).not.toMatch(leak);
  });

  it('leaves the fields that do not depend on the failed part unchanged', async () => {
    const reply = await user.graph('{ viewer { edition } gone: node(id: "person_1") { id } }');

    expect([reply.status, reply.body.data]).toEqual([200, { viewer: { edition: 1 }, gone: null }]);
    expect(reply.codes).toEqual(['service_fault']);
    expect((await user.get('/v1/accounts')).status).toBe(200);
  });

  it('has its status and message in the catalogue, from which the documentation is made', () => {
    expect(catalogue.service_fault.slice(0, 2)).toEqual([500, message]);
  });
});
