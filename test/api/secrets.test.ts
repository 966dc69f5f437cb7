import { createHmac, hash } from 'node:crypto';
import pino from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { placeOf, tokenOf } from '../../src/resources/checkout/link.js';
import { config } from '../../src/config/config.js';
import { Database } from '../../src/db/database.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { Operator } from '../../src/operator/operator.js';
import { secretsInUse } from '../../src/operator/access/secrets.js';
import { Secrets } from '../../src/config/secrets.js';
import { sealWebhookSecrets } from '../../src/resources/webhook-endpoint/encryption.js';
import { details, eventually, givenIn, nickname, Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const schema = buildGraph();
const next = 'the next pepper that is long enough for it';

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

/**
 * Another gateway on the same database with other secrets: its origin, and the number of statements that its keys have
 * written.
 */
async function serving(pepper: string) {
  const { host, port, database: name, user } = world.sql.options;
  const database = new Database({ host: host[0]!, port: port[0]!, database: name, username: user });
  const rehashes: unknown[] = [];
  const { call } = database;
  database.call = (fn, values) => {
    if (fn === 'rehash_api_key') rehashes.push(values[2]);
    return call.call(database, fn, values);
  };
  const app = await gateway({
    config: config({ serves: true }, { PORT: '0' }),
    database,
    schema,
    pepper,
    log: pino({ level: 'silent' }),
  });
  ends.push(async () => {
    await app.close();
    await database.close();
  });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    rehashes,
    at: (speaker: Speaker) => speaker.at(origin),
  };
}

const stored = async (speaker: Speaker) => {
  const [row] =
    await world.sql`select digest, pepper_id from api_key where account_id = ${speaker.id} and not livemode`;
  return row as unknown as { digest: string; pepper_id: string | null };
};
const digestOf = (pepper: string, key: string) => createHmac('sha256', pepper).update(key).digest('hex');

describe('a changed pepper', () => {
  it('still verifies its keys, which are hashed with the new one at their next use, once', async () => {
    const both = await serving(`${next},${world.pepper}`);
    const [first, other] = [await given.directUser(1), await given.directUser(1)];
    const [was] = Secrets.of(world.pepper).pepperIds;
    const [is] = Secrets.of(next).pepperIds;
    expect(await stored(first)).toEqual({ digest: digestOf(world.pepper, first.key), pepper_id: was });

    const asking = both.at(first);
    const replies = await Promise.all(Array.from({ length: 5 }, () => asking.get('/v1/accounts')));
    expect(replies.map(({ status }) => status)).toEqual(Array(5).fill(200));
    await eventually(
      () => stored(first),
      ({ pepper_id }) => pepper_id === is,
    );
    expect((await stored(first)).digest).toBe(digestOf(next, first.key));
    // Another gateway, without a cached look-up, has nothing to write.
    const later = await serving(`${next},${world.pepper}`);
    expect((await later.at(first).get('/v1/accounts')).status).toBe(200);
    expect(later.rehashes).toEqual([]);

    // A new key is hashed with the first pepper at once.
    const made = await asking.graph('mutation { createApiKey(input: {}) { secret } }');
    expect(made.body.data.createApiKey.secret).toMatch(/^sk_test_/);
    const [row] = await world.sql`select pepper_id from api_key where digest =
        ${digestOf(next, made.body.data.createApiKey.secret)}`;
    expect(row).toEqual({ pepper_id: is });

    // Without the old pepper, the key that was used still works, and the one that was not used does not.
    const alone = await serving(next);
    expect((await alone.at(first).get('/v1/accounts')).status).toBe(200);
    expect((await alone.at(other).get('/v1/accounts')).codes).toEqual(['api_key_invalid']);
    // The operator's count shows it beforehand.
    const counted = await secretsInUse(new Operator(world.database, schema, `${next},${world.pepper}`));
    const keysOf = (id: string) =>
      counted.find(({ setting, name }) => setting === 'API_KEY_PEPPER' && name === id)!.keys;
    expect(keysOf(was!)).toBeGreaterThanOrEqual(1);
    expect(keysOf(is!)).toBe(2);
    expect(JSON.stringify(counted)).not.toContain(next);
  });

  it("of a key without a recorded pepper is recorded at the key's first use, with the same hash", async () => {
    const user = await given.directUser(1);
    await world.sql`update api_key set pepper_id = null where account_id = ${user.id}`;
    expect((await user.get('/v1/accounts')).status).toBe(200);
    const [id] = Secrets.of(world.pepper).pepperIds;
    expect(
      await eventually(
        () => stored(user),
        ({ pepper_id }) => pepper_id !== null,
      ),
    ).toEqual({
      digest: digestOf(world.pepper, user.key),
      pepper_id: id,
    });
  });

  it('can be added after the one in use, which changes nothing yet', async () => {
    const user = await given.directUser(1);
    const ready = await serving(`${world.pepper},${next}`);
    expect((await ready.at(user).get('/v1/accounts')).status).toBe(200);
    expect([ready.rehashes, (await stored(user)).digest]).toEqual([[], digestOf(world.pepper, user.key)]);
  });

  it('still opens the payment links that it has signed', () => {
    const place = { tenantId: '0'.repeat(32), livemode: true, id: `checkout_${'0'.repeat(32)}` };
    const [old, both, alone] = [world.pepper, `${next}, ${world.pepper}`, next].map((pepper) => Secrets.of(pepper));
    const token = tokenOf(old!, place);
    expect([placeOf(both!, token), placeOf(alone!, token)]).toEqual([place, undefined]);
    expect(tokenOf(both!, place)).toBe(tokenOf(alone!, place));
  });

  it('still recognises requests whose responses it has hashed, and the differences of others', async () => {
    const user = await given.directUser(2);
    const body = { type: 'partner', nickname: nickname(), business_details: { ...details('A'), type: 'business' } };
    const key = { 'idempotency-key': 'before' };
    const before = await user.post('/v1/accounts', body, key);
    expect(before.status).toBe(200);
    const [{ request } = { request: {} }] = await world.sql<[{ request: Record<string, string> }]>`
      select request from idempotency where account_id = ${user.id} and key = 'before'`;
    const [, plain] = Object.values(request)[0]!.split(':');
    expect(plain).toMatch(/^[\w-]{22}$/);

    const both = await serving(`${next},${world.pepper}`);
    const again = await both.at(user).post('/v1/accounts', body, key);
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, before.body, 'true']);
    const other = await both.at(user).post('/v1/accounts', { ...body, nickname: 'other' }, key);
    expect([other.codes, other.fieldNames]).toEqual([['idempotency_key_reused'], ['account.nickname']]);
    // A request that cannot be compared any more is refused, and never runs again.
    await both.at(user).get('/v1/accounts');
    await eventually(
      () => stored(user),
      ({ pepper_id }) => pepper_id === Secrets.of(next).pepperIds[0],
    );
    const late = await (await serving(next)).at(user).post('/v1/accounts', body, key);
    expect([late.codes, late.fieldNames]).toEqual([['idempotency_key_reused'], ['Idempotency-Key']]);
  });

  // During a rolling deploy, a response that the previous version stored is compared as it was stored.
  it('can compare hashes from before they were keyed', async () => {
    const user = await given.directUser(2);
    const body = { type: 'partner', nickname: nickname(), business_details: { ...details('A'), type: 'business' } };
    const key = { 'idempotency-key': 'unkeyed' };
    const before = await user.post('/v1/accounts', body, key);
    const unkeyed: Record<string, string> = {};
    const walk = (value: object, path: string) => {
      for (const [name, member] of Object.entries(value)) {
        if (typeof member === 'object') walk(member, `${path}.${name}`);
        else unkeyed[`${path}.${name}`] = hash('sha256', JSON.stringify({ value: member }), 'base64url').slice(0, 22);
      }
    };
    walk(body, 'account');
    await world.sql`update idempotency set request = ${JSON.stringify(unkeyed)}::text::jsonb
      where account_id = ${user.id} and key = 'unkeyed'`;
    const again = await user.post('/v1/accounts', body, key);
    expect([again.status, again.body]).toEqual([200, before.body]);
    const other = await user.post(
      '/v1/accounts',
      { ...body, business_details: { ...details('B'), type: 'business' } },
      key,
    );
    expect([other.codes, other.fieldNames]).toEqual([
      ['idempotency_key_reused'],
      ['account.business_details.legal_name'],
    ]);
  });
});

describe('a changed encryption key', () => {
  it('encrypts the secrets of webhook endpoints anew at a start, and is counted until then', async () => {
    const user = await given.directUser(1);
    const body = { url: 'https://example.com/', event_types: ['*'] };
    const { id, secret: first } = (await user.post('/v1/webhook_endpoints', body)).body;
    const { secret: second } = (await user.post(`/v1/webhook_endpoints/${id}/rotate_secret`, {})).body;
    const [was, both] = [Secrets.of(world.pepper), Secrets.of(world.pepper, 'an encryption key that is long enough')];
    const sealed = async (by: Secrets) => {
      const [row] = await world.sql`select * from webhook_endpoint where id = ${id}`;
      const place = { tenantId: row!.tenant_id as string, livemode: false, id: id as string };
      return [row!.secret_sealed, row!.previous_secret_sealed].map((text) => by.open(text as string, place));
    };
    const counted = async () => {
      const uses = await secretsInUse(new Operator(world.database, schema, both));
      return uses.filter(({ setting }) => setting).map((one) => [one.setting, one.webhook_secrets]);
    };
    expect(await counted()).toEqual([
      ['API_KEY_PEPPER', 2],
      ['ENCRYPTION_KEY', 0],
    ]);

    expect(await sealWebhookSecrets(world.database, both, () => false)).toBe(2);
    expect(await counted()).toEqual([
      ['API_KEY_PEPPER', 0],
      ['ENCRYPTION_KEY', 2],
    ]);
    expect([await sealed(both), await sealed(was)]).toEqual([
      [second, first],
      [undefined, undefined],
    ]);
    // Who does not know the key leaves them as they are.
    expect(await sealWebhookSecrets(world.database, both, () => false)).toBe(0);
    expect(await sealWebhookSecrets(world.database, was, () => false)).toBe(0);
    expect(await sealed(both)).toEqual([second, first]);
    // One that was altered stays, and each start fails to encrypt it.
    const altered = (text: string) => text.slice(0, -4) + (text.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    const [{ text } = { text: '' }] = await world.sql`select secret_sealed as text from webhook_endpoint
      where id = ${id}`;
    const set = (sealed: string) => world.sql`update webhook_endpoint set secret_sealed = ${sealed} where id = ${id}`;
    await set(altered(text));
    const next = Secrets.of(world.pepper, 'the next key that is long enough, an encryption key that is long enough');
    await expect(sealWebhookSecrets(world.database, next, () => false)).rejects.toThrow(
      `The secrets of these were altered in the database, and cannot be decrypted: ${id}.`,
    );
    await set(text);
    expect(await sealWebhookSecrets(world.database, next, () => false)).toBe(1);
    expect(await sealWebhookSecrets(world.database, both, () => false)).toBe(0);
    expect(await counted()).toEqual([
      ['API_KEY_PEPPER', 0],
      ['ENCRYPTION_KEY', 0],
    ]);
    const back = Secrets.of(world.pepper, 'an encryption key that is long enough, the next key that is long enough');
    expect(await sealWebhookSecrets(world.database, back, () => false)).toBe(2);
    // The previous secret signs nothing after a day.
    await world.sql`update webhook_endpoint set previous_secret_until = 1 where id = ${id}`;
    expect(await counted()).toContainEqual(['ENCRYPTION_KEY', 1]);
  });
});
