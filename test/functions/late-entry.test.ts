import { expect, it } from 'vitest';
import { makeAccount, type Row, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, jobText, jobsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const at = () => [root.tenantId, false] as const;
let causes = 0;

/** A balance with entries that were posted at some times of the clock. */
async function entered(...times: number[]): Promise<string> {
  const { id } = await makeAccount(fixture, root);
  await call('lock_balance', ...at(), id, 'USD');
  for (const time of times) {
    await world.sql`insert into test_clock (tenant_id, livemode, offset_seconds, now)
      values (${root.tenantId}, false, ${time}, 0)
      on conflict (tenant_id, livemode) do update set offset_seconds = excluded.offset_seconds`;
    const legs = [
      { account: id, category: 'pending', currency: 'USD', amount: 1 },
      { contra: 'bank', currency: 'USD', amount: -1 },
    ];
    await value('post', ...at(), 'deposit', `cause_${++causes}`, 'payment_1', JSON.stringify(legs));
  }
  return id;
}
const late = (account: string) => world.sql<Row[]>`select version::int, balance_after::int, as_of::int from late_entry
  where account_id = ${account} order by version`;
const balance = async (account: string) =>
  (await world.sql<Row[]>`select latest::int, late from balance where account_id = ${account}`)[0]!;
const forget = async (account: string) => {
  await world.sql`delete from late_entry where account_id = ${account}`;
  await world.sql`update balance set latest = null, late = false where account_id = ${account}`;
};
const createdOf = async (account: string, version: number) =>
  (await world.sql<Row[]>`select created::int from entry where account_id = ${account} and version = ${version}`)[0]!
    .created;

of('insert_late_entry', () => {
  it('stores the time by which an entry counts, with what the entry has', async () => {
    const account = await entered(100_000, 200_000);
    expect([await late(account), (await balance(account)).late]).toEqual([[], false]);
    for (const time of [7, 9]) await call('insert_late_entry', ...at(), account, 'USD', 2, time);
    expect(await late(account)).toEqual([{ version: 2, balance_after: 2, as_of: 9 }]);
  });

  it('is called by a posting of a clock that is behind, and by no other', async () => {
    const account = await entered(200_000, 100_000, 300_000, 300_000);
    const greatest = await createdOf(account, 1);
    expect(await late(account)).toEqual([{ version: 2, balance_after: 2, as_of: greatest }]);
    expect(await balance(account)).toEqual({ latest: await createdOf(account, 4), late: true });
  });
});

of('find_late_entries_of', () => {
  it('finds them some at a time, with the greatest time before them', async () => {
    const account = await entered(200_000, 100_000, 150_000, 300_000, 299_000);
    const kept = await late(account);
    expect(kept.map(({ version }) => version)).toEqual([2, 3, 5]);
    await forget(account);
    const find = (version: number, latest: number | null) =>
      call('find_late_entries_of', ...at(), account, 'USD', version, latest, 2);
    const first = (await find(0, null))[0]!;
    expect(first).toMatchObject({ entries: 2, up_to: '2', reached: String(kept[0]!.as_of), complete: false });
    const second = (await find(2, Number(first.reached)))[0]!;
    expect(second).toMatchObject({ entries: 2, up_to: '4', complete: false });
    expect((await find(4, Number(second.reached)))[0]).toMatchObject({ entries: 1, up_to: '5', complete: true });
    expect([await late(account), await balance(account)]).toEqual([kept, { latest: kept[2]!.as_of, late: true }]);
    // A balance without an entry has no greatest time.
    const empty = await entered();
    const [none] = await call('find_late_entries_of', ...at(), empty, 'USD', 0, null, 2);
    expect([none, (await balance(empty)).latest]).toEqual([
      { entries: 0, up_to: '0', reached: null, complete: true },
      null,
    ]);
  });
});

of('job_find_late_entries', () => {
  const run = async (args: object) => {
    await world.sql`delete from job where kind = 'find_late_entries'`;
    await call('job_find_late_entries', ...at(), await jobText('find_late_entries', root.id, args));
    const jobs = await jobsOf(root, root.id);
    return jobs.filter(({ kind }) => kind === 'find_late_entries').map(({ args: of }) => of as object);
  };

  it('waits until its time, and leaves the rest to another job', async () => {
    const soon = Math.floor(Date.now() / 1000) + 600;
    expect(await run({ notBefore: soon })).toEqual([{ notBefore: soon }]);
    const account = await entered(200_000, 100_000);
    const kept = await late(account);
    // More entries than one job reads, and after them one more balance.
    await world.sql`update balance set version = version + 1500 where account_id = ${account}`;
    await world.sql`insert into entry select (jsonb_populate_record(e, jsonb_build_object('id', e.id || n,
      'version', n + 2, 'balance_after', 2 + n))).* from entry e, generate_series(1, 1500) n
      where e.account_id = ${account} and e.version = 2`;
    const other = await entered(200_000, 100_000);
    const keptOfOther = await late(other);
    for (const each of [account, other]) await forget(each);
    let left: object[] = [{ notBefore: 1 }];
    const jobs: object[] = [];
    while (left.length > 0) {
      left = await run(left[0]!);
      jobs.push(...left);
    }
    expect(jobs).toMatchObject([{ account, currency: 'USD' }]);
    expect((await late(account)).length).toBe(1501);
    expect((await late(account))[0]).toEqual(kept[0]);
    expect(await late(other)).toEqual(keptOfOther);
  });
});
