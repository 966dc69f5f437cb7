import { describe, expect, it } from 'vitest';
import { statementsWaiting } from '../support/world.js';
import { lockRow, moneyOf, type Row, refusal, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { create, deposit, receivable, reconcile, balance } = moneyOf(fixture, root);

const json = (object: unknown) => JSON.stringify(object);
const textOf = ({ id }: Row) => rowText('deposit', root, id);
const share = ({ id }: Row, amount: bigint) => ({ id: id as string, amount });
const row = ({ id }: Row, ...receivables: { id: string; amount: bigint }[]) => ({
  id: id as string,
  receivables,
  problems: [] as object[],
});
const results = async (...deposits: ReturnType<typeof row>[]): Promise<Row[]> =>
  (await write(root, 'reconcile_deposits', { deposits })).answer;
const refused = ({ problems }: Row) => problems.map(({ code, field }: Row) => `${code} ${field}`);
/** What can be seen of a deposit and of receivables, to compare before and after. */
const stateOf = async (paid: Row, ...open: Row[]) => [
  await stored('deposit', root, paid.id),
  ...(await Promise.all(open.map(({ id }) => stored('receivable', root, id)))),
  await eventsOf(root, paid.id),
];

of('reconcile_deposits', () => {
  it('reconciles each deposit as by itself, in the order of the arguments', async () => {
    const [first, second] = [await deposit(100n), await deposit(50n)];
    const [one, two] = [await receivable(80n), await receivable(60n)];
    const before = Number((await balance(root.id)).available ?? 0);
    const found = await results(row(second, share(two, 50n)), row(first, share(one, 80n), share(two, 10n)));
    expect(found.map(({ deposit: d, problems }) => [d.id, d.pending_rest, problems])).toEqual([
      [second.id, '0', []],
      [first.id, '10', []],
    ]);
    expect(Number((await balance(root.id)).available) - before).toBe(140);
    expect(await stored('receivable', root, two.id)).toMatchObject({ amount_locked: '60', status: 'locked' });
    expect(await eventsOf(root, two.id)).toEqual(['receivable.created', 'receivable.updated', 'receivable.updated']);
    expect((await eventsOf(root, first.id)).at(-1)).toBe('deposit.reconciled');
  });

  it('refuses one alone for each reason, which changes nothing, and does the others', async () => {
    const [good, small, early] = [await deposit(30n), await deposit(10n), await create(10n)];
    const [open, narrow, gone] = [await receivable(100n), await receivable(5n), await receivable(10n)];
    await write(root, 'void_receivable', { id: gone.id });
    const before = await stateOf(small, narrow, gone);
    const known = { code: 'resource_missing', field: 'deposit.receivables[0].id', message: 'Missing.' };
    const found = await results(row(early, share(open, 1n)), row(small, share(open, 5n), share(gone, 1n)), {
      ...row(good),
      problems: [known],
    });
    expect(found.map(refused)).toEqual([
      ['status_invalid deposit.status'],
      ['status_invalid deposit.receivables'],
      ['resource_missing deposit.receivables[0].id'],
    ]);
    expect(found.map(({ deposit: d }) => d.id)).toEqual([early.id, small.id, good.id]);
    expect(await stateOf(small, narrow, gone)).toEqual(before);
    const [beyond, fine] = await results(
      // The first share is possible, and is undone with the second one.
      row(small, share(open, 4n), share(narrow, 6n)),
      row(good, share(open, 30n)),
    );
    expect(refused(beyond!)).toEqual(['amount_exceeds_reconcilable deposit.receivables[1].amount']);
    expect(await stateOf(small, narrow, gone)).toEqual(before);
    expect(fine).toMatchObject({ deposit: { id: good.id, pending_rest: '0' }, problems: [] });
    expect(await stored('receivable', root, open.id)).toMatchObject({ amount_locked: '30' });
  });

  it('gives a receivable that two deposits claim to the earlier one', async () => {
    const [one, two, open] = [await deposit(10n), await deposit(10n), await receivable(10n)];
    const found = await results(row(two, share(open, 10n)), row(one, share(open, 10n)));
    expect(found.map(refused)).toEqual([[], ['amount_exceeds_reconcilable deposit.receivables[0].amount']]);
  });

  it('has no deposit where the caller sees none', async () => {
    const problems = [{ code: 'resource_missing', field: 'deposit.id', message: null }];
    expect(await results({ id: null, receivables: [], problems } as never)).toEqual([{ deposit: null, problems }]);
  });

  it('refuses a key that was used, and then reconciles nothing', async () => {
    const [paid, open] = [await deposit(10n), await receivable(10n)];
    const envelope = json({ account: root.id, key: 'used', operation: 'reconcileDeposits', request: {} });
    const args = json({ deposits: [{ id: paid.id, receivables: [{ id: open.id, amount: '4' }], problems: [] }] });
    const again = () => call('reconcile_deposits', root.tenantId, false, envelope, args);
    const [first] = await again();
    const before = await stateOf(paid, open);
    expect(await refusal(again())).toBe('idempotency_key_in_use');
    expect(await stateOf(paid, open)).toEqual(before);
    const kept = await stored('idempotency', root, 'used', 'key');
    expect(kept.answer).toEqual({ answer: first!.answer });
  });

  it('fails as a whole by what is no refusal', async () => {
    const [paid, open] = [await deposit(10n), await receivable(10n)];
    const before = await stateOf(paid, open);
    const wrong = { ...row(paid), receivables: [{ id: open.id }] } as never;
    await expect(results(row(paid, share(open, 1n)), wrong)).rejects.toThrow('receivables');
    // What fails within the steps keeps its code, by which a deadlock is known.
    const absent = { id: 'receivable_none', amount: 1n };
    const other = await deposit(10n);
    await expect(results(row(paid, share(open, 1n)), row(other, absent))).rejects.toMatchObject({ code: '23502' });
    expect(await stateOf(paid, open)).toEqual(before);
  });
});

of('reconcile_shares', () => {
  it('is what both reconciliations do, with the same refusals', async () => {
    const [paid, open, gone] = [await deposit(10n), await receivable(10n), await receivable(10n)];
    const steps = async ({ id }: Row, ...shares: object[]) =>
      call('reconcile_shares', root.tenantId, false, '{}', id, json(shares), null);
    expect(await refusal(steps(await create(10n), { id: open.id, amount: '1' }))).toBe('status_invalid deposit.status');
    await write(root, 'void_receivable', { id: gone.id });
    expect(await refusal(steps(paid, { id: gone.id, amount: '1' }))).toBe('status_invalid deposit.receivables');
    expect(await steps(paid, { id: open.id, amount: '7' })).toMatchObject([{ id: paid.id, pending_rest: '3' }]);
  });
});

of('reconciliation_result', () => {
  it('is the deposit with what was refused', async () => {
    const [paid, open] = [await deposit(10n), await receivable(5n)];
    const one = (amount: string) =>
      value(
        ...(['reconciliation_result', root.tenantId, false, '{}'] as const),
        json({ id: paid.id, receivables: [{ id: open.id, amount }], problems: [] }),
      ) as unknown as Promise<Row>;
    expect(await one('6')).toMatchObject({
      deposit: { pending_rest: '10' },
      problems: [{ message: expect.stringContaining('still take') }],
    });
    expect(await one('5')).toMatchObject({ deposit: { pending_rest: '5' }, problems: [] });
  });
});

of('deposit_result', () => {
  it('has its numbers as text, and no empty columns', async () => {
    const paid = await deposit(9_007_199_254_740_993n);
    const found = (await value('deposit_result', await textOf(paid))) as unknown as Row;
    expect(found).toMatchObject({ id: paid.id, amount: '9007199254740993', created: `${paid.created}` });
    expect(Object.values(found)).not.toContain(null);
    expect(await value('deposit_result', null)).toBeNull();
  });
});

of('money_keys_of', () => {
  it('is the balance of a user that receives by itself', async () => {
    const keys = await value('money_keys_of', root.tenantId, false, await textOf(await deposit(1n)));
    expect(keys).toEqual([{ account: root.id, currency: 'USD' }]);
  });
});

of('lock_reconciled', () => {
  /** The rows of a table that no other transaction has locked. */
  const free = async (table: string, key: string, ids: readonly string[]) => {
    const found = await world.sql.unsafe(
      `select ${key} as id from ${table} where tenant_id = $1 and livemode = false and ${key} = any($2)
        for update skip locked`,
      [root.tenantId, ids as string[]],
    );
    return found.map(({ id }) => id as string).sort();
  };

  it('locks balances, then deposits and then receivables, each in the order of their keys', async () => {
    const paid = [await deposit(10n), await deposit(10n)];
    const open = [await receivable(10n), await receivable(10n)];
    const [deposits, receivables] = [paid, open].map((each) => each.map(({ id }) => id as string));
    // The arguments have the opposite order.
    const rows = [row(paid[1]!, share(open[1]!, 1n)), row(paid[0]!, share(open[0]!, 1n))];
    const args = json(rows.map((each) => ({ ...each, receivables: each.receivables.map(({ id }) => ({ id })) })));
    const waiting = async (table: string, id: string) =>
      world.sql.begin(async (tx) => {
        await lockRow(tx, root, table, id);
        const asked = call('lock_reconciled', root.tenantId, false, args);
        await statementsWaiting(world, 1);
        const found = [
          await free('balance', 'account_id', [root.id]),
          await free('deposit', 'id', deposits!),
          await free('receivable', 'id', receivables!),
        ];
        return { asked: [asked], found };
      });
    const [d, r] = [deposits!, receivables!];
    for (const [table, id, left] of [
      ['deposit', d[0], [[], [d[1]], r]],
      ['deposit', d[1], [[], [], r]],
      ['receivable', r[0], [[], [], [r[1]]]],
    ] as const) {
      const { asked, found } = await waiting(table, id!);
      await asked[0];
      expect([table, found]).toEqual([table, left]);
    }
    const balanceRow = await world.sql.begin(async (tx) => {
      await tx`select from balance where tenant_id = ${root.tenantId} and not livemode and account_id = ${root.id}
        and currency = 'USD' for update`;
      const asked = call('lock_reconciled', root.tenantId, false, args);
      await statementsWaiting(world, 1);
      const found = [await free('deposit', 'id', d), await free('receivable', 'id', r)];
      return { asked: [asked], found };
    });
    await balanceRow.asked[0];
    expect(balanceRow.found).toEqual([d, r]);
  });
});

describe('reconciliations of the same deposits at once', () => {
  it('wait for each other in one order, whichever order they name', async () => {
    const [a, b] = [await deposit(40n), await deposit(40n, { currency: 'EUR' })];
    const inEuro = { currency: 'EUR', invoice: { amount: '40', currency: 'EUR' } };
    const [one, two] = [await receivable(40n), await receivable(40n, inEuro)];
    const { asked, unlocked } = await world.sql.begin(async (tx) => {
      // The first balance in the order of their keys: no call may hold the other one while it waits for this one.
      await tx`select from balance where tenant_id = ${root.tenantId} and not livemode and account_id = ${root.id}
        and currency = 'EUR' for update`;
      const all = [
        results(row(a, share(one, 10n)), row(b, share(two, 10n))),
        results(row(b, share(two, 10n)), row(a, share(one, 10n))),
        reconcile(b, [share(two, 10n)]),
      ];
      await statementsWaiting(world, all.length);
      const unlocked = await world.sql`select currency from balance
        where tenant_id = ${root.tenantId} and not livemode and account_id = ${root.id} for update skip locked`;
      return { asked: all, unlocked };
    });
    expect(unlocked.map(({ currency }) => currency)).toContain('USD');
    const [first, second] = await Promise.all(asked);
    for (const each of [first, second]) expect((each as Row[]).map(refused)).toEqual([[], []]);
    expect(await stored('receivable', root, one.id)).toMatchObject({ amount_locked: '20' });
    expect(await stored('receivable', root, two.id)).toMatchObject({ amount_locked: '30' });
  });
});

it('the calls have left no broken rule', async () => {
  expect(await violations(fixture)).toEqual([]);
});
