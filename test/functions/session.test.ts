import { expect, it } from 'vitest';
import { refusal, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 2);

let digests = 0;
const digest = () => `session digest ${++digests}`;
const createKey = (more: object = {}) =>
  write(root, 'create_api_key', {
    accountId: root.id,
    permission: 'full',
    expiresInSeconds: null,
    ...{ prefix: 'sk_test', digest: `key of ${digest()}`, pepperId: 'p1' },
    ...more,
  });
const create = async (more: object = {}) =>
  write(root, 'create_session', {
    accountId: root.id,
    apiKeyId: (await createKey()).id,
    role: 'read',
    allowedOrigins: [],
    expiresIn: 60,
    digest: digest(),
    ...more,
  });

of('create_session', () => {
  it('creates a session that expires by real time', async () => {
    const made = await create({ allowedOrigins: ['https://a.example', 'https://b.example'] });
    expect(made).toMatchObject({
      account_id: root.id,
      role: 'read',
      allowed_origins: ['https://a.example', 'https://b.example'],
      revoked_at: null,
    });
    expect(Number(made.expires_at) - Number(made.created)).toBe(60);
    expect(await eventsOf(root, made.id)).toEqual(['session.created']);
  });

  it('ends it with its key at the latest', async () => {
    const key = await createKey({ expiresInSeconds: 30 });
    const made = await create({ apiKeyId: key.id });
    expect(made.expires_at).toBe(key.expires_at);
  });

  it('refuses a key that has ended, and a token that exists', async () => {
    const revoked = await createKey();
    await write(root, 'revoke_api_key', { id: revoked.id });
    const expired = await createKey({ expiresInSeconds: 60 });
    await world.sql`update api_key set expires_at = 1 where id = ${expired.id}`;
    for (const { id } of [revoked, expired, { id: 'key_none' }])
      expect(await refusal(create({ apiKeyId: id }))).toContain('api_key_invalid');
    const { digest: known } = await create();
    expect(await refusal(create({ digest: known }))).toBe('idempotency_key_in_use');
  });

  it('bounds the sessions of one key that have not ended', async () => {
    const [key, other] = [await createKey(), await createKey()];
    const most = Number(await value('sessions_max'));
    const one = await create({ apiKeyId: key.id });
    await world.sql`
      insert into session (tenant_id, livemode, id, created, account_id, api_key_id, role, allowed_origins, digest,
      expires_at, context_id, on_root_list)
      select tenant_id, livemode, id || n, created, account_id, api_key_id, role, allowed_origins, 'many ' || n,
      expires_at, context_id, on_root_list
      from session, generate_series(2, ${most}::int) n where id = ${one.id}`;
    expect(await refusal(create({ apiKeyId: key.id }))).toContain('rate_limit_exceeded');
    await create({ apiKeyId: other.id });
    await write(root, 'revoke_session', { id: one.id });
    await create({ apiKeyId: key.id });
    expect(await refusal(create({ apiKeyId: key.id }))).toContain('rate_limit_exceeded');
    await world.sql`update session set expires_at = 1 where id = ${`${one.id}2`}`;
    await create({ apiKeyId: key.id });
    await world.sql`delete from session where digest like 'many %'`;
  });
});

of('sessions_max', () => {
  it('is 1,000', async () => {
    expect(await value('sessions_max')).toBe(1_000);
  });
});

of('revoke_session', () => {
  it('revokes a session once', async () => {
    const { id } = await create();
    const { revoked_at: at } = await write(root, 'revoke_session', { id });
    expect(at).not.toBeNull();
    expect(await write(root, 'revoke_session', { id })).toMatchObject({ revoked_at: at });
    expect(await eventsOf(root, id)).toEqual(['session.created', 'session.revoked', 'session.revoked']);
  });

  it('refuses an unknown session', async () => {
    expect(await refusal(write(root, 'revoke_session', { id: 'session_0' }))).toBe('resource_missing session.id');
  });
});

of('delete_old_sessions', () => {
  it('deletes the oldest first, at most so many, and none that is younger', async () => {
    const made = [await create(), await create(), await create()];
    for (const [i, age] of [300, 200, 100].entries())
      await world.sql`update session set created = ${1_000 - age} where id = ${made[i]!.id}`;
    const left = async () => {
      const rows = await Promise.all(made.map(({ id }) => stored('session', root, id)));
      return rows.map((row) => row !== undefined);
    };
    await call('delete_old_sessions', root.tenantId, false, 900, 1);
    expect(await left()).toEqual([false, true, true]);
    await call('delete_old_sessions', root.tenantId, false, 900, 10);
    expect(await left()).toEqual([false, false, true]);
  });
});
