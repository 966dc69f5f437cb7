import pino from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { Worker } from '../../src/jobs/runner.js';
import { newRequestId } from '../../src/request/id.js';
import { RequestLogWriter } from '../../src/server/telemetry/request-log.js';
import { eventually, givenIn, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false, environment: { REQUEST_LOG_DAYS: '1' } });
const given = givenIn(world);

const idOf = ({ headers }: Reply) => headers.get('request-id')!;
/** The entry of a request, as soon as the gateway has written it. */
const entryOf = async (speaker: Speaker, reply: Reply) =>
  (
    await eventually(
      () => speaker.get(`/v1/request_logs/${idOf(reply)}`),
      ({ status }) => status === 200,
    )
  ).body;
const keyOf = async ({ id }: Speaker) => {
  const [{ id: key } = { id: '' }] = await world.sql<{ id: string }[]>`
    select id from api_key where account_id = ${id} and not livemode`;
  return key;
};

describe('the request log', () => {
  let platform: Speaker;
  let user: Speaker;
  beforeAll(async () => {
    platform = await given.platform(2);
    user = await platform.connectedUser();
  });

  it('has the requests of both APIs, with the codes of their errors and nothing that they contained', async () => {
    const read = await user.get('/v1/balance');
    const refused = await user.post('/v1/receivables', { currency: 'a secret value' });
    const graph = await user.graph('query Mine { viewer { account { id } } balance { account { id } } }');
    const wrong = await user.graph(
      'mutation { createPerson(input: { fullName: "a secret value" }) { person { id } } }',
    );
    const missing = await user.graph('{ receivable(id: "receivable_of_secret") { id } }');
    const unknown = await user.get('/v1/receivables/receivable_of_secret');
    expect(await entryOf(user, read)).toMatchObject({
      ...{ object: 'request_log', api: 'rest', operation: 'GET /v1/balance', status: 200, outcome: 'succeeded' },
      ...{ codes: [], livemode: false, account_id: user.id, session_id: null, on_behalf_of: null },
      api_key_id: await keyOf(user),
    });
    expect(await entryOf(user, refused)).toMatchObject({
      ...{ operation: 'POST /v1/receivables', status: 400, outcome: 'refused' },
      codes: [...new Set(refused.codes)],
    });
    expect(await entryOf(user, graph)).toMatchObject({ api: 'graphql', operation: 'several', outcome: 'succeeded' });
    expect(await entryOf(user, wrong)).toMatchObject({ operation: 'POST /graphql', outcome: 'refused' });
    expect(await entryOf(user, missing)).toMatchObject({ operation: 'receivable', codes: ['resource_missing'] });
    expect(await entryOf(user, unknown)).toMatchObject({
      ...{ operation: 'GET /v1/receivables/:id', status: 404, codes: ['resource_missing'] },
    });
    const rows = await world.sql`select to_jsonb(r)::text as text from request_log r`;
    expect(rows.map(({ text }) => text).join()).not.toContain('secret');
  });

  it('has a request of a platform for its user under the key that made it', async () => {
    const acted = await platform.actingFor(user.id).get('/v1/balance');
    expect(await entryOf(platform, acted)).toMatchObject({ account_id: platform.id, on_behalf_of: user.id });
    expect((await user.get(`/v1/request_logs/${idOf(acted)}`)).status).toBe(404);
    // The list of a platform has the requests of its users, too.
    const own = await user.get('/v1/balance');
    expect(await entryOf(platform, own)).toMatchObject({ account_id: user.id });
  });

  it('is listed newest first, by API, outcome and operation', async () => {
    const ids = async (search: string) =>
      (await user.get(`/v1/request_logs?${search}`)).body.data.map(({ id }: { id: string }) => id);
    const first = await user.get('/v1/purpose_codes');
    const second = await user.get('/v1/purpose_codes?wrong=1');
    const third = await user.graph('{ purposeCodes { code } }');
    await entryOf(user, third);
    expect(await ids('operation=GET+/v1/purpose_codes')).toEqual([idOf(second), idOf(first)]);
    expect(await ids('operation=GET+/v1/purpose_codes&outcome=refused')).toEqual([idOf(second)]);
    expect(await ids('operation=purposeCodes&api=graphql')).toEqual([idOf(third)]);
    expect(await ids('operation=purposeCodes&api=rest')).toEqual([]);
    const list = '{ requestLogs(operation: ["GET /v1/purpose_codes", "purposeCodes"]) { nodes { id api } } }';
    expect((await user.graph(list)).body.data.requestLogs.nodes).toEqual([
      { id: idOf(third), api: 'GRAPHQL' },
      { id: idOf(second), api: 'REST' },
      { id: idOf(first), api: 'REST' },
    ]);
  });

  it('shows a session the requests of its account, and no id of a key or session', async () => {
    const { body } = await user.post('/v1/sessions', { role: 'read' });
    const session = user.using(body.token);
    const made = await session.get('/v1/balance');
    expect(await entryOf(user, made)).toMatchObject({ api_key_id: body.api_key_id, session_id: body.id });
    expect(await entryOf(session, made)).toMatchObject({ api_key_id: null, session_id: null, account_id: user.id });
    const node = `{ node(id: "${idOf(made)}") { ... on RequestLog {
      apiKeyId sessionId operation account { id } apiKey { id } session { id }
    } } }`;
    expect((await session.graph(node)).body.data.node).toEqual({
      ...{ apiKeyId: null, sessionId: null, operation: 'GET /v1/balance' },
      ...{ account: { id: user.id }, apiKey: null, session: null },
    });
    expect((await user.graph(node)).body.data.node).toEqual({
      ...{ apiKeyId: body.api_key_id, sessionId: body.id, operation: 'GET /v1/balance' },
      ...{ account: { id: user.id }, apiKey: { id: body.api_key_id }, session: { id: body.id } },
    });
  });

  it('has edges to the accounts of a request, and to its key', async () => {
    const acted = await platform.actingFor(user.id).get('/v1/balance');
    await entryOf(platform, acted);
    const list = `{ requestLogs(first: 20) { nodes {
      id accountId account { id } apiKeyId apiKey { id } session { id } onBehalfOf onBehalfOfAccount { id nickname }
    } } }`;
    const { nodes } = (await platform.graph(list)).body.data.requestLogs;
    const entry = nodes.find(({ id }: { id: string }) => id === idOf(acted));
    expect(entry).toMatchObject({
      ...{ account: { id: platform.id }, session: null, onBehalfOfAccount: { id: user.id } },
      apiKey: { id: await keyOf(platform) },
    });
    // An edge has the object whose id stands beside it, for each entry that the caller sees.
    for (const { accountId, account, apiKeyId, apiKey, onBehalfOf, onBehalfOfAccount } of nodes)
      expect([account.id, apiKey?.id ?? null, onBehalfOfAccount?.id ?? null]).toEqual([
        ...[accountId, apiKeyId, onBehalfOf],
      ]);
  });

  it('leaves out what the pages of the dashboard read, and has what they write and are refused', async () => {
    const signedIn = await fetch(`${world.origin}/dashboard/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const headers = {
      cookie: signedIn.headers.get('set-cookie')!.split(';')[0]!,
      'x-tidegate-dashboard': '1',
      'content-type': 'application/json',
    };
    const sent = async (query: string) => {
      const reply = await fetch(`${world.origin}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query }),
      });
      return reply.headers.get('request-id')!;
    };
    const read = await sent('{ viewer { edition } }');
    const refused = await sent('{ apiKeys { nodes { id } } }');
    const wrote = await sent(
      'mutation { createPerson(input: { fullName: "A B", relationship: { owner: true } }) { person { id } } }',
    );
    const found = async (id: string) => (await user.get(`/v1/request_logs/${id}`)).status;
    await eventually(
      () => found(wrote),
      (status) => status === 200,
    );
    expect([await found(read), await found(refused)]).toEqual([404, 200]);
  });

  it('is deleted after its time by the worker', async () => {
    const old = await user.get('/v1/balance');
    const young = await user.get('/v1/balance');
    await entryOf(user, young);
    // The worker looks at the oldest entries first.
    await world.sql`delete from request_log where id < ${idOf(old)}`;
    await world.sql`update request_log set created = created - 86400 - 60 where id = ${idOf(old)}`;
    const retention = { idempotencySeconds: 86_400, requestSeconds: 86_400 };
    const worker = new Worker(world.database, pino({ level: 'silent' }), retention);
    worker.start();
    await eventually(
      () => user.get(`/v1/request_logs/${idOf(old)}`),
      ({ status }) => status === 404,
    );
    await worker.stop();
    expect((await user.get(`/v1/request_logs/${idOf(young)}`)).status).toBe(200);
  });
});

describe('the writer of the request log', () => {
  it('has ids that are unique and in the order of the requests, within a millisecond, too', () => {
    const ids = Array.from({ length: 20_000 }, newRequestId);
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{24}$/);
    expect([...new Set(ids)].sort()).toEqual(ids);
  });

  it('drops and counts what exceeds its bounds, and what cannot be written', async () => {
    const written: string[] = [];
    let broken = false;
    const work = async (_: string, values: unknown[]) => {
      if (broken) throw new Error('no database');
      written.push(...JSON.parse(String(values[2])).map(({ id }: { id: string }) => id));
      return [];
    };
    const writer = new RequestLogWriter({ work }, { ofTenant: 2, all: 3 });
    const one = (id: string, tenant: string) =>
      writer.add(tenant, false, {
        ...{ id, at: performance.now(), api: 'rest', operation: 'GET /v1/balance', status: 200, codes: [] },
        ...{ milliseconds: 1, accountId: `account_${tenant}`, apiKeyId: null, sessionId: null, onBehalfOf: null },
      });
    for (const id of ['a1', 'a2', 'a3']) one(id, 'a');
    for (const id of ['b1', 'b2']) one(id, 'b');
    expect(writer.dropped).toBe(2);
    await writer.write();
    expect(written).toEqual(['a1', 'a2', 'b1']);
    broken = true;
    one('a4', 'a');
    await writer.write();
    expect(writer.dropped).toBe(3);
  });
});
