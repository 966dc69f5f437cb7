import { beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../../src/auth/tokens.js';
import { partnerBody } from '../support/bodies.js';
import { accountIn, movedBy } from '../support/onboarding-profile.js';
import {
  eventually,
  givenIn,
  must,
  nickname,
  payoutAddressBody,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';
import { badUtf8, decodersIn, expectErrorObject } from './decoder-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { callers, ask, raw, bearer, json } = decodersIn(world);

describe('every response that is not 2xx is the error object', () => {
  const post = (body: BodyInit, headers: Record<string, string> = json()) =>
    ask('/v1/accounts', { method: 'POST', headers, body });
  const large = JSON.stringify(partnerBody({ metadata: { a: 'x'.repeat(70_000) } }));
  const stream = () =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(large));
        controller.close();
      },
    });

  it.each<[title: string, asked: () => Promise<Reply>, status: number, problem: string]>([
    ['an unknown path', () => callers.user.get('/v1/nothing'), 404, 'route_missing '],
    ['the bare prefix', () => callers.user.get('/v1'), 404, 'route_missing '],
    ['the prefix and a slash', () => callers.user.get('/v1/'), 404, 'route_missing '],
    ['a list and a slash', () => callers.user.get('/v1/accounts/'), 404, 'route_missing '],
    ['a list, a slash and a query', () => callers.user.get('/v1/accounts/?limit=1'), 404, 'route_missing '],
    ['a post to a list and a slash', () => callers.user.post('/v1/accounts/', partnerBody()), 404, 'route_missing '],
    ['an object and a slash', () => callers.user.get(`/v1/accounts/${callers.user.id}/`), 404, 'route_missing '],
    ['an operation without an id', () => callers.user.post('/v1/accounts//activate', {}), 404, 'route_missing '],
    ['a file without an id', () => callers.user.get('/v1/files//content'), 404, 'route_missing '],
    ['a list and a slash, encoded', () => callers.user.get('/v1/deposits/?x'), 404, 'route_missing '],
    [
      'a path below an object',
      () => callers.user.get(`/v1/accounts/${callers.user.id}/nothing`),
      404,
      'route_missing ',
    ],
    ['a path in other letters', () => callers.user.get('/v1/Accounts'), 404, 'route_missing '],
    ['a post to an unknown path', () => callers.user.post('/v1/nothing', '{'), 404, 'route_missing '],
    ['malformed percent-encoding', () => callers.user.get('/v1/accounts/%ZZ'), 404, 'route_missing '],
    ['percent-encoding that is no UTF-8', () => callers.user.get('/v1/accounts/%ff'), 404, 'route_missing '],
    [
      'an id that is too long for any',
      () => callers.user.get(`/v1/accounts/${'a'.repeat(2_000)}`),
      404,
      'route_missing ',
    ],
    ['malformed JSON', () => post('{"type":'), 400, 'body_invalid '],
    ['JSON followed by other text', () => post('{} {}'), 400, 'body_invalid '],
    ['an array for a body', () => post('[]'), 400, 'body_invalid '],
    ['a text for a body', () => post('"type"'), 400, 'body_invalid '],
    ['a number for a body', () => post('5'), 400, 'body_invalid '],
    ['bad UTF-8', () => post(badUtf8), 400, 'body_invalid '],
    ['a body of plain text', () => post('{}', { ...bearer(), 'content-type': 'text/plain' }), 400, 'body_invalid '],
    [
      'a form for a body',
      () => post('type=partner', { ...bearer(), 'content-type': 'application/x-www-form-urlencoded' }),
      400,
      'body_invalid ',
    ],
    [
      'a multipart body instead of JSON',
      () => ask('/v1/accounts', { method: 'POST', headers: bearer(), body: new FormData() }),
      400,
      'body_invalid ',
    ],
    ['JSON where a file belongs', () => callers.user.post('/v1/files', { purpose: 'logo' }), 400, 'body_invalid '],
    [
      'a body without a content type',
      () => ask('/v1/accounts', { method: 'POST', headers: bearer(), body: Buffer.from('{}') }),
      400,
      'body_invalid ',
    ],
    ['too large a body', () => post(large), 400, 'body_too_large '],
    [
      'too large a body of unknown length',
      () => ask('/v1/accounts', { method: 'POST', headers: json(), body: stream(), duplex: 'half' }),
      400,
      'body_too_large ',
    ],
    ['an id that is not visible', () => callers.user.get('/v1/accounts/account_0'), 404, 'resource_missing account.id'],
    ['no key', () => ask('/v1/accounts'), 401, 'authentication_required '],
    ['no key, on an unknown path', () => ask('/v1/nothing'), 401, 'authentication_required '],
    ['no key, on a malformed path', () => ask('/v1/accounts/%ZZ'), 401, 'authentication_required '],
    ['plain 403', () => callers.user.get('/v1/account_settings/connected'), 403, 'permission_denied '],
  ])('%s', async (_, asked, status, problem) => {
    expectErrorObject(await asked(), status, problem);
  });

  it('names only the first hundred of thousands of errors, so that a response stays small', async () => {
    const keys = Array.from({ length: 5_000 }, (_, n) => `k${n}`);
    const query = keys.slice(0, 2_000).join('=&');
    for (const reply of [
      await callers.user.post('/v1/accounts', Object.fromEntries(keys.map((key) => [key, 0]))),
      await callers.user.get(`/v1/accounts?${query}=`),
    ]) {
      expect([reply.status, reply.codes.length]).toEqual([400, 100]);
      expect(new Set(reply.codes)).toEqual(new Set(['parameter_unknown']));
      expect(reply.fieldNames).toEqual(keys.slice(0, 100).map((key) => `account.${key}`));
    }
    const lists = Array.from({ length: 9 }, (_, n) => `a${n}: accounts(status: $m) { nodes { id } }`);
    const wrong = await callers.user.graph(`query ($m: [AccountStatus!]) { ${lists.join(' ')} }`, {
      m: Array(900).fill('X'),
    });
    expect([wrong.status, wrong.body.errors.length]).toEqual([400, 100]);
    const unknown = Object.fromEntries(keys.map((key) => [key, 0]));
    const mutation = await callers.user.graph(
      'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }',
      { input: unknown },
    );
    expect([mutation.status, mutation.body.errors.length]).toEqual([400, 100]);
    // The errors of the types and of the rules come together, with one limit for both.
    const receivables = [...Array(150).fill({}), ...Array(300).fill({ id: 'a', amount: '0' })];
    const both = await callers.user.post('/v1/deposits/deposit_0/reconcile', { receivables });
    expect([both.status, both.codes.length]).toEqual([400, 100]);
  });

  it('shows of an internal error only its request id', async () => {
    await world.sql.unsafe('alter function create_person rename to create_person_away');
    try {
      const reply = await callers.user.post('/v1/persons', {
        full_name: 'Asha Rao',
        relationship: { director: true },
        identification: { tax_card_number: 'ABCDE1234F' },
      });

      expectErrorObject(reply, 500, 'service_fault ');
      expect(reply.text).not.toMatch(/create_person|function|exist|42883|Asha|ABCDE/);
      const graph = await callers.user.graph(
        'mutation { createPerson(input: { fullName: "Asha Rao", relationship: { director: true }, ' +
          'identification: { taxCardNumber: "ABCDE1234F" } }) { person { id } } }',
      );
      expect([graph.codes, graph.body.errors[0].extensions.code]).toEqual([['service_fault'], 'SERVICE_FAULT']);
      expect(graph.text).not.toMatch(/create_person\b|function|exist|42883|Asha|ABCDE/);
    } finally {
      await world.sql.unsafe('alter function create_person_away rename to create_person');
    }
  });
});

// The HTTP server answers what never becomes a request of the framework; its responses must look the same.
describe('HTTP that no client library sends', () => {
  const close = 'Connection: close\r\n\r\n';
  it.each<[title: string, request: () => string, status: number, problem: string]>([
    ['bytes that are no HTTP', () => 'HELO tidegate\r\n\r\n', 400, 'body_invalid '],
    [
      'a header that is no header',
      () => `GET /v1/accounts HTTP/1.1\r\nHost: x\r\nno colon here\r\n${close}`,
      400,
      'body_invalid ',
    ],
    [
      'a length that is no number',
      () => `POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n${close}`,
      400,
      'body_invalid ',
    ],
    [
      'two ideas of the length, as smugglers send',
      () =>
        `POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n${close}0\r\n\r\n`,
      400,
      'body_invalid ',
    ],
    [
      'headers without an end',
      () => `GET /v1/accounts HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n${close}`,
      431,
      'headers_too_large ',
    ],
    [
      'no Host',
      () => `GET /v1/accounts HTTP/1.1\r\nAuthorization: Bearer ${callers.user.key}\r\n${close}`,
      400,
      'body_invalid ',
    ],
  ])('%s', async (_, request, status, problem) => {
    expectErrorObject(await raw(request()), status, problem);
  });

  // The gateway may refuse or ignore an unsupported Expect header, but must not give a third kind of response.
  it('an unsupported Expect header', async () => {
    const expectation = `Expect: the-moon\r\nAuthorization: Bearer ${callers.user.key}`;
    const reply = await raw(`GET /v1/accounts?type=user HTTP/1.1\r\nHost: x\r\n${expectation}\r\n${close}`);
    if (reply.status === 200) expect(reply.body.data[0].id).toBe(callers.user.id);
    else expectErrorObject(reply, 400, 'body_invalid ');
  });

  // The router decodes and normalizes a path before it matches; authentication must look at the same text as the
  // router.
  it.each([
    ['the absolute form of a target', 'http://tidegate.example/v1/accounts'],
    ['a prefix in percent-encoding', '/%761/accounts'],
    ['a resource in percent-encoding', '/v1/%61ccounts'],
  ])('require the key for %s, and answer with a valid one', async (_, target) => {
    const without = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\n${close}`);
    expectErrorObject(without, 401, 'authentication_required ');
    const reply = await raw(
      `GET ${target}?type=user HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${callers.user.key}\r\n${close}`,
    );
    expect([reply.status, reply.body.object, reply.body.data[0].id]).toEqual([200, 'list', callers.user.id]);
  });
});

describe('a method that the path does not support', () => {
  const get = ['GET', 'HEAD'];
  const both = [...get, 'POST'];
  it.each([
    ['/v1/accounts', both],
    ['/v1/accounts/account_0', both],
    ['/v1/accounts/account_0/activate', ['POST']],
    ['/v1/accounts/account_0/deactivate', ['POST']],
    ['/v1/account_settings', get],
    ['/v1/account_settings/account_setting_0', both],
    ['/v1/addresses', both],
    ['/v1/addresses/address_0', both],
    ['/v1/persons', both],
    ['/v1/persons/person_0', both],
    ['/v1/persons/person_0/remove', ['POST']],
    ['/v1/files', both],
    ['/v1/files/file_0', get],
    ['/v1/files/file_0/content', get],
  ])('is 405 on %s, with the allowed methods', async (path, allowed) => {
    const wrong = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allowed.includes(method));
    for (const method of wrong) {
      const reply = await ask(path, { method, headers: bearer() });

      expectErrorObject(reply, 405, 'method_not_allowed ');
      expect(reply.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort());
    }
    const unknown = await ask(path, { method: wrong[0]!, headers: { authorization: 'Bearer sk_test_0' } });
    expectErrorObject(unknown, 401, 'api_key_invalid ');
  });

  it('answers HEAD with only the headers of GET', async () => {
    const reply = await ask('/v1/accounts', { method: 'HEAD', headers: bearer() });
    expect([reply.status, reply.text]).toEqual([200, '']);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});

describe('Request-Id', () => {
  it('is on every response, and always different', async () => {
    const replies = await Promise.all([
      callers.user.get('/v1/accounts'),
      callers.user.post('/v1/accounts', partnerBody()),
      callers.user.post('/v1/accounts', {}),
      callers.user.get('/v1/accounts/account_0'),
      callers.user.get('/v1/nothing'),
      callers.user.get('/v1/accounts/%ZZ'),
      ask('/v1/accounts'),
      ask('/v1/accounts', { method: 'DELETE', headers: bearer() }),
      callers.user.graph('{ viewer { mode } }'),
      callers.user.graph('{'),
      ask('/graphql', { method: 'POST' }),
      ask('/healthz'),
      ask('/nothing'),
      raw('HELO tidegate\r\n\r\n'),
    ]);
    const ids = replies.map(({ headers }) => headers.get('request-id'));
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{24}$/);
    expect(new Set(ids).size).toBe(replies.length);
  });

  it('is the one that the event of a write stores', async () => {
    const reply = await callers.user.post('/v1/accounts', partnerBody());
    const events = await world.sql`select type, request_id from event where object_id = ${reply.body.id}`;
    expect([...events]).toEqual([{ type: 'account.created', request_id: reply.headers.get('request-id') }]);
  });

  it.each<[title: string, asked: () => Promise<Reply>, status: number]>([
    ['data', () => callers.user.graph('{ viewer { mode } }'), 200],
    ['a refusal', () => callers.user.graph('{ account(id: "account_0") { id } }'), 200],
    [
      'input that was refused',
      () => callers.user.graph('mutation { createAccount(input: {}) { account { id } } }'),
      400,
    ],
    ['a document that does not parse', () => callers.user.graph('{'), 400],
    ['a document that is not valid', () => callers.user.graph('{ nothing }'), 400],
    ['a key that is not valid', () => callers.user.using('sk_test_0').graph('{ viewer { mode } }'), 401],
    ['malformed JSON', () => callers.user.post('/graphql', '{'), 400],
    ['a body without a query', () => callers.user.post('/graphql', '{}'), 400],
    ['a batch', () => callers.user.post('/graphql', '[{"query":"{ viewer { mode } }"}]'), 400],
    [
      'variables that are a text',
      () => callers.user.post('/graphql', '{"query":"{ viewer { mode } }","variables":"x"}'),
      400,
    ],
    [
      'a mutation by GET',
      () => callers.user.get(`/graphql?query=${encodeURIComponent('mutation { createApiKey(input: {}) { secret } }')}`),
      405,
    ],
  ])('is in the extensions of a GraphQL answer: %s', async (_, asked, status) => {
    const reply = await asked();
    const id = reply.headers.get('request-id');
    expect([reply.status, id, reply.body.extensions?.requestId]).toEqual([status, expect.stringMatching(/^req_/), id]);
    for (const error of reply.body.errors ?? []) expect(error.extensions.requestId).toBe(id);
  });
});

describe('authentication', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const asks = (authorization: string) =>
    Promise.all([
      ask('/v1/accounts?type=user', { headers: { authorization } }),
      ask('/graphql', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"query":"{ viewer { account { id } } }"}',
      }),
    ]);

  it.each<[form: string, of: (key: string) => string]>([
    ['Bearer', (key) => `Bearer ${key}`],
    ['bearer in small letters', (key) => `bearer ${key}`],
    ['Basic with an empty password', (key) => basic(`${key}:`)],
    ['basic in small letters', (key) => basic(`${key}:`).replace('Basic', 'basic')],
  ])('accepts the key as %s, at both APIs', async (_, of) => {
    const [rest, graph] = await asks(of(callers.user.key));
    expect([rest.status, rest.body.data[0].id]).toEqual([200, callers.user.id]);
    expect(graph.body.data).toEqual({ viewer: { account: { id: callers.user.id } } });
  });

  it.each<[title: string, authorization: string | undefined]>([
    ['no header', undefined],
    ['an empty header', ''],
    ['blanks', '   '],
  ])('is required: %s', async (_, authorization) => {
    const reply = await ask('/v1/accounts', { headers: authorization === undefined ? {} : { authorization } });
    expectErrorObject(reply, 401, 'authentication_required ');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });

  // One body for all of them except the expired one, which was valid once: a response that distinguishes a revoked key
  // from an unknown one would confirm a found key to a thief.
  it('answers every invalid key with the same body', async () => {
    const make = async (input: object) => {
      const reply = await callers.user.graph(
        'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }',
        { input },
      );
      return reply.body.data.createApiKey as { secret: string; apiKey: { id: string } };
    };
    const [revoked, expired] = await Promise.all([make({ permission: 'FULL' }), make({ expiresInSeconds: 1 })]);
    const speaks = async (key: string) => (await callers.user.using(key).get('/v1/accounts')).status;
    expect(await speaks(revoked.secret)).toBe(200);
    await callers.user.graph('mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }', {
      id: revoked.apiKey.id,
    });
    await Promise.all(
      [revoked, expired].map(({ secret }) =>
        eventually(
          () => speaks(secret),
          (s) => s === 401,
        ),
      ),
    );
    const tenant = callers.user.id.replace('account_', '');
    const swapped = callers.user.key.slice(0, -1) + (callers.user.key.endsWith('a') ? 'b' : 'a');

    const keys: Record<string, string> = {
      revoked: `Bearer ${revoked.secret}`,
      expired: `Bearer ${expired.secret}`,
      unknown: `Bearer ${newKey(world.pepper, tenant, false).secret}`,
      'of an unknown tenant': `Bearer ${newKey(world.pepper, '0'.repeat(32), false).secret}`,
      mistyped: `Bearer ${swapped}`,
      truncated: `Bearer ${callers.user.key.slice(0, -4)}`,
      lengthened: `Bearer ${callers.user.key}0`,
      'of the other mode': `Bearer ${callers.user.key.replace('sk_test_', 'sk_live_')}`,
      'no key at all': 'Bearer hello',
      'only a scheme': 'Bearer',
      'two keys': `Bearer ${callers.user.key} ${callers.user.key}`,
      'another scheme': `Digest ${callers.user.key}`,
      'no scheme': callers.user.key,
      'Basic with a password': basic(`${callers.user.key}:secret`),
      'Basic with a colon for a password': basic(`${callers.user.key}::`),
      'Basic with the key as password': basic(`:${callers.user.key}`),
      'Basic with nothing': basic(':'),
      'Basic in plain text': `Basic ${callers.user.key}:`,
    };
    const replies = await Promise.all(Object.values(keys).map(asks));
    for (const [rest, graph] of replies) {
      expectErrorObject(rest!, 401, 'api_key_invalid ');
      expect(graph!.status).toBe(401);
      for (const { headers } of [rest!, graph!]) {
        expect(headers.get('www-authenticate')).toBe('Bearer');
        expect(headers.get('cache-control')).toBe('no-store');
      }
    }
    const names = Object.keys(keys);
    const alike = replies.filter((_, i) => names[i] !== 'expired');
    expect(new Set(alike.map(([rest]) => rest!.text)).size).toBe(1);
    expect(replies[names.indexOf('expired')]![0]!.text).toContain('The API key has expired.');
    const masked = alike.map(([, graph]) => graph!.text.replaceAll(/req_[0-9a-f]{24}/g, 'req'));
    expect(new Set(masked).size).toBe(1);
  });

  it('accepts a key only in the header', async () => {
    for (const query of [`api_key=${callers.user.key}`, `access_token=${callers.user.key}`, `key=${callers.user.key}`])
      expectErrorObject(await ask(`/v1/accounts?${query}`), 401, 'authentication_required ');
    expectErrorObject(
      await ask('/v1/accounts', { headers: { cookie: `authorization=Bearer ${callers.user.key}` } }),
      401,
      'authentication_required ',
    );
  });
});

/**
 * The order of the steps: each request is wrong in its own step and in later ones, and gets only the error of its own
 * step. Architecture, Errors: key, path, permission, input, visibility, relation, state, rule, lost race.
 */
describe('the precedence of errors', () => {
  let reader: Speaker;
  let live: Speaker;
  let outsider: Speaker;
  let connected: Speaker;
  let foreign: { id: string };
  let taken: string;
  let partner: { id: string };
  let connectedPartner: { id: string };
  let ownSetting: string;
  const invented = 'account_00000000000000000000000000000000';

  beforeAll(async () => {
    const both = await given.directUserBoth(1);
    [live, outsider] = [both.live, await given.directUser(1)];
    const key = await callers.user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    reader = callers.user.using(key.body.data.createApiKey.secret);
    foreign = await outsider.partner();
    connected = await callers.platform.connectedUser();
    taken = nickname();
    [partner, connectedPartner] = await Promise.all([
      callers.user.partner({ nickname: taken }),
      connected.partner(),
      callers.platform.partner({ nickname: taken }),
    ]);
    for (const move of ['activate', 'verify'] as const)
      await must(movedBy[move](callers.platform, connectedPartner.id));
    ownSetting = (await callers.user.get('/v1/account_settings?address.user=true')).body.data[0].id;
  });

  type Case = [title: string, asked: () => Promise<Reply>, status: number, ...problems: string[]];
  const unknownKey = () => callers.user.using('sk_test_0');
  const volume = { estimated_monthly_volume: { amount: '1.50', currency: 'JPY' } };

  const key: Case[] = [
    ['an unknown path', () => unknownKey().get('/v1/nothing'), 401, 'api_key_invalid '],
    ['malformed JSON', () => unknownKey().post('/v1/accounts', '{'), 401, 'api_key_invalid '],
    ['a wrong method', () => ask('/v1/accounts', { method: 'PUT' }), 401, 'authentication_required '],
    ['too large a body', () => unknownKey().post('/v1/accounts', 'x'.repeat(70_000)), 401, 'api_key_invalid '],
    [
      'acting for an unknown account',
      () => unknownKey().actingFor(invented).get('/v1/accounts'),
      401,
      'api_key_invalid ',
    ],
  ];
  const path: Case[] = [
    ['a key with permission read', () => reader.post('/v1/nothing', '{'), 404, 'route_missing '],
    ["another edition's operation", () => reader.post('/v1/checkouts', '{'), 404, 'route_missing '],
    [
      'a wrong method of a reader',
      () => ask('/v1/accounts', { method: 'PUT', headers: bearer(reader) }),
      405,
      'method_not_allowed ',
    ],
  ];
  const permission: Case[] = [
    ['of the kind', () => callers.user.get('/v1/account_settings/connected?limit=99&x=1'), 403, 'permission_denied '],
    ['of the mode', () => live.post(`/v1/test_helpers/accounts/${invented}/hold`, '{'), 403, 'permission_denied '],
    ['of the key', () => reader.post('/v1/accounts', '{'), 403, 'permission_denied '],
    [
      'of the key, for an account that is not visible',
      () => reader.post(`/v1/accounts/${invented}`, { x: 1 }),
      403,
      'permission_denied ',
    ],
    ['of the key, for a file', () => reader.post('/v1/files', { x: 1 }), 403, 'permission_denied '],
    [
      'to act for another',
      () => callers.user.actingFor(invented).post('/v1/accounts', '{'),
      403,
      'permission_denied On-Behalf-Of',
    ],
  ];
  const input: Case[] = [
    [
      'an account that is not visible',
      () => callers.user.post(`/v1/accounts/${invented}`, { nickname: 5, x: 1 }),
      400,
      'parameter_unknown account.x',
      'parameter_invalid account.nickname',
    ],
    [
      "an outsider's account",
      () => callers.user.get(`/v1/accounts/${foreign.id}?x=1`),
      400,
      'parameter_unknown account.x',
    ],
    [
      'an activation',
      () => callers.user.post(`/v1/accounts/${invented}/activate`, { x: 1 }),
      400,
      'parameter_unknown account.x',
    ],
    [
      'an address of an account that is not visible',
      () => callers.user.post('/v1/addresses', payoutAddressBody(invented, { name: '' })),
      400,
      'parameter_invalid_empty address.name',
    ],
    [
      'an address of a category that the service creates',
      () => callers.user.post('/v1/addresses', payoutAddressBody(invented, { category: 'service_receive' })),
      400,
      'parameter_invalid address.category',
    ],
    [
      'a person of an account that is not visible',
      () => callers.user.post('/v1/persons', { account_id: invented, relationship: { owner: true } }),
      400,
      'parameter_missing person.full_name',
    ],
    [
      'a person who is nobody, of an account that is not visible',
      () =>
        callers.user.post('/v1/persons', {
          account_id: invented,
          full_name: 'A',
          relationship: { owner: false },
          identification: { tax_card_number: '1' },
        }),
      400,
      'parameter_invalid person.relationship',
    ],
    [
      'cents of a currency without them, for an account that is not visible',
      () => callers.user.post(`/v1/accounts/${invented}`, { business_details: volume }),
      400,
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
    ],
    [
      'a day that no week has, of a setting that is not visible',
      () => callers.user.post('/v1/account_settings/account_setting_0', { payouts: { weekly_anchor: 9 } }),
      400,
      'parameter_invalid account_setting.payouts.weekly_anchor',
    ],
    [
      'a day that no week has, beside what only a platform may set',
      () => callers.user.post(`/v1/account_settings/${ownSetting}`, { payouts: { enabled: true, weekly_anchor: 9 } }),
      400,
      'parameter_invalid account_setting.payouts.weekly_anchor',
    ],
    [
      'an empty object of switches, of a setting that is not visible',
      () => callers.user.post('/v1/account_settings/account_setting_0', { address: null }),
      400,
      'parameter_invalid_empty account_setting.address',
    ],
    [
      'a taken nickname',
      () => callers.user.post('/v1/accounts', partnerBody({ nickname: taken, x: 1 })),
      400,
      'parameter_unknown account.x',
    ],
  ];
  const invisible: Case[] = [
    ['an activation', () => connected.post(`/v1/accounts/${foreign.id}/activate`), 404, 'resource_missing account.id'],
    [
      'a deactivation',
      () => callers.user.post(`/v1/accounts/${callers.platform.id}/deactivate`),
      404,
      'resource_missing account.id',
    ],
    [
      'an update',
      () => callers.user.post(`/v1/accounts/${foreign.id}`, { nickname: taken }),
      404,
      'resource_missing account.id',
    ],
    [
      'a payout address',
      () => connected.post('/v1/addresses', payoutAddressBody(foreign.id)),
      404,
      'resource_missing address.linked_id',
    ],
    [
      'a logo, for an account that cannot be updated',
      () => callers.user.post(`/v1/accounts/${partner.id}`, { logo_id: 'file_0' }),
      404,
      'resource_missing account.logo_id',
    ],
  ];
  const relation: Case[] = [
    [
      "a connected user's activation of its partner, which is activated",
      () => connected.post(`/v1/accounts/${connectedPartner.id}/activate`),
      403,
      'permission_denied account.id',
    ],
    [
      "a platform's activation of itself, which is activated",
      () => callers.platform.post(`/v1/accounts/${callers.platform.id}/activate`),
      403,
      'permission_denied account.id',
    ],
    [
      'an activation of itself with nothing filled in',
      () => connected.post(`/v1/accounts/${connected.id}/activate`),
      403,
      'permission_denied account.id',
    ],
    [
      'payouts.enabled, beside a switch that does not apply',
      () =>
        callers.user.post(`/v1/account_settings/${ownSetting}`, {
          payouts: { enabled: true },
          address: { platform: true },
        }),
      403,
      'permission_denied account_setting.payouts.enabled',
    ],
  ];
  const state: Case[] = [
    [
      'a taken nickname',
      () => callers.user.post(`/v1/accounts/${partner.id}`, { nickname: taken }),
      400,
      'account_not_updatable account.status',
    ],
    [
      'what activation requires',
      async () => {
        const other = await accountIn(callers.platform, 'connected user', 'verifying');
        return callers.platform.post(`/v1/accounts/${other}/activate`);
      },
      400,
      'status_invalid account.status',
    ],
  ];
  const conflict: Case[] = [
    [
      'alone',
      () => callers.user.post('/v1/accounts', partnerBody({ nickname: taken.toUpperCase() })),
      409,
      'nickname_taken account.nickname',
    ],
    [
      'in an update',
      () => connected.post(`/v1/accounts/${connected.id}`, { nickname: taken }),
      409,
      'nickname_taken account.nickname',
    ],
  ];

  const steps: [step: string, cases: Case[]][] = [
    ['the key comes first', key],
    ['then the path', path],
    ['then the permission', permission],
    ['then the input, all of it', input],
    ['then the visibility', invisible],
    ['then the relation', relation],
    ['then the state', state],
    ['and a conflict with another request comes last', conflict],
  ];
  describe.each(steps)('%s', (_, cases) => {
    it.each(cases)('%s', async (__, asked, status, ...problems) => {
      expectErrorObject(await asked(), status, ...problems);
    });
  });
});
