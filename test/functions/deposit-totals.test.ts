import { beforeEach, expect, it } from 'vitest';
import { makeAccount, moneyOf, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);
const { create, deposit } = moneyOf(fixture, root);
const key = () => [root.tenantId, false] as const;
/** The stored changes, as count and amount, in the order of the deposits. */
const changes = async () =>
  (
    await world.sql`select deposit_id, count, amount from deposit_total_change
    where tenant_id = ${root.tenantId} order by deposit_id, count`
  ).map(({ deposit_id: id, count, amount }) => [id, count, amount]);
/** The totals of days, as the account, whether they are of others, count and amount. */
const totals = async () =>
  (
    await world.sql`select account_id, of_others, count, amount from deposit_total
      where tenant_id = ${root.tenantId} and seconds = 86400 order by 1, 2`
  ).map((row) => [row.account_id, row.of_others, Number(row.count), row.amount]);
const sum = (limit = 100) => value('sum_deposits', ...key(), limit);
const reverse = ({ id }: Row) => write(root, 'move_deposit', { id, from: ['completed'], to: 'reversed' });
const begin = (notBefore = 0) =>
  world.sql`insert into deposit_total_backfill values (${root.tenantId}, false, '', ${notBefore})`;

beforeEach(async () => {
  await sum();
  await world.sql`delete from deposit_total where tenant_id = ${root.tenantId}`;
  await world.sql`update deposit set status = 'failed' where tenant_id = ${root.tenantId}`;
});

of('change_deposit_totals', () => {
  it('stores that a deposit counts, and that it and its disputes do not count any more', async () => {
    const made = await deposit(40n);
    const dispute = await write(root, 'dispute_deposit', { id: made.id, amount: 5n });
    const counting = [
      [made.id, 1, '40'],
      [dispute.id, 1, '-5'],
    ];
    expect(await changes()).toEqual(counting);
    await reverse(made);
    const both = [
      [made.id, -1, '-40'],
      [made.id, 1, '40'],
      [dispute.id, -1, '5'],
      [dispute.id, 1, '-5'],
    ];
    expect(await changes()).toEqual(both);
    expect(
      await value('change_deposit_totals', ...key(), await rowText('deposit', root, (await create(1n)).id), 1),
    ).toMatch(/^deposit_/);
  });
});

of('add_to_deposit_totals', () => {
  it('adds to the receiving account, the account that lists the deposit, and the root account', async () => {
    const user = await makeAccount(fixture, root, 'connected_user');
    const partner = await makeAccount(fixture, root, 'partner', { ownerId: user.id, actingAccountId: user.id });
    for (const [to, amount] of [
      [root.id, 1n],
      [user.id, 10n],
      [partner.id, 100n],
    ] as const)
      await deposit(amount, { toAccountId: to });
    const texts = await world.sql`select c::text as row from deposit_total_change c where tenant_id = ${root.tenantId}`;
    const list = `{${texts.map(({ row }) => JSON.stringify(row)).join(',')}}`;
    const expected = [
      [root.id, false, 1, '1'],
      [root.id, true, 2, '110'],
      [user.id, false, 1, '10'],
      [user.id, true, 1, '100'],
      [partner.id, false, 1, '100'],
    ].toSorted(([a, x], [b, y]) => (a === b ? Number(x) - Number(y) : a! < b! ? -1 : 1));
    await call('add_to_deposit_totals', ...key(), list);
    expect(await totals()).toEqual(expected);
    await world.sql`delete from deposit_total where tenant_id = ${root.tenantId}`;
  });
});

of('sum_deposits', () => {
  it('adds the stored changes once, in parts, whatever the number of workers', async () => {
    for (let n = 0; n < 5; n++) await deposit(10n);
    expect(await sum(2)).toBe(2);
    expect(await totals()).toEqual([[root.id, false, 2, '20']]);
    const counts = await Promise.all([sum(), sum(), sum()]);
    expect(counts.map(Number).reduce((a, b) => a + b)).toBe(3);
    expect([await changes(), await totals()]).toEqual([[], [[root.id, false, 5, '50']]]);
    expect(await violations(fixture)).not.toContainEqual(
      expect.objectContaining({ rule: expect.stringMatching(/total/) }),
    );
  });

  it('leaves the changes while the deposits from before the totals are being added', async () => {
    await begin();
    await deposit(10n);
    expect([await sum(), (await changes()).length]).toEqual([0, 1]);
    await world.sql`delete from deposit_total_backfill where tenant_id = ${root.tenantId}`;
    expect([await sum(), await changes()]).toEqual([1, []]);
  });

  it('adds more of the largest amounts than a bigint can hold', async () => {
    await deposit(1n);
    await sum();
    await world.sql`update deposit_total set amount = '9223372036854775807' where tenant_id = ${root.tenantId}`;
    await deposit(999_999_999_999_999n);
    await sum();
    expect((await totals()).map(([, , , amount]) => amount)).toEqual(['9224372036854775806']);
  });
});

of('backfill_deposit_totals', () => {
  it('adds each deposit from before the totals as it was before its stored changes', async () => {
    const [kept, reversed, later] = [await deposit(1n), await deposit(10n), await create(100n)];
    await world.sql`delete from deposit_total_change where tenant_id = ${root.tenantId}`;
    await begin();
    expect(await value('backfill_deposit_totals', ...key(), 1)).toBe(1);
    await reverse(reversed);
    await write(root, 'move_deposit', { id: later.id, from: ['initialized', 'processing'], to: 'completed' });
    await reverse(kept);
    let found: unknown = 1;
    while (found !== null) {
      expect(await violations(fixture)).not.toContainEqual(
        expect.objectContaining({ rule: expect.stringMatching(/total/) }),
      );
      found = await value('backfill_deposit_totals', ...key(), 1);
    }
    expect(await sum()).toBe(3);
    expect((await totals()).filter(([, , count]) => count !== 0)).toEqual([[root.id, false, 1, '100']]);
    expect(await violations(fixture)).not.toContainEqual(
      expect.objectContaining({ rule: expect.stringMatching(/total/) }),
    );
  });
});

of('job_backfill_deposit_totals', () => {
  const run = async () =>
    call('job_backfill_deposit_totals', ...key(), await jobText('backfill_deposit_totals', root.id));
  const waiting = async () =>
    (await jobsOf(root, root.id)).filter(({ kind }) => kind === 'backfill_deposit_totals').length;

  it('waits for its time, also when a test clock makes it due earlier', async () => {
    await deposit(1n);
    await begin(9_999_999_999);
    await run();
    expect(await waiting()).toBe(1);
    expect(await stored('deposit_total_backfill', root, '', 'up_to')).toBeDefined();
    await world.sql`delete from job where tenant_id = ${root.tenantId} and kind = 'backfill_deposit_totals'`;
    await world.sql`delete from deposit_total_backfill where tenant_id = ${root.tenantId}`;
  });

  it('enqueues another job until all deposits have been added', async () => {
    await deposit(1n);
    await begin();
    await run();
    expect(await waiting()).toBe(1);
    await run();
    expect(await waiting()).toBe(1);
    expect(await world.sql`select from deposit_total_backfill where tenant_id = ${root.tenantId}`).toHaveLength(0);
    await world.sql`delete from job where tenant_id = ${root.tenantId} and kind = 'backfill_deposit_totals'`;
  });

  it('does nothing when all deposits have been added', async () => {
    await run();
    expect(await waiting()).toBe(0);
  });
});

of('deposits_before_changes', () => {
  it('have the count 0 if they did not count before their stored changes', async () => {
    const [old, fresh] = [await deposit(1n), await deposit(10n)];
    await world.sql`delete from deposit_total_change where deposit_id = ${old.id}`;
    const [row] = await world.sql`select array(select c.deposit_id || ' ' || c.count || ' ' || c.amount
      from unnest(deposits_before_changes(${root.tenantId}, false, '', 1000)) c) as found`;
    expect(row!.found.slice(-2)).toEqual([`${old.id} 1 1`, `${fresh.id} 0 0`]);
    expect(await value('deposits_before_changes', ...key(), fresh.id, 1000)).toBe('{}');
    await world.sql`delete from deposit_total_change where tenant_id = ${root.tenantId}`;
  });
});
