import type { FastifyRequest } from 'fastify';
import { formatted } from '../../api/graphql/errors.js';
import type {
  Subscription,
  SubscriptionAsked,
  SubscriptionReader,
  SubscriptionResult,
} from '../../api/graphql/subscription.js';
import { type Following, operationOfSubscription, type SubscriptionRoot } from '../../api/graphql/subscription-type.js';
import type { Context } from '../../operation/context.js';
import { check } from '../../operation/guard.js';
import { DomainError, problem } from '../../errors/problems.js';
import { type EventFilter, type EventStreamArgs, eventStreamProblems, filterOf } from '../../resources/event/stream.js';
import { operationOf } from '../../resources/registry.js';
import type { Feed } from './feeds.js';
import { Follower, type Step, type StreamServices } from './follower.js';
import { endingOf, type Ending, type Stream, type StreamParts } from './streams.js';

/** A step of a subscription: a result, or none when only time has passed. All events up to `position` are sent then. */
interface Sent {
  result?: SubscriptionResult;
  position?: number;
}

/** A subscription that runs. */
export interface OpenSubscription {
  stream: Stream;
  results: AsyncGenerator<Sent, void, void>;
}

/** How the client of a subscription is connected. */
interface Connection extends StreamParts {
  /** The number of the last event that the client has, where its protocol says so. It counts for `afterNumber`. */
  position?: number | undefined;
}

/** The part of a subscription that its field makes: the root of each result, with the position of its event. */
type Source = AsyncIterable<{ root?: SubscriptionRoot; position?: number }>;

const positionField = 'event.after_number';

/** Runs subscriptions, whichever protocol their results are sent by. */
export class Subscriptions {
  constructor(
    private readonly services: StreamServices,
    private readonly read: SubscriptionReader,
    private readonly onFault: (error: unknown, requestId: string) => void,
  ) {}

  /** Does the work for the sender of a request. */
  follower(request: FastifyRequest): Follower {
    return new Follower(this.services, request, positionField);
  }

  /** Begins a subscription, or refuses it. Undefined when the document asks for a query or a mutation. */
  async open(
    follower: Follower,
    context: Context,
    asked: SubscriptionAsked,
    { position, ...connection }: Connection,
  ): Promise<OpenSubscription | undefined> {
    const subscription = this.read(asked, context);
    if (!subscription) return undefined;
    const stream = follower.enter(context.caller, connection);
    try {
      const feed = await follower.join(stream, context.caller);
      const parts = following(follower, context, { stream, feed, position });
      const source = (await subscription.source(parts, context)) as Source;
      return { stream, results: this.#results(follower, stream, subscription, source, context.requestId) };
    } catch (error) {
      stream.leave();
      throw error;
    }
  }

  async *#results(
    follower: Follower,
    stream: Stream,
    subscription: Subscription,
    source: Source,
    requestId: string,
  ): AsyncGenerator<Sent, void, void> {
    try {
      let shown: string | undefined;
      for await (const { root, position } of source) {
        const at = position === undefined ? {} : { position };
        if (!root) {
          yield at;
          continue;
        }
        const answer = await follower.piece(stream, subscription, (context) =>
          stream.whileOpen(context.budget, () => subscription.execute(root, context)),
        );
        if (!answer) break;
        const { result, again } = answer;
        if (again) stream.end(outage);
        if (stream.ending) break;
        const text = subscription.live && !result.errors ? JSON.stringify(result.data) : undefined;
        if (text === undefined || text !== shown) yield { result, ...at };
        shown = text;
        if (subscription.live && isRefusal(result)) return;
      }
    } catch (error) {
      const ending = endingOf(error);
      if (!ending) this.onFault(error, requestId);
      stream.end(ending ?? { problems: [problem('service_fault')], comesBack: true });
    }
    const { problems = [], comesBack } = stream.ending ?? {};
    if (problems.length > 0 && !comesBack)
      yield { result: { errors: problems.map((each) => formatted(each, requestId)), extensions: { requestId } } };
  }
}

/** What the field of a subscription is made from, with the permissions of the query or of the stream on /v1. */
function following(
  follower: Follower,
  context: Context,
  { stream, feed, position }: { stream: Stream; feed: Feed; position: number | undefined },
): Following {
  return {
    events: async (given) => {
      const args = given as EventStreamArgs;
      check(operationOf(operationOfSubscription('events')), {}, context);
      const problems = eventStreamProblems(args, context.caller.kind, positionField);
      if (problems.length > 0) throw new DomainError(...problems);
      const filter = await filterOf(context.scope, args);
      const after = await follower.startAt(context, feed, position ?? args.afterNumber);
      return eventsOf(after, follower.events(stream, feed, filter, after));
    },
    changes: async (field, { id }) => {
      check(operationOf(operationOfSubscription(field)), {}, context);
      // The funds of an account change with objects that do not name it, so each event counts.
      const filter: EventFilter = { patterns: null, accountId: null, descendants: true, mentions: id ?? null };
      return changesOf(follower.changes(stream, feed, filter));
    },
  };
}

async function* eventsOf(after: number, steps: AsyncIterable<Step>): AsyncGenerator<object, void, void> {
  yield { position: after };
  for await (const { row, position } of steps) yield row ? { root: { row }, position } : { position };
}

async function* changesOf(steps: AsyncIterable<boolean>): AsyncGenerator<object, void, void> {
  for await (const changed of steps) yield changed ? { root: {} } : {};
}

/** Whether the object of a result is not there, or may not be read. */
function isRefusal({ errors, data }: SubscriptionResult): boolean {
  return errors !== undefined && Object.values(data ?? {}).every((value) => value === null);
}

const outage: Ending = {
  problems: [problem('service_unavailable')],
  comesBack: true,
};
