import type { FastifyInstance, FastifyReply } from 'fastify';
import { placeOf } from '../resources/checkout/link.js';
import { checkout } from '../resources/checkout/table.js';
import type { Hosted } from './answers.js';
import { CheckoutEvents } from './event-stream.js';
import { payerScope, stateAt } from './session.js';

interface OfCheckout {
  Params: { token: string };
}

const heartbeatMilliseconds = 15_000;

/**
 * Registers the routes of the script of a page: two report the state of the checkout, one to poll and an event stream,
 * and one is told that the page is open.
 */
export function stateRoutes(app: FastifyInstance, { database, secrets }: Hosted): void {
  const events = new CheckoutEvents(database);
  const streams = new Set<() => void>();
  const config = { open: true, page: true } as const;
  let closing = false;

  app.addHook('preClose', async () => {
    closing = true;
    for (const end of streams) end();
  });

  app.get<OfCheckout>('/checkout/:token/state', { config }, async (request, reply) => {
    const place = placeOf(secrets, request.params.token);
    const state = place && (await stateAt(payerScope(database, place), place.id));
    return state === undefined ? reply.code(404).send({ state: null }) : { state };
  });

  // A preview of the link in a messenger runs no script, so a page that is read is not yet one that somebody has open.
  app.post<OfCheckout>('/checkout/:token/opened', { config }, async (request, reply) => {
    const place = placeOf(secrets, request.params.token);
    const scope = place && payerScope(database, place);
    if (!scope || !(await scope.find(checkout, place.id))) return reply.code(404).send({ state: null });
    await scope.write('open_checkout', checkout, { requestId: request.id }, { id: place.id });
    return reply.code(204).send();
  });

  app.get<OfCheckout>('/checkout/:token/events', { config: { ...config, lasting: true } }, async (request, reply) => {
    const place = placeOf(secrets, request.params.token);
    if (!place || (await stateAt(payerScope(database, place), place.id)) === undefined)
      return reply.code(404).send({ state: null });
    // A page without a stream polls the state.
    if (closing || !events.admits(place)) return reply.code(503).header('retry-after', '5').send({ state: null });
    if (request.method === 'HEAD') return reply.type('text/event-stream').send();
    reply.hijack();
    // A stream lasts long and has a bound of its own.
    request.ticket?.close();
    // The client has disconnected; its 'close' event has already fired.
    if (reply.raw.destroyed) return;
    stream(reply, streams, (send) => events.subscribe(place, send));
  });
}

/** Sends each new state until the client disconnects or the server closes. */
function stream(
  reply: FastifyReply,
  streams: Set<() => void>,
  subscribe: (send: (state: string) => void) => () => void,
): void {
  const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
  reply.raw.writeHead(200, headers as Record<string, string>);
  reply.raw.write('retry: 2000\n\n');
  const stop = subscribe((state) => reply.raw.write(`data: ${state}\n\n`));
  const heartbeat = setInterval(() => reply.raw.write(': still here\n\n'), heartbeatMilliseconds);
  const end = () => {
    stop();
    clearInterval(heartbeat);
    streams.delete(end);
    reply.raw.end();
  };
  streams.add(end);
  reply.raw.on('close', end);
}
