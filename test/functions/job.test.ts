import { expect, inject, it } from 'vitest';
import { jobsTried, withStillClock } from '../support/jobs.js';
import { statementsWaiting } from '../support/world.js';
import { refusal, useFunctions } from './fixture.js';
import { payeesOf } from './payee.js';

const fixture = useFunctions();
const { world, of, call, value, write, jobText, jobsOf } = fixture;
const payee = payeesOf(fixture);

of('balance_keys', () => {
  it('pairs each account with each currency, without a missing account', async () => {
    const keys = await value('balance_keys', '{a,NULL}', '{INR,USD}');
    expect(keys).toEqual([
      { account: 'a', currency: 'INR' },
      { account: 'a', currency: 'USD' },
    ]);
    expect(await value('balance_keys', '{NULL}', '{INR}')).toEqual([]);
  });
});

of('lock_balances_of_jobs', () => {
  it('locks the balances that a job may change', async () => {
    const root = await payee(1n);
    const jobs = `{"${(await jobText('pay_out', root.id)).replaceAll(/["\\]/g, (c) => `\\${c}`)}"}`;
    await call('lock_balances_of_jobs', root.tenantId, false, jobs);
    const { asked } = await world.sql.begin(async (tx) => {
      const locked = await tx`select from balance
        where tenant_id = ${root.tenantId} and not livemode and account_id = ${root.id} for update`;
      expect(locked).toHaveLength(1);
      const asked = call('lock_balances_of_jobs', root.tenantId, false, jobs);
      await statementsWaiting(world, 1);
      return { asked };
    });
    await asked;
  });
});

of('deposits_by_id', () => {
  const idsOf = (...ids: string[]) => `{${ids.join()}}`;

  it('finds those of the tenant and mode', async () => {
    const root = await payee(1n);
    const { id } = await root.money.create(9n);
    const found = await call('deposits_by_id', root.tenantId, false, idsOf(id, 'deposit_none'));
    expect(found.map((row) => row.id)).toEqual([id]);
    expect(await call('deposits_by_id', root.tenantId, true, idsOf(id))).toEqual([]);
  });

  // What a cluster's node reads is not in the statistics of the coordinator.
  it.runIf(inject('distributed') === undefined)(
    'finds them by their keys, with a plan from before the table grew',
    async () => {
      const root = await payee(1n);
      const ids: string[] = [];
      for (let n = 0; n < 16; n++) ids.push((await root.money.create(9n)).id);
      const session = await world.sql.reserve();
      const find = () => session`select id from deposits_by_id(${root.tenantId}, false, ${idsOf(...ids)}::text[])`;
      const read = async () => {
        const [row] = await session`select seq_tup_read::int as scanned, idx_tup_fetch::int as found
          from pg_stat_xact_user_tables where relname = 'deposit'`;
        return [row!.scanned, row!.found] as [number, number];
      };
      try {
        // After five calls the session would keep a plan.
        for (let n = 0; n < 8; n++) expect(await find()).toHaveLength(16);
        await session`insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id,
            payment_method, statement_descriptor, status, payment_id, context_id, on_root_list)
          select d.tenant_id, d.livemode, d.id || n, d.created, d.amount, d.currency, d.to_account_id,
            d.payment_method, d.statement_descriptor, d.status, d.payment_id, d.context_id, d.on_root_list
          from (select * from deposit where id = ${ids[0]!}) d, generate_series(1, 3000) n`;
        await session`begin`;
        const before = await read();
        expect(await find()).toHaveLength(16);
        const after = await read();
        await session`rollback`;
        expect(after.map((rows, n) => rows - before[n]!)).toEqual([0, 16]);
      } finally {
        session.release();
      }
    },
  );
});

of('run_job', () => {
  it('runs the function of the kind, and raises an error for a kind without one', async () => {
    const root = await payee(100n);
    await call('run_job', root.tenantId, false, await jobText('pay_out', root.id));
    expect(await root.money.balance(root.id)).toEqual({ payout_processing: '100' });
    const unknown = call('run_job', root.tenantId, false, await jobText('nothing', root.id));
    await expect(unknown).rejects.toThrow('no such job: nothing');
  });
});

/** A root whose only jobs are these. */
const withJobs = async (...kinds: string[]) => {
  const root = await payee(1n);
  await world.sql`delete from job where tenant_id = ${root.tenantId}`;
  for (const kind of kinds) await call('enqueue', root.tenantId, false, kind, root.id, 0, '{}');
  return root;
};

of('is_for_acquirer', () => {
  it('is true of the jobs that ask an acquirer', async () => {
    const kinds = ['inquire_transaction', 'send_refund', 'settle_transaction'];
    expect(await Promise.all(kinds.map((kind) => value('is_for_acquirer', kind)))).toEqual([true, true, false]);
  });
});

of('run_jobs', () => {
  it('does what is due, and charges a job that fails', async () => {
    const root = await withJobs('nothing', 'issue_addresses');
    const [tried] = await withStillClock(
      world.sql,
      (session) => session`select run_jobs(${root.tenantId}, false, 10) as n`,
    );
    expect(tried!.n).toBe(2);
    const [failed, ...more] = await jobsOf(root, root.id);
    expect([failed!.kind, failed!.attempts, failed!.error, more]).toEqual(['nothing', 1, 'no such job: nothing', []]);
    expect(Number(failed!.due)).toBe(Number(failed!.failing_since) + 1);
    // After ten failures, the next attempt is later than this test ends.
    await world.sql`update job set attempts = 10, due = failing_since where tenant_id = ${root.tenantId}`;
    expect(await value('run_jobs', root.tenantId, false, 10)).toBe(1);
    expect(await value('run_jobs', root.tenantId, false, 10)).toBe(0);
  });
});

of('run_due_jobs', () => {
  it('returns the jobs that it tried, with the errors of those that failed', async () => {
    const root = await withJobs('nothing', 'issue_addresses');
    const rows = await jobsTried(world, root.tenantId);
    expect(rows.map((row) => [row.job_kind, row.job_error])).toEqual([
      ['nothing', 'no such job: nothing'],
      ['issue_addresses', null],
    ]);
    // The next attempt is later than this test ends.
    await world.sql`update job set due = due + 3600 where tenant_id = ${root.tenantId}`;
    expect(await call('run_due_jobs', root.tenantId, false, 10)).toEqual([]);
    const [failed] = await jobsOf(root, root.id);
    expect([failed!.id, Number(failed!.failing_since) > 0]).toEqual([rows[0]!.job_id, true]);
  });

  // Otherwise it would lock balances while the call already has those of other jobs.
  it('does a job that locks many balances alone, when it is the first one', async () => {
    const root = await withJobs('issue_addresses', 'find_late_entries', 'issue_addresses');
    const kinds = async () => (await jobsTried(world, root.tenantId)).map((row) => row.job_kind);
    expect([await kinds(), await kinds(), await kinds()]).toEqual([
      ['issue_addresses', 'issue_addresses'],
      ['find_late_entries'],
      [],
    ]);
    const first = await withJobs('find_late_entries', 'issue_addresses');
    const due = async () => (await jobsTried(world, first.tenantId)).map((row) => row.job_kind);
    expect([await due(), await due()]).toEqual([['find_late_entries'], ['issue_addresses']]);
  });
});

of('charge_job', () => {
  it('waits longer with each attempt, and keeps the error', async () => {
    const root = await withJobs('nothing');
    const [job] = await jobsOf(root, root.id);
    for (let i = 0; i < 3; i++) await call('charge_job', root.tenantId, false, job!.id, `fault ${i}`);
    const [charged] = await jobsOf(root, root.id);
    expect(charged).toMatchObject({ attempts: 3, error: 'fault 2' });
    expect(Number(charged!.due)).toBeGreaterThan(Number(job!.due) + 2);
  });
});

of('charge_first_job', () => {
  it('charges the job that is due first, if any', async () => {
    const root = await withJobs('first', 'second');
    await world.sql`update job set due = due - 5 where tenant_id = ${root.tenantId} and kind = 'first'`;
    expect(await value('charge_first_job', root.tenantId, false, 'fault')).toBe(1);
    expect((await jobsOf(root, root.id)).map(({ error }) => error)).toEqual(['fault', null]);
    expect(await value('charge_first_job', root.tenantId, true, 'fault')).toBe(0);
  });
});

of('retry_job', () => {
  it('makes a job due now', async () => {
    const root = await withJobs('nothing');
    await world.sql`update job set due = due + 5000, attempts = 4 where tenant_id = ${root.tenantId}`;
    const [job] = await jobsOf(root, root.id);
    const retried = await write(root, 'retry_job', { id: job!.id });
    expect(retried).toMatchObject({ attempts: 4 });
    expect(Number(retried.due)).toBeLessThan(Number(job!.due));
  });

  it('refuses an unknown job', async () => {
    const root = await withJobs();
    expect(await refusal(write(root, 'retry_job', { id: 'job_none' }))).toBe('resource_missing job.id');
  });
});
