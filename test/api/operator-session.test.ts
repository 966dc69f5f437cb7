import { describe, expect, it } from 'vitest';
import { Secrets } from '../../src/config/secrets.js';
import { RefusedChanges, refusedChangesMax } from '../../src/operator/action/refused-changes.js';
import { newOperatorToken } from '../../src/auth/tokens.js';
import { Credentials } from '../../src/operator/access/credential.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';
import { until } from '../support/child.js';
import { eventually, useWorld } from '../support/world.js';
import { everyMutation, type Json, OPERATOR_KEY, operatorsIn } from './operator-audit-fixture.js';
import { revokeOperator } from '../../src/operator/access/operators.js';
import { secretsInUse } from '../../src/operator/access/secrets.js';

const world = useWorld({ worker: false, readers: 2, environment: { OPERATOR_KEY } });
const { operator, asking, data, actions, sealed, signIn } = operatorsIn(world);

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

    await revokeOperator(world.operator, anna.name);

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
    await revokeOperator(world.operator, name.toUpperCase());
    await operator('read', name);
    for (const wrong of ['', ' anna', 'operator_key', 'anna (root)', 'a'.repeat(65), 'anna\n'])
      await expect(operator('read', wrong)).rejects.toMatchObject({ problems: [{ field: 'operator.name' }] });
  });

  it('is found at once while another address sends unknown keys', async () => {
    const { name, key } = await operator();
    const credentials = new Credentials(world.database, Secrets.of(world.pepper), undefined);
    const found: string[] = [];
    // As wrong, or because too many of its address wait: which of both depends on how long the table is locked.
    let refused = 0;
    const check = (token: string, address: string) =>
      credentials.check({ authorization: `Bearer ${token}`, session: undefined, address });
    const asked: Promise<unknown>[] = [];
    // No look-up ends before all have been asked for.
    await world.sql.begin(async (tx) => {
      await tx`lock table operator in access exclusive mode`;
      for (let i = 0; i < 20; i++)
        asked.push(check(newOperatorToken('opk', world.pepper).secret, '192.0.2.1').catch(() => refused++));
      asked.push(check(key, '192.0.2.2').then((one) => found.push(one.name)));
      // An address has one look-up at a time: the other one that waits for the table is that of the operator.
      const waiting = () => tx`
        select from pg_locks where relation = 'operator'::regclass and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      await until(async () => (await waiting()).length >= 2);
      expect(await waiting()).toHaveLength(2);
    });
    await Promise.all(asked);
    expect({ found, refused }).toEqual({ found: [name], refused: 20 });
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
    const secrets = await secretsInUse(world.operator);
    expect(secrets.find(({ setting }) => setting === null)).toMatchObject({ name: newer.pepperIds[0], operators: 1 });
    await revokeOperator(world.operator, id);
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
    await revokeOperator(world.operator, name);
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
