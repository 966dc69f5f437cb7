import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a gateway that ends leaves connections open on which no request is under way: one may be arriving. */
const graceMilliseconds = 1_000;
/** How long a client may read nothing of what it is sent; shorter while the gateway ends. */
const unreadMilliseconds = 30_000;

type Connection = Socket & {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
  _handle?: { bytesWritten: number; writeQueueSize: number } | null;
};

/** A connection, the bytes that the kernel has taken from it, and since when it takes no more of those that wait. */
interface Watched {
  socket: Connection;
  taken: number;
  since: number;
}

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;

/** Whether no request is under way on a connection and all of its answers have been sent. */
const isSilent = ({ _httpMessage, writableLength }: Connection): boolean => !_httpMessage && writableLength === 0;

/** Whether a connection has had a request, and the client has sent all of it. */
const isAnswered = ({ bytesWritten, parser }: Connection): boolean => bytesWritten > 0 && !parser?.incoming;

/** The bytes that the kernel has taken from a connection. Node counts a part that it has begun to write as written. */
const takenOf = ({ _handle }: Connection): number => (_handle ? _handle.bytesWritten - _handle.writeQueueSize : 0);

/** Whether a client has read nothing for a time although bytes wait for it. Has to be asked again and again. */
function isUnread(watched: Watched, now: number, milliseconds: number): boolean {
  const taken = takenOf(watched.socket);
  if (watched.socket.writableLength === 0 || taken > watched.taken) watched.since = now;
  watched.taken = taken;
  return now - watched.since >= milliseconds;
}

/**
 * Ends the connections on which no request is under way when the gateway ends. Node ends only those that have had one
 * and waits for the others: a browser opens connections before it needs them, and a client may still be sending a body
 * that was refused. After the grace, a connection ends as soon as its answer has.
 *
 * A connection whose client reads nothing of an answer ends, too, after 30 s, and when the gateway ends after half of
 * the time that it has for that: the answer is in memory, and the gateway would wait for it. One round a second serves
 * all, because a timer for each request costs more.
 */
export function endSilentConnections(
  app: FastifyInstance,
  { drainMilliseconds, unread = unreadMilliseconds }: { drainMilliseconds: number; unread?: number },
): void {
  const connections = new Map<string, Watched>();
  const opened = (socket: Connection) => {
    const address = addressOf(socket);
    const watched = { socket, taken: 0, since: performance.now() };
    connections.set(address, watched);
    socket.once('close', () => connections.get(address) === watched && connections.delete(address));
  };
  // With TLS a connection is announced twice, the second time as the socket that has the requests.
  app.server.on('connection', opened).on('secureConnection', opened);
  // Streams over WebSockets are ended by themselves, with their reason.
  app.server.on('upgrade', (_, socket) => void connections.delete(addressOf(socket as Socket)));
  // Node calls this when the server closes. Its own method also ends connections whose answer was handed over and is
  // still being sent, so that a slow client would get a part of it.
  app.server.closeIdleConnections = () => {
    for (const { socket } of connections.values()) if (isSilent(socket) && isAnswered(socket)) socket.destroy();
  };
  let ending = false;
  const round = setInterval(() => {
    const now = performance.now();
    const most = ending ? Math.min(unread, drainMilliseconds / 2) : unread;
    for (const watched of connections.values())
      if ((ending && isSilent(watched.socket)) || isUnread(watched, now, most)) watched.socket.destroy();
  }, graceMilliseconds);
  // An application that never listened has no server that closes.
  round.unref();
  app.server.once('close', () => clearInterval(round));
  app.addHook('preClose', async () => {
    ending = true;
    // The next round is a whole grace away.
    round.refresh();
  });
}
