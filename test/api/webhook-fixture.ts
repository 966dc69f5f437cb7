import http from 'node:http';
import net from 'node:net';
import { afterAll } from 'vitest';
import { eventually, givenIn, must, nickname, type Speaker, type World } from '../support/world.js';

export interface Received {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}
export type Answer = (received: Received, response: http.ServerResponse, n: number) => void;

const ok: Answer = (_, response) => void response.end('thanks');

export const create = (speaker: Speaker, body: object) =>
  speaker.post('/v1/webhook_endpoints', { event_types: ['*'], ...body });
export const deliveries = async (speaker: Speaker, id: string): Promise<any[]> =>
  (await must(speaker.get(`/v1/webhook_endpoints/${id}/deliveries`))).data;
export const endpoint = (speaker: Speaker, id: string) => must(speaker.get(`/v1/webhook_endpoints/${id}`));
export const partner = (speaker: Speaker) => speaker.partner({ nickname: nickname() });

/** Receivers of webhooks, and the endpoints that name them. */
export function webhooksIn(world: World) {
  const given = givenIn(world);
  const servers: (http.Server | net.Server)[] = [];
  afterAll(() => Promise.all(servers.map((server) => new Promise((resume) => server.close(resume)))));

  /** A receiver of webhooks on this machine: what it got, and its address. */
  async function receiver(answer: Answer = ok) {
    const got: Received[] = [];
    const server = http.createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => void parts.push(part));
      request.on('end', () => {
        const received = { path: request.url!, headers: request.headers, body: Buffer.concat(parts).toString() };
        got.push(received);
        answer(received, response, got.length);
      });
    });
    server.keepAliveTimeout = 1;
    servers.push(server);
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
    const { port } = server.address() as net.AddressInfo;
    return { got, url: `http://127.0.0.1:${port}/hooks`, events: () => got.map(({ body }) => JSON.parse(body)) };
  }

  /** Makes the next attempts of an endpoint due now, as they would be after hours. */
  async function later(id: string) {
    await world.sql`update webhook_delivery set next_attempt = 0 where endpoint_id = ${id} and status = 'pending'`;
    await world.sql`update webhook_endpoint set due = 0, claimed_until = null where id = ${id}`;
  }

  /** A user, after its own events were numbered: an endpoint gets the events that are numbered from its creation on. */
  async function settled(edition: 1 | 2 = 1): Promise<Speaker> {
    const user = await given.directUser(edition);
    await eventually(
      async () => (await must(user.get('/v1/events?type=account.created'))).data,
      (list) => list.length > 0,
    );
    return user;
  }
  return { servers, receiver, later, settled };
}
