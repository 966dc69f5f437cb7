import { describe, expect, it } from 'vitest';
import { givenIn, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const day = 86_400;
const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
const cents = (amount: string) => Math.round(Number(amount) * 100);
const compartments = ['available', 'pending', 'processing', 'payoutProcessing', 'feeAdvance'] as const;
type Amounts = Record<(typeof compartments)[number], number>;
const none: Amounts = { available: 0, pending: 0, processing: 0, payoutProcessing: 0, feeAdvance: 0 };

/** Sets the clock of a tenant's test mode, also back: as if the clock of the database stepped. */
const setClock = (user: Speaker, ahead: number) => world.sql`
  insert into test_clock (tenant_id, livemode, offset_seconds, now) values (${tenantOf(user)}, false, ${ahead}, 0)
  on conflict (tenant_id, livemode) do update set offset_seconds = excluded.offset_seconds`;

let causes = 0;
type Legs = [account: string | null, category: string, amount: number][];
const legsOf = (legs: Legs) =>
  legs.map(([account, category, amount]) =>
    account === null ? { contra: category, currency: 'USD', amount } : { account, category, currency: 'USD', amount },
  );
/** Moves money, as the functions of the product do. */
const post = (user: Speaker, legs: Legs) => world.sql`
  with locked as materialized (
    select lock_balances(${tenantOf(user)}, false, ${world.sql.json(legsOf(legs) as never)}))
  select post(${tenantOf(user)}, false, 'deposit', ${`cause_${++causes}`}, 'payment_1',
    ${world.sql.json(legsOf(legs) as never)}) from locked`;
/** The entries of a user in their order, each with the amounts after it and the time by which it counts. */
async function counted(user: Speaker): Promise<{ at: number; after: Amounts }[]> {
  const rows = await world.sql<{ created: string; category: string; balance_after: string }[]>`
    select created, category, balance_after from entry where tenant_id = ${tenantOf(user)} and account_id = ${user.id}
    order by version`;
  let [at, after] = [0, none];
  return rows.map(({ created, category, balance_after }) => {
    at = Math.max(at, Number(created));
    const name = category.replace(/_(.)/g, (_, c: string) => c.toUpperCase());
    after = { ...after, [name]: Number(balance_after) };
    return { at, after };
  });
}

const fields = compartments.map((name) => `${name} { amount }`).join(' ');
const amountsOf = (balance: any): Amounts => ({
  ...none,
  ...Object.fromEntries(compartments.map((name) => [name, cents(balance[name][0]?.amount ?? '0')])),
});

async function ask(user: Speaker, times: number[], from: number, to: number) {
  const { body } = await user.graph(
    `query ($from: DateTime!, $to: DateTime!) { viewer { now account { balance { ${fields} }
      ${times.map((time, i) => `at${i}: balance(asOf: "${iso(time)}") { ${fields} }`).join(' ')}
      balanceHistory(from: $from, to: $to, interval: DAY) { start ${compartments.join(' ')} } } } }`,
    { from: iso(from), to: iso(to) },
  );
  expect(body.errors).toBe(undefined);
  const { now, account } = body.data.viewer;
  return {
    now: Date.parse(now) / 1_000,
    balance: amountsOf(account.balance),
    at: times.map((_, i) => amountsOf(account[`at${i}`])),
    history: account.balanceHistory.map((point: any) => ({
      end: Math.min(Date.parse(point.start) / 1_000 + day, to),
      amounts: Object.fromEntries(compartments.map((name) => [name, cents(point[name])])),
    })),
  };
}

/** Compares statements with the entries: those of each day of a range, in pages of one movement. */
async function compareStatements(user: Speaker, from: number, to: number): Promise<void> {
  const found: string[] = [];
  let closing: number | undefined;
  for (let start = from; start < to; start += day) {
    let after: string | null = null;
    for (let more = true; more; ) {
      const { body } = await user.graph(
        `query ($from: DateTime!, $to: DateTime!, $after: ID) { viewer { account { balanceStatement(
          from: $from, to: $to, currency: "USD") { opening { total { amount } } closing { total { amount } }
          movements(first: 1, after: $after) { nodes { amount { amount } balanceAfter { amount } }
            pageInfo { hasNextPage endCursor } } } } } }`,
        { from: iso(start), to: iso(start + day), after },
      );
      // The payment of these entries is invented, so its type and totals are not asked for.
      expect(body.errors).toBe(undefined);
      const statement = body.data.viewer.account.balanceStatement;
      if (after === null && closing !== undefined) expect(cents(statement.opening.total.amount)).toBe(closing);
      const { nodes, pageInfo } = statement.movements;
      found.push(...nodes.map((node: any) => `${node.amount.amount} ${node.balanceAfter.amount}`));
      ({ endCursor: after, hasNextPage: more } = pageInfo);
      if (!more) closing = cents(statement.closing.total.amount);
    }
  }
  const rows = await world.sql<{ amount: string; total: string }[]>`
    select amount, sum(amount) over (order by version) as total from (select posting_id, sum(amount) as amount,
      max(version) as version from entry where tenant_id = ${tenantOf(user)} and account_id = ${user.id}
      group by posting_id) p where amount <> 0 order by version`;
  const shown = (minor: string) => (Number(minor) / 100).toFixed(2);
  expect(found).toEqual(rows.map(({ amount, total }) => `${shown(amount)} ${shown(total)}`));
}

/** Compares the balance, as of many times and in steps, with the entries in their order. */
async function compare(user: Speaker): Promise<void> {
  const entries = await counted(user);
  const all = entries.at(-1)!.after;
  const [{ now }] = [await ask(user, [], 0, day)];
  const [from, to] = [now - 6 * day, now + 3 * day];
  const times = [...new Set(entries.flatMap(({ at }) => [at - 1, at, at + 1])), now + 60, now + 4 * day];
  const answer = await ask(user, times, from, to);
  /** What was there before `end`: all, if that is later than now. */
  const before = (end: number): Amounts =>
    end > answer.now ? all : (entries.findLast(({ at }) => at < end)?.after ?? none);
  expect(answer.balance).toEqual(all);
  // A time within the seconds of the question may count as past or as present.
  const sure = times.map((time, i) => [time, answer.at[i]!] as const).filter(([time]) => time < now || time > now + 59);
  expect(sure).toEqual(sure.map(([time]) => [time, before(time + 1)]));
  expect(answer.history.length).toBeGreaterThanOrEqual(9);
  expect(answer.history).toEqual(answer.history.map(({ end }: any) => ({ end, amounts: before(end) })));
  await compareStatements(user, now - 11 * day, now + 4 * day);
}

const violations = (user: Speaker) => world.sql`
  select rule, what from late_entry_violations where tenant_id = ${tenantOf(user)} order by 1, 2`;

/** A user with entries of all kinds, and a clock that stepped back between them. */
async function stepped(): Promise<Speaker> {
  const user = await given.directUser(1);
  const { id } = user;
  const credit = (amount: number): Legs => [
    [id, 'pending', amount],
    [null, 'bank', -amount],
  ];
  const within = (amount: number): Legs => [
    [id, 'pending', -amount],
    [id, 'available', amount],
  ];
  for (const [ahead, legs] of [
    [-5 * day, credit(10_000)],
    [-3 * day, within(3_000)],
    [2 * day, credit(700)],
    // A step back of some seconds, of days, and one behind another; then the clock goes on.
    [2 * day - 5, credit(11)],
    [-4 * day, within(100)],
    [-2 * day, credit(13)],
    [-2 * day + 3_600, within(17)],
  ] as const) {
    await setClock(user, ahead);
    await post(user, legs);
  }
  await setClock(user, -2 * day - 7_200);
  for (const amount of [19, 23]) await post(user, credit(amount));
  await setClock(user, -day);
  await post(user, credit(29));
  await setClock(user, 0);
  return user;
}

describe('a balance as of a time, after a step back of the clock', () => {
  it('is the balance itself at a time that is not before now, and so is the end of its history', async () => {
    const user = await given.directUser(1);
    const credit = (amount: number): Legs => [
      [user.id, 'pending', amount],
      [null, 'bank', -amount],
    ];
    await setClock(user, day);
    await post(user, credit(10_000));
    await setClock(user, 0);
    await post(user, credit(700));
    const { now } = await ask(user, [], 0, day);
    const { at, history, balance } = await ask(user, [now + 60, now + 2 * day, now - 2], now - day, now + 60);
    expect([balance.pending, at.map(({ pending }) => pending), history.at(-1).amounts.pending]).toEqual([
      10_700,
      [10_700, 10_700, 0],
      10_700,
    ]);
  });

  it('follows the order of the entries, by its versions, in each compartment', async () => {
    const user = await stepped();
    await compare(user);
    expect(await violations(user)).toEqual([]);
    // When the clock has caught up, the times of the past have not changed.
    await setClock(user, 3 * day);
    await post(user, [
      [user.id, 'available', -50],
      [null, 'bank', 50],
    ]);
    await compare(user);
    expect(await violations(user)).toEqual([]);
  });

  it('follows it for entries from before late ones were kept, once a job has found them', async () => {
    const user = await stepped();
    const late = () => world.sql`select account_id, currency, version, category, balance_after, as_of from late_entry
      where tenant_id = ${tenantOf(user)} order by version`;
    const kept = await late();
    expect(kept.length).toBeGreaterThan(5);
    await world.sql`delete from late_entry where tenant_id = ${tenantOf(user)}`;
    await world.sql`update balance set latest = null, late = false where tenant_id = ${tenantOf(user)}`;
    const entries = (await counted(user)).length;
    expect((await violations(user)).map(({ rule }) => rule)).toEqual([
      'balance has another greatest time than its entries',
      ...kept.map(() => 'entry does not count at the greatest time up to it'),
    ]);
    // Meanwhile the balance moves, first behind the entries before it.
    for (const ahead of [-2 * day, -3 * day, day]) {
      await setClock(user, ahead);
      await post(user, [
        [user.id, 'pending', 1],
        [null, 'bank', -1],
      ]);
    }
    await setClock(user, 0);
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      values (${tenantOf(user)}, false, 'job_late', 1, 'find_late_entries', ${user.id}, '{}', 1)`;
    expect(await violations(user)).toEqual([]);
    for (;;) {
      const [job] = await world.sql`select id from job where tenant_id = ${tenantOf(user)}
        and kind = 'find_late_entries' order by id limit 1`;
      if (!job) break;
      await world.sql`select job_find_late_entries(tenant_id, livemode, j) from job j
        where tenant_id = ${tenantOf(user)} and id = ${job.id}`;
      await world.sql`delete from job where tenant_id = ${tenantOf(user)} and id = ${job.id}`;
    }
    expect((await late()).slice(0, kept.length)).toEqual(kept);
    expect((await counted(user)).length).toBe(entries + 3);
    expect(await violations(user)).toEqual([]);
    await compare(user);
  });
});
