import type { Context } from '../../operation/context.js';
import { clientLeft, type RequestBudget } from '../../limits/budget.js';
import type { Caller } from '../../request/caller.js';
import { DomainError, type Problem, problem, retryAfter } from '../../errors/problems.js';
import type { Feed } from './feeds.js';

const tickMilliseconds = 500;
/** How often the keys of the streams are looked up: a stream whose key was revoked ends within 3 s. */
const keysMilliseconds = 2_000;
const keysAtOnce = 50;
/** How long a client may take to read what it was sent. */
const sendingMilliseconds = 30_000;

/** Why a stream has ended. */
export interface Ending {
  problems: readonly Problem[];
  /** Whether the client should open the stream again. */
  comesBack: boolean;
}

/** What a stream needs from its endpoint. */
export interface StreamParts {
  /**
   * Identifies the caller again; refuses one whose key was revoked or whose session has ended. Absent where another
   * stream of the same connection does that.
   */
  identify?: (() => Context | Promise<Context>) | undefined;
  /** Closes the connection of a client that does not read. */
  destroy: () => void;
}

/** One open stream: its end, and its waiting for events. */
export class Stream {
  ending: Ending | undefined;
  /** When the client was sent something that it has not read yet. */
  sendingSince: number | undefined;
  /** Called with the reason when the gateway ends the stream. */
  onEnd: ((ending: Ending) => void) | undefined;
  /** Called once when the stream is over. */
  onLeave: (() => void) | undefined;
  #wake: (() => void) | undefined;
  readonly #whenEnded = new Set<() => void>();

  constructor(
    readonly parts: StreamParts,
    private readonly left: (stream: Stream) => void,
  ) {}

  /** Ends the stream; only the first reason counts. A client that does not read is disconnected. */
  end(ending: Ending): void {
    if (this.ending) return;
    this.ending = ending;
    this.#stop();
    this.onEnd?.(ending);
    if (this.sendingSince !== undefined) this.parts.destroy();
  }

  /** Says that the stream is over, and no longer counts. */
  leave(): void {
    this.ending ??= { problems: [], comesBack: false };
    this.#stop();
    this.left(this);
    this.onLeave?.();
    this.onLeave = undefined;
  }

  #stop(): void {
    this.#wake?.();
    for (const call of this.#whenEnded) call();
    this.#whenEnded.clear();
  }

  /** Calls a function when the stream ends, or at once if it has ended. Returns a function that cancels that. */
  whenEnded(call: () => void): () => void {
    if (this.ending) call();
    else this.#whenEnded.add(call);
    return () => this.#whenEnded.delete(call);
  }

  /** Does work that is of no use once the stream has ended: its budget ends with the stream. */
  async whileOpen<T>(budget: RequestBudget, work: () => Promise<T>): Promise<T> {
    const forget = this.whenEnded(() => budget.end(clientLeft()));
    try {
      return await work();
    } finally {
      forget();
    }
  }

  /** Resolves when there are events after a number, when the time is over, or when the stream ends. */
  wait(feed: Feed, after: number, milliseconds: number): Promise<void> {
    if (feed.last > after || this.ending) return Promise.resolve();
    return this.pause(milliseconds, feed.waiting);
  }

  /** Resolves when the time is over, one of the others wakes it, or the stream ends. */
  pause(milliseconds: number, others?: Set<() => void>): Promise<void> {
    if (this.ending) return Promise.resolve();
    return new Promise((resume) => {
      const done = () => {
        clearTimeout(timer);
        others?.delete(done);
        this.#wake = undefined;
        resume();
      };
      const timer = setTimeout(done, milliseconds);
      others?.add(done);
      this.#wake = done;
    });
  }

  /** Passes on what is sent, and notes how long the client takes for each part. */
  async *sent<T>(parts: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    for await (const part of parts) {
      this.sendingSince = performance.now();
      yield part;
      this.sendingSince = undefined;
    }
  }
}

/** How many streams something may have. */
export interface StreamLimits {
  all: number;
  ofTenant: number;
  ofKey: number;
}

/**
 * The streams of a gateway: bounded in number for each key, for each tenant and mode and in all, ended when their key
 * is revoked, when their client does not read, and when the gateway stops.
 */
export class Streams {
  readonly #all = new Set<Stream>();
  /** How many streams each key or session, and each tenant and mode has. */
  readonly #counts = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #draining = false;
  #checkedAt = performance.now();
  #checking = false;

  constructor(private readonly limits: StreamLimits) {
    this.#timer = setInterval(() => this.#poll(), tickMilliseconds);
    this.#timer.unref();
  }

  /** How many streams are open. */
  get size(): number {
    return this.#all.size;
  }

  /** Opens a stream, or refuses it. `leave` of the stream has to be called when it is over. */
  enter(caller: Caller, parts: StreamParts): Stream {
    this.refuseMore(caller);
    const [key, tenant] = namesOf(caller);
    const stream = new Stream(parts, () => {
      if (!this.#all.delete(stream)) return;
      for (const name of [key, tenant]) this.#count(name, -1);
    });
    this.#all.add(stream);
    for (const name of [key, tenant]) this.#count(name, 1);
    return stream;
  }

  /** Refuses a caller that may open no further stream now. */
  refuseMore(caller: Caller): void {
    if (this.#draining) throw new DomainError(...restarting.problems);
    const [key, tenant] = namesOf(caller);
    const [ofKey, ofTenant] = [this.#counts.get(key) ?? 0, this.#counts.get(tenant) ?? 0];
    if (ofKey >= this.limits.ofKey) {
      const text = `This key has ${ofKey} streams, the most that it may have. Close one before you open another.`;
      throw new DomainError(problem('streams_exceeded', undefined, text));
    }
    // A key can make many sessions, and each of them could have as many as a key.
    if (ofTenant >= this.limits.ofTenant) {
      const text =
        `The keys and sessions of the root account have ${ofTenant} streams in this mode, the most that they may ` +
        'have. Close one before you open another.';
      throw new DomainError(problem('streams_exceeded', undefined, text));
    }
    if (this.#all.size >= this.limits.all) {
      const all = this.#all.size;
      const text = `The gateway has ${all} streams, the most that it serves. Retry after the time in Retry-After.`;
      throw new DomainError({ ...problem('service_unavailable', undefined, text), retryAfter: 5 });
    }
  }

  #count(name: string, more: 1 | -1): void {
    const count = (this.#counts.get(name) ?? 0) + more;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }

  /** Ends all streams, and refuses further ones: the gateway stops. */
  drain(): void {
    this.#draining = true;
    clearInterval(this.#timer);
    for (const stream of this.#all) stream.end(restarting);
  }

  #poll(): void {
    const now = performance.now();
    for (const stream of this.#all)
      if (stream.sendingSince !== undefined && now - stream.sendingSince > sendingMilliseconds) stream.end(slow);
    if (this.#checking || now - this.#checkedAt < keysMilliseconds) return;
    this.#checkedAt = now;
    this.#checking = true;
    void this.#checkKeys().finally(() => {
      this.#checking = false;
    });
  }

  async #checkKeys(): Promise<void> {
    const all = [...this.#all];
    for (let i = 0; i < all.length; i += keysAtOnce)
      await Promise.all(all.slice(i, i + keysAtOnce).map((stream) => this.#checkKey(stream)));
  }

  async #checkKey(stream: Stream): Promise<void> {
    try {
      await stream.parts.identify?.();
    } catch (error) {
      const ending = endingOf(error);
      // An outage says nothing about the key.
      if (ending && !ending.comesBack) stream.end(ending);
    }
  }
}

/** What the streams of a caller are counted by: its key or session, and its tenant and mode. */
const namesOf = ({ session, keyId, tenantId, livemode }: Caller) =>
  [session?.id ?? keyId ?? '', `${tenantId} ${livemode}`] as const;

/** How a domain error ends a stream; undefined for any other error. */
export function endingOf(error: unknown): Ending | undefined {
  if (!(error instanceof DomainError)) return undefined;
  return { problems: error.problems, comesBack: retryAfter(error.problems) !== undefined };
}

const restarting: Ending = {
  problems: [
    problem('service_unavailable', undefined, 'The gateway restarts. Open the stream again, after the last number.'),
  ],
  comesBack: true,
};
const slow: Ending = {
  problems: [
    problem(
      'service_unavailable',
      undefined,
      `The client did not read what it was sent within ${sendingMilliseconds / 1000} s. Open the stream again, ` +
        'after the last number.',
    ),
  ],
  comesBack: true,
};
