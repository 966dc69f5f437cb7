import { DomainError, problem } from '../errors/problems.js';

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

/**
 * The allowance of one root account and mode, as one gateway knows it. A sender is a key or session of the root
 * account, or one of its connected users.
 */
export interface Allowance {
  /** What is left for all senders together. */
  readonly state: AllowanceState;
  /** The most points that one request can take. */
  readonly takenMax: number;
  /** Takes points. Returns a promise only if it has to wait; throws or rejects when there are too few. */
  take(points: number, sender: string): undefined | Promise<void>;
  /** Gives points back that were taken and not used; takes more when the number is negative. */
  give(points: number, sender: string): void;
}

/** How a request is answered although too few points are left: it ends a key or session, and is charged afterwards. */
export interface Exemption {
  /** Whether this request is such an operation, and has not been tried too often. Asked at most once. */
  claim(): boolean | Promise<boolean>;
  /** Called when the request has ended something, so that it does not count as a try. */
  ended(): void;
}

/** The cost of an answer, as `extensions.cost` has it. */
export interface Cost extends AllowanceState {
  /** What the request could cost, as computed before it ran, and what its answer had beyond that. */
  requested: number;
  /** What it did cost. */
  actual: number;
}

/**
 * What one request takes from an allowance: first the most that it could cost, before it runs; and when it has run,
 * what it really read and wrote. The difference is given back once, when the answer is made. It is taken where a list
 * without a maximum was longer than its estimate.
 */
export class Charge {
  #requested = 0;
  #actual = 0;
  #refusedPoints = 0;
  #cost: Cost | undefined;
  /** Why the request was refused, if its allowance did not suffice. */
  refusal: DomainError | undefined;

  /** The refusal that waits until the body says whether the request ends a key or session. */
  #late: { error: DomainError; points: number } | undefined;
  #exempt: boolean | undefined;
  /** How the request may be answered with too few points. */
  exemption: Exemption | undefined;
  /** Whether a refusal waits for `refuseLate`. */
  waits = false;

  constructor(
    private readonly allowance: Allowance,
    /** The points of an object, and of whatever else is one look at a table. */
    private readonly objectPoints: number,
    private readonly sender: string,
  ) {}

  /**
   * Takes the points that a part of the request could cost. Refuses the request when too few are left. A request is not
   * refused for what it costs only where an account has unusually many currencies: of these points it takes at most
   * what the allowance can give.
   */
  take(most: number, usual = most): undefined | Promise<void> {
    const points = most > usual ? Math.max(Math.min(most, this.allowance.takenMax), usual) : most;
    try {
      const waiting = this.allowance.take(points, this.sender);
      if (waiting)
        return waiting.then(
          () => this.#took(points),
          (error: unknown) => this.#lacks(error, points),
        );
      this.#took(points);
    } catch (error) {
      return this.#lacks(error, points);
    }
  }

  /** Decides about a request whose refusal has waited. It throws the refusal, or takes the points afterwards. */
  refuseLate(): undefined | Promise<void> {
    const late = this.#late;
    this.#late = undefined;
    this.waits = false;
    return late && this.#lacks(late.error, late.points);
  }

  /** The refusal that has waited, for a request that has failed before its document was known. */
  lateRefusal(): DomainError | undefined {
    if (!this.#late) return undefined;
    const { error, points } = this.#late;
    this.#late = undefined;
    this.#refusedPoints = points;
    this.refusal = error;
    return error;
  }

  /** Too few points are left: the request waits for its body, is exempt, or is refused. */
  #lacks(error: unknown, points: number): undefined | Promise<void> {
    if (!(error instanceof DomainError) || error.problems[0]?.code !== 'rate_limit_exceeded')
      return this.#refused(error, points);
    if (this.waits) {
      this.#late = { error, points };
      return;
    }
    const exempt = this.#exempt ?? this.exemption?.claim() ?? false;
    const decide = (claimed: boolean) => {
      this.#exempt = claimed;
      if (!claimed) this.#refused(error, points);
      this.allowance.give(-points, this.sender);
      this.#took(points);
    };
    if (exempt instanceof Promise) return exempt.then(decide);
    decide(exempt);
  }

  /** Says that the request has ended a key or session. */
  ended(): void {
    if (this.#exempt) this.exemption?.ended();
  }

  #took(points: number): void {
    this.#requested += points;
  }

  #refused(error: unknown, points: number): never {
    this.#refusedPoints = points;
    if (error instanceof DomainError) this.refusal = error;
    throw error;
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
   * beyond its estimate is taken, and is then a part of what it could cost: each object of an answer costs its points.
   * A request that ended early keeps its price: its work may still continue.
   */
  finish(ended: boolean): Cost {
    if (this.#cost) return this.#cost;
    if (ended) this.#actual = Math.max(this.#actual, this.#requested);
    if (this.#actual !== this.#requested) this.allowance.give(this.#requested - this.#actual, this.sender);
    const requested = Math.max(this.#requested + this.#refusedPoints, this.#actual);
    this.#cost = { requested, actual: this.#actual, ...this.state };
    return this.#cost;
  }
}

/** The refusal of a request that costs more than is left. `seconds` is how long its client should wait. */
export function tooFewPoints(points: number, remaining: number, seconds: number): DomainError {
  const refused = problem(
    'rate_limit_exceeded',
    undefined,
    `The request costs up to ${points} points, and ${remaining} are left of the account's allowance for its sender. ` +
      'Retry after the time in Retry-After, or ask for less at once.',
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
