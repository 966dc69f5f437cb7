import fs from 'node:fs';
import net from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../../src/auth/tokens.js';
import {
  details,
  eventually,
  givenIn,
  nickname,
  payoutAddressBody,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

/** Four bytes that are invalid in UTF-8. */
const badUtf8 = Buffer.concat([Buffer.from('{"nickname":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), Buffer.from('"}')]);
const partnerBody = (more: object = {}) => ({
  type: 'partner',
  nickname: nickname(),
  business_details: details(),
  ...more,
});
const code = ({ status, codes, fieldNames }: Reply) => [status, ...codes.map((c, i) => [c, fieldNames[i]].join(' '))];
const sorted = (reply: Reply) => {
  const [status, ...problems] = code(reply);
  return [status, ...problems.sort()];
};

/** Sends a request with fetch; returns a `Reply`. */
async function ask(path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Reply> {
  const response = await fetch(`${world.origin}${path}`, init);
  return replyOf(response.status, response.headers, await response.text());
}

/**
 * Sends bytes to a socket, for requests that no HTTP client would send; returns all bytes until the connection ends.
 */
async function raw(request: string): Promise<Reply> {
  const { port, hostname } = new URL(world.origin);
  const text = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = net.connect(Number(port), hostname, () => socket.write(request));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((header) => header.split(/:\s*/, 2) as [string, string]));
  return replyOf(Number(line.split(' ')[1]), headers, body);
}

function replyOf(status: number, headers: Headers, text: string): Reply {
  const json = (headers.get('content-type') ?? '').includes('json') && text !== '';
  const body = json ? JSON.parse(text) : undefined;
  const items = (body?.errors ?? []).map((e: any) => e.extensions?.error ?? e);
  return {
    status,
    headers,
    body,
    text,
    codes: items.map((e: any) => e.code),
    fieldNames: items.map((e: any) => e.metadata?.field_name),
  };
}

/** Checks a complete error object, with its keys and their order. Spec: Error object. */
function expectErrorObject(reply: Reply, status: number, ...problems: string[]): void {
  expect(code(reply)).toEqual([status, ...problems]);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(reply.headers.get('request-id')).toMatch(/^req_[0-9a-f]{24}$/);
  expect(Object.keys(reply.body)).toEqual(['object', 'http_status_code', 'errors']);
  expect([reply.body.object, reply.body.http_status_code]).toEqual(['error', status]);
  for (const item of reply.body.errors) {
    expect(Object.keys(item)).toEqual(['code', 'message', 'metadata']);
    expect(item.message).toMatch(/^[\x20-\x7e]{8,}$/);
    expect(Object.getPrototypeOf(item.metadata)).toBe(Object.prototype);
  }
}

let user: Speaker;
let platform: Speaker;
beforeAll(async () => {
  [user, platform] = await Promise.all([given.directUser(1), given.platform(1)]);
});
const bearer = (speaker = user) => ({ authorization: `Bearer ${speaker.key}` });
const json = (speaker = user) => ({ ...bearer(speaker), 'content-type': 'application/json' });

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
    ['an unknown path', () => user.get('/v1/nothing'), 404, 'route_missing '],
    ['the bare prefix', () => user.get('/v1'), 404, 'route_missing '],
    ['the prefix and a slash', () => user.get('/v1/'), 404, 'route_missing '],
    ['a list and a slash', () => user.get('/v1/accounts/'), 404, 'route_missing '],
    ['a list, a slash and a query', () => user.get('/v1/accounts/?limit=1'), 404, 'route_missing '],
    ['a post to a list and a slash', () => user.post('/v1/accounts/', partnerBody()), 404, 'route_missing '],
    ['an object and a slash', () => user.get(`/v1/accounts/${user.id}/`), 404, 'route_missing '],
    ['an operation without an id', () => user.post('/v1/accounts//activate', {}), 404, 'route_missing '],
    ['a file without an id', () => user.get('/v1/files//content'), 404, 'route_missing '],
    ['a list and a slash, encoded', () => user.get('/v1/deposits/?x'), 404, 'route_missing '],
    ['a path below an object', () => user.get(`/v1/accounts/${user.id}/nothing`), 404, 'route_missing '],
    ['a path in other letters', () => user.get('/v1/Accounts'), 404, 'route_missing '],
    ['a post to an unknown path', () => user.post('/v1/nothing', '{'), 404, 'route_missing '],
    ['malformed percent-encoding', () => user.get('/v1/accounts/%ZZ'), 404, 'route_missing '],
    ['percent-encoding that is no UTF-8', () => user.get('/v1/accounts/%ff'), 404, 'route_missing '],
    ['an id that is too long for any', () => user.get(`/v1/accounts/${'a'.repeat(2_000)}`), 404, 'route_missing '],
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
    ['JSON where a file belongs', () => user.post('/v1/files', { purpose: 'logo' }), 400, 'body_invalid '],
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
    ['an id that is not visible', () => user.get('/v1/accounts/account_0'), 404, 'resource_missing account.id'],
    ['no key', () => ask('/v1/accounts'), 401, 'authentication_required '],
    ['no key, on an unknown path', () => ask('/v1/nothing'), 401, 'authentication_required '],
    ['no key, on a malformed path', () => ask('/v1/accounts/%ZZ'), 401, 'authentication_required '],
    ['plain 403', () => user.get('/v1/account_settings/connected'), 403, 'permission_denied '],
  ])('%s', async (_, asked, status, problem) => {
    expectErrorObject(await asked(), status, problem);
  });

  it('names only the first hundred of thousands of errors, so that a response stays small', async () => {
    const keys = Array.from({ length: 5_000 }, (_, n) => `k${n}`);
    const query = keys.slice(0, 2_000).join('=&');
    for (const reply of [
      await user.post('/v1/accounts', Object.fromEntries(keys.map((key) => [key, 0]))),
      await user.get(`/v1/accounts?${query}=`),
    ]) {
      expect([reply.status, reply.codes.length]).toEqual([400, 100]);
      expect(new Set(reply.codes)).toEqual(new Set(['parameter_unknown']));
      expect(reply.fieldNames).toEqual(keys.slice(0, 100).map((key) => `account.${key}`));
    }
    const lists = Array.from({ length: 9 }, (_, n) => `a${n}: accounts(status: $m) { nodes { id } }`);
    const wrong = await user.graph(`query ($m: [AccountStatus!]) { ${lists.join(' ')} }`, {
      m: Array(900).fill('X'),
    });
    expect([wrong.status, wrong.body.errors.length]).toEqual([400, 100]);
    const unknown = Object.fromEntries(keys.map((key) => [key, 0]));
    const mutation = await user.graph(
      'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }',
      { input: unknown },
    );
    expect([mutation.status, mutation.body.errors.length]).toEqual([400, 100]);
    // The errors of the types and of the rules come together, with one limit for both.
    const receivables = [...Array(150).fill({}), ...Array(300).fill({ id: 'a', amount: '0' })];
    const both = await user.post('/v1/deposits/deposit_0/reconcile', { receivables });
    expect([both.status, both.codes.length]).toEqual([400, 100]);
  });

  it('shows of an internal error only its request id', async () => {
    await world.sql.unsafe('alter function create_person rename to create_person_away');
    try {
      const reply = await user.post('/v1/persons', {
        full_name: 'Asha Rao',
        relationship: { director: true },
        identification: { tax_card_number: 'ABCDE1234F' },
      });

      expectErrorObject(reply, 500, 'service_fault ');
      expect(reply.text).not.toMatch(/create_person|function|exist|42883|Asha|ABCDE/);
      const graph = await user.graph(
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
      () => `GET /v1/accounts HTTP/1.1\r\nAuthorization: Bearer ${user.key}\r\n${close}`,
      400,
      'body_invalid ',
    ],
  ])('%s', async (_, request, status, problem) => {
    expectErrorObject(await raw(request()), status, problem);
  });

  // The gateway may refuse or ignore an unsupported Expect header, but must not give a third kind of response.
  it('an unsupported Expect header', async () => {
    const expectation = `Expect: the-moon\r\nAuthorization: Bearer ${user.key}`;
    const reply = await raw(`GET /v1/accounts?type=user HTTP/1.1\r\nHost: x\r\n${expectation}\r\n${close}`);
    if (reply.status === 200) expect(reply.body.data[0].id).toBe(user.id);
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
      `GET ${target}?type=user HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.key}\r\n${close}`,
    );
    expect([reply.status, reply.body.object, reply.body.data[0].id]).toEqual([200, 'list', user.id]);
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
      user.get('/v1/accounts'),
      user.post('/v1/accounts', partnerBody()),
      user.post('/v1/accounts', {}),
      user.get('/v1/accounts/account_0'),
      user.get('/v1/nothing'),
      user.get('/v1/accounts/%ZZ'),
      ask('/v1/accounts'),
      ask('/v1/accounts', { method: 'DELETE', headers: bearer() }),
      user.graph('{ viewer { mode } }'),
      user.graph('{'),
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
    const reply = await user.post('/v1/accounts', partnerBody());
    const events = await world.sql`select type, request_id from event where object_id = ${reply.body.id}`;
    expect([...events]).toEqual([{ type: 'account.created', request_id: reply.headers.get('request-id') }]);
  });

  it.each<[title: string, asked: () => Promise<Reply>, status: number]>([
    ['data', () => user.graph('{ viewer { mode } }'), 200],
    ['a refusal', () => user.graph('{ account(id: "account_0") { id } }'), 200],
    ['input that was refused', () => user.graph('mutation { createAccount(input: {}) { account { id } } }'), 400],
    ['a document that does not parse', () => user.graph('{'), 400],
    ['a document that is not valid', () => user.graph('{ nothing }'), 400],
    ['a key that is not valid', () => user.using('sk_test_0').graph('{ viewer { mode } }'), 401],
    ['malformed JSON', () => user.post('/graphql', '{'), 400],
    ['a body without a query', () => user.post('/graphql', '{}'), 400],
    ['a batch', () => user.post('/graphql', '[{"query":"{ viewer { mode } }"}]'), 400],
    ['variables that are a text', () => user.post('/graphql', '{"query":"{ viewer { mode } }","variables":"x"}'), 400],
    [
      'a mutation by GET',
      () => user.get(`/graphql?query=${encodeURIComponent('mutation { createApiKey(input: {}) { secret } }')}`),
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
    const [rest, graph] = await asks(of(user.key));
    expect([rest.status, rest.body.data[0].id]).toEqual([200, user.id]);
    expect(graph.body.data).toEqual({ viewer: { account: { id: user.id } } });
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
      const reply = await user.graph(
        'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }',
        { input },
      );
      return reply.body.data.createApiKey as { secret: string; apiKey: { id: string } };
    };
    const [revoked, expired] = await Promise.all([make({ permission: 'FULL' }), make({ expiresInSeconds: 1 })]);
    const speaks = async (key: string) => (await user.using(key).get('/v1/accounts')).status;
    expect(await speaks(revoked.secret)).toBe(200);
    await user.graph('mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }', {
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
    const tenant = user.id.replace('account_', '');
    const swapped = user.key.slice(0, -1) + (user.key.endsWith('a') ? 'b' : 'a');

    const keys: Record<string, string> = {
      revoked: `Bearer ${revoked.secret}`,
      expired: `Bearer ${expired.secret}`,
      unknown: `Bearer ${newKey(world.pepper, tenant, false).secret}`,
      'of an unknown tenant': `Bearer ${newKey(world.pepper, '0'.repeat(32), false).secret}`,
      mistyped: `Bearer ${swapped}`,
      truncated: `Bearer ${user.key.slice(0, -4)}`,
      lengthened: `Bearer ${user.key}0`,
      'of the other mode': `Bearer ${user.key.replace('sk_test_', 'sk_live_')}`,
      'no key at all': 'Bearer hello',
      'only a scheme': 'Bearer',
      'two keys': `Bearer ${user.key} ${user.key}`,
      'another scheme': `Digest ${user.key}`,
      'no scheme': user.key,
      'Basic with a password': basic(`${user.key}:secret`),
      'Basic with a colon for a password': basic(`${user.key}::`),
      'Basic with the key as password': basic(`:${user.key}`),
      'Basic with nothing': basic(':'),
      'Basic in plain text': `Basic ${user.key}:`,
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
    for (const query of [`api_key=${user.key}`, `access_token=${user.key}`, `key=${user.key}`])
      expectErrorObject(await ask(`/v1/accounts?${query}`), 401, 'authentication_required ');
    expectErrorObject(
      await ask('/v1/accounts', { headers: { cookie: `authorization=Bearer ${user.key}` } }),
      401,
      'authentication_required ',
    );
  });
});

describe('the encoding of a query', () => {
  let statuses: Record<string, string[]>;
  beforeAll(async () => {
    const partners = await Promise.all(['draft', 'draft', 'hold', 'verifying'].map(() => user.partner()));
    const ids = partners.map(({ id }) => id as string);
    statuses = { draft: [ids[0]!, ids[1]!], hold: [ids[2]!], verifying: [ids[3]!] };
    await world.sql`update account set status = 'hold' where id = ${ids[2]!}`;
    await world.sql`update account set status = 'verifying' where id = ${ids[3]!}`;
  });
  const listed = async (query: string, speaker = user) => {
    const reply = await speaker.get(query);
    expect([reply.status, reply.codes]).toEqual([200, []]);
    return (reply.body.data as { id: string }[]).map(({ id }) => id);
  };

  it.each([
    'status=hold&status=verifying',
    'status[]=hold&status[]=verifying',
    'status%5B%5D=hold&status%5B%5D=verifying',
    'status=hold,verifying',
    'status=hold%2Cverifying',
    'status[]=hold,verifying',
    'status[]=hold&status=verifying',
    'status=verifying&status=hold&status=hold',
    'status[0]=hold&status[1]=verifying',
    'status%5B1%5D=hold&status%5B0%5D=verifying',
    'status[7]=hold&status[3]=verifying&status[0]=hold',
    'status[0]=hold&status[0]=verifying',
    'status[0]=hold&status[]=verifying',
    'status=hold&status[1]=verifying',
    'status[0]=hold,verifying',
    'status.0=hold&status.1=verifying',
  ])('reads both values of an array: %s', async (query) => {
    const found = await listed(`/v1/accounts?${query}`);
    expect(found.sort()).toEqual([...statuses.hold!, ...statuses.verifying!].sort());
  });

  it.each(['status=hold', 'status[]=hold', 'status[0]=hold', 'status[0][]=hold'])(
    'reads one value of an array: %s',
    async (query) => {
      expect(await listed(`/v1/accounts?${query}`)).toEqual(statuses.hold);
    },
  );

  it.each([
    ['created.gte=1&created.lt=2', 'created[gte]=1&created[lt]=2', 'created%5Bgte%5D=1&created%5Blt%5D=2'],
    ['created.gte=1', 'created[gte]=1', 'created%5Bgte%5D=1'],
  ])('accepts a dotted name in brackets too: %s', async (...queries) => {
    const lists = await Promise.all(queries.map((query) => listed(`/v1/accounts?type=user&${query}`)));
    expect(lists).toEqual(queries.map(() => (queries[0].includes('lt') ? [] : [user.id])));
  });

  it('accepts deeper names in brackets, too, for arrays and switches', async () => {
    const second = await given.directUser(2);
    const own = (await listed('/v1/account_settings?address.user=true')).at(0);
    expect(own).toMatch(/^account_setting_/);
    for (const query of ['address[user]=true', 'payouts[reason_code_not_enabled]=account_not_activated'])
      expect(await listed(`/v1/account_settings?${query}`)).toEqual(
        await listed(`/v1/account_settings?${query.replace('[', '.').replace(']', '')}`),
      );
    await world.sql`update address set wallet = '{"provider":"klarna"}' where linked_id = ${user.id}`;
    await world.sql`update address set vpa = '{"id":"a@b","upi":{"onetime":"enabled","recurring":"disabled"}}'
      where linked_id = ${second.id}`;
    const [wallet, vpa] = [await listed('/v1/addresses'), await listed('/v1/addresses', second)];
    for (const query of ['wallet.provider=klarna', 'wallet[provider]=klarna', 'wallet[provider][]=klarna,affirm'])
      expect(await listed(`/v1/addresses?${query}`)).toEqual(wallet);
    for (const query of ['vpa.upi.onetime=enabled', 'vpa[upi][onetime]=enabled', 'vpa.upi[onetime]=enabled'])
      expect(await listed(`/v1/addresses?${query}`, second)).toEqual(vpa);
    expect([wallet.length, vpa.length]).toEqual([1, 1]);
  });

  it.each([
    ['status=hold,gone', 'parameter_invalid account.status'],
    ['status=', 'parameter_invalid_empty account.status'],
    ['status[]=', 'parameter_invalid_empty account.status'],
    ['status=HOLD', 'parameter_invalid account.status'],
    ['status[x]=hold', 'parameter_invalid account.status'],
    ['status[0]=', 'parameter_invalid_empty account.status'],
    ['status[0]=gone', 'parameter_invalid account.status'],
    ['status[0]=hold&status[x]=hold', 'parameter_invalid account.status'],
    ['status[0][x]=hold', 'parameter_invalid account.status'],
    ['status[-1]=hold', 'parameter_invalid account.status'],
    ['created.gte=yesterday', 'parameter_invalid account.created.gte'],
    ['created.gte=1.5', 'parameter_invalid account.created.gte'],
    ['created.gte=-1', 'parameter_invalid account.created.gte'],
    ['created.gte=', 'parameter_invalid_empty account.created.gte'],
    ['created.gte=1&created.gte=2', 'parameter_invalid account.created.gte'],
    ['created.near=1', 'parameter_unknown account.created.near'],
    ['created=1', 'parameter_invalid account.created'],
    ['created.gte=1&created=2', 'parameter_invalid account.created'],
    ['created=2&created.gte=1', 'parameter_invalid account.created'],
    ['colour=red', 'parameter_unknown account.colour'],
    ['__proto__=x', 'parameter_unknown account.__proto__'],
    ['constructor[prototype][x]=y', 'parameter_unknown account.constructor'],
    ['first=1', 'parameter_unknown account.first'],
    ['startingAfter=account_0', 'parameter_unknown account.startingAfter'],
    ['starting_after=', 'parameter_invalid_empty account.starting_after'],
    ['starting_after=account_0&starting_after=account_1', 'parameter_invalid account.starting_after'],
    ['starting_after[x]=account_0', 'parameter_invalid account.starting_after'],
    ['ending_before[]=account_0&ending_before[]=account_1', 'parameter_invalid account.ending_before'],
    ['starting_after=%00', 'parameter_invalid account.starting_after'],
    ['capability.multicurrency_exports_v1=open', 'parameter_invalid account.capability.multicurrency_exports_v1'],
    ['limit[x]=1', 'parameter_invalid account.limit'],
  ])('refuses %s', async (query, problem) => {
    expectErrorObject(await user.get(`/v1/accounts?${query}`), 400, problem);
  });

  it.each([
    ['is_reusable=yes', 'parameter_invalid address.is_reusable'],
    ['is_reusable=true&is_reusable=false', 'parameter_invalid address.is_reusable'],
    ['currency=inr', 'parameter_invalid address.currency'],
    ['linked_id=account_0&linked_id=account_1', 'parameter_invalid address.linked_id'],
    ['linked_id[x]=account_0', 'parameter_invalid address.linked_id'],
    ['wallet=klarna', 'parameter_invalid address.wallet'],
    ['wallet.provider=cash', 'parameter_invalid address.wallet.provider'],
  ])('refuses %s of addresses', async (query, problem) => {
    expectErrorObject(await user.get(`/v1/addresses?${query}`), 400, problem);
  });

  it('refuses a query on an object, and on a post', async () => {
    expectErrorObject(await user.get(`/v1/accounts/${user.id}?expand=x`), 400, 'parameter_unknown account.expand');
    expectErrorObject(await user.get(`/v1/accounts/${user.id}?limit=1`), 400, 'parameter_unknown account.limit');
    expectErrorObject(
      await user.post('/v1/accounts?type=partner', partnerBody()),
      400,
      'parameter_unknown account.type',
    );
  });

  it('names all errors of a query in one response', async () => {
    const reply = await user.get(
      '/v1/accounts?limit=11&status=gone&colour=red&created.gte=x&starting_after=&type=partner,nobody',
    );
    expect(sorted(reply)).toEqual([
      400,
      'parameter_invalid account.created.gte',
      'parameter_invalid account.limit',
      'parameter_invalid account.status',
      'parameter_invalid account.type',
      'parameter_invalid_empty account.starting_after',
      'parameter_unknown account.colour',
    ]);
  });
});

describe('a required parameter', () => {
  it('has the complete error of the specification for an empty enum', async () => {
    const reply = await user.post('/v1/accounts', partnerBody({ type: '' }));
    expect([reply.status, reply.body]).toEqual([
      400,
      {
        object: 'error',
        http_status_code: 400,
        errors: [
          {
            code: 'parameter_invalid_empty',
            message: expect.stringMatching(/retry with a valid value/i),
            metadata: { field_name: 'account.type' },
          },
        ],
      },
    ]);
  });

  const set = (body: object, path: string, value: unknown): object => {
    const [name = '', ...rest] = path.split('.');
    const at = body as Record<string, unknown>;
    if (rest.length > 0) return { ...at, [name]: set(at[name] as object, rest.join('.'), value) };
    const { [name]: _, ...others } = at;
    return value === undefined ? others : { ...others, [name]: value };
  };
  const bodies = {
    account: { path: '/v1/accounts', of: () => partnerBody() as object },
    address: { path: '/v1/addresses', of: () => payoutAddressBody(user.id) as object },
    person: {
      path: '/v1/persons',
      of: () => ({
        full_name: 'Asha Rao',
        relationship: { director: true },
        identification: { tax_card_number: 'ABCDE1234F' },
      }),
    },
  };

  it.each<[object: keyof typeof bodies, parameter: string, hash?: 'hash']>([
    ['account', 'type'],
    ['account', 'nickname'],
    ['account', 'business_details', 'hash'],
    ['account', 'business_details.legal_name'],
    ['account', 'business_details.email'],
    ['account', 'business_details.type'],
    ['account', 'business_details.physical_address.country'],
    ['address', 'category'],
    ['address', 'type'],
    ['address', 'currency'],
    ['address', 'linked_id'],
    ['address', 'linked_object'],
    ['address', 'name'],
    ['address', 'bank_account', 'hash'],
    ['address', 'bank_account.number'],
    ['address', 'bank_account.domestic_credit'],
    ['address', 'billing_details', 'hash'],
    ['person', 'full_name'],
    ['person', 'relationship', 'hash'],
  ])('of an %s: %s is missing when absent, and empty when null or ""', async (object, parameter, hash) => {
    const { path, of } = bodies[object];
    const absent = await user.post(path, set(of(), parameter, undefined));
    expectErrorObject(absent, 400, `parameter_missing ${object}.${parameter}`);
    for (const empty of [null, '', ...(hash ? [{}] : [])]) {
      const reply = await user.post(path, set(of(), parameter, empty));
      expectErrorObject(reply, 400, `parameter_invalid_empty ${object}.${parameter}`);
    }
  });

  it('is named with all others if the body is empty, {}, or missing', async () => {
    const missing = ['business_details', 'nickname', 'type'].map((name) => `parameter_missing account.${name}`);
    for (const body of [undefined, '', '{}'])
      expect(sorted(await user.post('/v1/accounts', body))).toEqual([400, ...missing]);
  });

  it('is one of two choices in Edition 2, by the first of them', async () => {
    const second = await given.directUser(2);
    const of = (account: object) => payoutAddressBody(second.id, { bank_account: account });
    const reply = await second.post('/v1/addresses', of({ domestic_debit: '1' }));
    expect(sorted(reply)).toEqual([
      400,
      'parameter_missing address.bank_account.global_wire',
      'parameter_missing address.bank_account.number',
    ]);
    for (const choice of [
      { number: '12341', global_wire: 'HDFCINBB' },
      { iban: 'DE75512108001245126199', bank_name: 'HDFC' },
    ])
      expect((await second.post('/v1/addresses', of(choice))).status).toBe(200);
  });
});

describe('the errors of a body', () => {
  it('are all named in one response, one entry per field', async () => {
    const reply = await user.post('/v1/accounts', {
      type: 'giant',
      extra: 1,
      business_details: {
        legal_name: 5,
        email: 'nobody',
        type: '',
        colour: 'red',
        physical_address: { country: 'INDIA', city: ['Pune'], planet: 'Earth' },
        estimated_monthly_volume: { amount: 10, currency: 'usd' },
      },
      metadata: { number: 1, [`k${'k'.repeat(40)}`]: 'v', long: 'v'.repeat(501), list: [], none: null, '': 'v' },
    });
    expect(sorted(reply)).toEqual([
      400,
      'parameter_invalid account.business_details.email',
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      'parameter_invalid account.business_details.estimated_monthly_volume.currency',
      'parameter_invalid account.business_details.legal_name',
      'parameter_invalid account.business_details.physical_address.city',
      'parameter_invalid account.business_details.physical_address.country',
      'parameter_invalid account.metadata.',
      `parameter_invalid account.metadata.k${'k'.repeat(40)}`,
      'parameter_invalid account.metadata.list',
      'parameter_invalid account.metadata.long',
      'parameter_invalid account.metadata.number',
      'parameter_invalid account.type',
      'parameter_invalid_empty account.business_details.type',
      'parameter_missing account.nickname',
      'parameter_unknown account.business_details.colour',
      'parameter_unknown account.business_details.physical_address.planet',
      'parameter_unknown account.extra',
    ]);
  });

  // Rules other than the types find these errors; for the client they are one step.
  it('are all named in one response, whichever rule finds them', async () => {
    const { email: _, ...business } = details();
    const reply = await user.post('/v1/accounts', {
      type: 'user',
      nickname: nickname(),
      business_details: { ...business, estimated_monthly_volume: { amount: '10.50', currency: 'JPY' } },
      metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v'])),
    });
    expect(sorted(reply)).toEqual([
      400,
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      'parameter_invalid account.metadata',
      'parameter_invalid account.type',
      'parameter_missing account.business_details.email',
    ]);
  });

  it.each<[parameter: string, body: () => object]>([
    [
      'account.__proto__',
      () => JSON.parse(`{"__proto__": {"type": "partner"}, ${JSON.stringify(partnerBody()).slice(1)}`),
    ],
    ['account.constructor', () => partnerBody({ constructor: { name: 'x' } })],
    ['account.businessDetails', () => partnerBody({ businessDetails: details() })],
    ['account.id', () => partnerBody({ id: 'account_0' })],
    ['account.status', () => partnerBody({ status: 'activated' })],
    [
      'account.business_details.physicalAddress',
      () => partnerBody({ business_details: { ...details(), physicalAddress: {} } }),
    ],
  ])('report a parameter that the operation does not have: %s', async (parameter, body) => {
    expectErrorObject(await user.post('/v1/accounts', body()), 400, `parameter_unknown ${parameter}`);
  });

  // JSON.parse uses the last of two values, while a person or a proxy may have read the first.
  describe('for a key that an object repeats', () => {
    const twice = (message: string, field: string) => ({
      code: 'parameter_invalid',
      message: `${message} is given more than once. Send it once.`,
      metadata: { field_name: field },
    });

    it.each<[title: string, body: string, problems: object[]]>([
      ['an amount', '{"amount":"1.00","amount":"2.00","currency":"USD"}', [twice('amount', 'deposit.amount')]],
      ['the same value twice', '{"amount":"1.00","amount":"1.00"}', [twice('amount', 'deposit.amount')]],
      ['one written with an escape', '{"amount":"1.00","\\u0061mount":"2.00"}', [twice('amount', 'deposit.amount')]],
      [
        'three times, with white space',
        '{"amount" :"1.00","amount"\n:"2.00","amount": 3}',
        [twice('amount', 'deposit.amount')],
      ],
      ['in an object', '{"to":{"account_id":"a","account_id":"b"}}', [twice('account_id', 'deposit.to.account_id')]],
      [
        'in a list',
        '{"receivables":[{"id":"a"},{"id":"a","amount":"1.00","amount":"2.00"}]}',
        [twice('amount', 'deposit.receivables[1].amount')],
      ],
      ['in metadata', '{"metadata":{"a":"1","a":"2"}}', [twice('metadata.a', 'deposit.metadata.a')]],
      [
        'twice over',
        '{"amount":"1","amount":"2","currency":"USD","currency":"INR"}',
        [twice('amount', 'deposit.amount'), twice('currency', 'deposit.currency')],
      ],
      ['of the name __proto__', '{"__proto__":{},"__proto__":{}}', [twice('__proto__', 'deposit.__proto__')]],
    ])('are refused on /v1: %s', async (_, body, problems) => {
      const before = (await user.get('/v1/deposits')).body;
      const reply = await user.post('/v1/deposits', body);
      expect([reply.status, reply.body.errors]).toEqual([400, problems]);
      expect((await user.get('/v1/deposits')).body).toEqual(before);
    });

    const query = 'mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }';
    it.each<[title: string, body: string, field: string]>([
      [
        'variables',
        `{"query":"${query}","variables":{"input":{"amount":"1.00","amount":"2.00"}}}`,
        'variables.input.amount',
      ],
      ['a query', `{"query":"{ viewer { mode } }","query":"${query}"}`, 'query'],
      ['variables twice', `{"query":"${query}","variables":{},"variables":{"input":{}}}`, 'variables'],
    ])('are refused on GraphQL: %s', async (_, body, field) => {
      const reply = await user.post('/graphql', body);
      const message = `${field.split('.').at(-1)} is given more than once. Send it once.`;
      expect([reply.status, reply.body.data, reply.body.errors.length]).toEqual([400, undefined, 1]);
      expect(reply.body.errors[0]).toMatchObject({
        message,
        extensions: { code: 'PARAMETER_INVALID', error: { message, metadata: { field_name: `request.${field}` } } },
      });
    });

    it('are refused in the variables of a query string, in a literal, and in a form', async () => {
      const variables = encodeURIComponent('{"n":1,"n":2}');
      const asked = encodeURIComponent('query ($n: Int) { accounts(first: $n) { nodes { id } } }');
      const got = await user.get(`/graphql?query=${asked}&variables=${variables}`);
      expect([got.status, got.fieldNames]).toEqual([400, ['request.variables.n']]);
      const literal = await user.graph(
        'mutation { createDeposit(input: { amount: "1.00", amount: "2.00", currency: "USD" }) { deposit { id } } }',
      );
      expect([literal.status, literal.body.errors[0].message]).toEqual([
        400,
        'There can be only one input field named "amount".',
      ]);
      const form = new FormData();
      for (const value of ['logo', 'invoice']) form.append('purpose', value);
      for (const value of ['1', '2']) form.append('metadata[a]', value);
      form.append('file', new Blob([Buffer.from('%PDF-1.4\n%%EOF\n')]), 'a.pdf');
      const uploaded = await ask('/v1/files', { method: 'POST', headers: bearer(), body: form });
      expectErrorObject(uploaded, 400, 'parameter_invalid file.purpose', 'parameter_invalid file.metadata.a');
    });

    it('do not occur if a value only resembles a key', async () => {
      const text =
        '{"metadata":{"a":"{\\"amount\\":1,\\"amount\\":2}","b":": ","c":"\\":"},"amount":"1.00","currency":"USD"}';
      const reply = await user.post('/v1/deposits', text);
      expect([reply.status, reply.body.metadata]).toEqual([200, JSON.parse(text).metadata]);
    });

    it('are refused, or the body is, at any depth', async () => {
      const depth = 15_000;
      const deep = `{"metadata":${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)},"amount":1,"amount":2}`;
      const reply = await ask('/v1/deposits', { method: 'POST', headers: json(), body: deep });
      expect([reply.status, reply.codes.length]).toEqual([400, 1]);
    });
  });

  it('never repeat what was sent', async () => {
    const secret = 'hush-4711';
    const reply = await user.post('/v1/accounts', {
      type: secret,
      business_details: { email: secret, physical_address: { country: secret }, type: secret },
      nickname: [secret],
      metadata: secret,
    });
    expect(reply.status).toBe(400);
    expect(reply.body.errors).toHaveLength(7);
    expect(reply.text).not.toContain(secret);
  });
});

describe('a message', () => {
  interface Said {
    v1: () => Promise<Reply>;
    graph: () => Promise<Reply>;
    /** The messages of both APIs if they are the same, or else those of each. */
    says: string[] | { v1: string[]; graph: string[] };
  }
  const list = (asked: string) => () => user.graph(`{ ${asked} { nodes { id } } }`);
  const accountInput = { type: 'PARTNER', businessDetails: {} };
  const create = (input: object) => () =>
    user.graph('mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }', {
      input: { ...accountInput, ...input },
    });
  const deposit = (input: object) => () =>
    user.graph('mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }', { input });
  const missing = (...names: string[]) => names.map((name) => `${name} is required. Send it and try again.`);
  const methods =
    'affirm, afterpay, check, domestic_credit, domestic_debit, ' +
    'domestic_fast_credit, domestic_wire, global_wire, klarna';
  const categories = 'service_receive, user_payout, partner_payment, service_checkout, service_fee_advance';
  const statuses = ['initialized', 'processing', 'completed', 'cancelled', 'failed', 'reversed'];

  it.each<[title: string, said: Said]>([
    [
      'of an enum in a filter',
      {
        v1: () => user.get('/v1/deposits?status=COMPLETED'),
        graph: list('deposits(status: [completed])'),
        says: {
          v1: [`status must be one of ${statuses.join(', ')}.`],
          graph: [`status[0] must be one of ${statuses.map((status) => status.toUpperCase()).join(', ')}.`],
        },
      },
    ],
    [
      'of an enum in an input',
      {
        v1: () => user.post('/v1/addresses', { category: 'USER_PAYOUT', type: 'x' }),
        graph: () =>
          user.graph(
            'mutation { createAddress(input: { category: user_payout, type: BANK_ACCOUNT }) { address { id } } }',
          ),
        says: {
          v1: [
            `category must be one of ${categories}.`,
            'type must be one of bank_account, wallet, vpa.',
            ...missing('currency', 'linked_id', 'linked_object', 'name', 'bank_account', 'billing_details'),
          ],
          graph: [
            `category must be one of ${categories.toUpperCase()}.`,
            ...missing('currency', 'linkedId', 'linkedObject', 'name', 'bankAccount', 'billingDetails'),
          ],
        },
      },
    ],
    [
      'of an amount of nothing',
      {
        v1: () => user.post('/v1/deposits', { amount: '0.00', currency: 'USD' }),
        graph: deposit({ amount: '0.00', currency: 'USD' }),
        says: ['amount must be greater than zero.'],
      },
    ],
    [
      'of too large an amount',
      {
        v1: () => user.post('/v1/deposits', { amount: '10000000000000.00', currency: 'USD' }),
        graph: deposit({ amount: '10000000000000.00', currency: 'USD' }),
        says: ['amount must be at most 9999999999999.99.'],
      },
    ],
    [
      'of an amount with a leading zero',
      {
        v1: () => user.post('/v1/deposits', { amount: '01.00', currency: 'USD' }),
        graph: deposit({ amount: '01.00', currency: 'USD' }),
        says: ['amount must be a decimal string with two places and no leading zero, such as "10.00".'],
      },
    ],
    [
      'of a value of the other edition',
      {
        v1: () => user.post('/v1/deposits', { amount: '1.00', currency: 'USD', payment_method: 'upi' }),
        graph: deposit({ amount: '1.00', currency: 'USD', paymentMethod: 'UPI' }),
        says: {
          v1: [`payment_method must be one of ${methods} in this edition.`],
          graph: [`paymentMethod must be one of ${methods.toUpperCase()} in this edition.`],
        },
      },
    ],
    [
      'of arguments that contradict each other',
      {
        v1: () => user.get('/v1/accounts?starting_after=account_0&ending_before=account_1'),
        graph: list('accounts(before: "account_1", after: "account_0")'),
        says: {
          v1: ['ending_before cannot be combined with starting_after. Leave out one of them.'],
          graph: ['before cannot be combined with after. Leave out one of them.'],
        },
      },
    ],
    [
      'of both ends of a list',
      {
        v1: () => user.get('/v1/accounts?limit=0'),
        graph: list('accounts(first: 2, last: 2)'),
        says: {
          v1: ['limit must be a whole number from 1 to 10.'],
          graph: ['last cannot be combined with first. Leave out one of them.'],
        },
      },
    ],
    [
      'of a cursor of nothing',
      {
        v1: () => user.get('/v1/accounts?starting_after=account_0'),
        graph: list('accounts(after: "account_0")'),
        says: {
          v1: ['starting_after must be the id of an object of this list.'],
          graph: ['after must be the id of an object of this list.'],
        },
      },
    ],
    [
      'of a time',
      {
        v1: () => user.get('/v1/accounts?created.gte=x'),
        graph: list('accounts(created: { gte: "x" })'),
        says: {
          v1: ['created.gte must be a whole number.'],
          graph: ['created.gte must be a time in ISO 8601, such as 2026-01-31T12:00:00Z.'],
        },
      },
    ],
    [
      'of a country',
      {
        v1: () =>
          user.post('/v1/accounts', {
            type: 'partner',
            nickname: 'n',
            business_details: { ...details(), physical_address: { country: 'Peru' } },
          }),
        graph: create({
          nickname: 'n',
          businessDetails: {
            legalName: 'A',
            email: 'a@b.example',
            type: 'COMPANY',
            physicalAddress: { country: 'Peru' },
          },
        }),
        says: ['country must be a two-letter ISO 3166-1 country code, such as US.'],
      },
    ],
    [
      'of an email address and an object',
      {
        v1: () =>
          user.post('/v1/accounts', {
            type: 'partner',
            nickname: 'n',
            business_details: { ...details(), email: 'x', physical_address: 'Peru' },
          }),
        graph: create({
          nickname: 'n',
          businessDetails: { legalName: 'A', email: 'x', type: 'COMPANY', physicalAddress: 'Peru' },
        }),
        says: {
          v1: ['email must be an email address.', 'physical_address must be a hash.'],
          graph: ['email must be an email address.', 'physicalAddress must be an input object.'],
        },
      },
    ],
    [
      'of a date',
      {
        v1: () => user.post('/v1/receivables', { invoice: { creation_date: 'x' } }),
        graph: () =>
          user.graph(
            'mutation ($input: CreateReceivableInput!) { createReceivable(input: $input) { receivable { id } } }',
            {
              input: { invoice: { creationDate: 'x' } },
            },
          ),
        says: {
          v1: [
            ...missing('currency', 'amount'),
            'creation_date must be a date, as YYYY-MM-DD.',
            ...missing('currency', 'due_date', 'reference_number', 'purpose_code', 'transaction_type'),
          ],
          graph: [
            ...missing('currency', 'amount'),
            'creationDate must be a date, as YYYY-MM-DD.',
            ...missing('currency', 'dueDate', 'referenceNumber', 'purposeCode', 'transactionType'),
          ],
        },
      },
    ],
    [
      'of the type of account that is created',
      {
        v1: () => user.post('/v1/accounts', { ...partnerBody(), type: 'user' }),
        graph: create({
          type: 'USER',
          nickname: 'n',
          businessDetails: {
            legalName: 'A',
            email: 'a@b.example',
            type: 'COMPANY',
            physicalAddress: { country: 'IN' },
          },
        }),
        says: {
          v1: [
            'type must be partner: only partners are created through this call. A platform creates a connected ' +
              'user with POST /v1/accounts/connected, and a partner of a ' +
              'connected user with the header On-Behalf-Of.',
          ],
          graph: [
            'type must be PARTNER: only partners are created through this call. A platform creates a connected ' +
              'user with createConnectedUser, and a partner of a connected user with the header On-Behalf-Of.',
          ],
        },
      },
    ],
    [
      'of metadata',
      {
        v1: () => user.post('/v1/deposits', { amount: '1.00', currency: 'USD', metadata: { 'a.b': 1 } }),
        graph: deposit({ amount: '1.00', currency: 'USD', metadata: { 'a.b': 1 } }),
        says: ['metadata.a.b must be a string.'],
      },
    ],
    [
      'of an optional parameter that is empty',
      {
        v1: () => user.get('/v1/accounts?status=&type=user'),
        graph: list('accounts(created: { gte: "" })'),
        says: {
          v1: ['status is empty. Send a value, or leave it out.'],
          graph: ['created.gte is empty. Send a value, or leave it out.'],
        },
      },
    ],
    [
      'of a member of the setting that is null',
      {
        v1: async () => {
          const { data } = (await user.get('/v1/account_settings')).body;
          return user.post(`/v1/account_settings/${data[0].id}`, { address_currency: null });
        },
        graph: async () => {
          const { data } = (await user.get('/v1/account_settings')).body;
          return user.graph(
            'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { ' +
              'accountSetting { id } } }',
            { input: { id: data[0].id, addressCurrency: null } },
          );
        },
        says: {
          v1: ['address_currency is empty. Send a value, or leave it out.'],
          graph: ['addressCurrency is empty. Send a value, or leave it out.'],
        },
      },
    ],
    [
      'that a function of the database raises',
      {
        v1: async () => {
          const { data } = (await platform.get(`/v1/account_settings?account_id=${platform.id}`)).body;
          return platform.post(`/v1/account_settings/${data[0].id}`, {
            payouts: { weekly_anchor: 1, interval: 'daily' },
          });
        },
        graph: async () => {
          const { data } = (await platform.get(`/v1/account_settings?account_id=${platform.id}`)).body;
          return platform.graph(
            'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { ' +
              'accountSetting { id } } }',
            { input: { id: data[0].id, payouts: { weeklyAnchor: 1, interval: 'DAILY' } } },
          );
        },
        says: {
          v1: ['weekly_anchor is possible with a weekly interval only. Choose that interval, or leave this out.'],
          graph: ['weeklyAnchor is possible with a weekly interval only. Choose that interval, or leave this out.'],
        },
      },
    ],
  ])('is a sentence with its subject, in the names of its API: %s', async (_, { v1, graph, says }) => {
    const [rest, answer] = [await v1(), await graph()];
    const ought = Array.isArray(says) ? { v1: says, graph: says } : says;
    const messages = (reply: Reply) => reply.body.errors.map((e: any) => e.message);
    expect({ v1: messages(rest), graph: messages(answer) }).toEqual(ought);
  });

  it('cuts the name of a parameter at 100 characters, on both APIs', async () => {
    const name = 'n'.repeat(60_000);
    const cut = `${`account.${name}`.slice(0, 99)}…`;
    const v1 = await user.post('/v1/accounts', { ...partnerBody(), [name]: 1 });
    expectErrorObject(v1, 400, `parameter_unknown ${cut}`);
    const key = await user.post('/v1/accounts', partnerBody({ metadata: { [name]: '1' } }));
    expect([key.status, key.text.length < 1_000]).toEqual([400, true]);
    const again = await user.post('/v1/accounts', `{"${name}":1,"${name}":2}`);
    expect([again.status, again.text.length < 1_000]).toEqual([400, true]);
    for (const graph of [
      await user.graph('mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }', {
        input: { [name]: 1 },
      }),
      await user.graph(`{ ${name} }`),
      await user.graph(`{ accounts(${name}: 1) { nodes { id } } }`),
      await user.graph(`{ viewer { mode } } ${name}`),
      await user.graph(`{ accounts(status: [${name}]) { nodes { id } } }`),
      await user.graph(`{ accounts { nodes { depositsIn(first: "${name}") { nodes { id } } } } }`),
      await user.graph(
        `{ accounts { nodes { depositsIn(first: "${name.replaceAll('nnn', 'n n')}") { nodes { id } } } } }`,
      ),
    ]) {
      expect([graph.status, graph.text.slice(0, 2_000)]).toEqual([400, graph.text]);
      expect(graph.text).not.toContain(name.slice(0, 101));
    }
  });
});

describe('a long list', () => {
  const status = (n: number, of: string) => Array.from({ length: n }, () => of);
  const query = 'query ($m: [DepositStatus!]) { deposits(status: $m) { nodes { id } } }';
  const tooLong = 'status must have at most 1000 members.';

  it('of 1,000 values is accepted, and a longer one is refused by its name, valid or not', async () => {
    const edge = `query ($m: [DepositStatus!]) { viewer { account { depositsIn(status: $m) { nodes { id } } } } }`;
    expect((await user.get(`/v1/deposits?status=${status(1_000, 'failed').join(',')}`)).status).toBe(200);
    expect((await user.graph(query, { m: status(1_000, 'FAILED') })).body.errors).toBeUndefined();
    for (const value of ['failed', 'no']) {
      const reply = await user.get(`/v1/deposits?status=${status(1_001, value).join(',')}`);
      expect([reply.status, reply.body.errors]).toEqual([
        400,
        [{ code: 'parameter_invalid', message: tooLong, metadata: { field_name: 'deposit.status' } }],
      ]);
    }
    for (const [asked, value] of [
      [query, 'FAILED'],
      [query, 'NO'],
      [edge, 'FAILED'],
    ] as const) {
      const reply = await user.graph(asked, { m: status(1_001, value) });
      expect(reply.body.errors.map((e: any) => [e.message, e.extensions.error.metadata])).toEqual([
        [tooLong, { field_name: 'deposit.status' }],
      ]);
    }
    const body = { receivables: Array.from({ length: 1_001 }, () => 5) };
    const posted = await user.post('/v1/deposits/deposit_0/reconcile', body);
    expect(posted.body.errors.map((e: any) => e.message)).toEqual(['receivables must have at most 1000 members.']);
  });
});

describe('an integer of a query', () => {
  it.each(['010', '00', '+5', '1e1', ' 5', '5 ', '5.0', '0x5', '٥', '-1', '11', '0'])(
    'is refused as a limit unless it is as JSON writes it: %s',
    async (limit) => {
      const reply = await user.get(`/v1/accounts?limit=${encodeURIComponent(limit)}`);
      expectErrorObject(reply, 400, 'parameter_invalid account.limit');
      expect(reply.body.errors[0].message).toBe('limit must be a whole number from 1 to 10.');
    },
  );

  it.each(['010', '+5', '1e1', ' 5', '5.0', '-0'])(
    'is refused as a time unless it is as JSON writes it: %s',
    async (time) => {
      expectErrorObject(
        await user.get(`/v1/accounts?created.gte=${encodeURIComponent(time)}`),
        400,
        'parameter_invalid account.created.gte',
      );
    },
  );
});

describe('a country', () => {
  it('is stored and returned in upper case for both cases of its letters, in both APIs', async () => {
    const address = { ...details().physical_address, country: 'in' };
    const made = await user.post(
      '/v1/accounts',
      partnerBody({ business_details: { ...details(), physical_address: address } }),
    );
    expect(made.body.business_details.physical_address.country).toBe('IN');
    const graph = await user.graph(
      'query ($id: ID!) { account(id: $id) { businessDetails { physicalAddress { country } } } }',
      { id: made.body.id },
    );
    expect(graph.body.data.account.businessDetails.physicalAddress.country).toBe('IN');
    const [row] = await world.sql`select business_details -> 'physicalAddress' ->> 'country' as country from account
        where id = ${made.body.id}`;
    expect(row!.country).toBe('IN');
    const created = await user.graph(
      'mutation { createAccount(input: { type: PARTNER, nickname: "Lower", businessDetails: { legalName: "A", ' +
        'email: "a@b.example", type: COMPANY, physicalAddress: { country: "us" } } }) { account { ' +
        'businessDetails { physicalAddress { country } } } } }',
    );
    expect(created.body.data.createAccount.account.businessDetails.physicalAddress.country).toBe('US');
    const lower = { billing_details: { ...details().physical_address, country: 'in' } };
    const paid = await user.post('/v1/addresses', payoutAddressBody(user.id, lower));
    expect([paid.status, paid.body.billing_details?.country]).toEqual([200, 'IN']);
  });

  it('that was stored in lower case before is in upper case after the migration', async () => {
    const { id } = (await user.post('/v1/accounts', partnerBody())).body;
    const [address] = (await user.get('/v1/addresses?category=user_payout')).body.data;
    await world.sql`update account set business_details = jsonb_set(business_details, '{physicalAddress,country}',
      '"in"') where id = ${id}`;
    await world.sql`update address set billing_details = jsonb_set(billing_details, '{country}', '"in"')
      where id = ${address.id}`;
    const statements = fs.readFileSync('drizzle/0007_payout_blocks.sql', 'utf8').match(/^update .*country.*$/gm)!;
    for (const statement of statements) await world.sql.unsafe(statement);
    const stored = await world.sql`
      select business_details #>> '{physicalAddress,country}' as country from account where id = ${id}
      union all select billing_details ->> 'country' from address where id = ${address.id}`;
    expect([statements.length, ...stored.map(({ country }) => country)]).toEqual([2, 'IN', 'IN']);
  });
});

describe('amounts and currencies', () => {
  const volume = 'account.business_details.estimated_monthly_volume';
  const send = (amount: unknown, currency: unknown = 'USD') =>
    user.post('/v1/accounts', {
      ...partnerBody(),
      business_details: { ...details(), estimated_monthly_volume: { amount, currency } },
    });

  it.each<[sent: string, currency: string, stored: string]>([
    ['10', 'USD', '10.00'],
    ['10.50', 'USD', '10.50'],
    ['0', 'USD', '0.00'],
    ['9999999999999.99', 'USD', '9999999999999.99'],
    ['0.05', 'USD', '0.05'],
    ['10', 'JPY', '10.00'],
    ['10.00', 'JPY', '10.00'],
    ['1.00', 'KRW', '1.00'],
  ])('accepts %s %s', async (amount, currency, stored) => {
    const reply = await send(amount, currency);
    expect(reply.status).toBe(200);
    expect(reply.body.business_details.estimated_monthly_volume).toEqual({ amount: stored, currency });
    expect((await user.get(`/v1/accounts/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it.each<[sent: unknown, code?: string]>([
    [10],
    [10.5],
    [0],
    [true],
    [['10.00']],
    ['', 'parameter_invalid_empty'],
    [null, 'parameter_invalid_empty'],
    [{}, 'parameter_invalid_empty'],
    ['10.5'],
    ['10.500'],
    ['10.'],
    ['.50'],
    ['-10.00'],
    ['+10.00'],
    ['1e3'],
    ['1,000.00'],
    ['0x10'],
    [' 10.00'],
    ['10.00\n'],
    ['١٠.٠٠'],
    ['10000000000000.00'],
    ['01.00'],
    ['00'],
    ['00.50'],
    ['NaN'],
    ['Infinity'],
  ])('refuses the amount %j', async (amount, domainError = 'parameter_invalid') => {
    expectErrorObject(await send(amount), 400, `${domainError} ${volume}.amount`);
  });

  it.each(['JPY', 'KRW', 'VND', 'CLP'])('refuses cents of %s, which has none', async (currency) => {
    expectErrorObject(await send('10.50', currency), 400, `parameter_invalid ${volume}.amount`);
    expectErrorObject(await send('10.01', currency), 400, `parameter_invalid ${volume}.amount`);
  });

  it.each(['usd', 'US', 'USDT', 'XYZ', 'DEM', 'XXX', 'XTS', 'BGN', 'HRK', 840, ' USD'])(
    'refuses %j, which is not an active currency',
    async (currency) => {
      expectErrorObject(await send('10.00', currency), 400, `parameter_invalid ${volume}.currency`);
    },
  );

  it('refuses numbers in GraphQL, too, before they lose their cents', async () => {
    const input = (amount: unknown) => ({
      type: 'PARTNER',
      nickname: nickname(),
      businessDetails: {
        legalName: 'Acme',
        email: 'ap@acme.example',
        type: 'COMPANY',
        physicalAddress: { country: 'IN' },
        estimatedMonthlyVolume: { amount, currency: 'USD' },
      },
    });
    const create = 'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }';
    const replies = await Promise.all([10, 10.5, '10.5'].map((amount) => user.graph(create, { input: input(amount) })));
    for (const reply of replies) expect(code(reply)).toEqual([400, `parameter_invalid ${volume}.amount`]);
    const literal = await user.graph(
      'mutation { createAccount(input: { type: PARTNER, nickname: "n", businessDetails: { legalName: "A", ' +
        'email: "a@b.example", type: COMPANY, physicalAddress: { country: "IN" }, estimatedMonthlyVolume: { ' +
        'amount: 10.00, currency: "USD" } } }) { account { id } } }',
    );
    expect(code(literal)).toEqual([400, `parameter_invalid ${volume}.amount`]);
  });
});

describe('a parameter of one edition', () => {
  let second: Speaker;
  let connected: { 1: Speaker; 2: Speaker };
  beforeAll(async () => {
    const other = await given.platform(2);
    [second, connected] = await Promise.all([
      given.directUser(2),
      Promise.all([platform.connectedUser(), other.connectedUser()]).then(([a, b]) => ({ 1: a, 2: b })),
    ]);
  });

  it.each<[edition: 1 | 2, body: object, parameter: string]>([
    [
      1,
      { supporting_documentation: { physical_address_document: 'file_0' } },
      'supporting_documentation.physical_address_document',
    ],
    [
      2,
      { supporting_documentation: { ownership_structure_document: 'file_0' } },
      'supporting_documentation.ownership_structure_document',
    ],
    [2, { tos_acceptance: { ip: '10.0.0.1' } }, 'tos_acceptance'],
    [
      2,
      { business_details: { estimated_monthly_volume: { amount: '1', currency: 'INR' } } },
      'business_details.estimated_monthly_volume',
    ],
  ])('is unknown in Edition %i: %j', async (edition, body, parameter) => {
    const speaker = connected[edition];
    expectErrorObject(
      await speaker.post(`/v1/accounts/${speaker.id}`, body),
      400,
      `parameter_unknown account.${parameter}`,
    );
  });

  it('is unknown in the other also if it is null, and in the settings', async () => {
    const setting = (await second.get('/v1/account_settings')).body.data[0].id;
    for (const payouts of [{ interval: 'weekly' }, null])
      expectErrorObject(
        await second.post(`/v1/account_settings/${setting}`, { payouts }),
        400,
        'parameter_unknown account_setting.payouts',
      );
    expectErrorObject(
      await connected[2].post(`/v1/accounts/${connected[2].id}`, { tos_acceptance: null }),
      400,
      'parameter_unknown account.tos_acceptance',
    );
  });

  it.each<[edition: 1 | 2, query: string, problem: string]>([
    [
      2,
      'accounts?capability.multicurrency_exports_v1=pending',
      'parameter_unknown account.capability.multicurrency_exports_v1',
    ],
    [1, 'addresses?vpa.upi.onetime=enabled', 'parameter_unknown address.vpa.upi.onetime'],
    [1, 'addresses?vpa.upi.recurring=enabled', 'parameter_unknown address.vpa.upi.recurring'],
    [1, 'addresses?type=vpa', 'parameter_invalid address.type'],
    [1, 'addresses?type=wallet,vpa', 'parameter_invalid address.type'],
  ])('is no filter in Edition %i: %s', async (edition, query, problem) => {
    expectErrorObject(await (edition === 1 ? user : second).get(`/v1/${query}`), 400, problem);
  });

  it('is accepted in its own edition', async () => {
    const replies = await Promise.all([
      user.get('/v1/accounts?capability.multicurrency_exports_v1=pending'),
      second.get('/v1/addresses?vpa.upi.onetime=enabled&vpa.upi.recurring=disabled&type=vpa,wallet'),
      connected[1].post(`/v1/accounts/${connected[1].id}`, {
        tos_acceptance: { ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'x' },
      }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(replies[2].body.tos_acceptance).toEqual({ ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'x' });
  });

  it('is shown only in that edition, and parent_account_id and link are always null', async () => {
    const [one, two] = await Promise.all(
      ([1, 2] as const).map(async (n) => (await connected[n].get(`/v1/accounts/${connected[n].id}`)).body),
    );
    expect(Object.keys(one.supporting_documentation)).toEqual(['id_document', 'ownership_structure_document']);
    expect(Object.keys(two.supporting_documentation)).toEqual(['id_document', 'physical_address_document']);
    expect(one.business_details).toHaveProperty('estimated_monthly_volume', null);
    expect(two.business_details).not.toHaveProperty('estimated_monthly_volume');
    expect([one.capability, two.capability]).toEqual([{ multicurrency_exports_v1: 'pending' }, {}]);
    const aggregator = await given.platform(2, { subType: 'aggregator' });
    const own = (await aggregator.get(`/v1/accounts/${aggregator.id}`)).body;
    expect([own.sub_type, own.capability, own.address]).toEqual(['aggregator', null, 'deactivated']);
    for (const { parent_account_id: parent, link } of [one, two, own]) expect([parent, link]).toEqual([null, null]);
  });

  it('has the checkouts of Edition 2: in Edition 1 the path does not exist, for any input', async () => {
    expectErrorObject(await user.post('/v1/checkouts', '{'), 404, 'route_missing ');
    expectErrorObject(await user.post('/v1/checkouts', { amount: '1.00' }), 404, 'route_missing ');
  });
});

describe('an update with no parameters', () => {
  it('returns the object unchanged, and stores nothing', async () => {
    const connected = await platform.connectedUser({ metadata: { a: '1' } });
    const setting = (await connected.get('/v1/account_settings')).body.data[0];
    const address = (await platform.get('/v1/addresses')).body.data[0];
    const objects: [string, object][] = [
      [`/v1/accounts/${connected.id}`, (await connected.get(`/v1/accounts/${connected.id}`)).body],
      [`/v1/account_settings/${setting.id}`, setting],
      [`/v1/addresses/${address.id}`, address],
    ];
    const events = () => world.sql`select count(*)::int as n from event`;
    const [before] = await events();
    for (const [path, object] of objects)
      for (const body of [undefined, '', '{}']) {
        const reply = await platform.post(path, body);
        expect([reply.status, reply.body]).toEqual([200, object]);
      }
    expect((await events())[0]).toEqual(before);
  });
});

/**
 * The order of the steps: each request is wrong in its own step and in later ones, and gets only the error of its own
 * step. Architecture, Errors: key, path, permission, input, visibility, relation, state, rule, lost race.
 */
describe('the precedence of errors', () => {
  let reader: Speaker;
  let live: Speaker;
  let stranger: Speaker;
  let connected: Speaker;
  let foreign: { id: string };
  let taken: string;
  let partner: { id: string };
  let connectedPartner: { id: string };
  let ownSetting: string;
  const invented = 'account_00000000000000000000000000000000';

  beforeAll(async () => {
    const both = await given.directUserBoth(1);
    [live, stranger] = [both.live, await given.directUser(1)];
    const key = await user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    reader = user.using(key.body.data.createApiKey.secret);
    foreign = await stranger.partner();
    connected = await platform.connectedUser();
    taken = nickname();
    [partner, connectedPartner] = await Promise.all([
      user.partner({ nickname: taken }),
      connected.partner(),
      platform.partner({ nickname: taken }),
    ]);
    await world.sql`update account set status = 'activated' where id = ${connectedPartner.id}`;
    ownSetting = (await user.get('/v1/account_settings?address.user=true')).body.data[0].id;
  });

  type Case = [title: string, asked: () => Promise<Reply>, status: number, ...problems: string[]];
  const unknownKey = () => user.using('sk_test_0');
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
    ['of the kind', () => user.get('/v1/account_settings/connected?limit=99&x=1'), 403, 'permission_denied '],
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
      () => user.actingFor(invented).post('/v1/accounts', '{'),
      403,
      'permission_denied On-Behalf-Of',
    ],
  ];
  const input: Case[] = [
    [
      'an account that is not visible',
      () => user.post(`/v1/accounts/${invented}`, { nickname: 5, x: 1 }),
      400,
      'parameter_unknown account.x',
      'parameter_invalid account.nickname',
    ],
    ["a stranger's account", () => user.get(`/v1/accounts/${foreign.id}?x=1`), 400, 'parameter_unknown account.x'],
    [
      'an activation',
      () => user.post(`/v1/accounts/${invented}/activate`, { x: 1 }),
      400,
      'parameter_unknown account.x',
    ],
    [
      'an address of an account that is not visible',
      () => user.post('/v1/addresses', payoutAddressBody(invented, { name: '' })),
      400,
      'parameter_invalid_empty address.name',
    ],
    [
      'an address of a category that the service creates',
      () => user.post('/v1/addresses', payoutAddressBody(invented, { category: 'service_receive' })),
      400,
      'parameter_invalid address.category',
    ],
    [
      'a person of an account that is not visible',
      () => user.post('/v1/persons', { account_id: invented, relationship: { owner: true } }),
      400,
      'parameter_missing person.full_name',
    ],
    [
      'a person who is nobody, of an account that is not visible',
      () =>
        user.post('/v1/persons', {
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
      () => user.post(`/v1/accounts/${invented}`, { business_details: volume }),
      400,
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
    ],
    [
      'a day that no week has, of a setting that is not visible',
      () => user.post('/v1/account_settings/account_setting_0', { payouts: { weekly_anchor: 9 } }),
      400,
      'parameter_invalid account_setting.payouts.weekly_anchor',
    ],
    [
      'a day that no week has, beside what only a platform may set',
      () => user.post(`/v1/account_settings/${ownSetting}`, { payouts: { enabled: true, weekly_anchor: 9 } }),
      400,
      'parameter_invalid account_setting.payouts.weekly_anchor',
    ],
    [
      'an empty object of switches, of a setting that is not visible',
      () => user.post('/v1/account_settings/account_setting_0', { address: null }),
      400,
      'parameter_invalid_empty account_setting.address',
    ],
    [
      'a taken nickname',
      () => user.post('/v1/accounts', partnerBody({ nickname: taken, x: 1 })),
      400,
      'parameter_unknown account.x',
    ],
  ];
  const invisible: Case[] = [
    ['an activation', () => connected.post(`/v1/accounts/${foreign.id}/activate`), 404, 'resource_missing account.id'],
    ['a deactivation', () => user.post(`/v1/accounts/${platform.id}/deactivate`), 404, 'resource_missing account.id'],
    [
      'an update',
      () => user.post(`/v1/accounts/${foreign.id}`, { nickname: taken }),
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
      () => user.post(`/v1/accounts/${partner.id}`, { logo_id: 'file_0' }),
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
      () => platform.post(`/v1/accounts/${platform.id}/activate`),
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
        user.post(`/v1/account_settings/${ownSetting}`, { payouts: { enabled: true }, address: { platform: true } }),
      403,
      'permission_denied account_setting.payouts.enabled',
    ],
  ];
  const state: Case[] = [
    [
      'a taken nickname',
      () => user.post(`/v1/accounts/${partner.id}`, { nickname: taken }),
      400,
      'account_not_updatable account.status',
    ],
    [
      'what activation requires',
      async () => {
        const other = await platform.connectedUser();
        await world.sql`update account set status = 'verifying' where id = ${other.id}`;
        return platform.post(`/v1/accounts/${other.id}/activate`);
      },
      400,
      'status_invalid account.status',
    ],
  ];
  const conflict: Case[] = [
    [
      'alone',
      () => user.post('/v1/accounts', partnerBody({ nickname: taken.toUpperCase() })),
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

describe('a time', () => {
  const last = '5138-11-16T09:46:39Z';
  const range = `must be from 1970-01-01T00:00:00Z to ${last}`;
  const asked = (time: string) =>
    user.graph('query ($gte: DateTime) { accounts(created: { gte: $gte }) { nodes { id } } }', { gte: time });
  const written = (time: string) => user.graph(`{ accounts(created: { gte: "${time}" }) { nodes { id } } }`);

  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T05:30:00+05:30', 0],
    [last, 99_999_999_999],
  ])('is the same through both APIs: %s', async (time, seconds) => {
    for (const reply of [await asked(time), await written(time)]) expect(reply.body.errors).toBeUndefined();
    expect((await user.get(`/v1/accounts?created.gte=${seconds}`)).status).toBe(200);
  });

  it.each([
    ['1969-12-31T23:59:59Z', -1],
    ['1970-01-01T00:00:00+05:30', -19_800],
    ['0000-01-01T00:00:00Z', -62_167_219_200],
    ['5138-11-16T09:46:40Z', 100_000_000_000],
    ['9999-12-31T23:59:59Z', 253_402_300_799],
  ])('is refused by both APIs: %s', async (time, seconds) => {
    for (const reply of [await asked(time), await written(time)]) {
      expect(reply.body.data ?? undefined).toBeUndefined();
      expect(reply.text).toContain(range);
    }
    expect(code(await user.get(`/v1/accounts?created.gte=${seconds}`))).toEqual([
      400,
      'parameter_invalid account.created.gte',
    ]);
  });
});
