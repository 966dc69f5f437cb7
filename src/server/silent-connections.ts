import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a gateway that ends leaves connections open on which no request is under way: one may be arriving. */
const graceMilliseconds = 1_000;

type Connection = Socket & {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
};

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;

/** Whether no request is under way on a connection and all of its answers have been sent. */
const isSilent = ({ _httpMessage, writableLength }: Connection): boolean => !_httpMessage && writableLength === 0;

/** Whether a connection has had a request, and the client has sent all of it. */
const isAnswered = ({ bytesWritten, parser }: Connection): boolean => bytesWritten > 0 && !parser?.incoming;

/**
 * Ends the connections on which no request is under way when the gateway ends. Node ends only those that have had one
 * and waits for the others: a browser opens connections before it needs them, and a client may still be sending a body
 * that was refused. After the grace, a connection ends as soon as its answer has.
 */
export function endSilentConnections(app: FastifyInstance): void {
  const connections = new Map<string, Connection>();
  const opened = (socket: Connection) => {
    const address = addressOf(socket);
    connections.set(address, socket);
    socket.once('close', () => connections.get(address) === socket && connections.delete(address));
  };
  // With TLS a connection is announced twice, the second time as the socket that has the requests.
  app.server.on('connection', opened).on('secureConnection', opened);
  // Streams over WebSockets are ended by themselves, with their reason.
  app.server.on('upgrade', (_, socket) => void connections.delete(addressOf(socket as Socket)));
  // Node calls this when the server closes. Its own method also ends connections whose answer was handed over and is
  // still being sent, so that a slow client would get a part of it.
  app.server.closeIdleConnections = () => {
    for (const socket of connections.values()) if (isSilent(socket) && isAnswered(socket)) socket.destroy();
  };
  app.addHook('preClose', async () => {
    const sweep = setInterval(() => {
      for (const socket of connections.values()) if (isSilent(socket)) socket.destroy();
    }, graceMilliseconds);
    app.server.once('close', () => clearInterval(sweep));
    // An application that never listened has no server that closes.
    sweep.unref();
  });
}
