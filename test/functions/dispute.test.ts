import { expect, it } from 'vitest';
import { lockedInOrder, moneyOf, refusal, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { of, call, value, write, rowText, jobText, stored } = fixture;
const root = useRoot(fixture, 'user', 1);
const { create, deposit, receivable, reconcile, reconciled, balance } = moneyOf(fixture, root);
const textOf = ({ id }: Row) => rowText('deposit', root, id);
const reverse = ({ id }: Row) => write(root, 'move_deposit', { id, from: ['completed'], to: 'reversed' });

of('reconciled_of', () => {
  it('is what is counted towards receivables and not taken back', async () => {
    const { deposit: counted } = await reconciled(9n);
    expect(await value('reconciled_of', await textOf(counted))).toBe('9');
    expect(await value('reconciled_of', await textOf(await deposit(9n)))).toBe('0');
    const reversed = await reverse(counted);
    expect(await value('reconciled_of', await textOf(reversed))).toBe('0');
  });
});

of('overlocked_of', () => {
  it('is what the locks exceed the reconciled money by', async () => {
    const { deposit: paid } = await reconciled(9n);
    expect(await value('overlocked_of', root.tenantId, false, paid.id)).toBe('0');
    expect(await value('overlocked_of', root.tenantId, false, (await deposit(9n)).id)).toBe('0');
  });
});

of('lock_receivables', () => {
  it('locks in the order of the ids', async () => {
    const ids = [await receivable(1n), await receivable(1n)].map(({ id }) => id as string).toSorted();
    const lock = () => call('lock_receivables', root.tenantId, false, `{${ids.toReversed().join()}}`);
    expect(await lockedInOrder(fixture, root, ids, lock)).toBe(true);
  });
});

of('shrinkable_locks', () => {
  it('are those of open batches, the newest first, from an id on', async () => {
    const [paid, one, two] = [await deposit(20n), await receivable(10n), await receivable(10n)];
    await reconcile(
      paid,
      [one, two].map(({ id }) => ({ id, amount: 10n })),
    );
    const found = async (from: string | null) => {
      const [row] = await call('shrinkable_locks', root.tenantId, false, paid.id, from);
      const ids = [...String(row!.shrinkable_locks).matchAll(/receivable_[0-9a-f]+/g)].map(([id]) => id);
      return ids;
    };
    expect(await found(null)).toEqual([two.id, one.id]);
    expect(await found('lock_z')).toEqual([]);
  });
});

of('shrink_locks', () => {
  it('shrinks the newest lock first', async () => {
    const [paid, one, two] = [await deposit(20n), await receivable(10n), await receivable(10n)];
    await reconcile(
      paid,
      [one, two].map(({ id }) => ({ id, amount: 10n })),
    );
    await call('shrink_locks', root.tenantId, false, '{}', paid.id, 0);
    await call('shrink_locks', root.tenantId, false, '{}', paid.id, 12);
    expect(await stored('receivable', root, two.id)).toMatchObject({ amount_locked: '0' });
    expect(await stored('receivable', root, one.id)).toMatchObject({ amount_locked: '8' });
  });
});

of('job_shrink_locks', () => {
  it('shrinks nothing while the locks fit the reconciled money', async () => {
    const { deposit: paid, receivable: id } = await reconciled(9n);
    await call(
      ...(['job_shrink_locks', root.tenantId, false] as const),
      await jobText('shrink_locks', root.id, { deposit: paid.id }),
    );
    expect(await stored('receivable', root, id)).toMatchObject({ amount_locked: '9' });
  });
});

of('claw_back', () => {
  it('takes the pending money first, then the available, and frees as much of the locks', async () => {
    const [paid, { id }] = [await deposit(30n), await receivable(20n)];
    const counted = await reconcile(paid, [{ id, amount: 20n }]);
    const back = async () =>
      call(
        ...(['claw_back', root.tenantId, false, '{}', await textOf(counted), 15] as const),
        ...(['dispute', `cause ${paid.id}`, paid.payment_id, 'pending'] as const),
      );
    const before = Number((await balance(root.id)).available);
    await back();
    expect(Number((await balance(root.id)).available) - before).toBe(-5);
    expect(await stored('deposit', root, paid.id)).toMatchObject({ pending_rest: '0' });
    expect(await stored('receivable', root, id)).toMatchObject({ amount_locked: '15' });
  });
});

of('dispute_deposit', () => {
  const dispute = ({ id }: Row, amount?: bigint) => write(root, 'dispute_deposit', { id, amount });

  it('creates a deposit with a negative amount', async () => {
    const { deposit: paid, receivable: id } = await reconciled(9n);
    expect(await dispute(paid, 4n)).toMatchObject({ amount: '-4', disputes_id: paid.id, status: 'completed' });
    expect(await stored('deposit', root, paid.id)).toMatchObject({ disputed: '4' });
    expect(await stored('receivable', root, id)).toMatchObject({ amount_locked: '5' });
  });

  it('refuses more than the undisputed rest, and a deposit that is not completed', async () => {
    const paid = await deposit(9n);
    expect(await refusal(dispute(paid, 10n))).toBe('amount_exceeds_deposit deposit.amount');
    expect(await refusal(dispute(await create(9n)))).toBe('status_invalid deposit.status');
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toHaveLength(0);
});
