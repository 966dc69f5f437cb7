import { type Reply, Speaker } from '../support/world.js';

export const origin = 'https://app.example';
export const second = 'https://other.example';

export interface Made {
  id: string;
  token: string;
  expires_at: number;
  created: number;
  [name: string]: unknown;
}
export const create = (me: Speaker, body: object = {}, headers: Record<string, string> = {}) =>
  me.post('/v1/sessions', { role: 'read', ...body }, headers);
export const make = async (me: Speaker, body: object = {}): Promise<Made> => {
  const reply = await create(me, body);
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body;
};
/** A client with a session of an account. */
export const sessionOf = async (me: Speaker, body: object = {}) => me.using((await make(me, body)).token);
export const graphCreate = (me: Speaker, input: object, headers: Record<string, string> = {}) =>
  me.graph(
    `mutation ($input: CreateSessionInput!) { createSession(input: $input) { token session {
      id created livemode accountId apiKeyId role allowedOrigins expiresAt revokedAt account { id } apiKey { id } } }
      }`,
    { input },
    headers,
  );
export const outcome = (reply: Reply) =>
  [reply.body?.errors?.[0]?.extensions?.httpStatus ?? reply.status, ...new Set(reply.codes)].join(' ');
export const messageOf = (reply: Reply): string => reply.body.errors[0].message;

export const createKey = async (me: Speaker, input: object) =>
  (
    await me.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }', {
      input,
    })
  ).body.data.createApiKey as { secret: string; apiKey: { id: string } };
/** The account that a client is, or why it is none. */
export const whoIs = async (me: Speaker, headers: Record<string, string> = {}) => {
  const [rest, graph] = await Promise.all([
    me.get('/v1/balance', headers),
    me.graph('{ viewer { account { id } } }', {}, headers),
  ]);
  const id = graph.body.data?.viewer?.account.id ?? outcome(graph);
  return [rest.status === 200 ? rest.body.account_id : outcome(rest), id];
};
