import { DomainError, problem } from './problems.js';

/** What is left of an account's allowance, as the answers show it. */
export interface AllowanceState {
  /** The most points that the allowance can hold. */
  limit: number;
  /** The points that are left. */
  remaining: number;
  /** The points that come back each second. */
  restoreRate: number;
  /** The seconds until the allowance is full again, if nothing else is asked. */
  resetSeconds: number;
}

/** The allowance of one root account and mode, as one gateway knows it. */
export interface Allowance {
  readonly state: AllowanceState;
  /** Takes points. Returns a promise only if it has to wait; throws or rejects when there are too few. */
  take(points: number): undefined | Promise<void>;
  /** Gives points back that were taken and not used; takes more when the number is negative. */
  give(points: number): void;
}

/** The cost of an answer, as `extensions.cost` has it. */
export interface Cost extends AllowanceState {
  /** What the request could cost, as computed before it ran. */
  requested: number;
  /** What it did cost. */
  actual: number;
}

/**
 * What one request takes from an allowance: first what it could cost at most, before it runs; and when it has run, what
 * it really read and wrote. The difference is given back once, when the answer is made.
 */
export class Charge {
  #requested = 0;
  #actual = 0;
  #refusedPoints = 0;
  #bounded = false;
  #cost: Cost | undefined;
  /** Why the request was refused, if its allowance did not suffice. */
  refusal: DomainError | undefined;

  constructor(
    private readonly allowance: Allowance,
    /** The points of an object, and of whatever else is one look at a table. */
    private readonly objectPoints: number,
  ) {}

  /** Takes the points that a part of the request could cost. Refuses the request when too few are left. */
  take(points: number): undefined | Promise<void> {
    try {
      const waiting = this.allowance.take(points);
      if (waiting)
        return waiting.then(
          () => this.#took(points),
          (error: unknown) => this.#refused(error, points),
        );
      this.#took(points);
    } catch (error) {
      this.#refused(error, points);
    }
  }

  #took(points: number): void {
    this.#requested += points;
  }

  #refused(error: unknown, points: number): never {
    this.#refusedPoints = points;
    if (error instanceof DomainError) this.refusal = error;
    throw error;
  }

  /**
   * Whether the request costs no more than it took. Otherwise it may read a list of links that is longer than usual; the
   * rest is taken afterwards, and is then a part of what it could cost.
   */
  bound(bounded: boolean): void {
    this.#bounded = bounded;
  }

  /** Counts what the request has really used. */
  count(points: number): void {
    this.#actual += points;
  }

  /** Counts objects that were read. */
  countObjects(objects: number): void {
    this.#actual += objects * this.objectPoints;
  }

  get state(): AllowanceState {
    return this.allowance.state;
  }

  /**
   * The cost, as the answer shows it. What the request did not use is given back once, at the first call; what it used
   * beyond its estimate is taken. A request that ended early keeps its price: its work may still continue.
   */
  settled(ended: boolean): Cost {
    if (this.#cost) return this.#cost;
    if (ended) this.#actual = Math.max(this.#actual, this.#requested);
    if (this.#bounded) this.#actual = Math.min(this.#actual, this.#requested);
    if (this.#actual !== this.#requested) this.allowance.give(this.#requested - this.#actual);
    const requested = Math.max(this.#requested + this.#refusedPoints, this.#actual);
    this.#cost = { requested, actual: this.#actual, ...this.allowance.state };
    return this.#cost;
  }
}

/** The refusal of a request that costs more than is left. `seconds` is how long its client should wait. */
export function tooFewPoints(points: number, remaining: number, seconds: number): DomainError {
  const refused = problem(
    'rate_limit_exceeded',
    undefined,
    `The request costs up to ${points} points, and ${remaining} are left of the account's allowance. Retry ` +
      'after the time in Retry-After, or ask for less at once.',
  );
  return new DomainError({ ...refused, retryAfter: seconds });
}

/** The refusal of a request that costs more than the allowance can hold, so that no waiting helps. */
export function tooManyPoints(points: number, limit: number): DomainError {
  return new DomainError(
    problem(
      'request_too_expensive',
      undefined,
      `The request costs up to ${points} points, and the account's allowance holds at most ${limit}. Ask for ` +
        'smaller pages, or for the inner objects in requests of their own.',
    ),
  );
}
