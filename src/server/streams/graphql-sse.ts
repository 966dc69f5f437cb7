import type { FastifyReply, FastifyRequest } from 'fastify';
import { type SubscriptionAsked, SubscriptionRefused } from '../../api/graphql/subscription.js';
import { DomainError, problem } from '../../errors/problems.js';
import { acceptsEvents, graphTypeOf, graphTypes } from '../graphql/request.js';
import { single } from '../http/request.js';
import { positionOf } from './event-stream.js';
import { heartbeat, message, sendStream } from './sse.js';
import type { OpenSubscription, Subscriptions } from './subscriptions.js';

/**
 * Answers a subscription by server-sent events, in the distinct connections mode of the protocol GraphQL over SSE.
 * Undefined when another answer is due, because the request asks for no subscription or its client reads no events.
 */
export async function subscriptionBySse(
  subscriptions: Subscriptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (!acceptsEvents(request)) return undefined;
  const asked = askedOf(request);
  const open = /\bsubscription\b/.test(asked.query) && (await opened(subscriptions, request, reply, asked));
  if (open) return open;
  if (graphTypeOf(request) === undefined)
    throw new DomainError(
      problem(
        'not_acceptable',
        undefined,
        'Only subscriptions are answered as text/event-stream. Accept application/json for another operation.',
      ),
    );
  return undefined;
}

async function opened(
  subscriptions: Subscriptions,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: SubscriptionAsked,
): Promise<FastifyReply | undefined> {
  const last = single(request, 'last-event-id');
  const position = last === undefined || last === '' ? undefined : positionOf(last);
  if (Number.isNaN(position))
    throw new DomainError(problem('parameter_invalid', 'Last-Event-ID', 'must be the number of an event'));
  try {
    const follower = subscriptions.follower(request);
    const connection = { position, identify: follower.identify, destroy: () => reply.raw.destroy() };
    const open = await subscriptions.open(follower, request.context!, asked, connection);
    return open && sendStream(request, reply, open.stream, messages(open));
  } catch (error) {
    if (!(error instanceof SubscriptionRefused)) throw error;
    const { cost } = request.budget!;
    reply.code(error.status).type(`${graphTypes[0]}; charset=utf-8`);
    return reply.send({ errors: error.errors, extensions: { requestId: request.id, ...(cost && { cost }) } });
  }
}

/** The members of a request whose document is known. A GET has them in its address, with the variables as JSON. */
function askedOf({ method, body, url }: FastifyRequest): SubscriptionAsked {
  if (method === 'POST') return body as SubscriptionAsked;
  const search = new URLSearchParams(url.slice(url.indexOf('?')));
  const text = search.get('variables');
  const operationName = search.get('operationName');
  return { query: search.get('query') ?? '', variables: text ? variablesOf(text) : null, operationName };
}

function variablesOf(text: string): Record<string, unknown> {
  try {
    const variables: unknown = JSON.parse(text);
    if (typeof variables === 'object' && variables !== null && !Array.isArray(variables))
      return variables as Record<string, unknown>;
  } catch {}
  throw new DomainError(problem('parameter_invalid', 'request.variables', 'must be a map'));
}

/**
 * The messages of a subscription. The `id` is the number up to which all events are sent. Without the message
 * `complete` a client knows that it has to come back.
 */
async function* messages({ stream, results }: OpenSubscription): AsyncGenerator<string, void, void> {
  for await (const { result, position } of results) {
    const id = position === undefined ? {} : { id: position };
    yield result ? message({ ...id, event: 'next', data: JSON.stringify(result) }) : heartbeat(position);
  }
  if (!stream.ending?.comesBack) yield message({ event: 'complete', data: '' });
}
