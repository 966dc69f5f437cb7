import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { ConfigError, config } from '../../src/config/config.js';
import { gateway } from '../../src/server/app.js';
import { givenIn, type Reply, Speaker, useWorld } from '../support/world.js';

const OPERATOR_KEY = 'operator-0123456789abcdefghijklmnopqrstuvwxyz';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const given = givenIn(world);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-documents-'));
const apps: FastifyInstance[] = [];
let user: Speaker;
beforeAll(async () => {
  user = await given.directUser(1);
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Another gateway over the same database; returns its origin. */
async function started(environment: Record<string, string>): Promise<string> {
  const app = await gateway({
    config: config({ serves: true }, { PORT: '0', RATE_LIMIT: 'measure', ...environment }),
    database: world.database,
    schema: buildGraph(),
    pepper: world.pepper,
    log: pino({ level: 'silent' }),
  });
  apps.push(app);
  return app.listen({ port: 0, host: '127.0.0.1' });
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const persisted = (sha256Hash: unknown, version: unknown = 1) => ({ persistedQuery: { version, sha256Hash } });
/** What Apollo Client's link for persisted queries sends: the hash alone, and with the text when it is not known. */
const byHash = (me: Speaker, query: string, more: object = {}) =>
  me.post('/graphql', { extensions: persisted(sha256(query)), ...more });
const withText = (me: Speaker, query: string, more: object = {}) => byHash(me, query, { query, ...more });
const byGet = (me: Speaker, query: string, more: Record<string, string> = {}) =>
  me.get(`/graphql?${new URLSearchParams({ extensions: JSON.stringify(persisted(sha256(query))), ...more })}`);
const codesOf = ({ body }: Reply) => body.errors?.map((e: any) => e.extensions.code);
const unknown = (reply: Reply) => [reply.status, reply.body.errors?.[0].message, codesOf(reply)];
const notFound = [200, 'PersistedQueryNotFound', ['PERSISTED_QUERY_NOT_FOUND']];

const edition = '{ viewer { edition } }';
const named = 'query Edition($deep: Boolean!) { viewer { edition mode @include(if: $deep) } }';

describe('an automatic persisted query', () => {
  it('is answered by its hash once it was sent with its text, by POST and by GET', async () => {
    const me = await given.directUser(1);
    expect(unknown(await byHash(me, edition))).toEqual(notFound);
    expect(unknown(await byGet(me, edition))).toEqual(notFound);
    const sent = await withText(me, edition);
    expect([sent.status, sent.body.data]).toEqual([200, { viewer: { edition: 1 } }]);
    // The third request for a document is a compiled query, or runs from the cache.
    for (let i = 0; i < 4; i++) {
      expect((await byHash(me, edition)).body.data).toEqual({ viewer: { edition: 1 } });
      expect((await byGet(me, edition)).body.data).toEqual({ viewer: { edition: 1 } });
    }
    const variables = { deep: true };
    expect((await withText(me, named, { variables, operationName: 'Edition' })).status).toBe(200);
    const again = await byHash(me, named, { variables: { deep: false } });
    expect(again.body.data).toEqual({ viewer: { edition: 1 } });
    const got = await byGet(me, named, { variables: JSON.stringify(variables), operationName: 'Edition' });
    expect(got.body.data).toEqual({ viewer: { edition: 1, mode: 'TEST' } });
    expect((await byHash(me, named, { variables: {} })).status).toBe(400);
  });

  it('is known to its own tenant alone', async () => {
    const [platform, outsider] = [await given.platform(1), await given.platform(1)];
    const member = await platform.connectedUser();
    const secret = '{ viewer { edition onBehalf } }';
    await withText(platform, secret);
    expect((await byHash(member, secret)).status).toBe(200);
    expect((await byHash(member, secret)).body.data).toEqual({ viewer: { edition: 1, onBehalf: false } });
    expect(unknown(await byHash(outsider, secret))).toEqual(notFound);
  });

  it('has the permissions of each caller, and runs no mutation by GET', async () => {
    const me = await given.directUser(1);
    const mutation = 'mutation { createApiKey(input: { permission: READ }) { secret apiKey { id } } }';
    const made = await withText(me, mutation);
    const reader = me.using(made.body.data.createApiKey.secret);
    expect(codesOf(await byHash(reader, mutation))).toEqual(['PERMISSION_DENIED']);
    expect((await byGet(me, mutation)).status).toBe(405);
    expect((await me.graph('{ apiKeys { nodes { id } } }')).body.data.apiKeys.nodes).toHaveLength(2);
    const keyless = await fetch(`${world.origin}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ extensions: persisted(sha256(mutation)) }),
    });
    expect(keyless.status).toBe(401);
  });

  it('is the document of its hash', async () => {
    const me = await given.directUser(1);
    const forged = await me.post('/graphql', {
      query: '{ rateLimit { limit } }',
      extensions: persisted(sha256(edition)),
    });
    expect([forged.status, forged.codes, forged.fieldNames]).toEqual([400, ['parameter_invalid'], ['request.query']]);
    expect(unknown(await byHash(me, edition))).toEqual(notFound);
    const faulty = [
      persisted(sha256(edition), 2),
      persisted('abc'),
      persisted(sha256(edition).toUpperCase()),
      persisted(7),
      persisted(undefined),
      { persistedQuery: 'abc' },
      { persistedQuery: 7 },
    ];
    for (const extensions of faulty)
      for (const query of [undefined, edition]) {
        const reply = await me.post('/graphql', { query, extensions });
        expect([extensions, reply.status, reply.fieldNames]).toEqual([extensions, 400, ['request.extensions']]);
      }
    for (const extensions of [{}, { persistedQuery: null }, null, { other: 1 }]) {
      const reply = await me.post('/graphql', { extensions });
      expect([reply.status, reply.codes]).toEqual([400, ['parameter_missing']]);
    }
    expect((await me.post('/graphql', { query: edition, extensions: { other: 1 } })).status).toBe(200);
    expect((await me.get('/graphql?extensions=%7B')).codes).toEqual(['parameter_missing']);
  });

  it('is refused like every other document that is not valid, or that is beyond the limits', async () => {
    const me = await given.directUser(1);
    const invalid = '{ viewer { nonsense } }';
    const deep =
      `{ ${'viewer { account { '.repeat(1)}${'connectedAccounts { nodes { '.repeat(9)} id ${'} }'.repeat(9)} } } ` +
      '}';
    for (const query of [invalid, deep, '{']) {
      expect((await withText(me, query)).status).toBe(400);
      const again = await byHash(me, query);
      expect([again.status, again.body.data]).toEqual([400, undefined]);
    }
  });

  it('is forgotten when its tenant has sent many others, without effect on other tenants', async () => {
    const [me, neighbour] = [await given.directUser(1), await given.directUser(1)];
    await withText(me, edition);
    await withText(neighbour, edition);
    for (let i = 0; i < 210; i++) await withText(me, `{ viewer { edition } } # ${i}`);
    expect(unknown(await byHash(me, edition))).toEqual(notFound);
    expect((await byHash(me, '{ viewer { edition } } # 209')).body.data).toEqual({ viewer: { edition: 1 } });
    expect((await byHash(neighbour, edition)).body.data).toEqual({ viewer: { edition: 1 } });
  });

  it("is not supported by the operator's graph, which says so", async () => {
    const reply = await user.post(
      '/operator/graphql',
      { extensions: persisted(sha256('{ __typename }')) },
      { authorization: `Bearer ${OPERATOR_KEY}` },
    );
    expect([reply.status, codesOf(reply)]).toEqual([400, ['PERSISTED_QUERY_NOT_SUPPORTED']]);
  });
});

describe("Apollo Client's own link for persisted queries", () => {
  const query = gql`query Mode($deep: Boolean!) { viewer { edition mode @include(if: $deep) } }`;
  const mutation = gql`mutation Key { createApiKey(input: { permission: READ }) { apiKey { permission } } }`;

  /** A client with the link, and what it sends: the method, and whether a request has the text of its document. */
  function clientOf(me: Speaker, { get = false, endpoint = '/graphql', origin = world.origin } = {}) {
    const sent: string[] = [];
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      defaultOptions: { query: { fetchPolicy: 'no-cache' } },
      link: new PersistedQueryLink({ sha256, useGETForHashedQueries: get }).concat(
        new HttpLink({
          uri: `${origin}${endpoint}`,
          headers: { authorization: `Bearer ${me.key}` },
          fetch: (address, init) => {
            const hasText = /"query":"|[?&]query=/.test(`${String(address)} ${String(init?.body)}`);
            sent.push(`${init?.method} ${hasText ? 'text' : 'hash'}`);
            return fetch(address, init);
          },
        }),
      ),
    });
    return { client, sent };
  }
  const mode = async ({ client }: ReturnType<typeof clientOf>, deep: boolean) =>
    (await client.query({ query, variables: { deep } })).data;

  it.each([false, true])('sends a text once, then hashes alone, by GET: %s', async (get) => {
    const [first, second] = [await given.directUser(1), await given.directUser(1)];
    const one = clientOf(first, { get });
    const method = get ? 'GET' : 'POST';
    for (const deep of [true, false, true, true])
      expect(await mode(one, deep)).toMatchObject({ viewer: { edition: 1, ...(deep && { mode: 'TEST' }) } });
    expect(one.sent).toEqual([`${method} hash`, 'POST text', ...Array(3).fill(`${method} hash`)]);
    // Another page of the same account finds the document; that of another account sends it.
    const [same, other] = [clientOf(first, { get }), clientOf(second, { get })];
    await Promise.all([mode(same, true), mode(other, true)]);
    expect([same.sent, other.sent]).toEqual([[`${method} hash`], [`${method} hash`, 'POST text']]);
  });

  it('sends a mutation by POST, whose effect happens once', async () => {
    const me = await given.directUser(1);
    const one = clientOf(me, { get: true });
    for (let i = 0; i < 2; i++)
      expect((await one.client.mutate({ mutation })).data).toMatchObject({
        createApiKey: { apiKey: { permission: 'READ' } },
      });
    expect(one.sent).toEqual(['POST hash', 'POST text', 'POST hash']);
    expect((await me.graph('{ apiKeys { nodes { id } } }')).body.data.apiKeys.nodes).toHaveLength(3);
  });

  it("sends texts alone to the operator's graph, once it has said that it supports no hashes", async () => {
    const one = clientOf(user.using(OPERATOR_KEY), { endpoint: '/operator/graphql' });
    const tenants = gql`query Name { __typename }`;
    for (let i = 0; i < 2; i++) await one.client.query({ query: tenants });
    expect(one.sent).toEqual(['POST hash', 'POST text', 'POST text']);
  });
});

describe('a manifest of trusted documents', () => {
  const file = (name: string, content: unknown) => {
    const at = path.join(folder, name);
    fs.writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content));
    return at;
  };
  const ofApollo = (...bodies: string[]) => ({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: bodies.map((body, i) => ({ id: sha256(body), name: `Q${i}`, type: 'query', body })),
  });

  for (const [form, manifest] of Object.entries({
    'of Apollo': ofApollo(edition, named),
    'of hashes and texts': { [sha256(edition)]: edition, [`sha256:${sha256(named)}`]: named },
  }))
    it(`is answered by hash in each way to ask, and other documents also: a manifest ${form}`, async () => {
      const me = user.at(await started({ TRUSTED_DOCUMENTS_FILE: file('also.json', manifest) }));
      const ways = [
        byHash(me, edition),
        byGet(me, edition),
        me.post('/graphql', { documentId: sha256(edition) }),
        me.post('/graphql', { documentId: `sha256:${sha256(edition)}` }),
        me.get(`/graphql?documentId=sha256:${sha256(edition)}`),
        me.graph(edition),
      ];
      for (const reply of await Promise.all(ways)) expect(reply.body.data).toEqual({ viewer: { edition: 1 } });
      expect((await me.graph('{ viewer { mode } }')).body.data).toEqual({ viewer: { mode: 'TEST' } });
      const unheard = await me.post('/graphql', { documentId: sha256('unheard') });
      expect(unknown(unheard)).toEqual(notFound);
      const faulty = await me.post('/graphql', { documentId: '../etc/passwd' });
      expect([faulty.status, faulty.fieldNames]).toEqual([400, ['request.document_id']]);
    });

  it('is one statement from its first request on, and a document by its hash from its second', async () => {
    const trusted = 'query First($n: Int) { accounts(first: $n) { totalCount nodes { id } } viewer { mode } }';
    const deep = `{ accounts { nodes { owner { owner { owner { owner { owner { owner { owner {
      owner { owner { owner { owner { owner { owner { owner { id } } } } } } } } } } } } } } } } }`;
    const me = user.at(
      await started({ TRUSTED_DOCUMENTS_FILE: file('first.json', ofApollo(trusted, deep)), GRAPHQL_DEPTH_MAX: '10' }),
    );
    const names: string[] = [];
    const observer = { began: ({ name }: { name: string }) => (names.push(name), () => {}) };
    world.database.observers.push(observer);
    const compiled = () => names.splice(0).filter((name) => /^compiled|^page/.test(name));
    try {
      const first = await byHash(me, trusted, { variables: { n: 2 } });
      expect([compiled(), first.body.data.viewer]).toEqual([['compiled_query'], { mode: 'TEST' }]);
      expect((await me.graph(trusted, { n: 2 })).text.replace(/"extensions".*/, '')).toBe(
        first.text.replace(/"extensions".*/, ''),
      );
      expect(compiled()).toEqual(['compiled_query']);
      // What its limits refuse, they refuse as ever.
      expect(codesOf(await byHash(me, deep))).toEqual(['QUERY_TOO_DEEP']);
      const own = '{ accounts(first: 1) { nodes { id } } }';
      const data = (await withText(me, own)).body.data;
      expect([compiled().length, (await byHash(me, own)).body.data]).toEqual([1, data]);
      expect(compiled()).toEqual(['compiled_query']);
    } finally {
      world.database.observers.splice(world.database.observers.indexOf(observer), 1);
    }
  });

  it('is all that is answered with TRUSTED_DOCUMENTS=only', async () => {
    const me = user.at(
      await started({ TRUSTED_DOCUMENTS_FILE: file('only.json', ofApollo(edition)), TRUSTED_DOCUMENTS: 'only' }),
    );
    for (let i = 0; i < 3; i++)
      for (const reply of [
        await byHash(me, edition),
        await byGet(me, edition),
        await me.graph(edition),
        await withText(me, edition),
      ])
        expect(reply.body.data).toEqual({ viewer: { edition: 1 } });
    const others = await Promise.all([
      me.graph('{ viewer { mode } }'),
      me.graph(`${edition} `),
      me.graph('{ __schema { types { name } } }'),
      me.graph('mutation { createApiKey(input: {}) { secret } }'),
      withText(me, '{ viewer { mode } }'),
      byHash(me, '{ viewer { mode } }'),
      byGet(me, '{ viewer { mode } }'),
      me.get(`/graphql?${new URLSearchParams({ query: '{ viewer { mode } }' })}`),
      me.post('/graphql', { documentId: sha256('{ viewer { mode } }') }),
    ]);
    expect(others.map((reply) => [reply.status, reply.codes])).toEqual(
      others.map(() => [400, ['document_not_trusted']]),
    );
    // /v1 has no documents.
    expect((await me.get('/v1/accounts')).status).toBe(200);
  });

  it("does not limit the operator's graph, and the explorer says what it is refused", async () => {
    const origin = await started({
      TRUSTED_DOCUMENTS_FILE: file('pages.json', ofApollo(edition)),
      TRUSTED_DOCUMENTS: 'only',
      OPERATOR_KEY,
    });
    const operator = await user
      .at(origin)
      .post('/operator/graphql', { query: '{ __typename }' }, { authorization: `Bearer ${OPERATOR_KEY}` });
    expect(operator.body.data).toEqual({ __typename: 'Query' });
    const [page, usual] = await Promise.all(
      [origin, world.origin].map(async (each) => (await fetch(`${each}/graphiql`)).text()),
    );
    expect(page).toContain('This gateway answers only the documents of its manifest (TRUSTED_DOCUMENTS=only).');
    expect(usual).not.toContain('TRUSTED_DOCUMENTS');
  });

  it.each([
    ['no file', undefined, 'the file cannot be read (ENOENT)'],
    ['no JSON', 'nonsense', 'the file must be a manifest in JSON'],
    ['another form', [1], 'the file must be a manifest in JSON'],
    ['another version', { ...ofApollo(edition), version: 2 }, 'the file must be a manifest in JSON'],
    ['a wrong hash', { [sha256('other')]: edition }, 'is not the SHA-256 of its document'],
    ['a document with a typing error', ofApollo('{ viewer { nonsense } }'), 'Cannot query field "nonsense"'],
    ['a document that cannot be parsed', ofApollo('{ viewer'), 'Syntax Error'],
  ])('is refused at the start with a sentence that names the setting: %s', async (_, content, message) => {
    const at = content === undefined ? path.join(folder, 'none.json') : file('bad.json', content);
    const start = started({ TRUSTED_DOCUMENTS_FILE: at });
    await expect(start).rejects.toBeInstanceOf(ConfigError);
    await expect(start).rejects.toThrow(/^TRUSTED_DOCUMENTS_FILE: /);
    await expect(start).rejects.toThrow(message);
  });
});

describe('COMPILED_QUERIES=off', () => {
  it('runs every document through Apollo and the resolvers, with the same answers', async () => {
    const me = await given.platform(2);
    for (let i = 0; i < 3; i++) await me.connectedUser();
    const plain = me.at(await started({ COMPILED_QUERIES: 'off' }));
    const text = world.database.text.bind(world.database);
    let compiled = 0;
    world.database.text = ((...all: Parameters<typeof text>) => {
      compiled++;
      return text(...all);
    }) as typeof text;
    const query = '{ accounts(first: 3) { nodes { id nickname balance { available { amount currency } } } } }';
    const data = async (speaker: Speaker) => {
      const replies = [];
      for (let i = 0; i < 4; i++) replies.push((await speaker.graph(query)).body.data);
      expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
      return replies[0];
    };
    try {
      const resolved = await data(plain);
      expect(compiled).toBe(0);
      expect(await data(me)).toEqual(resolved);
      expect(compiled).toBeGreaterThan(0);
    } finally {
      world.database.text = text;
    }
  });
});
