import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { desc, isNull, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { CrossTenantReads, WorkerCalls } from '../db/doors.js';
import { checkLedger, checkSecondsMax, type Outcome, outcomeOf } from '../operator/money/ledger-check.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { DomainError } from '../errors/problems.js';
import { balance, type BrokenRule, type LedgerCheckStatus, ledgerCheck } from '../resources/ledger/table.js';
import { faultLine } from '../errors/log.js';
import type { WorkObserver } from './work-queue.js';
import { rowsMax, TenantScan } from './tenant-scan.js';
import { modeOf } from '../request/mode.js';

/** How often it is looked which ledgers were found violated, and are so no longer. */
const violatedSeconds = 30;
/** How often the tenants are looked through for those whose check is due. */
const roundSeconds = 600;
/** A tenant and mode, with its last check that has an outcome. */
interface Seen extends TenantAndMode {
  /** The seconds since it began; null when there was none. */
  age: number | null;
  violated: boolean | null;
}

/** What is known of a ledger: its last check that has an outcome, and when this was read, by `performance.now()`. */
interface Known extends Seen {
  readAt: number;
}

/**
 * Checks the ledger of every tenant and mode once in an interval: its invariants and its chain of seals. All gateways
 * look for checks that are due, and the database gives each check to one of them, so a round goes on where a gateway
 * that has ended was. A gateway makes one check at a time, on the connection for audit queries, and pauses after each
 * one for as long as it took, so that checks take at most half of the time of one connection.
 */
export class LedgerChecks {
  #known = new Map<string, Known>();

  constructor(
    private readonly database: CrossTenantReads & WorkerCalls,
    private readonly log: Logger,
    private readonly intervalSeconds: number,
    private readonly observer: WorkObserver | undefined,
    private readonly stop: AbortSignal,
  ) {}

  /** Makes the checks that are due, and says what other processes and operators have found, until the worker stops. */
  async run(): Promise<void> {
    await Promise.all([
      this.#again(
        () => this.round(),
        () => roundSeconds * (0.75 + Math.random() / 2),
      ),
      this.#again(
        () => this.lookAgain(),
        () => violatedSeconds,
      ),
    ]);
  }

  async #again(work: () => Promise<void>, seconds: () => number): Promise<void> {
    while (!this.stop.aborted) {
      await this.#attempt(work);
      await this.#sleep(seconds());
    }
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const outage = error instanceof DomainError && error.status === 503;
      this.log[outage ? 'debug' : 'warn'](faultLine(error), 'the worker will look for due checks of the ledger again');
    }
  }

  /**
   * Reads the last checks of all tenants, says what they are, and then makes the checks that are due, the oldest first.
   * A violation is said at once.
   */
  async round(): Promise<void> {
    await this.#checkPrivileges();
    this.#known = await this.#lastChecks();
    if (this.stop.aborted) return;
    this.#tell();
    const due = [...this.#known.values()].filter(({ age }) => age === null || age >= this.intervalSeconds);
    for (const each of due.toSorted((a, b) => (b.age ?? Infinity) - (a.age ?? Infinity))) {
      if (this.stop.aborted) return;
      const status = await this.#checkUnlessAway(each);
      if (status !== 'passed' && status !== 'violated') continue;
      const told = each.violated === true;
      Object.assign(each, { age: 0, readAt: performance.now(), violated: status === 'violated' });
      if (each.violated !== told) this.#tell();
    }
    if (!this.stop.aborted) this.#tell();
  }

  /**
   * Reads the last checks again of the ledgers that were violated, and of those whose violation was found meanwhile: by
   * another gateway, or by an operator, who clears one in the same way. It waits for no check that runs.
   */
  async lookAgain(): Promise<void> {
    const found = await this.#foundViolated();
    const violated = [...this.#known].filter(([, each]) => each.violated).map(([key]) => key);
    let changed = false;
    for (const key of new Set([...violated, ...found.keys()])) {
      const each = this.#known.get(key) ?? found.get(key)!;
      const [last] = await this.#lastCheck(each);
      if (!last || last.violated === each.violated) continue;
      this.#known.set(key, Object.assign(each, last, { readAt: performance.now() }));
      changed = true;
    }
    if (changed) this.#tell();
  }

  /** The ledgers of which a check has ended as violated that began a short time ago, the newest if there are many. */
  async #foundViolated(): Promise<Map<string, Known>> {
    const rows = await this.database.crossTenant.read<TenantAndMode>('ledgers_found_violated', (db) =>
      db
        .select({ tenantId: ledgerCheck.tenantId, livemode: ledgerCheck.livemode })
        .from(ledgerCheck)
        .where(
          sql`${ledgerCheck.status} = 'violated'
              and ${ledgerCheck.created} > wall_clock() - ${sql.raw(String(checkSecondsMax + 2 * violatedSeconds))}`,
        )
        .orderBy(desc(ledgerCheck.created))
        .limit(rowsMax),
    );
    return new Map(rows.map((row) => [keyOf(row), { ...row, age: 0, violated: null, readAt: performance.now() }]));
  }

  /** The last check of a ledger that has an outcome. */
  #lastCheck(of: TenantAndMode): Promise<{ age: number; violated: boolean }[]> {
    return this.database.read(
      'ledger_check_last',
      (db) =>
        db
          .select({
            age: sql<number>`extract(epoch from statement_timestamp())::float8 - ${ledgerCheck.created}`,
            violated: sql<boolean>`${ledgerCheck.status} = 'violated'`,
          })
          .from(ledgerCheck)
          .where(
            sql`${ledgerCheck.tenantId} = ${sql.placeholder('tenantId')}
              and ${ledgerCheck.livemode} = ${sql.placeholder('livemode')}
              and ${ledgerCheck.status} in ('passed', 'violated')`,
          )
          .orderBy(desc(ledgerCheck.created), desc(ledgerCheck.id))
          .limit(1),
      { tenantId: of.tenantId, livemode: of.livemode },
    );
  }

  /** Says what the last checks are. */
  #tell(): void {
    const state = { oldestSeconds: 0, violated: 0, unchecked: 0 };
    for (const { age, violated, readAt } of this.#known.values()) {
      if (violated) state.violated++;
      else if (age === null) state.unchecked++;
      else state.oldestSeconds = Math.max(state.oldestSeconds, age + (performance.now() - readAt) / 1_000);
    }
    this.observer?.ledger(state);
  }

  async #lastChecks(): Promise<Map<string, Known>> {
    const found = new Map<string, Known>();
    const scan = this.#tenants();
    for (let ended = false; !ended && !this.stop.aborted; ) {
      const poll = await scan.next();
      ({ ended } = poll);
      const readAt = performance.now();
      for (const row of poll.rows) found.set(keyOf(row), { ...row, readAt });
    }
    return found;
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
    const began = performance.now();
    const work = (fn: string, values: (string | number | boolean | null)[]) => this.database.work(fn, values);
    const made = await checkLedger(work, of, this.intervalSeconds, () => this.#outcome(of));
    if (!made) return undefined;
    const seconds = (performance.now() - began) / 1_000;
    this.#report(of, made.status, made);
    this.observer?.checked(made.status, seconds);
    await this.#sleep(seconds);
    return made.status;
  }

  #report({ tenantId, livemode }: TenantAndMode, status: LedgerCheckStatus, ended: Outcome & { error: string | null }) {
    // The account is what `tidegate ledger check` takes.
    const line = { tenant: tenantId, account: `account_${tenantId}`, mode: modeOf(livemode) };
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
        outcomeOf(this.database, of),
        once(this.stop, 'abort', { signal: ended.signal }).then(() => {
          throw stopped();
        }),
      ]);
    } finally {
      ended.abort();
    }
  }

  async #sleep(seconds: number): Promise<void> {
    await sleep(seconds * 1_000, undefined, { signal: this.stop }).catch(() => {});
  }
}

const keyOf = ({ tenantId, livemode }: TenantAndMode) => `${tenantId} ${livemode}`;

/** A check that its gateway gives up counts as failed, and is made again. */
const stopped = () => new Error('The gateway stopped.');
