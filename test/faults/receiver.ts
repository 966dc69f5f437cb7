import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of webhooks: the last part of the path says whose they are. It answers each after some milliseconds. */
export class Receiver {
  readonly #server = http.createServer((request, response) => void this.#receive(request, response));
  readonly #events = new Map<string, Map<string, number>>();
  readonly #open = new Map<string, number>();
  /** How many requests there were. */
  requests = 0;
  /** How many requests came while another one for the same endpoint was open. */
  overlaps = 0;

  /** Listens on this machine; returns the address without the last part of the path. */
  async listen(): Promise<string> {
    await new Promise<void>((resume) => this.#server.listen(0, '127.0.0.1', resume));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resume) => this.#server.close(resume));
  }

  /** The numbers of the events of an endpoint by their ids, in the order of their first arrival. */
  eventsOf(name: string): ReadonlyMap<string, number> {
    return this.#events.get(name) ?? new Map();
  }

  /** How many events have arrived. */
  get size(): number {
    return [...this.#events.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async #receive(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const name = request.url!.split('/').at(-1)!;
    const open = this.#open.get(name) ?? 0;
    if (open > 0) this.overlaps++;
    this.#open.set(name, open + 1);
    // A gateway that is killed closes its connections.
    response.on('close', () => this.#open.set(name, this.#open.get(name)! - 1));
    const parts: Buffer[] = [];
    try {
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    } catch {
      return;
    }
    this.requests++;
    const event = JSON.parse(Buffer.concat(parts).toString()) as { id: string; number: number };
    const events = this.#events.get(name) ?? new Map<string, number>();
    this.#events.set(name, events);
    if (!events.has(event.id)) events.set(event.id, event.number);
    setTimeout(() => response.writeHead(204).end(), 2);
  }
}
