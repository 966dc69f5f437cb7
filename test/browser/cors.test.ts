import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import pino from 'pino';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { config } from '../../src/config/config.js';
import { gateway } from '../../src/server/app.js';
import { pdf } from '../support/bodies.js';
import { browser } from '../support/browser.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { eventually, givenIn, type Speaker, useWorld, statementsWaiting } from '../support/world.js';

/** A server of an empty page: an origin of its own. */
async function pageServer(): Promise<{ origin: string; close: () => void }> {
  const server = http.createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A dashboard</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  };
}

const [friend, outsider] = [await pageServer(), await pageServer()];
const listed = 'https://app.example';
const OPERATOR_KEY = 'operator-0123456789abcdefghijklmnopqrstuvwxyz';
const world = useWorld({
  worker: false,
  environment: { CORS_ORIGINS: `${listed}, ${friend.origin}`, OPERATOR_KEY },
});
const given = givenIn(world);
let user: Speaker;
let payee: PayeeFixture;
let chromium: Browser;
beforeAll(async () => {
  user = await given.directUser(2);
  payee = await PayeeFixture.open(world);
  chromium = await browser();
});
afterAll(async () => {
  await chromium?.close();
  friend.close();
  outsider.close();
});

const ask = (path: string, init: RequestInit = {}) => fetch(`${world.origin}${path}`, { redirect: 'manual', ...init });
const corsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
const preflight = (path: string, origin = listed, more: Record<string, string> = {}) =>
  ask(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key,on-behalf-of',
      ...more,
    },
  });
const bearer = () => ({ authorization: `Bearer ${user.key}` });
const graphQuery = JSON.stringify({ query: '{ viewer { edition } }' });
const names = (text: string | null) => (text ?? '').split(/,\s*/).map((name) => name.toLowerCase());

const apiPaths = ['/v1/accounts', '/v1/deposits/deposit_0', '/v1/nothing', '/v1', '/graphql', '/v1/files'];
const otherPaths = [
  ...[
    '/',
    '/graphiql',
    '/graphiql/assets/none.js',
    '/healthz',
    '/readyz',
    '/servez',
    '/operator/graphql',
    '/checkout/x',
    '/v10',
  ],
  '/nothing',
];

describe('a preflight of an origin in CORS_ORIGINS', () => {
  it.each(apiPaths)('is answered without a key, at no cost and with no turn: %s', async (path) => {
    const answer = await preflight(path);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(corsHeaders(answer)).toEqual({
      'access-control-allow-origin': listed,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': expect.any(String),
      'access-control-expose-headers': expect.any(String),
      'access-control-max-age': '600',
    });
    expect(names(answer.headers.get('access-control-allow-headers'))).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'on-behalf-of', 'if-none-match']),
    );
    expect(names(answer.headers.get('vary'))).toContain('origin');
    expect(answer.headers.get('ratelimit')).toBeNull();
    // It has the headers of every answer.
    expect(answer.headers.get('request-id')).toMatch(/^req_/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    listed.toUpperCase(),
    `${listed}/`,
    `${listed}:443`,
    `${listed}.evil.example`,
    'http://app.example',
    'null',
  ])('is no preflight of another origin: %s', async (origin) => {
    const answers = [await preflight('/graphql', origin), await preflight('/v1/accounts', origin)];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(answers.map(corsHeaders)).toEqual([{}, {}]);
    for (const answer of answers) {
      expect(answer.headers.get('www-authenticate')).toBeNull();
      const text = await answer.text();
      expect(text).toMatch(/permission_denied/i);
      expect(text).toContain('add the origin to CORS_ORIGINS');
    }
    for (const { headers } of answers) expect(names(headers.get('vary'))).toContain('origin');
  });

  it('has an origin and a method; OPTIONS without them is refused like each method that a path lacks', async () => {
    const bare = await ask('/v1/accounts', { method: 'OPTIONS', headers: { origin: listed, ...bearer() } });
    expect([bare.status, bare.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    const without = await ask('/v1/accounts', {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'POST', ...bearer() },
    });
    expect([without.status, corsHeaders(without)]).toEqual([405, {}]);
    const unknown = await ask('/v1/nothing', { method: 'OPTIONS', headers: bearer() });
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { object: 'error', http_status_code: 404 }]);
  });

  it.each(otherPaths)('is not answered outside of the two APIs: %s', async (path) => {
    const answer = await preflight(path);
    expect([answer.ok, corsHeaders(answer)]).toEqual([false, {}]);
  });

  it('is not answered by a payment page', async () => {
    const { path } = await payee.checkoutFixture();
    for (const each of [path, `${path}/card`, `${path}/state`, '/checkout/assets/page.js']) {
      const answer = await preflight(each);
      expect([each, answer.ok, corsHeaders(answer)]).toEqual([each, false, {}]);
    }
  });
});

describe('an answer to a page of an origin in CORS_ORIGINS', () => {
  it('has the headers for that origin, whatever the answer is', async () => {
    const headers = { origin: listed, 'content-type': 'application/json' };
    const answers = await Promise.all([
      ask('/v1/accounts', { headers: { ...headers, ...bearer() } }),
      ask('/v1/accounts', { headers }),
      ask('/v1/nothing', { headers: { ...headers, ...bearer() } }),
      ask('/v1/accounts', { method: 'POST', headers: { ...headers, ...bearer() }, body: '{' }),
      ask('/v1/accounts', { method: 'DELETE', headers: { ...headers, ...bearer() } }),
      ask('/graphql', { method: 'POST', headers: { ...headers, ...bearer() }, body: graphQuery }),
      ask('/graphql', { method: 'POST', headers, body: graphQuery }),
      ask('/graphql', { method: 'POST', headers: { ...headers, ...bearer() }, body: '{' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 400, 405, 200, 401, 400]);
    for (const answer of answers) {
      expect(corsHeaders(answer)).toEqual({
        'access-control-allow-origin': listed,
        'access-control-expose-headers': expect.any(String),
      });
      expect(names(answer.headers.get('vary'))).toContain('origin');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('exposes every header that the APIs send beside those that every page may read', async () => {
    const headers = { origin: listed, 'content-type': 'application/json', ...bearer() };
    const partner = JSON.stringify({ type: 'partner' });
    const key = { 'idempotency-key': 'cors-1' };
    const mutation = JSON.stringify({ query: 'mutation { createApiKey(input: {}) { apiKey { id } } }' });
    const sent: Response[] = await Promise.all([
      ask('/v1/accounts', { headers }),
      ask('/v1/accounts', { method: 'DELETE', headers }),
      ask('/v1/accounts', { headers: { origin: listed } }),
      ask('/v1/accounts', { method: 'POST', headers, body: partner }),
    ]);
    for (let i = 0; i < 2; i++)
      sent.push(await ask('/graphql', { method: 'POST', headers: { ...headers, ...key }, body: mutation }));
    const file = await user.upload('invoice', pdf);
    sent.push(await ask(`/v1/files/${file.body.id}/content`, { headers }));
    const { path } = await payee.checkoutFixture();
    const id = (await payee.user.get('/v1/checkouts?limit=1')).body.data[0].id;
    sent.push(await ask(`/v1/checkouts/${id}`, { headers: { ...headers, authorization: `Bearer ${payee.user.key}` } }));
    expect([path.startsWith('/checkout/'), sent.at(-1)!.headers.get('link')]).toEqual([true, expect.any(String)]);
    expect(sent[5]!.headers.get('idempotent-replayed')).toBe('true');

    const safelisted = ['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'pragma'];
    // About the connection, or for the browser itself and not for its scripts.
    const whole = [
      ...['connection', 'keep-alive', 'date', 'transfer-encoding', 'vary', 'content-security-policy'],
      ...['content-encoding', 'origin-agent-cluster', 'referrer-policy', 'strict-transport-security'],
    ];
    const browsers = new RegExp(`^(access-control-|cross-origin-|x-|(${whole.join('|')})$)`);
    for (const answer of sent) {
      const exposed = names(answer.headers.get('access-control-expose-headers'));
      const hidden = [...answer.headers.keys()].filter(
        (name) => !safelisted.includes(name) && !browsers.test(name) && !exposed.includes(name),
      );
      expect(hidden).toEqual([]);
    }
  });

  it('is not stored for pages of other origins: 304 has the same headers', async () => {
    const first = await user.get('/v1/accounts', { origin: listed });
    const again = await user.get('/v1/accounts', { origin: listed, 'if-none-match': first.headers.get('etag')! });
    expect([again.status, again.headers.get('access-control-allow-origin')]).toEqual([304, listed]);
    for (const { headers } of [first, again])
      expect(names(headers.get('vary'))).toEqual(expect.arrayContaining(['origin', 'authorization', 'on-behalf-of']));
  });
});

describe('behind settings of its own', () => {
  /** Another gateway over the same database. */
  async function gatewayWith(environment: Record<string, string>) {
    const app = await gateway({
      config: config({ serves: true }, { PORT: '0', CORS_ORIGINS: listed, ...environment }),
      database: world.database,
      schema: buildGraph(),
      pepper: world.pepper,
      log: pino({ level: 'silent' }),
    });
    return app;
  }

  it('a preflight over plain HTTP is refused, so that a browser does not send the key', async () => {
    const app = await gatewayWith({ TRUSTED_PROXY: '127.0.0.1', PUBLIC_URL: 'https://pay.example' });
    const asked = (headers: object) =>
      app.inject({
        method: 'OPTIONS',
        url: '/graphql',
        headers: { origin: listed, 'access-control-request-method': 'POST', ...headers },
      });
    const [plain, secure] = [await asked({}), await asked({ 'x-forwarded-proto': 'https' })];
    await app.close();
    expect([plain.statusCode, plain.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    expect([secure.statusCode, secure.headers['access-control-allow-origin']]).toEqual([204, listed]);
  });

  it('a page can read that its tenant has too many requests in flight', async () => {
    const app = await gatewayWith({ REQUESTS_OF_TENANT_MAX: '1' });
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const head = (line: string, more: string[] = []) =>
      [`${line} HTTP/1.1`, 'Host: a.example', `Origin: ${listed}`, `Authorization: Bearer ${user.key}`, ...more].join(
        '\r\n',
      ) + '\r\n\r\n';
    const open = () => {
      const socket = net.connect(Number(port), '127.0.0.1');
      let received = '';
      socket.setEncoding('utf8').on('data', (chunk) => (received += chunk));
      const answer = () =>
        eventually(
          async () => received,
          (text) => text.includes('\r\n\r\n'),
        );
      return { socket, answer, forget: () => (received = '') };
    };
    const [one, other] = [open(), open()];
    try {
      // The connection is known to have a valid key, and the other request waits for its rows.
      one.socket.write(head('GET /v1/accounts'));
      expect(await one.answer()).toContain('200 OK');
      one.forget();
      const refused = await world.sql.begin(async (tx) => {
        await tx`lock table account in access exclusive mode`;
        other.socket.write(head('GET /v1/accounts'));
        await statementsWaiting(world, 1);
        one.socket.write(head('GET /v1/accounts'));
        return (await one.answer()).toLowerCase();
      });
      expect(refused).toContain(' 503 ');
      expect(refused).toContain(`access-control-allow-origin: ${listed}`);
      expect(refused).toMatch(/vary: .*origin/);
      expect(refused).toMatch(/access-control-expose-headers: .*retry-after/);
    } finally {
      one.socket.destroy();
      other.socket.destroy();
      await app.close();
    }
  });
});

describe('an answer to a page of any other origin', () => {
  it('has no header of CORS', async () => {
    for (const origin of [outsider.origin, 'null', `${listed}, ${outsider.origin}`, '', `${listed}\t`.trim() + '.'])
      for (const path of ['/v1/accounts', '/graphql?query={viewer{edition}}']) {
        const answer = await ask(path, { headers: { origin, ...bearer() } });
        expect([origin, path, corsHeaders(answer)]).toEqual([origin, path, {}]);
      }
  });

  it('has none outside of the two APIs, for a listed origin either', async () => {
    const { path } = await payee.checkoutFixture();
    const headers = { origin: listed };
    const answers = await Promise.all([
      ...[path, `${path}/state`, '/checkout/assets/page.js', '/graphiql', '/', '/healthz'].map((each) =>
        ask(each, { headers }),
      ),
      ask('/graphql', { headers: { ...headers, accept: 'text/html' } }),
      ask('/operator/graphql', {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ __typename }' }),
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 200]);
    expect(answers.map(corsHeaders)).toEqual(answers.map(() => ({})));
  });
});

describe('in a browser', () => {
  /** Runs a fetch in a page of an origin: its status and the headers that the page can read, or its failure. */
  async function fetched(origin: string, path: string, init: object = {}) {
    const page = await chromium.newPage();
    try {
      await page.goto(origin);
      return await page.evaluate(
        async ([url, options]) => {
          try {
            const answer = await fetch(url, options);
            const text = await answer.text();
            return { status: answer.status, text, headers: Object.fromEntries(answer.headers) };
          } catch (error) {
            return { failed: String(error) };
          }
        },
        [`${world.origin}${path}`, init] as const,
      );
    } finally {
      await page.close();
    }
  }

  it('a page of a listed origin reads both APIs, their errors and their headers', async () => {
    const headers = { ...bearer(), 'content-type': 'application/json', 'idempotency-key': 'browser-1' };
    const list = await fetched(friend.origin, '/v1/accounts', { headers: bearer() });
    expect([list.status, JSON.parse(list.text!).object]).toEqual([200, 'list']);
    expect(Object.keys(list.headers!)).toEqual(
      expect.arrayContaining(['etag', 'request-id', 'ratelimit', 'ratelimit-policy']),
    );
    const graph = await fetched(friend.origin, '/graphql', { method: 'POST', headers, body: graphQuery });
    expect([graph.status, JSON.parse(graph.text!).data]).toEqual([200, { viewer: { edition: 2 } }]);
    const refused = await fetched(friend.origin, '/v1/accounts', { method: 'POST', headers, body: '{}' });
    expect([refused.status, JSON.parse(refused.text!).object]).toEqual([400, 'error']);
    const keyless = await fetched(friend.origin, '/v1/accounts');
    expect([keyless.status, keyless.headers!['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  it('a page of another origin reads nothing, with a key and without', async () => {
    const headers = { ...bearer(), 'content-type': 'application/json' };
    const attempts = await Promise.all([
      fetched(outsider.origin, '/v1/accounts', { headers: bearer() }),
      fetched(outsider.origin, '/v1/accounts'),
      fetched(outsider.origin, '/graphql', { method: 'POST', headers, body: graphQuery }),
      fetched(outsider.origin, '/graphql', { method: 'POST', body: graphQuery }),
      fetched(friend.origin, (await payee.checkoutFixture()).path),
      fetched(friend.origin, '/graphiql'),
      fetched(friend.origin, '/operator/graphql', { method: 'POST', headers, body: graphQuery }),
    ]);
    expect(attempts).toEqual(attempts.map(() => ({ failed: 'TypeError: Failed to fetch' })));
  });

  it('a page of another origin changes nothing', async () => {
    const before = (await user.get('/v1/accounts')).text;
    const body = JSON.stringify({ type: 'partner', nickname: 'planted', business_details: { legal_name: 'X' } });
    const headers = { ...bearer(), 'content-type': 'application/json' };
    await fetched(outsider.origin, '/v1/accounts', { method: 'POST', headers, body });
    await fetched(outsider.origin, '/v1/accounts', { method: 'POST', mode: 'no-cors', body });
    expect((await user.get('/v1/accounts')).text).toBe(before);
  });
});
