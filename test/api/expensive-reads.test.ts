import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { classOfCount, hasFigures, presentRead, classOfParts, tooSlow } from '../../src/db/read/read-class.js';
import { sentenceOfGraph } from '../../src/errors/problems.js';
import { depositListing } from '../../src/resources/deposit/listing.js';
import { pageRequest } from '../../src/types/page-request.js';
import { pdf } from '../support/bodies.js';
import { locked } from './holding.js';
import {
  eventually,
  givenIn,
  type Reply,
  type Speaker,
  statementsWaiting,
  useWorld,
  type World,
} from '../support/world.js';

const world = useWorld({
  worker: false,
  environment: { REQUEST_SLOTS: '1', LOCK_SECONDS: '60' },
});
const hasty = useWorld({ worker: false, environment: { SLOW_SECONDS: '1' } });

/** The pools whose connections are executing a statement that waits for a table. */
const executing = async ({ sql }: World, table: string): Promise<string[]> => {
  const rows = await sql`select application_name as name from pg_stat_activity join pg_locks using (pid)
    where datname = current_database() and not granted and relation = ${table}::regclass`;
  return rows.map(({ name }) => String(name).replace('tidegate ', ''));
};

/** Waits until so many expensive reads run or wait for their turn. */
const visitors = (count: number) =>
  eventually(
    () => Promise.resolve(world.database.load.slow),
    (found) => found === count,
  );

describe('an expensive read', () => {
  const given = givenIn(world);
  let user: Speaker;
  let fileId: string;
  beforeAll(async () => {
    user = await given.directUser(1);
    fileId = (await user.upload('invoice', pdf)).body.id;
  });

  const edge = (filter: string) => `{ viewer { account { depositsIn${filter} { nodes { id } } } } }`;
  const span = 'from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", interval: DAY';
  const reads: [string, () => Promise<Reply>, 'read' | 'slow', string][] = [
    ['a first page', () => user.get('/v1/deposits'), 'read', 'deposit'],
    ['a page of an account', () => user.get(`/v1/deposits?account_id=${user.id}`), 'read', 'deposit'],
    ['a page of a range of time', () => user.get('/v1/deposits?created.gte=1767225600'), 'read', 'deposit'],
    ['an object by its id', () => user.get('/v1/deposits/deposit_0'), 'read', 'deposit'],
    ['a balance', () => user.get('/v1/balance'), 'read', 'balance'],
    ['a file', () => user.get(`/v1/files/${fileId}`), 'read', 'file'],
    ['the content of a file', () => user.get(`/v1/files/${fileId}/content`), 'slow', 'file_content'],
    ['a page by currency', () => user.get('/v1/deposits?currency=AED'), 'slow', 'deposit'],
    [
      'a page by account and status',
      () => user.get(`/v1/deposits?account_id=${user.id}&status=failed`),
      'slow',
      'deposit',
    ],
    ['events by time', () => user.get('/v1/events?created.gte=1767225600'), 'slow', 'event'],
    ['events by type', () => user.get('/v1/events?type=deposit.completed'), 'slow', 'event'],
    ['the first events', () => user.get('/v1/events'), 'read', 'event'],
    ['an edge', () => user.graph(edge('')), 'read', 'deposit'],
    ['an edge with a filter', () => user.graph(edge('(currency: ["AED"])')), 'slow', 'deposit'],
    [
      'a balance of the past',
      () => user.graph('{ viewer { account { balance(asOf: "2026-01-01T00:00:00Z") { pending { amount } } } } }'),
      'slow',
      'entry',
    ],
    [
      'a history of balances',
      () => user.graph(`{ viewer { account { balanceHistory(${span}) { start } } } }`),
      'slow',
      'entry',
    ],
    [
      'totals of deposits',
      () => user.graph(`{ viewer { account { depositTotals(${span}) { start } } } }`),
      'slow',
      'deposit',
    ],
  ];
  it.each(reads)('has its connections by its statement: %s', async (_, ask, pool, table) => {
    // A compiled query is asked for at the second request.
    for (let i = 0; i < 3; i++) {
      const free = await locked(world, table);
      const answer = ask();
      try {
        const found = await eventually(
          () => executing(world, table),
          (names) => names.length > 0,
        );
        expect(found).toEqual([pool]);
      } finally {
        await free();
      }
      const { status, body } = await answer;
      expect([200, 404]).toContain(status);
      expect(body?.data === undefined || body.errors === undefined).toBe(true);
    }
  });

  it('that is slow is asked for at most twice at a time by a tenant, and waits for no other tenant', async () => {
    const other = await given.directUser(1);
    const free = await locked(world, 'deposit');
    const ask = (speaker: Speaker) => speaker.get('/v1/deposits?currency=AED');
    try {
      const mine = Array.from({ length: 5 }, () => ask(user));
      const names = () => executing(world, 'deposit');
      await eventually(names, ({ length }) => length === 2);
      for (let i = 0; i < 5; i++) expect((await names()).length).toBeLessThanOrEqual(2);
      const theirs = ask(other);
      expect(await eventually(names, ({ length }) => length === 3)).toEqual(['slow', 'slow', 'slow']);
      // There is one turn for quick requests, and neither tenant keeps it.
      for (const speaker of [user, other]) expect((await speaker.get('/v1/accounts')).status).toBe(200);
      await free();
      expect((await Promise.all([...mine, theirs])).map(({ status }) => status)).toEqual([
        200, 200, 200, 200, 200, 200,
      ]);
    } finally {
      await free();
    }
  });

  it('that is slow ends when its client disconnects', async () => {
    const free = await locked(world, 'deposit');
    try {
      const requests = Array.from({ length: 4 }, () =>
        http
          .get(`${world.origin}/v1/deposits?currency=AED`, {
            headers: { authorization: `Bearer ${user.key}` },
            agent: false,
          })
          .on('error', () => {}),
      );
      await eventually(
        () => executing(world, 'deposit'),
        ({ length }) => length === 2,
      );
      for (const request of requests) request.destroy();
      await eventually(
        () => executing(world, 'deposit'),
        ({ length }) => length === 0,
        30,
      );
    } finally {
      await free();
    }
    expect((await user.get('/v1/deposits?currency=AED')).status).toBe(200);
  });

  it('that is slow is asked once for the requests that ask the same while it waits, and for no others', async () => {
    const other = await given.directUser(1);
    const free = await locked(world, 'deposit');
    const ask = (speaker: Speaker, currency: string) => speaker.get(`/v1/deposits?currency=${currency}`);
    try {
      const running = [ask(user, 'GBP'), ask(user, 'EUR')];
      await visitors(2);
      const same = Array.from({ length: 9 }, () => ask(user, 'AED'));
      // Those that run already are not shared.
      const others = [ask(user, 'USD'), ask(other, 'AED'), ask(user, 'GBP')];
      await visitors(6);
      await eventually(
        () => executing(world, 'deposit'),
        ({ length }) => length === 3,
      );
      await free();
      const answers = await Promise.all([...running, ...same, ...others]);
      expect(answers.map(({ status }) => status)).toEqual(Array(14).fill(200));
      expect(answers.every(({ body }) => body.object === 'list')).toBe(true);
      await visitors(0);
    } finally {
      await free();
    }
  });

  it('that several requests share ends when all of them have disconnected, and not before', async () => {
    const free = await locked(world, 'deposit');
    const options = { headers: { authorization: `Bearer ${user.key}` }, agent: false };
    try {
      const running = ['GBP', 'EUR'].map((currency) => user.get(`/v1/deposits?currency=${currency}`));
      await visitors(2);
      const requests = Array.from({ length: 3 }, () =>
        http.get(`${world.origin}/v1/deposits?currency=AED`, options).on('error', () => {}),
      );
      await visitors(3);
      const kept = user.get('/v1/deposits?currency=AED');
      for (const request of requests) request.destroy();
      await free();
      expect((await kept).status).toBe(200);
      await Promise.all(running);

      const freeAgain = await locked(world, 'deposit');
      try {
        const alone = Array.from({ length: 5 }, () =>
          http.get(`${world.origin}/v1/deposits?currency=AED`, options).on('error', () => {}),
        );
        await visitors(3);
        for (const request of alone) request.destroy();
        await visitors(0);
      } finally {
        await freeAgain();
      }
    } finally {
      await free();
    }
    expect((await user.get('/v1/deposits?currency=AED')).status).toBe(200);
  });
});

describe('an expensive read that takes too long', () => {
  const given = givenIn(hasty);
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
    await user.get('/v1/accounts');
  });

  const took = 'PostgreSQL took longer than 1 s for this request, and it was ended.';
  const refusals: [string, string, string | object, string, string][] = [
    [
      'a filter of /v1',
      'deposit',
      '/v1/deposits?currency=AED',
      '',
      'Narrow `created.gte`/`created.lt`, or leave out `currency`.',
    ],
    [
      'filters of /v1',
      'deposit',
      '/v1/deposits?payment_method=domestic_wire&created.gt=1767225600',
      '',
      'Narrow `created.gt`, or leave out `payment_method`.',
    ],
    ['events by time', 'event', '/v1/events?created.gt=1767225600', '', 'Leave out `created.gt`.'],
    [
      'a filter of the graph',
      'deposit',
      { query: '{ deposits(paymentMethod: [DOMESTIC_WIRE]) { nodes { id } } }' },
      'deposits',
      'Narrow `created.gte`/`created.lt`, or leave out `paymentMethod`.',
    ],
    [
      'a history',
      'entry',
      {
        query:
          '{ viewer { account { balanceHistory(from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", ' +
          'interval: DAY) { start } } } }',
      },
      'viewer',
      'Narrow `from`/`to`.',
    ],
    [
      'a balance of the past',
      'entry',
      { query: '{ viewer { account { balance(asOf: "2026-01-01T00:00:00Z") { pending { amount } } } } }' },
      'viewer',
      'Leave out `asOf`.',
    ],
  ];
  it.each(refusals)('is 503 with the parameters to change: %s', async (_, table, asked, root, advice) => {
    // The first two requests of a document are answered by resolvers, the third by a compiled statement.
    for (let i = 0; i < 3; i++) {
      const free = await locked(hasty, table);
      try {
        const reply = typeof asked === 'string' ? await user.get(asked) : await user.post('/graphql', asked);
        expect(reply.codes).toEqual(['service_unavailable']);
        const [error] = reply.body.errors;
        expect(error.message).toBe(`${took} ${advice}`);
        expect(reply.headers.get('retry-after')).toBe('1');
        if (root === '') expect(reply.status).toBe(503);
        else expect(error.extensions.httpStatus).toBe(503);
      } finally {
        await free();
      }
    }
  });
});

describe('the writes of a tenant', () => {
  const given = givenIn(hasty);

  it('that wait for a locked row leave a connection to other tenants', async () => {
    const platform = await given.platform(1);
    const other = await given.directUser(1);
    const user = await platform.connectedUser();
    const held = await hasty.sql.reserve();
    try {
      await held.unsafe(`begin; select from account where id = '${user.id}' for update`);
      const waiting = Array.from({ length: 8 }, (_, i) =>
        platform.post(`/v1/accounts/${user.id}`, { metadata: { order: String(i) } }),
      );
      await statementsWaiting(hasty, 4);
      expect(await other.partner()).toMatchObject({ object: 'account' });
      const waits = await hasty.sql`select pid from pg_stat_activity
        where datname = current_database() and application_name = 'tidegate write' and wait_event_type = 'Lock'`;
      expect(waits.length).toBeLessThanOrEqual(4);
      await held.unsafe('rollback');
      await Promise.all(waiting);
    } finally {
      await held.unsafe('rollback');
      held.release();
    }
  });
});

describe('the class of a statement', () => {
  it('is slow for a total, which names itself and the filters among what can be left out', () => {
    const readClass = classOfCount(depositListing, pageRequest(depositListing, { status: ['failed'] } as object));
    expect(readClass).toEqual({
      expensive: true,
      replicaOk: true,
      boundedBy: ['created.gte', 'created.lt'],
      avoid: ['status', 'totalCount'],
    });
    const [refused] = tooSlow(5, readClass).problems;
    const advice = 'Narrow `created.gte`/`created.lt`, or leave out `status` or `totalCount`.';
    expect(sentenceOfGraph(refused!)).toBe(
      `PostgreSQL took longer than 5 s for this request, and it was ended. ${advice}`,
    );
  });

  it('is slow where a statement computes figures', () => {
    for (const text of ['select count(*) from t', 'select a from t group by a', 'SELECT MAX (a) from t'])
      expect([text, hasFigures(text)]).toEqual([text, true]);
    for (const text of ['select "count" from t order by a limit 1', 'select a from t where summary = $1'])
      expect([text, hasFigures(text)]).toEqual([text, false]);
  });

  it('is that of the slowest part of a query', () => {
    const quick = { expensive: false, replicaOk: true, boundedBy: ['created.gte'], avoid: [] };
    const slow = { expensive: true, replicaOk: true, boundedBy: [], avoid: ['currency'] };
    expect(classOfParts([quick, quick])).toEqual({ expensive: false, replicaOk: true, boundedBy: [], avoid: [] });
    expect(classOfParts([quick, slow, slow])).toEqual({
      expensive: true,
      replicaOk: true,
      boundedBy: [],
      avoid: ['currency'],
    });
  });

  it('is of the present as soon as one part of a query is, or when it has no part', () => {
    const list = { expensive: false, replicaOk: true, boundedBy: [], avoid: [] };
    for (const parts of [[], [presentRead], [list, presentRead]]) expect(classOfParts(parts).replicaOk).toBe(false);
    expect(classOfParts([list]).replicaOk).toBe(true);
  });
});

describe('a content that is sent', () => {
  const given = givenIn(hasty);
  /** The answer to a download of which one part has come, and no other can be read until `free`. */
  async function begun() {
    const user = await given.directUser(1);
    const whole = Buffer.concat([pdf, randomBytes(4 * 1024 * 1024)]);
    const { body } = await user.upload('invoice', whole);
    const request = http
      .get(`${hasty.origin}/v1/files/${body.id}/content`, {
        headers: { authorization: `Bearer ${user.key}` },
        agent: false,
      })
      .on('error', () => {});
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    const free = await locked(hasty, 'file_content');
    return { whole, request, answer, free };
  }
  const slow = (count: number) =>
    eventually(
      () => Promise.resolve(hasty.database.load.slow),
      (found) => found === count,
    );

  it('has no further part when its client disconnects', async () => {
    const { request, answer, free } = await begun();
    try {
      answer.on('error', () => {}).resume();
      await slow(1);
      request.destroy();
      await slow(0);
    } finally {
      await free();
    }
  });

  // A refusal in the middle would cut the answer off.
  it('waits for a part that PostgreSQL does not read, and goes on', async () => {
    const { whole, answer, free } = await begun();
    const failures: unknown[] = [];
    hasty.database.observers.push({
      began:
        ({ name }) =>
        (error) =>
          error && name === 'file_content' && failures.push(error),
    });
    const parts: Buffer[] = [];
    answer.on('data', (part: Buffer) => parts.push(part));
    const end = once(answer, 'end');
    try {
      await eventually(
        () => Promise.resolve(failures.length),
        (count) => count > 0,
      );
    } finally {
      await free();
    }
    await end;
    hasty.database.observers.pop();
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });
});
