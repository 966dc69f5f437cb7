import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let user: Speaker;
let payee: PayeeFixture;
beforeAll(async () => {
  user = await given.directUser(1);
  payee = await PayeeFixture.open(world);
});

/** Sends bytes and returns the gateway's response. */
async function answered(bytes: string, origin = world.origin): Promise<{ status: number; head: string; body: any }> {
  const { port } = new URL(origin);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = net.connect(Number(port), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk) => (received += chunk));
    socket.on('error', reject).on('close', () => resolve(received));
    socket.write(bytes);
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return {
    status: Number(head.split(' ')[1]),
    head,
    body: body.startsWith('{') ? JSON.parse(body) : body,
  };
}
const request = (line: string, headers: string[]) =>
  `${line} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`;
const key = (of = user) => `Authorization: Bearer ${of.key}`;

describe('an invalid Host header', () => {
  const hosts = [
    'evil.example>; rel="next", <https://x',
    'evil.example/path',
    'evil.example?x',
    'evil.example#x',
    'user@evil.example',
    'a b',
    'a,b',
    'a\\b',
    'a"b',
    '-a.example',
    '[::1',
    '::1',
    '[::1]x',
    'a.example:port',
    'a.example:123456',
    'a.example:1:2',
    'a_b.example',
    'ä.example',
    '%41.example',
    '',
    ' ',
  ];
  const lines = [
    'GET /v1/deposits',
    'GET /graphql?query={viewer{mode}}',
    'GET /graphiql',
    'GET /graphiql/assets/none.js',
    'GET /',
    'GET /nowhere',
    'GET /v1/%',
  ];
  it.each(hosts)('is refused on every path: %j', async (host) => {
    for (const line of [...lines, `GET ${(await payee.checkoutFixture()).path}`]) {
      const { status, head, body } = await answered(request(line, [`Host: ${host}`, key()]));
      expect([line, status]).toEqual([line, 400]);
      expect(head).not.toContain('evil');
      expect(JSON.stringify(body)).not.toContain('evil');
    }
  });

  it.each(['a.example', 'A-1.example:4000', '127.0.0.1:1', '[::1]:4000', '[fe80::1]', 'localhost', 'a.example.'])(
    'does not include %j',
    async (host) => {
      const { status } = await answered(request('GET /v1/deposits', [`Host: ${host}`, key()]));
      expect(status).toBe(200);
    },
  );

  it('is reported in the error format of each API', async () => {
    const message = 'The header Host must be a host name or an address, with an optional port.';
    const rest = await answered(request('GET /v1/deposits', ['Host: a/b', key()]));
    expect(rest.body).toEqual({
      object: 'error',
      http_status_code: 400,
      errors: [{ code: 'body_invalid', message, metadata: {} }],
    });
    const graph = await answered(request('GET /graphql?query={viewer{mode}}', ['Host: a/b', key()]));
    expect(graph.body.errors.map((each: any) => each.message)).toEqual([message]);
  });

  it('does not affect a probe, which may use any name', async () => {
    expect((await answered(request('GET /healthz', ['Host: a_b']))).status).toBe(200);
  });
});

describe('a header that may occur only once', () => {
  const values: [name: string, first: string, second: string][] = [
    ['Content-Encoding', 'identity', 'identity'],
    ['Content-Length', '2', '2'],
    ['Content-Type', 'application/json', 'text/plain'],
    ['Idempotency-Key', 'K', 'K'],
    ['Idempotency-Key', 'K', 'L'],
    ['If-Range', '"a"', '"a"'],
    ['Last-Event-ID', '1', '1'],
    ['On-Behalf-Of', 'account_0', 'account_0'],
    ['Origin', 'https://a.example', 'https://b.example'],
    ['Range', 'bytes=0-1', 'bytes=0-1'],
    ['Sec-Fetch-Site', 'same-origin', 'cross-site'],
    ['Tidegate-Consistency', 'primary', 'primary'],
    ['X-Tidegate-Dashboard', '1', '1'],
    ['X-Tidegate-Operator', '1', '1'],
  ];
  const twice: [name: string, () => string[]][] = [
    ['Authorization', () => ['Host: a.example', key(), 'Authorization: Bearer sk_other']],
    ['Authorization', () => ['Host: a.example', key(), key()]],
    ['Authorization', () => ['Host: a.example', 'authorization: Bearer nothing', key()]],
    ['Host', () => ['Host: a.example', 'Host: b.example', key()]],
    ['Host', () => ['Host: a.example', 'hOST: a.example', key()]],
    ...values.map(([name, first, second]): [string, () => string[]] => [
      name,
      () => ['Host: a.example', key(), `${name}: ${first}`, `${name.toLowerCase()}: ${second}`],
    ]),
  ];
  const upgrade = [
    ...['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  const doors: [line: string, more?: string[]][] = [
    ['GET /v1/deposits'],
    ['POST /v1/deposits'],
    ['POST /v1/files'],
    ['GET /v1/events/stream'],
    ['GET /graphql?query={viewer{mode}}'],
    ['GET /graphql', upgrade],
    ['POST /graphql'],
    ['POST /operator/graphql'],
    ['POST /operator/session'],
    ['POST /dashboard/session'],
    ['POST /checkout/none/card'],
    ['GET /docs'],
    ['GET /nowhere'],
    ['GET /v1/%'],
    ['GET /'],
  ];
  let operated: string;
  beforeAll(async () => {
    operated = await world.another({ environment: { OPERATOR_API: 'true' } });
  });

  it.each(twice)('is refused by every route when it is repeated: %s', async (name, headers) => {
    for (const [line, more = []] of doors) {
      const { status, body } = await answered(request(line, [...headers(), ...more]), operated);
      expect([line, status]).toEqual([line, 400]);
      const text =
        line.includes('/checkout/') && name !== 'Content-Length' ? '' : `The header ${name} is repeated. Send it once.`;
      expect(JSON.stringify(body)).toContain(text);
    }
  });

  it('is named as the wrong parameter by both APIs', async () => {
    const headers = ['Host: a.example', key(), 'Idempotency-Key: K', 'Idempotency-Key: K'];
    const message = 'The header Idempotency-Key is repeated. Send it once.';
    const { body } = await answered(request('POST /v1/deposits', headers));
    const error = { code: 'parameter_invalid', message, metadata: { field_name: 'Idempotency-Key' } };
    expect(body.errors).toEqual([error]);
    const graph = await answered(request('POST /graphql', headers));
    expect(graph.body.errors[0]).toMatchObject({ message, extensions: { code: 'PARAMETER_INVALID', error } });
  });
});

describe('the headers of a body', () => {
  const json = '{"type":"partner","query":"{viewer{mode}}"}';
  const form =
    '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nlogo\r\n--b\r\nContent-Disposition: form-data; ' +
    'name="file"; filename="a.pdf"\r\n\r\n%PDF-1.4\r\n--b--\r\n';
  /** Each way in: its line, its type and a body. */
  const ways: [line: string, type: string, body: string][] = [
    ['POST /v1/accounts', 'application/json', json],
    ['POST /graphql', 'application/json', json],
    ['POST /operator/graphql', 'application/json', json],
    ['POST /v1/files', 'multipart/form-data; boundary=b', form],
  ];
  const operatorSecret = randomBytes(32).toString('hex');
  const bodyOf = (body: string) => [`Content-Length: ${body.length}`];
  let operated: string;
  let operatorKey: string;
  /** Has partners; `user` has none, so that one of a refused request would be seen. */
  let owner: Speaker;
  beforeAll(async () => {
    owner = await given.directUser(1);
    operatorKey = `Authorization: Bearer ${operatorSecret}`;
    operated = await world.another({ environment: { OPERATOR_KEY: operatorSecret } });
  });
  const send = (line: string, headers: string[], body: string, by = user) => {
    const credential = line.includes('/operator/') ? operatorKey : key(by);
    return answered(`${request(line, ['Host: a.example', credential, ...headers])}${body}`, operated);
  };

  it.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x'.repeat(50)])(
    'refuse the Content-Encoding %s by its name on every way in',
    async (encoding) => {
      for (const [line, type, body] of ways) {
        const headers = [`Content-Type: ${type}`, `Content-Encoding: ${encoding}`, ...bodyOf(body)];
        const reply = await send(line, headers, body);
        expect([line, reply.status]).toEqual([line, 400]);
        expect(JSON.stringify(reply.body)).toMatch(/Content-Encoding [^"]+ is not supported. Send the body as it is./);
        if (/^[a-z]+$/.test(encoding) && encoding.length < 40) expect(JSON.stringify(reply.body)).toContain(encoding);
      }
      expect((await user.get('/v1/accounts?type=partner')).body.data).toEqual([]);
      expect((await user.get('/v1/files')).body.data).toEqual([]);
    },
  );

  it.each(['iso-8859-1', 'utf-16', 'US-ASCII', '"windows-1252"'])(
    'refuse the charset %s by its name on every way in',
    async (charset) => {
      for (const [line, type, body] of ways) {
        const reply = await send(line, [`Content-Type: ${type}; Charset=${charset}`, ...bodyOf(body)], body);
        expect([line, reply.status]).toEqual([line, 400]);
        const name = charset.replaceAll('"', '');
        expect(JSON.stringify(reply.body)).toContain(`The charset ${name} is not supported. Send the body in UTF-8.`);
      }
      expect((await user.get('/v1/accounts?type=partner')).body.data).toEqual([]);
    },
  );

  it('are refused on a payment page, too', async () => {
    const { path } = await payee.checkoutFixture();
    const body = 'attempt=x';
    for (const header of [
      'Content-Encoding: gzip',
      'Content-Type: application/x-www-form-urlencoded; charset=latin1',
    ]) {
      const type = header.startsWith('Content-Type') ? [] : ['Content-Type: application/x-www-form-urlencoded'];
      const reply = await answered(
        `${request(`POST ${path}/card`, ['Host: a.example', header, ...type, ...bodyOf(body)])}${body}`,
      );
      expect([header, reply.status]).toEqual([header, 400]);
    }
  });

  it.each(['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'application/json; charset="utf8"'])(
    'take the type %s, and the encoding identity',
    async (type) => {
      const body = '{"query":"{viewer{mode}}"}';
      const headers = [`Content-Type: ${type}`, 'Content-Encoding: Identity', ...bodyOf(body)];
      const reply = await send('POST /graphql', headers, body);
      expect([reply.status, reply.body.data]).toEqual([200, { viewer: { mode: 'TEST' } }]);
    },
  );

  const types = [
    ...['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'],
    ...['multipart/form-data', 'application/json; charset=latin1', 'json', ';', ''],
  ];
  it.each(types)('say nothing about an empty body: %j', async (type) => {
    const partner = await owner.partner();
    const path = `/v1/accounts/${partner.id}`;
    const chunked = ['Transfer-Encoding: chunked'];
    for (const length of [[], ['Content-Length: 0'], ...(/^(json|;|)$|latin1/.test(type) ? [] : [chunked])]) {
      const headers = [`Content-Type: ${type}`, 'Content-Encoding: gzip', ...length];
      if (length === chunked) headers.splice(1, 1);
      const reply = await send(`POST ${path}`, headers, length === chunked ? '0\r\n\r\n' : '', owner);
      expect([length, reply.status, reply.body.errors?.[0].code]).toEqual([length, 400, 'account_not_updatable']);
    }
  });

  it('refuse a body in chunks of another type', async () => {
    const headers = ['Content-Type: text/plain', 'Transfer-Encoding: chunked'];
    const { status, body } = await send('POST /v1/accounts', headers, '2\r\n{}\r\n0\r\n\r\n');
    expect([status, body.errors[0].message]).toEqual([
      400,
      'The content type is not supported. Send JSON, as Content-Type: application/json.',
    ]);
  });
});

describe('100 Continue', () => {
  const body = '{"query":"{viewer{mode}}"}';
  /** Sends the head of a request that waits for `100 Continue`, its body when that comes, and returns all answers. */
  async function waiting(line: string, headers: string[]): Promise<string> {
    const { port } = new URL(world.origin);
    const head = [
      `${line} HTTP/1.1`,
      ...['Host: a.example', 'Content-Type: application/json', `Content-Length: ${body.length}`],
      ...['Expect: 100-continue', ...headers],
    ];
    return new Promise((resolve, reject) => {
      const socket = net.connect(Number(port), '127.0.0.1');
      let received = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        if (received === '' && String(chunk).startsWith('HTTP/1.1 100')) socket.write(body);
        received += chunk;
        if (received.includes('viewer')) socket.end();
      });
      socket.on('error', reject).on('close', () => resolve(received));
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
    });
  }
  const statusesOf = (answer: string) => [...answer.matchAll(/^HTTP\/1.1 (\d+)/gm)].map(([, status]) => Number(status));

  it('is sent when the key is known', async () => {
    expect(statusesOf(await waiting('POST /graphql', [key()]))).toEqual([100, 200]);
  });

  it.each([
    ['without a key', 'POST /graphql', () => [], 401],
    ['with a wrong key', 'POST /v1/accounts', () => ['Authorization: Bearer sk_test_0'], 401],
    ['for a route that is missing', 'POST /v1/none', () => [key()], 404],
    ['for an encoding that is refused', 'POST /v1/accounts', () => [key(), 'Content-Encoding: gzip'], 400],
  ] as [string, string, () => string[], number][])(
    'is not sent %s, and the connection ends',
    async (_, line, headers, status) => {
      expect(statusesOf(await waiting(line, headers()))).toEqual([status]);
    },
  );
});

describe('a request that cannot be read', () => {
  /** A gateway that waits for clients shorter than the settings do by default. */
  let impatient: string;
  beforeAll(async () => {
    impatient = await world.another({ environment: { HEADER_SECONDS: '1', BODY_SECONDS: '2' } });
  });

  it('is 408 when it does not arrive in time', async () => {
    const { status, head, body } = await answered(
      `POST /v1/accounts HTTP/1.1\r\nHost: a.example\r\n${key()}\r\nX-Slow`,
      impatient,
    );
    expect([status, body.http_status_code, body.errors.map(({ code }: any) => code)]).toEqual([
      408,
      408,
      ['request_timeout'],
    ]);
    expect(head).toMatch(/^Request-Id: req_/m);
  });

  it('is 408 when its body does not arrive in time', async () => {
    const head = request('POST /v1/accounts', [
      'Host: a.example',
      key(),
      'Content-Type: application/json',
      'Content-Length: 100',
    ]);
    const { status, body } = await answered(`${head}{"type"`, impatient);
    expect([status, body.errors.map(({ code }: any) => code)]).toEqual([408, ['request_timeout']]);
  });

  it('is 431 when its headers are too large', async () => {
    const { status, body } = await answered(
      request('GET /v1/deposits', ['Host: a.example', `X-Large: ${'x'.repeat(20_000)}`]),
    );
    expect([status, body.errors.map(({ code }: any) => code)]).toEqual([431, ['headers_too_large']]);
  });

  it('is 400 when it is not HTTP', async () => {
    const { status, body } = await answered('HELO gateway\r\n\r\n');
    expect([status, body.errors.map(({ code }: any) => code)]).toEqual([400, ['body_invalid']]);
  });

  it('is refused as HTTP/2, which the gateway does not serve', async () => {
    const { status } = await answered('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect(status).toBe(400);
  });
});
