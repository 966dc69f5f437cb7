import { beforeAll, describe, expect, it } from 'vitest';
import { type ProblemCode } from '../../src/errors/catalogue.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const modern = 'application/graphql-response+json';

const legacy = 'application/json';

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
