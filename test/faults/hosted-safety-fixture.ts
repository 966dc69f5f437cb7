import http from 'node:http';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { config } from '../../src/config/config.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { type CheckoutFixture, type PayeeFixture, payeesIn } from '../support/checkout-fixture.js';
import { type World } from '../support/world.js';

const extra: FastifyInstance[] = [];

/**
 * What comes first: a comment on the stream of a page, or a timer of 25 s. The gateway's timers are in this process, so
 * that a busy machine delays both alike. A comment that was sent before the timer has arrived when a request after it
 * is answered.
 */
function firstComment(url: string): Promise<'the comment' | 'the timer'> {
  const heard = new Promise<'the comment' | 'the timer'>((resolve, reject) => {
    const request = http.get(`${url}/events`, { agent: false }, (response) => {
      const late = () => stateAt(url).then(() => resolve('the timer'), reject);
      const timer = setTimeout(late, 25_000);
      response.setEncoding('utf8').on('data', (text: string) => {
        if (!text.includes(': still here\n\n')) return;
        clearTimeout(timer);
        resolve('the comment');
        request.destroy();
      });
      response.on('end', () => reject(new Error('the stream has ended')));
    });
    request.on('error', reject);
  });
  // The test that waits for it comes later.
  heard.catch(() => {});
  return heard;
}

export const stateAt = async (url: string) => ((await (await fetch(`${url}/state`)).json()) as { state: string }).state;

/** A payee, and gateways whose log lines are kept. */
export function payersIn(world: World) {
  const payees = payeesIn(world);
  const opened = {} as {
    payee: PayeeFixture;
    /** What came first on a page on which nothing changes, from the beginning of the file. */
    listening: ReturnType<typeof firstComment>;
  };
  const lines: string[] = [];

  beforeAll(async () => {
    opened.payee = await payees.open();
    const { url } = await opened.payee.checkoutFixture();
    opened.listening = firstComment(url);
  });

  afterAll(() => Promise.all(extra.map((app) => app.close())));

  /** Another gateway on the same database with other settings, which collects its log. */
  async function gatewayWith(environment: Record<string, string>): Promise<{ app: FastifyInstance; origin: string }> {
    const app = await gateway({
      config: config({ serves: true }, { PORT: '0', ...environment }),
      database: world.database,
      schema: buildGraph(),
      pepper: world.pepper,
      log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    });
    extra.push(app);
    return { app, origin: await app.listen({ port: 0, host: '127.0.0.1' }) };
  }

  const count = async (checkoutFixture: CheckoutFixture) => (await opened.payee.attempts(checkoutFixture)).length;

  /** Makes the last step of an attempt fail, where the acquirer's answer is stored, while `work` runs. */
  async function withoutRecording(what: () => Promise<void>): Promise<void> {
    await world.sql`alter function decide_transaction rename to decide_transaction_away`;
    try {
      await what();
    } finally {
      await world.sql`alter function decide_transaction_away rename to decide_transaction`;
    }
  }
  return { opened, lines, gatewayWith, count, withoutRecording };
}
