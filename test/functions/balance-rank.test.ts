import { expect, it } from 'vitest';
import { moneyOf, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, jobText, jobsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { deposit } = moneyOf(fixture, root);
const key = () => [root.tenantId, false] as const;
const ranks = () =>
  world.sql`select ranked_as, amount, version::int from balance_rank where account_id = ${root.id} order by 1`;
const rank = () => call('rank_balances', ...key(), `{${root.id},account_none}`);

of('rank_balances', () => {
  it('writes the sum of available and pending, and replaces no newer place', async () => {
    await deposit(500n);
    await rank();
    expect(await ranks()).toEqual([{ ranked_as: 'user USD', amount: '500', version: 1 }]);
    await deposit(70n);
    await rank();
    expect(await ranks()).toEqual([{ ranked_as: 'user USD', amount: '570', version: 2 }]);
    await world.sql`update balance_rank set version = 9, amount = 1 where account_id = ${root.id}`;
    await rank();
    expect(await ranks()).toEqual([{ ranked_as: 'user USD', amount: '1', version: 9 }]);
    await world.sql`delete from balance_rank where account_id = ${root.id}`;
  });

  it('holds the sum of two of the largest amounts', async () => {
    const most = 9_223_372_036_854_775_807n;
    await world.sql
      .begin(async (tx) => {
        await tx`update balance set available = ${most.toString()}::bigint, pending = ${most.toString()}::bigint,
          version = version + 1 where account_id = ${root.id}`;
        await tx`select rank_balances(${root.tenantId}, false, ${[root.id]})`;
        const [row] = await tx`select amount from balance_rank where account_id = ${root.id}`;
        expect(row).toEqual({ amount: `${2n * most}` });
        throw new Error('undo');
      })
      .catch(({ message }) => expect(message).toBe('undo'));
  });
});

of('job_rank_balances', () => {
  it('waits until its time, ranks, and goes on behind the last account', async () => {
    const waiting = async () => (await jobsOf(root, root.id)).filter(({ kind }) => kind === 'rank_balances');
    const run = async (args: object) => {
      await world.sql`delete from job where kind = 'rank_balances'`;
      await call('job_rank_balances', ...key(), await jobText('rank_balances', root.id, args));
      return (await waiting()).map(({ args: of }) => of);
    };
    const soon = Math.floor(Date.now() / 1000) + 600;
    expect(await run({ notBefore: soon })).toEqual([{ notBefore: soon }]);
    expect(await ranks()).toEqual([]);
    expect(await run({ notBefore: 1 })).toEqual([{ upTo: root.id }]);
    expect(await ranks()).toHaveLength(1);
    expect(await run({ upTo: root.id })).toEqual([]);
  });
});
