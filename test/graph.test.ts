import { getIntrospectionQuery } from 'graphql';
import { expect, it, beforeAll } from 'vitest';
import { givenIn, type Speaker, useWorld } from './world.js';
const world = useWorld();
const given = givenIn(world);
let s: Speaker;
beforeAll(async () => {
  s = await given.directUser(1);
});
async function raw(name: string, init: RequestInit, path = '/graphql', auth = true) {
  const r = await fetch(world.origin + path, {
    ...init,
    headers: { ...(auth ? { authorization: `Bearer ${s.key}` } : {}), ...(init.headers as any) },
  });
  const t = await r.text();
  console.log(
    `## ${name}\n${r.status} ${r.headers.get('content-type')} allow=${r.headers.get('allow')} rid=${r.headers.get('request-id')} ${JSON.stringify([...r.headers.keys()])}\n${t.slice(0, 1200)}`,
  );
}
const json = (body: unknown, accept?: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...(accept ? { accept } : {}) },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
it('probe', async () => {
  const modern = 'application/graphql-response+json';
  await raw('ok', json({ query: '{ viewer { edition } }' }));
  await raw('null data', json({ query: '{ account(id: "account_x") { id } }' }, modern));
  await raw('batch', json([{ query: '{ __typename }' }], modern));
  await raw('empty batch', json([], modern));
  await raw('missing query', json({}, modern));
  await raw('empty body', json('', modern));
  await raw('malformed', json('{', modern));
  await raw('vars array', json({ query: '{__typename}', variables: [1] }, modern));
  await raw('no ctype', { method: 'POST', body: Buffer.from('{"query":"{__typename}"}') });
  await raw('text/plain', { method: 'POST', body: '{"query":"{__typename}"}' });
  const f = new FormData();
  f.set('operations', '{"query":"{__typename}"}');
  f.set('map', '{}');
  await raw('multipart', { method: 'POST', body: f });
  await raw('multipart noauth', { method: 'POST', body: f }, '/graphql', false);
  await raw('urlencoded', { method: 'POST', body: new URLSearchParams({ query: '{__typename}' }) });
  await raw('get mutation', { headers: { accept: modern } }, '/graphql?query=mutation{__typename}');
  await raw('get query', { headers: { accept: modern } }, '/graphql?query={viewer{edition}}');
  await raw('get no query', { headers: { accept: modern } }, '/graphql');
  await raw('get html with auth', { headers: { accept: 'text/html' } }, '/graphql');
  await raw('get noauth', {}, '/graphql?query={viewer{edition}}', false);
  await raw('get noauth html', { headers: { accept: 'text/html' } }, '/graphql?query={viewer{edition}}', false);
  await raw('PUT', { method: 'PUT', headers: { accept: modern } });
  await raw(
    'OPTIONS',
    { method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } },
    '/graphql',
    false,
  );
  await raw('HEAD', { method: 'HEAD' });
  await raw('406', json({ query: '{__typename}' }, 'image/png'));
  await raw('406 noauth', json({ query: '{__typename}' }, 'image/png'), '/graphql', false);
  await raw('both', json({ query: '{' }, 'application/graphql-response+json, application/json;q=0.9'));
  await raw('both2', json({ query: '{' }, 'application/json, application/graphql-response+json;q=0.5'));
  await raw(
    'both2 noauth',
    json({ query: '{' }, 'application/json, application/graphql-response+json;q=0.5'),
    '/graphql',
    false,
  );
  await raw('op unknown', json({ query: 'query A{__typename} query B{__typename}', operationName: 'C' }, modern));
  await raw('op none', json({ query: 'query A{__typename} query B{__typename}' }, modern));
  await raw('var coercion', json({ query: 'query ($id: ID!) { node(id: $id) { id } }', variables: {} }, modern));
  await raw(
    'var coercion limit',
    json({ query: 'query ($n: Int) { accounts(first: $n) { nodes { id } } }', variables: { n: 'x' } }, modern),
  );
  await raw('validation', json({ query: '{ viwer { edition } accounts(frist: 1) { nodes { id } } }' }, modern));
  await raw(
    'create invalid',
    json(
      {
        query: 'mutation($i: CreateAccountInput!) { createAccount(input: $i) { account { id } } }',
        variables: { i: { type: 'PARTNER', businessDetails: { legalName: '', email: 'x' } } },
      },
      modern,
    ),
  );
  await raw(
    'create invalid2',
    json(
      {
        query: 'mutation($i: CreateAccountInput!) { createAccount(input: $i) { account { id } } }',
        variables: { i: { type: 'PARTNER', businessDetails: { legalName: '', website: 'x' } } },
      },
      modern,
    ),
  );
  await raw('tokens', json({ query: `{ ${'viewer { edition } '.repeat(400)} }` }, modern));
  await raw('too large', json({ query: `{ viewer { edition } } #${'x'.repeat(70000)}` }, modern));
  await raw('too large text', { method: 'POST', body: 'x'.repeat(70000) });
  await raw(
    'introspection',
    json(
      {
        query: getIntrospectionQuery({
          descriptions: true,
          specifiedByUrl: true,
          directiveIsRepeatable: true,
          schemaDescription: true,
          inputValueDeprecation: true,
          oneOf: true,
        } as any),
      },
      modern,
    ),
  );
  await raw(
    'prefix',
    json(
      { query: '{ a: nodes(ids: []) { id } node(id: "x") { id } n2: node(id: "account_zzz\\u0000") { id } }' },
      modern,
    ),
  );
  await raw('subscription', json({ query: 'subscription { x }' }, modern));
  await raw(
    'vars string',
    json({ query: 'query ($n: Int) { accounts(first: $n) { nodes { id } } }', variables: '{"n": 1}' }, modern),
  );
  await raw('defer', json({ query: '{ viewer { ... @defer { edition } } }' }, 'multipart/mixed;deferSpec=20220824'));
  expect(1).toBe(1);
});
