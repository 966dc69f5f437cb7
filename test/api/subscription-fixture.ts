import { type Client as WsClient, createClient as wsClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { afterEach } from 'vitest';
import { eventually, nickname, type Speaker, tenantOf, type World } from '../support/world.js';

export const partner = (speaker: Speaker) => speaker.partner({ nickname: nickname() });

export const until = async <T>(ask: () => T, wanted: (answer: T) => boolean) => eventually(async () => ask(), wanted);

export async function sessionOf(speaker: Speaker, input = 'role: OPERATE') {
  const query = `mutation { createSession(input: { ${input} }) { token session { id } } }`;
  return (await speaker.graph(query)).body.data.createSession as { token: string; session: { id: string } };
}

interface Closed {
  code: number;
  reason: string;
}

/** The results of a subscription over a WebSocket, and its end. */
export function followSocket(client: WsClient, query: string, more: object = {}) {
  const got: any[] = [];
  const state: { over?: boolean; error?: any } = {};
  const end = client.subscribe(
    { query, ...more },
    {
      next: (result) => void got.push(result),
      error: (error) => void (state.error = error),
      complete: () => void (state.over = true),
    },
  );
  return { got, state, end };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Streams of a gateway, which all end with the test. */
export function subscriptionsIn(world: World) {
  const open = new Set<() => unknown>();
  afterEach(async () => {
    await Promise.all([...open].map((close) => close()));
    open.clear();
  });

  const numberOf = async (speaker: Speaker) => {
    const [row] =
      await world.sql`select last from event_counter where tenant_id = ${tenantOf(speaker)} and not livemode`;
    return Number(row?.last ?? 0);
  };

  /** The number of the last event of a user, when all events so far have their numbers. */
  async function settled(speaker: Speaker): Promise<number> {
    await eventually(
      async () => world.sql`select 1 from event where tenant_id = ${tenantOf(speaker)} and number is null`,
      ({ length }) => length === 0,
    );
    return numberOf(speaker);
  }

  /** A client of subscriptions over a WebSocket; `closed` has the end of each of its connections. */
  function socketsOf(connectionParams: Record<string, string>, { origin = world.origin, retryAttempts = 0 } = {}) {
    const closed: Closed[] = [];
    const client = wsClient({
      url: `${origin.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams,
      retryAttempts,
      on: { closed: (event) => void closed.push({ code: (event as Closed).code, reason: (event as Closed).reason }) },
    });
    open.add(() => client.dispose());
    return { client, closed };
  }

  /** A socket that speaks the protocol by hand. */
  async function rawSocket(
    headers: Record<string, string> = {},
    url = `${world.origin.replace('http', 'ws')}/graphql`,
  ) {
    const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
    open.add(() => socket.terminate());
    const status = await new Promise<number>((resume) => {
      socket.on('open', () => resume(101)).on('unexpected-response', (_, { statusCode }) => resume(statusCode ?? 0));
      socket.on('error', () => {});
    });
    const closed = new Promise<number>((resume) => void socket.on('close', resume));
    return { socket, status, closed };
  }
  return { open, settled, socketsOf, rawSocket };
}
