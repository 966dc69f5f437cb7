import { beforeAll, describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { accountIn } from '../support/onboarding-profile.js';
import { givenIn, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';
import { idOf, idsOf, type Json, type Name, names, newest, person, shown } from './list-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

/** Which accounts' objects a list shows. Decisions 1.4: lists show the acting account's objects; ids find more. */
describe('the scope of a list', () => {
  let platform: Speaker;
  let one: Speaker;
  let two: Speaker;
  let direct: Speaker;
  const owned: Record<string, Record<Name, string[]>> = {};

  /** What an account owns: itself, its setting, an address, a person and a file, as far as its kind can. */
  async function furnish(owner: Speaker, id: string, kind: 'user' | 'partner'): Promise<void> {
    const settings = await world.sql`select id from account_setting where account_id = ${id} and not livemode`;
    const received = await world.sql`select id from address where linked_id = ${id} and not livemode`;
    const [payout, someone, file] =
      kind === 'partner'
        ? [[], [], []]
        : [
            [idOf(await owner.post('/v1/addresses', payoutAddressBody(id)))],
            [idOf(await owner.post('/v1/persons', person(id)))],
            [idOf(await owner.upload('identity_document', pdf))],
          ];
    const setting = settings.map((row) => row.id as string);
    owned[id] = {
      accounts: [id],
      account_settings: setting,
      connected: setting,
      addresses: [...received.map((row) => row.id as string), ...payout],
      persons: someone,
      files: file,
    };
  }

  const partners: Record<string, string> = {};
  beforeAll(async () => {
    [platform, direct] = await Promise.all([given.platform(1), given.directUser(1)]);
    [one, two] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const speakers = { platform, one, two, direct };
    await Promise.all(
      Object.entries(speakers).map(async ([name, speaker]) => {
        const partner: string = (await speaker.partner()).id;
        partners[name] = partner;
        await furnish(speaker, speaker.id, 'user');
        await furnish(speaker, partner, 'partner');
      }),
    );
    // All objects of another tenant, in the same database.
    const outsider = await given.platform(1);
    const theirs = await outsider.connectedUser();
    await Promise.all([outsider.partner(), theirs.partner(), furnish(outsider, outsider.id, 'user')]);
    const live = await given.platformBoth(1);
    await live.live.partner();
  });

  const callers: [caller: string, speaker: () => Speaker, shows: () => string[]][] = [
    ['a platform: itself and its connected users', () => platform, () => [platform.id, one.id, two.id]],
    ['a connected user: itself and its partners', () => one, () => [one.id, partners.one!]],
    ['another connected user: nothing of the first', () => two, () => [two.id, partners.two!]],
    ['a direct user: itself and its partners', () => direct, () => [direct.id, partners.direct!]],
    [
      'a platform acting for a connected user: as that user',
      () => platform.actingFor(one.id),
      () => [one.id, partners.one!],
    ],
  ];
  describe.each(callers)('of %s', (_, speaker, shows) => {
    it.each(names.filter((name) => name !== 'connected'))('%s', async (name) => {
      const expected = shows().flatMap((id) => owned[id]![name]);
      expect((await shown(speaker(), name)).sort()).toEqual(expected.sort());
    });
  });

  it("of a platform's connected settings shows only its connected users, and refuses other callers", async () => {
    const expected = [one.id, two.id].flatMap((id) => owned[id]!.account_settings);
    expect((await shown(platform, 'connected')).sort()).toEqual(expected.sort());
    for (const speaker of [one, direct]) {
      const reply = await speaker.get('/v1/account_settings/connected');
      expect([reply.status, reply.codes]).toEqual([403, ['permission_denied']]);
      const graph = await speaker.graph('{ connectedAccountSettings { nodes { id } } }');
      expect([graph.codes, graph.body.data]).toEqual([['permission_denied'], { connectedAccountSettings: null }]);
    }
  });

  // A list shows the acting account's objects; a filter that names an account selects that account's objects.
  it('can be widened to any account in the visibility, and no further', async () => {
    const named = async (speaker: Speaker, name: Name, parameter: string, id: string) => {
      const argument = parameter.replace(/_(.)/, (_, c: string) => c.toUpperCase());
      const value = name === 'account_settings' || name === 'connected' ? `["${id}"]` : `"${id}"`;
      return (await shown(speaker, name, `${parameter}=${id}`, `${argument}: ${value}`)).sort();
    };
    const filters: [Name, string][] = [
      ['account_settings', 'account_id'],
      ['addresses', 'linked_id'],
      ['persons', 'account_id'],
      ['files', 'account_id'],
    ];
    for (const [name, parameter] of filters) {
      for (const id of [platform.id, one.id, partners.platform!, partners.one!, partners.two!])
        expect(await named(platform, name, parameter, id)).toEqual(owned[id]![name].sort());
      for (const id of [one.id, partners.one!])
        expect(await named(one, name, parameter, id)).toEqual(owned[id]![name].sort());
      for (const [speaker, id] of [
        [one, two.id],
        [one, platform.id],
        [one, partners.two!],
        [platform, direct.id],
        [direct, platform.id],
        [platform.actingFor(one.id), two.id],
        [platform, 'account_0'],
      ] as const)
        expect(await named(speaker, name, parameter, id)).toEqual([]);
    }
    const settings = [one.id, partners.two!].flatMap((id) => owned[id]!.account_settings);
    const both = await platform.get(`/v1/account_settings?account_id=${one.id}&account_id=${partners.two}`);
    expect(idsOf(both).sort()).toEqual(settings.sort());
  });

  it('has one mode: the other mode shows its own objects of the same root', async () => {
    const both = await given.directUserBoth(1);
    const [test, live] = [await both.test.partner(), await both.live.partner()];
    expect((await shown(both.test, 'accounts')).sort()).toEqual([both.test.id, test.id].sort());
    expect((await shown(both.live, 'accounts')).sort()).toEqual([both.live.id, live.id].sort());
    const settings = await Promise.all([both.test, both.live].map((speaker) => shown(speaker, 'account_settings')));
    expect(settings[0]!.filter((id) => settings[1]!.includes(id))).toEqual([]);
  });
});

/** One row per filter of the specification: the query, the arguments of the graph, and the objects that pass. */
type Filter = [query: string, args: string, passes: string[]];

describe('filters of accounts', () => {
  let user: Speaker;
  const ids: Record<string, string> = {};
  const states = {
    a: ['draft', 'deactivated'],
    b: ['verifying', 'deactivated'],
    c: ['activated', 'requested'],
    d: ['activated', 'processing'],
    e: ['activated', 'activated'],
    f: ['hold', 'activated'],
    g: ['deactivated', 'deactivated'],
  } as const;
  beforeAll(async () => {
    user = await given.directUser(1);
    ids.self = user.id;
    await Promise.all(
      Object.entries(states).map(async ([name, [status, address]]) => {
        ids[name] = await accountIn(user, 'partner', status);
        await world.sql`update account set address = ${address} where id = ${ids[name]!}`;
      }),
    );
    await world.sql`update account set address = 'activated' where id = ${user.id} and not livemode`;
  });

  const partners = Object.keys(states);
  const filters: Filter[] = [
    ['status=draft', 'status: [DRAFT]', ['a']],
    ['status=verifying', 'status: [VERIFYING]', ['b']],
    ['status=activated', 'status: [ACTIVATED]', ['c', 'd', 'e', 'self']],
    ['status=hold', 'status: [HOLD]', ['f']],
    ['status=deactivated', 'status: [DEACTIVATED]', ['g']],
    ['status=draft,hold', 'status: [DRAFT, HOLD]', ['a', 'f']],
    ['address=deactivated', 'address: [DEACTIVATED]', ['a', 'b', 'g']],
    ['address=requested', 'address: [REQUESTED]', ['c']],
    ['address=processing', 'address: [PROCESSING]', ['d']],
    ['address=activated', 'address: [ACTIVATED]', ['e', 'f', 'self']],
    ['address=requested&address=processing', 'address: [REQUESTED, PROCESSING]', ['c', 'd']],
    ['type=partner', 'type: [PARTNER]', partners],
    ['type=user', 'type: [USER]', ['self']],
    ['type=platform', 'type: [PLATFORM]', []],
    ['type=user,partner', 'type: [USER, PARTNER]', [...partners, 'self']],
    ['capability.multicurrency_exports_v1=pending', 'capability: { multicurrencyExportsV1: PENDING }', ['a']],
    ['capability.multicurrency_exports_v1=verifying', 'capability: { multicurrencyExportsV1: VERIFYING }', ['b']],
    [
      'capability.multicurrency_exports_v1=activated',
      'capability: { multicurrencyExportsV1: ACTIVATED }',
      ['c', 'd', 'e', 'self'],
    ],
    ['capability.multicurrency_exports_v1=hold', 'capability: { multicurrencyExportsV1: HOLD }', ['f', 'g']],
    ['status=activated&address=activated', 'status: [ACTIVATED], address: [ACTIVATED]', ['e', 'self']],
    [
      'status=activated&address=activated&type=partner',
      'status: [ACTIVATED], address: [ACTIVATED], type: [PARTNER]',
      ['e'],
    ],
    ['status=draft&address=activated', 'status: [DRAFT], address: [ACTIVATED]', []],
  ];
  it.each(filters)('%s', async (query, args, passes) => {
    expect((await shown(user, 'accounts', query, args)).sort()).toEqual(passes.map((name) => ids[name]).sort());
  });

  it('also apply to a platform, whose connected users are users', async () => {
    const platform = await given.platform(2);
    const connected = await platform.connectedUser();
    await platform.partner();
    const list = (query: string, args: string) => shown(platform, 'accounts', query, args);
    expect(await list('type=platform', 'type: [PLATFORM]')).toEqual([platform.id]);
    expect(await list('type=user', 'type: [USER]')).toEqual([connected.id]);
    expect(await list('type=partner', 'type: [PARTNER]')).toEqual([]);
    expect(await list('status=draft', 'status: [DRAFT]')).toEqual([connected.id]);
    expect(await list('status=activated', 'status: [ACTIVATED]')).toEqual([platform.id]);
  });
});

describe('filters of settings', () => {
  let platform: Speaker;
  const accounts: Record<string, string> = {};
  const settings: Record<string, string> = {};
  const held = {
    a: { account_activated: true },
    b: { account_activated: true, platform_hold: true },
    c: { account_activated: false },
    d: { account_activated: true, service_hold: true },
  };
  beforeAll(async () => {
    platform = await given.platform(1);
    accounts.root = platform.id;
    for (const [name, columns] of Object.entries(held)) {
      accounts[name] = (await platform.connectedUser()).id;
      await world.sql`update account_setting set ${world.sql(columns)} where account_id = ${accounts[name]}`;
    }
    await platform.partner();
    for (const [name, id] of Object.entries(accounts)) {
      const [row] = await world.sql`select id from account_setting where account_id = ${id} and not livemode`;
      settings[name] = row!.id;
    }
    const off = await platform.post(`/v1/account_settings/${settings.root}`, {
      address: { connected_user_partner: false, platform: false },
    });
    expect(off.status).toBe(200);
  });

  // Only the root's setting determines addresses: on connected users' settings the five are null, and pass no filter.
  const filters: Filter[] = [
    ['address.connected_user=true', 'address: { connectedUser: true }', ['root']],
    ['address.connected_user=false', 'address: { connectedUser: false }', []],
    ['address.connected_user_partner=false', 'address: { connectedUserPartner: false }', ['root']],
    ['address.connected_user_partner=true', 'address: { connectedUserPartner: true }', []],
    ['address.partner=true', 'address: { partner: true }', ['root']],
    ['address.partner=false', 'address: { partner: false }', []],
    ['address.platform=false', 'address: { platform: false }', ['root']],
    ['address.platform=true', 'address: { platform: true }', []],
    ['address.user=true', 'address: { user: true }', []],
    ['address.user=false', 'address: { user: false }', []],
    ['payouts.enabled=true', 'payouts: { enabled: true }', ['root', 'a']],
    ['payouts.enabled=false', 'payouts: { enabled: false }', ['b', 'c', 'd']],
    ['payouts.reason_code_not_enabled=platform_hold', 'payouts: { reasonCodeNotEnabled: [PLATFORM_HOLD] }', ['b']],
    [
      'payouts.reason_code_not_enabled=account_not_activated',
      'payouts: { reasonCodeNotEnabled: [ACCOUNT_NOT_ACTIVATED] }',
      ['c'],
    ],
    ['payouts.reason_code_not_enabled=service_hold', 'payouts: { reasonCodeNotEnabled: [SERVICE_HOLD] }', ['d']],
    [
      'payouts.reason_code_not_enabled=service_hold,platform_hold',
      'payouts: { reasonCodeNotEnabled: [SERVICE_HOLD, PLATFORM_HOLD] }',
      ['b', 'd'],
    ],
    [
      'payouts.enabled=false&payouts.reason_code_not_enabled=service_hold',
      'payouts: { enabled: false, reasonCodeNotEnabled: [SERVICE_HOLD] }',
      ['d'],
    ],
    ['payouts.enabled=true&address.partner=true', 'payouts: { enabled: true }, address: { partner: true }', ['root']],
    ['', '', ['root', 'a', 'b', 'c', 'd']],
  ];
  it.each(filters)('%s', async (query, args, passes) => {
    const of = (passing: string[]) => passing.map((name) => settings[name]).sort();
    expect((await shown(platform, 'account_settings', query, args)).sort()).toEqual(of(passes));
    expect((await shown(platform, 'connected', query, args)).sort()).toEqual(of(passes.filter((n) => n !== 'root')));
  });

  it('account_id, with one and with several values', async () => {
    const list = (name: Name, ...of: string[]) =>
      shown(
        platform,
        name,
        of.map((n) => `account_id=${accounts[n]}`).join('&'),
        `accountId: [${of.map((n) => `"${accounts[n]}"`).join(', ')}]`,
      );
    expect(await list('account_settings', 'a')).toEqual([settings.a]);
    expect((await list('account_settings', 'root', 'a', 'c')).sort()).toEqual(
      [settings.root, settings.a, settings.c].sort(),
    );
    expect((await list('connected', 'root', 'a', 'c')).sort()).toEqual([settings.a, settings.c].sort());
  });

  it('address.user, of a direct user', async () => {
    const user = await given.directUser(2);
    const partner = await user.partner();
    const [own] = await world.sql`select id from account_setting where account_id = ${user.id} and not livemode`;
    expect(await shown(user, 'account_settings', 'address.user=true', 'address: { user: true }')).toEqual([own!.id]);
    const theirs = await shown(user, 'account_settings', `account_id=${partner.id}`, `accountId: ["${partner.id}"]`);
    expect(theirs).toHaveLength(1);
    expect(theirs).not.toContain(own!.id);
  });
});

describe.each([1, 2] as const)('filters of addresses, Edition %i', (edition) => {
  let user: Speaker;
  let partner: string;
  const ids: Record<string, string> = {};
  const common = { category: 'service_receive', type: 'bank_account', status: 'activated', currency: 'USD' };
  const rows: Record<string, object> = {
    receive: common,
    payout: { ...common, category: 'user_payout', currency: 'INR' },
    payment: { ...common, category: 'partner_payment', is_reusable: true },
    checkout: { ...common, category: 'service_checkout', currency: 'EUR' },
    advance: { ...common, category: 'service_fee_advance' },
    gone: { ...common, status: 'deactivated' },
    expired: { ...common, status: 'expired' },
    leaving: { ...common, status: 'pending_deactivation' },
    affirm: { ...common, type: 'wallet', wallet: { provider: 'affirm' } },
    afterpay: { ...common, type: 'wallet', wallet: { provider: 'afterpay' } },
    klarna: { ...common, type: 'wallet', wallet: { provider: 'klarna' } },
    paypal: { ...common, type: 'wallet', wallet: { provider: 'paypal_external' } },
    vpa: { ...common, type: 'vpa', vpa: { id: 'a@b', upi: { onetime: 'enabled', recurring: 'disabled' } } },
    autopay: { ...common, type: 'vpa', vpa: { id: 'c@d', upi: { onetime: 'disabled', recurring: 'enabled' } } },
  };
  beforeAll(async () => {
    user = await given.directUser(edition);
    partner = (await user.partner()).id;
    const tenant = user.id.replace('account_', '');
    await world.sql`delete from address where tenant_id = ${tenant}`;
    // Most kinds of addresses come from payments and the bank; the test inserts their rows as those would.
    for (const [name, row] of Object.entries(rows)) {
      ids[name] = `address_${tenant.slice(0, 20)}${Object.keys(rows).indexOf(name).toString().padStart(12, '0')}`;
      const stored: Record<string, unknown> = {
        ...row,
        tenant_id: tenant,
        livemode: false,
        id: ids[name],
        created: newest,
        linked_id: name === 'payment' || name === 'checkout' ? partner : user.id,
        context_id: user.id,
        on_root_list: true,
      };
      await world.sql`insert into address ${world.sql(stored as never)}`;
    }
  });

  const all = Object.keys(rows);
  const but = (...names: string[]) => all.filter((name) => !names.includes(name));
  const wallets = ['affirm', 'afterpay', 'klarna', 'paypal'];
  const filters: Filter[] = [
    ['category=service_receive', 'category: [SERVICE_RECEIVE]', but('payout', 'payment', 'checkout', 'advance')],
    ['category=user_payout', 'category: [USER_PAYOUT]', ['payout']],
    ['category=partner_payment', 'category: [PARTNER_PAYMENT]', ['payment']],
    ['category=service_checkout', 'category: [SERVICE_CHECKOUT]', ['checkout']],
    ['category=service_fee_advance', 'category: [SERVICE_FEE_ADVANCE]', ['advance']],
    ['category=user_payout,partner_payment', 'category: [USER_PAYOUT, PARTNER_PAYMENT]', ['payout', 'payment']],
    ['currency=INR', 'currency: ["INR"]', ['payout']],
    ['currency=INR,EUR', 'currency: ["INR", "EUR"]', ['payout', 'checkout']],
    ['currency=JPY', 'currency: ["JPY"]', []],
    ['is_reusable=true', 'isReusable: true', ['payment']],
    ['is_reusable=false', 'isReusable: false', but('payment')],
    ['status=activated', 'status: [ACTIVATED]', but('gone', 'expired', 'leaving')],
    ['status=deactivated', 'status: [DEACTIVATED]', ['gone']],
    ['status=expired', 'status: [EXPIRED]', ['expired']],
    ['status=pending_deactivation', 'status: [PENDING_DEACTIVATION]', ['leaving']],
    ['status[]=expired&status[]=deactivated', 'status: [EXPIRED, DEACTIVATED]', ['gone', 'expired']],
    ['type=wallet', 'type: [WALLET]', wallets],
    ['type=bank_account', 'type: [BANK_ACCOUNT]', but(...wallets, 'vpa', 'autopay')],
    ['wallet.provider=affirm', 'wallet: { provider: [AFFIRM] }', ['affirm']],
    ['wallet.provider=afterpay', 'wallet: { provider: [AFTERPAY] }', ['afterpay']],
    ['wallet.provider=klarna', 'wallet: { provider: [KLARNA] }', ['klarna']],
    ['wallet.provider=paypal_external', 'wallet: { provider: [PAYPAL_EXTERNAL] }', ['paypal']],
    ['wallet.provider=klarna,affirm', 'wallet: { provider: [KLARNA, AFFIRM] }', ['affirm', 'klarna']],
    ['status=activated&currency=USD&type=wallet', 'status: [ACTIVATED], currency: ["USD"], type: [WALLET]', wallets],
    ...((edition === 2
      ? [
          ['type=vpa', 'type: [VPA]', ['vpa', 'autopay']],
          ['vpa.upi.onetime=enabled', 'vpa: { upi: { onetime: ENABLED } }', ['vpa']],
          ['vpa.upi.onetime=disabled', 'vpa: { upi: { onetime: DISABLED } }', ['autopay']],
          ['vpa.upi.recurring=enabled', 'vpa: { upi: { recurring: ENABLED } }', ['autopay']],
          ['vpa.upi.recurring=disabled', 'vpa: { upi: { recurring: DISABLED } }', ['vpa']],
          [
            'vpa.upi.onetime=enabled&vpa.upi.recurring=enabled',
            'vpa: { upi: { onetime: ENABLED, recurring: ENABLED } }',
            [],
          ],
        ]
      : []) as Filter[]),
  ];
  /** More than ten may pass: the test reads the whole list in two pages. */
  const whole = async (query: string, args: string) => {
    const first = await shown(user, 'addresses', query, args);
    if (first.length < 10) return first;
    const after = first.at(-1);
    return [
      ...first,
      ...(await shown(user, 'addresses', `${query}&starting_after=${after}`, `${args}, after: "${after}"`)),
    ];
  };
  it.each(filters)('%s', async (query, args, passes) => {
    expect((await whole(query, args)).sort()).toEqual(passes.map((name) => ids[name]).sort());
  });

  it('linked_id', async () => {
    expect((await whole(`linked_id=${partner}`, `linkedId: "${partner}"`)).sort()).toEqual(
      [ids.payment, ids.checkout].sort(),
    );
    expect((await whole(`linked_id=${user.id}`, `linkedId: "${user.id}"`)).sort()).toEqual(
      but('payment', 'checkout')
        .map((name) => ids[name])
        .sort(),
    );
  });
});

describe('filters of files', () => {
  it('purpose, with one and with several values', async () => {
    const user = await given.directUser(1);
    const purposes = ['logo', 'invoice', 'tax_document', 'identity_document', 'additional_verification'];
    const ids: Record<string, string> = {};
    for (const purpose of purposes) ids[purpose] = idOf(await user.upload(purpose, pdf));
    for (const purpose of purposes)
      expect(await shown(user, 'files', `purpose=${purpose}`, `purpose: [${purpose.toUpperCase()}]`)).toEqual([
        ids[purpose],
      ]);
    expect((await shown(user, 'files', 'purpose=logo,invoice', 'purpose: [LOGO, INVOICE]')).sort()).toEqual(
      [ids.logo, ids.invoice].sort(),
    );
  });
});

// Indexes of these lists have a hash of four bytes in place of the id; ids with one hash are not rare among many.
describe('the lists of two accounts whose ids have the same hash', () => {
  it('have the rows of their account alone', async () => {
    const platform = await given.platform(1);
    const tenant = platform.id.replace('account_', '');
    const [pair] = await world.sql`select min(id) as one, max(id) as other
      from (select 'account_' || md5(n::text) as id from generate_series(1, 300000) n) x
      group by hashtext(id) having count(*) > 1 limit 1`;
    const ids = [String(pair!.one), String(pair!.other)];
    for (const id of ids) {
      await world.sql`insert into account (tenant_id, livemode, id, created, kind, edition, status, address, nickname,
          business_details, supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
        values (${tenant}, false, ${id}, 1, 'connected_user', 1, 'activated', 'activated', ${id}, '{}', '{}', '{}',
          ${platform.id}, ${id}, true)`;
      const args = { toAccountId: id, toAddressId: `address_${id.slice(8)}`, fromAccountId: null, fromAddressId: null };
      const made = { ...args, amount: '100', currency: 'USD', paymentMethod: 'domestic_credit' };
      const [row] = await world.sql.unsafe(
        `select d.id from create_deposit($1, false, '{}', $2::text::jsonb) c,
          move_deposit($1, false, '{}', jsonb_build_object('id', c.id, 'from', '["initialized", "processing"]'::jsonb,
          'to', 'completed')) d`,
        [tenant, JSON.stringify(made)],
      );
      expect(row).toBeDefined();
    }
    await world.sql`select number_events(${tenant}, false, 100)`;
    const own = '{ nodes { account { id } } }';
    for (const id of ids) {
      const reply = await platform.graph(`{ account(id: "${id}") {
        depositsIn { nodes { id to { accountId } payment { balanceTransactions ${own} } } } payments ${own}
        balanceTransactions ${own}
        events { nodes { type } } } }`);
      expect(reply.codes).toEqual([]);
      const { depositsIn, payments, balanceTransactions, events } = reply.body.data.account;
      const [deposit, ...more] = depositsIn.nodes;
      expect([deposit.to.accountId, more]).toEqual([id, []]);
      for (const list of [payments, balanceTransactions, deposit.payment.balanceTransactions])
        expect(list.nodes).toEqual([{ account: { id } }]);
      expect(events.nodes).toHaveLength(3);
      const byAccount = await platform.get(`/v1/deposits?account_id=${id}`);
      expect(byAccount.body.data.map((each: Json) => each.id)).toEqual([deposit.id]);
      const happened = await platform.get(`/v1/events?account_id=${id}`);
      expect(happened.body.data.map((each: Json) => each.account_id)).toEqual([id, id, id]);
    }
  });
});
