import { sql } from 'drizzle-orm';
import { LedgerCheckStatus, ledgerCheck, posting } from '../resources/ledger/table.js';
import type { OperatorDesk } from './desk.js';
import { listed, type ListFilter } from './paging.js';

/** The state of one tenant's hash chain in one mode. */
export interface Chain {
  tenant: string;
  livemode: boolean;
  blocks: number;
  firstBroken: number | null;
}

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
  desk: OperatorDesk,
): Promise<{ violations: Violation[]; violationCount: number; accounts: number; postings: number }> {
  const violations = await desk.auditQuery<Violation & { count: number }>('operator_violations', (db) =>
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
  const [counts] = await desk.auditQuery<{ accounts: number; postings: number }>('operator_ledger_size', (db) =>
    db
      .select({
        accounts: sql<number>`(select count(distinct (tenant_id, livemode, account_id)) from balance)::int`,
        postings: sql<number>`count(*)::int`,
      })
      .from(posting),
  );
  return {
    violations: violations.map(({ count: _, ...violation }) => violation),
    violationCount: violations[0]?.count ?? 0,
    accounts: counts!.accounts,
    postings: counts!.postings,
  };
}

/**
 * Checks the hash chain of every tenant and mode, and returns the first block of each that does not match. The list of
 * chains comes from postings, blocks and seals together: otherwise a chain would disappear when all rows of one kind
 * are deleted.
 */
export async function verifySeals(desk: OperatorDesk): Promise<Chain[]> {
  const tenantsAndModes = await desk.auditQuery<{ tenant: string; livemode: boolean; blocks: number }>(
    'operator_seals',
    (db) =>
      db
        .select({
          tenant: sql<string>`r.tenant_id`,
          livemode: sql<boolean>`r.livemode`,
          blocks: sql<number>`(select count(*) from seal_block b where b.tenant_id = r.tenant_id and b.livemode = r.livemode)::int`,
        })
        .from(
          sql`(select tenant_id, livemode from posting union select tenant_id, livemode from seal_block union select tenant_id, livemode from posting_seal) r`,
        ),
  );
  const chains: Chain[] = [];
  // One chain after the other, because concurrent writes need the connections too.
  for (const tenantAndMode of tenantsAndModes) {
    const [row] = await desk.auditQuery<{ broken: string | null }>('operator_seal', (db) =>
      db
        .select({ broken: sql<string | null>`b.broken` })
        .from(sql`first_broken_block(${tenantAndMode.tenant}, ${tenantAndMode.livemode}) b(broken)`),
    );
    const broken = row?.broken ?? null;
    chains.push({ ...tenantAndMode, firstBroken: broken === null ? null : Number(broken) });
  }
  return chains;
}

/** Lists the checks of the ledger that the worker has made or makes, newest first. */
export function listLedgerChecks(desk: OperatorDesk, filter: ListFilter<LedgerCheckStatus>) {
  return listed(desk, 'operator_ledger_checks', ledgerCheck, Object.values(LedgerCheckStatus), filter, true);
}
