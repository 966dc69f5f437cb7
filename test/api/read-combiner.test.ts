import fc from 'fast-check';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RawRows, type Read, ReadCombiner, type Runs } from '../../src/db/read/read-combiner.js';
import { openClient } from '../../src/db/connect/driver/connection.js';
import { busy } from '../../src/db/connect/deadline.js';
import { clientLeft, RequestBudget } from '../../src/limits/budget.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

/** What a combiner has sent to PostgreSQL. */
interface Sent {
  alone: Read[];
  /** The number of reads of each combined statement, and its tenant. */
  together: number[];
  tenants: (string | undefined)[];
}

let sql: postgres.Sql;
beforeAll(() => {
  sql = openClient({ ...inject('admin'), database: 'postgres', max: 2, fetch_types: false, onnotice: () => {} });
});
afterAll(() => sql?.end({ timeout: 1 }));

/** A combiner over two connections to a real PostgreSQL. */
function combinerOf({ onRun, ...changes }: Partial<Runs> & { onRun?: (by: 1 | -1) => void } = {}) {
  const sent: Sent = { alone: [], together: [], tenants: [] };
  const run = async (text: string, values: readonly unknown[]) => {
    onRun?.(1);
    try {
      return await (sql.unsafe(text, values as never[], { prepare: true }).values() as unknown as Promise<RawRows>);
    } finally {
      onRun?.(-1);
    }
  };
  const combiner = new ReadCombiner({
    alone: (read) => {
      sent.alone.push(read);
      return run(read.text, read.values);
    },
    together: (text, values) => {
      sent.together.push(values[0]!.split(',').length);
      sent.tenants.push(values.at(-1));
      return run(text, values);
    },
    mayPrepare: () => true,
    ...changes,
  });
  return { combiner, sent };
}

/** A read of a tenant: its statement names the tenant, as its last parameter. */
const readOf = (text: string, values: unknown[], more: Partial<Read> = {}): Read => ({
  text: `select x.* from (${text}) x where $${values.length + 1}::text is not null`,
  values: [...values, more.tenant ?? 'a'],
  prepare: true,
  budget: new RequestBudget(),
  tenant: 'a',
  ...more,
});

/** Reads twice, so that the combiner knows the types of the parameters. */
async function learn(combiner: ReadCombiner, read: Read): Promise<void> {
  await combiner.read(read);
  await new Promise((resume) => setImmediate(resume));
  await combiner.read(read);
}

const double = 'select $1::int4 * 2 as doubled, $2::text as note';

describe('reads of one statement text and one tenant', () => {
  it('run alone when no other comes in their turn of the event loop', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(double, [0, 'first']));
    for (const n of [1, 2]) expect((await combiner.read(readOf(double, [n, 'x']))).rows).toEqual([[n * 2, 'x']]);
    expect([sent.alone.length, sent.together]).toEqual([4, []]);
  });

  it('go to PostgreSQL at the end of their turn, with all that came in it', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(double, [0, 'first']));
    const read = (n: number) => combiner.read(readOf(double, [n, 'x']));
    const first = read(1);
    await Promise.resolve();
    const second = read(2);
    const before = [sent.alone.length, [...sent.together]];
    await new Promise((resume) => setImmediate(resume));
    const third = read(3);
    expect(await Promise.all([first, second, third].map(async (answer) => (await answer).rows))).toEqual([
      ...[[[2, 'x']], [[4, 'x']], [[6, 'x']]],
    ]);
    // The two at the start were alone, and so is the third, which came in the next turn.
    expect([before, sent.alone.length, sent.together]).toEqual([[2, []], 3, [2]]);
  });

  it('go to PostgreSQL apart from those of another tenant', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(double, [0, 'first']));
    const asked = [1, 2, 3].flatMap((n) => ['a', 'b'].map((tenant) => ({ n, tenant })));
    const answers = await Promise.all(
      asked.map(({ n, tenant }) => combiner.read(readOf(double, [n, `of ${tenant}`], { tenant }))),
    );
    expect(answers.map(({ rows }) => rows)).toEqual(asked.map(({ n, tenant }) => [[n * 2, `of ${tenant}`]]));
    expect([sent.alone.length, sent.together, sent.tenants]).toEqual([2, [3, 3], ['a', 'b']]);
    // Those with the same values are one read only within a tenant.
    const same = ['a', 'b', 'a'].map((tenant) => combiner.read(readOf(double, [1, 'x'], { tenant })));
    await Promise.all(same);
    expect([sent.alone.length, sent.together]).toEqual([4, [3, 3]]);
  });

  it('run alone when a parameter has the value of the tenant by chance', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(double, [0, 'first']));
    const notes = ['a', 'x', 'a', 'y'];
    const answers = await Promise.all(notes.map((note, n) => combiner.read(readOf(double, [n, note]))));
    expect(answers.map(({ rows }) => rows)).toEqual(notes.map((note, n) => [[n * 2, note]]));
    expect([sent.alone.length, sent.together]).toEqual([4, [2]]);
  });

  it('go together, 32 at most, in their order, and two statements at once', async () => {
    let [running, most] = [0, 0];
    const { combiner, sent } = combinerOf({
      onRun: (by) => {
        running += by;
        most = Math.max(most, running);
      },
    });
    await learn(combiner, readOf(double, [0, 'first']));
    const answers = await Promise.all(
      Array.from({ length: 72 }, (_, n) => combiner.read(readOf(double, [n, `n${n}`]))),
    );
    expect(answers.map(({ rows }) => rows)).toEqual(Array.from({ length: 72 }, (_, n) => [[n * 2, `n${n}`]]));
    expect(answers.every(({ columns }) => columns.join() === 'doubled,note')).toBe(true);
    expect([sent.alone.length, sent.together, most]).toEqual([2, [32, 32, 8], 2]);
  });

  it('are planned five times at most on a connection, also when they are few', async () => {
    const { combiner, sent } = combinerOf();
    const text = 'select proname from pg_proc where oid = $1::int4::oid';
    await learn(combiner, readOf(text, [1]));
    for (let round = 0; round < 40; round++)
      await Promise.all([1242, 1243, 1244, 1245].map((oid) => combiner.read(readOf(text, [oid]))));
    expect(sent.together.length).toBeGreaterThan(30);
    const kept = () => sql<{ plans: number; reused: number }[]>`
      select custom_plans::int as plans, generic_plans::int as reused from pg_prepared_statements
      where statement like '%unnest%pg_proc%'`;
    const found = (await Promise.all(Array.from({ length: 8 }, kept))).flat();
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ plans }) => plans > 5)).toEqual([]);
    expect(found.some(({ reused }) => reused > 5)).toBe(true);
  });

  it('keep texts, nulls, truth values and large numbers as they are', async () => {
    const { combiner, sent } = combinerOf();
    const text = 'select $1::text as a, $2::bool as b, $3::int8 as c, $4::int4 as d';
    await learn(combiner, readOf(text, ['', true, '0', 0]));
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.option(fc.string({ unit: 'binary' }).map((s) => s.replaceAll('\0', ''))),
            fc.option(fc.boolean()),
            fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
            fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
          ),
          { minLength: 4, maxLength: 12 },
        ),
        async (members) => {
          const answers = await Promise.all(members.map((values) => combiner.read(readOf(text, values))));
          expect(answers.map(({ rows }) => rows)).toEqual(
            members.map(([a, b, c, d]) => [[a, b, c === null ? null : String(c), d]]),
          );
        },
      ),
      { numRuns: 100 },
    );
    expect(sent.together.length).toBeGreaterThanOrEqual(100);
  });

  it('keep all their rows, in their order, and no rows where there are none', async () => {
    const { combiner, sent } = combinerOf();
    const text = 'select n from generate_series(1, $1::int4) n order by n desc limit 11';
    await learn(combiner, readOf(text, [1]));
    const sizes = [3, 0, 20, 1, 5, -1, 11];
    const answers = await Promise.all(sizes.map((size) => combiner.read(readOf(text, [size]))));
    const expected = sizes.map((size) => Array.from({ length: Math.max(Math.min(size, 11), 0) }, (_, i) => [size - i]));
    expect(answers.map(({ rows }) => rows)).toEqual(expected);
    expect(sent.together).toEqual([7]);
  });

  it('get their own results when the combined statement fails because of one of them', async () => {
    const { combiner, sent } = combinerOf();
    const text = 'select 10 / $1::int4 as quotient';
    await learn(combiner, readOf(text, [1]));
    const answers = await Promise.allSettled([1, 2, 5, 0, 10].map((n) => combiner.read(readOf(text, [n]))));
    expect(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.rows[0]![0] : answer.reason.code)),
    ).toEqual([10, 5, 2, '22012', 1]);
    expect(sent.together).toEqual([5]);
    // The two at the start, and the five of the statement that failed.
    expect(sent.alone.length).toBe(7);
  });

  it('all fail when PostgreSQL is unavailable, without a statement for each', async () => {
    const { combiner, sent } = combinerOf({ together: () => Promise.reject(busy()) });
    await learn(combiner, readOf(double, [0, '']));
    const answers = await Promise.allSettled([1, 2, 3, 4].map((n) => combiner.read(readOf(double, [n, '']))));
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(sent.alone.length).toBe(2);
  });

  it('are not sent when their request ends while they wait', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(double, [0, '']));
    const budgets = [1, 2, 3, 4, 5].map(() => new RequestBudget());
    const answers = budgets.map((budget, n) => combiner.read(readOf(double, [n, ''], { budget })));
    budgets[3]!.end(clientLeft());
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    ]);
    expect((settled[3] as PromiseRejectedResult).reason).toBe(budgets[3]!.ended);
    expect(sent.together).toEqual([4]);
  });

  it.each<[string, string, (n: number) => unknown[], Partial<Read>, Partial<Runs>]>([
    ['have no parameters but the tenant', 'select 1 as one', () => [], {}, {}],
    ['have a list among their parameters', 'select $1::text[] as list', (n) => [`{a,${n}}`], {}, {}],
    ['are not prepared', double, (n) => [n, ''], { prepare: false }, {}],
    ['belong to no request', double, (n) => [n, ''], { budget: undefined }, {}],
    ['return a long text', `select repeat($1::text, 70000) as long`, (n) => [String(n)], {}, {}],
    ['need a statement more than PostgreSQL may keep', double, (n) => [n, ''], {}, { mayPrepare: () => false }],
    ['are of no tenant', double, (n) => [n, ''], { tenant: undefined }, {}],
  ])('are not combined when they %s', async (_, text, valuesOf, more, changes) => {
    const { combiner, sent } = combinerOf(changes);
    await learn(combiner, readOf(text, [...valuesOf(0)], more));
    const reads = [1, 2, 3, 4, 5].map((n) => readOf(text, [...valuesOf(n)], more));
    const answers = await Promise.all(reads.map((read) => combiner.read(read)));
    const { combiner: other } = combinerOf();
    for (const [i, { rows }] of answers.entries())
      expect([...rows]).toEqual([...(await other.read({ ...reads[i]!, budget: undefined })).rows]);
    expect([sent.alone.length, sent.together]).toEqual([7, []]);
  });
});

describe('reads of one statement text with the same values', () => {
  const place = 'select $1::int4 * 2 as doubled, $2::text as note, pg_current_xact_id()::text as at';
  const ats = (answers: { rows: unknown[][] }[]) => answers.map(({ rows }) => rows[0]![2]);

  it('are one read when they wait in one turn, alone or in a combined statement', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(place, [0, 'first']));
    const four = await Promise.all(Array.from({ length: 4 }, () => combiner.read(readOf(place, [1, 'x']))));
    expect(four.map(({ rows }) => rows[0]!.slice(0, 2))).toEqual(Array(4).fill([2, 'x']));
    expect(new Set(ats(four)).size).toBe(1);
    expect([sent.alone.length, sent.together]).toEqual([3, []]);

    const asked = [1, 2, 1, 3, 2, 1];
    const mixed = await Promise.all(asked.map((n) => combiner.read(readOf(place, [n, 'x']))));
    expect(mixed.map(({ rows }) => rows[0]![0])).toEqual(asked.map((n) => n * 2));
    expect([sent.alone.length, sent.together]).toEqual([3, [3]]);
  });

  it('are never one read with one that PostgreSQL has already', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(place, [0, 'first']));
    const first = combiner.read(readOf(place, [1, 'x']));
    await new Promise((resume) => setImmediate(resume));
    expect(sent.alone.length).toBe(3);
    const second = combiner.read(readOf(place, [1, 'x']));
    expect(new Set(ats(await Promise.all([first, second]))).size).toBe(2);
    expect(sent.alone.length).toBe(4);
  });

  it('tell null, the empty text and texts with each other’s characters apart', async () => {
    const { combiner } = combinerOf();
    const text = 'select $1::text as a, $2::text as b, $3::text as c';
    await learn(combiner, readOf(text, ['', '', '']));
    const part = fc.constantFrom(null, '', '0', '0,', ',', '1,', '\u0001', 'N', '"', '","', '[null');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(part, part, part), { minLength: 12, maxLength: 30 }), async (lists) => {
        const answers = await Promise.all(lists.map((values) => combiner.read(readOf(text, values))));
        expect(answers.map(({ rows }) => rows)).toEqual(lists.map((values) => [values]));
      }),
      { numRuns: 100 },
    );
  });

  it('do not end with the request that asked first, and are not sent when all their requests have ended', async () => {
    const { combiner, sent } = combinerOf();
    await learn(combiner, readOf(place, [0, 'first']));
    const budgets = [1, 2, 3, 4, 5].map(() => new RequestBudget());
    const answers = budgets.map((budget, i) => combiner.read(readOf(place, [i < 3 ? 1 : 2, 'x'], { budget })));
    for (const i of [0, 3, 4]) budgets[i]!.end(clientLeft());
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status)).toEqual([
      ...['rejected', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
    ]);
    expect([sent.alone.length, sent.together]).toEqual([3, []]);
    // The end of one request does not cancel a statement for which others wait.
    expect(sent.alone[2]!.budget).toBeUndefined();
  });

  it('fail together, also after the failure of a combined statement', async () => {
    const { combiner, sent } = combinerOf();
    const text = 'select 10 / $1::int4 as quotient';
    await learn(combiner, readOf(text, [1]));
    const settled = async (asked: number[]) => {
      const answers = await Promise.allSettled(asked.map((n) => combiner.read(readOf(text, [n]))));
      return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.rows[0]![0] : answer.reason.code));
    };
    expect(await settled([0, 0, 0])).toEqual(Array(3).fill('22012'));
    expect([sent.alone.length, sent.together]).toEqual([3, []]);
    expect(await settled([0, 2, 0, 5, 2])).toEqual(['22012', 5, '22012', 2, 5]);
    expect([sent.alone.length, sent.together]).toEqual([6, [3]]);
  });
});

describe('requests at the same time', () => {
  /** What each caller asks, with the answer that it got when it asked alone. */
  let questions: { speaker: Speaker; path: string; alone: string }[];

  beforeAll(async () => {
    const speakers: Speaker[] = [];
    for (let i = 0; i < 3; i++) {
      const { speaker: platform, live } = await given.platformBoth(1);
      speakers.push(platform, live, await platform.connectedUser(), await given.directUser(2));
    }
    for (const speaker of speakers) for (let i = 0; i < 2; i++) await speaker.partner();
    const ids: string[] = [];
    for (const speaker of speakers) {
      const { body } = await speaker.get('/v1/accounts?limit=5');
      ids.push(...body.data.slice(0, 2).map(({ id }: { id: string }) => id));
    }
    questions = [];
    for (const speaker of speakers) {
      const paths = [
        ...ids.map((id) => `/v1/accounts/${id}`),
        ...Array(8).fill('/v1/accounts'),
        ...Array(8).fill('/v1/balance'),
      ];
      for (const path of paths) questions.push({ speaker, path, alone: await answerOf(speaker, path) });
    }
  });

  const answerOf = async (speaker: Speaker, path: string): Promise<string> => {
    const { status, body } = await speaker.get(path);
    return JSON.stringify([status, body], (name, value) => (name === 'request_id' ? undefined : value));
  };

  it('get what each got alone, whatever their tenant, mode and caller', async () => {
    const combined = (pattern: RegExp) =>
      [...world.database.preparedStatements].filter(
        ([name, text]) => name.startsWith('combined:') && pattern.test(text),
      ).length;
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(questions, { minLength: 60, maxLength: 120 }), async (asked) => {
        const together = await Promise.all(asked.map(({ speaker, path }) => answerOf(speaker, path)));
        expect(together).toEqual(asked.map(({ alone }) => alone));
      }),
      { numRuns: 15 },
    );
    // Reads by id of both kinds of caller, lists and balances.
    expect(combined(/"account"\."id" = member\.p\d+::text/)).toBeGreaterThanOrEqual(2);
    expect(combined(/from "account"(?!.*"id" = member)/s)).toBeGreaterThanOrEqual(1);
    expect(combined(/balance/)).toBeGreaterThanOrEqual(1);
    expect(questions.filter(({ alone }) => alone.startsWith('[404')).length).toBeGreaterThan(100);
  });
});
