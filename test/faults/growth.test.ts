import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { getNamedType, type GraphQLInputObjectType, type GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { buildGraph } from '../../src/api/graphql/server.js';
import { WebhookRequests } from '../../src/jobs/webhook-request.js';
import { columnsOfInput } from '../../src/api/rest/bulk/import-file.js';
import { imports } from '../../src/resources/registry.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';
import { type Gateway, useChildren } from '../support/child.js';
import { type Edition, eventually, type Speaker } from '../support/world.js';
import { graphPlaces, restPlaces } from './growth-places.js';
import { figures, patience, scale } from '../support/scale.js';

/*
 * Every text of a client grows to four times its length, and the gateway may take at most eight times the processor
 * time. Quadratic time would be sixteen times. See docs/decisions/limits-before-work.md.
 */
const kilobytes = { small: 16 * 1_024, large: 64 * 1_024 };
/** Node refuses a request whose path and headers are longer than 16 KB together, so these grow below that, too. */
const withinHead = { small: 3_600, large: 14_400 };
/** The longest forms of a payment page have 8 KB. */
const withinForm = { small: 110, large: 440 };
type Sizes = typeof kilobytes;

/** Each class of characters; the exclamation mark at the end makes a pattern fail that has matched until there. */
const classes = ['a', '1', ' ', '.', '[', '/', ',', 'a@-.'];
const textOf = (of: string, length: number) => `${of.repeat(Math.ceil(length / of.length)).slice(0, length - 1)}!`;

/** Less than this is the noise of a request, in microseconds: nothing grows from there to what would be felt. */
const noise = 10_000;

type Send = (text: string) => Promise<unknown>;

describe.runIf(scale.whole)('the processor time of a text of a client', { timeout: patience.testTimeout }, () => {
  const children = useChildren();
  const socketPath = path.join(os.tmpdir(), `tidegate-time-${process.pid}.sock`);
  const operatorKey = 'operator-key-of-a-test-0123456789';
  let gateway: Gateway;
  let speaker: Speaker;
  let first: Speaker;
  /** Whose key sends a text: one class of characters is sent in Edition 1, and the next in Edition 2. */
  let edition: Edition = 2;

  beforeAll(async () => {
    const preload = pathToFileURL(path.resolve(import.meta.dirname, '../fixtures/processor-time.mjs'));
    gateway = await children.gateway({
      DATA_DIR: await children.preparedFolder('demo'),
      NODE_OPTIONS: `--import=${preload}`,
      PROCESSOR_TIME_SOCKET: socketPath,
      BODY_BYTES_MAX: '1048576',
      RATE_LIMIT: 'measure',
      REQUEST_LOG_DAYS: '0',
      OPERATOR_KEY: operatorKey,
      LOG_LEVEL: 'error',
    });
    speaker = gateway.speaker(gateway.keys[2]!);
    first = gateway.speaker(gateway.keys[1]!);
  }, patience.hookTimeout);
  afterAll(() => fs.rmSync(socketPath, { force: true }));

  /** The processor time of the gateway so far, in microseconds. */
  const gatewayTime = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = http.get({ socketPath, path: '/' }, async (response) => {
        let text = '';
        for await (const piece of response) text += String(piece);
        resolve(Number(text));
      });
      request.on('error', reject);
    });
  const ownTime = async () => process.cpuUsage().user + process.cpuUsage().system;

  /** The places and classes of characters whose time grows more than eightfold, best of five. */
  async function grows(places: readonly (readonly [string, Send])[], sizes: Sizes, time = gatewayTime) {
    const found: string[] = [];
    const taken = async (send: Send, text: string) => {
      const before = await time();
      await send(text);
      return (await time()) - before;
    };
    // The gateway compiles what it runs often, and the first requests would count that.
    for (let n = 0; n < 10; n++) await places[0]?.[1](textOf('a', sizes.large));
    for (const [name, send] of places)
      for (const of of classes) {
        const [small, large] = [textOf(of, sizes.small), textOf(of, sizes.large)];
        edition = edition === 1 ? 2 : 1;
        // What takes no more than eight times the noise is no longer measured: no smaller text counts as less.
        let most = await taken(send, large);
        if (most <= 8 * noise) continue;
        let least = Number.POSITIVE_INFINITY;
        for (let n = 0; n < 5; n++) {
          least = Math.min(least, await taken(send, small));
          if (n > 0) most = Math.min(most, await taken(send, large));
        }
        const ratio = most / Math.max(least, noise);
        if (ratio > 8) found.push(`${name} of ${JSON.stringify(of)}: ${least} µs, then ${most} µs`);
      }
    figures('growth', { places: places.length, classes: classes.length });
    return found;
  }

  /** Sends a request as it is, also with characters that `fetch` would refuse; returns its status. */
  const ask = (
    target: string,
    {
      method = 'GET',
      headers = {},
      body = '',
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<number> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(gateway.origin);
      const given = { connection: 'close', 'content-length': String(Buffer.byteLength(body)), ...headers };
      const lines = Object.entries({ host: `${hostname}:${port}`, ...given }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      const socket = net.connect(Number(port), hostname);
      let text = '';
      socket.on('data', (piece) => (text += piece.toString('latin1')));
      // Node may end a connection before it has read what is too long.
      socket.on('error', () => {});
      socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)));
      socket.end(Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`));
    });
  const authorization = () => ({ authorization: `Bearer ${gateway.keys[edition]}` });
  const json = (body: unknown) => ({
    method: 'POST',
    headers: { ...authorization(), 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const encoded = (text: string) => text.replaceAll(/[^!-~]/gu, encodeURIComponent);

  it.each([withinHead, kilobytes])('grows in proportion in a path, a query and a header', async (sizes) => {
    const places: [string, Send][] = [];
    for (const before of [
      ...['/', '/docs', '/docs/', '/v1/', '/v1/accounts/', '/v1/test_helpers/', '/v1/files/', '/graphql/', '/graphiql'],
      ...['/graphiql/assets/', '/dashboard/', '/dashboard/assets/', '/operator/', '/operator/files/', '/openapi.json'],
      ...['/checkout/', '/checkout/x/', '/checkout/assets/', '/metrics', '/healthz/', 'http://', 'http://a/'],
    ])
      places.push([`the path ${before}`, (text) => ask(before + encoded(text), { headers: authorization() })]);
    for (const at of [
      '/v1/accounts',
      '/v1/events/stream',
      '/graphql',
      '/checkout/x',
      '/docs',
      '/operator/files/x',
      '/',
    ]) {
      const headers = authorization();
      places.push([`a query of ${at}`, (text) => ask(`${at}?${encoded(text)}`, { headers })]);
      places.push([`a value of ${at}`, (text) => ask(`${at}?query=${encoded(text)}`, { headers })]);
      places.push([`a name of ${at}`, (text) => ask(`${at}?a${encoded(text)}=1&limit=1`, { headers })]);
    }
    for (const name of headerNames())
      for (const [target, method] of [
        ['/v1/accounts', 'GET'],
        ['/graphql', 'POST'],
        ['/checkout/x/card', 'POST'],
        ['/docs', 'GET'],
        ['/dashboard/session', 'POST'],
        ['/operator/session', 'GET'],
      ] as const)
        places.push([
          `the header ${name} of ${target}`,
          (text) => ask(target, { method, headers: { ...authorization(), [name]: text } }),
        ]);
    expect(await grows(places, sizes)).toEqual([]);
  });

  it('grows in proportion in each parameter and leaf of a body of /v1', async () => {
    const places = restPlaces().map(({ name, method, request }): [string, Send] => [
      name,
      (text) => {
        const { path: target, body, headers = {} } = request(text);
        return body === undefined
          ? ask(target, { method, headers: { ...authorization(), ...headers } })
          : ask(target, json(body));
      },
    ]);
    expect(
      await grows(
        places.filter(([name]) => !name.includes(' body ')),
        withinHead,
      ),
    ).toEqual([]);
    expect(
      await grows(
        places.filter(([name]) => name.includes(' body ')),
        kilobytes,
      ),
    ).toEqual([]);
  });

  const graphs = {
    '/graphql': { schema: buildGraph(), headers: authorization },
    '/operator/graphql': {
      schema: buildOperatorGraph(),
      headers: () => ({ authorization: `Bearer ${operatorKey}` }),
    },
  };
  it.each(Object.entries(graphs))('grows in proportion in each argument and leaf of %s', async (at, graph) => {
    const post = (body: unknown) => {
      const { headers, ...rest } = json(body);
      return ask(at, { ...rest, headers: { ...headers, ...graph.headers() } });
    };
    expect(await post({ query: '{ __typename }' })).toBe(200);
    const places = graphPlaces(graph.schema).flatMap(({ name, variable, literal }): [string, Send][] => [
      [`${name} as a variable`, (text) => post({ query: variable, variables: { t: text } })],
      [`${name} in the document`, (text) => post({ query: literal(text) })],
    ]);
    const parts: Record<string, (text: string) => unknown> = {
      'the body': (text) => text,
      'the document': (query) => ({ query }),
      'a comment': (text) => ({ query: `#${text}\n{ __typename }` }),
      'a block of text': (text) => ({ query: `{ node(id: """${text.replaceAll(/["\\]/g, '')}""") { id } }` }),
      'a name of a field': (text) => ({ query: `{ a${text.replaceAll(/\W/g, '_')} }` }),
      'the name of the operation': (operationName) => ({ query: '{ __typename }', operationName }),
      'a name of a variable': (text) => ({ query: '{ __typename }', variables: { [text]: text } }),
      'the hash of a document': (text) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: text } } }),
      'the id of a document': (documentId) => ({ documentId }),
      'an unknown member': (text) => ({ query: '{ __typename }', [text]: text }),
      'a key that is repeated': (text) =>
        `{"query":"{ __typename }",${JSON.stringify(text)}:1,${JSON.stringify(text)}:2}`,
    };
    for (const [name, body] of Object.entries(parts)) places.push([name, (text) => post(body(text))]);
    expect(await grows(places, kilobytes)).toEqual([]);
  });

  it.each([withinForm, kilobytes])('grows in proportion in a field of a payment page', async (sizes) => {
    const link = await paymentLink(speaker);
    const submit = (rest: string, fields: Record<string, string>) =>
      fetch(`${gateway.origin}${link}/${rest}`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(fields),
        headers: { origin: gateway.origin },
      }).then((response) => response.text());
    const card = { number: '4242', expiry: '12/40', code: '123', name: 'A', token: 'x', attempt: 'x' };
    const places = Object.keys(card).map((name): [string, Send] => [
      `the field ${name}`,
      (text) => submit('card', { ...card, attempt: `${'0'.repeat(36)}-card`, [name]: text }),
    ]);
    places.push(['a name of a field', (text) => submit('card', { ...card, [text]: 'x' })]);
    places.push(['the field attempt of a code', (text) => submit('upi', { attempt: text })]);
    places.push(['the field vpa', (text) => submit('upi/transaction_0', { vpa: text })]);
    expect(await grows(places, sizes)).toEqual([]);
  });

  it('grows in proportion in each part of an upload', async () => {
    const form = (parts: Record<string, string>[], boundary = 'b') =>
      ask('/v1/files', {
        method: 'POST',
        headers: { ...authorization(), 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: [
          ...parts.map(({ head, body }) => `--${boundary}\r\n${head}\r\n\r\n${body}\r\n`),
          `--${boundary}--\r\n`,
        ].join(''),
      });
    const field = (name: string, body: string) => ({ head: `Content-Disposition: form-data; name="${name}"`, body });
    const content = (name: string, type = 'text/csv') => ({
      head: `Content-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}`,
      body: 'a,b',
    });
    const purpose = field('purpose', 'nothing');
    const places: [string, Send][] = [
      ['the name of a file', (text) => form([purpose, content(text)])],
      ['the type of a file', (text) => form([purpose, content('a.csv', text)])],
      ['the content of a file', (text) => form([purpose, { ...content('a.csv'), body: text }])],
      ['the purpose', (text) => form([field('purpose', text), content('a.csv')])],
      ['the name of a field', (text) => form([purpose, field(text, 'x'), content('a.csv')])],
      ['a key of metadata', (text) => form([purpose, field(`metadata[${text}]`, 'x'), content('a.csv')])],
      ['a value of metadata', (text) => form([purpose, field('metadata[a]', text), content('a.csv')])],
      ['the head of a part', (text) => form([purpose, { head: text, body: 'x' }])],
      ['the boundary', (text) => form([purpose], text.slice(0, 8_000))],
    ];
    expect(await grows(places, kilobytes)).toEqual([]);
  });

  it('grows in proportion in each cell of an import', async () => {
    const kinds = columnsOf(buildGraph());
    expect(kinds.length).toBeGreaterThan(0);
    const places = kinds.map(([kind, names]): [string, Send] => [
      `a cell of ${kind}`,
      async (text) => {
        const cell = `"${text.replaceAll('"', '""')}"`;
        const lines = names.map((_, at) => names.map((__, i) => (i === at ? cell : '')).join(','));
        const bytes = new Uint8Array(Buffer.from(`${names.join(',')}\n${lines.join('\n')}`));
        const file = await first.upload('import', bytes, 'rows.csv');
        const made = await first.post('/v1/imports', { kind, file_id: file.body.id, dry_run: true });
        expect(made.status, made.text).toBe(200);
        const over = ({ body }: { body: { status: string } }) => ['completed', 'failed'].includes(body.status);
        await eventually(() => first.get(`/v1/imports/${made.body.id}`), over, 600);
      },
    ]);
    expect(await grows(places, kilobytes)).toEqual([]);
  });

  it('grows in proportion in each part of a message of a WebSocket', async () => {
    const init = JSON.stringify({ type: 'connection_init', payload: authorization() });
    const query = 'subscription { events { id } }';
    const subscribe = (payload: object, more: object = {}) =>
      JSON.stringify({ id: '1', type: 'subscribe', payload: { query, ...payload }, ...more });
    const places: [string, Send][] = Object.entries({
      'a message': (text: string) => [text],
      'a message after the key': (text: string) => [init, text],
      'the key': (text: string) => [JSON.stringify({ type: 'connection_init', payload: { authorization: text } })],
      'a header': (text: string) => [JSON.stringify({ type: 'connection_init', payload: { [text]: text } })],
      'the type of a message': (text: string) => [init, JSON.stringify({ type: text })],
      'the id of a subscription': (text: string) => [init, subscribe({ query: '{ a }' }, { id: text })],
      'the document of a subscription': (text: string) => [init, subscribe({ query: text })],
      'a type of events': (text: string) => [
        init,
        subscribe({ query: `subscription { events(types: [${JSON.stringify(text)}]) { id } }` }),
      ],
      'a variable of a subscription': (text: string) => [
        init,
        subscribe({ query: 'subscription($t: [String!]) { events(types: $t) { id } }', variables: { t: [text] } }),
      ],
      'the name of a subscription': (text: string) => [init, subscribe({ operationName: text })],
      'the hash of a subscription': (text: string) => [
        init,
        subscribe({ query: '', extensions: { persistedQuery: { version: 1, sha256Hash: text } } }),
      ],
      'a ping': (text: string) => [init, JSON.stringify({ type: 'ping', payload: { a: text } })],
    }).map(([name, messages]) => [name, (text) => overSocket(gateway, messages(text))]);
    expect(await grows(places, kilobytes)).toEqual([]);
  });

  // This process is both ends, so the time of the receiver counts, too.
  it('grows in proportion in each part of the answer of a webhook', async () => {
    let answer = '';
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const requests = new WebhookRequests({ local: true });
    const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`;
    const secrets = [`whsec_${Buffer.alloc(24).toString('base64')}`];
    const send = (text: string) => {
      answer = text;
      return requests.send({ id: 'event_1', body: '{}', url, secrets, at: 1_700_000_000 });
    };
    const places: [string, Send][] = [
      ['a message that is not HTTP', send],
      ['the phrase', (text) => send(`HTTP/1.1 400 ${text}\r\nContent-Length: 0\r\n\r\n`)],
      ['the name of a header', (text) => send(`HTTP/1.1 200 OK\r\n${text.replaceAll(/[^a-z1-]/g, '')}: a\r\n\r\n`)],
      ['Retry-After', (text) => send(`HTTP/1.1 503 A\r\nRetry-After: ${text}\r\nContent-Length: 0\r\n\r\n`)],
      ['the body', (text) => send(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${text}`)],
      ['answers before the answer', (text) => send('HTTP/1.1 103 Early\r\n\r\n'.repeat(text.length / 22))],
    ];
    for (const sizes of [withinHead, kilobytes]) expect(await grows(places, sizes, ownTime)).toEqual([]);
    requests.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

/** The headers that the sources name, and those that the libraries of the gateway read. */
function headerNames(): string[] {
  const root = path.resolve(import.meta.dirname, '../../src');
  const names = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = names.flatMap((name) => {
    const text = fs.readFileSync(path.join(root, name), 'utf8');
    const named = text.matchAll(/headers(?:\.(\w+)|\['([\w-]+)'\])|(?:single|header)\(\w+, '([\w-]+)'\)/g);
    return [...named].flatMap((groups) => groups.slice(1).filter((group) => group !== undefined));
  });
  return [
    ...new Set([
      ...found.map((name) => name.toLowerCase()),
      ...[
        'accept',
        'accept-encoding',
        'accept-language',
        'authorization',
        'content-type',
        'content-encoding',
        'cookie',
      ],
      ...[
        'expect',
        'forwarded',
        'host',
        'idempotency-key',
        'if-match',
        'if-modified-since',
        'if-none-match',
        'if-range',
      ],
      ...[
        'last-event-id',
        'on-behalf-of',
        'origin',
        'prefer',
        'range',
        'referer',
        'sec-ch-ua-mobile',
        'sec-fetch-site',
      ],
      ...['te', 'traceparent', 'tracestate', 'upgrade', 'user-agent', 'x-forwarded-for', 'x-forwarded-host'],
      ...['x-forwarded-proto', 'access-control-request-headers', 'access-control-request-method', 'x-other'],
      ...['apollo-require-preflight', 'sec-websocket-protocol', 'sec-websocket-extensions', 'sec-websocket-key'],
    ]),
  ].filter((name) => !['content-length', 'js', 'get', 'set', 'has', 'map'].includes(name));
}

/** The path of the page of a checkout of the demo. */
async function paymentLink(speaker: Speaker): Promise<string> {
  const { body } = await speaker.get('/v1/checkouts?limit=1');
  const { headers } = await speaker.get(`/v1/checkouts/${body.data[0].id}`);
  return new URL(/<([^<>]+)>; rel="payment"/.exec(headers.get('link') ?? '')![1]!).pathname;
}

/** The columns of each kind of import. */
function columnsOf(schema: GraphQLSchema): [kind: string, columns: string[]][] {
  return [...imports].map(([kind, { field }]) => {
    const input = schema
      .getMutationType()!
      .getFields()
      [field]!.args.find(({ name }) => name === 'input')!;
    const columns = columnsOfInput(getNamedType(input.type) as GraphQLInputObjectType);
    return [kind, columns.map((name) => (name.endsWith('.') ? `${name}a` : name))];
  });
}

/** Sends messages over a WebSocket of their own; ends with the first answer to the last of them, or with its close. */
async function overSocket({ origin }: Gateway, messages: readonly string[]): Promise<void> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  await Promise.race([closed, new Promise((resolve) => socket.once('open', resolve))]);
  for (const message of messages) {
    if (socket.readyState !== socket.OPEN) break;
    const answered = new Promise((resolve) => socket.once('message', resolve));
    socket.send(message);
    await Promise.race([closed, answered, new Promise((resolve) => setTimeout(resolve, 500))]);
  }
  socket.terminate();
  await closed;
}
