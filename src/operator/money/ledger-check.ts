import { sql } from 'drizzle-orm';
import { violationsOf } from '../../db/cluster/tenant-audit.js';
import type { CrossTenantReads } from '../../db/doors.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { faultLine } from '../../errors/log.js';
import type { BrokenRule, LedgerCheckStatus } from '../../resources/ledger/table.js';

/** A check that has not ended by then has lost its gateway: two statements of at most 10 minutes each, and more. */
export const checkSecondsMax = 1_800;
/** The violations that a check stores; their number is stored too. */
const violationsMax = 20;

/** The outcome of a check of one tenant and mode. */
export interface Outcome {
  violations: BrokenRule[];
  violationCount: number;
  brokenBlock: string | null;
}

const none: Outcome = { violations: [], violationCount: 0, brokenBlock: null };

/** The outcome of a check that was stored. */
export type Made = Outcome & { status: LedgerCheckStatus; error: string | null };

/**
 * Makes a check that counts, and stores its outcome; undefined when another one is under way, or the last one is not
 * older than the interval.
 */
export async function checkLedger(
  call: (fn: string, values: (string | number | boolean | null)[]) => Promise<Record<string, unknown>[]>,
  { tenantId, livemode }: TenantAndMode,
  intervalSeconds: number,
  outcome: () => Promise<Outcome>,
): Promise<Made | undefined> {
  const [begun] = await call('begin_ledger_check', [tenantId, livemode, intervalSeconds, checkSecondsMax]);
  const id = begun?.begin_ledger_check as string | null;
  if (id === null) return undefined;
  const ended = await outcome().then(
    (found) => ({ ...found, error: null }),
    (error: unknown) => ({ ...none, error: faultLine(error).message }),
  );
  const [row] = await call('end_ledger_check', [
    ...[tenantId, livemode, id, JSON.stringify(ended.violations), ended.violationCount],
    ...[ended.brokenBlock, ended.error],
  ]);
  const status = row?.end_ledger_check as LedgerCheckStatus | null;
  return status === null ? undefined : { ...ended, status };
}

/** Reads whether the ledger of a tenant and mode keeps its invariants, and whether its chain of seals matches. */
export async function outcomeOf(
  database: Pick<CrossTenantReads, 'auditQuery' | 'crossTenant'>,
  of: TenantAndMode,
): Promise<Outcome> {
  const { tenantId, livemode } = of;
  const { source, where } = await violationsOf(database, of);
  const violations = await database.auditQuery<BrokenRule & { count: number }>('ledger_check_violations', (db) =>
    db
      .select({
        rule: sql<string>`v.rule`,
        what: sql<string>`v.what`,
        count: sql<number>`(count(*) over ())::int`,
      })
      .from(source)
      .where(where)
      .limit(violationsMax),
  );
  const [seal] = await database.auditQuery<{ broken: string | null }>('ledger_check_seal', (db) =>
    db
      .select({ broken: sql<string | null>`b.broken` })
      .from(sql`first_broken_block(${tenantId}, ${livemode}) b(broken)`),
  );
  return {
    violations: violations.map(({ rule, what }) => ({ rule, what })),
    violationCount: violations[0]?.count ?? 0,
    brokenBlock: seal?.broken ?? null,
  };
}
