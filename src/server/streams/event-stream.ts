import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLBoolean, GraphQLEnumType, GraphQLObjectType } from 'graphql';
import { type Decoder, decoderOf, parseQuery } from '../../api/rest/decoder.js';
import { query } from '../../api/rest/input-format.js';
import { type Accepted, acceptedOf } from '../../operation/accepted.js';
import { run, guarded } from '../../operation/guard.js';
import type { Caller } from '../../request/caller.js';
import { DomainError, type Problem, problem } from '../../errors/problems.js';
import {
  type EventFilter,
  eventStreamArgs,
  type EventStreamArgs,
  eventStreamProblems,
  filterOf,
} from '../../resources/event/stream.js';
import { eventV1 } from '../../resources/event/v1.js';
import { AccountScope } from '../../types/account-scope.js';
import { operationOf } from '../../resources/registry.js';
import { single } from '../http/request.js';
import type { Feed } from './feeds.js';
import { Follower, type StreamServices } from './follower.js';
import { endMessage, heartbeat, message, sendStream } from './sse.js';
import { endingOf, type Stream } from './streams.js';

const values = Object.fromEntries(Object.entries(AccountScope).map(([name, value]) => [name, { value }]));
const { afterNumber, ...otherArgs } = eventStreamArgs(new GraphQLEnumType({ name: 'AccountScope', values }));
/** The arguments of the graph in the form that the decoder reads, with the name that the position has on /v1. */
const parameters = new GraphQLObjectType({
  name: 'EventStreamParameters',
  fields: { stream: { type: GraphQLBoolean, args: { after: afterNumber!, ...otherArgs } } },
}).getFields().stream!.args;
const positionField = 'event.after';

const decoders = new Map<Accepted, Decoder>();
/** The decoder of the parameters for a kind of caller. It is made once. */
function decoderFor(caller: Caller): Decoder {
  const accepted = acceptedOf(operationOf('eventStream'), caller);
  const decoder = decoders.get(accepted) ?? decoderOf(parameters, 'event', query, accepted);
  decoders.set(accepted, decoder);
  return decoder;
}

/** Registers the stream of events on /v1. Spec: extension. */
export function eventStreamRoute(
  app: FastifyInstance,
  services: StreamServices,
  onFault: (error: unknown, requestId: string) => void,
): void {
  const operation = operationOf('eventStream');
  app.route({
    method: 'GET',
    url: '/v1/events/stream',
    config: { permission: operation, lasting: true },
    handler: async (request, reply) => {
      const context = request.context!;
      const args = argumentsOf(request, context.caller);
      const resolve = guarded(operation, async () => filterOf(context.scope, args));
      const filter = (await run({ name: 'eventStream', resolve }, args, context)) as EventFilter;
      if (request.method === 'HEAD') return reply.type('text/event-stream').send();
      const follower = new Follower(services, request, positionField);
      const stream = follower.enter(context.caller, {
        identify: follower.identify,
        destroy: () => reply.raw.destroy(),
      });
      try {
        const feed = await follower.join(stream, context.caller);
        const after = await follower.startAt(context, feed, args.afterNumber);
        return answer(request, reply, { follower, stream, feed, filter, after, onFault });
      } catch (error) {
        stream.leave();
        throw error;
      }
    },
  });
}

interface Answered {
  follower: Follower;
  stream: Stream;
  feed: Feed;
  filter: EventFilter;
  after: number;
  onFault: (error: unknown, requestId: string) => void;
}

function answer(request: FastifyRequest, reply: FastifyReply, parts: Answered): FastifyReply {
  const { follower, stream, feed, filter, after, onFault } = parts;
  async function* messages(): AsyncGenerator<string, void, void> {
    try {
      yield message({ id: after });
      for await (const { row, position } of follower.events(stream, feed, filter, after))
        yield row ? message({ id: position, data: JSON.stringify(eventV1(row)) }) : heartbeat(position);
    } catch (error) {
      const ending = endingOf(error);
      if (!ending) onFault(error, request.id);
      stream.end(ending ?? { problems: [problem('service_fault')], comesBack: true });
    }
    yield endMessage(stream);
  }
  return sendStream(request, reply, stream, messages());
}

/** The parameters of a request. The header of a client that comes back counts instead of `after`. */
function argumentsOf(request: FastifyRequest, caller: Caller): EventStreamArgs {
  const problems: Problem[] = [];
  const mark = request.url.indexOf('?');
  const raw = parseQuery(mark < 0 ? '' : request.url.slice(mark));
  const { after, ...others } = decoderFor(caller)(raw, problems);
  const args = { ...others, afterNumber: after } as EventStreamArgs;
  const last = single(request, 'last-event-id');
  if (last !== undefined && last !== '') {
    args.afterNumber = positionOf(last);
    if (Number.isNaN(args.afterNumber))
      problems.push(problem('parameter_invalid', 'Last-Event-ID', 'must be the number of an event'));
  }
  problems.push(...eventStreamProblems(args, caller.kind, positionField));
  if (problems.length > 0) throw new DomainError(...problems);
  return args;
}

/** The number of an event in the header of a client that comes back; NaN when it is none. */
export function positionOf(text: string): number {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : Number.NaN;
}
