import { describe, expect, it } from 'vitest';
import { assemble, complete } from '../support/onboarding-profile.js';
import { type Edition, givenIn, must, type Speaker, useWorld } from '../support/world.js';
import { settingOf, update } from './account-setting-fixture.js';
import { updateRoot } from '../../src/operator/account/accounts.js';

// Without a worker, so that switching a kind on changes only the setting.
const world = useWorld({ worker: false });
const given = givenIn(world);

const kinds = ['connected_user', 'connected_user_partner', 'partner', 'platform', 'user'] as const;
type Kind = (typeof kinds)[number];

/** The five keys in the specification's order, with a value where the kind applies and null elsewhere. */
const byKind = <V>(applicable: readonly Kind[], value: V) =>
  Object.fromEntries(kinds.map((kind) => [kind, applicable.includes(kind) ? value : null]));

const off = { enabled: false, reason_code_not_enabled: 'account_not_activated' };
const on = { enabled: true, reason_code_not_enabled: null };
const none = { enabled: null, reason_code_not_enabled: null };

type Owner = 'platform' | 'aggregator' | 'direct user' | 'connected user' | 'partner' | 'user of an aggregator';
interface Default {
  edition: Edition;
  owner: Owner;
  applicable: Kind[];
  payouts: { enabled: boolean | null; reason_code_not_enabled: string | null };
}
const below: Kind[] = ['connected_user', 'connected_user_partner', 'partner'];

/** Decisions 3.7 and 3.8, row by row. Roots are activated in test mode, and partners are never paid out. */
const defaults: Default[] = [
  { edition: 1, owner: 'platform', applicable: [...below, 'platform'], payouts: on },
  { edition: 1, owner: 'direct user', applicable: ['user', 'partner'], payouts: on },
  { edition: 1, owner: 'connected user', applicable: [], payouts: off },
  { edition: 1, owner: 'partner', applicable: [], payouts: none },
  { edition: 2, owner: 'platform', applicable: below, payouts: on },
  { edition: 2, owner: 'aggregator', applicable: below, payouts: on },
  { edition: 2, owner: 'direct user', applicable: ['user', 'partner'], payouts: on },
  { edition: 2, owner: 'connected user', applicable: [], payouts: off },
  { edition: 2, owner: 'user of an aggregator', applicable: [], payouts: none },
  { edition: 2, owner: 'partner', applicable: [], payouts: none },
];

/** The id of a setting's account, and a client that can see the setting. */
async function ownerOf(owner: Owner, edition: Edition): Promise<{ speaker: Speaker; id: string }> {
  const aggregated = owner === 'aggregator' || owner === 'user of an aggregator';
  const root = await (owner === 'direct user'
    ? given.directUser(edition)
    : given.platform(edition, aggregated ? { subType: 'aggregator' } : {}));
  if (owner === 'partner') return { speaker: root, id: (await root.partner()).id };
  if (owner === 'connected user' || owner === 'user of an aggregator')
    return { speaker: root, id: (await root.connectedUser()).id };
  return { speaker: root, id: root.id };
}

describe('the setting that comes with an account', () => {
  it.each(defaults)('is created for a $owner, Edition $edition', async ({ edition, owner, applicable, payouts }) => {
    const { speaker, id } = await ownerOf(owner, edition);

    const setting = await settingOf(speaker, id);

    expect(setting).toEqual({
      id: expect.stringMatching(/^account_setting_[0-9a-f]{32}$/),
      object: 'account_setting',
      account_id: id,
      created: expect.any(Number),
      livemode: false,
      metadata: null,
      address: byKind(applicable, true),
      address_currency: byKind(applicable, [edition === 1 ? 'USD' : 'INR']),
      live_fx: false,
      payouts: { interval: 'daily', monthly_anchor: null, weekly_anchor: null, ...payouts },
    });
    expect(await must(speaker.get(`/v1/account_settings/${setting.id}`))).toEqual(setting);
  });

  it('has exactly the keys of the specification, in its order, in both editions', async () => {
    for (const edition of [1, 2] as const) {
      const { speaker, id } = await ownerOf('platform', edition);
      const setting = await settingOf(speaker, id);
      expect(Object.keys(setting)).toEqual(
        'id object account_id created livemode metadata address address_currency live_fx payouts'.split(' '),
      );
      expect(Object.keys(setting.address)).toEqual([...kinds]);
      expect(Object.keys(setting.address_currency)).toEqual([...kinds]);
      expect(Object.keys(setting.payouts)).toEqual(
        'enabled interval monthly_anchor weekly_anchor reason_code_not_enabled'.split(' '),
      );
    }
  });

  it('is the same in GraphQL, from the account and by its own id', async () => {
    const { speaker, id } = await ownerOf('platform', 1);
    const setting = await settingOf(speaker, id);
    const fields =
      'id created livemode accountId metadata address { connectedUser connectedUserPartner partner platform ' +
      'user } addressCurrency { connectedUser connectedUserPartner partner platform user } liveFx payouts { ' +
      'enabled interval monthlyAnchor weeklyAnchor reasonCodeNotEnabled } account { id }';

    const graph = await must(
      speaker.graph(
        `query ($id: ID!, $account: ID!) { accountSetting(id: $id) { ${fields} } account(id: $account) { ` +
          `setting { ${fields} } } }`,
        { id: setting.id, account: id },
      ),
    );

    const applies = { connectedUser: true, connectedUserPartner: true, partner: true, platform: true, user: null };
    const usd = ['USD'];
    expect(graph.data.accountSetting).toEqual({
      id: setting.id,
      created: new Date(setting.created * 1000).toISOString().replace('.000Z', 'Z'),
      livemode: false,
      accountId: id,
      metadata: null,
      address: applies,
      addressCurrency: { connectedUser: usd, connectedUserPartner: usd, partner: usd, platform: usd, user: null },
      liveFx: false,
      payouts: {
        enabled: true,
        interval: 'DAILY',
        monthlyAnchor: null,
        weeklyAnchor: null,
        reasonCodeNotEnabled: null,
      },
      account: { id },
    });
    expect(graph.data.account.setting).toEqual(graph.data.accountSetting);
  });

  it('is one per mode for a root: two ids, and neither key can see the other’s', async () => {
    for (const kind of ['platformBoth', 'directUserBoth'] as const) {
      const { test, live } = await given[kind](1);
      const [inTest, inLive] = await Promise.all([settingOf(test, test.id), settingOf(live, live.id)]);

      expect([inTest.livemode, inLive.livemode]).toEqual([false, true]);
      expect(inTest.id).not.toBe(inLive.id);
      expect(inTest.account_id).toBe(inLive.account_id);
      // In live mode a root is a draft until the operator verifies it.
      expect([inTest.payouts, inLive.payouts]).toEqual([expect.objectContaining(on), expect.objectContaining(off)]);
      const crossed = await Promise.all([
        test.get(`/v1/account_settings/${inLive.id}`),
        live.get(`/v1/account_settings/${inTest.id}`),
        update(test, inLive.id, { metadata: { a: 'b' } }),
      ]);
      expect(crossed.map(({ status }) => status)).toEqual([404, 404, 404]);
      await must(update(test, inTest.id, { address: { partner: false }, metadata: { only: 'test' } }));
      expect(await settingOf(live, live.id)).toEqual(inLive);
    }
  });

  it('shows the live FX that the operator gives a platform of Edition 1, in both modes', async () => {
    const { account, test, live } = await given.platformBoth(1);
    await updateRoot(world.operator, account, { liveFx: true });

    const settings = await Promise.all([settingOf(test, test.id), settingOf(live, live.id)]);

    expect(settings.map(({ live_fx }) => live_fx)).toEqual([true, true]);
  });
});

describe('updating the addresses on offer', () => {
  it('merges objects: members that are not sent stay', async () => {
    const platform = await given.platform(1);
    const before = await settingOf(platform, platform.id);

    const reply = await update(platform, before.id, {
      address: { partner: false },
      address_currency: { connected_user: ['USD', 'EUR', 'GBP'] },
    });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      ...before,
      address: { ...before.address, partner: false },
      address_currency: { ...before.address_currency, connected_user: ['USD', 'EUR', 'GBP'] },
    });
    expect(await settingOf(platform, platform.id)).toEqual(reply.body);
  });

  it('does the same through GraphQL', async () => {
    const user = await given.directUser(2);
    const before = await settingOf(user, user.id);

    await must(
      user.graph(
        'mutation ($input: UpdateAccountSettingInput!) { ' +
          'updateAccountSetting(input: $input) { accountSetting { id } } }',
        { input: { id: before.id, address: { user: false }, addressCurrency: { partner: ['INR', 'USD'] } } },
      ),
    );

    expect(await settingOf(user, user.id)).toEqual({
      ...before,
      address: { ...before.address, user: false },
      address_currency: { ...before.address_currency, partner: ['INR', 'USD'] },
    });
  });

  it('returns the object for an empty update', async () => {
    const user = await given.directUser(1);
    const before = await settingOf(user, user.id);
    expect(await must(update(user, before.id, {}))).toEqual(before);
    expect(await must(user.post(`/v1/account_settings/${before.id}`))).toEqual(before);
  });

  // Two concurrent users: neither update may undo the other.
  it('loses no concurrent update', async () => {
    const platform = await given.platform(1);
    const { id } = await settingOf(platform, platform.id);

    await Promise.all([
      must(update(platform, id, { address: { partner: false }, metadata: { a: '1' } })),
      must(update(platform, id, { address: { platform: false }, metadata: { b: '2' } })),
      must(update(platform, id, { address_currency: { partner: ['EUR'] }, metadata: { c: '3' } })),
      must(update(platform, id, { address_currency: { connected_user: ['GBP'] }, metadata: { d: '4' } })),
    ]);

    expect(await settingOf(platform, platform.id)).toMatchObject({
      address: { connected_user: true, connected_user_partner: true, partner: false, platform: false, user: null },
      address_currency: {
        connected_user: ['GBP'],
        connected_user_partner: ['USD'],
        partner: ['EUR'],
        platform: ['USD'],
      },
      metadata: { a: '1', b: '2', c: '3', d: '4' },
    });
  });

  const refusedKeys = defaults.flatMap(({ edition, owner, applicable }) =>
    kinds.filter((kind) => !applicable.includes(kind)).map((kind) => ({ edition, owner, kind })),
  );
  it.concurrent.each(refusedKeys)(
    'refuses $kind for a $owner, Edition $edition, where it is null',
    async ({ edition, owner, kind }) => {
      const { speaker, id } = await ownerOf(owner, edition);
      const before = await settingOf(speaker, id);

      const replies = await Promise.all([
        update(speaker, before.id, { address: { [kind]: true } }),
        update(speaker, before.id, { address_currency: { [kind]: ['USD'] } }),
      ]);

      expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual([
        [400, ['parameter_invalid'], [`account_setting.address.${kind}`]],
        [400, ['parameter_invalid'], [`account_setting.address_currency.${kind}`]],
      ]);
      expect(await settingOf(speaker, id)).toEqual(before);
    },
  );

  it('refuses an enabled kind without a currency, whichever is stored first, but not a disabled one', async () => {
    const platform = await given.platform(1);
    const { id } = await settingOf(platform, platform.id);
    const refused = async (body: object, ...fields: string[]) => {
      const before = await settingOf(platform, platform.id);
      const reply = await update(platform, id, body);
      expect([reply.status, new Set(reply.codes), reply.fieldNames]).toEqual([
        400,
        new Set(['parameter_invalid']),
        fields.map((field) => `account_setting.${field}`),
      ]);
      expect(await settingOf(platform, platform.id)).toEqual(before);
    };
    // It is on by default.
    await refused({ address_currency: { partner: [] } }, 'address_currency.partner');
    await refused({ address: { partner: true }, address_currency: { partner: [] } }, 'address_currency.partner');
    await refused(
      { address_currency: { connected_user_partner: [], partner: [] } },
      'address_currency.connected_user_partner',
      'address_currency.partner',
    );
    const graph = await platform.graph(
      'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { accountSetting { id } } }',
      { input: { id, addressCurrency: { connectedUser: [] } } },
    );
    expect([graph.codes, graph.fieldNames]).toEqual([
      ['parameter_invalid'],
      ['account_setting.address_currency.connected_user'],
    ]);

    await must(update(platform, id, { address: { partner: false }, address_currency: { partner: [] } }));
    await refused({ address: { partner: true } }, 'address.partner');
    const on = await must(update(platform, id, { address: { partner: true }, address_currency: { partner: ['EUR'] } }));
    expect([on.address.partner, on.address_currency.partner]).toEqual([true, ['EUR']]);
  });

  it('does not apply that rule to older stored values that an update does not name', async () => {
    const platform = await given.platform(1);
    const { id } = await settingOf(platform, platform.id);
    await world.sql`update account_setting set address_currency = address_currency || '{"partner": []}'
      where id = ${id}`;
    const changed = await must(update(platform, id, { metadata: { a: 'b' }, address: { platform: false } }));
    expect([changed.address.platform, changed.address_currency.partner]).toEqual([false, []]);
  });

  const malformed: [title: string, body: object, code: string, field: string][] = [
    ['a switch that is not a boolean', { address: { partner: 'yes' } }, 'parameter_invalid', 'address.partner'],
    ['a switch of null', { address: { partner: null } }, 'parameter_invalid_empty', 'address.partner'],
    ['an unknown kind', { address: { nobody: true } }, 'parameter_unknown', 'address.nobody'],
    ['switches that are not an object', { address: true }, 'parameter_invalid', 'address'],
    ['switches of null', { address: null }, 'parameter_invalid_empty', 'address'],
    [
      'currencies of null',
      { address_currency: { partner: null } },
      'parameter_invalid_empty',
      'address_currency.partner',
    ],
    [
      'currencies that are not an array',
      { address_currency: { partner: 'USD' } },
      'parameter_invalid',
      'address_currency.partner',
    ],
    [
      'an unknown currency',
      { address_currency: { partner: ['USD', 'ABC'] } },
      'parameter_invalid',
      'address_currency.partner[1]',
    ],
    [
      'a currency in lower case',
      { address_currency: { partner: ['usd'] } },
      'parameter_invalid',
      'address_currency.partner[0]',
    ],
    ['what only the operator sets', { live_fx: true }, 'parameter_unknown', 'live_fx'],
    ['the account', { account_id: 'account_1' }, 'parameter_unknown', 'account_id'],
    ['metadata that are not an object', { metadata: 'x' }, 'parameter_invalid', 'metadata'],
    ['metadata of a number', { metadata: { size: 7 } }, 'parameter_invalid', 'metadata.size'],
  ];
  it.each(malformed)('refuses %s', async (_, body, code, field) => {
    const platform = await given.platform(1);
    const before = await settingOf(platform, platform.id);

    const reply = await update(platform, before.id, body);

    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`account_setting.${field}`]]);
    expect(await settingOf(platform, platform.id)).toEqual(before);
  });

  it('has metadata like every object: merged by key, unset by an empty value, at most ten', async () => {
    const user = await given.directUser(1);
    const { id } = await settingOf(user, user.id);
    const set = async (metadata: unknown) => (await must(update(user, id, { metadata }))).metadata;

    expect(await set({ a: '1', b: '2' })).toEqual({ a: '1', b: '2' });
    expect(await set({ b: '', c: '3' })).toEqual({ a: '1', c: '3' });
    expect(await set({ a: null, c: null })).toBeNull();
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'v']));
    expect(await set(ten)).toEqual(ten);
    const eleventh = await update(user, id, { metadata: { k10: 'v' } });
    expect([eleventh.status, eleventh.codes, eleventh.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['account_setting.metadata'],
    ]);
    expect(await set('')).toBeNull();
  });
});

describe('listing settings', () => {
  /**
   * A platform with two users, one activated, one held by the platform; each of them and the platform with a partner.
   */
  async function company(edition: Edition = 1) {
    const platform = await given.platform(edition);
    const activatedId = await assemble(platform, complete(edition));
    const draft = await platform.connectedUser();
    await must(platform.post(`/v1/accounts/${activatedId}/activate`));
    await must(platform.post(`/v1/test_helpers/accounts/${activatedId}/verify`));
    const [ofPlatform, ofDraft] = await Promise.all([platform.partner(), draft.partner()]);
    return { platform, activatedId, draft, ofPlatform: ofPlatform.id as string, ofDraft: ofDraft.id as string };
  }
  const owners = async (speaker: Speaker, path: string) => {
    const list = await must(speaker.get(path));
    expect(Object.keys(list)).toEqual(['object', 'data', 'has_next']);
    return list.data.map(({ account_id }: { account_id: string }) => account_id);
  };

  it('shows each caller the settings of its acting account, newest first', async () => {
    const { platform, activatedId, draft, ofDraft } = await company();
    const direct = await given.directUser(1);
    const partner = await direct.partner();

    expect(await owners(platform, '/v1/account_settings')).toEqual([draft.id, activatedId, platform.id]);
    expect(await owners(draft, '/v1/account_settings')).toEqual([ofDraft, draft.id]);
    expect(await owners(platform.actingFor(draft.id), '/v1/account_settings')).toEqual([ofDraft, draft.id]);
    expect(await owners(direct, '/v1/account_settings')).toEqual([partner.id, direct.id]);
  });

  it('filters by every switch, which is null for most settings and then matches neither true nor false', async () => {
    const { platform, draft } = await company();
    const direct = await given.directUser(1);
    const { id } = await settingOf(platform, platform.id);
    await must(update(platform, id, { address: { partner: false } }));
    const filters: [Speaker, string, string[]][] = [
      [platform, 'address.connected_user=true', [platform.id]],
      [platform, 'address.connected_user=false', []],
      [platform, 'address.connected_user_partner=true', [platform.id]],
      [platform, 'address.partner=true', []],
      [platform, 'address.partner=false', [platform.id]],
      [platform, 'address.platform=true', [platform.id]],
      [platform, 'address.user=true', []],
      [platform, 'address.user=false', []],
      [platform, 'address[partner]=false&address.platform=true', [platform.id]],
      [direct, 'address.user=true', [direct.id]],
      [direct, 'address.platform=true', []],
      [draft, 'address.partner=true', []],
    ];
    expect(
      await Promise.all(filters.map(([speaker, query]) => owners(speaker, `/v1/account_settings?${query}`))),
    ).toEqual(filters.map(([, , expected]) => expected));
  });

  it('filters by whether payouts are on, and why not', async () => {
    const { platform, activatedId, draft } = await company();
    const held = await settingOf(platform, activatedId);
    const list = (query: string) => owners(platform, `/v1/account_settings?${query}`);

    expect(await list('payouts.enabled=true')).toEqual([activatedId, platform.id]);
    expect(await list('payouts.enabled=false')).toEqual([draft.id]);
    await must(update(platform, held.id, { payouts: { enabled: false } }));
    expect(await list('payouts.enabled=true')).toEqual([platform.id]);
    expect(await list('payouts.reason_code_not_enabled=platform_hold')).toEqual([activatedId]);
    expect(await list('payouts.reason_code_not_enabled=account_not_activated')).toEqual([draft.id]);
    expect(await list('payouts.reason_code_not_enabled=service_hold')).toEqual([]);
    const both = [draft.id, activatedId];
    expect(
      await Promise.all(
        [
          'payouts.reason_code_not_enabled=platform_hold&payouts.reason_code_not_enabled=account_not_activated',
          'payouts.reason_code_not_enabled[]=platform_hold&payouts.reason_code_not_enabled[]=account_not_activated',
          'payouts.reason_code_not_enabled=platform_hold,account_not_activated',
          'payouts[reason_code_not_enabled]=platform_hold,account_not_activated',
        ].map(list),
      ),
    ).toEqual([both, both, both, both]);
  });

  it('filters by several visible accounts at once', async () => {
    const { platform, activatedId, draft, ofDraft, ofPlatform } = await company();
    const outsider = await given.platform(1);
    const list = (query: string) => owners(platform, `/v1/account_settings?${query}`);

    // The partners are only on their owners' lists, but a filter finds them.
    expect(await list(`account_id=${ofDraft}`)).toEqual([ofDraft]);
    expect((await list(`account_id=${ofDraft}&account_id=${ofPlatform}&account_id=${activatedId}`)).toSorted()).toEqual(
      [ofDraft, ofPlatform, activatedId].toSorted(),
    );
    expect(await list(`account_id=${outsider.id}`)).toEqual([]);
    expect(await owners(draft, `/v1/account_settings?account_id=${platform.id}`)).toEqual([]);
  });

  it('filters by the time of creation and pages by the shared parameters', async () => {
    const { platform, activatedId, draft } = await company();
    const all = (await must(platform.get('/v1/account_settings'))).data;
    const [newest, , oldest] = all;

    const first = await must(platform.get('/v1/account_settings?limit=2'));
    expect([first.data, first.has_next]).toEqual([all.slice(0, 2), true]);
    const second = await must(platform.get(`/v1/account_settings?limit=2&starting_after=${first.data[1].id}`));
    expect([second.data, second.has_next]).toEqual([all.slice(2), false]);
    const back = await must(platform.get(`/v1/account_settings?limit=1&ending_before=${oldest.id}`));
    expect([back.data, back.has_next]).toEqual([all.slice(1, 2), true]);
    expect(await owners(platform, `/v1/account_settings?created.gte=${oldest.created}`)).toEqual([
      draft.id,
      activatedId,
      platform.id,
    ]);
    expect(await owners(platform, `/v1/account_settings?created.gt=${newest.created}`)).toEqual([]);
    expect(await owners(platform, `/v1/account_settings?created[lt]=${oldest.created}`)).toEqual([]);
    expect(await owners(platform, `/v1/account_settings?created.eq=${newest.created}`)).toContain(draft.id);
  });

  const refused: [query: string, code: string, field: string][] = [
    ['payouts.enabled=maybe', 'parameter_invalid', 'payouts.enabled'],
    ['payouts.reason_code_not_enabled=because', 'parameter_invalid', 'payouts.reason_code_not_enabled'],
    ['address.partner=1', 'parameter_invalid', 'address.partner'],
    ['address.nobody=true', 'parameter_unknown', 'address.nobody'],
    ['payouts.interval=daily', 'parameter_unknown', 'payouts.interval'],
    ['status=draft', 'parameter_unknown', 'status'],
    ['limit=11', 'parameter_invalid', 'limit'],
  ];
  it.each(refused)('refuses %s on both lists', async (query, code, field) => {
    const platform = await given.platform(1);
    const replies = await Promise.all(
      ['/v1/account_settings', '/v1/account_settings/connected'].map((path) => platform.get(`${path}?${query}`)),
    );
    for (const reply of replies)
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`account_setting.${field}`]]);
  });

  describe('of connected users', () => {
    it('shows a platform only those of its connected users, with the same filters', async () => {
      const { platform, activatedId, draft, ofDraft } = await company();
      const list = (query = '') => owners(platform, `/v1/account_settings/connected${query}`);

      expect(await list()).toEqual([draft.id, activatedId]);
      expect(await list('?payouts.enabled=true')).toEqual([activatedId]);
      expect(await list('?payouts.reason_code_not_enabled=account_not_activated')).toEqual([draft.id]);
      expect(await list('?address.partner=true')).toEqual([]);
      expect(await list(`?account_id=${draft.id}`)).toEqual([draft.id]);
      expect(await list(`?account_id=${ofDraft}&account_id=${platform.id}`)).toEqual([]);
      expect(await list('?limit=1')).toEqual([draft.id]);
    });

    it.each([1, 2] as const)('is for platforms only: all others get 403 in both APIs, Edition %i', async (edition) => {
      const { platform, draft } = await company(edition);
      const direct = await given.directUser(edition);
      const query = '{ connectedAccountSettings { nodes { accountId } } }';

      const replies = await Promise.all(
        [draft, direct].map((speaker) => speaker.get('/v1/account_settings/connected')),
      );
      const graph = await Promise.all([draft, direct, platform].map((speaker) => speaker.graph(query)));

      expect(replies.map(({ status, codes }) => [status, codes])).toEqual([
        [403, ['permission_denied']],
        [403, ['permission_denied']],
      ]);
      expect(graph.map(({ codes }) => codes)).toEqual([['permission_denied'], ['permission_denied'], []]);
      expect(graph[2]!.body.data.connectedAccountSettings.nodes).toHaveLength(2);
    });

    it('is refused on behalf of a user, which has no connected users, in both APIs', async () => {
      const { platform, draft } = await company();
      const acting = platform.actingFor(draft.id);
      const replies = [
        await acting.get('/v1/account_settings/connected'),
        await acting.graph('{ connectedAccountSettings { nodes { accountId } } }'),
      ];
      expect(replies.map(({ codes }) => codes)).toEqual([['permission_denied'], ['permission_denied']]);
      expect(replies[0]!.status).toBe(403);
    });
  });

  it('and updating are refused for accounts that are not visible', async () => {
    const { platform, draft } = await company();
    const outsider = await given.platform(1);
    const [ofPlatform, ofOutsider] = await Promise.all([
      settingOf(platform, platform.id),
      settingOf(outsider, outsider.id),
    ]);

    const replies = await Promise.all([
      platform.get(`/v1/account_settings/${ofOutsider.id}`),
      update(platform, ofOutsider.id, { metadata: { a: 'b' } }),
      draft.get(`/v1/account_settings/${ofPlatform.id}`),
      update(draft, ofPlatform.id, { address: { partner: false } }),
      platform.get(`/v1/account_settings/account_setting_${'0'.repeat(32)}`),
    ]);

    expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
      replies.map(() => [404, ['resource_missing'], ['account_setting.id']]),
    );
    expect(await settingOf(platform, platform.id)).toEqual(ofPlatform);
  });
});
