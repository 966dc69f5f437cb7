import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { png } from '../support/bodies.js';
import { behind, useChildren } from '../support/child.js';
import { eventually, type Speaker } from '../support/world.js';
import { commandsIn, type Json, sameAsV1 } from './cli-fixture.js';

// Each command starts Node, which takes long on a busy machine.

const children = useChildren();
const { started, tidegate, ownProcess, outputOf, made, id, test, live } = commandsIn(children);

const businessDetails = {
  legal_name: 'Root Traders',
  dba: null,
  email: null,
  website: null,
  date_of_incorporation: null,
  type: null,
  ids: { business: null, tax: null, tax_deduction: null, tax_gst: null, tax_trade: null },
  physical_address: { line1: null, line2: null, city: null, state: null, postal_code: null, country: null },
  merchant_category_code: null,
  merchant_size: null,
  product_category: null,
  product_description: null,
};

describe('tidegate account create', () => {
  const common = {
    id: expect.stringMatching(/^account_[0-9a-f]{32}$/),
    object: 'account',
    created: expect.any(Number),
    livemode: null,
    sub_type: null,
    status: 'activated',
    nickname: null,
    logo_id: null,
    metadata: null,
    parent_account_id: null,
    tos_acceptance: { ip: null, time: null, user_agent: null },
    link: null,
  };
  const first = {
    ...common,
    business_details: { ...businessDetails, estimated_monthly_volume: null },
    supporting_documentation: { id_document: null, ownership_structure_document: null },
  };
  const second = {
    ...common,
    business_details: businessDetails,
    supporting_documentation: { id_document: null, physical_address_document: null },
  };
  const roots: [string, keyof typeof made, object, object][] = [
    [
      'a platform of Edition 1',
      'first',
      { ...first, type: 'platform', address: 'activated', capability: { multicurrency_exports_v1: 'activated' } },
      { status: 'draft', address: 'deactivated', capability: { multicurrency_exports_v1: 'pending' } },
    ],
    [
      'a direct user of Edition 1 with a nickname',
      'direct',
      {
        ...first,
        type: 'user',
        nickname: 'Harbour',
        address: 'activated',
        capability: { multicurrency_exports_v1: 'activated' },
      },
      { status: 'draft', address: 'deactivated', capability: { multicurrency_exports_v1: 'pending' } },
    ],
    [
      'a platform of Edition 2',
      'second',
      { ...second, type: 'platform', address: 'deactivated', capability: {} },
      { status: 'draft' },
    ],
    [
      'an aggregator',
      'aggregator',
      { ...second, type: 'platform', sub_type: 'aggregator', address: 'deactivated', capability: null },
      { status: 'draft' },
    ],
    [
      'a direct user of Edition 2',
      'directSecond',
      { ...second, type: 'user', address: 'activated', capability: {} },
      { status: 'draft', address: 'deactivated' },
    ],
  ];

  it.each(roots)(
    'creates %s in both modes, with a key for each that works at once',
    async (_, name, account, there) => {
      expect(made[name]).toEqual({
        account,
        keys: { test: expect.stringMatching(/^sk_test_\w{32,}$/), live: expect.stringMatching(/^sk_live_\w{32,}$/) },
      });
      await sameAsV1(made[name].account, test(name), '/v1/accounts');
      const other = await live(name).get(`/v1/accounts/${id(name)}`);
      expect(other.body).toEqual({ ...made[name].account, ...there });
    },
  );

  it('creates a connected user in one mode, in draft, with one key', async () => {
    const of = ['account', 'create', '--type=user', '--platform', id('first'), '--legal-name=Exporter'];

    const users = await Promise.all([
      outputOf(...of, '--mode=test', '--nickname=Loom'),
      outputOf(...of, '--mode=live', '--nickname=Loom'),
    ]);

    for (const [i, mode] of (['test', 'live'] as const).entries()) {
      const user = users[i];
      expect(user).toEqual({
        account: {
          ...first,
          livemode: mode === 'live',
          type: 'user',
          status: 'draft',
          nickname: 'Loom',
          address: 'deactivated',
          business_details: { ...businessDetails, legal_name: 'Exporter', estimated_monthly_volume: null },
          capability: { multicurrency_exports_v1: 'pending' },
        },
        keys: { [mode]: expect.stringMatching(mode === 'live' ? /^sk_live_/ : /^sk_test_/) },
      });
      await sameAsV1(user.account, started.gateway.speaker(user.keys[mode]), '/v1/accounts');
      await sameAsV1(user.account, mode === 'live' ? live('first') : test('first'), '/v1/accounts');
    }
    const again = await tidegate(...of, '--mode=test', '--nickname=LOOM', '--json');
    expect(again).toEqual({
      code: 1,
      out: '',
      errors: expect.stringMatching(/^nickname_taken \(account\.nickname\): .+\n$/),
    });
    expect((await test('first').get('/v1/accounts?type=user')).body.data).toHaveLength(1);
  });

  it('prints a table with the complete keys', async () => {
    const table = await ownProcess('account', 'create', '--type=platform', '--edition=2', '--legal-name=Table Traders');

    expect([table.code, table.errors]).toEqual([0, '']);
    expect(table.out).toMatch(/^account\.id +account_[0-9a-f]{32}$/m);
    expect(table.out).toMatch(/^account\.business_details\.legal_name +Table Traders$/m);
    const [, key = ''] = /^keys\.live +(sk_live_\w+)$/m.exec(table.out) ?? [];
    expect((await started.gateway.speaker(key).get('/v1/accounts')).status).toBe(200);
  });
});

describe('tidegate account verify, hold and deactivate', () => {
  it('change the status of a root in live mode, and leave its test mode unchanged', async () => {
    const root = id('direct');
    const step = async (...args: string[]) => {
      const account = await outputOf('account', ...args, '--mode=live');
      await sameAsV1(account, live('direct'), '/v1/accounts');
      const { payouts } = (await live('direct').get('/v1/account_settings')).body.data[0];
      const { status, address, capability } = account;
      return [status, address, capability.multicurrency_exports_v1, payouts.reason_code_not_enabled];
    };

    expect(await step('verify', root, '--outcome=hold')).toEqual([
      ...['hold', 'deactivated', 'hold', 'account_not_activated'],
    ]);
    expect(await step('verify', root, '--outcome=activated')).toEqual(['activated', 'requested', 'activated', null]);
    const why = '--reason=A complaint of its bank.';
    expect(await step('hold', root, why)).toEqual(['hold', 'requested', 'hold', 'account_not_activated']);
    const [held] = (await outputOf('operator', 'actions', '--operation=account hold', '--object', root)).actions;
    expect(held.details).toEqual({ mode: 'live', reason: 'A complaint of its bank.' });
    const tooLong = await tidegate('account', 'hold', root, `--reason=${'x'.repeat(201)}`);
    expect([tooLong.code, tooLong.errors]).toEqual([
      2,
      expect.stringContaining('It must have at most 200 characters.'),
    ]);
    expect(await step('deactivate', root)).toEqual(['deactivated', 'deactivated', 'hold', 'account_not_activated']);

    const there = (await test('direct').get(`/v1/accounts/${root}`)).body;
    expect([there.status, there.address]).toEqual(['activated', 'activated']);
    const refusals = await Promise.all([
      tidegate('account', 'deactivate', root, '--mode=live', '--json'),
      tidegate('account', 'verify', root, '--mode=test', '--outcome=activated', '--json'),
    ]);
    const sentence = 'The status of the object does not allow this operation. Read the object to see its status.';
    for (const refused of refusals)
      expect(refused).toEqual({ code: 1, out: '', errors: `status_invalid (account.status): ${sentence}\n` });
  });

  // A root is in both modes; without a mode the command uses live mode, where only the operator decides.
  it('use live mode by default, and test mode when it is given', async () => {
    const [verified, held] = await Promise.all([
      outputOf('account', 'verify', id('aggregator'), '--outcome=activated'),
      outputOf('account', 'hold', id('aggregator'), '--mode=test'),
    ]);

    await sameAsV1(verified, live('aggregator'), '/v1/accounts');
    await sameAsV1(held, test('aggregator'), '/v1/accounts');
    expect([verified.status, held.status]).toEqual(['activated', 'hold']);
  });
});

describe('tidegate account update', () => {
  it('changes the details of a root in both modes, and nothing else of it', async () => {
    const root = id('first');
    const before = (await test('first').get(`/v1/accounts/${root}`)).body;
    const logo = await test('first').upload('logo', png, 'logo.png');

    const updated = await outputOf(
      ...['account', 'update', root, '--mode=test', '--legal-name=Other Traders', '--dba=Others', '--nickname=Renamed'],
      ...['--email=ops@others.example', '--website=https://others.example', '--business-type=company'],
      ...['--logo-id', logo.body.id, '--tos-ip=203.0.113.7', '--tos-time=1795207016', '--tos-user-agent=Firefox'],
      '--live-fx=true',
    );

    expect(updated).toEqual({
      ...before,
      nickname: 'Renamed',
      business_details: {
        ...before.business_details,
        legal_name: 'Other Traders',
        dba: 'Others',
        email: 'ops@others.example',
        website: 'https://others.example',
        type: 'company',
      },
      logo_id: logo.body.id,
      tos_acceptance: { ip: '203.0.113.7', time: 1_795_207_016, user_agent: 'Firefox' },
    });
    await sameAsV1(updated, test('first'), '/v1/accounts');
    const there = (await live('first').get(`/v1/accounts/${root}`)).body;
    expect(there).toEqual({
      ...updated,
      status: 'draft',
      address: 'deactivated',
      capability: { multicurrency_exports_v1: 'pending' },
    });
    const liveFx = async (speaker: Speaker) => {
      const { data } = (await speaker.get('/v1/account_settings')).body;
      return data.find((setting: Json) => setting.account_id === root).live_fx;
    };
    expect([await liveFx(test('first')), await liveFx(live('first'))]).toEqual([true, true]);

    // An absent detail is unchanged; an empty one is unset, as everywhere.
    const cleared = await outputOf('account', 'update', root, '--mode=test', '--dba=', '--live-fx=false');
    expect([await liveFx(test('first')), await liveFx(live('first'))]).toEqual([false, false]);
    expect(cleared).toEqual({ ...updated, business_details: { ...updated.business_details, dba: null } });
  });
});

describe('tidegate key', () => {
  const holder = (doc: Json) => started.gateway.speaker(doc.secret);
  const status = async (doc: Json) => (await holder(doc).get('/v1/accounts')).status;
  const create = (...args: string[]) =>
    outputOf('key', 'create', '--account', id('directSecond'), '--mode=test', ...args);
  const list = () => outputOf('key', 'list', '--account', id('directSecond'), '--mode=test');

  it('create makes a key with permission read and an expiry, and shows it once', async () => {
    const doc = await create('--permission=read', '--expires-in=30d');

    expect(doc).toEqual({
      key: {
        id: expect.stringMatching(/^key_/),
        object: 'api_key',
        account_id: id('directSecond'),
        livemode: false,
        permission: 'read',
        prefix: expect.stringMatching(/^sk_test_/),
        created: expect.any(Number),
        expires_at: doc.key.created + 30 * 86_400,
        revoked_at: null,
        last_used_at: null,
      },
      secret: expect.stringMatching(/^sk_test_/),
    });
    expect(await status(doc)).toBe(200);
    const refused = await holder(doc).post('/v1/accounts', { type: 'partner' });
    expect([refused.status, refused.codes]).toEqual([403, ['permission_denied']]);

    const listed = await eventually(list, ({ keys }) => keys[0]?.last_used_at !== null);
    expect(listed.keys.map(({ permission }: Json) => permission)).toEqual(['read', 'full']);
    expect(listed.keys[0]).toEqual({ ...doc.key, last_used_at: expect.any(Number) });
    // The prefix identifies the key, and is too short to guess it.
    expect(JSON.stringify(listed)).not.toContain(doc.secret.slice(0, -4));
    expect(doc.key.prefix.length).toBeLessThan(20);
  });

  it('create makes a full key of live mode without an expiry, also for a connected user', async () => {
    const user = await live('second').connectedUser();

    const doc = await outputOf('key', 'create', '--account', user.id, '--mode=live');

    expect(doc.key).toMatchObject({ account_id: user.id, livemode: true, permission: 'full', expires_at: null });
    const seen = await holder(doc).get('/v1/accounts');
    expect(seen.body.data.map((account: Json) => account.id)).toEqual([user.id]);
  });

  /** A key that its account has created, as an API client does. */
  const readingKey = async () => {
    const mutation = 'mutation { createApiKey(input: { permission: READ }) { apiKey { id } secret } }';
    const { apiKey: key, secret } = (await test('directSecond').graph(mutation)).body.data.createApiKey;
    return { key, secret };
  };

  it('rotate creates a new key and keeps the old one valid for a day, or for the given time', async () => {
    const [day, none] = [await readingKey(), await readingKey()];

    const [slow, quick] = await Promise.all([
      outputOf('key', 'rotate', day.key.id),
      outputOf('key', 'rotate', none.key.id, '--grace=0h'),
    ]);

    for (const [doc, old] of [
      [slow, day],
      [quick, none],
    ]) {
      expect(doc.key).toMatchObject({ account_id: id('directSecond'), permission: 'read', expires_at: null });
      expect([doc.key.id === old.key.id, await status(doc)]).toEqual([false, 200]);
    }
    expect(await status(day)).toBe(200);
    await eventually(
      () => status(none),
      (answer) => answer === 401,
    );
    const [{ keys }, late] = await Promise.all([list(), tidegate('key', 'rotate', none.key.id, '--json')]);
    const old = keys.find((key: Json) => key.id === day.key.id);
    expect(Math.abs(old.expires_at - slow.key.created - 86_400)).toBeLessThanOrEqual(1);
    expect(late).toEqual({ code: 1, out: '', errors: expect.stringMatching(/^status_invalid \(api_key\.id\): .+\n$/) });
  });

  it('revoke ends a key everywhere, permanently', async () => {
    const doc = await readingKey();
    expect(await status(doc)).toBe(200);

    const revoked = await outputOf('key', 'revoke', doc.key.id);

    expect(revoked).toEqual({
      key: {
        id: doc.key.id,
        object: 'api_key',
        account_id: id('directSecond'),
        livemode: false,
        permission: 'read',
        prefix: expect.stringMatching(/^sk_test_/),
        created: expect.any(Number),
        expires_at: null,
        revoked_at: expect.any(Number),
        last_used_at: revoked.key.last_used_at,
      },
    });
    await eventually(
      () => status(doc),
      (answer) => answer === 401,
    );
    const [again, table] = await Promise.all([
      outputOf('key', 'revoke', doc.key.id),
      tidegate('key', 'list', '--account', id('directSecond'), '--mode=test'),
    ]);
    expect(again.key.revoked_at).toBe(revoked.key.revoked_at);
    expect(table.out.split('\n')[0]).toMatch(
      /^ID +MODE +PERMISSION +PREFIX +CREATED +EXPIRES AT +REVOKED AT +LAST USED AT$/m,
    );
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z`;
    expect(table.out).toMatch(new RegExp(`^${doc.key.id}  test  read +sk_test_\\S+  ${time}`, 'm'));
  });
});

describe('tidegate address issue', () => {
  it('records addresses of the bank, currency by currency, until the account has all that it is offered', async () => {
    const root = id('first');
    const issue = (...args: string[]) => ['address', 'issue', '--account', root, ...args];
    const account = async () => (await live('first').get(`/v1/accounts/${root}`)).body;
    expect((await outputOf('account', 'verify', root, '--outcome=activated')).address).toBe('requested');
    const settings = (await live('first').get('/v1/account_settings')).body.data;
    const setting = settings.find((each: Json) => each.account_id === root);
    const offered = await live('first').post(`/v1/account_settings/${setting.id}`, {
      address_currency: { platform: ['USD', 'EUR'] },
    });
    expect(offered.status).toBe(200);

    const usd = await outputOf(
      ...issue('--currency=USD', '--bank-name=Bank of the Coast', '--number=000123456789'),
      ...['--domestic-credit=026009593', '--domestic-debit=026009593', '--domestic-fast-credit=026009594'],
      ...['--domestic-wire=026009595', '--global-wire=COASUS33'],
    );
    expect(usd).toEqual({
      id: expect.stringMatching(/^address_/),
      object: 'address',
      created: expect.any(Number),
      livemode: true,
      category: 'service_receive',
      type: 'bank_account',
      status: 'activated',
      currency: 'USD',
      name: 'Other Traders',
      is_reusable: false,
      linked_object: 'account',
      linked_id: root,
      bank_account: {
        bank_name: 'Bank of the Coast',
        domestic_credit: '026009593',
        domestic_debit: '026009593',
        domestic_fast_credit: '026009594',
        domestic_wire: '026009595',
        global_wire: 'COASUS33',
        iban: null,
        last4: '6789',
        number: '000123456789',
        type: 'all',
      },
      billing_details: null,
      supporting_documentation: null,
      vpa: null,
      wallet: null,
      metadata: null,
    });
    await sameAsV1(usd, live('first'), '/v1/addresses');
    expect((await account()).address).toBe('processing');

    const [again, eur] = await Promise.all([
      tidegate(...issue('--currency=USD', '--number=12342'), '--json'),
      outputOf(...issue('--currency=EUR', '--iban=DE89370400440532013000')),
    ]);
    expect(again).toEqual({
      code: 1,
      out: '',
      errors: expect.stringMatching(/^state_conflict \(address\.currency\): .+\n$/),
    });
    expect([eur.bank_account.iban, eur.bank_account.last4]).toEqual(['DE89370400440532013000', '3000']);
    await sameAsV1(eur, live('first'), '/v1/addresses');
    expect((await account()).address).toBe('activated');

    const advance = await tidegate(...issue('--category=service_fee_advance', '--currency=USD', '--number=77777'));
    expect([advance.code, advance.errors]).toEqual([0, '']);
    expect(advance.out).toMatch(/^category +service_fee_advance$/m);
    const taken = (await live('first').get('/v1/addresses?category=service_fee_advance')).body.data;
    expect(taken.map(({ currency, bank_account: bank }: Json) => [currency, bank.number, 'type' in bank])).toEqual([
      ['USD', '77777', false],
    ]);

    expect((await outputOf('account', 'deactivate', root)).address).toBe('deactivated');
    const after = (await live('first').get(`/v1/addresses?category=service_receive&linked_id=${root}`)).body.data;
    expect(after.map((address: Json) => address.status)).toEqual(['deactivated', 'deactivated']);
  });
});

describe('tidegate demo', () => {
  it('creates the demo without a gateway, unless it exists, and the gateway prints its keys', async () => {
    expect(started.seeded).toEqual({
      demos: [
        {
          edition: 1,
          name: expect.any(String),
          accountId: expect.stringMatching(/^account_/),
          testKey: started.gateway.keys[1],
        },
        {
          edition: 2,
          name: expect.any(String),
          accountId: expect.stringMatching(/^account_/),
          testKey: started.gateway.keys[2],
        },
      ],
    });
    for (const { accountId, testKey } of started.seeded.demos)
      expect((await started.gateway.speaker(testKey).get(`/v1/accounts/${accountId}`)).body.type).toBe('platform');
  });

  it('shows the existing demo, and creates no other', async () => {
    const table = await tidegate('demo');

    expect([table.code, table.errors]).toEqual([0, '']);
    for (const { accountId, testKey } of started.seeded.demos)
      expect(table.out).toMatch(new RegExp(` ${accountId}  ${testKey}$`, 'm'));
  });
});

describe('a list that is longer than a page', () => {
  let sql: ReturnType<typeof behind>;
  beforeAll(async () => {
    sql = behind(started.DATA_DIR);
    // The demo has enough payouts; it has few accounts.
    for (let made = 0; made < 210; made += 30)
      await Promise.all(Array.from({ length: 30 }, () => test('second').partner()));
  });
  afterAll(() => sql.end());

  const lists: [noun: string, restriction: string[], all: () => Promise<Json[]>][] = [
    [
      'account',
      ['--mode=test', '--status=draft'],
      async () => sql`select id from account where not livemode and status = 'draft' order by created desc, id desc`,
    ],
    ['payout', [], async () => sql`select id from payout order by created desc, id desc`],
  ];
  it.each(lists)(
    'of %ss shows the option for the next page, until each was shown once',
    async (noun, restriction, all) => {
      const wanted = (await all()).map((row) => row.id);
      expect(wanted.length).toBeGreaterThan(200);
      const list = (next?: string) => [noun, 'list', ...restriction, ...(next === undefined ? [] : ['--after', next])];

      const pages: Json[] = [await outputOf(...list())];
      while (pages.at(-1).next !== undefined) pages.push(await outputOf(...list(pages.at(-1).next)));
      const [first, last] = await Promise.all([tidegate(...list()), tidegate(...list(pages.at(-2).next))]);

      const ids = (page: Json) => page[`${noun}s`].map((entry: Json) => (entry.account ?? entry).id);
      expect(pages.flatMap(ids)).toEqual(wanted);
      expect(pages.slice(0, -1).map((page) => ids(page).length)).toEqual(pages.slice(1).map(() => 200));
      expect(first.out).toMatch(
        new RegExp(`\\nThere are more\\. List the next page with --after ${pages[0].next}\\n$`),
      );
      expect(last.out).not.toContain('There are more');
    },
  );

  it('accepts only the cursor of a page', async () => {
    const refused = await tidegate('payout', 'list', '--after=payout_1');
    expect([refused.code, refused.out, refused.errors]).toEqual([
      1,
      '',
      expect.stringMatching(/^parameter_invalid \(payout\.starting_after\): /),
    ]);
  });
});
