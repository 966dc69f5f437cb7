import pino from 'pino';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { Database } from '../../src/db/database.js';
import { PollTimer } from '../../src/jobs/poll-timer.js';
import { DueJobs } from '../../src/jobs/due.js';
import { dueAges } from '../../src/operator/health/due-ages.js';
import { stuckCounts } from '../../src/operator/health/stuck-counts.js';
import { Worker } from '../../src/jobs/runner.js';
import { kindNames as all, Watch } from '../../src/jobs/watch.js';
import { eventually, givenIn, statementsWaiting, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const log = pino({ level: 'silent' });

let tenant = '';

/** Leaves nothing to do for a worker. */
async function quiet(): Promise<void> {
  await world.sql`delete from job`;
  await world.sql`delete from event where number is null`;
  await world.sql`delete from unsealed`;
  await world.sql`delete from deposit_total_change`;
  await world.sql`delete from worker_fault`;
  await world.sql`update webhook_endpoint set due = null, claimed_until = null, enabled = true`;
  await world.sql`update data_export set due = 99999999999`;
  await world.sql`update data_import set due = 99999999999`;
}

const jobDue = (
  due: number,
) => world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
  values (${tenant}, true, ${`job_${due}`}, 1, 'retire_address', 'none', '{}', ${due})`;

/** Makes work of each kind. */
const makes = {
  jobs: () => jobDue(1),
  events: () => world.sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data,
    context_id, on_root_list) values (${tenant}, false, 'event_new', 1, 'account.updated', 'account', 'account_x', '{}',
    'account_x', true)`,
  seal_postings: () =>
    world.sql`insert into unsealed (tenant_id, livemode, posting_id) values (${tenant}, true, 'new')`,
  sum_deposits: () => world.sql`insert into deposit_total_change (tenant_id, livemode, to_account_id, deposit_id, count,
    created, context_id, payment_method, currency, amount) values (${tenant}, false, 'account_x', 'deposit_x', 1, 1,
    'account_x', 'ach', 'USD', 100)`,
  faults: () => world.sql`insert into worker_fault (tenant_id, livemode, work, error, since, attempts, next_attempt)
    values (${tenant}, false, 'seal_postings', 'failed', 0, 1, 99999999999)`,
  deliveries: () => world.sql`update webhook_endpoint set due = 1`,
  exports: () => world.sql`update data_export set due = 1`,
  imports: () => world.sql`update data_import set due = 1`,
};

/** Starts a worker on connections of its own. */
function started() {
  const database = new Database({
    ...inject('admin'),
    username: 'tidegate',
    database: String(world.sql.options.database),
  });
  const worker = new Worker(database, log, undefined, undefined, undefined, undefined, world.app.bulk);
  worker.start();
  return {
    stop: async () => {
      await worker.stop();
      await database.close();
    },
  };
}

beforeAll(async () => {
  const user = await given.directUser(1);
  tenant = tenantOf(user);
  const { sql } = world;
  await sql`insert into webhook_endpoint (tenant_id, livemode, id, created, updated_at, account_id, url, event_types,
    connected, enabled, secret_sealed, context_id, on_root_list)
    values (${tenant}, false, 'webhook_x', 1, 1, ${user.id}, 'https://example.com/', '{*}', false, true, 'sealed',
    ${user.id}, true)`;
  expect((await user.post('/v1/exports', { list: '/v1/deposits', format: 'csv' })).status).toBe(200);
  await sql`insert into file (tenant_id, livemode, id, created, account_id, purpose, filename, content_type, size,
    sha256, context_id, on_root_list) values (${tenant}, false, 'file_x', 1, ${user.id}, 'import', 'a.csv', 'text/csv',
    10, 'sha', ${user.id}, true)`;
  await sql`insert into data_import (tenant_id, livemode, id, created, account_id, kind, file_id, dry_run, rows, status,
    caller, due, context_id, on_root_list) values (${tenant}, false, 'import_x', 1, ${user.id}, 'partners', 'file_x',
    false, 1, 'pending', '{}', 1, ${user.id}, true)`;
});

describe('the age of the oldest work of live mode that is overdue', () => {
  it('is measured for jobs, payouts, deliveries and events, and is 0 where nothing is due', async () => {
    const { sql } = world;
    await quiet();
    const nothing = { job: 0, payout: 0, delivery: 0, event: 0 };
    expect(await dueAges(world.database)).toEqual(nothing);
    const [{ now }] = (await sql`select floor(extract(epoch from clock_timestamp()))::int as now`) as [{ now: number }];
    // Test mode, where a clock may be advanced, and what is due later do not count.
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due) values
      (${tenant}, false, 'job_test', 1, 'pay_out', 'none', '{}', 1),
      (${tenant}, true, 'job_later', 1, 'pay_out', 'none', '{}', ${now + 1_000})`;
    expect(await dueAges(world.database)).toEqual(nothing);
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due) values
      (${tenant}, true, 'job_old', 1, 'retire_address', 'none', '{}', ${now - 5_000}),
      (${tenant}, true, 'job_pays', 1, 'pay_out', 'none', '{}', ${now - 4_000})`;
    await sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data, context_id,
      on_root_list) values (${tenant}, true, 'event_old', ${now - 3_000}, 'account.updated', 'account', 'account_x',
      '{}', 'account_x', true)`;
    await sql`insert into webhook_endpoint (tenant_id, livemode, id, created, updated_at, account_id, url, event_types,
      connected, enabled, secret_sealed, context_id, on_root_list, due) select tenant_id, true, 'webhook_live', created,
      updated_at, account_id, url, event_types, connected, enabled, secret_sealed, context_id, on_root_list,
      ${now - 2_000} from webhook_endpoint where id = 'webhook_x'`;
    const ages = await dueAges(world.database);
    // Some seconds may have passed since then.
    const whole = Object.entries(ages).map(([name, age]) => [name, Math.floor(age / 1_000)]);
    expect(Object.fromEntries(whole)).toEqual({ job: 5, payout: 4, delivery: 2, event: 3 });
    await sql`delete from webhook_endpoint where id = 'webhook_live'`;
    await quiet();
  });

  it('grows while a payout fails, although each attempt makes its job due later', async () => {
    const { sql } = world;
    await quiet();
    await sql`alter function job_pay_out rename to job_pay_out_away`;
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due) values
      (${tenant}, true, 'job_fails', 1, 'pay_out', 'none', '{}', 1),
      (${tenant}, false, 'job_of_test', 1, 'pay_out', 'none', '{}', 1)`;
    const states = () => sql`select livemode, due > wall_clock() as later, error from job where error is not null`;
    const error = 'no such job: pay_out';
    const { stop } = started();
    await eventually(states, ({ length }) => length === 2);
    // Later attempts follow after longer pauses: no test waits for them.
    await sql`update job set due = 99999999999, failing_since = failing_since - 4000`;
    expect([...(await states())].toSorted((a, b) => a.livemode - b.livemode)).toEqual([
      { livemode: false, later: true, error },
      { livemode: true, later: true, error },
    ]);
    const ages = await dueAges(world.database);
    expect([ages.job, ages.payout].map((age) => Math.floor(age / 1_000))).toEqual([4, 4]);
    expect(await stuckCounts(world.database)).toEqual({ live: { jobs: 1, work: 0 }, test: { jobs: 1, work: 0 } });
    await sql`alter function job_pay_out_away rename to job_pay_out`;
    await sql`update job set due = 1`;
    await eventually(
      () => sql`select from job`,
      ({ length }) => length === 0,
    );
    await stop();
    expect(await dueAges(world.database)).toMatchObject({ job: 0, payout: 0 });
  });

  it('and the counts of what fails are read by indexes of what fails', async () => {
    const { sql } = world;
    await quiet();
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, error, failing_since)
      select ${tenant}, n % 100 = 0, 'job_' || n, 1, 'pay_out', 'none', '{}', 99999999999,
        case when n % 10 = 0 then 'failed' end, case when n % 10 = 0 then 1 + n end
      from generate_series(1, 20000) n`;
    await sql`analyze job`;
    expect(await stuckCounts(world.database)).toMatchObject({ live: { jobs: 200 }, test: { jobs: 1_800 } });
    await dueAges(world.database);
    const plans = {
      oldest_failing_job: 'job_failing',
      oldest_failing_payout: 'job_failing_payout',
      'stuck_jobs:live': 'job_failing',
      'stuck_jobs:test': 'job_failing',
    };
    for (const [name, index] of Object.entries(plans)) {
      const statement = world.database.preparedStatements.get(name)!.replaceAll(/\$1\b/g, '1');
      const plan = (await sql.unsafe(`explain ${statement}`)).map((row) => row['QUERY PLAN']).join(' ');
      expect([name, plan]).toEqual([name, expect.stringMatching(new RegExp(`(using|Index Scan on) ${index} `))]);
    }
    await quiet();
  });
});

describe('the watch of a worker', () => {
  const watch = () => new Watch(world.database, log, new AbortController().signal);

  it.each(all)('says when there is work of a kind, and only then: %s', async (kind) => {
    await quiet();
    expect([...(await watch().poll())]).toEqual([]);
    expect(Object.keys(makes)).toContain(kind);
    await makes[kind as keyof typeof makes]();
    expect([...(await watch().poll())]).toEqual([kind]);
  });

  it('says nothing of what is due later, is claimed or disabled', async () => {
    await quiet();
    await jobDue(99_999_999_999);
    await makes.deliveries();
    await world.sql`update webhook_endpoint set claimed_until = wall_clock() + 3500`;
    expect([...(await watch().poll())]).toEqual([]);
    // The claim has ended; and it was made by a clock that was ahead.
    for (const ended of [1, 99_999_999_999]) {
      await world.sql`update webhook_endpoint set claimed_until = ${ended}`;
      expect([...(await watch().poll())]).toEqual(['deliveries']);
    }
    await world.sql`update webhook_endpoint set enabled = false`;
    expect([...(await watch().poll())]).toEqual([]);
  });

  it('says that there is work of every kind while its statement waits for a lock', async () => {
    await quiet();
    const stop = new AbortController();
    const held = new Watch(world.database, log, stop.signal);
    const notices = all.map((kind) => vi.spyOn(held.timerOf(kind), 'notify'));
    let running: Promise<void> | undefined;
    await world.sql.begin(async (sql) => {
      await sql`lock table data_import in access exclusive mode`;
      running = held.run();
      await statementsWaiting(world, 1);
      await eventually(
        async () => notices.filter((notice) => notice.mock.calls.length === 0).length,
        (silent) => silent === 0,
      );
      stop.abort();
    });
    await running;
  });

  it('keeps no request waiting while a poll waits for a lock', async () => {
    const user = await given.directUser(1);
    let polls: Promise<unknown> = Promise.resolve();
    await world.sql.begin(async (sql) => {
      await sql`lock table job in access exclusive mode`;
      polls = Promise.allSettled(Array.from({ length: 4 }, () => new DueJobs(world.database).poll()));
      await statementsWaiting(world, 3);
      const answers = await Promise.all(Array.from({ length: 8 }, () => user.get(`/v1/accounts/${user.id}`)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      // They wait all the same.
      await statementsWaiting(world, 3);
    });
    await polls;
  });

  it('is all that a worker asks while there is nothing to do', async () => {
    await quiet();
    const database = new Database({
      ...inject('admin'),
      username: 'tidegate',
      database: String(world.sql.options.database),
    });
    const asked: string[] = [];
    const worker = new Worker(database, log, undefined, undefined, undefined, undefined, world.app.bulk);
    const polls = () => asked.filter((name) => name === 'kinds_of_work').length;
    try {
      const later = new Promise<void>((resolve) =>
        database.observers.push({
          began: ({ name }) => {
            asked.push(name);
            if (polls() === 15) resolve();
            return () => {};
          },
        }),
      );
      worker.start();
      await later;
    } finally {
      await worker.stop();
      await database.close();
    }
    // At the start each kind is looked for once, and there are the statements of a start. If each kind was looked for
    // by itself, 15 polls of the watch would have 70 others beside them.
    expect(asked.slice(0, asked.lastIndexOf('kinds_of_work')).length - 14).toBeLessThan(40);
    expect(asked).toEqual(expect.arrayContaining(['tenants_with_events', 'exports_due', 'imports_due']));
  });
});

describe('a poll timer', () => {
  const late = 1_000_000;
  /** What has happened when all that is ready has run. */
  const now = (begun: Promise<void>) =>
    Promise.race([begun.then(() => 'begins'), new Promise((resume) => setTimeout(() => resume('waits'), 5))]);

  it('begins a poll at once when it is woken, before its wait or in it', async () => {
    const timer = new PollTimer(late);
    timer.wake();
    await timer.next(false);
    const begun = timer.next(true);
    expect(await now(begun)).toBe('waits');
    timer.wake();
    await begun;
    // It is forgotten by then.
    const next = timer.next(false);
    expect(await now(next)).toBe('waits');
    timer.wake();
    await next;
  });

  it('begins a poll after its pause when it is notified, or when the last poll has found something', async () => {
    const timer = new PollTimer(0);
    timer.notify();
    await timer.next(false);
    await timer.next(true);
    const begun = timer.next(false);
    expect(await now(begun)).toBe('waits');
    timer.notify();
    await begun;
    const slow = new PollTimer(late);
    const waiting = slow.next(true);
    slow.notify();
    expect(await now(waiting)).toBe('waits');
    slow.wake();
    await waiting;
  });

  it('begins a poll after a long time without a hint', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const timer = new PollTimer(0);
      let begun = false;
      const next = timer.next(false).then(() => (begun = true));
      await vi.advanceTimersByTimeAsync(20_000);
      expect(begun).toBe(false);
      await vi.advanceTimersByTimeAsync(20_000);
      expect(begun).toBe(true);
      await next;
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends its wait when the worker stops', async () => {
    const timer = new PollTimer(late);
    const begun = timer.next(false);
    timer.end();
    await begun;
    await timer.next(true);
  });
});
