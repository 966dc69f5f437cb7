import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNull, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { CrossTenantReads, WorkerCalls } from '../db/doors.js';
import { violationsOf } from '../db/cluster/tenant-audit.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { DomainError } from '../errors/problems.js';
import { balance, type BrokenRule, type LedgerCheckStatus, ledgerCheck } from '../resources/ledger/table.js';
import { faultLine } from '../errors/log.js';
import type { WorkObserver } from './work-queue.js';
import { TenantScan } from './tenant-scan.js';
import { modeOf } from '../request/mode.js';

/** How often the tenants are looked through for those whose check is due. */
const roundSeconds = 600;
/** A check that has not ended by then has lost its gateway: two statements of at most 10 minutes each, and more. */
const checkSecondsMax = 1_800;
/** The violations that a check stores; their number is stored too. */
const violationsMax = 20;

/** The outcome of a check of one tenant and mode. */
interface Outcome {
  violations: BrokenRule[];
  violationCount: number;
  brokenBlock: string | null;
}

/** A tenant and mode, with its last check that has an outcome. */
interface Seen extends TenantAndMode {
  /** The seconds since it began; null when there was none. */
  age: number | null;
  violated: boolean | null;
}

/**
 * Checks the ledger of every tenant and mode once in an interval: its invariants and its chain of seals. All gateways
 * look for checks that are due, and the database gives each check to one of them. A gateway makes one check at a time,
 * on the connection for audit queries, and pauses after each one for as long as it took, so that checks take at most
 * half of the time of one connection.
 */
export class LedgerChecks {
  constructor(
    private readonly database: CrossTenantReads & WorkerCalls,
    private readonly log: Logger,
    private readonly intervalSeconds: number,
    private readonly observer: WorkObserver | undefined,
    private readonly stop: AbortSignal,
  ) {}

  /** Makes the checks that are due, until the worker stops. */
  async run(): Promise<void> {
    while (!this.stop.aborted) {
      try {
        await this.round();
      } catch (error) {
        const outage = error instanceof DomainError && error.status === 503;
        this.log[outage ? 'debug' : 'warn'](
          faultLine(error),
          'the worker will look for due checks of the ledger again',
        );
      }
      await this.#sleep(roundSeconds * (0.75 + Math.random() / 2));
    }
  }

  /** Goes through all tenants once. */
  async round(): Promise<void> {
    await this.#checkPrivileges();
    const scan = this.#tenants();
    const state = { oldestSeconds: 0, violated: 0, unchecked: 0 };
    for (let ended = false; !ended && !this.stop.aborted; ) {
      const poll = await scan.next();
      ({ ended } = poll);
      for (const seen of new Map(poll.rows.map((row) => [`${row.tenantId} ${row.livemode}`, row])).values()) {
        if (this.stop.aborted) return;
        const due = seen.age === null || seen.age >= this.intervalSeconds;
        const status = due ? await this.#checkUnlessAway(seen) : undefined;
        if (status === 'passed') continue;
        if (status === 'violated' || seen.violated) state.violated++;
        if (status === 'violated') continue;
        if (seen.age === null) state.unchecked++;
        else state.oldestSeconds = Math.max(state.oldestSeconds, seen.age);
      }
    }
    if (!this.stop.aborted) this.observer?.ledger(state);
  }

  /** The privileges on append-only tables are those of the database, and payment orders are of no tenant. */
  async #checkPrivileges(): Promise<void> {
    const breaches = await this.database.auditQuery<BrokenRule>('append_only_breaches', (db) =>
      db
        .select({ rule: sql<string>`v.rule`, what: sql<string>`v.what` })
        .from(sql`violations v`)
        .where(isNull(sql`v.tenant_id`)),
    );
    for (const { rule, what } of breaches)
      if (rule === 'append-only is not enforced')
        this.log.error({ what }, 'append-only tables of the ledger are not protected');
      else this.log.error({ rule, what }, 'a payment order breaks a rule');
  }

  /** Every tenant with a balance, once for each of the balances that the poll has read. */
  #tenants(): TenantScan<Seen> {
    // Drizzle would print its own column without the name of the table, which then is a column of the check.
    const last = <T>(value: string) =>
      sql<T>`(select ${sql.raw(value)} from ${ledgerCheck} c
        where c.tenant_id = balance.tenant_id and c.livemode = balance.livemode
          and c.status in ('passed', 'violated')
        order by c.created desc, c.id desc limit 1)`;
    return new TenantScan<Seen>(this.database, 'tenants_with_ledgers', {
      table: balance,
      columns: {
        age: last<number | null>('extract(epoch from statement_timestamp())::float8 - c.created'),
        violated: last<boolean | null>("c.status = 'violated'"),
      },
    });
  }

  /** Checks a tenant and mode. One whose node does not answer is checked later: the others are not to wait for it. */
  async #checkUnlessAway(of: TenantAndMode): Promise<LedgerCheckStatus | undefined> {
    try {
      return await this.#check(of);
    } catch (error) {
      if (!(error instanceof DomainError && error.status === 503)) throw error;
      this.log.debug(faultLine(error), 'the ledger of a tenant will be checked later');
      return undefined;
    }
  }

  /** Checks a tenant and mode, unless its check is not due or another gateway makes it; returns the outcome. */
  async #check(of: TenantAndMode): Promise<LedgerCheckStatus | undefined> {
    const { tenantId, livemode } = of;
    const values = [tenantId, livemode, this.intervalSeconds, checkSecondsMax];
    const [begun] = await this.database.work('begin_ledger_check', values);
    const id = begun?.begin_ledger_check as string | null;
    if (id === null) return undefined;
    const began = performance.now();
    const ended = await this.#outcome(of).then(
      (outcome) => ({ ...outcome, error: null }),
      (error: unknown) => ({ ...none, error: faultLine(error).message }),
    );
    const seconds = (performance.now() - began) / 1_000;
    const [row] = await this.database.work('end_ledger_check', [
      ...[tenantId, livemode, id, JSON.stringify(ended.violations), ended.violationCount],
      ...[ended.brokenBlock, ended.error],
    ]);
    const status = row?.end_ledger_check as LedgerCheckStatus | null;
    if (status === null) return undefined;
    this.#report(of, status, ended);
    this.observer?.checked(status, seconds);
    await this.#sleep(seconds);
    return status;
  }

  #report({ tenantId, livemode }: TenantAndMode, status: LedgerCheckStatus, ended: Outcome & { error: string | null }) {
    const line = { tenant: tenantId, mode: modeOf(livemode) };
    const { violations, violationCount, brokenBlock, error } = ended;
    if (status === 'violated')
      this.log.error({ ...line, violationCount, violations, brokenBlock }, 'the ledger of a tenant is violated');
    if (status === 'failed') this.log.warn({ ...line, message: error }, 'a check of the ledger failed');
  }

  /** The outcome of a check. When the worker stops, it is rejected at once, even while a statement runs. */
  async #outcome(of: TenantAndMode): Promise<Outcome> {
    if (this.stop.aborted) throw stopped();
    const ended = new AbortController();
    try {
      return await Promise.race([
        this.#queries(of),
        once(this.stop, 'abort', { signal: ended.signal }).then(() => {
          throw stopped();
        }),
      ]);
    } finally {
      ended.abort();
    }
  }

  async #queries(of: TenantAndMode): Promise<Outcome> {
    const { tenantId, livemode } = of;
    const { source, where } = await violationsOf(this.database, of);
    const violations = await this.database.auditQuery<BrokenRule & { count: number }>('ledger_check_violations', (db) =>
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
    const [seal] = await this.database.auditQuery<{ broken: string | null }>('ledger_check_seal', (db) =>
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

  async #sleep(seconds: number): Promise<void> {
    await sleep(seconds * 1_000, undefined, { signal: this.stop }).catch(() => {});
  }
}

/** A check that its gateway gives up counts as failed, and is made again. */
const stopped = () => new Error('The gateway stopped.');
const none: Outcome = { violations: [], violationCount: 0, brokenBlock: null };
