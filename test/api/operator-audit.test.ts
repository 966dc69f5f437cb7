import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Secrets } from '../../src/config/secrets.js';
import { Worker } from '../../src/jobs/runner.js';
import { RefusedChanges, refusedChangesMax } from '../../src/operator/action/refused-changes.js';
import { newOperatorToken } from '../../src/auth/tokens.js';
import { Credentials } from '../../src/operator/access/credential.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';
import { until } from '../support/child.js';
import { eventually, givenIn, must, nickname, Speaker, useWorld } from '../support/world.js';

type Json = any;

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';
const world = useWorld({ worker: false, readers: 2, environment: { OPERATOR_KEY } });
const given = givenIn(world);

/** A named operator and its key. */
async function operator(role: 'read' | 'operate' = 'operate', name = nickname()) {
  const { operator: row, key } = await world.operator.createOperator(name, role, 'a test');
  return { id: row.id, name, key, ask: asking(key) };
}

/** The ids of all requests. */
const requestIds = new Set<string | null>();
async function answered<T extends { headers: Headers }>(reply: Promise<T>): Promise<T> {
  const { headers } = await reply;
  requestIds.add(headers.get('request-id'));
  return reply;
}

const asking =
  (key: string, origin = world.origin) =>
  (query: string, variables: object = {}, headers: Record<string, string> = {}) =>
    answered(new Speaker({ ...world, origin }, '', key, 1).post('/operator/graphql', { query, variables }, headers));

const mutation = (name: string, type: string, selection: string) =>
  `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`;
const verify = mutation('verifyAccount', 'VerifyAccountInput', 'account { id status }');

async function data(reply: ReturnType<ReturnType<typeof asking>>): Promise<Json> {
  const { status, body } = await reply;
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data;
}

const fields =
  'number operator operatorId operation objectId resultId tenantId mode requestId outcome code details ended';
/** The actions that the audit log shows to a filter, the newest first. */
const actions = async (filter = ''): Promise<Json[]> =>
  (await data(asking(OPERATOR_KEY)(`{ operatorActions${filter} { nodes { ${fields} } } }`))).operatorActions.nodes;

const sealed = async () =>
  (await data(asking(OPERATOR_KEY)('{ operatorActionsSeal { entries lastHash firstBroken } }'))).operatorActionsSeal;

/** A value of an input type with all that is required, which names nothing that exists. */
function sample(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sample(type.ofType);
  if (isListType(type)) return [sample(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]!.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return Object.fromEntries(required.map((field) => [field.name, sample(field.type)]));
  }
  return { Currency: 'USD', Amount: '1.00' }[getNamedType(type).name] ?? 'none_0';
}

/** Every mutation of the operators' graph, with an input. */
function everyMutation(schema: GraphQLSchema) {
  return Object.values(schema.getMutationType()!.getFields()).map(({ name, args }) => {
    const { type } = args[0]!;
    return { name, query: `mutation ($input: ${type}) { ${name}(input: $input) { __typename } }`, input: sample(type) };
  });
}

describe('a named operator', () => {
  it('has a key that works on every gateway at once, and none after the revocation', async () => {
    const other = await world.another();
    const anna = await operator();
    const viewer = '{ viewer { id name role sessionExpires } }';
    const at = [anna.ask, asking(anna.key, other)];
    for (const ask of at)
      expect((await data(ask(viewer))).viewer).toEqual({
        ...{ id: anna.id, name: anna.name, role: 'OPERATE', sessionExpires: null },
      });

    await world.operator.revokeOperator(anna.name);

    for (const ask of at) expect((await ask(viewer)).codes).toEqual(['api_key_invalid']);
    const listed = (await data(asking(OPERATOR_KEY)('{ operators { id name keyPrefix revokedAt lastUsedAt } }')))
      .operators;
    const row = listed.find(({ id }: Json) => id === anna.id);
    expect(row).toMatchObject({ keyPrefix: `opk_…${anna.key.slice(-4)}` });
    expect([row.revokedAt, row.lastUsedAt]).toEqual([expect.any(String), expect.any(String)]);
  });

  it('has a name of its own, which is free again after the revocation', async () => {
    const { name } = await operator();
    await expect(operator('read', name.toUpperCase())).rejects.toMatchObject({
      problems: [{ code: 'state_conflict' }],
    });
    await world.operator.revokeOperator(name.toUpperCase());
    await operator('read', name);
    for (const wrong of ['', ' anna', 'operator_key', 'anna (root)', 'a'.repeat(65), 'anna\n'])
      await expect(operator('read', wrong)).rejects.toMatchObject({ problems: [{ field: 'operator.name' }] });
  });

  it('is found at once while another address sends unknown keys', async () => {
    const { name, key } = await operator();
    const credentials = new Credentials(world.database, Secrets.of(world.pepper), undefined);
    const order: string[] = [];
    const check = (token: string, address: string) =>
      credentials.check({ authorization: `Bearer ${token}`, session: undefined, address }, () => order.push(address));
    const asked: Promise<unknown>[] = [];
    // No look-up ends before all have been asked for.
    await world.sql.begin(async (tx) => {
      await tx`lock table operator in access exclusive mode`;
      for (let i = 0; i < 20; i++)
        asked.push(check(newOperatorToken('opk', world.pepper).secret, '192.0.2.1').catch(() => undefined));
      asked.push(check(key, '192.0.2.2').then((found) => order.push(found.name)));
      // An address has one look-up at a time: the other one that waits for the table is that of the operator.
      const waiting = () => tx`
        select from pg_locks where relation = 'operator'::regclass and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      await until(async () => (await waiting()).length >= 2);
      expect(await waiting()).toHaveLength(2);
    });
    await Promise.all(asked);
    expect(order).toHaveLength(21);
    expect(order).toContain(name);
  });

  it('keeps its key and its session while the pepper changes', async () => {
    const { id, name, key } = await operator();
    const token = (await signIn(key)).cookie.slice('tidegate_operator='.length).split(';')[0]!;
    const newer = Secrets.of(`a newer pepper that is long enough for a test,${world.pepper}`);
    const credentials = new Credentials(world.database, newer, undefined);
    const byKey = { authorization: `Bearer ${key}`, session: undefined };
    for (const credential of [byKey, { authorization: undefined, session: token }])
      expect((await credentials.check({ ...credential, address: '::1' })).name).toBe(name);
    const pepperOf = async () => (await world.sql`select pepper_id from operator where id = ${id}`)[0]!.pepper_id;
    await eventually(pepperOf, (pepper) => pepper === newer.pepperIds[0]);
    expect((await credentials.check({ ...byKey, address: '::1' })).name).toBe(name);
    const alone = new Credentials(
      world.database,
      Secrets.of('a newer pepper that is long enough for a test'),
      undefined,
    );
    expect((await alone.check({ ...byKey, address: '::1' })).id).toBe(id);
    const secrets = await world.operator.secretsInUse();
    expect(secrets.find(({ setting }) => setting === null)).toMatchObject({ name: newer.pepperIds[0], operators: 1 });
    await world.operator.revokeOperator(id);
  });

  it('has a key of which the database knows the keyed hash alone', async () => {
    const { id, key } = await operator();
    const [row] = await world.sql`select * from operator where id = ${id}`;
    expect(key).toMatch(/^opk_[0-9A-Za-z]{38}$/);
    expect(JSON.stringify(row)).not.toContain(key.slice(4, 20));
  });

  it('is refused with another key of the same form, after a delay', async () => {
    const { key, ask } = await operator();
    const began = performance.now();
    const wrong = await asking(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)('{ viewer { name } }');
    expect(performance.now() - began).toBeGreaterThan(900);
    expect([wrong.status, wrong.codes]).toEqual([401, ['api_key_invalid']]);
    expect((await ask('{ viewer { name } }')).status).toBe(200);
  });
});

/** Signs in at a gateway, and sends requests with the cookie as its console does. */
async function signIn(key: string, origin = world.origin) {
  const made = await fetch(`${origin}/operator/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  const cookie = made.headers.get('set-cookie') ?? '';
  const own = { cookie: cookie.split(';')[0]!, 'x-tidegate-operator': '1' };
  const send = (path: string, init: RequestInit = {}, at = origin) => fetch(`${at}${path}`, init);
  return {
    ...{ made, cookie },
    session: (method: string) => send('/operator/session', { method, headers: own }),
    /** An empty header is left out. */
    graph: (query: string, more: Record<string, string> = {}, at = origin) => {
      const all = Object.entries({ ...own, 'content-type': 'application/json', ...more });
      const headers = Object.fromEntries(all.filter(([, value]) => value !== ''));
      return send('/operator/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) }, at);
    },
    file: (path: string, headers: Record<string, string> = own) => send(path, { headers }),
    alone: { cookie: own.cookie },
  };
}

const codeOf = async (response: Response): Promise<string | undefined> => {
  const body: Json = await response.json();
  return body.errors?.[0].extensions?.error.code ?? body.errors?.[0].code;
};

describe('a session in a browser', () => {
  const viewer = '{ viewer { name role sessionExpires } }';

  it('is made from a key and kept in a cookie that no script can read, on each gateway, until it ends', async () => {
    const other = await world.another();
    const { key, name, id } = await operator('read');
    const { made, cookie, session, graph } = await signIn(key);
    const body: Json = await made.json();
    expect([made.status, body]).toEqual([
      200,
      { object: 'operator_session', operator_id: id, name, role: 'read', expires_at: expect.any(Number) },
    ]);
    expect(cookie).toMatch(
      /^tidegate_operator=ops_[0-9A-Za-z]{38}; Path=\/operator; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    );
    expect(body.expires_at - Date.now() / 1_000).toBeGreaterThan(28_000);
    expect(await (await session('GET')).json()).toEqual(body);
    for (const at of [world.origin, other]) {
      const answer: Json = await (await graph(viewer, {}, at)).json();
      const sessionExpires = new Date(body.expires_at * 1_000).toISOString().replace('.000', '');
      expect(answer.data.viewer).toEqual({ name, role: 'READ', sessionExpires });
    }
    const [row] = await world.sql`select * from operator_session where operator_id = ${id}`;
    expect(JSON.stringify(row)).not.toContain(cookie.slice(24, 44));
    expect(await codeOf(await session('POST'))).toBe('permission_denied');

    const ended = await session('DELETE');

    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')]);
    for (const at of [world.origin, other]) expect(await codeOf(await graph(viewer, {}, at))).toBe('api_key_invalid');
    const found = await actions(`(operator: "${name}")`);
    expect(found.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
      'signOut SUCCEEDED',
      'signIn SUCCEEDED',
    ]);
  });

  it('counts only with the header of the console, and for no page of another origin', async () => {
    const { graph } = await signIn(OPERATOR_KEY);
    expect((await graph(viewer, { origin: world.origin, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    const refused: Record<string, string>[] = [
      { 'x-tidegate-operator': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      { cookie: 'tidegate_operator=a; tidegate_operator=b' },
    ];
    for (const headers of refused)
      expect([headers, await codeOf(await graph(viewer, headers))]).toEqual([headers, 'authentication_required']);
    // A page without a session learns so, and its browser has no refusal to report.
    expect((await fetch(`${world.origin}/operator/session`)).status).toBe(204);
    const preflight = await fetch(`${world.origin}/operator/session`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('ends with its time, with its operator, and with the OPERATOR_KEY that made it', async () => {
    const { key, id, name } = await operator();
    const [first, second, shared] = [await signIn(key), await signIn(key), await signIn(OPERATOR_KEY)];
    await world.sql`update operator_session set expires_at = expires_at - 28801 where operator_id = ${id}`;
    expect(await codeOf(await first.session('GET'))).toBe('api_key_invalid');
    await world.sql`update operator_session set expires_at = expires_at + 28801 where operator_id = ${id}`;
    expect((await second.session('GET')).status).toBe(200);
    await world.operator.revokeOperator(name);
    expect(await codeOf(await second.session('GET'))).toBe('api_key_invalid');
    // The same as a gateway that has another OPERATOR_KEY.
    expect((await shared.session('GET')).status).toBe(200);
    await world.sql`update operator_session set key_digest = 'of another key' where operator_id is null`;
    expect(await codeOf(await shared.session('GET'))).toBe('api_key_invalid');
  });

  it('opens nothing but the paths of the operators', async () => {
    const { cookie } = await signIn(OPERATOR_KEY);
    const headers = { cookie: cookie.split(';')[0]!, 'x-tidegate-operator': '1', 'x-tidegate-dashboard': '1' };
    expect((await fetch(`${world.origin}/v1/accounts`, { headers })).status).toBe(401);
  });
});

describe('an operator with the role READ', () => {
  it('reads everything and may call no mutation; each refusal is in the log', async () => {
    const { ask, name } = await operator('read');
    expect((await ask('{ accounts { nodes { id } } stuckWork { nodes { jobId } } }')).status).toBe(200);
    const mutations = everyMutation(buildOperatorGraph());
    expect(mutations.length).toBeGreaterThanOrEqual(12);
    for (const { name: field, query, input } of mutations) {
      const reply = await ask(query, { input });
      expect([field, reply.status, reply.codes]).toEqual([field, 200, ['permission_denied']]);
      expect(reply.body.errors[0].extensions.httpStatus).toBe(403);
    }
    const found = await actions(`(operator: "${name}")`);
    expect(found.map(({ operation, outcome, code }) => [operation, outcome, code])).toEqual(
      mutations.map((each) => [each.name, 'REFUSED', 'permission_denied']).reverse(),
    );
  });

  it('fills no log: after a number of refusals it has their count', async () => {
    const { id, name } = await operator('read');
    const refused = new RefusedChanges(3);
    const add = () => refused.add(world.operator, { id, name }, { operation: 'verifyAccount' });
    for (let i = 0; i < refusedChangesMax + 4; i++) await add();
    const logged = () =>
      world.sql`select operation, details from operator_action where operator = ${name} order by number`;
    expect(await logged()).toHaveLength(refusedChangesMax);
    const entries = await eventually(logged, (rows) => rows.length > refusedChangesMax);
    refused.close();
    expect(entries.at(-1)).toEqual({ operation: 'refusedChanges', details: { count: 4 } });
    expect((await sealed()).firstBroken).toBeNull();
  });
});

describe('the audit log', () => {
  it('has each mutation with who, what, object, tenant, request and outcome', async () => {
    const anna = await operator();
    const { live } = await given.directUserBoth(1);
    const reply = await anna.ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    const again = await anna.ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    expect(again.codes).toEqual(['status_invalid']);

    const found = await actions(`(objectId: "${live.id}")`);
    const shared = {
      ...{ operator: anna.name, operatorId: anna.id, operation: 'verifyAccount', objectId: live.id, resultId: null },
      ...{ tenantId: live.id.replace('account_', ''), mode: 'LIVE', ended: expect.any(String) },
      details: { id: live.id, outcome: 'activated' },
    };
    expect(found).toEqual([
      {
        ...shared,
        ...{ number: found[0].number, outcome: 'REFUSED', code: 'status_invalid' },
        requestId: again.headers.get('request-id'),
      },
      {
        ...shared,
        ...{ number: found[1].number, outcome: 'SUCCEEDED', code: null },
        requestId: reply.headers.get('request-id'),
      },
    ]);
  });

  it('says of an action with a known idempotency key that it was answered before', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    const key = { 'idempotency-key': nickname() };
    for (let i = 0; i < 2; i++) await data(ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } }, key));
    const [second, first] = await actions(`(operator: "${name}")`);
    expect([first.details.replayed, second.details.replayed, second.outcome]).toEqual([undefined, true, 'SUCCEEDED']);
  });

  it('has every mutation of the schema, and what it was refused for', async () => {
    const { ask, name } = await operator();
    const mutations = everyMutation(buildOperatorGraph());
    for (const { query, input } of mutations) await ask(query, { input });
    const found = await actions(`(operator: "${name}")`);
    expect(found.map(({ operation }) => operation)).toEqual(mutations.map((each) => each.name).reverse());
    for (const { operation, outcome, code } of found)
      expect([operation, outcome, code]).toEqual([operation, 'REFUSED', expect.stringMatching(/./)]);
  });

  it('shows a bank account by its last characters, and a long list by its beginning', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    await ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    const made = await ask(mutation('issueAddress', 'IssueAddressInput', 'address { id }'), {
      input: {
        accountId: live.id,
        currency: 'USD',
        bankAccount: { number: '000123456789', domesticCredit: '026009593' },
      },
    });
    expect(made.codes).toEqual([]);
    const receivables = Array.from({ length: 30 }, (_, i) => ({ id: `receivable_${i}`, amount: '1.00' }));
    await ask(mutation('reconcileDeposit', 'ReconcileDepositInput', 'deposit { id }'), {
      input: { id: 'deposit_0', receivables },
    });
    const [reconciled, issued] = await actions(`(operator: "${name}")`);
    expect(issued.details.bankAccount).toEqual({ number: '…6789', domesticCredit: '026009593' });
    expect([issued.objectId, issued.resultId]).toEqual([live.id, expect.stringMatching(/^address_/)]);
    expect(await actions(`(objectId: "${issued.resultId}")`)).toEqual([issued]);
    expect([reconciled.details.receivables.length, reconciled.details.receivables[20]]).toEqual([21, '… 10 more']);
    expect(reconciled.details.receivables[0]).toEqual({ id: 'receivable_0', amount: '1.00' });
  });

  it('is listed page by page, by operator, operation and object, each action once', async () => {
    const { ask, name } = await operator();
    for (let i = 0; i < 5; i++)
      await ask(mutation('settlePayout', 'SettlePayoutInput', 'payout { id }'), { input: { id: `payout_${i}` } });
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Json = await data(
        ask(
          'query ($after: String, $name: String) { operatorActions(first: 2, after: $after, operator: $name, ' +
            'operation: "settlePayout") { nodes { objectId } next } }',
          {
            ...{ after, name },
          },
        ),
      );
      seen.push(...page.operatorActions.nodes.map(({ objectId }: Json) => objectId));
      after = page.operatorActions.next;
    } while (after !== null);
    expect(seen).toEqual([4, 3, 2, 1, 0].map((i) => `payout_${i}`));
    expect(await actions(`(operator: "${name}", operation: "failPayout")`)).toEqual([]);
    for (const [filter, field] of [
      ['(first: 0)', 'operator_action.limit'],
      ['(first: 201)', 'operator_action.limit'],
      ['(after: "x")', 'operator_action.starting_after'],
      ['(after: "99999999999999999")', 'operator_action.starting_after'],
    ])
      expect((await ask(`{ operatorActions${filter} { next } }`)).fieldNames).toEqual([field]);
  });

  it('runs nothing while it cannot be written', async () => {
    const { live } = await given.directUserBoth(1);
    await world.sql`alter table operator_action rename to operator_action_gone`;
    const reply = await asking(OPERATOR_KEY)(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    await world.sql`alter table operator_action_gone rename to operator_action`;
    expect([reply.codes, reply.body.errors[0].extensions.httpStatus]).toEqual([['service_unavailable'], 503]);
    expect((await live.get(`/v1/accounts/${live.id}`)).body.status).toBe('draft');
  });

  it('has an action before it takes effect, so that a killed process leaves it there', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    let reply!: ReturnType<typeof ask>;
    // The mutation waits for the row. What the log shows meanwhile is what it shows if the process is killed then.
    await world.sql.begin(async (tx) => {
      await tx`select from account where id = ${live.id} and livemode for update`;
      reply = ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
      const [waiting] = await eventually(
        () => actions(`(operator: "${name}")`),
        (list) => list.length === 1,
      );
      expect(waiting).toMatchObject({
        operation: 'verifyAccount',
        objectId: live.id,
        outcome: 'ATTEMPTED',
        ended: null,
      });
    });
    expect((await reply).body.data.verifyAccount.account.status).toBe('ACTIVATED');
    expect((await actions(`(operator: "${name}")`))[0].outcome).toBe('SUCCEEDED');
  });

  it('shows an action without an outcome when the process ended before it', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    // The second entry cannot be written, as if the process had been killed after the mutation.
    await world.sql.unsafe(
      `alter table operator_action add constraint no_outcome check (outcome = 'attempted') not valid`,
    );
    const reply = await ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    await world.sql`alter table operator_action drop constraint no_outcome`;
    expect(reply.body.data.verifyAccount.account.status).toBe('ACTIVATED');
    expect((await actions(`(operator: "${name}")`))[0]).toMatchObject({
      outcome: 'ATTEMPTED',
      ended: null,
      code: null,
    });
  });

  it('numbers the entries of two gateways that append at once without a gap, in one chain', async () => {
    const other = await world.another();
    const { key } = await operator();
    const settle = mutation('settlePayout', 'SettlePayoutInput', 'payout { id }');
    /** On a busy machine an entry may wait longer for the one before it than for a lock: 503, so it is sent again. */
    const settled = async (i: number) => {
      for (;;) {
        const reply = await asking(key, i % 2 === 0 ? world.origin : other)(settle, {
          input: { id: `payout_at_once_${i}` },
        });
        if (!reply.codes.includes('service_unavailable')) return reply;
      }
    };
    const replies = await Promise.all(Array.from({ length: 24 }, (_, i) => settled(i)));
    expect(new Set(replies.flatMap(({ codes }) => codes))).toEqual(new Set(['resource_missing']));
    const [row] = await world.sql`select count(*)::int n, max(number)::int last from operator_action`;
    expect(row!.n).toBe(row!.last);
    expect(await sealed()).toEqual({
      entries: row!.n,
      lastHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      firstBroken: null,
    });
  });

  it('shows the first entry that was changed or removed, even by a superuser', async () => {
    expect((await sealed()).firstBroken).toBeNull();
    const tampered = async (statement: string) => {
      let found: Json;
      await world.sql
        .begin(async (tx) => {
          await tx.unsafe('grant update, delete on operator_action to tidegate');
          await tx.unsafe(statement);
          [found] = await tx`select * from check_operator_actions(0, '', 100000)`;
          throw new Error('undone');
        })
        .catch((error: Error) => expect(error.message).toBe('undone'));
      return Number(found.first_broken);
    };
    expect(await tampered(`update operator_action set operator = 'other' where number = 5`)).toBe(5);
    expect(await tampered(`update operator_action set details = '{"id": "x"}' where number = 7`)).toBe(7);
    expect(await tampered(`delete from operator_action where number = 3`)).toBe(3);
    expect(await tampered(`update operator_action set hash = repeat('0', 64) where number = 4`)).toBe(4);
  });

  it('shows, by an earlier check, that its newest entries are gone', async () => {
    const { ask } = await operator();
    const { entries, lastHash } = await sealed();
    const since = (number: number, hash: string) =>
      ask(`{ operatorActionsSeal(entries: ${number}, lastHash: "${hash}") { entries firstBroken } }`);
    await ask(verify, { input: { id: 'account_0', outcome: 'ACTIVATED' } });
    expect((await data(since(entries, lastHash))).operatorActionsSeal).toEqual({
      entries: entries + 2,
      firstBroken: null,
    });
    expect((await data(since(entries, 'other'))).operatorActionsSeal.firstBroken).toBe(entries);
    expect((await data(since(entries + 9, lastHash))).operatorActionsSeal.firstBroken).toBe(entries + 9);
    for (const [given, field] of [
      ['entries: 1', 'operator_action.last_hash'],
      ['lastHash: "x"', 'operator_action.entries'],
      ['entries: 0, lastHash: "x"', 'operator_action.entries'],
    ])
      expect((await ask(`{ operatorActionsSeal(${given}) { entries } }`)).fieldNames).toEqual([field]);
  });

  it('cannot be changed by the role of the gateways', async () => {
    for (const statement of [
      `update operator_action set operator = 'x'`,
      'delete from operator_action',
      'truncate operator_action',
    ])
      await expect(world.sql.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
  });

  it('counts wrong keys in one entry, however many there are', async () => {
    const refused = () => actions('(operation: "signIn", operator: "(unknown)")');
    await asking('wrong')('{ viewer { name } }');
    const before = await refused();
    await Promise.all(Array.from({ length: 30 }, () => asking('wrong')('{ viewer { name } }')));
    await sleep(50);
    // The first wrong key of all gateways has made the entry; all others wait for the next one.
    expect(before).toMatchObject([{ outcome: 'REFUSED', code: 'api_key_invalid', details: { count: 1 } }]);
    expect(requestIds).toContain(before[0].requestId);
    expect(await refused()).toEqual(before);
  });
});

const pdf = Buffer.from('%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe("what the operators' console shows", () => {
  it('is an account with its documents, persons and missing requirements', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const document = (await user.upload('identity_document', png, 'id.png')).body.id;
    await must(platform.post(`/v1/accounts/${user.id}`, { supporting_documentation: { id_document: document } }));
    const query = `{ account(id: "${user.id}") {
      supportingDocumentation { idDocument } requirements { fieldName message alternatives }
      files { id purpose contentPath }
    } }`;
    const shown = (await data(asking(OPERATOR_KEY)(query))).account;
    const own = await user.graph(`{ account(id: "${user.id}") { requirements { fieldName message alternatives } } }`);
    expect(shown.requirements.length).toBeGreaterThan(1);
    expect(shown.requirements).toEqual(own.body.data.account.requirements);
    expect(shown.supportingDocumentation).toEqual({ idDocument: document });
    expect(shown.files).toEqual([
      {
        ...{ id: document, purpose: 'IDENTITY_DOCUMENT' },
        contentPath: `/operator/files/${document}?tenant_id=${platform.id.replace('account_', '')}&mode=test`,
      },
    ]);
  });

  it('is the content of a file, by key or cookie, never rendered by a browser, with an entry in the log', async () => {
    const user = await given.directUser(1);
    const other = await given.directUser(1);
    const { key, name } = await operator('read');
    const { file, alone } = await signIn(key);
    const id = (await user.upload('identity_document', pdf, 'Pässe <1>.pdf')).body.id;
    const path = (tenant: Speaker, mode = 'test') =>
      `/operator/files/${id}?tenant_id=${tenant.id.replace('account_', '')}&mode=${mode}`;

    const answer = await file(path(user));

    expect(Buffer.from(await answer.arrayBuffer())).toEqual(pdf);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename*=UTF-8''P%C3%A4sse%20%3C1%3E.pdf`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const byKey = await fetch(`${world.origin}${path(user)}`, { headers: { authorization: `Bearer ${key}` } });
    expect([byKey.status, (await file(path(user), alone)).status]).toEqual([200, 401]);
    for (const wrong of [path(other), path(user, 'live')]) expect((await file(wrong)).status).toBe(404);
    const strange = `/operator/files/${'a%00b'}?tenant_id=${user.id.replace('account_', '')}&mode=test`;
    expect((await file(strange)).status).toBe(404);
    const problems = async (query: string) => {
      const { errors }: Json = await (await file(`/operator/files/${id}${query}`)).json();
      return errors.map((each: Json) => `${each.code} ${each.metadata.field_name}`);
    };
    expect(await problems('')).toEqual(['parameter_missing file.tenant_id', 'parameter_missing file.mode']);
    expect(await problems('?tenant_id=%00&mode=both&x=1')).toEqual([
      ...['parameter_unknown file.x', 'parameter_invalid file.tenant_id', 'parameter_invalid file.mode'],
    ]);
    const found = (await actions(`(operator: "${name}", operation: "readFile")`)).reverse();
    expect(found.map(({ objectId, outcome, mode }) => [objectId, outcome, mode])).toEqual([
      ...[
        [id, 'SUCCEEDED', 'TEST'],
        [id, 'SUCCEEDED', 'TEST'],
        [id, 'REFUSED', null],
        [id, 'REFUSED', null],
      ],
    ]);
    expect(found[0].details).toEqual({ purpose: 'identity_document' });
  });

  it('is all notices of banks, newest first, page by page, with their deposits', async () => {
    const { live } = await given.directUserBoth(1);
    const ask = asking(OPERATOR_KEY);
    await ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    const issue = mutation('issueAddress', 'IssueAddressInput', 'address { id }');
    const bankAccount = { number: '000123456789' };
    const issued = await data(ask(issue, { input: { accountId: live.id, currency: 'USD', bankAccount } }));
    const addressId = issued.issueAddress.address.id;
    const record = mutation('recordBankNotice', 'RecordBankNoticeInput', 'notice { reference }');
    const notice = { addressId, amount: '10.00', currency: 'USD' };
    for (const reference of ['WIRE A', 'WIRE B']) await data(ask(record, { input: { ...notice, reference } }));
    await data(ask(record, { input: { ...notice, reference: 'WIRE C', event: 'REVERSED' } }));
    await world.sql`update bank_notice set created = case reference when 'WIRE B' then 3 else 2 end`;

    const seen: Json[] = [];
    for (let after: string | null = null; ; ) {
      const page: Json = await data(
        ask(
          `query ($after: String) { bankNotices(first: 1, after: $after) {
             nodes { reference event accountId addressId livemode deposit { amount status } } next } }`,
          { after },
        ),
      );
      seen.push(...page.bankNotices.nodes);
      after = page.bankNotices.next;
      if (after === null) break;
    }
    const own = { accountId: live.id, addressId, livemode: true };
    const completed = { amount: '10.00', status: 'COMPLETED' };
    expect(seen).toEqual([
      { reference: 'WIRE B', event: 'RECEIVED', ...own, deposit: completed },
      { reference: 'WIRE C', event: 'REVERSED', ...own, deposit: null },
      { reference: 'WIRE A', event: 'RECEIVED', ...own, deposit: completed },
    ]);
    for (const after of ['x', 'WzFd', Buffer.from('[1,"a",true,"\\u0000","b"]').toString('base64url')])
      expect((await ask(`{ bankNotices(after: "${after}") { next } }`)).fieldNames).toEqual(['deposit.starting_after']);
    const withdraw = mutation('withdrawBankNotice', 'WithdrawBankNoticeInput', 'notice { reference }');
    await data(ask(withdraw, { input: { addressId, reference: 'WIRE C' } }));
  });

  it('is the service holds of all tenants, newest accounts first', async () => {
    const ask = asking(OPERATOR_KEY);
    const users = [await given.directUser(1), await given.directUser(1), await given.directUser(1)];
    const place = mutation('placeServiceHold', 'PlaceServiceHoldInput', 'accountSetting { id }');
    for (const { id } of users.slice(0, 2)) await data(ask(place, { input: { accountId: id, mode: 'TEST' } }));
    const page = (more: string) =>
      data(ask(`{ serviceHolds(first: 1${more}) { nodes { livemode serviceHold account { id } } next } }`));
    const first = (await page('')).serviceHolds;
    const second = (await page(`, after: "${first.next}"`)).serviceHolds;
    const held = [...first.nodes, ...second.nodes];
    expect(held.map(({ account }) => account.id).sort()).toEqual(
      users
        .slice(0, 2)
        .map(({ id }) => id)
        .sort(),
    );
    expect([second.next, held[0].serviceHold, held[0].livemode]).toEqual([null, true, false]);
    expect((await ask('{ serviceHolds(after: "x") { next } }')).fieldNames).toEqual(['account_setting.starting_after']);
  });

  it('is the gateways that run, and those that have ended without saying so', async () => {
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    const gateways = async () =>
      (await data(asking(OPERATOR_KEY)('{ gateways { id host process version alive } }'))).gateways;
    worker.start();
    const [running] = await eventually(gateways, (list) => list.length === 1);
    const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
    expect(running).toEqual({
      ...{ id: expect.stringMatching(/^gateway_/), host: os.hostname(), process: process.pid, version, alive: true },
    });
    await world.sql`update gateway_process set seen_at = seen_at - 31`;
    expect((await gateways())[0].alive).toBe(false);
    await worker.stop();
    expect(await gateways()).toEqual([]);
  });

  it('is a job to retry', async () => {
    const { id } = await given.directUser(1);
    const tenant = id.replace('account_', '');
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, attempts, error)
      values (${tenant}, false, 'job_stuck', 1, 'pay_out', 'x', '{}', 99999999999, 3, 'broken')`;
    const retry = mutation('retryJob', 'RetryJobInput', 'job { id tenantId kind subjectId attempts error due }');
    const { job } = (await data(asking(OPERATOR_KEY)(retry, { input: { id: 'job_stuck' } }))).retryJob;
    expect(job).toMatchObject({ id: 'job_stuck', tenantId: tenant, kind: 'pay_out', attempts: 3, error: 'broken' });
    expect(Date.parse(job.due)).toBeLessThan(Date.now() + 5_000);
    await world.sql`delete from job where id = 'job_stuck'`;
  });
});
