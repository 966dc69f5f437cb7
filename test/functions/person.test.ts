import { expect, it } from 'vitest';
import { activate, makeAccount, refusal, type Row, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 2);
const json = (object: unknown) => JSON.stringify(object);
const user = (more: object = {}) => makeAccount(fixture, root, 'connected_user', more);
const person = (accountId: string, more: object = {}) =>
  write(root, 'create_person', { accountId, fullName: 'Asha Rao', alone: ['sole_prop'], ...more });
const card = (id: string) => stored('person', root, id).then(({ identification }) => identification);

of('create_person', () => {
  it('creates a person of the account', async () => {
    const { id } = await user();
    const made = await person(id, { relationship: { director: true }, metadata: { a: '1' } });
    expect(made).toMatchObject({ account_id: id, relationship: { director: true }, metadata: { a: '1' } });
    expect(await eventsOf(root, made.id)).toEqual(['person.created']);
  });

  it('stores no identification as an object without members, whether it is absent or null', async () => {
    const { id } = await user();
    for (const more of [{}, { identification: null }, { identification: {} }])
      expect((await person(id, more)).identification).toEqual({});
  });

  it('refuses a second person of a sole proprietor, and an id that was used', async () => {
    const sole = await user({ businessDetails: { legalName: 'Acme', type: 'sole_prop' } });
    await person(sole.id);
    expect(await refusal(person(sole.id))).toBe('status_invalid person.account_id');
    const { id } = await user();
    await person(id, { id: 'person_given' });
    expect(await refusal(person(id, { id: 'person_given' }))).toBe('idempotency_key_in_use');
  });
});

of('change_persons_of', () => {
  it('raises the version of the account, which must be a draft', async () => {
    const { id } = await user();
    const made = await person(id);
    const change = (of: string) => call('change_persons_of', root.tenantId, false, of);
    expect((await change(made.id))[0]).toMatchObject({ id, version: '1' });
    expect(await refusal(change('person_none'))).toBe('resource_missing person.id');
    await activate(fixture, root, id);
    expect(await refusal(change(made.id))).toBe('account_not_updatable person.account_id');
  });
});

of('update_person', () => {
  it('merges what the caller has judged against the stored values', async () => {
    const { id } = await person((await user()).id, { relationship: { director: true } });
    const judged = { relationship: { director: true }, identification: {}, type: 'company' };
    const changed = await write(root, 'update_person', { id, relationship: { owner: true }, judged });
    expect(changed).toMatchObject({ full_name: 'Asha Rao', relationship: { director: true, owner: true } });
    const outdated = write(root, 'update_person', { id, relationship: { owner: false }, judged });
    expect(await refusal(outdated)).toBe('state_conflict person.id');
    expect(await write(root, 'update_person', { id, fullName: 'A. Rao', judged: {} })).toMatchObject({
      full_name: 'A. Rao',
    });
  });
});

of('remove_person', () => {
  it('removes the person, and keeps its last state in the event', async () => {
    const { id } = await person((await user()).id);
    expect(await write(root, 'remove_person', { id })).toMatchObject({ id });
    expect(await stored('person', root, id)).toBeUndefined();
    expect(await eventsOf(root, id)).toEqual(['person.created', 'person.removed']);
    expect(await refusal(write(root, 'remove_person', { id }))).toBe('resource_missing person.id');
  });
});

of('masked', () => {
  it.each([
    ['ABCDE1234F', '••••••234F'],
    ['12345', '•2345'],
    ['1234', '••••'],
    ['', ''],
  ])('%s', async (number, mask) => {
    expect(await value('masked', number)).toBe(mask);
  });
});

of('with_masked_number', () => {
  it('masks the number in the data of a person, and keeps the rest', async () => {
    const data = { fullName: 'A', identification: { taxCardNumber: 'ABCDE1234F', taxCardSealed: 's' } };
    expect(await value('with_masked_number', JSON.stringify(data))).toEqual({
      ...data,
      identification: { taxCardNumber: '••••••234F', taxCardSealed: 's' },
    });
  });
});

of('seal_tax_cards', () => {
  it('replaces a number that is as it was read, and masks it in the events', async () => {
    const { id } = await person((await user()).id, { identification: { taxCardNumber: 'ABCDE1234F' } });
    const seal = (was: string) =>
      call('seal_tax_cards', root.tenantId, false, json([{ id, was, mask: '••••••234F', sealed: 's', clear: true }]));
    await seal('other');
    expect(await card(id)).toEqual({ taxCardNumber: 'ABCDE1234F' });
    await seal('ABCDE1234F');
    expect(await card(id)).toEqual({ taxCardNumber: '••••••234F', taxCardSealed: 's' });
    expect((await stored('event', root, id, 'object_id')).data.identification).toEqual({ taxCardNumber: '••••••234F' });
  });
});

of('mask_stored_answers', () => {
  it('masks numbers in stored responses, and says where to continue', async () => {
    const answer = json({ identification: { taxCardNumber: 'ABCDE1234F' } });
    for (const [key, created] of Object.entries({ p1: 10, p2: 20 }))
      await world.sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request,
        answer)
        values (${root.tenantId}, true, 'a', ${key}, ${created}, 'createPerson', '{}', ${answer}::text::jsonb)`;
    const mask = async (from: number) => value('mask_stored_answers', root.tenantId, true, from, 1);
    expect(Number(await mask(0))).toBe(11);
    expect(Number(await mask(11))).toBe(21);
    expect(await mask(21)).toBeNull();
    for (const key of ['p1', 'p2'])
      expect((await stored('idempotency', root.inLive, key, 'key')).answer.identification).toEqual({
        taxCardNumber: '••••••234F',
      });
  });
});

of('store_file', () => {
  it('stores the bytes apart from the row', async () => {
    const about = { accountId: root.id, purpose: 'logo', filename: 'a.png', contentType: 'image/png', size: 3 };
    const made = await write(root, 'store_file', { ...about, sha256: 'f', metadata: { a: '1' } }, 'AQID');
    expect(made).toMatchObject({ filename: 'a.png', size: 3, metadata: { a: '1' } });
    expect([...(await stored('file_content', root, made.id)).content]).toEqual([1, 2, 3]);
    expect(await eventsOf(root, made.id)).toEqual(['file.created']);
  });

  it('stores nothing for an unknown account', async () => {
    const about = { accountId: 'account_none', purpose: 'logo', filename: 'a', contentType: 'image/png', size: 3 };
    await expect(write(root, 'store_file', { ...about, sha256: 'f' }, 'AQID')).rejects.toThrow();
    expect(await world.sql`select from file where sha256 = 'f' and account_id = 'account_none'`).toHaveLength(0);
  });
});

let digests = 0;
const secret = () => ({ prefix: 'sk_test', digest: `digest ${++digests}`, pepperId: 'p1' });
const create = (more: object = {}) =>
  write(root, 'create_api_key', {
    accountId: root.id,
    permission: 'read',
    expiresInSeconds: null,
    ...secret(),
    ...more,
  });

of('insert_api_key', () => {
  it('inserts a key at the given time, once per secret', async () => {
    const insert = () =>
      call('insert_api_key', root.tenantId, false, '{}', root.id, 'read', 60, 'sk_test', 'another digest', 'p1', 42);
    const [key] = await insert();
    expect(key).toMatchObject({ created: '42', updated_at: '42', expires_at: '102', account_id: root.id });
    expect(await refusal(insert())).toBe('idempotency_key_in_use');
  });
});

of('create_api_key', () => {
  it('creates a key without an expiry', async () => {
    expect(await create()).toMatchObject({ permission: 'read', expires_at: null, revoked_at: null });
  });

  it('creates one that ends with the key that creates it at the latest', async () => {
    const short = await create({ expiresInSeconds: 600 });
    for (const expiresInSeconds of [null, 700])
      expect(await refusal(create({ expiresInSeconds, byKeyId: short.id }))).toBe(
        'parameter_invalid api_key.expires_in_seconds',
      );
    expect(Number((await create({ expiresInSeconds: 60, byKeyId: short.id })).expires_at)).toBeLessThan(
      Number(short.expires_at),
    );
    expect((await create({ byKeyId: (await create()).id })).expires_at).toBeNull();
  });

  it('refuses a secret that exists', async () => {
    const { digest } = await create();
    expect(await refusal(create({ digest }))).toBe('idempotency_key_in_use');
  });
});

of('key_expiry', () => {
  const end = async (id: string | null) =>
    value('key_expiry', root.tenantId, false, id, Math.floor(Date.now() / 1_000));

  it('is that of a valid key, and none for the operator or a key without one', async () => {
    const short = await create({ expiresInSeconds: 600 });
    const lasting = await create();
    expect([await end(short.id), await end(lasting.id), await end(null)]).toEqual([short.expires_at, null, null]);
  });

  it('refuses a key that has ended', async () => {
    const [revoked, expired] = [await create(), await create({ expiresInSeconds: 600 })];
    await write(root, 'revoke_api_key', { id: revoked.id });
    await world.sql`update api_key set expires_at = 1 where id = ${expired.id}`;
    for (const { id } of [revoked, expired, { id: 'key_none' }]) expect(await refusal(end(id))).toBe('api_key_invalid');
  });
});

of('rotate_api_key', () => {
  it('makes a key of the same permission, and ends the old one after the grace period', async () => {
    const old = await create();
    const made = await write(root, 'rotate_api_key', { id: old.id, graceSeconds: 90, ...secret() });
    expect(made).toMatchObject({ permission: 'read', expires_at: null, account_id: root.id });
    const { expires_at: end } = await stored('api_key', root, old.id);
    expect(Number(end) - Number(made.created)).toBe(90);
    expect(await eventsOf(root, old.id)).toEqual(['api_key.created', 'api_key.rotated']);
  });

  it('counts the grace period and the expiry from one time, which it reads when it has the lock', async () => {
    const old = await create({ expiresInSeconds: 600 });
    const made = await world.sql.begin(async (tx) => {
      await tx`select from api_key where tenant_id = ${root.tenantId} and not livemode and id = ${old.id} for update`;
      const rotating = write(root, 'rotate_api_key', { id: old.id, graceSeconds: 90, ...secret() });
      await tx`select pg_sleep(1.1)`;
      return { rotating };
    });
    const key = await made.rotating;
    expect(key.expires_at).toBe(old.expires_at);
    expect(Number((await stored('api_key', root, old.id)).expires_at) - Number(key.created)).toBe(90);
  });

  it('refuses to replace a key that ends later than the one that replaces it', async () => {
    const [short, longer, lasting] = await Promise.all([600, 700, null].map((s) => create({ expiresInSeconds: s })));
    const rotate = ({ id }: Row, by: Row) =>
      write(root, 'rotate_api_key', { id, graceSeconds: 60, byKeyId: by.id, ...secret() });
    for (const key of [longer!, lasting!])
      expect(await refusal(rotate(key, short!))).toBe('permission_denied api_key.id');
    expect((await rotate(short!, longer!)).expires_at).toBe(short!.expires_at);
    expect((await rotate(longer!, longer!)).expires_at).toBe(longer!.expires_at);
    expect((await rotate(lasting!, lasting!)).expires_at).toBeNull();
  });

  it('refuses a key that is revoked', async () => {
    const { id } = await create();
    await write(root, 'revoke_api_key', { id });
    const rotate = write(root, 'rotate_api_key', { id, graceSeconds: 0, ...secret() });
    expect(await refusal(rotate)).toBe('status_invalid api_key.id');
  });
});

of('revoke_api_key', () => {
  it('revokes a key once', async () => {
    const { id } = await create();
    const { revoked_at: at } = await write(root, 'revoke_api_key', { id });
    expect(at).not.toBeNull();
    expect(await write(root, 'revoke_api_key', { id })).toMatchObject({ revoked_at: at });
  });

  it('refuses an unknown key', async () => {
    expect(await refusal(write(root, 'revoke_api_key', { id: 'key_none' }))).toBe('resource_missing api_key.id');
  });
});

of('touch_api_key', () => {
  it('records the last use, at most once a minute', async () => {
    const { id } = await create();
    await call('touch_api_key', root.tenantId, false, id);
    const { last_used_at: used } = await stored('api_key', root, id);
    expect(used).not.toBeNull();
    await world.sql`update api_key set last_used_at = ${used} - 30 where id = ${id}`;
    await call('touch_api_key', root.tenantId, false, id);
    expect((await stored('api_key', root, id)).last_used_at).toBe(String(Number(used) - 30));
  });
});

of('rehash_api_key', () => {
  it('stores another digest, unless it was changed meanwhile', async () => {
    const { id, digest } = await create();
    const rehash = (before: string) => call('rehash_api_key', root.tenantId, false, id, before, `new ${id}`, 'p2');
    await rehash('another digest');
    expect(await stored('api_key', root, id)).toMatchObject({ digest, pepper_id: 'p1' });
    await rehash(digest);
    expect(await stored('api_key', root, id)).toMatchObject({ digest: `new ${id}`, pepper_id: 'p2' });
  });
});
