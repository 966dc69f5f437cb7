import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Context } from '../src/operation/context.js';
import { Scope } from '../src/db/scope.js';
import type { AccountRow } from '../src/resources/account/table.js';
import { depositTotals } from '../src/resources/balance/totals.js';
import { scale } from './faults/scale.js';
import { makeAccount, moneyOf, type Row, useFunctions, violations } from './functions/fixture.js';
import { nickname, withoutTotals } from './world.js';

vi.setConfig({ testTimeout: 120_000 });

const fixture = useFunctions();
const { world, write } = fixture;
const day = 86_400;

/** A platform with a partner of its own, and with a user that has a partner. */
async function makeTenant() {
  const { account } = await world.operator.createRoot({
    ...{ type: 'platform', edition: 1, nickname: nickname(), businessDetails: { legalName: 'Malabar Spice Traders' } },
  });
  const root = { id: account.id, tenantId: account.tenantId, live: false };
  const user = await makeAccount(fixture, root, 'connected_user');
  const partner = await makeAccount(fixture, root, 'partner', { ownerId: user.id, actingAccountId: user.id });
  const own = await makeAccount(fixture, root, 'partner');
  const accounts = [root.id, user.id, partner.id, own.id] as string[];
  /** Each account with the accounts below it. */
  const below: Record<string, string[]> = { [root.id]: accounts, [user.id]: [user.id, partner.id] };
  for (const { id } of [partner, own]) below[id] = [id];
  return { root, accounts, below };
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

/** The plain sum over the rows, without any of the product's own statements. */
function plainSum(rows: Row[], range: { from: number; to: number; interval: string }): string[] {
  const reversed = new Set(rows.filter(({ status }) => status === 'reversed').map(({ id }) => id));
  const sums = new Map<string, { count: number; amount: bigint }>();
  for (const row of rows) {
    const created = Number(row.created);
    if (row.status !== 'completed' || reversed.has(row.disputes_id)) continue;
    if (created < range.from || created >= range.to) continue;
    const key = `${stepOf(created, range.interval)} ${row.payment_method} ${row.currency}`;
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
  for (const [from, to] of [ends, days, exact] as [number, number][])
    for (const interval of ['day', 'week', 'month'] as const)
      for (const [id, descendants] of tenant.accounts.flatMap((one) => [[one, false] as const, [one, true] as const])) {
        const range = { from, to: Math.max(to, from + 1), interval, descendants };
        const context = { scope: scopeOf(tenant) } as Context;
        const found = await depositTotals({ id } as AccountRow, context, range);
        const lines = found.map((t) => `${t.start} ${t.paymentMethod} ${t.currency}: ${t.count} of ${t.amount}`);
        const receivers = descendants ? tenant.below[id] : [id];
        const received = rows.filter((row) => receivers!.includes(row.to_account_id));
        expect([id, range, lines.toSorted()]).toEqual([id, range, plainSum(received, range)]);
      }
}

describe(`totals of deposits, seed ${scale.seed}`, () => {
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
      { numRuns: scale.histories.runs / 4, seed: scale.seed, endOnFailure: true },
    );
  });
});
