import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Context } from '../../src/operation/context.js';
import { Scope } from '../../src/db/scope.js';
import type { AccountRow } from '../../src/resources/account/table.js';
import { balanceHistory } from '../../src/resources/balance/history.js';
import { topUsers } from '../../src/resources/balance/top-users.js';
import { depositTotals } from '../../src/resources/balance/totals.js';
import { scale, seedsOf } from '../support/scale.js';
import { makeAccount, moneyOf, type Row, useFunctions, violations } from '../functions/fixture.js';
import { nickname, withoutTotals } from '../support/world.js';
import { createRoot } from '../../src/operator/account/accounts.js';

const fixture = useFunctions();
const { world, write } = fixture;
const day = 86_400;

/** A platform with a partner of its own, and with a user that has a partner. */
async function makeTenant() {
  const { account } = await createRoot(world.operator, {
    ...{ type: 'platform', edition: 1, nickname: nickname(), businessDetails: { legalName: 'Malabar Spice Traders' } },
  });
  const root = { id: account.id, tenantId: account.tenantId, live: false };
  const user = await makeAccount(fixture, root, 'connected_user');
  const partner = await makeAccount(fixture, root, 'partner', { ownerId: user.id, actingAccountId: user.id });
  const own = await makeAccount(fixture, root, 'partner');
  const other = await makeAccount(fixture, root, 'connected_user');
  const accounts = [root.id, user.id, partner.id, own.id, other.id] as string[];
  /** Each account with the accounts below it. */
  const below: Record<string, string[]> = { [root.id]: accounts, [user.id]: [user.id, partner.id] };
  for (const { id } of [partner, own, other]) below[id] = [id];
  return { root, accounts, below, users: [user.id, other.id] as string[] };
}
type Tenant = Awaited<ReturnType<typeof makeTenant>>;

/** What one step of a history does. */
const steps = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('complete' as const), which: fc.nat(99) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('dispute' as const), which: fc.nat(99) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('reverse' as const), which: fc.nat(99) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('advance' as const), which: fc.nat(40 * 3600) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('sum' as const), which: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('crash' as const), which: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('upgrade' as const), which: fc.constant(0) }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('backfill' as const), which: fc.integer({ min: 1, max: 4 }) }),
  },
);
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never;

async function take({ root, accounts }: Tenant, { does, which }: Step): Promise<void> {
  const { sql } = world;
  const any = async (where: string): Promise<Row | undefined> => {
    const rows = await sql.unsafe<Row[]>(
      `select * from deposit where tenant_id = '${root.tenantId}' and ${where} order by id`,
    );
    return rows[which % rows.length];
  };
  const sum = (limit: number) => world.database.call('sum_deposits', [root.tenantId, false, limit]);
  if (does === 'complete') {
    await moneyOf(fixture, root).deposit(BigInt(which + 1) * 1_000n, {
      toAccountId: accounts[which % 4]!,
      paymentMethod: which % 3 === 0 ? 'check' : 'domestic_wire',
      currency: which % 5 === 0 ? 'EUR' : 'USD',
    });
  } else if (does === 'dispute') {
    const found = await any("status = 'completed' and amount > 0 and disputed < amount");
    if (found) await write(root, 'dispute_deposit', { id: found.id, amount: 100n });
  } else if (does === 'reverse') {
    const disputed = which % 3 > 0 ? await any("status = 'completed' and disputed > 0") : undefined;
    const found = disputed ?? (await any("status = 'completed' and amount > 0"));
    if (found) await write(root, 'move_deposit', { id: found.id, from: ['completed'], to: 'reversed' });
  } else if (does === 'advance') {
    await write(root, 'advance_clock', { advanceSeconds: which + 1 });
  } else if (does === 'sum') {
    await Promise.all([sum(which), sum(which)]);
  } else if (does === 'crash') {
    // The process dies before its statement commits.
    const lost = sql.begin(async (tx) => {
      await tx`select sum_deposits(${root.tenantId}, false, 100)`;
      throw new Error('crash');
    });
    await expect(lost).rejects.toThrow('crash');
  } else if (does === 'upgrade') {
    // A database of a release without totals, right after its migration.
    await withoutTotals(world, root.tenantId);
  } else await world.database.call('backfill_deposit_totals', [root.tenantId, false, which]);
}

const scopeOfAccount = (descendants: boolean) => (descendants ? ('descendants' as const) : ('self' as const));

/** Who calls, and for which account. */
const scopeOf = ({ root }: Tenant) =>
  new Scope(
    {
      ...{ tenantId: root.tenantId, livemode: false, edition: 1, kind: 'platform', permission: 'full', keyId: null },
      ...{ accountId: root.id, actingAccountId: root.id, actingAccountKind: 'platform' },
    },
    world.database,
  );

const stepOf = (time: number, interval: string): number => {
  const at = new Date(time * 1000);
  const midnight = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), interval === 'month' ? 1 : at.getUTCDate()) / 1000;
  return interval === 'week' ? midnight - ((at.getUTCDay() + 6) % 7) * day : midnight;
};

const zones = [
  ...['Asia/Kolkata', 'America/New_York', 'Asia/Kathmandu', 'Atlantic/Azores', 'Africa/Cairo', 'Australia/Lord_Howe'],
  ...['Pacific/Kiritimati', 'Europe/London', 'America/Havana'],
];
const formats = new Map<string, Intl.DateTimeFormat>();
/** The date of a time in a time zone, by the tables of this process and not by those of PostgreSQL. */
const dateIn = (timeZone: string, seconds: number): string => {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  formats.set(timeZone, format);
  return format.format(seconds * 1000);
};
const begun = new Map<string, number>();
/** The first quarter of an hour in which it is a date, or later, in a time zone. */
function beginOf(timeZone: string, date: string): number {
  const key = `${timeZone} ${date}`;
  let at = begun.get(key) ?? Date.parse(`${date}T00:00:00Z`) / 1000 - 15 * 3600;
  while (dateIn(timeZone, at) < date) at += 900;
  begun.set(key, at);
  return at;
}
/** The beginning of the step of a time in a time zone. */
const zonedStepOf = (time: number, interval: string, timeZone: string): number =>
  timeZone === 'UTC'
    ? stepOf(time, interval)
    : beginOf(timeZone, dateIn('UTC', stepOf(Date.parse(`${dateIn(timeZone, time)}T00:00:00Z`) / 1000, interval)));

/** The plain sum over the rows, without any of the product's own statements. */
function plainSum(rows: Row[], range: { from: number; to: number; interval: string; timeZone: string }): string[] {
  const reversed = new Set(rows.filter(({ status }) => status === 'reversed').map(({ id }) => id));
  const sums = new Map<string, { count: number; amount: bigint }>();
  for (const row of rows) {
    const created = Number(row.created);
    if (row.status !== 'completed' || reversed.has(row.disputes_id)) continue;
    if (created < range.from || created >= range.to) continue;
    const key = `${zonedStepOf(created, range.interval, range.timeZone)} ${row.payment_method} ${row.currency}`;
    const { count, amount } = sums.get(key) ?? { count: 0, amount: 0n };
    sums.set(key, { count: count + 1, amount: amount + BigInt(row.amount) });
  }
  return [...sums].map(([key, { count, amount }]) => `${key}: ${count} of ${amount}`).toSorted();
}

async function compare(tenant: Tenant, [a, b]: readonly number[]): Promise<void> {
  const rows: Row[] = await world.sql`select * from deposit where tenant_id = ${tenant.root.tenantId}`;
  if (rows.length === 0) return;
  const times = rows.map(({ created }) => Number(created));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const at = (share: number) => first - day + Math.floor(((last - first + 2 * day) * share) / 1000);
  const ends = [at(Math.min(a!, b!)), at(Math.max(a!, b!)) + 1];
  const days = [ends[0]! - (ends[0]! % day), ends[1]! - (ends[1]! % day) + day];
  const exact = [times[a! % times.length]!, times[b! % times.length]! + 1].toSorted((x, y) => x - y);
  const zone = zones[(a! + b!) % zones.length]!;
  // After a quarter of the steps, because it asks for the history of each account.
  if (a! % 4 === 0) await compareActingAccounts(tenant, rows, { from: ends[0]!, to: Math.max(ends[1]!, ends[0]! + 1) });
  for (const [from, to] of [ends, days, exact] as [number, number][])
    for (const [interval, timeZone] of [
      ...[['day', 'UTC'] as const, ['week', 'UTC'] as const, ['month', 'UTC'] as const],
      ...(from === ends[0] ? [[(['day', 'week', 'month'] as const)[a! % 3]!, zone] as const] : []),
    ])
      for (const [id, descendants] of tenant.accounts.flatMap((one) => [[one, false] as const, [one, true] as const])) {
        const range = { from, to: Math.max(to, from + 1), interval, scope: scopeOfAccount(descendants), timeZone };
        const context = { scope: scopeOf(tenant) } as Context;
        const found = await depositTotals({ id } as AccountRow, context, range);
        const lines = found.map((t) => `${t.start} ${t.paymentMethod} ${t.currency}: ${t.count} of ${t.amount}`);
        const receivers = descendants ? tenant.below[id] : [id];
        const received = rows.filter((row) => receivers!.includes(row.to_account_id));
        expect([id, range, lines.toSorted()]).toEqual([id, range, plainSum(received, range)]);
      }
}

/** The ranked users of a range, from the plain sums of each user and its partners. */
function plainRanks({ users, below }: Tenant, rows: Row[], { from, to }: { from: number; to: number }): string[] {
  const reversed = new Set(rows.filter(({ status }) => status === 'reversed').map(({ id }) => id));
  const counted = rows.filter(
    ({ status, created, disputes_id }) =>
      status === 'completed' && !reversed.has(disputes_id) && Number(created) >= from && Number(created) < to,
  );
  const sums = users.flatMap((id) =>
    [...new Set(counted.map(({ currency }) => String(currency)))].map((currency) => {
      const own = counted.filter((row) => row.currency === currency && below[id]!.includes(row.to_account_id));
      return { id, currency, count: own.length, amount: own.reduce((sum, row) => sum + BigInt(row.amount), 0n) };
    }),
  );
  const order = (a: (typeof sums)[0], b: (typeof sums)[0]) =>
    a.currency.localeCompare(b.currency) || Number(b.amount - a.amount) || (a.id < b.id ? -1 : 1);
  const ranks = new Map<string, number>();
  return sums
    .filter(({ count }) => count > 0)
    .toSorted(order)
    .map(({ id, currency, count, amount }) => {
      ranks.set(currency, (ranks.get(currency) ?? 0) + 1);
      return `${ranks.get(currency)} ${id} ${currency}: ${count} of ${amount}`;
    });
}

/** Compares the figures of the whole platform with those of its users and with the sums of the accounts' own ones. */
async function compareActingAccounts(tenant: Tenant, rows: Row[], range: { from: number; to: number }): Promise<void> {
  const context = { scope: scopeOf(tenant) } as Context;
  const platform = { id: tenant.root.id, kind: 'platform' } as AccountRow;
  const whole = await topUsers(platform, context, { ...range, limit: 100 });
  const top = whole!.currencies.flatMap(({ currency, users }) => users.map((each) => ({ ...each, currency })));
  const lines = top.map((t) => `${t.rank} ${t.accountId} ${t.currency}: ${t.count} of ${t.amount.amount}`);
  expect([range, lines]).toEqual([range, plainRanks(tenant, rows, range)]);
  const first = await topUsers(platform, context, { ...range, limit: 1, currency: 'USD' });
  const ofUsd = whole!.currencies.filter(({ currency }) => currency === 'USD');
  // The totals are of all users, whatever the limit is.
  expect(first!.currencies).toEqual(ofUsd.map((each) => ({ ...each, users: each.users.slice(0, 1) })));
  for (const { currency, total, count, userCount, users } of whole!.currencies) {
    const amount = users.reduce((sum, each) => sum + each.amount.amount, 0n);
    expect([total, userCount]).toEqual([{ amount, currency }, users.length]);
    expect(count).toBe(users.reduce((sum, each) => sum + each.count, 0));
  }

  const compartments = ['available', 'pending', 'processing', 'payoutProcessing', 'feeAdvance'] as const;
  const history = async (id: string, descendants: boolean) =>
    balanceHistory({ id } as AccountRow, context, { ...range, interval: 'day', scope: scopeOfAccount(descendants) });
  const own = new Map(await Promise.all(tenant.accounts.map(async (id) => [id, await history(id, false)] as const)));
  for (const id of tenant.accounts) {
    const sums = new Map<string, bigint[]>();
    for (const point of tenant.below[id]!.flatMap((each) => own.get(each)!)) {
      const key = `${point.start} ${point.currency}`;
      const before = sums.get(key) ?? compartments.map(() => 0n);
      sums.set(
        key,
        compartments.map((name, i) => before[i]! + point[name]),
      );
    }
    const points = await history(id, true);
    const found = points.map((each) => [`${each.start} ${each.currency}`, compartments.map((name) => each[name])]);
    expect([id, range, found]).toEqual([id, range, [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))]);
  }
}

describe.each(seedsOf('api/deposit-totals'))('totals of deposits, seed %i', (seed) => {
  it('are the plain sum after each step of any history, with crashes, an upgrade and a test clock', async () => {
    const history = fc.array(fc.tuple(steps, fc.tuple(fc.nat(1000), fc.nat(1000))), { minLength: 20, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(history, async (taken) => {
        const tenant = await makeTenant();
        for (const [step, share] of taken) {
          await take(tenant, step);
          await compare(tenant, share);
          const broken = (await violations(fixture)).filter(({ rule }) => String(rule).includes('total'));
          expect([step, broken]).toEqual([step, []]);
        }
      }),
      { numRuns: Math.ceil(scale.histories.runs / 4), seed, endOnFailure: true },
    );
  });

  it('begin at midnight in a time zone, also where clocks change, and twice or never strike midnight', async () => {
    const { root, accounts } = await makeTenant();
    const { sql } = world;
    const at = (time: string) => Date.parse(time) / 1000;
    // Around each change of the clocks of the zones in 2026 and 2027, and around midnights.
    const changes = fc.sample(
      fc.tuple(
        fc
          .constantFrom(
            ...['2026-03-08T05:00:00Z', '2026-03-29T01:00:00Z', '2026-04-04T15:00:00Z', '2026-04-23T22:00:00Z'],
            ...['2026-10-03T15:30:00Z', '2026-10-25T01:00:00Z', '2026-10-29T21:00:00Z', '2026-11-01T05:00:00Z'],
            ...['2026-12-31T18:30:00Z', '2027-01-01T00:00:00Z', '2027-03-28T01:00:00Z', '2026-07-01T10:00:00Z'],
          )
          .map(at),
        fc.oneof(fc.integer({ min: -9_000, max: 9_000 }), fc.integer({ min: -172_800, max: 172_800 })),
      ),
      { numRuns: 400, seed },
    );
    await sql`insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
      statement_descriptor, status, payment_id, context_id, on_root_list)
      select ${root.tenantId}, false, 'deposit_' || lpad(n::text, 8, '0'), c, n, 'USD', ${accounts[0]!}, 'check', '',
      'completed', 'payment_' || n, ${accounts[0]!}, true
      from unnest(${changes.map(([time, seconds]) => time + seconds)}::bigint[]) with ordinality u(c, n)`;
    await withoutTotals(world, root.tenantId);
    for (let more = true; more; ) {
      const [row] = await world.database.call('backfill_deposit_totals', [root.tenantId, false, 1_000]);
      more = row!.backfill_deposit_totals !== null;
    }
    const rows: Row[] = await sql`select * from deposit where tenant_id = ${root.tenantId}`;
    const tenant = { root, accounts, below: {}, users: [] };
    for (const timeZone of zones)
      for (const interval of ['day', 'week', 'month'] as const)
        for (const [from, to] of [
          [at('2026-03-01T00:00:00Z'), at('2027-03-30T00:00:00Z')],
          [at('2026-10-24T23:17:05Z'), at('2026-11-01T05:45:01Z')],
        ] as const) {
          const range = { from, to, interval, scope: scopeOfAccount(false), timeZone };
          const context = { scope: scopeOf(tenant) } as Context;
          const found = await depositTotals({ id: root.id } as AccountRow, context, range);
          const lines = found.map((t) => `${t.start} ${t.paymentMethod} ${t.currency}: ${t.count} of ${t.amount}`);
          expect([range, lines.toSorted()]).toEqual([range, plainSum(rows, range)]);
        }
  });
});
