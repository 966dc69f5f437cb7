import type { WebSocket } from '@fastify/websocket';

const pingMilliseconds = 12_000;
/** A client that does not read what it was sent is disconnected when this many bytes wait for it. */
const unreadBytesMax = 4_000_000;

/** Sends pings, and disconnects a client that answers none or reads nothing. Returns a function that ends that. */
export function pinged(socket: WebSocket): () => void {
  let answered = true;
  const ping = setInterval(() => {
    // The answers of a socket that is not read do not arrive.
    if (!answered && !socket.isPaused) return socket.terminate();
    answered = socket.isPaused;
    socket.ping();
  }, pingMilliseconds);
  socket.on('pong', () => {
    answered = true;
  });
  // The sender of messages that have answers may read none of them.
  const refuseUnread = () => {
    if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
  };
  socket.on('ping', refuseUnread).on('message', refuseUnread);
  return () => clearInterval(ping);
}
