import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { handleProtocols } from 'graphql-ws';
import type { Config } from '../../config/config.js';
import { pathOf } from '../http/request.js';

/** How long clients may take to answer that they have seen the end of their WebSocket. */
const farewellMilliseconds = 1_000;
const restart = 1012;

/**
 * Prepares a gateway for WebSockets to /graphql. Register it before the hooks that look at `request.ws`. When the
 * gateway stops, it closes them with a code after which clients connect again.
 */
export async function webSockets(app: FastifyInstance, { BODY_BYTES_MAX }: Config): Promise<void> {
  await app.register(websocket, {
    options: {
      maxPayload: BODY_BYTES_MAX,
      handleProtocols: (protocols) => handleProtocols(protocols),
      perMessageDeflate: false,
      // The types of the library lack this option.
      ...{ closeTimeout: farewellMilliseconds },
    },
    preClose: (done) => {
      for (const client of app.websocketServer.clients) client.close(restart, 'The gateway restarts.');
      done();
    },
    // A message that is too long, or none, closes the connection; the reason has been sent.
    errorHandler: (_, socket) => socket.terminate(),
  });
  const [upgrade] = app.server.listeners('upgrade') as ((...of: Upgrade) => void)[];
  app.server.removeAllListeners('upgrade');
  app.server.on('upgrade', (...of: Upgrade) => {
    const [request, socket] = of;
    if (isAnswering(socket)) socket.destroy();
    else if (isWebSocket(request)) upgrade!(...of);
    else answerPlainly(app, ...of);
  });
}

type Upgrade = [request: IncomingMessage, socket: Duplex, head: Buffer];

function isWebSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && pathOf(url) === '/graphql';
}

/**
 * Whether the answer to an earlier request of the connection has not ended. Such a request was pipelined, which no
 * client does before it changes the protocol; Node would mix both answers, and end the process with an assertion.
 */
function isAnswering(socket: Duplex & { _httpMessage?: unknown }): boolean {
  return Boolean(socket._httpMessage);
}

/**
 * Answers a request that offers another protocol, such as h2c, without it, as HTTP allows. Node gives such a request to
 * the listener without its body, so it is read again without the header Upgrade. Then the connection ends: each further
 * reading would add a parser and its listeners to the socket.
 */
function answerPlainly(app: FastifyInstance, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!/^(connection|upgrade|http2-settings)$/i.test(rawHeaders[i]!))
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  lines.push('Connection: close');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  app.server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}
