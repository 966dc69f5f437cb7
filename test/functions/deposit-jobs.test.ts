import { expect, inject, it } from 'vitest';
import { comparable, makeAccount, moneyOf, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, jobText, stored, jobsOf, eventsOf, rowText } = fixture;
const root = useRoot(fixture, 'platform', 1);
const { create, receivable, balance } = moneyOf(fixture, root);
const kindsOf = async (id: string) => (await jobsOf(root, id)).map(({ kind }) => kind);
const statusOf = async (id: string) => (await stored('deposit', root, id)).status as string;
const move = ({ id }: Row, from: string[], to: string) => write(root, 'move_deposit', { id, from, to });
const processing = async (amount: bigint, more: object = {}) =>
  move(await create(amount, more), ['initialized'], 'processing');
const list = (values: string[]) => `{${values.map((text) => JSON.stringify(text)).join()}}`;

of('job_process_deposit', () => {
  it('begins to process a deposit once, and enqueues its completion', async () => {
    const { id } = await create(3n);
    const job = await jobText('process_deposit', id);
    await call('job_process_deposit', root.tenantId, false, job);
    await call('job_process_deposit', root.tenantId, false, job);
    expect(await stored('deposit', root, id)).toMatchObject({ status: 'processing' });
    expect(await kindsOf(id)).toEqual(['process_deposit', 'complete_deposit']);
  });
});

of('take_on_deposits', () => {
  // The test helper `process` moves a deposit before the sandbox does.
  it('completes deposits that a client has begun to process, alone and together', async () => {
    const [one, two, three] = [await processing(3n), await processing(4n), await processing(5n)];
    await call('job_process_deposit', root.tenantId, false, await jobText('process_deposit', one.id));
    await call('take_on_deposits', root.tenantId, false, list([one.id]));
    expect(await kindsOf(one.id)).toEqual(['process_deposit', 'complete_deposit']);
    const run = async (ids: string[]) => {
      await world.sql`update job set due = 0
        where tenant_id = ${root.tenantId} and not livemode and subject_id in ${world.sql(ids)}`;
      await call('run_jobs', root.tenantId, false, 50);
    };
    const ids = [one.id, two.id, three.id];
    await run(ids);
    await run(ids);
    for (const id of ids) {
      expect(await statusOf(id)).toBe('completed');
      expect(await kindsOf(id)).toEqual([]);
    }
  });

  it('leaves one alone that a helper has completed or failed meanwhile', async () => {
    for (const to of ['completed', 'failed']) {
      const made = await processing(3n);
      await call('job_process_deposit', root.tenantId, false, await jobText('process_deposit', made.id));
      await move(made, ['processing'], to);
      await call('job_complete_deposit', root.tenantId, false, await jobText('complete_deposit', made.id));
      expect(await statusOf(made.id)).toBe(to);
    }
  });
});

of('job_complete_deposit', () => {
  it('completes a deposit that is being processed, and no other', async () => {
    const made = await create(3n);
    const job = await jobText('complete_deposit', made.id);
    await call('job_complete_deposit', root.tenantId, false, job);
    expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'initialized' });
    await move(made, ['initialized'], 'processing');
    await call('job_complete_deposit', root.tenantId, false, job);
    expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'completed' });
  });
});

/** Deposits that differ in what their money depends on: compartment, account, currency, visibility, checkout. */
const kinds = async (): Promise<(() => Promise<Row>)[]> => {
  const [partner, hidden] = (await Promise.all([1, 2].map(() => makeAccount(fixture, root)))) as [Row, Row];
  await world.sql`update account set on_root_list = false, context_id = 'account_other'
    where tenant_id = ${root.tenantId} and not livemode and id = ${hidden.id}`;
  const owner = await rowText('account', root, root.id);
  const fee = ['service_fee_advance', 'bank_account', 'USD'] as const;
  const [advance] = await call('insert_address', root.tenantId, false, '{}', owner, ...fee);
  return [
    () => create(11n),
    () => create(12n, { toAddressId: advance!.id }),
    () => create(13n),
    () => create(9_007_199_254_740_993n, { toAccountId: partner.id }),
    () => create(15n, { toAccountId: hidden.id, metadata: { order: 'O-1' } }),
    () => create(16n, { currency: 'EUR', fromAccountId: partner.id, paymentMethod: 'international_wire' }),
    async () => {
      const made = await create(17n);
      const { id: receivableId } = await receivable(17n);
      const { id: checkout } = await write(root, 'create_checkout', {
        ...{ amount: 17n, grossAmount: 20n, currency: 'USD', fromAccountId: partner.id, toAccountId: root.id },
        ...{ paymentMethods: ['cards'], receivableIds: [receivableId], redirectUrl: 'https://shop.example/' },
        ...{ seconds: 600 },
      });
      await world.sql`update payment set checkout_id = ${checkout}
        where tenant_id = ${root.tenantId} and not livemode and id = ${made.payment_id}`;
      return made;
    },
  ];
};
/** The rows that a deposit consists of after its completion, without what differs between two of the same kind. */
const rowsOf = async ({ id, payment_id: payment }: Row) => {
  const posting = (await stored('posting', root, id, 'cause'))?.id ?? 'none';
  const own = { deposit: 'id', payment: 'deposit_id', job: 'subject_id', event: 'object_id', posting: 'cause' };
  return [
    await comparable(fixture, { ...own, deposit_total_change: 'deposit_id' }, [
      ...[id, payment, (await stored('payment', root, payment)).checkout_id ?? 'none'],
    ]),
    await comparable(fixture, { entry: 'posting_id', contra_entry: 'posting_id', unsealed: 'posting_id' }, [
      ...[posting, payment],
    ]),
  ];
};
const withoutBalance = (rows: object[]) =>
  JSON.parse(JSON.stringify(rows).replaceAll(/"(balance_after|version)":\d+/g, '"$1":0')) as object;

of('deposits_by_id', () => {
  it('finds those of the tenant and mode', async () => {
    const { id } = await create(9n);
    const found = await call('deposits_by_id', root.tenantId, false, list([id, 'deposit_none']));
    expect(found.map((row) => row.id)).toEqual([id]);
    expect(await call('deposits_by_id', root.tenantId, true, list([id]))).toEqual([]);
  });
});

of('lock_free_deposits', () => {
  it('locks those that no other statement has locked', async () => {
    const ids = [await create(9n), await create(9n)].map(({ id }) => id as string);
    const free = async (wanted: string[]) =>
      (await call('lock_free_deposits', root.tenantId, false, list(wanted))).map((row) => row.id);
    expect(await free(ids.toReversed())).toEqual(ids);
    await world.sql.begin(async (sql) => {
      await sql`select lock_free_deposits(${root.tenantId}, false, ${sql.array([ids[0]!])})`;
      expect(await free(ids)).toEqual([ids[1]]);
    });
  });
});

of('set_deposits_status', () => {
  it('changes the status, the version and the time, and what is to be reconciled', async () => {
    const made = [await create(9n), await create(9n)];
    const ids = made.map(({ id }) => id as string);
    const rows = await call(
      'set_deposits_status',
      ...([root.tenantId, false, list(ids), 'completed', list([ids[1]!]), 4_000_000_000] as const),
    );
    const changed = { status: 'completed', version: '1', updated_at: '4000000000' };
    expect(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { ...changed, pending_rest: '0' },
      { ...changed, pending_rest: '9' },
    ]);
    await world.sql`update deposit set status = 'failed', pending_rest = 0
      where tenant_id = ${root.tenantId} and id = any(${world.sql.array(ids)})`;
  });
});

of('process_deposits', () => {
  it('stores for each what its job stores alone', async () => {
    const makers = await kinds();
    const [alone, together] = [[] as Row[], [] as Row[]];
    for (const make of makers) {
      alone.push(await make());
      together.push(await make());
    }
    for (const { id } of alone)
      await call('job_process_deposit', root.tenantId, false, await jobText('process_deposit', id));
    await call('process_deposits', root.tenantId, false, list(together.map(({ id }) => id)));
    for (const [n, one] of together.entries()) {
      expect(await rowsOf(one)).toEqual(await rowsOf(alone[n]!));
      expect(await kindsOf(one.id)).toEqual(['process_deposit', 'complete_deposit']);
      const [begun, next] = await jobsOf(root, one.id);
      expect(Number(next!.due)).toBeGreaterThan(Number(begun!.created));
    }
  });
});

of('complete_deposits', () => {
  it('stores for each what its job stores alone', async () => {
    const makers = await kinds();
    const [alone, together] = [[] as Row[], [] as Row[]];
    for (const make of makers) {
      alone.push(await move(await make(), ['initialized'], 'processing'));
      together.push(await move(await make(), ['initialized'], 'processing'));
    }
    for (const { id } of alone)
      await call('job_complete_deposit', root.tenantId, false, await jobText('complete_deposit', id));
    const before = await balance(root.id);
    const rows = await Promise.all(together.map(({ id }) => rowText('deposit', root, id)));
    await call('complete_deposits', root.tenantId, false, list(rows));
    for (const [n, one] of together.entries()) {
      expect(withoutBalance(await rowsOf(one))).toEqual(withoutBalance(await rowsOf(alone[n]!)));
      const types = ['deposit.initialized', 'deposit.processing', 'deposit.completed'];
      expect((await eventsOf(root, one.id)).toSorted()).toEqual(types.toSorted());
    }
    const after = await balance(root.id);
    expect([Number(after.pending) - Number(before.pending), Number(after.fee_advance)]).toEqual([11 + 13 + 17, 24]);
    const contras = await comparable(fixture, { contra_entry: 'posting_id' }, [
      ...[(await stored('posting', root, together[6]!.id, 'cause')).id as string],
    ]);
    expect(contras.contra_entry!.map(({ contra, amount }) => [contra, amount])).toEqual([
      ['acquirer', -20],
      ['fees', 3],
    ]);
    // No checkout was paid.
    await world.sql`update payment set checkout_id = null where tenant_id = ${root.tenantId}`;
    expect(await violations(fixture)).toEqual([]);
  });
});

/** Stores the jobs of deposits as the only ones of the root, and returns them as the text of an array. */
const onlyJobs = async (jobs: [kind: string, id: string][]) => {
  await world.sql`delete from job where tenant_id = ${root.tenantId}`;
  for (const [kind, id] of jobs) await call('enqueue', root.tenantId, false, kind, id, 0, '{}');
  const rows = await world.sql<{ row: string }[]>`
    select j::text as row from job j where tenant_id = ${root.tenantId} order by id`;
  return list(rows.map(({ row }) => row));
};
const jobsLeft = async () =>
  (await world.sql`select subject_id from job where tenant_id = ${root.tenantId} and kind = 'complete_deposit'`)
    .map(({ subject_id: id }) => id as string)
    .toSorted();

of('run_deposit_jobs_together', () => {
  const together = async (jobs: string) =>
    (await value('run_deposit_jobs_together', root.tenantId, false, jobs)) as string[];

  it('does each job whose deposit has the status for it, and deletes all', async () => {
    const [made, begun, failed] = [await create(21n), await processing(22n), await processing(23n)] as const;
    await move(failed, ['processing'], 'failed');
    const jobs = await onlyJobs([
      ['process_deposit', made.id],
      ['complete_deposit', begun.id],
      ['complete_deposit', failed.id],
      ['process_deposit', begun.id],
    ]);
    expect(await together(jobs)).toHaveLength(4);
    expect(await Promise.all([made, begun, failed].map(({ id }) => statusOf(id)))).toEqual([
      ...['processing', 'completed', 'failed'],
    ]);
    expect(await jobsLeft()).toEqual([made.id]);
  });

  it('does none when there is but one, or one meets an error', async () => {
    const [one, two] = [await processing(24n), await processing(25n)];
    expect(await together(await onlyJobs([['complete_deposit', one.id]]))).toEqual([]);
    const jobs = await onlyJobs([
      ['complete_deposit', one.id],
      ['complete_deposit', two.id],
    ]);
    await world.sql`insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
      values (${root.tenantId}, false, 'posting_before', 0, 'deposit', ${two.id}, ${two.payment_id})`;
    try {
      expect(await together(jobs)).toEqual([]);
      expect([await statusOf(one.id), await jobsLeft()]).toEqual(['processing', [one.id, two.id].toSorted()]);
      // Each alone: one succeeds, and the other has its own error.
      const rows = await call('run_due_jobs', root.tenantId, false, 10);
      expect(rows.map((row) => row.job_error)).toEqual([null, 'state_conflict']);
      expect([await statusOf(one.id), await statusOf(two.id)]).toEqual(['completed', 'processing']);
    } finally {
      await world.sql.unsafe(`grant delete on posting to current_user`);
      await world.sql`delete from posting where tenant_id = ${root.tenantId} and id = 'posting_before'`;
      await world.sql.unsafe(`revoke delete on posting from current_user`);
    }
  });

  it('leaves a deposit that is locked, and waits for none', async () => {
    const [free, locked] = [await processing(26n), await processing(27n)];
    const jobs = await onlyJobs([
      ['complete_deposit', free.id],
      ['complete_deposit', locked.id],
    ]);
    await world.sql.begin(async (sql) => {
      await sql`select from deposit where tenant_id = ${root.tenantId} and not livemode and id = ${locked.id}
        for update`;
      expect(await together(jobs)).toHaveLength(1);
    });
    expect([await statusOf(free.id), await statusOf(locked.id)]).toEqual(['completed', 'processing']);
    expect(await jobsLeft()).toEqual([locked.id]);
  });

  // What a cluster's node reads is not in the statistics of the coordinator.
  it.runIf(inject('distributed') === undefined)(
    'finds deposits, payments and jobs by their keys, with a plan from before the tables grew',
    async () => {
      const begun: Row[] = [];
      for (let n = 0; n < 16; n++) begun.push(await processing(28n));
      const jobs = await onlyJobs(begun.map(({ id }) => ['complete_deposit', id]));
      const session = await world.sql.reserve();
      const run = async () => {
        await session`select lock_balances_of_jobs(${root.tenantId}, false, ${jobs}::text::job[])`;
        const [row] = await session<{ done: string[] }[]>`
          select run_deposit_jobs_together(${root.tenantId}, false, ${jobs}::text::job[]) as done`;
        return row!.done;
      };
      const grow = (from: number, to: number) =>
        session.unsafe(`
          insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
            statement_descriptor, status, payment_id, context_id, on_root_list)
          select d.tenant_id, d.livemode, d.id || n, d.created, d.amount, d.currency, d.to_account_id,
            d.payment_method, d.statement_descriptor, d.status, d.payment_id, d.context_id, d.on_root_list
          from (select * from deposit order by id limit 1) d, generate_series(${from}, ${to}) n;
          insert into payment (tenant_id, livemode, id, created, account_id, type, amount, currency, status,
            deposit_id, context_id, on_root_list, updated_at)
          select p.tenant_id, p.livemode, p.id || n, p.created, p.account_id, p.type, p.amount, p.currency, p.status,
            p.deposit_id, p.context_id, p.on_root_list, p.updated_at
          from (select * from payment order by id limit 1) p, generate_series(${from}, ${to}) n;
          insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
          select tenant_id, livemode, id || n, created, kind, 'none', args, 4102444800
          from (select * from job where tenant_id = '${root.tenantId}' order by id limit 1) j,
            generate_series(${from}, ${to}) n`);
      const read = async () => {
        const rows = await session`
          select relname, seq_tup_read::int as scanned, idx_tup_fetch::int as found from pg_stat_xact_user_tables
          where relname in ('deposit', 'payment', 'job') order by relname`;
        return rows.map(({ scanned, found }) => [scanned, found] as [number, number]);
      };
      try {
        // After five calls the session keeps a plan. Each is rolled back, so that the next one has the same work.
        for (let n = 0; n < 8; n++) {
          await session`begin`;
          expect(await run()).toHaveLength(16);
          await session`rollback`;
        }
        await grow(1, 3_000);
        await session`begin`;
        const before = await read();
        expect(await run()).toHaveLength(16);
        const after = await read();
        await session`rollback`;
        // Deposits are found, locked and changed.
        expect(after.map(([scanned, found], n) => [scanned - before[n]![0], found - before[n]![1]])).toEqual([
          [0, 48],
          [0, 16],
          [0, 16],
        ]);
      } finally {
        session.release();
      }
    },
  );
});

of('run_deposit_jobs', () => {
  const run = async (jobs: string, first: number, seconds: number) => {
    const until = new Date(Date.now() + seconds * 1_000).toISOString();
    return (await value('run_deposit_jobs', root.tenantId, false, jobs, first, until)).length as number;
  };
  const due = async (count: number) => {
    const begun: Row[] = [];
    for (let n = 0; n < count; n++) begun.push(await processing(29n));
    return onlyJobs([
      ['issue_addresses', root.id],
      ...begun.map(({ id }) => ['complete_deposit', id] as [string, string]),
    ]);
  };

  it('does those of deposits, all when there is time', async () => {
    expect(await run(await due(31), 4, 60)).toBe(31);
    expect([await jobsLeft(), await kindsOf(root.id)]).toEqual([[], ['issue_addresses']]);
  });

  it('does the first together when the time is over, and none when the first are less than two', async () => {
    const jobs = await due(7);
    expect([await run(jobs, 1, 60), await run(jobs, 0, 60), (await jobsLeft()).length]).toEqual([0, 0, 7]);
    expect([await run(jobs, 4, -60), (await jobsLeft()).length]).toEqual([4, 3]);
  });

  // A cluster supports no triggers.
  it.runIf(inject('distributed') === undefined)('does as many together as have time by those before', async () => {
    const jobs = await due(30);
    // Each takes 50 ms, so that two take 0.1 s: of the 0.9 s that are left, half is enough for eight or nine.
    await world.sql.unsafe(`
      create function slowly() returns trigger language plpgsql
      as $$ begin perform pg_sleep(0.05); return new; end $$;
      create trigger slowly before insert on posting for each row execute function slowly()`);
    try {
      const done = await run(jobs, 2, 1);
      expect(done).toBeGreaterThanOrEqual(4);
      expect(done).toBeLessThan(30);
    } finally {
      await world.sql.unsafe('drop trigger slowly on posting; drop function slowly');
    }
  });
});
