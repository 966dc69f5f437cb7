import { setImmediate } from 'node:timers/promises';
import type { WebSocket } from '@fastify/websocket';

/** Beyond so many messages that wait, or bytes of them, nothing more is read from their socket. */
const unreadMax = { messages: 8, bytes: 65_536 };
/** What was read at once may hold more messages. A socket is closed when more than this number wait. */
const waitingMax = 64;

/**
 * The messages of a socket. One is in work at a time; the others wait in their order, and are dropped when the socket
 * closes. A client that sends faster than its messages are worked on is not read, so that it has to wait: what it has
 * sent is then in the memory of its own machine and not in that of the gateway.
 */
export class Inbox {
  readonly #waiting: Buffer[] = [];
  #bytes = 0;
  #working = false;
  #closed = false;

  constructor(
    private readonly socket: Pick<WebSocket, 'pause' | 'resume'>,
    /** Does the work of a message; resolves when the next one may begin, and never rejects. */
    private readonly work: (message: Buffer) => Promise<void>,
    /** Closes a socket that has too many messages. */
    private readonly overflow: () => void,
  ) {}

  /** Takes a message that has arrived. */
  add(message: Buffer): void {
    if (this.#closed) return;
    this.#waiting.push(message);
    this.#bytes += message.length;
    if (!this.#working) void this.#works();
    if (this.#waiting.length > waitingMax) {
      this.socket.pause();
      this.overflow();
    } else if (this.#isLong()) this.socket.pause();
  }

  /** Drops what waits, and takes nothing more. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  #isLong(): boolean {
    return this.#waiting.length > unreadMax.messages || this.#bytes > unreadMax.bytes;
  }

  async #works(): Promise<void> {
    this.#working = true;
    for (let message = this.#waiting.shift(); message; message = this.#waiting.shift()) {
      this.#bytes -= message.length;
      await this.work(message);
      if (!this.#closed && !this.#isLong()) this.socket.resume();
    }
    this.#working = false;
  }
}

/**
 * Lets its callers go on one after the other, each in an iteration of the event loop of its own: a document takes
 * milliseconds, and between two of them the loop serves everybody else.
 */
export function spaced(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => setImmediate());
    return last;
  };
}
