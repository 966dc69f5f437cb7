import { sql } from 'drizzle-orm';
import { LedgerCheckStatus, ledgerCheck } from '../../resources/ledger/table.js';
import { nodeBreaches } from '../../db/cluster/node-privileges.js';
import { violationsOf } from '../../db/cluster/tenant-audit.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { checkLedger, type Made, outcomeOf } from './ledger-check.js';
import { type Operator, OperatorError } from '../operator.js';
import { listed, type ListFilter } from '../paging.js';

/** The state of one tenant's hash chain in one mode. */
export interface Chain {
  tenant: string;
  livemode: boolean;
  blocks: number;
  firstBroken: number | null;
}

/** A check of one ledger that was made now. */
export type Checked = TenantAndMode & Made;

/** A broken invariant of the ledger. */
export interface Violation {
  tenant: string | null;
  livemode: boolean | null;
  rule: string;
  what: string;
}

/** Without this bound, the response would grow with the damage of a broken deployment. */
const violationsMax = 1_000;

/** Checks the invariants of the ledger over all tenants: returns the first 1,000 violations, and the count of all. */
export async function auditLedger(
  operator: Operator,
): Promise<{ violations: Violation[]; violationCount: number; accounts: number; postings: number }> {
  const { violations, count } = await ((await operator.distributed())
    ? violationsByTenant(operator)
    : allViolations(operator));
  const [counts] = await operator.auditQuery<{ accounts: number; postings: number }>('operator_ledger_size', (db) =>
    db
      .select({
        accounts: sql<number>`a.count::int`,
        postings: sql<number>`p.count::int`,
      })
      .from(
        sql`(select count(distinct (tenant_id, livemode, account_id)) from balance) a, (select count(*)
          from posting) p`,
      ),
  );
  return {
    violations,
    violationCount: count,
    accounts: counts!.accounts,
    postings: counts!.postings,
  };
}

/** The first violations of all tenants, and the count of all. */
async function allViolations(operator: Operator): Promise<{ violations: Violation[]; count: number }> {
  const found = await operator.auditQuery<Violation & { count: number }>('operator_violations', (db) =>
    db
      .select({
        tenant: sql<string>`v.tenant_id`,
        livemode: sql<boolean>`v.livemode`,
        rule: sql<string>`v.rule`,
        what: sql<string>`v.what`,
        count: sql<number>`(count(*) over ())::int`,
      })
      .from(sql`violations v`)
      .limit(violationsMax),
  );
  return { violations: found.map(({ count: _, ...violation }) => violation), count: found[0]?.count ?? 0 };
}

/**
 * The same where tenants are distributed to nodes, which have no snapshot in common: each tenant is checked by a
 * statement on its node, and then the payment orders, which have no tenant, and the privileges on all nodes.
 */
async function violationsByTenant(operator: Operator): Promise<{ violations: Violation[]; count: number }> {
  const tenants = await operator.auditQuery<TenantAndMode>('operator_ledgers', (db) =>
    db
      .select({ tenantId: sql<string>`r.tenant_id`, livemode: sql<boolean>`r.livemode` })
      .from(sql`(select tenant_id, livemode from account group by 1, 2) r`),
  );
  const violations: Violation[] = [];
  let count = 0;
  for (const { tenantId, livemode } of tenants) {
    const { source, where } = await violationsOf(operator.audited, { tenantId, livemode });
    const found = await operator.auditQuery<{ rule: string; what: string; count: number }>('operator_ledger', (db) =>
      db
        .select({ rule: sql<string>`v.rule`, what: sql<string>`v.what`, count: sql<number>`(count(*) over ())::int` })
        .from(source)
        .where(where)
        .limit(violationsMax),
    );
    count += found[0]?.count ?? 0;
    violations.push(...found.map(({ rule, what }) => ({ tenant: tenantId, livemode, rule, what })));
  }
  const breaches = await operator.auditQuery<{ what: string }>('operator_breaches', (db) =>
    db.select({ what: sql<string>`v.what` }).from(nodeBreaches),
  );
  const without = [
    ...(await operatorBreaches(operator)),
    ...breaches.map(({ what }) => ({ rule: 'append-only is not enforced', what })),
  ];
  violations.push(...without.map((each) => ({ tenant: null, livemode: null, ...each })));
  return { violations: violations.slice(0, violationsMax), count: count + without.length };
}

/** What is wrong with the payment orders and the lines of bank files, which have no tenant, and with what they name. */
export async function operatorBreaches(operator: Operator): Promise<{ rule: string; what: string }[]> {
  const read = () =>
    operator.auditQuery<{ rule: string; what: string }>('operator_table_breaches', (db) =>
      db
        .select({ rule: sql<string>`v.rule`, what: sql<string>`v.what` })
        .from(
          sql`(select rule, what from payment_order_breaches union all select rule, what from bank_line_breaches) v`,
        ),
    );
  // Nodes are read one after the other: what one of two readings alone has found is a write between two of them.
  const [before, after] = [await read(), await read()];
  return after.filter(({ rule, what }) => before.some((each) => each.rule === rule && each.what === what));
}

/**
 * Checks the hash chain of every tenant and mode, and returns the first block of each that does not match. The list of
 * chains comes from postings, blocks and seals together: otherwise a chain would disappear when all rows of one kind
 * are deleted.
 */
export async function verifySeals(operator: Operator): Promise<Chain[]> {
  const tenantsAndModes = await operator.auditQuery<{ tenant: string; livemode: boolean; blocks: number }>(
    'operator_seals',
    (db) =>
      db
        .select({
          tenant: sql<string>`r.tenant_id`,
          livemode: sql<boolean>`r.livemode`,
          blocks: sql<number>`r.blocks::int`,
        })
        .from(
          sql`(select tenant_id, livemode, sum(block) as blocks from (
            select tenant_id, livemode, 0 as block from posting group by 1, 2
            union all select tenant_id, livemode, 1 from seal_block
            union all select tenant_id, livemode, 0 from posting_seal group by 1, 2) c group by 1, 2) r`,
        ),
  );
  const chains: Chain[] = [];
  // One chain after the other, because concurrent writes need the connections too.
  for (const tenantAndMode of tenantsAndModes) {
    const [row] = await operator.auditQuery<{ broken: string | null }>('operator_seal', (db) =>
      db
        .select({ broken: sql<string | null>`b.broken` })
        .from(sql`first_broken_block(${tenantAndMode.tenant}, ${tenantAndMode.livemode}) b(broken)`),
    );
    const broken = row?.broken ?? null;
    chains.push({ ...tenantAndMode, firstBroken: broken === null ? null : Number(broken) });
  }
  return chains;
}

/**
 * Checks the ledger of a root account now, in one mode or both, as the worker does: the outcome is its last check, by
 * which alerts are. It takes the place of a check that runs.
 */
export async function checkLedgerNow(
  operator: Operator,
  rootAccountId: string,
  livemode?: boolean,
): Promise<Checked[]> {
  const row = await operator.account(rootAccountId);
  const checked: Checked[] = [];
  for (const mode of livemode === undefined ? [true, false] : [livemode]) {
    const of = { tenantId: row.tenantId, livemode: mode };
    const call: Parameters<typeof checkLedger>[0] = (fn, values) => operator.call(fn, values);
    const made = await checkLedger(call, of, 0, () => outcomeOf(operator.audited, of));
    if (!made)
      throw new OperatorError('Another operator checks this ledger now. See its outcome: tidegate ledger checks.');
    checked.push({ ...of, ...made });
  }
  return checked;
}

/** Lists the checks of the ledger that the worker has made or makes, newest first. */
export function listLedgerChecks(operator: Operator, filter: ListFilter<LedgerCheckStatus>) {
  return listed(operator, 'operator_ledger_checks', ledgerCheck, Object.values(LedgerCheckStatus), filter, false);
}
