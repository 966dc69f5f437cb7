import { DomainError, type Problem, type ProblemCode, problem } from '../request/problems.js';
import { busy } from './deadline.js';
import { causeOf, outageOf } from './outage.js';
import type { Servers } from './servers.js';

/** For so long after a write that could not be stored, the gateway is not ready, unless another one is stored. */
const unreadyMilliseconds = 5_000;
const logEveryMilliseconds = 5_000;

/** What PostgreSQL's errors are for a client: a domain error that a function raised, or an outage, which is a 503. */
export class Failures {
  #unreadyUntil = Number.NEGATIVE_INFINITY;
  #lockLook: Promise<boolean> | undefined;
  /** When an outage was last told to the log, by its code. */
  readonly #loggedAt = new Map<string, number>();

  constructor(
    private readonly servers: Servers,
    private readonly onOutage: (error: unknown) => void,
  ) {}

  /** Whether the last write could not be stored, and that was a moment ago. */
  get unready(): boolean {
    return performance.now() < this.#unreadyUntil;
  }

  /** Called when a write was stored. */
  stored(): void {
    this.#unreadyUntil = Number.NEGATIVE_INFINITY;
  }

  /** The 503 that stands for an outage, with PostgreSQL's own error as its cause; any other error unchanged. */
  told(error: unknown): unknown {
    if (error instanceof DomainError || outageOf(error) === undefined) return error;
    const { code = '' } = causeOf(error);
    const now = performance.now();
    if (now >= (this.#loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) + logEveryMilliseconds) {
      this.#loggedAt.set(code, now);
      this.onOutage(error);
    }
    return Object.assign(busy(), { cause: causeOf(error) });
  }

  /** What a function refused, as a DomainError; an outage as one, too; anything else is a fault of ours and goes through unchanged. */
  async domainErrorOf(error: unknown): Promise<unknown> {
    const { code = '', detail, message, constraint_name } = causeOf(error);
    if (/^TG\d{3}$/.test(code)) {
      const listed = JSON.parse(detail ?? '[]') as {
        code: ProblemCode;
        field: string | null;
        message: string | null;
      }[];
      return new DomainError(...listed.map((p) => problem(p.code, p.field ?? undefined, p.message ?? undefined)));
    }
    if (code === '55P03' && !(await this.#behindTable(error))) return new DomainError(problem('state_conflict'));
    if (code === '55P03' || code === '53100') this.#unreadyUntil = performance.now() + unreadyMilliseconds;
    const index = /"(\w+?)(?:_\d+)?"/.exec(constraint_name ? `"${constraint_name}"` : message)?.[1] ?? '';
    const known = code === '23505' ? taken[index] : undefined;
    return known ? new DomainError(known) : this.told(error);
  }

  /**
   * Whether the lock that a write has waited for in vain was a table's, as a migration holds it, and not a row's, as another
   * request does. PostgreSQL's context tells of a row that another transaction has changed; the second who waits for a
   * row has no such context, so it takes a look at the locks that there are to tell it from a table's.
   */
  async #behindTable(error: unknown): Promise<boolean> {
    if (/\btuple\b/.test(causeOf(error).where ?? '') || /\brow\b/.test(causeOf(error).message)) return false;
    this.#lockLook ??= this.servers
      .tableIsLocked()
      .catch(() => true)
      .finally(() => {
        this.#lockLook = undefined;
      });
    return this.#lockLook;
  }
}

/** The unique indexes behind the functions' own checks, by the name that a shard may number. */
const taken: Record<string, Problem> = {
  account_nickname_taken: problem('nickname_taken', 'account.nickname'),
};
