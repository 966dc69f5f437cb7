import { beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/operation/context.js';
import { Scope } from '../../src/db/scope.js';
import type { AccountRow } from '../../src/resources/account/table.js';
import { countedDepositsOf } from '../../src/resources/balance/counted-deposits.js';
import { receivableMatches } from '../../src/resources/deposit/receivable-matches.js';
import { balanceStatement, movementsOf } from '../../src/resources/balance/statement.js';
import { AgeingBucket, receivablesOfBucket } from '../../src/resources/receivable/ageing.js';
import { find } from '../../src/operator/find/find.js';
import { postingsOf, trailOf } from '../../src/operator/trail/trail.js';
import { listFailing } from '../../src/operator/webhook/failing.js';
import { banksIn } from './bank-fixture.js';
import { buffersMax, nodesOf, plannerIn, userOf } from './planner.js';
import { buffersIn, type Plan } from '../support/explained.js';
import { must, tenantOf, useWorld } from '../support/world.js';
import { AttentionKind } from '../../src/resources/attention/kinds.js';
import resource from '../../src/resources/attention/resource.js';

const world = useWorld({ worker: false });
const { platforms, caller, askedBy, chosenPlan, planOf } = plannerIn(world);
const { receiver, recordNotice, received } = banksIn(world);

/** The customer of an account that most receivables bill. */
async function customerOf(accountId: string): Promise<string> {
  const [found] = await world.sql<{ id: string }[]>`select customer_id as id from receivable
    where account_id = ${accountId} and tenant_id = ${tenantOf(platforms.large)} and customer_id is not null
    group by 1 order by count(*) desc limit 1`;
  return found!.id;
}

interface Of {
  accountId: string;
  descendants: boolean;
  currency: string;
  /** A customer of the user. */
  customer: string;
}

/** A page behind a figure, for a currency that is usual, rare or absent. */
type Ask = (of: Of, context: Context) => Promise<unknown>;

const bucket = {
  ...{ bucket: AgeingBucket.NOT_DUE, dueFrom: '2026-01-01', dueTo: null },
  ...{ count: 0, amount: { amount: 0n, currency: 'USD' } },
};
const pages: [name: string, ask: Ask][] = [
  [
    'of a bucket',
    ({ accountId, currency, descendants }, context) =>
      receivablesOfBucket({ ...bucket, accountId, currency, of: descendants ? 'descendants' : 'self' }, context, {
        first: 10,
      }),
  ],
  [
    'of a bucket of a customer',
    ({ currency, customer }, context) =>
      receivablesOfBucket({ ...bucket, currency, accountId: customer, of: 'billed' }, context, { first: 10 }),
  ],
  ['of a step', (of, context) => countedDepositsOf({ ...of, start: 1, end: 9_999_999_999 }, context, { first: 10 })],
];

describe.each(pages)('a page %s', (_, ask) => {
  it.each(['USD', 'EUR', 'XAF'])(
    `reads at most ${buffersMax} buffers, and no rows of other currencies than %s`,
    async (currency) => {
      const faults: string[] = [];
      const customer = await customerOf(userOf);
      for (const kind of ['platform', 'connected_user'] as const)
        for (const descendants of [false, true])
          for (const accountId of kind === 'platform' ? [platforms.large, userOf] : [userOf]) {
            // The pages need nothing of the context but its scope.
            const context = { scope: new Scope(caller(kind), world.database) } as Context;
            const asked = await askedBy(() => ask({ accountId, descendants, currency, customer }, context), true);
            const edges = [...asked].filter(([name]) => name.startsWith('edge:'));
            expect(edges).toHaveLength(1);
            for (const [name, one] of edges) {
              const plan = await chosenPlan(one);
              const buffers = buffersIn(plan);
              const skipped = nodesOf(plan).reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0), 0);
              if (buffers > buffersMax || skipped > 20) faults.push(`${name}: ${buffers} buffers, ${skipped} skipped`);
            }
          }
      expect(faults).toEqual([]);
    },
  );
});

describe('the receivables that deposits may pay', () => {
  it(`are found with at most ${buffersMax / 2} buffers for each`, async () => {
    // The seeded trade is reconciled.
    const ids = await world.sql<{ id: string }[]>`update deposit set pending_rest = amount,
        statement_descriptor = 'Payment of invoice 4711/12 and 4712-7, order 99, thank you'
      where tenant_id = ${tenantOf(platforms.large)} and livemode = false and id in (select id from deposit
        where tenant_id = ${tenantOf(platforms.large)} and livemode = false and status = 'completed' and amount > 0
        order by created desc, id desc limit 25)
      returning id`;
    expect(ids).toHaveLength(25);
    for (const kind of ['platform', 'connected_user'] as const) {
      const context = { scope: new Scope(caller(kind), world.database) } as Context;
      const ask = () => Promise.all(ids.map((row) => receivableMatches(row as never, context)));
      const [asked] = await askedBy(ask, true);
      const plan = await chosenPlan(asked![1]);
      const buffers = buffersIn(plan);
      expect(buffers).toBeGreaterThan(ids.length);
      expect(buffers).toBeLessThan((ids.length * buffersMax) / 2);
    }
  });
});

describe('a statement of account', () => {
  it('looks up what there was at its ends, and reads a page in its middle by the versions of the ledger', async () => {
    const [found] = await world.sql<{ id: string; currency: string; middle: string }[]>`
      select account_id as id, currency, percentile_disc(0.5) within group (order by created) as middle from entry
      where tenant_id = ${tenantOf(platforms.large)} and livemode = false group by 1, 2 order by count(*) desc limit 1`;
    const { id, currency, middle } = found!;
    const range = { from: Number(middle) - 400 * 86_400 + 1, to: Number(middle) + 1, currency };
    let entries = 0;
    const asked = await askedBy(async () => {
      // A statement needs nothing of the context but its scope, and nothing of the account but its id.
      const context = { scope: new Scope(caller('platform'), world.database) } as Context;
      const statement = await balanceStatement({ id } as AccountRow, context, range);
      entries = statement.last - statement.first;
      const after = String(statement.first + Math.floor(entries / 2));
      await movementsOf(statement, context, { first: 25, after });
    });
    expect(entries).toBeGreaterThan(100);
    const buffersOf = async (prefix: string) => {
      const [, one] = [...asked].find(([name]) => name.startsWith(prefix))!;
      const plan = await chosenPlan(one);
      return buffersIn(plan);
    };
    expect(await buffersOf('balance_statement')).toBeLessThanOrEqual(buffersMax);
    // 51 movements of 8 entries at most, each with its payment.
    expect(await buffersOf('balance_movements')).toBeLessThanOrEqual(51 * 8 * 5);
  });
});

/** The indexes of each statement by which the operator finds something. */
const expected: Record<string, readonly string[]> = {
  operator_checkout: ['checkout_by_id'],
  operator_receivable: ['receivable_by_id'],
  operator_request_log: ['request_log_by_id'],
  operator_notices_of_reference: ['bank_notice_by_reference'],
  operator_payouts_of_reference: ['payout_of_reference'],
  operator_clawbacks: ['clawback_by_reference'],
  operator_unexplained_of_reference: ['unexplained_by_reference'],
  operator_bank_lines_of_reference: ['bank_line_reference'],
  operator_addresses_of_number: ['address_of_bank_iban', 'address_of_bank_number'],
  operator_failing_webhooks: ['webhook_endpoint_failing_of_all'],
  'operator_failing_webhooks:after': ['webhook_endpoint_failing_of_all'],
};

describe('what the operator finds', () => {
  it('is found by an index over all tenants each, without a scan or a sort', async () => {
    const { operator } = world;
    const cursor = Buffer.from(JSON.stringify([1, 'tenant', true, 'webhook_1'])).toString('base64url');
    const asked = await askedBy(async () => {
      for (const text of ['checkout_0', 'receivable_0', 'req_0', 'UTR00012345']) await find(operator, text);
      await listFailing(operator, 10);
      await listFailing(operator, 10, cursor);
    });
    for (const [name, indexes] of Object.entries(expected)) {
      const nodes = nodesOf(await planOf(asked.get(name)!.statement));
      const types = nodes.map((node) => node['Node Type']).filter((type) => /Seq Scan|Sort/.test(type));
      const used = new Set(nodes.flatMap((node) => node['Index Name'] ?? []));
      expect([name, types, [...used]]).toEqual([name, [], expect.arrayContaining([...indexes])]);
    }
  });

  it('is looked up by the key of its tenant in a trail', async () => {
    const to = await receiver();
    const { deposit } = await recordNotice(received(to));
    await must(to.live.get('/v1/deposits'));
    const asked = await askedBy(async () => {
      await postingsOf(await trailOf(world.operator, deposit!.id, to.row.tenantId));
    });
    const used = async (name: string) =>
      nodesOf(await planOf(asked.get(name)!.statement)).flatMap((node) => node['Index Name'] ?? []);
    expect(await used('trail_entries')).toEqual(['entry_by_payment']);
    expect(await used('trail_postings')).toEqual(['posting_pkey']);
    expect(await used('trail_contra_entries')).toEqual(['contra_entry_of_posting']);
  });
});

describe('a page for a person', () => {
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
      expect(
        parts.map((part) => [buffersIn(part), mostOf(part)] as const).filter(([read, most]) => read > most),
      ).toEqual([]);
    });
  });
});
