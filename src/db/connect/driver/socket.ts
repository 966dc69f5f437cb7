import net from 'node:net';
import tls from 'node:tls';
import type postgres from 'postgres';

type Options = postgres.Options<Record<string, never>>;

/** What the driver gives to the function that opens a socket: its options, with one host or the path of a socket. */
interface Place extends Target {
  /** In seconds. */
  connect_timeout: number;
}

/** One host, or the path of a socket. */
export interface Target {
  path?: string | false;
  host: readonly [string];
  port: readonly [number];
}

/** The message with which a client of PostgreSQL asks for TLS: its length, and the number 80877103. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const accepted = 'S'.charCodeAt(0);

/** Called when a socket has lost its connection, and then, once the driver knows, when it is closed. */
export interface Losses {
  lost(): void;
  closed(): void;
  /** Whether the client has ended: the driver would use a socket that is opened later, and never close it. */
  readonly ended: boolean;
}

/** The driver's options with sockets that say when they have lost their connection. */
export function withSockets(options: Options, losses: Losses): Options {
  // The driver's types do not declare the option.
  const { ssl, socket: given } = options as Options & { socket?: (place: Place) => Promise<net.Socket> };
  const socket = async (place: Place) => {
    const plain = given ? await given(place) : socketTo(place);
    const opened = ssl ? await secured(plain, ssl, place) : plain;
    if (!losses.ended) return watched(opened, losses);
    opened.on('error', () => {}).destroy();
    return failed(closed());
  };
  return { ...options, ssl: false, socket } as Options;
}

/**
 * A socket that connects once the driver has attached its listeners. A connection can fail at once, such as without a
 * route or a descriptor: the driver would connect again and again, or the error would end the process.
 */
export function socketTo({ path, host, port }: Target): net.Socket {
  const socket = new net.Socket();
  setImmediate(() => {
    if (socket.destroyed || socket.writableEnded) return;
    if (path) socket.connect(path);
    else socket.connect(port[0], host[0]);
  });
  // For the verification of a certificate, and for the driver, which names the server in errors.
  return Object.assign(socket, { host: host[0], port: port[0] });
}

/**
 * A socket that fails as soon as the driver has attached its listeners: a promise that rejects would stop the driver.
 */
export function failed(error: Error): net.Socket {
  const socket = new net.Socket();
  setImmediate(() => socket.destroy(error));
  return socket;
}

function watched(socket: net.Socket, losses: Losses): net.Socket {
  let isLost = false;
  const lose = () => {
    if (!isLost) losses.lost();
    isLost = true;
  };
  return (
    socket
      .once('error', lose)
      .once('end', () => {
        lose();
        // The server has ended the connection, so it reads nothing more until the socket closes by itself.
        // Without an error, the driver would connect again at once and forever when it ends before its first answer.
        socket.destroy(closed());
      })
      // The driver's own listener comes after this one.
      .once('close', () => isLost && process.nextTick(() => losses.closed()))
  );
}

/**
 * The socket with TLS over another one. With `prefer`, it is the other one when the server has no TLS. `prefer` and
 * `require` do not verify the certificate, as in libpq.
 */
async function secured(
  plain: net.Socket,
  ssl: NonNullable<Options['ssl']>,
  { connect_timeout: seconds }: Place,
): Promise<net.Socket> {
  const late = Object.assign(new Error('PostgreSQL did not answer in time.'), { code: 'CONNECT_TIMEOUT' });
  const timer = setTimeout(() => plain.destroy(late), seconds * 1_000);
  // Of several errors the first one says why; Node would end the process for those that have no listener.
  plain.on('error', () => {});
  try {
    await eventOf(plain, 'connect');
    plain.write(tlsRequest);
    const answer = await eventOf<Buffer>(plain, 'data');
    if (answer[0] !== accepted) {
      if (ssl === 'prefer') return plain;
      throw Object.assign(new Error('The server has no TLS.'), { code: 'ERR_TLS_NOT_OFFERED' });
    }
    const { host } = plain as net.Socket & { host?: string };
    const options = typeof ssl === 'object' ? ssl : { rejectUnauthorized: false };
    const name = host && !net.isIP(host) ? { servername: host } : {};
    const secure = tls.connect({ ...name, ...options, socket: plain }).on('error', () => {});
    await eventOf(secure, 'secureConnect');
    return secure;
  } catch (error) {
    plain.destroy();
    return failed(error as Error);
  } finally {
    clearTimeout(timer);
  }
}

const closed = (): Error => Object.assign(new Error('The connection was closed.'), { code: 'CONNECTION_CLOSED' });

/** What a socket says with its next event of a name. Throws its error, also when it closes before. */
function eventOf<T>(socket: net.Socket, name: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const listeners = {
      [name]: resolve,
      error: reject,
      close: () => reject(closed()),
    };
    const unlisten = () => Object.entries(listeners).forEach(([event, listener]) => socket.off(event, listener));
    for (const [event, listener] of Object.entries(listeners)) socket.once(event, listener).once(event, unlisten);
  });
}
