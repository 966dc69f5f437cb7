import { randomBytes } from 'node:crypto';
import { serverAudits } from 'graphql-http';
import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let speaker: Speaker;

beforeAll(async () => {
  speaker = await given.directUser(1);
});

/** The official audits of the GraphQL over HTTP specification, sent as a client with a key. */
const audits = serverAudits({
  url: () => `${world.origin}/graphql`,
  fetchFn: (address: string, init: RequestInit = {}) =>
    fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${speaker.key}` } }),
});

const failedDocument =
  'A document that cannot be run is 400 whatever the media type, as its twin on /v1 is: load balancers, ' +
  'retries and monitors read the status. The specification discourages this for application/json and allows ' +
  'it; a client that wants its letter asks for application/graphql-response+json.';

/** The recommendations that the gateway does not follow, with their reasons. Every requirement (MUST) is met. */
const refusals: Record<string, string> = {
  '572B': failedDocument,
  FDE2: failedDocument,
  '7B9B': failedDocument,
};

describe('GraphQL over HTTP, by the audits of graphql-http', () => {
  it.each(audits.filter(({ id }) => !(id in refusals)).map(({ id, name, fn }) => [`${id} ${name}`, fn] as const))(
    '%s',
    async (_, audit) => {
      const result = await audit();
      const answer = result.status === 'ok' ? '' : `${result.reason}: ${await result.response.text()}`;
      expect([result.status, answer]).toEqual(['ok', '']);
    },
  );

  // An audit that passes fails here until its row is removed, so the table has no unnecessary exception.
  it.each(audits.filter(({ id }) => id in refusals).map(({ id, name, fn }) => [`${id} ${name}`, fn] as const))(
    'not followed: %s',
    async (_, audit) => {
      const result = await audit();
      // A `warn` is a recommendation that is not followed; a requirement would be an `error`.
      expect(result.status).toBe('warn');
      expect(result.status === 'ok' ? undefined : result.response.status).toBe(400);
    },
  );

  it('has a reason for every exception, excepts only recommendations, and runs every audit', () => {
    const level = new Map(audits.map(({ id, name }) => [id, name.split(' ', 1)[0]]));
    expect(Object.keys(refusals).map((id) => [id, level.get(id)])).toEqual([
      ['572B', 'SHOULD'],
      ['FDE2', 'SHOULD'],
      ['7B9B', 'SHOULD'],
    ]);
    for (const reason of Object.values(refusals)) expect(reason).toMatch(/^[A-Z].{40,}\.$/);
    // Without this number, a release of the suite with fewer audits would not be noticed.
    expect([audits.length, level.size]).toEqual([61, 61]);
  });
});

describe('a query string whose members are no JSON objects', () => {
  const query = `query=${encodeURIComponent('{ viewer { edition } }')}`;

  it.each([
    ['variables={', 'variables'],
    ['variables=', 'variables'],
    ['variables=[]', 'variables'],
    ['variables=1', 'variables'],
    ['variables={},"a":{}', 'variables'],
    ['variables={}&variables={}', 'variables'],
    ['extensions={', 'extensions'],
    ['extensions=null', 'extensions'],
    ['operationName=a&operationName=b', 'operationName'],
  ])('%s is refused like every wrong argument, with its place and the id of the request', async (members, name) => {
    const reply = await speaker.get(`/graphql?${query}&${encodeURI(members)}`);
    const { errors, extensions } = reply.body;
    expect(reply.status).toBe(400);
    expect(errors).toHaveLength(1);
    expect(errors[0].extensions).toMatchObject({
      code: 'PARAMETER_INVALID',
      argumentPath: [name],
      docUrl: '/docs/errors#parameter_invalid',
      requestId: reply.headers.get('request-id'),
    });
    expect(extensions.requestId).toBe(reply.headers.get('request-id'));
  });

  it('an object that is nested too deeply to be checked is refused, too', async () => {
    const [begin, end] = ['{"b":"\\":","a":', '}'].map(encodeURIComponent);
    const nested = '['.repeat(7_700) + ']'.repeat(7_700);
    const reply = await speaker.get(`/graphql?${query}&variables=${begin}${nested}${end}`);
    expect([reply.status, reply.body.errors[0].extensions.argumentPath]).toEqual([400, ['variables']]);
  });

  it('objects are taken, also empty ones', async () => {
    const reply = await speaker.get(`/graphql?${query}&variables={}&extensions={}`);
    expect([reply.status, reply.body.data]).toEqual([200, { viewer: { edition: 1 } }]);
  });
});

describe('an Accept header', () => {
  const [json, response] = ['application/json', 'application/graphql-response+json'];
  const events = 'text/event-stream';
  const accepted: [accept: string, type: string][] = [
    [`${response}; charset=utf-8, ${json}; charset=utf-8`, response],
    [`${json}; charset=utf-8`, json],
    [`${json};charset=UTF-8`, json],
    [`${json}; charset="utf-8"`, json],
    [`${response};charset=utf-8, ${json};q=0.9`, response],
    [`${response};charset=utf-8;q=0.5, ${json};q=0.9`, json],
    [`${json}, ${response}`, json],
    ['*/*', json],
    ['application/*', json],
  ];
  it.each(accepted)('%s gets the type that it accepts', async (accept, type) => {
    // A document is parsed at its first request and known at the second; a wrong one is refused.
    const query = `{ viewer { mode ${'mode '.repeat(accepted.findIndex(([each]) => each === accept))} } }`;
    for (const [asked, status] of [
      [query, 200],
      [query, 200],
      ['{', 400],
    ] as const) {
      const reply = await speaker.graph(asked, {}, { accept });
      expect([reply.status, reply.headers.get('content-type')]).toEqual([status, `${type}; charset=utf-8`]);
    }
    const refused = await speaker.using('sk_test_0').graph(query, {}, { accept });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([401, `${type}; charset=utf-8`]);
  });

  it.each(accepted)('%s gets it from the operator’s endpoint', async (accept, type) => {
    const operatorKey = randomBytes(32).toString('hex');
    const origin = await world.another({ environment: { OPERATOR_KEY: operatorKey } });
    const reply = await fetch(`${origin}/operator/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': json, accept },
      body: '{"query":"{ __typename }"}',
    });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    await world.endLast();
  });

  it.each([`${events}; charset=utf-8`, `${events};charset=utf-8, ${json};charset=utf-8;q=0.1`])(
    '%s gets events',
    async (accept) => {
      const subscribed = await speaker.graph('subscription { events { number } }', {}, { accept });
      expect([subscribed.status, subscribed.headers.get('content-type')]).toEqual([200, `${events}; charset=utf-8`]);
      const stream = await speaker.get('/v1/events/stream', { accept });
      expect([stream.status, stream.headers.get('content-type')]).toEqual([200, `${events}; charset=utf-8`]);
    },
  );

  it.each(['text/html', `${json}; charset=iso-8859-1`, `${json};q=0`])('%s is refused', async (accept) => {
    expect((await speaker.graph('{ viewer { mode } }', {}, { accept })).codes).toEqual(['not_acceptable']);
  });
});
