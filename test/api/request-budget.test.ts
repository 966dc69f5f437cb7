import { once } from 'node:events';
import http from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { locked } from './holding.js';
import { eventually, givenIn, nickname, type Speaker, useWorld, type World } from '../support/world.js';

// A statement that waits for a lock ends by nothing but what a test is about.
const world = useWorld({ worker: false, environment: { LOCK_SECONDS: '60' } });
const hasty = useWorld({ worker: false, environment: { REQUEST_SECONDS: '1', LOCK_SECONDS: '60' } });
const modest = useWorld({ worker: false, environment: { ANSWER_BYTES_MAX: '65536' } });

/** The statements with a table's name that the gateway's connections are executing. */
const executing = async (of: World, table: string): Promise<string[]> => {
  const rows = await of.sql`select query from pg_stat_activity where datname = current_database()
    and application_name like 'tidegate%' and state = 'active' and query like ${`%${table}%`}`;
  return rows.map(({ query }) => query as string);
};

/** Sends a request whose client can disconnect. */
function sent(of: World, speaker: Speaker, path: string, body?: object) {
  const request = http.request(`${of.origin}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${speaker.key}`, 'content-type': 'application/json' },
    agent: false,
  });
  const answer = new Promise<number | undefined>((resolve) => {
    request.on('response', (response) => resolve(response.resume().statusCode));
    request.on('error', () => resolve(undefined));
  });
  request.end(body && JSON.stringify(body));
  return { answer, leave: () => request.destroy() };
}

/** The names of the statements that the gateway runs from now on. */
function statements({ database }: World): { names: string[]; stop(): void } {
  const { read, text } = database;
  const names: string[] = [];
  database.read = ((...args: Parameters<typeof read>) => {
    // The look-up of the API key is not part of a request: it is repeated every second.
    if (args[0] !== 'key_owner') names.push(args[0]);
    return read.apply(database, args);
  }) as typeof read;
  database.text = ((...args: Parameters<typeof text>) => {
    names.push(args[0]);
    return text.apply(database, args);
  }) as typeof text;
  return { names, stop: () => Object.assign(database, { read, text }) };
}

describe('a request whose client disconnects', () => {
  const given = givenIn(world);
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
    await user.partner();
    // The next request finds its key in the cache.
    await user.get('/v1/deposits');
  });

  const reads: [string, string, object | undefined][] = [
    ['GraphQL', '/graphql', { query: '{ deposits { nodes { id } } }' }],
    ['/v1', '/v1/deposits', undefined],
  ];
  it.each(reads)('causes no further reading: %s', async (_, path, body) => {
    for (let ask = 0; ask < 4; ask++) {
      const free = await locked(world, 'deposit');
      try {
        const { leave, answer } = sent(world, user, path, body);
        await eventually(
          () => executing(world, 'deposit'),
          (found) => found.length === 1,
        );
        leave();
        await eventually(
          () => executing(world, 'deposit'),
          (found) => found.length === 0,
        );
        expect(await answer).toBeUndefined();
      } finally {
        await free();
      }
    }
  });

  it('causes no further statement', async () => {
    const free = await locked(world, 'account_setting');
    const seen = statements(world);
    const query = '{ accounts { nodes { id setting { id account { id owner { id partners { nodes { id } } } } } } } }';
    try {
      const { leave, answer } = sent(world, user, '/graphql', { query });
      await eventually(
        () => executing(world, 'account_setting'),
        (found) => found.length === 1,
      );
      const before = [...seen.names];
      leave();
      await answer;
      await eventually(
        () => executing(world, 'account_setting'),
        (found) => found.length === 0,
      );
      await free();
      // Other requests are served on the same connections.
      expect((await user.graph(`${query} # once more`)).body.errors).toBeUndefined();
      const again = seen.names.splice(0);
      expect(before.length).toBeGreaterThan(0);
      // The statements of the first request, and then those of the second, whose key is cached.
      expect(again.slice(0, before.length)).toEqual(before);
      expect(again.length).toBeGreaterThan(2 * before.length);
      expect(again.slice(before.length, 2 * before.length)).toEqual(before);
    } finally {
      seen.stop();
    }
  });

  it('does not affect reads of others that wait behind its own on the same connection', async () => {
    const free = await locked(world, 'deposit');
    const others: Promise<{ status: number; body: any }>[] = [];
    const leavers = [];
    for (let i = 0; i < 12; i++) {
      leavers.push(sent(world, user, '/graphql', { query: `{ deposits(first: ${i + 1}) { nodes { id } } }` }));
      others.push(user.graph(`{ accounts(first: ${i + 1}) { nodes { id nickname owner { id } } } viewer { mode } }`));
      others.push(user.get(`/v1/accounts?limit=${(i % 10) + 1}`));
    }
    await eventually(
      () => executing(world, 'deposit'),
      (found) => found.length > 0,
    );
    for (const { leave } of leavers) leave();
    const replies = await Promise.all(others);
    await free();

    expect(replies.map(({ status, body }) => [status, body.errors])).toEqual(replies.map(() => [200, undefined]));
    for (const { body } of replies) {
      if (!Array.isArray(body.data)) expect(Object.keys(body.data)).toEqual(['accounts', 'viewer']);
    }
    const kinds = new Set(
      replies.flatMap(({ body }) =>
        (body.data?.accounts?.nodes ?? body.data ?? []).map(({ id }: any) => id.split('_')[0]),
      ),
    );
    expect([...kinds]).toEqual(['account']);
  });

  it('has completed the write that it began: a write is never cancelled', async () => {
    const name = nickname();
    const free = await locked(world, 'event');
    const { leave } = sent(world, user, '/v1/accounts', {
      type: 'partner',
      nickname: name,
      business_details: {
        legal_name: 'L',
        email: 'l@l.example',
        type: 'company',
        physical_address: { line1: '1 Wharf', city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' },
      },
    });
    await eventually(
      () => executing(world, 'create_account'),
      (found) => found.length === 1,
    );
    leave();
    // The longest time for which a cancelled read would still be there.
    await new Promise((resume) => setTimeout(resume, 500));
    expect(await executing(world, 'create_account')).toHaveLength(1);
    await free();
    await eventually(
      () => user.get(`/v1/accounts?type=partner`),
      ({ body }) => body.data.some((each: any) => each.nickname === name),
    );
  });
});

describe('a request that takes longer than REQUEST_SECONDS', () => {
  let payee: PayeeFixture;
  let user: Speaker;
  beforeAll(async () => {
    // What a test needs is created at a gateway that has time for it.
    const patient = await hasty.another({ environment: { REQUEST_SECONDS: '300' } });
    payee = await PayeeFixture.open({ ...hasty, origin: patient });
    user = payee.user.at(hasty.origin);
  });

  /** The checkout's page at the gateway that has no time. */
  const pageOf = async () => `${hasty.origin}${(await payee.checkoutFixture()).path}`;

  const slow: [string, () => [path: string, body?: object]][] = [
    ['GraphQL', () => ['/graphql', { query: '{ checkouts { nodes { id } } }' }]],
    ['/v1', () => ['/v1/checkouts']],
  ];
  it.each(slow)('ends with 503, and its statement is cancelled: %s', async (_, of) => {
    const [path, body] = of();
    const free = await locked(hasty, 'checkout');
    try {
      const began = Date.now();
      const reply = body ? await user.post(path, body) : await user.get(path);
      const took = Date.now() - began;
      expect([reply.status, reply.headers.get('retry-after'), reply.codes]).toEqual([
        503,
        '1',
        ['service_unavailable'],
      ]);
      expect(reply.text).toContain('The request took longer than 1 s and was ended.');
      expect(took).toBeGreaterThan(900);
      await eventually(
        () => executing(hasty, 'checkout'),
        (found) => found.length === 0,
      );
    } finally {
      await free();
    }
  });

  it('ends with 503, and its statement is cancelled, when the query is compiled', async () => {
    const query = '{ deposits(first: 1) { nodes { id toAccount { id } } } }';
    // The first ones are answered by resolvers, and on a busy machine one may take longer than 1 s.
    for (let answered = 0; answered < 5; ) if ((await user.graph(query)).status === 200) answered++;
    const ran = statements(hasty);
    const free = await locked(hasty, 'deposit');
    try {
      const reply = await user.graph(query);
      expect([reply.status, reply.codes]).toEqual([503, ['service_unavailable']]);
      // One statement for the whole query: a resolver would have read only the deposits.
      expect(ran.names).toHaveLength(1);
      await eventually(
        () => executing(hasty, 'deposit'),
        (found) => found.length === 0,
      );
    } finally {
      ran.stop();
      await free();
    }
  });

  it('ends with a page when a page was requested', async () => {
    const page = await pageOf();
    const free = await locked(hasty, 'checkout');
    try {
      const reply = await fetch(page);
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await reply.text()).toContain('This page could not be loaded');
    } finally {
      await free();
    }
  });

  it('does not include long-lived responses: an event stream', async () => {
    const page = await pageOf();
    const open = async () => {
      const request = http.get(`${page}/events`, { agent: false });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      return response.resume();
    };
    // On a busy machine it may take longer than 1 s until it begins.
    const stream = await eventually(open, ({ statusCode }) => statusCode === 200);
    await new Promise((resume) => setTimeout(resume, 1_500));
    expect(stream.closed).toBe(false);
    stream.destroy();
  });
});

describe('a response', () => {
  let user: Speaker;
  const metadata = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`key ${i}`, 'ä'.repeat(400)]));
  beforeAll(async () => {
    user = await givenIn(modest).directUser(1);
    for (let i = 0; i < 9; i++) await user.partner({ metadata });
  });

  it('of more than ANSWER_BYTES_MAX bytes is refused, and a smaller one is complete', async () => {
    for (let ask = 0; ask < 4; ask++) {
      const graph = await user.graph('{ accounts(first: 10, type: PARTNER) { nodes { id metadata } } }');
      expect([graph.status, graph.codes]).toEqual([400, ['answer_too_large']]);
      expect(graph.body).not.toHaveProperty('data');
      expect(graph.text).toContain('larger than 65536 bytes');
      const fewer = await user.graph('{ accounts(first: 2, type: PARTNER) { nodes { id metadata } } }');
      expect([fewer.status, fewer.body.errors, fewer.body.data.accounts.nodes.length]).toEqual([200, undefined, 2]);
      expect(fewer.body.data.accounts.nodes[0].metadata).toEqual(metadata);
    }
    const listed = await user.get('/v1/accounts?type=partner');
    expect([listed.status, listed.codes]).toEqual([400, ['answer_too_large']]);
    expect((await user.get('/v1/accounts?type=partner&limit=2')).body.data).toHaveLength(2);
  });

  it('of exactly this many bytes passes, and one with one more does not', async () => {
    const other = await givenIn(modest).directUser(1);
    const query = '{ accounts(first: 10) { nodes { nickname metadata } } }';
    const size = async () => Buffer.byteLength((await other.graph(query)).text);
    for (let i = 0; i < 7; i++) await other.partner({ metadata });
    const name = (length: number) => nickname().padEnd(length, 'x');
    // The size of a partner with this many keys and no text in them, and then text that fills the rest.
    const text = (bytes: number) => 'ä'.repeat(bytes / 2) + 'x'.repeat(bytes % 2);
    const texts = (bytes: number[]) => Object.fromEntries(bytes.map((each, i) => [`k${i}`, text(each)]));
    const before = await size();
    await other.partner({ nickname: name(50), metadata: texts([1]) });
    const [one, two] = [(await size()) - before, '"k0":"x",'.length];
    // One more partner of `one` and nine more keys, each with a character that is counted in `two`.
    const room = 65_536 - (await size()) - one - 9 * two;
    const each = Math.floor(room / 10);
    const lengths = Array.from({ length: 10 }, (_, i) => 1 + each + (i < room % 10 ? 1 : 0));
    expect(Math.max(...lengths)).toBeLessThan(1_000);
    await other.partner({ nickname: name(50), metadata: texts(lengths) });
    for (let ask = 0; ask < 4; ask++) {
      const reply = await other.graph(query);
      expect([reply.status, Buffer.byteLength(reply.text)]).toEqual([200, 65_536]);
    }
    // A name with one more character is one more byte for each account.
    const more = query.replace('nickname', 'nicknames: nickname');
    for (let ask = 0; ask < 4; ask++) expect((await other.graph(more)).codes).toEqual(['answer_too_large']);
  });

  it('with the content of a file has a separate limit', async () => {
    const content = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200_000, 'x')]);
    const { body } = await user.upload('identity_document', content, 'large.pdf');
    const reply = await user.get(`/v1/files/${body.id}/content`);
    expect([reply.status, reply.text.length]).toEqual([200, content.length]);
  });
});
