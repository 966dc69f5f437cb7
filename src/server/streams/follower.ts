import type { FastifyRequest } from 'fastify';
import type { Context } from '../../operation/context.js';
import type { Caller } from '../../request/caller.js';
import type { Charge } from '../../limits/charge.js';
import { clientLeft, RequestBudget, type RequestLimits, tooLate } from '../../limits/budget.js';
import { DomainError, problem, retryAfter } from '../../errors/problems.js';
import {
  type EventFilter,
  eventsAfter,
  eventsOfReadMax,
  type EventsRead,
  type PositionField,
  refuseDeleted,
} from '../../resources/event/stream.js';
import type { EventRow } from '../../resources/event/table.js';
import type { RequestTicket } from '../../limits/request-queue.js';
import { weights } from '../../types/weights.js';
import type { Identity } from '../identity.js';
import type { InFlight } from '../limits/in-flight.js';
import type { RepeatedRefusals } from '../limits/repeated-refusals.js';
import type { Feed, Feeds } from './feeds.js';
import type { Stream, StreamParts, Streams } from './streams.js';

const heartbeatMilliseconds = 15_000;
/** How long an object is not read again after a change: what changes all the time is read four times in a second. */
const betweenChangesMilliseconds = 250;

/** The points that a piece of work could cost, and usually does where the two differ. */
interface PieceCost {
  points: number;
  pointsUsual?: number;
}

/** What streams need from the gateway. */
export interface StreamServices {
  identity: Identity;
  inFlight: InFlight;
  streams: Streams;
  feeds: Feeds;
  refusals: RepeatedRefusals;
  limits: RequestLimits;
  /** The charge of one piece of work; null where requests are not charged. */
  chargeOf: (caller: Caller) => Charge | null;
}

/** A step of a stream: an event, or none when only time has passed. All events up to `position` are known then. */
export interface Step {
  row?: EventRow;
  position: number;
}

/** Does the work of one client's stream: each piece of it with the rights that the caller has at that time. */
export class Follower {
  constructor(
    private readonly services: StreamServices,
    private readonly request: FastifyRequest,
    /** How the client's API names the position of a stream, for refusals. */
    private readonly positionField: PositionField,
  ) {}

  /** The context of the caller now, with a budget and a charge of its own. */
  async context(): Promise<Context> {
    const budget = new RequestBudget(this.services.limits);
    const request = Object.create(this.request, {
      budget: { value: budget },
      ticket: { value: null },
    }) as FastifyRequest;
    const context = await this.services.identity.identify(request);
    // What a hint has announced may not have reached a replica.
    context.scope.stayOnPrimary();
    budget.charge = this.services.chargeOf(context.caller);
    budget.start();
    return context;
  }

  /** Identifies the caller again. */
  readonly identify = (): Context | Promise<Context> => {
    const request = Object.create(this.request, { budget: { value: null }, ticket: { value: null } }) as FastifyRequest;
    return this.services.identity.identify(request);
  };

  /** A request of this caller by POST to /graphql, as if it had come by HTTP. */
  asking(context: Context, body: unknown): FastifyRequest {
    const members = { method: 'POST', body, context, budget: context.budget };
    const own = Object.entries(members).map(([name, value]) => [name, { value, writable: true }]);
    return Object.create(this.request, Object.fromEntries(own)) as FastifyRequest;
  }

  /** Refuses a caller that may open no further stream now, before its document is read. */
  refuseMore(caller: Caller): void {
    this.services.streams.refuseMore(caller);
  }

  /** Opens a stream of this caller, or refuses it. */
  enter(caller: Caller, parts: StreamParts): Stream {
    return this.services.streams.enter(caller, parts);
  }

  /** Joins the feed of a caller until the stream is over. */
  async join(stream: Stream, caller: Caller): Promise<Feed> {
    const { feeds } = this.services;
    const feed = await feeds.join(caller);
    stream.onLeave = () => feeds.leave(feed);
    // The client may have left meanwhile.
    if (stream.ending) stream.leave();
    return feed;
  }

  /**
   * Does a piece of work in a turn, and takes what it could cost from the allowance before. Where there is no turn or
   * too little allowance, the work waits, as the client's position stays. Undefined when the stream has ended.
   */
  async piece<T>(stream: Stream, cost: PieceCost, work: (context: Context) => Promise<T>): Promise<T | undefined> {
    while (!stream.ending) {
      let context: Context | undefined;
      try {
        context = await this.context();
        return await this.#worked(stream, context, cost, work);
      } catch (error) {
        await this.#waited(stream, error);
      } finally {
        context?.budget.charge?.finish(false);
      }
    }
    return undefined;
  }

  async #worked<T>(stream: Stream, context: Context, cost: PieceCost, work: (context: Context) => Promise<T>) {
    const { budget, caller } = context;
    await budget.charge?.take(cost.points, cost.pointsUsual);
    return this.timed(budget, () =>
      this.#inTurn(stream, caller, (ticket) => {
        budget.ticket = ticket;
        return work(context);
      }),
    );
  }

  /**
   * Does the work of a message of a connection in a turn of its caller. Where there is none, the message waits. It is
   * dropped when the connection ends. The work never rejects.
   */
  async message(connection: Stream, caller: Caller, work: () => Promise<void>): Promise<void> {
    while (!connection.ending) {
      try {
        return await this.#inTurn(connection, caller, work);
      } catch (error) {
        await this.#waited(connection, error);
      }
    }
  }

  #inTurn<T>(stream: Stream, caller: Caller, work: (ticket: RequestTicket) => Promise<T>): Promise<T> {
    const ended = (leave: (reason: DomainError) => void) => stream.whenEnded(() => leave(clientLeft()));
    return this.services.inFlight.during(caller, work, ended);
  }

  /** Waits as long as a refusal says. Throws any other error. */
  async #waited(stream: Stream, error: unknown): Promise<void> {
    const seconds = error instanceof DomainError ? retryAfter(error.problems) : undefined;
    if (seconds === undefined) throw error;
    await stream.pause(seconds * 1_000 * (1 + Math.random() / 4));
  }

  /** Does work that ends when it takes longer than a request may. */
  async timed<T>(budget: RequestBudget, work: () => Promise<T>): Promise<T> {
    const { seconds } = this.services.limits;
    const timer = setTimeout(() => budget.end(tooLate(seconds)), seconds * 1_000);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Counts a refusal of a caller for too many requests. Returns for how many milliseconds it has to wait. */
  refused(caller: Caller): number {
    return this.services.refusals.count(caller);
  }

  /** The position at which a stream begins. Refuses a number that no event has, or whose next events were deleted. */
  async startAt(context: Context, feed: Feed, after: number | null | undefined): Promise<number> {
    if (after == null) return feed.last;
    if (after > feed.last) {
      const text = `No event has this number yet; the last one is ${feed.last}.`;
      throw new DomainError(problem('parameter_invalid', this.positionField, text));
    }
    await refuseDeleted(context.scope, after, this.positionField);
    return after;
  }

  /**
   * The events after a number, in their order and without an end, and a step without an event at least every 15 s. What
   * the client does not take is not read: the stream waits at its position.
   */
  async *events(stream: Stream, feed: Feed, filter: EventFilter, after: number): AsyncGenerator<Step, void, void> {
    let position = after;
    while (!stream.ending) {
      const { last } = feed;
      if (last > position) {
        const read = await this.piece(stream, { points: eventsOfReadMax * weights.object }, (context) =>
          this.#read(context, feed, filter, position, last),
        );
        if (!read) return;
        for (const row of read.rows) {
          if (stream.ending) return;
          yield { row, position: row.number! };
        }
        ({ position } = read);
        continue;
      }
      await stream.wait(feed, position, heartbeatMilliseconds);
      if (feed.last === position && !stream.ending) yield { position };
    }
  }

  /**
   * True at once and after each event of a filter, and false at least every 15 s. Events that come shortly after each
   * other are one change.
   */
  async *changes(stream: Stream, feed: Feed, filter: EventFilter): AsyncGenerator<boolean, void, void> {
    let position = feed.last;
    let changed = true;
    while (!stream.ending) {
      if (changed) {
        yield true;
        changed = false;
        await stream.pause(betweenChangesMilliseconds);
      }
      const { last } = feed;
      while (last > position) {
        const after = position;
        const read = await this.piece(stream, { points: eventsOfReadMax * weights.object }, (context) =>
          this.#read(context, feed, filter, after, last),
        );
        if (!read) return;
        ({ position } = read);
        changed ||= read.rows.length > 0;
      }
      if (changed) continue;
      await stream.wait(feed, position, heartbeatMilliseconds);
      if (feed.last === position && !stream.ending) yield false;
    }
  }

  /** Streams with the same view of the same events share a read; each is charged for what it gets. */
  async #read(context: Context, feed: Feed, filter: EventFilter, after: number, last: number): Promise<EventsRead> {
    const { caller, scope, budget } = context;
    // A session does not see all that its key sees.
    const { actingAccountId, actingAccountKind, kind, session } = caller;
    const view = [actingAccountId, actingAccountKind, kind, session !== undefined, after, last];
    const key = JSON.stringify([...view, filter]);
    let reading = feed.reads.get(key);
    if (!reading) {
      reading = this.#unshared(context, filter, after, last).finally(() => feed.reads.delete(key));
      feed.reads.set(key, reading);
    }
    const read = await reading;
    // A reader that is far behind may have been overtaken by the deletion of old events.
    if (last - after > eventsOfReadMax) await refuseDeleted(scope, after, this.positionField);
    budget.charge?.countObjects(read.rows.length);
    return read;
  }

  #unshared({ scope }: Context, filter: EventFilter, after: number, last: number): Promise<EventsRead> {
    return eventsAfter(scope, filter, after, last);
  }
}
