import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { World } from '../support/world.js';

type Json = any;

/** The secret of the adapter of live mode. */
export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface Sending {
  mode?: string;
  by?: string;
  at?: Date;
  headers?: Record<string, string>;
}

/** Sends reports to a gateway, signed by the acquirer unless `by` is another secret. */
export const reportsTo =
  (world: World) =>
  async (report: object | string, { mode = 'live', by = secret, at = new Date(), headers }: Sending = {}) => {
    const body = typeof report === 'string' ? report : JSON.stringify(report);
    const id = `msg_${randomUUID()}`;
    const response = await fetch(`${world.origin}/acquirer/${mode}/reports`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(by).sign(id, at, body),
        ...headers,
      },
      body,
    });
    return { status: response.status, body: (await response.json()) as Json };
  };

/** An acquirer behind its adapter: it answers what a test has decided, and nothing while it is away. */
export class StandIn {
  away: 'refuses' | 'hangs up' | undefined;
  /** What it has decided, by the ids of attempts and refunds. */
  readonly attempts = new Map<string, object>();
  readonly refunds = new Map<string, object>();
  readonly #server = http.createServer((request, response) => {
    if (this.away === 'hangs up') return void response.destroy();
    const [, kind, id] = request.url!.split('/');
    const answer = {
      payees: { vpa: 'shop@acquirer' },
      attempts: this.attempts.get(id!),
      refunds: this.refunds.get(id!) ?? { status: 'pending' },
    }[kind!];
    const known = request.headers.authorization === `Bearer ${secret}`;
    const status = this.away ? 503 : known ? (answer ? 200 : 404) : 401;
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(answer ?? {})));
  });

  /** Starts it; returns its address. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close().closeAllConnections();
  }
}
