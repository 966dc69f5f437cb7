import http from 'node:http';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import etag from 'etag';
import { beforeAll, describe, expect, it } from 'vitest';
import { cardForm, PayeeFixture, submit } from '../support/checkout-fixture.js';
import { givenIn, nickname, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let platform: Speaker;
let user: Speaker;
/** Its list of accounts is larger than the chunk that the compression handles at a time. */
let wide: Speaker;
let payee: PayeeFixture;

beforeAll(async () => {
  platform = await given.platform(2);
  wide = await given.directUser(1);
  const metadata = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`key ${i}`, nickname().repeat(20)]));
  for (let i = 0; i < 10; i++) await wide.partner({ metadata });
  for (let i = 0; i < 5; i++) await platform.connectedUser();
  user = await given.directUser(1);
  payee = await PayeeFixture.open(world);
});

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** A response as it is transmitted; `fetch` would decompress it. */
function ask(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string | Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${world.origin}${path}`, { method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    request.on('error', reject).end(body);
  });
}

const as = ({ key }: Speaker) => ({ authorization: `Bearer ${key}` });
const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body };
type Encoding = keyof typeof decoders;
const graph = JSON.stringify({
  query: '{ accounts { nodes { id nickname status type created a: id b: nickname c: status d: created } } }',
});

describe('a response of more than a kilobyte', () => {
  const accepted: [string | undefined, Encoding][] = [
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    [undefined, 'identity'],
  ];
  const responses: Record<string, (headers: Record<string, string>) => Promise<Answer>> = {
    'one of /v1': (headers) => ask('/v1/accounts', { ...as(platform), ...headers }),
    'one of /graphql': (headers) =>
      ask('/graphql', { ...as(platform), 'content-type': 'application/json', ...headers }, 'POST', graph),
    'a long one of /v1': async (headers) => {
      const answer = await ask('/v1/accounts', { ...as(wide), ...headers });
      if (!answer.headers['content-encoding']) expect(answer.body.length).toBeGreaterThan(16 * 1_024);
      return answer;
    },
    'a long one of /graphql': async (headers) => {
      const query = JSON.stringify({ query: '{ accounts { nodes { id metadata } } }' });
      const sent = { ...as(wide), 'content-type': 'application/json', ...headers };
      const answer = await ask('/graphql', sent, 'POST', query);
      if (!answer.headers['content-encoding']) expect(answer.body.length).toBeGreaterThan(16 * 1_024);
      return answer;
    },
    'the explorer': (headers) => ask('/graphiql', headers),
    'a script of the explorer': async (headers) => {
      const page = (await ask('/graphiql')).body.toString();
      return ask(/ src="([^"]+)"/.exec(page)![1]!, headers);
    },
    'the script of the payment page': (headers) => ask('/checkout/assets/page.js', headers),
  };
  for (const [name, response] of Object.entries(responses)) {
    it(`${name} has the encoding that the client accepts, and the same content in each`, async () => {
      const plain = (await response({})).body.toString();
      // A GraphQL response contains its request id.
      const content = (body: Buffer) => body.toString().replace(/"requestId":"[^"]+"/, '');
      expect(plain.length).toBeGreaterThan(1_024);
      for (const [accept, encoding] of accepted) {
        const { status, headers, body } = await response(accept === undefined ? {} : { 'accept-encoding': accept });
        expect([accept, status, headers['content-encoding'] ?? 'identity']).toEqual([accept, 200, encoding]);
        expect(content(decoders[encoding](body))).toBe(content(Buffer.from(plain)));
        if (encoding === 'identity') continue;
        expect(headers.vary?.toLowerCase()).toContain('accept-encoding');
        expect(body.length).toBeLessThan(plain.length / 2);
      }
    });
  }

  it('is compressed if it is an error, too', async () => {
    const input = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`unknown_${i}`, i]));
    const headers = { ...as(platform), 'content-type': 'application/json', 'accept-encoding': 'gzip' };
    const answer = await ask('/v1/accounts', headers, 'POST', JSON.stringify(input));
    expect([answer.status, answer.headers['content-encoding']]).toEqual([400, 'gzip']);
    expect(JSON.parse(gunzipSync(answer.body).toString()).http_status_code).toBe(400);
  });
});

describe('without compression', () => {
  it('are a short response, the payment page, pages that repeat input, and its event stream', async () => {
    const fixture = await payee.checkoutFixture();
    const accept = { 'accept-encoding': 'br, gzip' };
    const form = new URLSearchParams({ ...cardForm('1'), name: 'Asha Rao' }).toString();
    const typed = { ...accept, 'content-type': 'application/x-www-form-urlencoded' };
    const answers = [
      await ask(`/v1/accounts/${user.id}/nothing`, { ...as(user), ...accept }),
      await ask('/healthz', accept),
      await ask(fixture.path, accept),
      await ask(`${fixture.path}/card`, typed, 'POST', form),
      await ask(`${fixture.path}/events`, accept, 'HEAD'),
    ];
    expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual(Array(5).fill(undefined));
    expect(answers[2]!.body.toString()).toContain('<main');
    expect(answers[4]!.headers['content-type']).toBe('text/event-stream');
    expect((await submit(`${fixture.url}/card`, cardForm('1'))).headers.get('content-encoding')).toBeNull();
  });

  it('must be the body of a request, which is not decompressed', async () => {
    const headers = { ...as(platform), 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const { status, body } = await ask('/graphql', headers, 'POST', gzipSync(graph));
    expect([status, JSON.parse(body.toString()).errors[0].extensions.code]).toEqual([400, 'BODY_INVALID']);
  });
});

describe('an answer that is the same for everyone', () => {
  // The plugin, which compresses each answer anew, does not know the length of what it will send.
  it.each([
    ...['/', '/docs', '/docs/events', '/docs/nothing', '/openapi.json', '/graphiql', '/dashboard', '/operator'],
    ...['/checkout/assets/page.css', '/checkout/assets/page.js'],
  ])('is compressed once: %s', async (path) => {
    for (const [encoding, ...others] of [
      ['br', 'BR'],
      ['gzip', 'Gzip, deflate', 'x-gzip'],
    ] as const) {
      const answers = [];
      for (const accepted of [encoding, encoding, ...others]) {
        const answer = await ask(path, { host: 'gateway.example', 'accept-encoding': accepted });
        expect([answer.status, answer.headers['content-encoding']]).toEqual([
          path === '/docs/nothing' ? 404 : 200,
          encoding,
        ]);
        expect(answer.headers['content-length']).toBe(String(answer.body.length));
        answers.push(answer.body);
      }
      expect(answers[1]).toEqual(answers[0]);
    }
  });
});

describe('the ETag of a response of /v1', () => {
  it('allows a 304 response in every encoding, for one tag or several', async () => {
    const path = `/v1/accounts/${user.id}`;
    const first = await ask(path, as(user));
    const tag = first.headers.etag!;
    expect(first.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      vary: 'Origin, Accept-Encoding, Authorization, On-Behalf-Of',
    });
    expect(tag).toMatch(/^W\/"/);
    for (const known of [tag, tag.replace('W/', ''), `"other", ${tag}`, '*']) {
      const again = await ask(path, { ...as(user), 'if-none-match': known, 'accept-encoding': 'br' });
      expect([known, again.status, again.body.length, again.headers.etag]).toEqual([known, 304, 0, tag]);
      expect(again.headers['cache-control']).toBe('private, no-cache');
    }
    expect((await ask(path, { ...as(user), 'if-none-match': '"other"' })).status).toBe(200);
    expect((await ask(path, { ...as(user), 'if-none-match': tag }, 'HEAD')).status).toBe(304);
  });

  it('changes with the object', async () => {
    const { id } = await platform.connectedUser();
    const before = await ask(`/v1/accounts/${id}`, as(platform));
    expect((await platform.post(`/v1/accounts/${id}`, { nickname: nickname() })).status).toBe(200);
    const after = await ask(`/v1/accounts/${id}`, { ...as(platform), 'if-none-match': before.headers.etag! });
    expect(after.status).toBe(200);
    expect(after.headers.etag).not.toBe(before.headers.etag);
  });

  it('is that of its own body, also between answers of the same length', async () => {
    const members = [await platform.connectedUser(), await platform.connectedUser(), await platform.connectedUser()];
    const answers = [];
    for (const { id } of [...members, ...members]) answers.push(await ask(`/v1/accounts/${id}`, as(platform)));
    expect(new Set(answers.map(({ body }) => body.length)).size).toBe(1);
    expect(answers.map(({ headers }) => headers.etag)).toEqual(
      answers.map(({ body }) => etag(body.toString(), { weak: true })),
    );
    expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(3);
  });

  // A tag must not reveal what the key cannot see.
  it('has no effect with another key, or without a key', async () => {
    const path = `/v1/accounts/${user.id}`;
    const tag = (await ask(path, as(user))).headers.etag!;
    const outsider = await ask(path, { ...as(platform), 'if-none-match': tag });
    const keyless = await ask(path, { 'if-none-match': '*' });
    expect([outsider.status, keyless.status]).toEqual([404, 401]);
    for (const { headers } of [outsider, keyless]) {
      expect(headers.etag).toBeUndefined();
      expect(headers['cache-control']).toBe('no-store');
    }
  });

  it('is on no response to a POST, and on none of GraphQL', async () => {
    const member = await platform.connectedUser();
    const headers = { ...as(platform), 'content-type': 'application/json', 'if-none-match': '*' };
    const answers = [
      await ask('/graphql', headers, 'POST', graph),
      await ask(`/v1/accounts/${member.id}`, headers, 'POST', JSON.stringify({ nickname: nickname() })),
    ];
    for (const answer of answers)
      expect([answer.status, answer.headers.etag, answer.headers['cache-control']]).toEqual([
        200,
        undefined,
        'no-store',
      ]);
  });
});
