import { beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/operation/context.js';
import { Scope } from '../../src/db/scope.js';
import { AttentionKind } from '../../src/resources/attention/kinds.js';
import resource from '../../src/resources/attention/resource.js';
import type { AccountRow } from '../../src/resources/account/table.js';
import { buffersMax, nodesOf, plannerIn, userOf } from './planner.js';
import { buffersIn, type Plan } from '../support/explained.js';
import { tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const { platforms, caller, askedBy, chosenPlan } = plannerIn(world);

const attention = resource.fields![0]!.edges.attention as unknown as {
  resolve(row: Partial<AccountRow>, context: Context, args: { scope: string }): Promise<unknown>;
};

/** More of every kind than is read, at one user and at all of them; the seeded trade has the overdue receivables. */
beforeAll(async () => {
  const { sql } = world;
  const ofTenant = sql`tenant_id = ${tenantOf(platforms.large)} and not livemode`;
  const found = await sql<{ name: string }[]>`select column_name as name from information_schema.columns
      where table_name = 'account' and is_generated = 'NEVER'
        and column_name not in ('id', 'nickname', 'status', 'context_id', 'status_since')`;
  const columns = sql.unsafe(found.map(({ name }) => name).join(', '));
  for (const [status, first] of Object.entries({ hold: 'h', draft: 'd', verifying: 'v', deactivated: 'x' }))
    await sql`insert into account (id, status, context_id, status_since, ${columns})
      select ${`account_${first}`} || n, ${status}, ${`account_${first}`} || n, created + n, ${columns}
      from account cross join generate_series(1, 300) n where ${ofTenant} and id = ${userOf}`;
  await sql`update payout set status = 'failed', updated_at = created where ${ofTenant}`;
  await sql`update dispute set status = 'needs_response', respond_by = null where ${ofTenant}`;
  await sql`update deposit set pending_rest = amount - disputed where ${ofTenant} and amount > 0`;
  await sql`update account_setting set account_activated = true, platform_hold = true where ${ofTenant}`;
  await sql`update balance set available = 100 where ${ofTenant}`;
  await sql`update webhook_endpoint set failing_since = created where ${ofTenant}`;
  await sql`update checkout set status = 'expired', expires_at = extract(epoch from now())::bigint - 3600,
    deposit_id = null, effective_transaction_status = null, effective_transaction_id = null where ${ofTenant}`;
  await sql`vacuum analyze`;
});

/** The parts of the statement, one for each kind and whose objects it reads. */
const partsOf = (plan: Plan): Plan[] =>
  nodesOf(plan).find((node) => /Append/.test(node['Node Type']) && (node.Plans ?? []).length >= 10)!.Plans!;

/** Of each blocked payout and each account whose payouts are disabled one row of another table is read. */
const mostOf = (part: Plan): number =>
  nodesOf(part).some((node) => node['Relation Name'] === 'account_setting') ? 5 * buffersMax : buffersMax;

describe('what needs attention', () => {
  it.each([
    ['platform', 'self'],
    ['platform', 'descendants'],
    ['connected_user', 'self'],
    ['connected_user', 'descendants'],
  ] as const)(`of a %s with the scope %s is read by at most ${buffersMax} buffers a kind`, async (kind, scope) => {
    const id = kind === 'platform' ? platforms.large : userOf;
    const context = { scope: new Scope(caller(kind), world.database) } as Context;
    const asked = await askedBy(() => attention.resolve({ id }, context, { scope }));
    // The other statement reads what blocks the payouts of at most 101 accounts, as `payoutsBlockedBy` does.
    const plans = asked.get('payout_plans');
    expect(asked.size).toBe(plans ? 2 : 1);
    if (plans) expect(buffersIn(await chosenPlan(plans))).toBeLessThanOrEqual(10 * buffersMax);
    const plan = await chosenPlan([...asked.values()][0]!);
    const parts = partsOf(plan);
    expect(parts.length).toBeGreaterThanOrEqual(Object.keys(AttentionKind).length);
    const scans = nodesOf(plan)
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name']);
    expect(scans.filter((name) => name !== 'test_clock')).toEqual([]);
    expect(parts.map((part) => [buffersIn(part), mostOf(part)] as const).filter(([read, most]) => read > most)).toEqual(
      [],
    );
  });
});
