import { expect, it } from 'vitest';
import { nickname, statementsWaiting } from '../support/world.js';
import { activate, makeAccount, refusal, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);
const json = (object: unknown) => JSON.stringify(object);
const user = (more: object = {}) => makeAccount(fixture, root, 'connected_user', more);

of('refuse_taken_nickname', () => {
  it('refuses the nickname of another account, whatever its case, and not the own one', async () => {
    const made = await user({ nickname: `Name ${nickname()}` });
    const check = (id: string, name: string | null) => call('refuse_taken_nickname', root.tenantId, false, id, name);
    expect(await refusal(check('account_1', made.nickname.toUpperCase()))).toBe('nickname_taken account.nickname');
    await check(made.id, made.nickname);
    await check('account_1', null);
  });

  it('refuses another Unicode form of it and one with blanks around it, and not the own one', async () => {
    const made = await user({ nickname: `Café ${nickname()}` });
    const check = (id: string, name: string) => call('refuse_taken_nickname', root.tenantId, false, id, name);
    const forms = [made.nickname.normalize('NFD'), `\u00a0${made.nickname}\t`, made.nickname.replace('C', '\uff23')];
    for (const form of forms) {
      expect(await refusal(check('account_1', form))).toBe('nickname_taken account.nickname');
      await check(made.id, form);
    }
    await check('account_1', made.nickname.replace('é', 'e'));
  });

  it('lets accounts from before keep names that are one, and refuses it for others', async () => {
    const [one, other] = [await user({ nickname: `Ö ${nickname()}` }), await user({ nickname: nickname() })];
    // As it was stored before names were compared by their form.
    await world.sql`update account set nickname = ${one.nickname.normalize('NFD')} where id = ${other.id}`;
    for (const [{ id }, form] of [
      [one, 'NFC'],
      [other, 'NFD'],
    ] as const)
      expect(await write(root, 'update_account', { id, nickname: one.nickname.normalize(form) })).toMatchObject({ id });
    expect(await refusal(user({ nickname: ` ${one.nickname}` }))).toBe('nickname_taken account.nickname');
  });

  it('admits one of several accounts that get forms of one name at the same time', async () => {
    const name = `Café ${nickname()}`;
    const forms = [name, name.normalize('NFD'), `${name} `, ` ${name}`, name.toUpperCase(), `${name}\u00a0`];
    const made = await Promise.allSettled(forms.map((each) => user({ nickname: each })));
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBe(1);
  });
});

of('refuse_future_incorporation', () => {
  it('refuses today and later, and accepts the past and no date', async () => {
    const check = (details: object) => call('refuse_future_incorporation', root.tenantId, false, json(details));
    const [row] = await world.sql`select (clock_timestamp() at time zone 'utc')::date::text as today`;
    expect(await refusal(check({ dateOfIncorporation: '2999-01-01' }))).toBe(
      'parameter_invalid account.business_details.date_of_incorporation',
    );
    expect(await refusal(check({ dateOfIncorporation: row!.today }))).toContain('parameter_invalid');
    await check({ dateOfIncorporation: '2014-04-01' });
    await check({});
  });
});

const arguments_ = {
  ...{ kind: 'partner', edition: 1, addressKey: null, onRootList: true, businessDetails: { legalName: 'Acme' } },
  setting: { address: {}, addressCurrency: {}, payoutsApplicable: false },
};

of('insert_account', () => {
  const insert = (id: string, args: object) =>
    call('insert_account', root.tenantId, false, id, 'draft', 77, json({ ...arguments_, ownerId: root.id, ...args }));

  it('inserts the account and its setting', async () => {
    const [made] = await insert('account_inserted', { metadata: { a: '1', b: '' } });
    expect(made).toMatchObject({ id: 'account_inserted', created: '77', status: 'draft', metadata: { a: '1' } });
    expect(made!.status_since).toBe('77');
    expect(made!.business_details).toEqual({ ids: {}, physicalAddress: {}, legalName: 'Acme' });
    expect(await stored('account_setting', root, 'account_inserted', 'account_id')).toMatchObject({
      payouts_applicable: false,
      account_activated: false,
    });
  });
});

of('create_account', () => {
  it('creates a draft and its event', async () => {
    const made = await user();
    expect(made).toMatchObject({ status: 'draft', kind: 'connected_user', owner_id: root.id, context_id: made.id });
    expect(await eventsOf(root, made.id)).toEqual(['account.created']);
  });

  it('refuses a taken nickname', async () => {
    const made = await user();
    expect(await refusal(user({ nickname: made.nickname }))).toBe('nickname_taken account.nickname');
  });
});

of('create_root', () => {
  const key = (livemode: boolean, digest: string) => ({
    ...{ livemode, permission: 'full', prefix: 'sk_', digest, pepperId: 'p' },
  });
  const create = (tenantId: string, keys: ReturnType<typeof key>[]) =>
    write({ tenantId, live: false }, 'create_root', {
      ...{ ...arguments_, kind: 'direct_user', addressKey: 'user', subType: null, nickname: null, keys },
      setting: { ...arguments_.setting, address: { user: true }, addressCurrency: { user: ['USD'] } },
    });

  it('creates the root in both modes, its addresses in test mode, and its keys', async () => {
    const made = await create('t_one', [key(false, 'd1'), key(true, 'd2')]);
    expect(made).toMatchObject({ id: 'account_t_one', livemode: false, status: 'activated', address: 'activated' });
    const live = { tenantId: 't_one', live: true };
    expect(await stored('account', live, made.id)).toMatchObject({ status: 'draft', created: made.created });
    expect(await stored('api_key', live, 'd2', 'digest')).toMatchObject({ permission: 'full' });
    expect(await stored('address', { ...live, live: false }, made.id, 'linked_id')).toMatchObject({ currency: 'USD' });
  });

  // The gateway repeats a call whose answer was lost, and then returns the stored response.
  it('says of a second attempt that there was a first', async () => {
    const tenant = (await value('new_id', 'account')).replace('account_', '');
    const make = () => create(tenant, [key(false, `${tenant} test`), key(true, `${tenant} live`)]);
    await make();
    expect(await refusal(make())).toBe('idempotency_key_in_use');
  });

  it('refuses a key with other members than declared', async () => {
    await expect(create('t_two', [Object.assign(key(false, 'd3'), { secret: 's' })])).rejects.toThrow(
      'create_root: "keys[0].secret" is not declared',
    );
  });
});

of('update_account', () => {
  it('merges objects, changes what is named, and leaves the rest', async () => {
    const { id, nickname: name } = await user({ metadata: { a: '1' } });
    const changes = { businessDetails: { physicalAddress: { city: 'Pune' } }, metadata: { b: '2' } };
    const changed = await write(root, 'update_account', { id, ...changes, logoId: null, tosAcceptance: { ip: '1' } });
    expect(changed).toMatchObject({ nickname: name, metadata: { a: '1', b: '2' }, tos_acceptance: { ip: '1' } });
    expect(changed.business_details).toMatchObject({ legalName: 'Acme', physicalAddress: { city: 'Pune' } });
    expect(Number(changed.version)).toBe(1);
    expect(await eventsOf(root, id)).toEqual(['account.created', 'account.updated']);
  });

  it('refuses an account that is no draft', async () => {
    const { id } = await user();
    await activate(fixture, root, id);
    expect(await refusal(write(root, 'update_account', { id }))).toBe('account_not_updatable account.status');
  });
});

of('update_root', () => {
  it('changes both modes at once, and live FX in the settings', async () => {
    const name = nickname();
    const changed = await write(root, 'update_root', { nickname: name, liveFx: true });
    expect(changed).toMatchObject({ id: root.id, livemode: false, nickname: name });
    expect(await stored('account', root.inLive, root.id)).toMatchObject({ nickname: name });
    for (const place of [root, root.inLive])
      expect(await stored('account_setting', place, root.id, 'account_id')).toMatchObject({ live_fx: true });
    expect((await jobsOf(root, root.id)).map(({ kind }) => kind)).toContain('reschedule_payouts');
    await write(root, 'update_root', { liveFx: false });
  });
});

const settingOf = (id: string) => stored('account_setting', root, id, 'account_id');

of('update_account_setting', () => {
  const update = async (account: string, changes: object) =>
    write(root, 'update_account_setting', { id: (await settingOf(account)).id, ...changes });

  it('merges what is offered, and keeps the anchor that fits the interval', async () => {
    const { id } = await user();
    const weekly = await update(id, { payouts: { interval: 'weekly', weeklyAnchor: 3 }, metadata: { a: '1' } });
    expect(weekly).toMatchObject({ payouts_weekly_anchor: 3, payouts_monthly_anchor: null, metadata: { a: '1' } });
    const monthly = await update(id, { payouts: { interval: 'monthly' } });
    expect(monthly).toMatchObject({ payouts_weekly_anchor: null, payouts_monthly_anchor: 1 });
    expect(await update(id, { payouts: { enabled: false } })).toMatchObject({ platform_hold: true });
  });

  it('refuses an anchor of another interval, a kind without a currency, and an unknown setting', async () => {
    const { id } = await user();
    expect(await refusal(update(id, { payouts: { weeklyAnchor: 1 } }))).toContain('payouts.weekly_anchor');
    expect(await refusal(update(id, { payouts: { monthlyAnchor: 1 } }))).toContain('payouts.monthly_anchor');
    const offered = { address: { partner: true }, addressCurrency: { partner: [] } };
    expect(await refusal(update(id, offered))).toBe('parameter_invalid account_setting.address_currency.partner');
    expect(await refusal(write(root, 'update_account_setting', { id: 'account_setting_none' }))).toBe(
      'resource_missing account_setting.id',
    );
    await expect(update(id, { payouts: { interwal: 'weekly' } })).rejects.toThrow('"payouts.interwal" is not declared');
  });
});

of('set_service_hold', () => {
  it('places and lifts a hold', async () => {
    const { id } = await user();
    const hold = (placed: boolean) => write(root, 'set_service_hold', { accountId: id, hold: placed });
    expect(await hold(true)).toMatchObject({ service_hold: true, payouts_enabled: false });
    expect(await hold(false)).toMatchObject({ service_hold: false });
  });

  it('refuses an account without payouts, and an unknown one', async () => {
    const { id } = await makeAccount(fixture, root, 'partner', { setting: arguments_.setting });
    expect(await refusal(write(root, 'set_service_hold', { accountId: id, hold: true }))).toContain(
      'account_type_invalid',
    );
    expect(await refusal(write(root, 'set_service_hold', { accountId: 'account_none', hold: true }))).toBe(
      'resource_missing account_setting.account_id',
    );
  });
});

of('move_account', () => {
  it('changes the status with its effects on the setting', async () => {
    const { id } = await user();
    const verifying = await write(root, 'move_account', { id, from: ['draft'], to: 'verifying', version: 0 });
    expect(verifying).toMatchObject({ status: 'verifying', version: '1' });
    expect((await jobsOf(root, id)).map(({ kind }) => kind)).toEqual(['verify_account']);
    expect(await activate(fixture, root, id)).toMatchObject({ status: 'activated' });
    expect(await settingOf(id)).toMatchObject({ account_activated: true });
    await world.sql`update account set status_since = 1 where id = ${id}`;
    const ended = await write(root, 'move_account', { id, from: ['activated'], to: 'deactivated' });
    expect(ended).toMatchObject({ status: 'deactivated', address: 'deactivated', status_since: ended!.updated_at });
    expect(await settingOf(id)).toMatchObject({ account_activated: false });
  });

  it('refuses another status and an outdated version', async () => {
    const { id } = await user();
    const move = (from: string[], version?: number) =>
      write(root, 'move_account', { id, from, to: 'verifying', version });
    expect(await refusal(move(['activated']))).toBe('status_invalid account.status');
    expect(await refusal(move(['draft'], 9))).toBe('state_conflict account.status');
  });
});

of('job_verify_account', () => {
  it('activates an account that is being verified, and leaves another alone', async () => {
    const { id } = await user();
    const job = await jobText('verify_account', id);
    await call('job_verify_account', root.tenantId, false, job);
    expect(await stored('account', root, id)).toMatchObject({ status: 'draft' });
    await write(root, 'move_account', { id, from: ['draft'], to: 'verifying' });
    await call('job_verify_account', root.tenantId, false, job);
    expect(await stored('account', root, id)).toMatchObject({ status: 'activated' });
  });

  it('leaves an account alone that somebody else verifies at the same time', async () => {
    const { id } = await user();
    await write(root, 'move_account', { id, from: ['draft'], to: 'verifying' });
    const job = await jobText('verify_account', id);
    let done: Promise<unknown> | undefined;
    await world.sql.begin(async (tx) => {
      await tx.unsafe(`select from move_account($1, false, '{}', $2::text::jsonb)`, [
        root.tenantId,
        JSON.stringify({ id, from: ['verifying'], to: 'activated' }),
      ]);
      done = call('job_verify_account', root.tenantId, false, job);
      await statementsWaiting(world, 1);
    });
    await done;
    const activated = (await eventsOf(root, id)).filter((type) => type === 'account.activated');
    expect(activated).toHaveLength(1);
  });
});

of('missing_currencies', () => {
  it('are those that the root offers the kind, and for which there is no address', async () => {
    const partner = await makeAccount(fixture, root, 'partner');
    const setting = await settingOf(root.id);
    await write(root, 'update_account_setting', {
      id: setting.id,
      ...{ address: { partner: true }, addressCurrency: { partner: ['USD', 'EUR'] } },
    });
    const missing = async () =>
      (await value('missing_currencies', root.tenantId, false, await rowText('account', root, partner.id))).toSorted();
    expect(await missing()).toEqual(['EUR', 'USD']);
    const owner = await rowText('account', root, partner.id);
    const address = ['service_receive', 'bank_account', 'USD'] as const;
    await call('insert_address', root.tenantId, false, '{}', owner, ...address);
    expect(await missing()).toEqual(['EUR']);
    const none = await makeAccount(fixture, root, 'partner', { addressKey: null });
    expect(await value('missing_currencies', root.tenantId, false, await rowText('account', root, none.id))).toEqual(
      [],
    );
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toHaveLength(0);
});
