import net from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { PayeeFixture } from './checkout-fixture.js';
import { givenIn, type Speaker, useWorld } from './world.js';

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
const key = () => `Authorization: Bearer ${user.key}`;

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
  const twice: [string, () => string[]][] = [
    ['Authorization', () => ['Host: a.example', key(), 'Authorization: Bearer sk_other']],
    ['Authorization', () => ['Host: a.example', key(), key()]],
    ['Authorization', () => ['Host: a.example', 'authorization: Bearer nothing', key()]],
    ['Host', () => ['Host: a.example', 'Host: b.example', key()]],
    ['Host', () => ['Host: a.example', 'hOST: a.example', key()]],
  ];
  it.each(twice)('is refused when it is repeated: %s', async (name, headers) => {
    for (const line of [
      'GET /v1/deposits',
      'GET /graphql?query={viewer{mode}}',
      'GET /nowhere',
      'GET /v1/%',
      'GET /',
    ]) {
      const { status, body } = await answered(request(line, headers()));
      expect([line, status]).toEqual([line, 400]);
      expect(JSON.stringify(body)).toContain(`The header ${name} is repeated. Send it once.`);
    }
  });
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
