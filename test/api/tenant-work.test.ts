import pino from 'pino';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { Database } from '../../src/db/database.js';
import { DueJobs } from '../../src/jobs/due.js';
import type { Retention } from '../../src/operation/work.js';
import { Worker } from '../../src/jobs/runner.js';
import { rowsMax } from '../../src/jobs/tenant-scan.js';
import { buffersIn, explained } from '../support/explained.js';
import { eventually, givenIn, Speaker, tenantOf, useWorld, type World } from '../support/world.js';

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';

/** How to reach a world's database by other connections. */
const place = ({ sql }: World) => ({
  ...inject('admin'),
  username: 'tidegate',
  database: String(sql.options.database),
});

/** Starts a worker with connections of its own; `lines` is what it has logged. */
function started(world: World, retention?: Retention) {
  const database = new Database(place(world));
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const worker = new Worker(database, pino({ level: 'info' }, { write }), retention);
  worker.start();
  const stop = async () => {
    await worker.stop();
    await database.close();
  };
  return { lines, stop };
}

/** Puts due jobs into the queue of a tenant. Those of this kind find nothing to do, and are done at once. */
const queued = ({ sql }: World, tenant: string, count: number, due: number, kind = 'retire_address') =>
  sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
    select ${tenant}, false, 'job_' || lpad(n::text, 6, '0'), 0, ${kind}, 'none', '{}', ${due}::bigint + n % 1000
    from generate_series(1, ${count}::int) n`;

const jobsOf = async ({ sql }: World, tenant: string) =>
  (await sql<{ n: number }[]>`select count(*)::int as n from job where tenant_id = ${tenant} and error is null`)[0]!.n;

describe('a tenant with 100,000 due jobs', () => {
  const world = useWorld({ worker: false });

  it('does not keep the jobs of others waiting, whenever they became due', async () => {
    const now = Math.floor(Date.now() / 1000);
    await queued(world, 'backlog', 100_000, now - 5_000);
    await world.sql`analyze job`;
    const worker = started(world);
    try {
      const left: number[] = [];
      // Before, amid and after the jobs of the other tenant, in the order of times and in the order of tenants.
      for (const [tenant, due] of [
        ['after', now],
        ['amid', now - 4_500],
        ['before', now - 9_000],
        ['aaa', now - 4_500],
        ['zzz', now],
      ] as const) {
        await queued(world, tenant, 1, due);
        await eventually(
          () => jobsOf(world, tenant),
          (n) => n === 0,
        );
        left.push(await jobsOf(world, 'backlog'));
      }
      // Each ran while most of the others were still there, and these were not standing still.
      expect(left.length).toBe(5);
      expect(Math.min(...left)).toBeGreaterThan(50_000);
      await eventually(
        () => jobsOf(world, 'backlog'),
        (n) => n < left.at(-1)! && n < 100_000,
      );
    } finally {
      await worker.stop();
    }
  });
});

describe('the faults of a tenant', () => {
  const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
  const given = givenIn(world);
  const tenants = Array.from({ length: 500 }, (_, n) => `good${String(n).padStart(3, '0')}`);

  /** Work of every kind for some tenants. */
  async function work(all: string[]): Promise<void> {
    const { sql } = world;
    await sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data, context_id,
      on_root_list)
      select t, false, 'event_new', 1, 'account.updated', 'account', 'account_' || t, '{}', 'account_' || t, true
      from unnest(${all}::text[]) t`;
    await sql`insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
      select t, false, 'posting_new', 1, 'deposit', 'cause_new', 'payment_new' from unnest(${all}::text[]) t`;
    await sql`insert into unsealed (tenant_id, livemode, posting_id) select t, false, 'posting_new'
      from unnest(${all}::text[]) t`;
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select t, false, 'job_new', 1, 'retire_address', 'none', '{}', 1 from unnest(${all}::text[]) t`;
    await sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
      select t, false, 'account', 'key_old', 1, 'none', '{}', '{}' from unnest(${all}::text[]) t`;
  }
  const left = async (all: string[]) => {
    const { sql } = world;
    const [row] = await sql`select
      (select count(*)::int from event where tenant_id = any(${all}) and number is null) as events,
      (select count(*)::int from unsealed where tenant_id = any(${all})) as postings,
      (select count(*)::int from job where tenant_id = any(${all}) and due < 1000) as jobs,
      (select count(*)::int from idempotency where tenant_id = any(${all}) and key = 'key_old') as answers`;
    return row as Record<'events' | 'postings' | 'jobs' | 'answers', number>;
  };
  const none = { events: 0, postings: 0, jobs: 0, answers: 0 };
  const stuckWork = async (first: number, after: string | null = null) => {
    const operator = new Speaker(world, '', OPERATOR_KEY, 1);
    const { body } = await operator.post('/operator/graphql', {
      query: `query ($first: Int, $after: String) { stuckWork(first: $first, after: $after) {
        nodes { tenantId livemode work jobId jobKind error attempts since nextAttemptAt } next } }`,
      variables: { first, after },
    });
    return body.data?.stuckWork ?? body;
  };

  it('in each kind of work are reported and retried with pauses, while 500 others go on, until mended', async () => {
    const { sql } = world;
    const user = await given.directUser(1);
    const bad = tenantOf(user);
    await world.database.call('number_events', [bad, false, 500]);
    await work([bad, ...tenants]);
    // The counter is wrong, so that numbers would be given twice; a posting has a seal already; a job has no function;
    // and the deletion of old rows fails.
    const [{ last }] = await sql<[{ last: string }]>`update event_counter c set last = 0 from event_counter o
      where c.tenant_id = ${bad} and not c.livemode and o.tenant_id = c.tenant_id and not o.livemode returning o.last`;
    await sql`insert into posting_seal (tenant_id, livemode, posting_id, block)
      values (${bad}, false, 'posting_new', 1)`;
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      values (${bad}, false, 'job_bad', 1, 'no_such_kind', 'none', '{}', 1)`;
    const forget = 'delete_old_responses(text, boolean, bigint, int)';
    const [{ text }] = await sql<[{ text: string }]>`select pg_get_functiondef(${forget}::regprocedure) as text`;
    await sql.unsafe(
      text.replace(/\bbegin\b/i, `begin if p_tenant = '${bad}' then raise exception 'cannot delete'; end if;`),
    );

    const worker = started(world);
    try {
      await eventually(
        () => left(tenants),
        (rest) => Object.values(rest).every((n) => n === 0),
      );
      const faults = await eventually(
        () => sql`select work, attempts from worker_fault where tenant_id = ${bad} order by work`,
        (rows) => rows.length === 3 && rows.every(({ attempts }) => attempts >= 3),
      );
      expect(faults.map((fault) => fault.work)).toEqual(['delete_old_answers', 'number_events', 'seal_postings']);
      expect(await sql`select from worker_fault where tenant_id <> ${bad}`).toHaveLength(0);
      expect(await left([bad])).toEqual({ events: expect.any(Number), postings: 1, jobs: 0, answers: 1 });
      // A line is written once the worker knows of what the database has.
      const logged = (each: string) =>
        worker.lines.some(({ tenant, mode, work }) => tenant === bad && mode === 'test' && work === each);
      for (const each of ['delete_old_answers', 'number_events', 'seal_postings', 'run_jobs'])
        await eventually(async () => logged(each), Boolean);

      // The operator's list has the job and the work, in pages.
      const whole = await stuckWork(50);
      expect(whole.nodes.map((one: any) => [one.tenantId, one.work, one.jobId, one.error])).toEqual([
        [bad, 'DELETE_OLD_ANSWERS', null, 'cannot delete'],
        [bad, 'RUN_JOBS', 'job_bad', 'no such job: no_such_kind'],
        [bad, 'NUMBER_EVENTS', null, expect.stringContaining('event_numbers')],
        [bad, 'SEAL_POSTINGS', null, expect.stringContaining('posting_seal_pkey')],
      ]);
      for (const one of whole.nodes)
        expect(Date.parse(one.nextAttemptAt)).toBeGreaterThanOrEqual(Date.parse(one.since));
      const [one, two] = [await stuckWork(3), await stuckWork(3, (await stuckWork(3)).next)];
      expect([...one.nodes, ...two.nodes].map((each: any) => each.work)).toEqual(
        whole.nodes.map((each: any) => each.work),
      );
      expect([one.next, two.next]).toEqual([expect.any(String), null]);
      expect((await stuckWork(201)).errors[0].extensions.error.metadata.field_name).toBe('job.limit');

      // Meanwhile new jobs of the tenant are done.
      await queued(world, bad, 1, 0);
      await eventually(
        () => sql`select from job where tenant_id = ${bad} and error is null and due < 1000`,
        (rows) => rows.length === 0,
      );

      // The faults are mended: each by another way.
      await sql`update event_counter set last = ${last} where tenant_id = ${bad} and not livemode`;
      await sql`delete from unsealed where tenant_id = ${bad}`;
      await sql.unsafe(text);
      await eventually(
        () => sql`select from worker_fault`,
        (rows) => rows.length === 0,
      );
      expect(await left([bad])).toEqual(none);
      const again = () => worker.lines.filter((line) => line.msg === 'work of a tenant succeeds again').length;
      await eventually(
        async () => again(),
        (n) => n >= 3,
      );
      expect(again()).toBe(3);
      await sql`delete from job where tenant_id = ${bad}`;
      expect(await stuckWork(50)).toEqual({ nodes: [], next: null });
    } finally {
      await worker.stop();
      await sql.unsafe(text);
    }
  });

  it('delete nothing that a setting keeps, and leave work alone that this version does not know', async () => {
    const { sql } = world;
    const tenant = 'kept';
    await sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data, context_id,
      on_root_list, number)
      values (${tenant}, false, 'event_old', 1, 'account.updated', 'account', 'account_kept', '{}', 'account_kept',
      true, 1)`;
    const faults = ['delete_old_events', 'work_of_another_version', 'run_jobs'];
    // The database's clock was years ahead when they were stored.
    await sql`insert into worker_fault (tenant_id, livemode, work, error, since, attempts, next_attempt)
      select ${tenant}, false, w, 'no', 1, 1, 4000000000 from unnest(${faults}::text[]) w`;
    const left = async () =>
      (await sql<{ work: string }[]>`select work from worker_fault where tenant_id = ${tenant} order by work`).map(
        ({ work: name }) => name,
      );
    // Events are kept for ever.
    const worker = started(world, { idempotencySeconds: 90_000 });
    try {
      // The fault that this worker knows is tried again, and succeeds.
      await eventually(left, (names) => !names.includes('run_jobs'));
    } finally {
      await worker.stop();
    }
    expect(await left()).toEqual(['delete_old_events', 'work_of_another_version']);
    expect(await sql`select id from event where tenant_id = ${tenant}`).toHaveLength(1);
    expect((await stuckWork(50)).nodes.map(({ work: name }: { work: string }) => name)).toEqual(['DELETE_OLD_EVENTS']);
    await sql`delete from worker_fault where tenant_id = ${tenant}`;
  });

  it('wait longer after each attempt, up to a minute, and one worker of several makes the next one', async () => {
    const { database, sql } = world;
    const fault: [string, boolean, string] = ['slow', false, 'seal_postings'];
    const failed = async () =>
      Number((await database.call('record_worker_fault', [...fault, 'no']))[0]!.record_worker_fault);
    const claimed = async () => Number((await database.call('claim_worker_fault', fault))[0]!.claim_worker_fault);
    const pauses: number[] = [];
    for (let n = 0; n < 9; n++) pauses.push(await failed());
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(await claimed()).toBeGreaterThan(50);
    await sql`update worker_fault set next_attempt = 0`;
    const claims = await Promise.all([claimed(), claimed(), claimed()]);
    expect(claims.filter((wait) => wait === 0)).toHaveLength(1);
    await sql`delete from worker_fault`;
    // Work whose fault is gone may be tried.
    expect(await claimed()).toBe(0);
  });
});

describe('a poll of the worker, with a backlog of each of 5,000 tenants', () => {
  const world = useWorld({ worker: false });
  const count = 5_000;
  beforeAll(async () => {
    const { sql } = world;
    const tenants = sql`(select 't' || lpad(n::text, 5, '0') as t, n from generate_series(1, ${count}::int) n)`;
    // Half of the jobs are due, and each twentieth tenant has more rows than a poll reads.
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select t, m % 2 = 0, 'job_' || m, 1, 'retire_address', 'none', '{}', extract(epoch
      from now())::bigint + (m % 4 - 2) * 86400 + n
      from ${tenants} x, generate_series(1, case when n % 20 = 0 then 200 else 4 end) m`;
    await sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data, context_id,
      on_root_list, number)
      select t, false, 'event_' || m, m, 'account.updated', 'account', 'account_' || t, '{}', 'account_' || t, true,
      case when m <= 2 then m end
      from ${tenants} x, generate_series(1, case when n % 20 = 0 then 200 else 4 end) m`;
    await sql`insert into unsealed (tenant_id, livemode, posting_id)
      select t, false, 'posting_' || m from ${tenants} x, generate_series(1, case
      when n % 20 = 0 then 200 else 4 end) m`;
    await sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
      select t, false, 'account', 'key_' || m, 1 + m * 1000000, 'none', '{}', '{}'
      from ${tenants} x, generate_series(1, case when n % 20 = 0 then 200 else 4 end) m`;
    await sql`insert into worker_fault (tenant_id, livemode, work, error, since, attempts, next_attempt)
      select t, false, 'seal_postings', 'no', 1, 1, 4000000000 from ${tenants} x`;
    await sql`vacuum analyze job, event, unsealed, idempotency, worker_fault`;
  });

  it('reads a bounded number of pages, wherever it has arrived', async () => {
    const database = new Database(place(world));
    const worker = new Worker(database, pino({ level: 'silent' }), {
      idempotencySeconds: 90_000,
      eventSeconds: 90_000,
    });
    worker.start();
    const polls = [
      'kinds_of_work',
      'new_jobs',
      'due_jobs',
      'jobs',
      'events',
      'seal_postings',
      'delete_old_answers',
      'faults',
      'delete_old_events',
    ];
    const text = (poll: string) =>
      database.preparedStatements.get(poll === 'kinds_of_work' ? poll : `tenants_with_${poll}`);
    try {
      await eventually(
        async () => polls.slice(0, -1).filter((poll) => !text(poll)),
        (missing) => missing.length === 0,
      );
    } finally {
      await worker.stop();
    }
    const sql = postgres({ ...place(world), max: 1, onnotice: () => {} });
    const read: [string, number][] = [];
    try {
      for (const mode of ['force_custom_plan', 'force_generic_plan'])
        for (const poll of polls.filter(text))
          for (const tenant of ['', 't02400', 't02499', 't04990']) {
            const byDue = poll === 'new_jobs' || poll === 'due_jobs' ? [`'9007199254740991'`] : [];
            const values = [...byDue, `'${tenant}'`, 'false', ...(poll === 'faults' ? [`''`] : []), rowsMax];
            const call = poll === 'kinds_of_work' ? 'poll' : `poll (${values.join(', ')})`;
            await sql.unsafe(`set plan_cache_mode = ${mode}`);
            await sql.unsafe(`prepare poll as ${text(poll)}`);
            read.push([`${mode} ${poll} ${tenant}`, buffersIn(await explained(sql, `execute ${call}`))]);
            await sql.unsafe('deallocate poll');
          }
    } finally {
      await sql.end();
      await database.close();
    }
    expect(read.length).toBeGreaterThanOrEqual(7 * 8);
    // A row and its entry of the index for each row, and the way down the index.
    expect(read.filter(([, pages]) => pages > rowsMax + 20)).toEqual([]);
  });

  it('finds each tenant with due jobs after a number of polls that does not depend on the jobs', async () => {
    const due = new DueJobs(world.database);
    const found = new Set<string>();
    // The worker of the test before has done some of them.
    const { length: wanted } = await world.sql`
      select from job where due <= extract(epoch from now()) group by tenant_id, livemode`;
    expect(wanted).toBeGreaterThan(count);
    let polls = 0;
    for (; found.size < wanted && polls < 600; polls++)
      for (const each of (await due.poll()).runs) found.add(`${each.tenantId} ${each.livemode}`);
    expect(found.size).toBe(wanted);
    expect(polls).toBeLessThan(600);
  });
});
