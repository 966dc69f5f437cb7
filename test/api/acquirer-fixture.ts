import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { beforeAll } from 'vitest';
import { type PayeeFixture, payeesIn, upiCode } from '../support/checkout-fixture.js';
import { runAllJobs } from '../support/jobs.js';
import { type World, withLiveAcquirer } from '../support/world.js';
import { type Json, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

/** The secret of the adapter of live mode. */
export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** The settings of a gateway with an adapter that listens nowhere: tests send its reports. */
export const acquirerSettings = { OPERATOR_KEY, ACQUIRER_URL: 'http://127.0.0.1:9', ACQUIRER_SECRET: secret };

/** The unexplained money of a tenant, as its operator lists it. */
export function unexplainedIn(world: World) {
  const { ask, data } = operatorIn(world);
  return async (tenantId: string): Promise<Json[]> =>
    (
      await data(
        ask(
          `query ($tenantId: ID!) { unexplained(tenantId: $tenantId) {
            nodes { id transactionId depositId amount covered currency reason status decision resolution resolvedBy }
          } }`,
          { tenantId },
        ),
      )
    ).unexplained.nodes;
}

/** How a report is sent. */
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

/** A payee in live mode, and the reports of the acquirer about its checkouts. */
export function reportsIn(world: World) {
  let payee: PayeeFixture;
  let partnerId: string;
  beforeAll(async () => {
    payee = await payeesIn(world).open();
    partnerId = await payee.goLive();
    // At its first code the customer gets its UPI address, from the acquirer of a gateway that has one.
    const origin = await world.another({ acquirers: withLiveAcquirer });
    const first = await payee.checkoutFixture({ speaker: payee.live, partnerId });
    await upiCode(payee, { ...first, url: `${origin}${first.path}` });
    await world.endLast();
  });

  const send = reportsTo(world);
  const decided = (id: string, data: object) => ({ type: 'attempt.decided', data: { id, ...data } });
  const paid = (id: string, amount = '1000.00', currency = 'INR') =>
    decided(id, { status: 'succeeded', amount, currency, details: { upi: { vpa: 'asha@bank' } } });
  const declined = (id: string) => decided(id, { status: 'failed', reason_code: 'declined' });

  const checkoutOf = (speaker = payee.live) => payee.checkoutFixture({ speaker, partnerId });

  /** A live checkout of 1000.00 with an attempt that nobody has paid. */
  async function attempted() {
    const checkout = await checkoutOf();
    return { checkout, id: await upiCode(payee, checkout) };
  }
  const balances = () => payee.live.get('/v1/balances').then(({ body }) => body);
  const work = () => runAllJobs(payee.live, true);
  /** All that a report could store. */
  const stored = async () =>
    (
      await world.sql`select (select count(*) from event)::int as events, (select count(*) from job)::int as jobs,
      (select count(*) from posting)::int as postings, (select sum(version) from transaction)::int as versions`
    )[0];

  return { payee: () => payee, checkout: checkoutOf, send, decided, paid, declined, attempted, balances, work, stored };
}

/** An acquirer behind its adapter: it answers what a test has decided, and nothing while it is away. */
export class StandIn {
  away: 'refuses' | 'hangs up' | undefined;
  /** How often it was asked about each attempt and refund, by its id. */
  readonly asked = new Map<string, number>();
  /** What it has decided, by the ids of attempts and refunds. */
  readonly attempts = new Map<string, object>();
  readonly refunds = new Map<string, object>();
  readonly #server = http.createServer((request, response) => {
    const [, kind, id] = request.url!.split('/');
    this.asked.set(id!, (this.asked.get(id!) ?? 0) + 1);
    if (this.away === 'hangs up') return void response.destroy();
    const answer = {
      payees: { vpa: 'shop@acquirer' },
      tokens: { brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2034 },
      attempts: this.attempts.get(id!) ?? (request.method === 'PUT' ? { status: 'processing' } : undefined),
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
