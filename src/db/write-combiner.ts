import { DomainError } from '../request/problems.js';
import { type Slot, Slots } from '../request/slots.js';
import { type TurnLimits, Turns } from '../request/turns.js';
import type { Visit } from '../request/visit.js';
import type { Attempts } from './deadline.js';
import { causeOf, queryCanceled } from './outage.js';
import { text, type WriteFunction } from './write-arguments.js';

export type FunctionValue = string | number | boolean | null;

/** The rows of a function, as the driver or as JSON has them. */
export type Rows = Record<string, unknown>[];

/** The functions whose calls are combined: those that `write_deposits` can call. */
const combined: ReadonlySet<WriteFunction> = new Set(['create_deposit', 'move_deposit', 'reconcile_deposit'] as const);
export const isCombined = (fn: WriteFunction) => combined.has(fn);

/** The most writes of one call. Each may be a subtransaction, of which PostgreSQL keeps 64 at hand. */
const membersMax = 16;
/** The most characters of the writes of one call, so that a small write does not wait for large ones. */
const charactersMax = 65_536;
/** How long the writes of a call wait for a lock that is held elsewhere. One that needs longer runs alone. */
const lockMillisecondsMax = 100;
/** How long no writes are combined after the database had no function for it. */
const absentMilliseconds = 60_000;

/** How many calls of a tenant and mode run at once before further writes wait and are combined. */
const runningMax = 2;
/** A call that runs longer waits for a lock, and does not keep the next one from starting. */
const quickMilliseconds = 50;

/** How the combiner sends calls, and the limits of their statements. */
export interface Sends {
  /** Runs a function in a turn of its tenant. */
  run(fn: string, values: FunctionValue[], attempts: Attempts): Promise<Rows>;
  /** Called with the number of writes that go in one call. When it throws, each of them runs alone. */
  onCombined(writes: number): void;
  statementMilliseconds: number;
  lockMilliseconds: number;
}

/** A call of a write function that waits for its turn: its envelope and its arguments are JSON. */
interface Waiting {
  fn: WriteFunction;
  tenantId: string;
  livemode: boolean;
  envelope: string;
  args: string;
  /** What it locks: its payer, or the object that it changes. */
  locks: string;
  visit: Visit;
  resolve: (rows: Rows) => void;
  reject: (error: unknown) => void;
  /** Its place among the writes that wait. */
  slot?: Slot<Waiting>;
}

/**
 * Combines writes of one tenant and mode. While `runningMax` calls run, further writes wait; when one ends, those that
 * wait go in one call of `write_deposits`, where each has its own key, checks and outcome. A write that finds no queue
 * runs alone and at once. A write without an outcome runs alone: one that met a lock, and each of a call that failed as
 * a whole. Its key keeps it from having an effect twice.
 */
export class WriteCombiner {
  readonly #turns: Turns;
  /** The writes that wait, by tenant and mode, in their order. */
  readonly #waiting = new Map<string, Slots<Waiting>>();
  #absentUntil = Number.NEGATIVE_INFINITY;
  /**
   * How many writes a call takes now: half as many after one that took longer than its time, one more after another.
   * Otherwise a database for which 16 writes take longer than a statement may would do none of them.
   */
  #membersNow = membersMax;

  constructor(
    private readonly sends: Sends,
    limits: Pick<TurnLimits, 'ofKey' | 'all' | 'milliseconds'>,
  ) {
    this.#turns = new Turns({ ...limits, slots: limits.all, perKey: runningMax, reserve: 0 });
  }

  /** The number of writes that wait. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Does a write. Resolves with the rows that its function returns. */
  async write(fn: WriteFunction, tenantId: string, livemode: boolean, envelope: string, args: object): Promise<Rows> {
    const visit = this.#turns.visit(`${tenantId} ${livemode}`);
    const { fromAccountId, id } = args as { fromAccountId?: string | null; id?: string };
    const write = { fn, tenantId, livemode, envelope, args: text(args), locks: fromAccountId ?? id ?? '', visit };
    try {
      return await new Promise<Rows>((resolve, reject) => {
        const member: Waiting = { resolve, reject, ...write };
        this.#wait(member);
        visit.take((refused) => {
          this.#leave(member);
          if (refused) reject(refused);
          else void this.#begin(member);
        });
      });
    } finally {
      visit.leave();
    }
  }

  #wait(member: Waiting): void {
    const name = nameOf(member);
    let waiting = this.#waiting.get(name);
    if (!waiting) this.#waiting.set(name, (waiting = new Slots()));
    member.slot = waiting.add(member);
  }

  #leave(member: Waiting): void {
    const name = nameOf(member);
    const waiting = this.#waiting.get(name);
    if (!waiting || !member.slot?.value) return;
    waiting.remove(member.slot);
    if (waiting.size === 0) this.#waiting.delete(name);
  }

  /** Sends a write whose turn has begun, with others of its tenant and mode that wait. */
  async #begin(first: Waiting): Promise<void> {
    const until = performance.now() + this.sends.statementMilliseconds;
    const members = this.#membersWith(first);
    const slow = setTimeout(() => first.visit.rest(), quickMilliseconds);
    const rest = members.length > 1 ? await this.#together(members, until) : members;
    await Promise.all(rest.map((member) => this.#alone(member, until)));
    clearTimeout(slow);
  }

  #alone({ fn, tenantId, livemode, envelope, args, resolve, reject }: Waiting, until: number): Promise<void> {
    return this.sends.run(fn, [tenantId, livemode, envelope, args], this.#attempts(until)).then(resolve, reject);
  }

  /**
   * No call waits for a turn until there is little time left: PostgreSQL would go on with it after its 503, and keep
   * its connection from the next ones.
   */
  #attempts(until: number): Attempts {
    return { until, beginsBy: until - this.sends.statementMilliseconds / 2 };
  }

  /** Takes along the writes that wait, the oldest first. They give up their own turns. */
  #membersWith(first: Waiting): Waiting[] {
    const members = [first];
    let characters = lengthOf(first);
    if (performance.now() < this.#absentUntil) return members;
    for (const { value: member } of this.#waiting.get(nameOf(first)) ?? []) {
      if (!member) continue;
      characters += lengthOf(member);
      if (members.length >= this.#membersNow || characters > charactersMax) break;
      this.#leave(member);
      member.visit.rest();
      members.push(member);
    }
    return members;
  }

  /** Does several writes in one call. Returns those that it left undone, and those whose outcome is unknown. */
  async #together(members: Waiting[], until: number): Promise<Waiting[]> {
    // In one order, so that two calls do not wait for each other.
    members.sort((a, b) => (a.locks < b.locks ? -1 : a.locks > b.locks ? 1 : 0));
    const writes = members.map(({ fn, envelope, args }) => `{"fn":"${fn}","envelope":${envelope},"args":${args}}`);
    const [{ tenantId, livemode }] = members as [Waiting];
    const lockMilliseconds = Math.min(this.sends.lockMilliseconds, lockMillisecondsMax);
    try {
      this.sends.onCombined(members.length);
      const values = [tenantId, livemode, lockMilliseconds, `[${writes.join()}]`];
      // The function declares these columns.
      const outcomes = (await this.sends.run('write_deposits', values, {
        ...this.#attempts(until),
        once: true,
      })) as Outcome[];
      this.#membersNow = Math.min(this.#membersNow + 1, membersMax);
      const done = new Set<Waiting>();
      for (const { place, refused, problems, answer } of outcomes) {
        const member = members[place]!;
        done.add(member);
        if (refused === null) member.resolve([answer!]);
        else member.reject(Object.assign(new Error(refused), { code: refused, detail: problems }));
      }
      return members.filter((member) => !done.has(member));
    } catch (error) {
      const { code } = causeOf(error);
      const isUnavailable = error instanceof DomainError;
      // The time began before the wait for a turn, so it often ends before PostgreSQL's limit of the statement.
      const isTimeOver = code === queryCanceled || (isUnavailable && performance.now() >= until);
      if (isTimeOver) this.#membersNow = Math.max(this.#membersNow >> 1, 2);
      if (!isUnavailable) {
        // A gateway may start before the database is migrated.
        if (code === '42883') this.#absentUntil = performance.now() + absentMilliseconds;
        return members;
      }
      // PostgreSQL is unavailable, or the time is over: nothing would be different for each alone.
      for (const { reject } of members) reject(error);
      return [];
    }
  }
}

// A type, because TypeScript converts no row to an interface.
/** What became of a write: its row, or the SQLSTATE and the problems of its refusal. */
type Outcome = {
  place: number;
  refused: string | null;
  problems: string | null;
  answer: Record<string, unknown> | null;
};

const nameOf = ({ tenantId, livemode }: Waiting) => `${tenantId} ${livemode}`;
const lengthOf = ({ envelope, args }: Waiting) => envelope.length + args.length;
