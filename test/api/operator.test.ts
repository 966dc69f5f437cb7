import fs from 'node:fs';
import {
  buildClientSchema,
  getIntrospectionQuery,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  printSchema,
} from 'graphql';
import pino from 'pino';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import type { AccountRow } from '../../src/resources/account/table.js';
import { accountV1 } from '../../src/resources/account/v1.js';
import { address } from '../../src/resources/address/table.js';
import { addressV1 } from '../../src/resources/address/v1.js';
import { config } from '../../src/config/config.js';
import { Database } from '../../src/db/database.js';
import { operatorText } from '../../src/server/build/print-schema.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';
import { pdf } from '../support/bodies.js';
import { details, givenIn, must, nickname, Speaker, tenantOf, useWorld } from '../support/world.js';
import {
  agrees,
  issue,
  type Json,
  modern,
  mutation,
  OPERATOR_KEY,
  operatorIn,
  place,
  verify,
} from './operator-fixture.js';
import { listAccounts, updateRoot, verificationOf } from '../../src/operator/account/accounts.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY, INTROSPECTION: 'false' } });
const given = givenIn(world);
const { at, ask, data } = operatorIn(world);

auditLedger(world);

const hold = mutation('holdAccount', 'HoldAccountInput', 'account { id livemode status }');
const deactivate = mutation('deactivateAccount', 'DeactivateAccountInput', 'account { id livemode status }');

describe("access to the operator's API", () => {
  const query = '{ ledgerAudit { violations { rule } } }';
  const send = (headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${world.origin}/operator/graphql`, {
      method: 'POST',
      body: JSON.stringify({ query }),
      ...init,
      headers: { 'content-type': 'application/json', ...headers },
    });

  it("requires the operator's key as a Bearer credential", async () => {
    for (const authorization of [`Bearer ${OPERATOR_KEY}`, `bearer  ${OPERATOR_KEY} `]) {
      const response = await send({ authorization });
      const body: Json = await response.json();
      expect([response.status, body.data]).toEqual([200, { ledgerAudit: { violations: [] } }]);
      expect(body.extensions).toEqual({ requestId: response.headers.get('request-id') });
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  const refused: [what: string, headers: () => Record<string, string>, code: string][] = [
    ['no credential', () => ({}), 'AUTHENTICATION_REQUIRED'],
    ['an empty credential', () => ({ authorization: 'Bearer ' }), 'AUTHENTICATION_REQUIRED'],
    [
      'the key as HTTP Basic',
      () => ({ authorization: `Basic ${Buffer.from(`${OPERATOR_KEY}:`).toString('base64')}` }),
      'AUTHENTICATION_REQUIRED',
    ],
    ['the key in a header of another name', () => ({ 'x-api-key': OPERATOR_KEY }), 'AUTHENTICATION_REQUIRED'],
    ['a test key', () => ({ authorization: `Bearer ${keys.test.key}` }), 'API_KEY_INVALID'],
    ['a live key', () => ({ authorization: `Bearer ${keys.live.key}` }), 'API_KEY_INVALID'],
    [
      'a key without its last character',
      () => ({ authorization: `Bearer ${OPERATOR_KEY.slice(0, -1)}` }),
      'API_KEY_INVALID',
    ],
    ['a key with an additional character', () => ({ authorization: `Bearer ${OPERATOR_KEY}0` }), 'API_KEY_INVALID'],
    ['a key in the other case', () => ({ authorization: `Bearer ${OPERATOR_KEY.toUpperCase()}` }), 'API_KEY_INVALID'],
  ];
  let keys: { test: Speaker; live: Speaker };
  beforeAll(async () => {
    keys = await given.platformBoth(1);
  });

  it.each(refused)('is refused with %s', async (_, headers, code) => {
    const response = await send(headers());
    const body: Json = await response.json();

    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(body).not.toHaveProperty('data');
    expect(body.errors).toEqual([
      {
        message: expect.any(String),
        extensions: {
          code,
          httpStatus: 401,
          docUrl: `/docs/errors#${code.toLowerCase()}`,
          error: { code: code.toLowerCase(), message: body.errors[0].message, metadata: {} },
          requestId: response.headers.get('request-id'),
        },
      },
    ]);
  });

  it('is checked before anything is read, and the schema is not visible without the key', async () => {
    const broken = await send({}, { body: '{' });
    const introspecting = await send(
      { authorization: `Bearer ${keys.live.key}` },
      {
        body: JSON.stringify({ query: getIntrospectionQuery() }),
      },
    );

    expect([broken.status, introspecting.status]).toEqual([401, 401]);
    expect(await introspecting.text()).not.toContain('ledgerAudit');
  });

  it("is all that the operator's key gives", async () => {
    const operator = new Speaker(world, '', OPERATOR_KEY, 1);
    const replies = await Promise.all([
      operator.graph('{ viewer { edition } }'),
      operator.get('/v1/accounts'),
      operator.get('/v1/balance'),
    ]);
    expect(replies.map(({ status, codes }) => [status, codes])).toEqual(Array(3).fill([401, ['api_key_invalid']]));
  });

  // The delay makes guessing slow, and the limit bounds the waiting requests; the operator's own requests never wait.
  it('is refused after a delay for a wrong key, with few delayed at once; the right key is never delayed', async () => {
    const began = performance.now();
    const wrong = Array.from({ length: 40 }, () => at('wrong').ask(query));
    const right = await ask(query);
    const took = performance.now() - began;
    const replies = await Promise.all(wrong);

    expect(right.status).toBe(200);
    const statuses = replies.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(20);
    expect(performance.now() - began).toBeGreaterThan(1_000);
    expect(took).toBeLessThan(performance.now() - began);
    expect(replies.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
  });

  it('requires JSON by POST, which a page of another site cannot make a browser send', async () => {
    const authorization = `Bearer ${OPERATOR_KEY}`;
    const get = await fetch(`${world.origin}/operator/graphql?query=${encodeURIComponent(query)}`, {
      headers: { authorization },
    });
    const others = await Promise.all(
      ['PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => send({ authorization }, { method })),
    );
    const plain = await send({ authorization, 'content-type': 'text/plain' });
    const form = await send(
      { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      { body: 'query=x' },
    );
    const unread = await send({ authorization, accept: 'text/html' });

    expect([get, ...others].map(({ status, headers }) => [status, headers.get('allow')])).toEqual(
      Array(5).fill([405, 'POST']),
    );
    expect([plain.status, form.status, unread.status]).toEqual([400, 400, 406]);
    expect(((await plain.json()) as Json).errors[0].extensions.code).toBe('BODY_INVALID');
    const anonymous = await fetch(`${world.origin}/operator/graphql`, { method: 'OPTIONS' });
    expect([anonymous.status, anonymous.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });

  it('requires HTTPS, and is refused before the key is checked otherwise', async () => {
    const { app, close } = await open({ TRUSTED_PROXY: '127.0.0.1', PUBLIC_URL: 'https://pay.example' });
    const ask = (headers: object) =>
      app.inject({ method: 'POST', url: '/operator/graphql', payload: { query }, headers: { ...headers } });

    const plain = await ask({ authorization: `Bearer ${OPERATOR_KEY}` });
    const secure = await ask({ authorization: `Bearer ${OPERATOR_KEY}`, 'x-forwarded-proto': 'https' });
    await close();

    expect([plain.statusCode, plain.json().errors[0].extensions.code]).toEqual([403, 'HTTPS_REQUIRED']);
    expect(secure.statusCode).toBe(200);
  });

  it('gives a browser a cookie for HTTPS alone, which ends when OPERATOR_KEY changes', async () => {
    const environment = { TRUSTED_PROXY: '127.0.0.1', PUBLIC_URL: 'https://pay.example' };
    const https = { 'x-forwarded-proto': 'https', host: 'ops.example' };
    const { app, close } = await open(environment);
    const ask = (method: 'GET' | 'POST', headers: object, from = app) =>
      from.inject({ method, url: '/operator/session', headers: { ...https, ...headers } });

    const made = await ask('POST', { authorization: `Bearer ${OPERATOR_KEY}` });

    const set = String(made.headers['set-cookie']);
    expect(set).toMatch(
      /^__Secure-tidegate_operator=ops_\w{38}; Path=\/operator; HttpOnly; SameSite=Strict; .*; Secure$/,
    );
    const signed = { cookie: set.split(';')[0], 'x-tidegate-operator': '1' };
    for (const origin of ['https://pay.example', 'https://ops.example'])
      expect((await ask('GET', { ...signed, origin })).json()).toMatchObject({ name: 'OPERATOR_KEY', role: 'operate' });
    const others = ['http://ops.example', 'https://ops.example:444', 'https://example'];
    for (const origin of others) expect((await ask('GET', { ...signed, origin })).statusCode).toBe(401);
    const changed = await open({ ...environment, OPERATOR_KEY: `${OPERATOR_KEY}-changed` });
    const ended = await ask('GET', signed, changed.app);
    await Promise.all([close(), changed.close()]);
    expect([ended.statusCode, ended.json().errors[0].code]).toEqual([401, 'api_key_invalid']);
  });

  it('is refused for a body in which an object repeats a key', async () => {
    const root = await given.directUserBoth(1);
    const input = `{"id":"${root.test.id}","id":"${root.live.id}","mode":"TEST"}`;
    const reply = await new Speaker(world, '', OPERATOR_KEY, 1, { accept: modern }).post(
      '/operator/graphql',
      `{"query":${JSON.stringify(hold)},"variables":{"input":${input}}}`,
    );
    expect([reply.status, reply.body.data, reply.fieldNames]).toEqual([400, undefined, ['request.variables.input.id']]);
  });

  it('is logged with listed fields only: the operation, and neither the key nor the input', async () => {
    const lines: string[] = [];
    const { app, close } = await open({}, lines);
    const ask = (key: string, payload: object) =>
      app.inject({ method: 'POST', url: '/operator/graphql', payload, headers: { authorization: `Bearer ${key}` } });

    const root = await given.directUserBoth(1);
    const done = await ask(OPERATOR_KEY, { query: hold, variables: { input: { id: root.test.id, mode: 'TEST' } } });
    await ask('a-wrong-key', { query });
    await close();

    const [first, ...rest] = lines.map((line) => JSON.parse(line));
    expect(done.json().errors).toBeUndefined();
    expect(first).toMatchObject({
      ...{ msg: 'request', method: 'POST', route: '/operator/graphql', operation: 'holdAccount', status: 200 },
      ...{ account: 'operator', requestId: done.headers['request-id'] },
    });
    expect(rest.map(({ level, msg, status }) => [level, msg, status])).toEqual([
      [40, "wrong operator's key", undefined],
      [30, 'request', 401],
    ]);
    expect(lines.join()).not.toMatch(new RegExp(`${OPERATOR_KEY}|a-wrong-key|${root.test.id}`));
  });

  it('shows no detail of an internal error', async () => {
    const { app, close } = await open({}, [], (database) => {
      database.auditQuery = () => Promise.reject(new Error('canary in the cellar'));
    });
    const reply = await app.inject({
      ...{ method: 'POST', url: '/operator/graphql', payload: { query } },
      headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    });
    await close();

    expect(reply.json().errors[0].extensions).toMatchObject({ code: 'SERVICE_FAULT', httpStatus: 500 });
    expect(reply.body).not.toMatch(/canary|stack|\.ts|\.js/);
  });
});

/** Another gateway on the same database with other settings; `lines` collects its log. */
async function open(
  environment: Record<string, string>,
  lines: string[] = [],
  spoil: (database: Database) => void = () => {},
) {
  const database = new Database({
    ...inject('admin'),
    username: 'tidegate',
    database: String(world.sql.options.database),
  });
  spoil(database);
  const app = await gateway({
    config: config({ serves: true }, { OPERATOR_KEY, ...environment }),
    database,
    schema: buildGraph(),
    pepper: world.pepper,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
  });
  return {
    app,
    close: async () => {
      await app.close();
      await database.close();
    },
  };
}

describe('with OPERATOR_API=false', () => {
  const closed = useWorld({ worker: false, environment: { OPERATOR_KEY, OPERATOR_API: 'false' } });

  it('the path does not exist, and its response is that of any unknown path', async () => {
    const { test } = await givenIn(closed).platformBoth(1);
    const send = (path: string, method: string, headers: Record<string, string>) =>
      fetch(`${closed.origin}${path}`, { method, headers });
    const credentials: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${test.key}` },
      { authorization: `Bearer ${OPERATOR_KEY}` },
    ];
    for (const headers of credentials)
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
        const [transport, nowhere] = await Promise.all([
          send('/operator/graphql', method, headers),
          send('/operator/nowhere', method, headers),
        ]);
        expect([transport.status, await transport.text()]).toEqual([404, await nowhere.text()]);
        expect(transport.headers.get('allow')).toBeNull();
      }
  });
});

describe("the operator's schema", () => {
  const committed = fs.readFileSync(new URL('../../schema/operator.graphql', import.meta.url), 'utf8');

  it('is committed as it is emitted', () => {
    expect(operatorText()).toBe(committed);
  });

  it('can be introspected with the key, also where the public one cannot, and equals the committed one', async () => {
    const options = { specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true };
    const introspected = await data(ask(getIntrospectionQuery(options)));

    expect(`${printSchema(buildClientSchema(introspected))}\n`).toBe(committed);
    const { test } = await given.platformBoth(1);
    expect((await test.graph('{ __schema { queryType { name } } }')).status).toBe(400);
  });

  it('describes all of its own types, fields and arguments', () => {
    const types = Object.values(buildOperatorGraph().getTypeMap()).filter((type) => !isIntrospectionType(type));
    const objects = 'BusinessDetails|BusinessIds|PostalAddress|Volume|BankAccount|Vpa|VpaUpi|Wallet';
    const inputs = 'BankAccountInput|ReconcileDepositInput|ReconciledReceivableInput';
    const shared = new RegExp(String.raw`^(${objects}|PersonRoles|PersonIdentification|${inputs}|\w+Payload)$`);
    const bare = types.flatMap((type) => {
      const fields =
        (isObjectType(type) || isInputObjectType(type)) && !shared.test(type.name)
          ? Object.values(type.getFields())
          : [];
      const args = fields.flatMap((field) => ('args' in field ? field.args : []));
      const entries = [...fields, ...args.filter(({ name }) => name !== 'input' && name !== 'id')];
      const named = /^(Query|Mutation|String|Int|ID|Boolean)$/.test(type.name) ? [] : [type];
      return [...named, ...entries]
        .filter((entry) => !entry.description?.trim())
        .map(({ name }) => `${type.name} ${name}`);
    });
    expect(bare).toEqual([]);
  });

  it('has nothing of the public schema: no field that only a caller of a tenant can use', async () => {
    for (const field of ['viewer { edition }', 'events { nodes { id } }', 'node(id: "x") { id }'])
      expect((await ask(`{ ${field} }`)).body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    const { test } = await given.platformBoth(1);
    for (const document of ['{ ledgerAudit { accounts } }', 'mutation { setRate(input: {}) { rate { rate } } }'])
      expect((await test.graph(document)).body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('the limits of an operation', () => {
  const times = (n: number, text: (i: number) => string) => Array.from({ length: n }, (_, i) => text(i)).join(' ');
  const refused: [what: string, document: string, code: string][] = [
    ['too deep', `{ __schema { types { ${'ofType { '.repeat(14)} name ${'} '.repeat(14)} } } }`, 'QUERY_TOO_DEEP'],
    ['31 aliases', `{ ledgerAudit { ${times(31, (i) => `a${i}: accounts`)} } }`, 'QUERY_TOO_MANY_ALIASES'],
    ['11 root fields', `{ ${times(11, () => 'ledgerAudit { accounts }')} }`, 'QUERY_TOO_MANY_ROOT_FIELDS'],
    ['too many tokens', `{ ledgerAudit { ${times(1_000, () => 'accounts')} } }`, 'GRAPHQL_PARSE_FAILED'],
    ['a subscription', 'subscription { ledgerAudit { accounts } }', 'OPERATION_NOT_SUPPORTED'],
  ];
  it.each(refused)('apply to the operator too: %s', async (_, document, code) => {
    const { status, body } = await ask(document);
    expect([status, body.errors[0].extensions.code]).toEqual([400, code]);
    expect(body).not.toHaveProperty('data');
  });

  it('include the size of the body', async () => {
    const { status, body } = await ask(`{ ledgerAudit { accounts } } # ${'x'.repeat(4 * 2 ** 20)}`);
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'BODY_TOO_LARGE']);
  });
});

describe('accounts', () => {
  it('are verified, held and deactivated as by the command line, in one mode', async () => {
    const { live, test } = await given.directUserBoth(1);
    const moved = async (document: string, name: string, more: object = {}) =>
      (await data(ask(document, { input: { id: live.id, ...more } })))[name].account;

    expect(await moved(verify, 'verifyAccount', { outcome: 'ACTIVATED' })).toEqual({
      ...{ id: live.id, livemode: true, status: 'ACTIVATED' },
    });
    expect((await moved(hold, 'holdAccount')).status).toBe('HOLD');
    expect((await moved(verify, 'verifyAccount', { outcome: 'ACTIVATED' })).status).toBe('ACTIVATED');
    expect((await moved(deactivate, 'deactivateAccount', { mode: 'LIVE' })).status).toBe('DEACTIVATED');
    const { body } = await ask(hold, { input: { id: live.id } });
    expect(body.errors[0].extensions.error).toMatchObject({
      ...{ code: 'status_invalid', metadata: { field_name: 'account.status' } },
    });
    expect((await test.get(`/v1/accounts/${live.id}`)).body.status).toBe('activated');
    expect(accountV1(await world.operator.account(live.id))).toEqual((await live.get(`/v1/accounts/${live.id}`)).body);
  });

  it("are shown with the data for a verification, and a person's number is masked", async () => {
    const { live } = await given.platformBoth(1);
    const user = await live.connectedUser();
    const file = await user.upload('identity_document', pdf);
    const person = await must(
      user.post('/v1/persons', {
        full_name: 'Meera Rao',
        relationship: { owner: true },
        identification: { tax_card_number: 'ABCPE1234F', tax_card_image: file.body.id },
      }),
    );

    const { account } = await data(
      ask(`{ account(id: "${user.id}") { id created livemode tenantId ownerId edition type subType status nickname
        address businessDetails { legalName } setting { accountId serviceHold } addresses { id }
        persons { id fullName relationship { owner director } identification { taxCardNumber taxCardImage } }
        files { id filename size contentType purpose sha256 } } }`),
    );

    agrees(account, (await user.get(`/v1/accounts/${user.id}`)).body);
    expect(account).toMatchObject({
      ...{ tenantId: tenantOf(live), ownerId: live.id, edition: 1, livemode: true, addresses: [] },
      setting: { accountId: user.id, serviceHold: false },
      persons: [
        {
          ...{ id: person.id, fullName: 'Meera Rao', relationship: { owner: true, director: false } },
          identification: { taxCardNumber: '••••••234F', taxCardImage: file.body.id },
        },
      ],
      files: [{ id: file.body.id, filename: 'document.pdf', purpose: 'IDENTITY_DOCUMENT' }],
    });
    const shown = await verificationOf(world.operator, await world.operator.account(user.id));
    expect([shown.persons.map((p) => p.id), shown.files.map((f) => f.id)]).toEqual([[person.id], [file.body.id]]);
  });

  it('of a tenant are listed oldest or newest first, page by page, each exactly once, with their root', async () => {
    const { live, test } = await given.platformBoth(1);
    const users: string[] = [];
    for (let i = 0; i < 4; i++) users.push((await live.connectedUser()).id);
    await test.connectedUser();
    const query = `query ($tenant: ID, $mode: Mode, $newestFirst: Boolean, $after: String) {
      accounts(tenantId: $tenant, mode: $mode, newestFirst: $newestFirst, first: 2, after: $after) {
        nodes { id livemode root { id livemode } } next } }`;
    const walk = async (mode: string | null, newestFirst = false) => {
      const all: Json[] = [];
      for (let after: string | null = null; ; ) {
        const { accounts }: Json = await data(ask(query, { tenant: tenantOf(live), mode, newestFirst, after }));
        expect(accounts.nodes.length).toBeLessThanOrEqual(2);
        for (const { livemode, root } of accounts.nodes) expect(root).toEqual({ id: live.id, livemode });
        all.push(...accounts.nodes);
        if (accounts.next === null) return all;
        after = accounts.next;
      }
    };

    expect((await walk('LIVE')).map(({ id }) => id)).toEqual([live.id, ...users]);
    expect((await walk('LIVE', true)).map(({ id }) => id)).toEqual([live.id, ...users].reverse());
    const both = await walk(null);
    expect(both).toHaveLength(7);
    // A root has the same id in both modes; a page that ends between the two must not lose one.
    expect(both.filter(({ id }) => id === live.id).map(({ livemode }) => livemode)).toEqual([false, true]);
    const { nodes } = await listAccounts(world.operator, { tenantId: tenantOf(live) });
    // The id of the root, as the operator copies it, names its tenant.
    expect((await listAccounts(world.operator, { tenantId: live.id })).nodes).toEqual(nodes);
    expect(nodes.map((row: AccountRow) => row.id)).toEqual(both.map(({ id }) => id));
    const drafts = await data(
      ask(`{ accounts(tenantId: "${tenantOf(live)}", status: DRAFT, mode: LIVE) { nodes { id } } }`),
    );
    expect(drafts.accounts.nodes.map(({ id }: Json) => id)).toEqual([live.id, ...users]);
  });

  it('of all tenants are searched by their names, e-mail addresses and metadata, page by page', async () => {
    const name = `Quayside ${nickname()}`;
    const [one, other] = [await given.platformBoth(1), await given.directUser(2)];
    const users: string[] = [];
    for (const nick of [`${name} Tea`, `${name} Rice`, `Spice of ${name}`])
      users.push((await one.live.connectedUser({ nickname: nick })).id);
    const email = `quay.${Date.now()}@harbour.example`;
    const { id: byMail } = await other.partner({ business_details: { ...details(name), email } });
    const { id: byMetadata } = await other.partner({ metadata: { owner: name } });
    const query = `query ($search: String, $mode: Mode, $first: Int, $after: String) {
      accounts(search: $search, mode: $mode, first: $first, after: $after) { nodes { id livemode } next } }`;
    const walk = async (search: string, mode: string | null = null, first = 2) => {
      const ids: string[] = [];
      for (let after: string | null = null; ; ) {
        const { accounts }: Json = await data(ask(query, { search, mode, first, after }));
        ids.push(...accounts.nodes.map(({ id }: Json) => id));
        if (accounts.next === null) return ids;
        after = accounts.next;
      }
    };
    const [tea, rice, spice] = users;
    // The text that is found decides the order.
    const found = (await walk(name)).filter((id) => id !== spice);
    expect([found.slice(0, 2).sort(), ...found.slice(2)]).toEqual([[byMail, byMetadata].sort(), rice, tea]);
    expect(new Set(await walk(name.toUpperCase(), null, 1))).toEqual(new Set([...found, spice]));
    expect(await walk(`${name} ric`)).toEqual([rice]);
    expect(await walk(email)).toEqual([byMail]);
    expect(new Set(await walk(name, 'LIVE'))).toEqual(new Set(users));
    expect(await walk(`${name} none`)).toEqual([]);
    // A root is found in both modes.
    const { operator } = world;
    await updateRoot(operator, await operator.account(one.live.id), { nickname: `Root of ${name}` });
    expect(await walk(`root of ${name}`, null, 1)).toEqual([one.live.id, one.live.id]);
  });

  it.each([
    ['status: DRAFT', 'status'],
    ['tenantId: "a"', 'tenant_id'],
    ['newestFirst: true', 'newest_first'],
    ['after: "x"', 'starting_after'],
    [`after: "${Buffer.from('[1,"a",true]').toString('base64url')}"`, 'starting_after'],
  ])('are not searched with %s', async (argument, field) => {
    const reply = await ask(`{ accounts(search: "quay", ${argument}) { next } }`);
    expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid'], [`account.${field}`]]);
  });

  it.each(['', ' -', 'x'.repeat(101)])('are not searched for %j', async (search) => {
    const reply = await ask('query ($search: String) { accounts(search: $search) { next } }', { search });
    expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid'], ['account.search']]);
  });

  it('cost a bounded number of statements, for any number of accounts', async () => {
    const { live } = await given.platformBoth(1);
    const costs: number[] = [];
    for (const more of [1, 5]) {
      for (let i = 0; i < more; i++) await live.connectedUser();
      const { read } = world.database;
      let statements = 0;
      world.database.read = ((...args: Parameters<typeof read>) => {
        statements++;
        return read.apply(world.database, args);
      }) as typeof read;
      const edges = 'root { id } persons { id } files { id } addresses { id } setting { id }';
      await data(ask(`{ accounts(tenantId: "${tenantOf(live)}", mode: LIVE) { nodes { id ${edges} } } }`));
      world.database.read = read;
      costs.push(statements);
    }
    expect(costs[1]).toBe(costs[0]);
  });

  it('of all tenants are the same page by page, in every mode and status', async () => {
    for (let i = 0; i < 2; i++) {
      const { live, test } = await given.platformBoth(1);
      await live.connectedUser();
      await test.partner();
      await data(ask(hold, { input: { id: test.id, mode: 'TEST' } }));
    }
    const rows = await world.sql<{ id: string; livemode: boolean; status: string; created: string }[]>`
      select id, livemode, status, created from account`;
    const oldest = [...rows].sort(
      (a, b) =>
        Number(a.created) - Number(b.created) ||
        (a.id === b.id ? Number(a.livemode) - Number(b.livemode) : a.id < b.id ? -1 : 1),
    );
    for (const [livemode, newestFirst] of [[undefined], [false], [true], [undefined, true], [true, true]])
      for (const status of [undefined, 'draft', 'hold', 'verifying'] as const) {
        const walked: string[] = [];
        for (let after: string | undefined, more = true; more; ) {
          const { nodes, next } = await listAccounts(world.operator, {
            livemode,
            status,
            newestFirst,
            after,
            limit: 7,
          });
          walked.push(...nodes.map((row) => `${row.id} ${row.livemode}`));
          after = next ?? undefined;
          more = next !== null;
        }
        const expected = oldest
          .filter((row) => row.livemode === (livemode ?? row.livemode) && row.status === (status ?? row.status))
          .map((row) => `${row.id} ${row.livemode}`);
        expect(walked).toEqual(newestFirst ? expected.reverse() : expected);
      }
  });

  it('cost as many statements for many tenants as for one, and each shows its own data', async () => {
    const roots: Json[] = [];
    for (let i = 0; i < 3; i++) {
      const { live } = await given.directUserBoth(1);
      const made = await live.post('/v1/persons', {
        account_id: live.id,
        full_name: `Person of ${live.id}`,
        relationship: { director: true },
        identification: { tax_card_number: 'ABCDE1234F' },
      });
      expect(made.status).toBe(200);
      roots.push({ id: live.id, persons: [{ id: made.body.id, fullName: made.body.full_name }], files: [] });
    }
    const { read } = world.database;
    const edges = 'persons { id fullName } files { id } addresses { id linkedId } setting { accountId }';
    const costs: number[] = [];
    let nodes: Json[] = [];
    for (const first of [1, 200]) {
      let statements = 0;
      world.database.read = ((...args: Parameters<typeof read>) => {
        statements++;
        return read.apply(world.database, args);
      }) as typeof read;
      const query = `{ accounts(mode: LIVE, first: ${first}) { nodes { id tenantId ${edges} } } }`;
      ({ nodes } = (await data(ask(query))).accounts);
      world.database.read = read;
      costs.push(statements);
    }
    // Files are read only if an account or a person refers to one; the other objects are always read.
    expect(costs.map((cost) => cost <= 5)).toEqual([true, true]);
    expect(new Set(nodes.map(({ tenantId }) => tenantId)).size).toBeGreaterThan(2);
    for (const { id, setting, addresses } of nodes) {
      expect(setting).toEqual({ accountId: id });
      expect(addresses.filter(({ linkedId }: Json) => linkedId !== id)).toEqual([]);
    }
    for (const root of roots)
      expect(nodes.filter(({ id }) => id === root.id)).toEqual([
        { ...root, tenantId: tenantOf(root), addresses: [], setting: { accountId: root.id } },
      ]);
  });

  it.each([
    ['first: 0', ['first']],
    ['first: 201', ['first']],
    ['first: "ten"', ['first']],
    ['after: "account_1"', ['after']],
    ['after: "1.x.both"', ['after']],
    ['status: GONE', ['status']],
    ['mode: BOTH', ['mode']],
  ])('are not listed with %s, and the error names the parameter', async (argument, path) => {
    for (const list of ['accounts', 'payouts']) {
      const { body } = await ask(`{ ${list}(${argument}) { next } }`);
      expect(body.errors[0].extensions).toMatchObject({ code: 'PARAMETER_INVALID', argumentPath: path });
    }
  });

  it('get the addresses that their banks have issued', async () => {
    const { live, test } = await given.directUserBoth(1);
    const account = { accountId: live.id, currency: 'USD' };
    const attempt = async (more: object) => (await ask(issue, { input: { ...account, ...more } })).body;
    const first = (body: Json) => [body.errors[0].extensions.code, body.errors[0].extensions.error.metadata.field_name];

    expect(first(await attempt({ bankAccount: { number: '12341' } }))).toEqual(['STATUS_INVALID', 'account.status']);
    await data(ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } }));
    expect(first(await attempt({ bankAccount: { bankName: 'x' } }))).toEqual([
      'PARAMETER_MISSING',
      'address.bank_account.number',
    ]);
    const { issueAddress } = (await attempt({ bankAccount: { number: '000123456789' } })).data;

    expect(issueAddress.address).toMatchObject({
      ...{ linkedId: live.id, category: 'SERVICE_RECEIVE', currency: 'USD', status: 'ACTIVATED', livemode: true },
      bankAccount: { number: '000123456789', last4: '6789' },
    });
    expect(first(await attempt({ bankAccount: { number: '12342' } }))).toEqual(['STATE_CONFLICT', 'address.currency']);
    const partner = await test.partner();
    const { body } = await ask(issue, {
      input: { ...account, accountId: partner.id, bankAccount: { number: '12341' } },
    });
    expect(first(body)).toEqual(['RESOURCE_MISSING', 'address.account_id']);
    const shown = (await live.get(`/v1/addresses/${issueAddress.address.id}`)).body;
    const [row] = await world.operator
      .scope(await world.operator.account(live.id))
      .all(address, address.linkedId, live.id);
    expect(addressV1(row!)).toEqual(shown);
  });
});

describe('an Idempotency-Key', () => {
  it('applies to one mutation: with two, neither runs', async () => {
    const { live } = await given.platformBoth(1);
    const one = `(input: { accountId: "${live.id}" }) { accountSetting { serviceHold } }`;
    const document = `mutation { a: placeServiceHold${one} ...B } fragment B on Mutation { b: placeServiceHold${one} }`;

    const { body } = await ask(document, {}, { 'idempotency-key': nickname() });

    expect(body.errors[0].extensions.code).toBe('IDEMPOTENCY_KEY_AMBIGUOUS');
    const { account } = await data(ask(`{ account(id: "${live.id}") { setting { serviceHold } } }`));
    expect(account.setting.serviceHold).toBe(false);
    expect((await ask(document)).body.data).toEqual({
      a: { accountSetting: { serviceHold: true } },
      b: { accountSetting: { serviceHold: true } },
    });
  });

  it('is separate from the same key of a tenant', async () => {
    const { live } = await given.directUserBoth(1);
    const key = { 'idempotency-key': 'monday' };
    const body = { type: 'partner', nickname: nickname(), business_details: details() };
    await must(live.post('/v1/accounts', body, key));
    const placed = await ask(place, { input: { accountId: live.id } }, key);
    expect([placed.body.errors, placed.headers.get('idempotent-replayed')]).toEqual([undefined, null]);
  });
});
