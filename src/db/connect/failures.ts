import type { ProblemCode } from '../../errors/catalogue.js';
import { DomainError, type Problem, problem } from '../../errors/problems.js';
import { busy } from './deadline.js';
import { causeOf, outageOf, type Unready, unreadyBy } from './outage.js';
import type { Servers } from './driver/servers.js';

/** How long the gateway is not ready after a write that could not be stored, unless a later write is stored. */
const unreadyMilliseconds = 5_000;
const logEveryMilliseconds = 5_000;

/** Converts PostgreSQL's errors for a client: an error that a function raised to a domain error, an outage to a 503. */
export class Failures {
  #unready: { until: number; why: Unready } | undefined;
  #lockLook: Promise<'table' | 'shard' | null> | undefined;
  /** When each outage was last logged, by its code. */
  readonly #loggedAt = new Map<string, number>();

  constructor(
    private readonly servers: Servers,
    private readonly onOutage: (error: unknown) => void,
  ) {}

  /** Why the last write could not be stored, if that was within the last `unreadyMilliseconds`. */
  get unready(): Unready | undefined {
    return this.#unready && performance.now() < this.#unready.until ? this.#unready.why : undefined;
  }

  /** Call this when a write was stored. */
  stored(): void {
    this.#unready = undefined;
  }

  /**
   * Logs an outage and returns a 503 for it, with PostgreSQL's error as the cause. Returns any other error unchanged.
   */
  reported(error: unknown): unknown {
    if (error instanceof DomainError || outageOf(error) === undefined) return error;
    const { code = '' } = causeOf(error);
    const now = performance.now();
    if (now >= (this.#loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) + logEveryMilliseconds) {
      this.#loggedAt.set(code, now);
      this.onOutage(error);
    }
    return Object.assign(busy(), { cause: causeOf(error) });
  }

  /**
   * Converts what a function refused to a DomainError, and an outage to a 503. Any other error is a bug, and is
   * returned unchanged.
   */
  async domainErrorOf(error: unknown): Promise<unknown> {
    const { code = '', detail, message, constraint_name } = causeOf(error);
    if (/^TG\d{3}$/.test(code)) {
      const listed = JSON.parse(detail ?? '[]') as {
        code: ProblemCode;
        field: string | null;
        message: string | null;
        metadata?: Record<string, unknown> | null;
      }[];
      return new DomainError(
        ...listed.map(({ code: of, field, message: text, metadata }) =>
          problem(of, field ?? undefined, text ?? undefined, metadata ?? undefined),
        ),
      );
    }
    if (code === '22003') return new DomainError(outOfRange);
    const lock = code === '55P03' ? await this.#lockBehind(error) : undefined;
    if (lock === null) return new DomainError(problem('state_conflict'));
    // Only the tenants of the shards that are moved have to wait.
    if (lock === 'shard') return this.reported(error);
    if (code === '55P03' || code === '53100')
      this.#unready = { until: performance.now() + unreadyMilliseconds, why: unreadyBy(error) };
    const index = /"(\w+?)(?:_\d+)?"/.exec(constraint_name ? `"${constraint_name}"` : message)?.[1] ?? '';
    const known = code === '23505' ? taken[index] : undefined;
    return known ? new DomainError(known) : this.reported(error);
  }

  /**
   * What a write waited for in vain: a table, which a migration has locked, a shard, which a cluster moves, or null for
   * a row, which another request has locked. PostgreSQL's context names a row that another transaction has changed. But
   * the second statement that waits for the same row gets no such context, so a query of the current locks decides.
   */
  async #lockBehind(error: unknown): Promise<'table' | 'shard' | null> {
    if (/\btuple\b/.test(causeOf(error).where ?? '') || /\brow\b/.test(causeOf(error).message)) return null;
    this.#lockLook ??= this.servers
      .lockedNow()
      .catch(() => 'table' as const)
      .finally(() => {
        this.#lockLook = undefined;
      });
    return this.#lockLook;
  }
}

/** A sum of an account, or another number, that would be greater than PostgreSQL stores. Nothing was stored. */
const outOfRange = problem(
  'parameter_invalid',
  undefined,
  'A number would be greater than what can be stored, such as the balance with this amount. Send a smaller one.',
);

/**
 * The errors for the unique indexes that back up the functions' own checks. A shard may append a number to the name.
 */
const taken: Record<string, Problem> = {
  account_nickname_taken: problem('nickname_taken', 'account.nickname'),
  // A root has the id of its tenant, which is new: an earlier attempt of this write has made it, whose answer was lost.
  account_pkey: problem('idempotency_key_in_use'),
};
