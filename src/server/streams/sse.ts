import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorV1 } from '../../errors/problems.js';
import type { Stream } from './streams.js';

/** How long a client should wait before it opens a stream again. */
const retryMilliseconds = 2_000;

/** A message of server-sent events. The data is one line. */
export function message({ id, event, data }: { id?: number; event?: string; data?: string }): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${data}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** What keeps a connection open. With an id it also moves the position of the client. */
export const heartbeat = (id?: number): string => `:\n${message(id === undefined ? {} : { id })}`;

/** The last message of a stream on /v1: why it ends. */
export function endMessage({ ending }: Stream): string {
  if (!ending || ending.problems.length === 0) return '';
  return message({ event: 'end', data: JSON.stringify(errorV1([...ending.problems])) });
}

/**
 * Answers with messages as they come. The client's connection takes no more than it reads: the next message is made
 * when the last one is on its way.
 */
export function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: Stream,
  messages: AsyncIterable<string>,
): FastifyReply {
  // A stream lasts long and has bounds of its own. The time limit of a subscription runs, because /graphql starts it.
  request.ticket?.close();
  request.timeLimit?.stop();
  reply.raw.on('close', () => stream.leave());
  // The client has disconnected; its 'close' event has already fired.
  if (reply.raw.destroyed) stream.leave();
  const content = Readable.from(withRetry(stream, messages), { objectMode: false, highWaterMark: 16_384 });
  return reply
    .headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no', connection: 'close' })
    .send(content);
}

async function* withRetry(stream: Stream, messages: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield `retry: ${retryMilliseconds}\n\n`;
  yield* stream.sent(messages);
}
