import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../../src/auth/tokens.js';
import { type Acquirer, acquirers as delivered } from '../../src/hosted/acquirer.js';
import { type CheckoutFixture, PayeeFixture, submit } from '../support/checkout-fixture.js';
import { holding, locked } from './holding.js';
import { eventually, givenIn, tenantOf, type Reply, type Speaker, useWorld, type World } from '../support/world.js';

const world = useWorld({
  worker: false,
  environment: { REQUEST_SLOTS: '2', REQUESTS_OF_TENANT_MAX: '4', WAIT_MILLISECONDS_MAX: '60000' },
});
const single = useWorld({
  worker: false,
  environment: {
    REQUEST_SLOTS: '1',
    REQUESTS_OF_TENANT_MAX: '2',
    WAIT_MILLISECONDS_MAX: '60000',
  },
});

/** Resolves when so many more requests have arrived and their keys, which were found before, have been looked up. */
function arrivals(app: World['app'], count: number): Promise<void> {
  return new Promise((resolve) => {
    const arrived = () => {
      if (--count > 0) return;
      app.server.off('request', arrived);
      setImmediate(resolve);
    };
    app.server.on('request', arrived);
  });
}

/** Sends requests, and resolves when all have been counted for their tenant. The answers come later. */
async function counted<T>(of: World, speaker: Speaker, count: number, ask: () => T): Promise<T[]> {
  // A path that does not exist takes no turn. Its key is looked up.
  await speaker.get('/v1/none');
  const arrived = arrivals(of.app, count);
  const answers = Array.from({ length: count }, ask);
  await arrived;
  return answers;
}

/** A request that its client can end at any time, also before its body is sent. */
function begun(of: World, { key }: Speaker, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const request = http.request(`${of.origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    agent: false,
  });
  const status = new Promise<number | undefined>((resolve) => {
    request.on('response', (response) => resolve(response.resume().statusCode));
    request.on('error', () => resolve(undefined));
  });
  return { request, status };
}

describe('a tenant with more requests than it may have in flight', () => {
  const given = givenIn(world);
  let [greedy, honest]: Speaker[] = [];
  let payee: PayeeFixture;
  beforeAll(async () => {
    greedy = await given.directUser(1);
    honest = await given.directUser(1);
    payee = await PayeeFixture.open(world);
    for (const speaker of [greedy, honest]) await speaker.get('/v1/deposits');
  });

  it('is refused at once, while other tenants, the probes and the payment page are served', async () => {
    const checkout = await payee.checkoutFixture();
    const held = holding(world, /^page:deposit/);
    const waiting = await counted(world, greedy!, 4, () => greedy!.get('/v1/deposits'));
    try {
      await eventually(
        async () => held.count,
        (count) => count === 2,
      );
      const refused = await greedy!.get('/v1/accounts');
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.body).toEqual({
        object: 'error',
        http_status_code: 503,
        errors: [
          {
            code: 'service_unavailable',
            message: 'The service is busy or restarting. Retry after the time in Retry-After.',
            metadata: { reason: 'queue_requests' },
          },
        ],
      });
      const graph = await greedy!.graph('{ viewer { id } }');
      expect([graph.status, graph.headers.get('retry-after'), graph.codes]).toEqual([
        503,
        '1',
        ['service_unavailable'],
      ]);
      expect(graph.body.errors[0].extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', httpStatus: 503 });
      expect(graph.body.errors[0].extensions.error.metadata).toEqual({ reason: 'queue_requests' });
      // It never got a turn: both turns are still the same.
      expect(held.count).toBe(2);
      expect((await honest!.get('/v1/accounts')).status).toBe(200);
      expect((await honest!.graph('{ accounts { nodes { id } } }')).body.errors).toBeUndefined();
      for (const path of ['/healthz', '/readyz', checkout.path])
        expect([path, (await fetch(`${world.origin}${path}`)).status]).toEqual([path, 200]);
      expect((await fetch(`${checkout.url}/state`)).status).toBe(200);
      expect((await fetch(`${world.origin}/v1/accounts`, { headers: { authorization: 'Bearer no' } })).status).toBe(
        401,
      );
    } finally {
      held.free();
    }
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await greedy!.get('/v1/accounts')).status).toBe(200);
  });

  it('is refused with the same answer on a connection that has sent its key before and on a new one', async () => {
    const held = holding(world, /^page:deposit/);
    const waiting = await counted(world, greedy!, 4, () => greedy!.get('/v1/deposits'));
    const agents = { known: new http.Agent({ keepAlive: true, maxSockets: 1 }), fresh: undefined };
    const ask = (agent: http.Agent | undefined, path: string, method = 'GET') =>
      new Promise<{ status: number | undefined; headers: object; text: string }>((resolve, reject) => {
        const headers = { authorization: `Bearer ${greedy!.key}`, connection: 'keep-alive' };
        const request = http.request(`${world.origin}${path}`, { method, headers, agent: agent ?? new http.Agent() });
        request.on('error', reject).on('response', (response) => {
          let text = '';
          const { date: _, 'request-id': id = '', 'keep-alive': __, ...kept } = response.headers;
          response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode, headers: kept, text: text.replaceAll(String(id), 'ID') }),
          );
        });
        request.end();
      });
    try {
      const requests: [string, string][] = [
        ['/v1/accounts', 'GET'],
        ['/v1/accounts', 'POST'],
        ['/v1/accounts', 'HEAD'],
        ['/graphql', 'POST'],
      ];
      for (const [path, method] of requests) {
        await ask(agents.known, path, method);
        const [known, fresh] = [await ask(agents.known, path, method), await ask(agents.fresh, path, method)];
        expect(known).toEqual(fresh);
        expect(known).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      }
    } finally {
      held.free();
      agents.known.destroy();
    }
    await Promise.all(waiting);
  });

  it('has a share of its own in each mode', async () => {
    const { test, live } = await given.directUserBoth(1);
    for (const speaker of [test, live]) await speaker.get('/v1/accounts');
    const held = holding(world, /^page:deposit/);
    const waiting = await counted(world, test, 4, () => test.get('/v1/deposits'));
    try {
      expect((await test.get('/v1/accounts')).status).toBe(503);
      expect((await live.get('/v1/accounts')).status).toBe(200);
    } finally {
      held.free();
    }
    await Promise.all(waiting);
  });

  it('is refused before anything is read for it, such as the account that it acts for', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const held = holding(world, /^page:deposit/);
    const waiting = await counted(world, platform, 4, () => platform.get('/v1/deposits'));
    const looks = holding(world, /^acting_for/);
    looks.free();
    try {
      expect((await platform.actingFor(user.id).get('/v1/accounts')).status).toBe(503);
      expect(looks.count).toBe(0);
    } finally {
      held.free();
    }
    await Promise.all(waiting);
  });
});

describe('bodies that are slow to come', () => {
  const given = givenIn(world);
  const slow = (headers: Record<string, string>) => ({ 'content-length': '100', ...headers });

  /** Begins requests whose bodies do not come, and resolves when all have been admitted or refused. */
  async function slowly(count: number, speaker: Speaker, path: string, type: string) {
    const arrived = arrivals(world.app, count);
    const sent = Array.from({ length: count }, () => {
      const one = begun(world, speaker, path, slow({ 'content-type': type }), 'POST');
      one.request.write('{');
      return one;
    });
    await arrived;
    return sent;
  }

  it('of an account keep neither its tenant nor the other accounts of that out', async () => {
    const platform = await given.platform(1);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    for (const speaker of [platform, user, other]) await speaker.get('/v1/none');
    const sent = await slowly(12, user, '/v1/accounts', 'application/json');
    try {
      for (let i = 0; i < 5; i++) {
        expect((await platform.get('/v1/accounts')).status).toBe(200);
        for (const speaker of [platform, other]) expect((await speaker.post('/v1/accounts', {})).status).toBe(400);
      }
      // Reading needs no body, so the account itself may read.
      expect((await user.get('/v1/accounts')).status).toBe(200);
      // It has half of the tenant's four, and the others have been refused.
      expect((await user.post('/v1/accounts', {})).status).toBe(503);
      expect(await Promise.all(sent.slice(2).map(({ status }) => status))).toEqual(Array(10).fill(503));
      for (const { request } of sent.slice(0, 2)) request.end(`"type":"partner"}`.padEnd(99));
      expect(await Promise.all(sent.slice(0, 2).map(({ status }) => status))).toEqual([400, 400]);
    } finally {
      for (const { request } of sent) request.destroy();
    }
    expect((await user.post('/v1/accounts', {})).status).toBe(400);
  });

  it('of a payment link keep nobody from the pages of the other links', async () => {
    const payee = await PayeeFixture.open(world);
    const [one, two] = [await payee.checkoutFixture(), await payee.checkoutFixture()];
    const form = 'application/x-www-form-urlencoded';
    // As many as a tenant has visits of pages.
    const sent = await slowly(200, payee.user, `${one.path}/upi`, form);
    try {
      for (const { url } of [one, two]) expect((await fetch(url)).status).toBe(200);
      expect((await fetch(`${one.url}/state`)).status).toBe(200);
      const pay = (url: string) => fetch(`${url}/upi`, { method: 'POST', body: new URLSearchParams({ none: '1' }) });
      expect((await pay(two.url)).status).not.toBe(503);
      expect((await pay(one.url)).status).toBe(503);
      const refused = await Promise.all(sent.slice(100).map(({ status }) => status));
      expect(new Set(refused)).toEqual(new Set([503]));
    } finally {
      for (const { request } of sent) request.destroy();
    }
  });
});

describe('a key that was not valid before', () => {
  const given = givenIn(world);

  it('is looked up with few others, and waits where many are, while a valid one is looked up at once', async () => {
    const { test: user } = await given.directUserBoth(1);
    expect((await user.get('/v1/accounts')).status).toBe(200);
    const invented = Array.from({ length: 7 }, () =>
      user.using(newKey('another pepper of at least 32 characters', tenantOf(user), false).secret),
    );
    const held = holding(world, /^key_owner/);
    let answers: Promise<Reply>[] = [];
    try {
      const arrived = arrivals(world.app, invented.length);
      answers = invented.map((speaker) => speaker.get('/v1/accounts'));
      await arrived;
      expect(held.count).toBe(4);
      // The gateway asks for the valid key again, because it does so every second.
      await eventually(
        async () => {
          if (answers.length === invented.length) await new Promise((resume) => setTimeout(resume, 800));
          answers.push(user.get('/v1/accounts'));
          await new Promise((resume) => setTimeout(resume, 50));
          return held.count;
        },
        (count) => count > 4,
      );
    } finally {
      held.free();
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.slice(0, 4)).toEqual([401, 401, 401, 401]);
    // The others were looked up in turn, or had waited too long.
    for (const status of statuses.slice(4, 7)) expect([401, 503]).toContain(status);
    for (const status of statuses.slice(7)) expect(status).toBe(200);
  });
});

describe('a turn', () => {
  const given = givenIn(single);
  let [user, platform, connected]: Speaker[] = [];
  let payee: PayeeFixture;
  /** Another gateway with the same limits, whose requests end after 2 s. */
  let hasty: string;
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  beforeAll(async () => {
    user = await given.directUser(1);
    platform = await given.platform(1);
    connected = await platform.connectedUser();
    payee = await PayeeFixture.open(single);
    hasty = await single.another({ environment: { REQUEST_SECONDS: '2' } });
  });

  /** Leaves while its read is under way, or while it waits for its turn. */
  const leaving = async (waits: boolean) => {
    const held = holding(single, /^page:deposit/);
    const send = () => {
      const sent = begun(single, user!, '/v1/deposits');
      sent.request.end();
      return sent;
    };
    const [first] = await counted(single, user!, 1, send);
    const [second] = await counted(single, user!, 1, send);
    const [left, stays] = waits ? [second!, first!] : [first!, second!];
    try {
      left.request.destroy();
      expect(await left.status).toBeUndefined();
      await eventually(
        async () => held.count,
        (count) => count === (waits ? 1 : 2),
      );
    } finally {
      held.free();
    }
    expect(await stays.status).toBe(200);
    return undefined;
  };

  const status = async (reply: Promise<Reply>) => (await reply).status;
  const ways: [string, () => Promise<unknown>, unknown][] = [
    ['an answer of /v1', () => status(user!.get('/v1/accounts')), 200],
    ['an answer of /graphql', () => status(user!.graph('{ accounts { nodes { id } } }')), 200],
    ['a write', () => status(user!.post('/v1/accounts', { type: 'partner' })), 400],
    ['a missing object', () => status(user!.get('/v1/accounts/account_0')), 404],
    ['a missing path', () => status(user!.get('/v1/none')), 404],
    ['a wrong method', () => status(user!.post('/v1/balance', {})), 405],
    ['a body that is no JSON', () => status(user!.post('/v1/accounts', '{')), 400],
    ['a body that is too large', () => status(user!.post('/v1/accounts', 'x'.repeat(70_000))), 400],
    ['a document that is not valid', () => status(user!.graph('{ none }')), 400],
    ['no acceptable type', () => status(user!.graph('{ viewer { id } }', {}, { accept: 'text/css' })), 406],
    ['an upload', () => status(user!.upload('logo', png, 'logo.png')), 200],
    ['an upload that is refused', () => status(user!.upload('none', png)), 400],
    ['acting for an account', () => status(platform!.actingFor(connected!.id).get('/v1/accounts')), 200],
    ['acting for no account', () => status(platform!.actingFor('account_0').get('/v1/accounts')), 404],
    ['a client that leaves in its turn', () => leaving(false), undefined],
    ['a client that leaves while it waits', () => leaving(true), undefined],
    [
      'a client that leaves before it has sent its body',
      async () => {
        const { request, status: left } = begun(
          single,
          user!,
          '/v1/accounts',
          { 'content-length': '100', 'content-type': 'application/json' },
          'POST',
        );
        request.write('{');
        await new Promise((resume) => setTimeout(resume, 50));
        request.destroy();
        return left;
      },
      undefined,
    ],
    [
      'a client that leaves while its key is looked up',
      async () => {
        const other = await given.directUser(1);
        // More often than a tenant may have requests in flight.
        for (let i = 0; i < 3; i++) {
          const held = holding(single, /^key_owner/);
          const closed = new Promise((resolve) =>
            single.app.server.once('request', (_, response) => response.once('close', resolve)),
          );
          const { request } = begun(single, other, '/v1/accounts');
          request.end();
          await eventually(
            async () => held.count,
            (count) => count > 0,
          );
          request.destroy();
          await closed;
          held.free();
          // Its key is found again only after a while.
          await new Promise((resume) => setTimeout(resume, 800));
        }
        return (await other.get('/v1/accounts')).status;
      },
      200,
    ],
    [
      'an upload that is cut',
      async () => {
        const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '1000' };
        const { request, status: left } = begun(single, user!, '/v1/files', headers, 'POST');
        request.write('--b\r\n');
        await new Promise((resume) => setTimeout(resume, 50));
        request.destroy();
        return left;
      },
      undefined,
    ],
    [
      'the end of the time of a request',
      async () => {
        const free = await locked(single, 'deposit');
        try {
          return await status(user!.at(hasty).get('/v1/deposits'));
        } finally {
          await free();
        }
      },
      503,
    ],
  ];

  // With one more than a tenant may have in flight, nothing that was kept remains hidden.
  it.each(ways)('is given back once after %s', async (_, way, expected) => {
    for (let i = 0; i < 3; i++) expect(await way()).toBe(expected);
    for (const speaker of [user!, platform!, user!.at(hasty), platform!.at(hasty)])
      await eventually(
        async () => Promise.all([speaker.get('/v1/accounts'), speaker.get('/v1/accounts')]),
        (replies) => replies.every((reply) => reply.status === 200),
      );
  });

  it('is not kept by a body that is slow to come', async () => {
    const slow = begun(
      single,
      user!,
      '/v1/accounts',
      { 'content-length': '2', 'content-type': 'application/json' },
      'POST',
    );
    slow.request.write('{');
    await new Promise((resume) => setTimeout(resume, 50));
    expect((await user!.get('/v1/accounts')).status).toBe(200);
    slow.request.end('}');
    expect(await slow.status).toBe(400);
  });

  it('is not kept by the stream of a payment page', async () => {
    const checkout = await payee.checkoutFixture();
    const streams = await Promise.all(
      Array.from({ length: 15 }, async () => {
        const request = http.get(`${checkout.url}/events`, { agent: false });
        await new Promise((resolve) => request.on('response', (response) => resolve(response.resume())));
        return request;
      }),
    );
    expect((await fetch(checkout.url)).status).toBe(200);
    for (const request of streams) request.destroy();
  });

  it('is not kept by payers who wait for the UPI address of an account, which is asked for once', async () => {
    const other = await PayeeFixture.open(single);
    const { path, id } = await other.liveCheckoutFixture();
    let asked = 0;
    let answer: (vpa: string) => void = () => {};
    const answered = new Promise<string>((resolve) => (answer = resolve));
    const live: Acquirer = {
      ...delivered.test,
      vpaOf: () => {
        asked++;
        return answered;
      },
    };
    const origin = await single.another({ acquirers: { ...delivered, live } });
    const arrived = arrivals(single.apps.at(-1)!, 12);
    const forms = Array.from({ length: 12 }, () =>
      submit(`${origin}${path}/upi`, { attempt: `${randomUUID()}-upi` }).then((reply) => reply.status),
    );
    await arrived;
    try {
      // All pages together have eight turns.
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
    } finally {
      answer('payee@acquirer');
    }
    expect([asked, new Set(await Promise.all(forms))]).toEqual([1, new Set([303])]);
    const [to] = await single.sql`select a.vpa, a.version from address a join checkout c
      on c.tenant_id = a.tenant_id and c.livemode = a.livemode and c.to_address_id = a.id where c.id = ${id}`;
    expect(to).toMatchObject({ vpa: { id: 'payee@acquirer' }, version: '1' });
    await single.endLast();
  });

  it.each(['cardOf', 'submit'] as const)(
    'is not kept by payers while the acquirer has still to answer: %s',
    async (call) => {
      const other = await PayeeFixture.open(single);
      const partnerId = await other.goLive();
      let answer: () => void = () => {};
      const answered = new Promise<void>((resolve) => (answer = resolve));
      const when = (name: string) => (name === call ? answered : undefined);
      const card = { brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2034 };
      const live: Acquirer = {
        ...delivered.test,
        cardFields: { url: 'https://fields.example', cardOf: async () => (await when('cardOf'), card) },
        submit: async ({ amount, currency }) => (await when('submit'), { status: 'succeeded', amount, currency }),
      };
      const origin = await single.another({ acquirers: { ...delivered, live } });
      const speaker = other.live.at(origin);
      const checkouts: CheckoutFixture[] = [];
      for (let i = 0; i < 9; i++) checkouts.push(await other.checkoutFixture({ speaker, partnerId }));
      const arrived = arrivals(single.apps.at(-1)!, 9);
      const forms = checkouts.map(({ path }) =>
        submit(`${origin}${path}/card`, { attempt: `${randomUUID()}-card`, token: 'tok_00000000' }),
      );
      await arrived;
      try {
        expect((await fetch(`${origin}${checkouts[0]!.path}`)).status).toBe(200);
      } finally {
        answer();
      }
      expect(new Set((await Promise.all(forms)).map(({ status }) => status))).toEqual(new Set([303]));
      // What the acquirer has taken is recorded: a worker credits it.
      const [taken] = await single.sql`select count(*)::int from job where tenant_id = ${other.tenantId}
        and kind = 'settle_transaction' and args ->> 'status' = 'succeeded'`;
      expect(taken!.count).toBe(9);
      await single.endLast();
    },
  );
});
