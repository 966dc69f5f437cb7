import { randomUUID } from 'node:crypto';
import pino from 'pino';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { Database } from '../../src/db/database.js';
import type { Retention } from '../../src/operation/work.js';
import type { WorkObserver } from '../../src/jobs/work-queue.js';
import { Worker } from '../../src/jobs/runner.js';
import { countStuck } from '../../src/jobs/stuck-count.js';
import { useChildren } from '../support/child.js';
import { withStillClock } from '../support/jobs.js';
import { scale } from '../support/scale.js';
import { eventually, givenIn, type Speaker, useWorld, tenantOf } from '../support/world.js';

// No workers run except those that a test starts.
const world = useWorld({ worker: false });
const given = givenIn(world);

const keyed = (key: string) => ({ 'idempotency-key': key });

/** The options for a separate connection to this file's database. */
async function place() {
  const [{ database }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  return { ...inject('admin'), username: 'tidegate', database };
}

/** Runs a separate worker until `done` is true, and returns its log lines. */
async function working(done: () => Promise<boolean>, retention?: Retention, seconds = 60): Promise<string[]> {
  const database = new Database(await place());
  const lines: string[] = [];
  const worker = new Worker(database, pino({ level: 'warn' }, { write: (line) => void lines.push(line) }), retention);
  worker.start();
  try {
    await eventually(done, (is) => is, seconds);
  } finally {
    await worker.stop();
    await database.close();
  }
  return lines;
}

/** Queues jobs of a tenant; jobs of a kind that has no work complete at once. */
async function queued(tenant: string, count: number, kind = 'retire_address', stem = 'job_'): Promise<void> {
  await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
    select ${tenant}, false, ${stem} || lpad(n::text, 6, '0'), 0, ${kind}, 'none', '{}', 0
    from generate_series(1, ${count}::int) n`;
}

/** Cancels the statement of a session when it waits for a lock, as its time-out does. */
async function cancelWaiting(pid: number): Promise<void> {
  await eventually(
    () => world.sql`select pg_cancel_backend(pid) from pg_stat_activity
      where pid = ${pid} and wait_event_type = 'Lock'`,
    ({ length }) => length > 0,
  );
}

const jobsOf = async (tenant: string) =>
  (await world.sql<{ n: number }[]>`select count(*)::int as n from job where tenant_id = ${tenant} and due = 0`)[0]!.n;

describe('what has failed', () => {
  it('is counted where there are metrics, and not read where there are none', async () => {
    await queued('stuck', 5, 'retire_address', 'job_stuck_');
    await world.sql`update job set error = 'failed', failing_since = 1, due = 99999999999 where tenant_id = 'stuck'
      and id < 'job_stuck_000003'`;
    await world.sql`insert into worker_fault (tenant_id, livemode, work, error, since, attempts, next_attempt)
      values ('stuck', false, 'seal_postings', 'failed', 0, 1, 99999999999)`;
    const stop = new AbortController();
    const counts: object[] = [];
    const observer = { stuck: (count: object) => void counts.push(count) } as Partial<WorkObserver> as WorkObserver;
    const unobserved = countStuck(world.database, undefined, stop.signal);
    expect([...world.database.preparedStatements.keys()].filter((name) => name.startsWith('stuck_'))).toEqual([]);
    const counting = countStuck(world.database, observer, stop.signal);
    await eventually(
      async () => counts,
      ({ length }) => length > 0,
    );
    stop.abort();
    await Promise.all([unobserved, counting]);
    expect(counts).toEqual([{ live: { jobs: 0, work: 0 }, test: { jobs: 2, work: 1 } }]);
    await world.sql`delete from job where tenant_id = 'stuck'`;
    await world.sql`delete from worker_fault where tenant_id = 'stuck'`;
  });
});

describe('jobs of many tenants', () => {
  it('run in turns, even if many tenants have more than a batch', async () => {
    const tenants = Array.from({ length: 300 }, (_, n) => `turn${String(n).padStart(3, '0')}`);
    const each = 160;
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select t, false, 'job_' || n, 0, 'retire_address', 'none', '{}', 0
      from unnest(${tenants}::text[]) t, generate_series(1, ${each}::int) n`;
    await world.sql`analyze job`;
    // When every tenant has had a turn, no tenant's jobs are all done.
    let left: number[] = [];
    await working(async () => {
      left = (
        await world.sql<{ n: number }[]>`
          select count(j.id)::int as n from unnest(${tenants}::text[]) t left join job j on j.tenant_id = t
          and not j.livemode group by t`
      ).map(({ n }) => n);
      return left.every((n) => n < each);
    });
    expect(Math.min(...left)).toBeGreaterThan(0);
    await world.sql`delete from job where tenant_id like 'turn%'`;
  });

  it('count a failed attempt and are postponed, without delaying other tenants', async () => {
    const [bad, good] = ['bad', 'good'];
    await queued(bad, 120, 'no_such_kind');
    await queued(good, 120);
    await working(async () => (await jobsOf(good)) === 0 && (await jobsOf(bad)) === 0);
    const [charged] = await world.sql`
      select count(*)::int as n, min(attempts) > 0 as tried, bool_and(error = 'no such job: no_such_kind') as reported
      from job where tenant_id = ${bad}`;
    expect(charged).toEqual({ n: 120, tried: true, reported: true });
  });

  // PostgreSQL cancels the statement: the jobs that the batch has done must not be undone together with the slow job.
  it('count a failed attempt when they are cancelled, and jobs done before in the same call stay done', async () => {
    const user = await given.directUser(2);
    const tenant = tenantOf(user);
    const { id } = await user.partner();
    const held = postgres({ ...(await place()), max: 1 });
    try {
      await queued(tenant, 3, 'retire_address', 'job_a');
      await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
        values (${tenant}, false, 'job_b', 0, 'issue_addresses', ${id}, '{}', 0)`;
      await queued(tenant, 3, 'retire_address', 'job_c');
      // Another session holds the lock of the account that the fourth job needs.
      await held`begin`;
      await held`select from account where tenant_id = ${tenant} and id = ${id} for update`;
      const done = withStillClock(world.sql, async (session) => {
        const [own] = await session`select pg_backend_pid() as pid`;
        const [row] = await Promise.all([
          session`select run_jobs(${tenant}, false, 50) as n`.then(([only]) => only),
          cancelWaiting(own!.pid),
        ]);
        return row;
      });
      expect(await done).toEqual({ n: 4 });
      expect(
        await world.sql`select id, attempts, error from job where tenant_id = ${tenant} and due < 2000000000
          and kind in ('retire_address', 'issue_addresses') order by id`,
      ).toEqual([
        { id: 'job_b', attempts: 1, error: 'canceling statement due to user request' },
        ...['job_c000001', 'job_c000002', 'job_c000003'].map((job) => ({ id: job, attempts: 0, error: null })),
      ]);
    } finally {
      await held`rollback`;
      await held.end();
    }
  });

  // The test adds the fault to this file's own database: no row that the product writes makes a whole batch fail.
  it(
    'are halved when a batch fails as a whole, until only the failing job ' +
      'counts the attempt, while other jobs continue',
    async () => {
      const original = (await world.sql`select pg_get_functiondef('lock_balances_of_jobs'::regproc) as text`)[0]!
        .text as string;
      await world.sql.unsafe(
        original.replace(
          /\bbegin\b/i,
          `begin if exists (select from unnest(p_jobs) j where j.kind = 'poison') then raise exception 'this ` +
            `batch has poison'; end if;`,
        ),
      );
      try {
        const user = await given.directUser(2);
        const [bad, good] = [tenantOf(user), 'healthy'];
        await queued(bad, 30, 'retire_address', 'job_a');
        await queued(bad, 1, 'poison', 'job_b');
        await queued(bad, 30, 'retire_address', 'job_c');
        await queued(good, 200);
        // The tenant whose batches fail has events and postings, which do not depend on jobs.
        await world.sql`select lock_balance(${bad}, false, ${user.id}, 'INR')`;
        await world.sql`select post(${bad}, false, 'deposit', 'cause', 'payment', jsonb_build_array(leg(${user.id},
        'pending', 'INR', 1), contra_leg('bank', 'INR', -1)))`;
        const lines = await working(
          async () =>
            (await jobsOf(bad)) === 0 &&
            (await jobsOf(good)) === 0 &&
            (await world.sql`select from event where tenant_id = ${bad} and number is null`).length === 0 &&
            (await world.sql`select from unsealed where tenant_id = ${bad}`).length === 0,
        );
        expect(await world.sql`select from posting_seal where tenant_id = ${bad}`).toHaveLength(1);
        expect(
          await world.sql`select id, attempts, error from job where tenant_id = ${bad} and kind = 'poison'`,
        ).toEqual([{ id: 'job_b000001', attempts: expect.any(Number), error: 'this batch has poison' }]);
        expect(lines.filter((line) => line.includes('jobs of a tenant will be tried again')).length).toBeGreaterThan(3);
      } finally {
        await world.sql.unsafe(original);
      }
    },
  );

  it('issue 175 addresses to each of many partners, although one batch cannot', async () => {
    const user = await given.directUser(1);
    const { partners } = scale;
    const currencies = Intl.supportedValuesOf('currency')
      .slice(0, 140)
      .concat(Array.from({ length: 35 }, (_, n) => `X${String.fromCharCode(65 + (n % 26))}${n % 10}`));
    expect(new Set(currencies).size).toBeGreaterThan(170);
    await world.sql`update account_setting set address = address || '{"partner": true}',
      address_currency = address_currency || ${world.sql.json({ partner: currencies })}
      where tenant_id = ${tenantOf(user)} and account_id = ${user.id} and not livemode`;
    for (let n = 0; n < partners; n++) {
      const { id } = await user.partner();
      expect((await user.post(`/v1/accounts/${id}/activate`)).status).toBe(200);
    }
    const [asked] = [new Set(currencies).size * partners];
    await working(
      async () =>
        (
          await world.sql`select from address where tenant_id = ${tenantOf(user)} and category = 'service_receive'
            and linked_id <> ${user.id} and not livemode`
        ).length === asked,
    );
    expect(
      await world.sql`select kind, error from job where tenant_id = ${tenantOf(user)} and error is not null`,
    ).toEqual([]);
  });
});

describe('old rows', () => {
  const forget = async (tenant: string, hours: number, limit: number) =>
    Number(
      (await world.database.call('delete_old_responses', [tenant, false, hours * 3600, limit]))[0]!
        .delete_old_responses,
    );
  const answers = async (tenant: string) =>
    (await world.sql<{ n: number }[]>`select count(*)::int as n from idempotency where tenant_id = ${tenant}`)[0]!.n;
  /** Stored responses of a tenant, created the given number of hours ago. */
  const answered = (tenant: string, count: number, hours: number) =>
    world.sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
      select ${tenant}, false, 'account', ${`${hours}:`} || n, extract(epoch
      from clock_timestamp())::bigint - ${hours * 3600}, 'none', '{}', '{}' from generate_series(1, ${count}::int) n`;

  it('are deleted in limited numbers per call, oldest first, until only those in the retention are left', async () => {
    await answered('keys', 500, 50);
    await answered('keys', 300, 90);
    await answered('keys', 200, 47);
    await answered('other', 10, 90);
    expect([await forget('keys', 48, 250), await answers('keys')]).toEqual([250, 750]);
    expect(
      await world.sql`select count(*)::int as n from idempotency where tenant_id = 'keys' and key like '90:%'`,
    ).toEqual([{ n: 50 }]);
    expect([await forget('keys', 48, 250), await forget('keys', 48, 250), await forget('keys', 48, 250)]).toEqual([
      250, 250, 50,
    ]);
    expect([await answers('keys'), await answers('other')]).toEqual([200, 10]);
    // The retention is at least a day, for every setting.
    await answered('keys', 100, 23);
    expect([await forget('keys', 0, 1_000), await answers('keys')]).toEqual([200, 100]);
  });

  it('are deleted by the worker for all tenants, more than one call can delete', async () => {
    for (const [n, count] of [31_000, 7_000, 1].entries()) {
      await answered(`old${n}`, count, 49);
      await answered(`old${n}`, 3, 47);
    }
    const left = async () => [await answers('old0'), await answers('old1'), await answers('old2')];
    await working(async () => (await left()).every((n) => n === 3));
    // A longer retention in the settings applies.
    await answered('longer', 5, 49);
    await answered('longer', 5, 80);
    await working(async () => (await answers('longer')) === 5, { idempotencySeconds: 72 * 3600 });
  });
});

describe('old events', () => {
  const numbers = async (root: Speaker) =>
    (
      await world.sql<
        { number: string }[]
      >`select number from event where tenant_id = ${tenantOf(root)} and not livemode order by number`
    ).map(({ number }) => Number(number));

  it(
    'are kept without a limit by default, and are otherwise deleted from ' +
      'the lowest number on, so that no list has a gap',
    async () => {
      const user = await given.directUser(1);
      for (let n = 0; n < 6; n++) await user.partner();
      await world.database.call('number_events', [tenantOf(user), false, 500]);
      const all = await numbers(user);
      const list = (query: string) => user.get(`/v1/events?limit=10&${query}`);
      // The third event is younger than the fourth. Numbers define the order, so the fourth is kept with it. An id has
      // the real time in it.
      await world.sql`update event set id = id_after(id, -40 * 86400) || right(id, 18)
        where tenant_id = ${tenantOf(user)} and number <= ${all[3]!} and number <> ${all[2]!}`;
      const before = await world.sql<{ id: string; number: string }[]>`
      select id, number from event where tenant_id = ${tenantOf(user)} and not livemode order by number`;
      const [first, third] = [before[0]!, before[2]!];
      await answersOld();
      expect(await numbers(user)).toEqual(all);

      await working(async () => (await numbers(user))[0] === Number(third.number), {
        ...{ idempotencySeconds: 172_800, eventSeconds: 30 * 86_400 },
      });
      expect(await numbers(user)).toEqual(all.slice(2));
      // A reader whose last event is kept misses no later one; a reader whose last event was deleted gets an error.
      const after = await list(`ending_before=${third.id}`);
      const ids = before.slice(3, 13).map(({ id }) => id);
      expect(after.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
      const lost = await list(`ending_before=${first.id}`);
      expect([lost.status, lost.fieldNames]).toEqual([400, ['event.ending_before']]);
      expect((await user.get(`/v1/events/${first.id}`)).status).toBe(404);
      // New events get the next numbers.
      await user.partner();
      await world.database.call('number_events', [tenantOf(user), false, 500]);
      expect((await numbers(user)).at(-1)).toBe(all.at(-1)! + 1);
    },
  );

  /** A worker that keeps all events has completed a pass when it has deleted this stored response. */
  async function answersOld(): Promise<void> {
    const key = randomUUID();
    await world.sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
      values ('zzz', false, 'account', ${key}, 0, 'none', '{}', '{}')`;
    await working(async () => (await world.sql`select from idempotency where key = ${key}`).length === 0);
  }
});

describe('a gateway with a wrong clock', () => {
  const children = useChildren();
  const day = 86_400;
  /** Makes a process see a time that is the given number of seconds later. */
  const shifted = (seconds: number) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const Real = Date;
      globalThis.Date = class extends Real {
        constructor(...given) { super(...(given.length === 0 ? [Real.now() + ${seconds * 1000}] : given)); }
        static now() { return Real.now() + ${seconds * 1000}; }
      };`)}`,
  });

  it('three days ahead or behind neither deletes a key too early nor too late, nor decides on API keys', async () => {
    const settings = await children.database();
    const transport = { TRUSTED_PROXY: '127.0.0.1', EXPLORER: 'false' };
    expect((await children.command(settings, 'migrate')).errors).toBe('');
    const made = await children.command(
      settings,
      'account',
      'create',
      '--type=user',
      '--edition=1',
      '--legal-name=Root',
      '--json',
    );
    expect(made.errors).toBe('');
    const { account, keys } = JSON.parse(made.out);
    const secure = { 'x-forwarded-proto': 'https' };
    const sql = postgres(ownerOf(settings.DATABASE_URL));
    /** A stored response that is an hour too old. A worker deletes it within an hour, and at once when it starts. */
    const old = async () => {
      const key = randomUUID();
      await sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
        values (${account.id.replace('account_', '')}, false, ${account.id}, ${key}, extract(epoch
        from clock_timestamp())::bigint - 49 * 3600, 'none', '{}', '{}')`;
      return () =>
        eventually(
          () => sql`select from idempotency where key = ${key}`,
          (rows) => rows.length === 0,
        );
    };
    try {
      const forgottenByRight = await old();
      const right = await children.gateway({ ...settings, ...transport });
      await forgottenByRight();
      const user = right.speaker(keys.test, secure);
      const key = randomUUID();
      const deposit = { amount: '100.00', currency: 'USD' };
      const first = await user.post('/v1/deposits', deposit, keyed(key));
      expect(first.status).toBe(200);
      const short = await user.graph('mutation { createApiKey(input: { expiresInSeconds: 86400 }) { secret } }');
      expect(short.codes).toEqual([]);

      for (const days of [3, -3]) {
        const forgotten = await old();
        const wrong = await children.gateway({ ...settings, ...transport, ...shifted(days * day) });
        await forgotten();
        for (const gateway of [wrong, right]) {
          const again = await gateway.speaker(keys.test, secure).post('/v1/deposits', deposit, keyed(key));
          expect([again.status, again.headers.get('idempotent-replayed'), again.body.id]).toEqual([
            ...[200, 'true', first.body.id],
          ]);
          const byShort = gateway.speaker(short.body.data.createApiKey.secret, secure);
          const seen = await byShort.get('/v1/deposits');
          expect([seen.status, seen.body.data?.length]).toEqual([200, 1]);
        }
        // Proves that the process's clock is wrong.
        await eventually(
          async () => wrong.log(),
          (lines) => lines.length > 0,
        );
        const shift = Date.parse(String(wrong.log()[0]!.time)) - Date.now();
        expect(Math.round(shift / (day * 1000))).toBe(days);
        await wrong.stop();
      }
      await right.stop();
    } finally {
      await sql.end();
    }
  });
});

/** The options of a connection as the owner of a database with a separate address. */
function ownerOf(url: string) {
  const { pathname, searchParams } = new URL(url);
  return { host: searchParams.get('host')!, database: pathname.slice(1), username: 'tidegate', max: 1 };
}
