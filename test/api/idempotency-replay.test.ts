import { randomUUID } from 'node:crypto';
import net from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { config } from '../../src/config/config.js';
import { Database } from '../../src/db/database.js';
import { Secrets } from '../../src/config/secrets.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { fingerprints } from '../../src/operation/idempotency.js';
import { Operator } from '../../src/operator/operator.js';
import { operations, restOperations } from '../../src/resources/registry.js';
import { partnerBody, partnerInput, pdf } from '../support/bodies.js';
import { covering } from '../support/scale.js';
import {
  details,
  eventually,
  givenIn,
  must,
  nickname,
  payoutAddressBody,
  type Reply,
  Speaker,
  useWorld,
} from '../support/world.js';
import {
  keyed,
  keyId,
  mutate,
  partnerId,
  person,
  replayed,
  statusOf,
  userId,
  verifyingId,
} from './idempotent-subjects.js';
import { call, gatewaysIn, objectOf, transportsOf, writes } from './idempotent-writes.js';
import { holdAccount } from '../../src/operator/account/accounts.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { elsewhere, answers, eventsOf } = gatewaysIn(world);

describe('a refused write', () => {
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(1);
  });
  const refusals: Record<
    string,
    (key: string) => Promise<[refused: Reply, code: string, fixed: () => Promise<Reply>]>
  > = {
    'of a missing parameter': async (key) => [
      await platform.post('/v1/accounts', { type: 'partner', business_details: details() }, keyed(key)),
      '400 parameter_missing',
      () => platform.post('/v1/accounts', partnerBody(), keyed(key)),
    ],
    'of malformed JSON': async (key) => [
      await platform.post('/v1/accounts', '{"type": ', keyed(key)),
      '400 body_invalid',
      () => platform.post('/v1/accounts', partnerBody(), keyed(key)),
    ],
    'of a taken nickname': async (key) => {
      const { nickname: name } = await platform.partner();
      return [
        await platform.post('/v1/accounts', partnerBody({ nickname: name }), keyed(key)),
        '409 nickname_taken',
        () => platform.post('/v1/accounts', partnerBody(), keyed(key)),
      ];
    },
    'of an unknown id': async (key) => [
      await platform.post('/v1/accounts/account_0/activate', undefined, keyed(key)),
      '404 resource_missing',
      async () => platform.post(`/v1/accounts/${await partnerId(platform)}/activate`, undefined, keyed(key)),
    ],
    'of a state': async (key) => [
      await platform.post(`/v1/accounts/${await verifyingId(platform)}/activate`, undefined, keyed(key)),
      '400 status_invalid',
      async () => platform.post(`/v1/accounts/${await partnerId(platform)}/activate`, undefined, keyed(key)),
    ],
    'of a limit that only the merged result breaks': async (key) => {
      const id = await userId(platform);
      const keys = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '1']));
      return [
        await platform.post(`/v1/accounts/${id}`, { metadata: keys(11) }, keyed(key)),
        '400 parameter_invalid',
        () => platform.post(`/v1/accounts/${id}`, { metadata: keys(10) }, keyed(key)),
      ];
    },
    'of missing permission': async (key) => {
      const made = await mutate(platform, 'createApiKey', { permission: 'READ' }, 'secret');
      const body = partnerBody();
      return [
        await platform.using(made.body.data.createApiKey.secret).post('/v1/accounts', body, keyed(key)),
        '403 permission_denied',
        () => platform.post('/v1/accounts', body, keyed(key)),
      ];
    },
    'through the graph': async (key) => [
      await mutate(platform, 'createAccount', { ...partnerInput(), type: 'USER' }, 'account { id }', keyed(key)),
      '400 parameter_invalid',
      () => mutate(platform, 'createAccount', partnerInput(), 'account { id }', keyed(key)),
    ],
    'of an empty file': async (key) => [
      await platform.upload('invoice', new Uint8Array(), 'a.pdf', {}, keyed(key)),
      '400 parameter_invalid_empty',
      () => platform.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
    ],
  };
  for (const [what, run] of Object.entries(refusals))
    it(`${what} stores nothing: the same key then works for a valid request`, async () => {
      const key = randomUUID();
      const [refused, code, fix] = await run(key);
      expect([`${statusOf(refused)} ${refused.codes[0]}`, replayed(refused)]).toEqual([code, null]);
      expect(await answers(key)).toEqual([]);
      expect(await eventsOf(refused)).toEqual([]);
      const fixed = await fix();
      expect([statusOf(fixed), replayed(fixed)]).toEqual([200, null]);
      expect(await answers(key)).toHaveLength(1);
    });

  it('of unmet prerequisites is evaluated again under the same key', async () => {
    const user = await platform.connectedUser({
      businessDetails: { type: 'INDIVIDUAL', ids: { taxGst: '27ABCDE1234F1Z5' } },
    });
    const key = randomUUID();
    const activate = () => platform.post(`/v1/accounts/${user.id}/activate`, undefined, keyed(key));
    const refused = await activate();
    expect([refused.status, refused.fieldNames]).toEqual([
      400,
      ['account.addresses.user_payout', 'account.persons.owner'],
    ]);
    await must(platform.post('/v1/addresses', payoutAddressBody(user.id)));
    expect((await activate()).fieldNames).toEqual(['account.persons.owner']);
    await must(user.post('/v1/persons', { ...person, relationship: { owner: true } }));
    const done = await activate();
    expect([done.status, done.body.status, replayed(done)]).toEqual([200, 'verifying', null]);
  });
});

describe('a replay', () => {
  it('returns the object as it was then, even if it has changed', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const key = randomUUID();
    const update = () => platform.post(`/v1/accounts/${user.id}`, { metadata: { a: '1' } }, keyed(key));
    const first = await update();
    await must(platform.post(`/v1/accounts/${user.id}`, { metadata: { a: '2', b: '2' }, nickname: nickname() }));
    const again = await update();
    expect(again.text).toBe(first.text);
    expect(again.body.metadata).toEqual({ a: '1' });
    expect((await platform.get(`/v1/accounts/${user.id}`)).body.metadata).toEqual({ a: '2', b: '2' });

    const partner = await partnerId(platform);
    const activation = randomUUID();
    const activate = () => platform.post(`/v1/accounts/${partner}/activate`, undefined, keyed(activation));
    const submitted = await activate();
    await must(platform.post(`/v1/test_helpers/accounts/${partner}/verify`));
    await must(platform.post(`/v1/accounts/${partner}/deactivate`));
    const later = await activate();
    expect([later.status, later.text, later.body.status]).toEqual([200, submitted.text, 'verifying']);
    const graph = await mutate(platform, 'activateAccount', { id: partner }, 'account { status }', keyed(activation));
    expect(graph.body.data.activateAccount.account.status).toBe('VERIFYING');
    expect((await platform.get(`/v1/accounts/${partner}`)).body.status).toBe('deactivated');

    const address = await platform.post('/v1/addresses', payoutAddressBody(user.id), keyed(key + 'a'));
    await must(platform.post('/v1/addresses', payoutAddressBody(user.id)));
    const old = await platform.post('/v1/addresses', payoutAddressBody(user.id), keyed(key + 'a'));
    expect([old.text, old.body.status]).toEqual([address.text, 'activated']);
    expect((await platform.get(`/v1/addresses/${old.body.id}`)).body.status).toBe('pending_deactivation');
  });

  it('is the same for a request that names a default of the schema and one that leaves it out', async () => {
    const me = await given.directUser(1);
    const key = randomUUID();
    const create = (input: object) => mutate(me, 'createApiKey', input, 'apiKey { id permission }', keyed(key));
    const first = (await create({})).body.data.createApiKey;
    expect(first.apiKey.permission).toBe('FULL');
    const again = await create({ permission: 'FULL' });
    expect([again.body.data.createApiKey, replayed(again)]).toEqual([first, 'true']);
    const other = await create({ permission: 'READ' });
    expect(other.body.errors[0].extensions).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      error: { metadata: { field_name: 'api_key.permission' } },
    });
  });

  it('is the same for a request whose default an older gateway has stored', () => {
    const secrets = Secrets.of(world.pepper);
    const defaults = { 'api_key.permission': 'full' };
    const stored = fingerprints(secrets, 'api_key', { permission: 'full' }).request;
    expect(Object.keys(stored)).toEqual(['api_key.permission']);
    const now = (permission: string) => fingerprints(secrets, 'api_key', { permission }, defaults);
    expect(now('full').request).toEqual({});
    expect(now('full').requestLike(stored)).toEqual(stored);
    expect(now('read').requestLike(stored)).not.toEqual(stored);
  });

  it('of a new API key has no secret, and creates no second key', async () => {
    const me = await given.directUser(1);
    const key = randomUUID();
    const create = () =>
      mutate(me, 'createApiKey', { permission: 'FULL' }, 'secret apiKey { id revokedAt }', keyed(key));
    const first = (await create()).body.data.createApiKey;
    const rotation = randomUUID();
    const rotate = () => mutate(me, 'rotateApiKey', { id: first.apiKey.id }, 'secret apiKey { id }', keyed(rotation));
    const turned = (await rotate()).body.data.rotateApiKey;
    expect([first.secret, turned.secret]).toEqual([
      expect.stringMatching(/^sk_test_/),
      expect.stringMatching(/^sk_test_/),
    ]);
    await mutate(me, 'revokeApiKey', { id: first.apiKey.id }, 'apiKey { id }');
    const again = await create();
    expect([again.body.data.createApiKey, replayed(again)]).toEqual([{ secret: null, apiKey: first.apiKey }, 'true']);
    const turnedAgain = await rotate();
    expect([turnedAgain.body.data.rotateApiKey, replayed(turnedAgain)]).toEqual([
      { secret: null, apiKey: turned.apiKey },
      'true',
    ]);
    expect((await me.graph('{ apiKeys { totalCount } }')).body.data.apiKeys.totalCount).toBe(3);
  });
});

describe('the Idempotency-Key header', () => {
  let me: Speaker;
  beforeAll(async () => {
    me = await given.directUser(1);
  });

  const bad: [what: string, key: string][] = [
    ['256 characters', 'k'.repeat(256)],
    ['a tab', 'a\tb'],
    ['a letter beyond ASCII', 'cl\u00e9'],
  ];
  for (const [what, key] of bad)
    it(`is refused when it is not valid, and nothing is written: ${what}`, async () => {
      const name = nickname();
      const replies = await Promise.all([
        me.post('/v1/accounts', partnerBody({ nickname: name }), keyed(key)),
        mutate(me, 'createAccount', partnerInput({ nickname: name }), 'account { id }', keyed(key)),
        me.upload('invoice', pdf, name, {}, keyed(key)),
      ]);
      expect(replies.map((reply) => [reply.status, reply.codes, reply.fieldNames])).toEqual(
        replies.map(() => [400, ['parameter_invalid'], ['Idempotency-Key']]),
      );
      expect(await eventsOf(...replies)).toEqual([]);
    });

  it('is refused when it is empty', async () => {
    expect((await me.post('/v1/accounts', partnerBody(), keyed(''))).status).toBe(400);
  });

  it('may have up to 255 printable characters', async () => {
    for (const key of ['k'.repeat(255), '!', 'a b ~ "c"']) {
      const body = partnerBody();
      const first = await me.post('/v1/accounts', body, keyed(key));
      const again = await me.post('/v1/accounts', body, keyed(key));
      expect([first.status, replayed(first), replayed(again), again.text]).toEqual([200, null, 'true', first.text]);
    }
  });

  it('has no effect on a read, which leaves the key unused', async () => {
    const key = randomUUID();
    const list = () => me.get('/v1/accounts', keyed(key));
    const query = () => me.graph('{ viewer { edition } accounts { totalCount } }', {}, keyed(key));
    const replies = [await list(), await query(), await list(), await query()];
    expect(replies.map((reply) => [statusOf(reply), replayed(reply)])).toEqual(replies.map(() => [200, null]));
    expect((await me.get('/v1/accounts', keyed('k'.repeat(256)))).status).toBe(200);
    expect(await answers(key)).toEqual([]);
    const made = await me.post('/v1/accounts', partnerBody(), keyed(key));
    expect([made.status, replayed(made)]).toEqual([200, null]);
    // A read does not return the response that is stored under the key.
    expect([(await list()).body.object, replayed(await list())]).toEqual(['list', null]);
  });

  const two = (): [string, string] => [nickname(), nickname()];
  const field = (alias: string, name: string) =>
    `${alias}: createAccount(input: { type: PARTNER, nickname: "${name}", businessDetails: { legalName: "A", ` +
    'email: "a@b.example", type: COMPANY, physicalAddress: { country: "IN" } } }) { account { id } }';
  const documents: [what: string, document: (a: string, b: string) => string][] = [
    ['side by side', (a, b) => `mutation { ${field('a', a)} ${field('b', b)} }`],
    [
      'of two operations',
      (a) =>
        `mutation { ${field('a', a)} createPerson(input: { fullName: "A", relationship: { owner: true }, ` +
        'identification: { taxCardNumber: "1" } }) { person { id } } }',
    ],
    ['in a fragment', (a, b) => `mutation { ...both } fragment both on Mutation { ${field('a', a)} ${field('b', b)} }`],
    ['in an inline fragment', (a, b) => `mutation { ... on Mutation { ${field('a', a)} ${field('b', b)} } }`],
    [
      'the same twice, in a fragment',
      (a) => `mutation { ...both } fragment both on Mutation { ${field('a', a)} ${field('b', a)} }`,
    ],
  ];
  for (const [what, document] of documents)
    it(`cannot apply to several mutations, none of which runs: ${what}`, async () => {
      const [a, b] = two();
      const reply = await me.graph(document(a, b), {}, keyed(randomUUID()));
      expect(reply.codes.length).toBeGreaterThan(0);
      expect([statusOf(reply), [...new Set(reply.codes)]]).toEqual([400, ['idempotency_key_ambiguous']]);
      expect(await world.sql`select id from account where nickname = any(${[a, b]})`).toEqual([]);
      expect(await eventsOf(reply)).toEqual([]);
    });

  it('may apply to one mutation together with its typename, or in a fragment', async () => {
    const [a, b] = two();
    for (const document of [
      `mutation { __typename ${field('a', a)} }`,
      `mutation { ...one } fragment one on Mutation { ${field('a', b)} }`,
    ]) {
      const key = randomUUID();
      const first = await me.graph(document, {}, keyed(key));
      const again = await me.graph(document, {}, keyed(key));
      expect([first.codes, replayed(first), replayed(again)]).toEqual([[], null, 'true']);
      expect(again.body.data).toEqual(first.body.data);
    }
  });

  it('is not needed for several mutations, each of which then runs', async () => {
    const [a, b] = two();
    const reply = await me.graph(`mutation { ${field('a', a)} ${field('b', b)} }`);
    expect([reply.codes, reply.body.data.a.account.id === reply.body.data.b.account.id]).toEqual([[], false]);
    expect((await eventsOf(reply)).map(({ type }) => type)).toEqual(['account.created', 'account.created']);
  });
});

describe('concurrent requests with one key, over two gateways', () => {
  let platform: Speaker;
  let second: Speaker;
  beforeAll(async () => {
    [platform, second] = [await given.platform(1), await given.platform(2)];
  });
  const outcomeOf = (reply: Reply) => {
    const what = reply.codes[0] ?? (replayed(reply) === 'true' ? 'replayed' : 'done');
    const later = statusOf(reply) === 409 ? ` ${reply.headers.get('retry-after')}` : '';
    return `${statusOf(reply)} ${what}${later}`;
  };

  for (const name of [
    'createAccount',
    'createPerson',
    'updatePerson',
    'removePerson',
    'createAddress',
    'updateAccount',
    'activateAccount',
    'createApiKey',
    'createCheckout',
    'payTestCheckout',
  ])
    it(`have one effect; the others get its response or a 409 with Retry-After: 16 of ${name}, 3 times`, async () => {
      for (let round = 0; round < 3; round++) {
        const caller = writes[name]!.edition ? second : platform;
        const subject = await writes[name]!.subject(caller);
        const key = randomUUID();
        const transports = transportsOf(writes[name]!);
        const racers = Array.from({ length: 16 }, (_, i) => ({
          me: i % 2 ? elsewhere(caller) : caller,
          transport: transports[i % transports.length]!,
        }));
        const replies = await Promise.all(racers.map(({ me, transport }) => call(me, name, subject, transport, key)));
        const said = replies.map(outcomeOf);
        expect(said.filter((text) => text === '200 done')).toHaveLength(1);
        expect(
          said.filter((text) => !['200 done', '200 replayed', '409 idempotency_key_in_use 1'].includes(text)),
        ).toEqual([]);
        const objects = replies.flatMap((reply, i) =>
          statusOf(reply) === 200 ? [objectOf(name, racers[i]!.transport, reply)] : [],
        );
        expect(objects).toEqual(objects.map(() => objects[0]));
        expect(await answers(key)).toHaveLength(1);
        expect((await eventsOf(...replies)).map(({ type }) => type)).toEqual(writes[name]!.events);
        const after = await call(caller, name, subject, transports[0]!, key);
        expect([outcomeOf(after), objectOf(name, transports[0]!, after)]).toEqual(['200 replayed', objects[0]]);
      }
    });

  it('have one effect when their parameters differ, and the others get an error', async () => {
    for (let round = 0; round < 3; round++) {
      const key = randomUUID();
      const names = Array.from({ length: 16 }, nickname);
      const replies = await Promise.all(
        names.map((name, i) =>
          (i % 2 ? elsewhere(platform) : platform).post('/v1/accounts', partnerBody({ nickname: name }), keyed(key)),
        ),
      );
      const said = replies.map(outcomeOf);
      expect(said.filter((text) => text === '200 done')).toHaveLength(1);
      expect(
        said.filter(
          (text) => !['200 done', '400 idempotency_key_reused', '409 idempotency_key_in_use 1'].includes(text),
        ),
      ).toEqual([]);
      expect(await world.sql`select id from account where nickname = any(${names})`).toHaveLength(1);
    }
  });

  it('make one upload', async () => {
    const key = randomUUID();
    const content = new TextEncoder().encode(`%PDF-1.4\n${key}\n%%EOF\n`);
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        (i % 2 ? elsewhere(platform) : platform).upload('invoice', content, 'a.pdf', {}, keyed(key)),
      ),
    );
    const said = replies.map(outcomeOf);
    expect(said.filter((text) => text === '200 done')).toHaveLength(1);
    expect(said.filter((text) => !['200 done', '200 replayed', '409 idempotency_key_in_use 1'].includes(text))).toEqual(
      [],
    );
    const { sha256 } = replies.find(({ status }) => status === 200)!.body;
    expect(await world.sql`select id from file where sha256 = ${sha256}`).toHaveLength(1);
  });

  // The first request waits for the lock of a row, and does not commit before the other requests time out.
  it(
    'get a 409 with Retry-After while the first one runs, through both APIs; ' +
      'and if it never commits, the next one is the first',
    async () => {
      const key = randomUUID();
      const body = partnerBody();
      const v1 = (me: Speaker) => me.post('/v1/accounts', body, keyed(key));
      const graph = (me: Speaker) => mutate(me, 'createAccount', partnerInput(body), 'account { id }', keyed(key));
      const undone = new Error('undone');
      let replies: Reply[] = [];
      await world.sql
        .begin(async (tx) => {
          await tx`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
                 values (${platform.id.replace('account_', '')}, false, ${platform.id}, ${key}, 0, 'createAccount',
                 '{}', '{}')`;
          replies = await Promise.all([v1(platform), graph(elsewhere(platform))]);
          throw undone;
        })
        .catch((error) => expect(error).toBe(undone));
      expect(replies.map((reply) => [statusOf(reply), reply.codes, reply.headers.get('retry-after')])).toEqual([
        [409, ['idempotency_key_in_use'], '1'],
        [409, ['idempotency_key_in_use'], '1'],
      ]);
      const done = await v1(platform);
      const again = await graph(elsewhere(platform));
      expect([done.status, replayed(done), again.body.data.createAccount.account.id, replayed(again)]).toEqual([
        200,
        null,
        done.body.id,
        'true',
      ]);
    },
  );
});

describe('a response of the database that is lost', () => {
  /**
   * The connection to PostgreSQL of a separate gateway: once armed, it breaks after the next write has committed and
   * before the response arrives.
   */
  const wire = { armed: false, lost: 0 };
  let server: net.Server;
  let database: Database;
  let app: Awaited<ReturnType<typeof gateway>>;
  let origin: string;

  beforeAll(async () => {
    const { host, port } = inject('admin');
    const committed = Buffer.from('SELECT 1\0Z\0\0\0\x05I', 'latin1');
    server = net.createServer((client) => {
      const upstream = net.connect(`${host}/.s.PGSQL.${port}`);
      let writes = false;
      client.once('data', (startup) => {
        writes = startup.includes('tidegate write');
      });
      client.on('data', (bytes) => upstream.write(bytes));
      let tail = Buffer.alloc(0);
      upstream.on('data', (bytes) => {
        // The message that reports the commit may arrive in two parts.
        const seen = Buffer.concat([tail, bytes]);
        tail = seen.includes(committed) ? Buffer.alloc(0) : seen.subarray(-committed.length);
        if (!wire.armed || !writes || !seen.includes(committed)) return client.write(bytes);
        wire.armed = false;
        wire.lost++;
        client.destroy();
        return upstream.destroy();
      });
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('close', () => other.destroy());
        one.on('error', () => other.destroy());
      }
    });
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
    const [{ name }] = (await world.sql`select current_database() as name`) as never as [{ name: string }];
    database = new Database({
      host: '127.0.0.1',
      port: (server.address() as net.AddressInfo).port,
      username: 'tidegate',
      database: name,
    });
    app = await gateway({
      config: config({ serves: true }, { PORT: '0' }),
      database,
      schema: buildGraph(),
      pepper: world.pepper,
      log: pino({ level: 'silent' }),
    });
    origin = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await app.close();
    await database.close();
    server.close();
  });

  /** A caller at that gateway. Its key was already used there, because the record of its use is a write as well. */
  const caller = async () => {
    const me = elsewhere(await given.directUser(1), origin);
    await me.get('/v1/accounts');
    await eventually(
      () => world.sql`select last_used_at from api_key where account_id = ${me.id} and not livemode`,
      ([key]) => key?.last_used_at !== null,
    );
    return me;
  };
  const losing = async (send: () => Promise<Reply>): Promise<Reply> => {
    const before = wire.lost;
    wire.armed = true;
    const reply = await send();
    expect(wire.lost - before).toBe(1);
    return reply;
  };

  it('is recovered by another query: one effect and one response, which is no replay for the client', async () => {
    const me = await caller();
    const body = partnerBody();
    const reply = await losing(() => me.post('/v1/accounts', body));
    expect([reply.status, reply.body.nickname, replayed(reply)]).toEqual([200, body.nickname, null]);
    expect(await world.sql`select id from account where nickname = ${body.nickname}`).toEqual([{ id: reply.body.id }]);
    expect(await eventsOf(reply)).toHaveLength(1);
  });

  it("is recovered under the client's key, and the client's own retry is the first replay", async () => {
    const me = await caller();
    const body = partnerBody();
    const key = randomUUID();
    const reply = await losing(() => me.post('/v1/accounts', body, keyed(key)));
    expect([reply.status, reply.body.nickname]).toEqual([200, body.nickname]);
    const again = await me.post('/v1/accounts', body, keyed(key));
    expect([again.status, again.text, replayed(again)]).toEqual([200, reply.text, 'true']);
    expect(await world.sql`select id from account where nickname = ${body.nickname}`).toEqual([{ id: reply.body.id }]);
    expect(await eventsOf(reply, again)).toHaveLength(1);
    expect(replayed(reply)).toBe(null);
  });

  // Where not everything is tried, one write of each kind of object and each first API.
  const recovered = covering(
    Object.entries(writes),
    ([name, write]) => [(operations.get(name) ?? restOperations.get(name))!.object, transportsOf(write)[0]],
    1,
  );
  for (const [name, write] of recovered)
    it(`is recovered for every write: ${name}`, async () => {
      // A platform of the usual gateway creates the subject of the write; only the write itself uses the connection
      // that breaks.
      const platform = await given.platform(write.edition ?? 1);
      const me = elsewhere(platform, origin);
      await me.get('/v1/accounts');
      await eventually(
        () => world.sql`select last_used_at from api_key where account_id = ${me.id} and not livemode`,
        ([key]) => key?.last_used_at !== null,
      );
      const subject = await write.subject(platform);
      const transport = transportsOf(write)[0]!;
      const key = randomUUID();
      const reply = await losing(() => call(me, name, subject, transport, key));
      expect([statusOf(reply), reply.codes]).toEqual([200, []]);
      const again = await call(platform, name, subject, transport, key);
      expect([replayed(again), objectOf(name, transport, again)]).toEqual(['true', objectOf(name, transport, reply)]);
      expect((await eventsOf(reply, again)).map(({ type }) => type)).toEqual(write.events);
    });

  it('is recovered for the operator too, whose command has had its effect', async () => {
    const me = await caller();
    const operator = new Operator(database, buildGraph(), world.pepper);
    const row = await operator.account(me.id, false);
    const before = wire.lost;
    wire.armed = true;
    const held = await holdAccount(operator, row);
    expect([wire.lost - before, held.status, operator.replays]).toEqual([1, 'hold', 0]);
    // The next command is refused, because the account is already on hold.
    await expect(holdAccount(operator, row)).rejects.toMatchObject({ problems: [{ code: 'status_invalid' }] });
  });

  // The secret exists only in this response: without it, the key is lost.
  for (const name of ['createApiKey', 'rotateApiKey'])
    for (const [what, headers] of [
      ['without', () => ({})],
      ['with', () => keyed(randomUUID())],
    ] as const)
      it(`does not lose the secret of a new API key: ${name} ${what} an Idempotency-Key`, async () => {
        const me = await caller();
        const input = name === 'createApiKey' ? { permission: 'FULL' } : { id: await keyId(me) };
        const before = await world.sql`select id from api_key where account_id = ${me.id} and not livemode`;
        const reply = await losing(() => mutate(me, name, input, 'secret apiKey { id }', headers()));
        expect(reply.codes).toEqual([]);
        const { secret, apiKey } = reply.body.data[name];
        expect(secret).toMatch(/^sk_test_/);
        expect((await me.using(secret).get('/v1/accounts')).status).toBe(200);
        const after = await world.sql`select id from api_key where account_id = ${me.id} and not livemode`;
        expect(after.length - before.length).toBe(1);
        expect(after.map(({ id }) => id)).toContain(apiKey.id);
      });
});
