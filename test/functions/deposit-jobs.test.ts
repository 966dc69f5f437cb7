import { expect, it } from 'vitest';
import { jobsTried } from '../support/jobs.js';
import { moneyOf, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, jobText, stored, jobsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);
const { create } = moneyOf(fixture, root);
const kindsOf = async (id: string) => (await jobsOf(root, id)).map(({ kind }) => kind);
const statusOf = async (id: string) => (await stored('deposit', root, id)).status as string;
const move = ({ id }: Row, from: string[], to: string) => write(root, 'move_deposit', { id, from, to });
const processing = async (amount: bigint) => move(await create(amount), ['initialized'], 'processing');

of('job_process_deposit', () => {
  const process = async ({ id }: Row) =>
    call('job_process_deposit', root.tenantId, false, await jobText('process_deposit', id));

  it('begins to process a deposit once, and enqueues its completion', async () => {
    const made = await create(3n);
    await process(made);
    await process(made);
    expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'processing' });
    expect(await kindsOf(made.id)).toEqual(['process_deposit', 'complete_deposit']);
    const [begun, next] = await jobsOf(root, made.id);
    expect(Number(next!.due)).toBeGreaterThan(Number(begun!.created));
  });

  // The test helper `process` moves a deposit before the sandbox does.
  it('completes a deposit that a client has begun to process', async () => {
    const ids = [await processing(3n), await processing(4n)].map(({ id }) => id as string);
    const run = async () => {
      await world.sql`update job set due = 0
        where tenant_id = ${root.tenantId} and not livemode and subject_id in ${world.sql(ids)}`;
      // A call begins no job after its first second.
      while (Number(await value('run_jobs', root.tenantId, false, 50)) > 0);
    };
    await run();
    for (const id of ids) expect(await kindsOf(id)).toEqual(['complete_deposit']);
    await run();
    for (const id of ids) expect([await statusOf(id), await kindsOf(id)]).toEqual(['completed', []]);
  });

  it('leaves one alone that a helper has completed or failed meanwhile', async () => {
    for (const to of ['completed', 'failed']) {
      const made = await processing(3n);
      await process(made);
      await move(made, ['processing'], to);
      await call('job_complete_deposit', root.tenantId, false, await jobText('complete_deposit', made.id));
      await world.sql`delete from job where tenant_id = ${root.tenantId} and kind = 'complete_deposit'`;
      await process(made);
      expect([await statusOf(made.id), await kindsOf(made.id)]).toEqual([to, ['process_deposit']]);
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

  it('completes the others when one of them meets an error', async () => {
    const [one, bad, other] = [await processing(24n), await processing(25n), await processing(26n)] as const;
    await world.sql`delete from job where tenant_id = ${root.tenantId}`;
    for (const { id } of [one, bad, other])
      await call('enqueue', root.tenantId, false, 'complete_deposit', id, 0, '{}');
    await world.sql`insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
      values (${root.tenantId}, false, 'posting_before', 0, 'deposit', ${bad.id}, ${bad.payment_id})`;
    const rows = await jobsTried(world, root.tenantId);
    expect(rows.map((row) => row.job_error)).toEqual([null, 'state_conflict', null]);
    expect(await Promise.all([one, bad, other].map(({ id }) => statusOf(id)))).toEqual([
      ...['completed', 'processing', 'completed'],
    ]);
    await world.sql.unsafe(`grant delete on posting to current_user`);
    await world.sql`delete from posting where tenant_id = ${root.tenantId} and id = 'posting_before'`;
    await world.sql.unsafe(`revoke delete on posting from current_user`);
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toHaveLength(0);
});
