import fs from 'node:fs';
import { expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { advanceClock, runAllJobs } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';

// No worker runs, so that the tests know when its work is done.
const world = useWorld({ worker: false });
const given = givenIn(world);
const day = 86_400;

const belowZero = 'user of an aggregator has available money, or is below zero';
const wrongly = 'payout left an aggregator and its users below zero';

/** What a bank takes back as it was taken by the release before: it stays the user's debt. */
async function withoutTransfersBack(act: () => Promise<void>): Promise<void> {
  const [row] = await world.sql`select pg_get_functiondef('claw_back'::regproc) as text`;
  const text = row!.text as string;
  const before = text.replace(/if v_aggregator is not null then\s+perform transfer_back\([^;]*\);\s+end if;/, '');
  expect(before).not.toBe(text);
  await world.sql.unsafe(before);
  await act().finally(() => world.sql.unsafe(text));
}

/** Lets a day pass with the work of the sandbox, and numbers the events. */
async function nextDay(platform: Speaker): Promise<void> {
  await advanceClock(platform, day);
  await runAllJobs(platform);
  await advanceClock(platform, 61);
  await runAllJobs(platform);
  await number(platform);
}
const number = (platform: Speaker) => world.database.call('number_events', [tenantOf(platform), false, 10_000]);

interface User {
  id: string;
  as: Speaker;
}

/** An aggregator with a payout address and some users. */
async function aggregator(count: number): Promise<{ platform: Speaker; users: User[] }> {
  const platform = await given.platform(2, { subType: 'aggregator' });
  await payoutAddress(platform);
  const users: User[] = [];
  while (users.length < count) {
    const id = await assemble(platform, complete(2, 'company'));
    await must(platform.post(`/v1/accounts/${id}/activate`));
    users.push({ id, as: platform.actingFor(id) });
  }
  for (let second = 0; second < 4; second++) {
    await advanceClock(platform, 2);
    await runAllJobs(platform);
  }
  return { platform, users };
}

/** A deposit that counts in full towards a receivable; returns its id. */
async function earn({ id: account_id, as }: User, amount: string): Promise<string> {
  const deposit = { amount, currency: 'INR', to: { account_id }, payment_method: 'upi' };
  const { id } = await must(as.post('/v1/deposits', deposit));
  await must(as.post(`/v1/test_helpers/deposits/${id}/complete`));
  const receivable = await must(as.post('/v1/receivables', receivableBody({ amount, currency: 'INR' })));
  await must(as.post(`/v1/deposits/${id}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
  return id;
}
const reverse = async ({ as }: User, id: string) => {
  await must(as.post(`/v1/test_helpers/deposits/${id}/reverse`));
};

const available = async (platform: Speaker, ...accounts: string[]) =>
  Promise.all(
    accounts.map(
      async (id) => (await must(platform.get(`/v1/balance?account_id=${id}`))).available[0].amount as string,
    ),
  );
/** The amounts of the payouts, the oldest first. */
const payouts = async (platform: Speaker): Promise<string[]> =>
  (await must(platform.get('/v1/payouts'))).data.map(({ amount }: { amount: string }) => amount).toReversed();
const transfers = async (platform: Speaker): Promise<string[]> =>
  (await must(platform.get('/v1/payments?type=transfer'))).data
    .map(({ amount }: { amount: string }) => amount)
    .filter((amount: string) => amount.startsWith('-'))
    .toSorted();
const broken = async (platform: Speaker) =>
  (await world.sql`select rule, what from violations where tenant_id = ${tenantOf(platform)} order by 1, 2`).map(
    ({ rule, what }) => [rule, what] as const,
  );
const migration = fs.readFileSync('drizzle/0038_transfer_back.sql', 'utf8');

it('jobs after the upgrade cover users below zero from their aggregator, which is paid nothing before', async () => {
  const { platform, users } = await aggregator(3);
  const [one, two, three] = users as [User, User, User];
  const [first, second] = [await earn(one, '100.00'), await earn(two, '40.00')];
  await withoutTransfersBack(() => reverse(one, first));
  expect(await available(platform, one.id, platform.id)).toEqual(['-100.00', '140.00']);
  await nextDay(platform);
  // What the release before did.
  expect(await payouts(platform)).toEqual(['140.00']);
  const [wrong] = (await must(platform.get('/v1/payouts'))).data;
  // This payout was right when it was made: the money was taken back afterwards.
  await withoutTransfersBack(() => reverse(two, second));
  await number(platform);
  expect(await broken(platform)).toEqual([
    [wrongly, wrong.id],
    ...[one.id, two.id].toSorted().map((id) => [belowZero, `${id} INR`]),
  ]);

  /** When the jobs of the migration begin, instead of a minute after it. */
  const begin = (notBefore: number, due: number) =>
    world.sql`update job set args = jsonb_build_object('notBefore', ${notBefore}::bigint), due = ${due}
      where kind = 'find_debts' and tenant_id = ${tenantOf(platform)} and not livemode`;
  await world.sql.unsafe(migration);
  await begin(9_999_999_999, 1);
  expect(await broken(platform)).toEqual([[wrongly, wrong.id]]);
  // New money of the user covers a part, and the job the rest.
  await earn(two, '5.00');
  await earn(three, '500.00');
  await nextDay(platform);
  expect(await available(platform, one.id, two.id, platform.id)).toEqual(['-100.00', '-35.00', '500.00']);
  expect(await payouts(platform)).toEqual(['140.00']);

  await begin(1, 1);
  await runAllJobs(platform);
  expect(await available(platform, one.id, two.id)).toEqual(['0.00', '0.00']);
  expect(await transfers(platform)).toEqual(['-100.00', '-35.00']);
  await nextDay(platform);
  expect(await payouts(platform)).toEqual(['140.00', '365.00']);
  expect(
    await world.sql`select from event where tenant_id = ${tenantOf(platform)} and type = 'payment.completed'
      and (data ->> 'amount')::bigint < 0`,
  ).toHaveLength(2);
  // The payout of the release before stays wrong.
  expect(await broken(platform)).toEqual([[wrongly, wrong.id]]);

  // A second time, there is nothing to do.
  await world.sql.unsafe(migration);
  await begin(1, 1);
  await runAllJobs(platform);
  expect(await transfers(platform)).toEqual(['-100.00', '-35.00']);
  expect(
    await world.sql`select from job where kind in ('find_debts', 'transfer_back')
    and tenant_id = ${tenantOf(platform)} and not livemode`,
  ).toEqual([]);
});

it('the audit takes no payout for wrong that was made after the user below zero was covered, or before', async () => {
  const { platform, users } = await aggregator(2);
  const [one, two] = users as [User, User];
  // Covered by money of the user, which does not go on to the platform.
  const taken = await earn(one, '100.00');
  await withoutTransfersBack(() => reverse(one, taken));
  await earn(one, '100.00');
  await nextDay(platform);
  expect(await payouts(platform)).toEqual(['100.00']);
  expect(await broken(platform)).toEqual([]);
  // Covered after a payout, by more than was taken.
  const later = await earn(two, '30.00');
  await withoutTransfersBack(() => reverse(two, later));
  await nextDay(platform);
  await earn(two, '50.00');
  await number(platform);
  const [wrong] = (await must(platform.get('/v1/payouts'))).data;
  expect(wrong.amount).toBe('30.00');
  expect(await broken(platform)).toEqual([[wrongly, wrong.id]]);
  await nextDay(platform);
  expect(await payouts(platform)).toEqual(['100.00', '30.00', '20.00']);
  expect(await broken(platform)).toEqual([[wrongly, wrong.id]]);
});

it('the audit reads postings of money that was taken back, and not all others', async () => {
  const { platform, users } = await aggregator(1);
  const tenant = tenantOf(platform);
  await withoutTransfersBack(async () => reverse(users[0]!, await earn(users[0]!, '1.00')));
  const { sql } = world;
  await sql`insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
    select ${tenant}, false, 'posting_' || n, 1, 'reconciliation', 'deposit_' || n || ':3', 'payment_' || n
    from generate_series(1, 20000) n`;
  await sql`insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
      payment_id, balance_after, version, context_id, on_root_list)
    select ${tenant}, false, 'bt_' || n, 1, 'posting_' || n, ${platform.id}, 1, 'EUR', 'available', 'payment_' || n, n,
      n, ${platform.id}, true
    from generate_series(1, 20000) n`;
  await sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data, context_id,
      on_root_list)
    select ${tenant}, false, 'event_' || n, 1, 'deposit.reconciled', 'deposit', 'deposit_' || n, '{}', ${platform.id},
      true
    from generate_series(1, 20000) n`;
  await sql`vacuum analyze posting, entry, event, payout, account`;
  const [plan] = await sql`explain (analyze, format json) select from violations
    where tenant_id = ${tenant} and not livemode and rule = ${wrongly}`;
  const seen: number[] = [];
  const walk = (node: any): void => {
    seen.push((node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
    for (const child of node.Plans ?? []) walk(child);
  };
  walk(plan!['QUERY PLAN'][0].Plan);
  expect(Math.max(...seen)).toBeLessThan(1_000);
});
