import { describe, expect, it } from 'vitest';
import { details, givenIn, inputTypeOf, must, nickname, type Speaker, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

const tomorrow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
/** Texts of business_details that must have a format, with valid and invalid examples. */
const forms: [name: string, good: string[], bad: string[]][] = [
  [
    'website',
    [
      'https://acme.example',
      'http://acme.example/shop?a=1#b',
      'www.acme.example',
      'acme.example',
      'https://bücher.example',
    ],
    ['x', 'acme', 'https://', 'ftp://acme.example', 'javascript:alert(1)', 'https://acme .example', 'http://localhost'],
  ],
  [
    'date_of_incorporation',
    ['2014-04-01', '2000-02-29', '1889-01-01'],
    [
      '2014-4-1',
      '2014-02-30',
      '1900-02-29',
      '01.04.2014',
      '20140401',
      'soon',
      '2999-01-01',
      '9999-12-31',
      tomorrow(0),
      tomorrow(1),
    ],
  ],
  ['merchant_category_code', ['5131', '0742'], ['513', '51311', '513a', '５１３１', '-131']],
];
const inputOf = (name: string, value: string) => ({
  [name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase())]: value,
});

describe.each(forms)('business_details.%s', (name, good, bad) => {
  const field = `account.business_details.${name}`;

  it('must have its format, for a partner, a connected user and in an update, in both APIs', async () => {
    const platform = await given.platform(2);
    const user = await platform.connectedUser();
    const mutation = (operation: string, input: object) =>
      platform.graph(
        `mutation ($input: ${inputTypeOf(operation)}!) { ${operation}(input: ` + '$input) { account { id } } }',
        { input },
      );
    const partner = (value: string) => ({ type: 'partner', business_details: { ...details(), [name]: value } });
    for (const value of bad) {
      const replies = [
        await platform.post('/v1/accounts', partner(value)),
        await platform.post(`/v1/accounts/${user.id}`, { business_details: { [name]: value } }),
        await mutation('createConnectedUser', { nickname: nickname(), businessDetails: inputOf(name, value) }),
        await mutation('updateAccount', { id: user.id, businessDetails: inputOf(name, value) }),
      ];
      expect([value, ...replies.map(({ codes, fieldNames }) => [codes, fieldNames])]).toEqual([
        value,
        ...replies.map(() => [['parameter_invalid'], [field]]),
      ]);
    }
    expect((await platform.get('/v1/accounts?type=partner')).body.data).toEqual([]);
    for (const value of good) {
      const made = await platform.post('/v1/accounts', partner(value));
      expect([value, made.status, made.body.business_details?.[name]]).toEqual([value, 200, value]);
      const changed = await platform.post(`/v1/accounts/${user.id}`, { business_details: { [name]: value } });
      expect(changed.body.business_details[name]).toBe(value);
    }
    // It can be cleared, and blanks count as empty.
    for (const value of ['', null, ' ']) {
      const cleared = await platform.post(`/v1/accounts/${user.id}`, { business_details: { [name]: value } });
      expect([cleared.status, cleared.body.business_details[name]]).toEqual([200, null]);
    }
  });
});

it('a date of incorporation must be past by the test clock of its tenant', async () => {
  const user = await given.directUser(2);
  const body = { type: 'partner', business_details: { ...details(), date_of_incorporation: tomorrow(1) } };
  expect((await user.post('/v1/accounts', body)).status).toBe(400);
  expect((await user.post('/v1/test_helpers/clock', { advance_seconds: 3 * 86_400 })).status).toBe(200);
  expect((await user.post('/v1/accounts', body)).status).toBe(200);
});

describe('creating a partner', () => {
  it('returns the account with exactly the keys of the specification, in its order, in Edition 1', async () => {
    const user = await given.directUser(1);
    const name = nickname();

    const reply = await user.post('/v1/accounts', {
      type: 'partner',
      nickname: name,
      business_details: details('Blue Whale LLC'),
      metadata: { crm: '42' },
    });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^account_[0-9a-f]{32}$/),
      object: 'account',
      created: expect.any(Number),
      livemode: false,
      type: 'partner',
      sub_type: null,
      status: 'draft',
      nickname: name,
      address: 'deactivated',
      business_details: {
        legal_name: 'Blue Whale LLC',
        dba: null,
        email: 'ap@acme.example',
        website: null,
        date_of_incorporation: null,
        type: 'company',
        ids: { business: null, tax: null, tax_deduction: null, tax_gst: null, tax_trade: null },
        physical_address: {
          line1: '1 Wharf',
          line2: null,
          city: 'Pune',
          state: 'MH',
          postal_code: '411001',
          country: 'IN',
        },
        merchant_category_code: null,
        merchant_size: null,
        product_category: null,
        product_description: null,
        estimated_monthly_volume: null,
      },
      capability: { multicurrency_exports_v1: 'pending' },
      logo_id: null,
      metadata: { crm: '42' },
      parent_account_id: null,
      supporting_documentation: { id_document: null, ownership_structure_document: null },
      tos_acceptance: { ip: null, time: null, user_agent: null },
      link: null,
    });
    expect(Object.keys(reply.body)).toEqual(
      (
        'id object created livemode type sub_type status nickname address business_details capability logo_id ' +
        'metadata parent_account_id supporting_documentation tos_acceptance link'
      ).split(' '),
    );
    expect((await user.get(`/v1/accounts/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it('names every missing parameter in one response, by edition', async () => {
    const first = await given.directUser(1);
    const second = await given.directUser(2);

    const reply = await first.post('/v1/accounts', {
      type: 'partner',
      business_details: { legal_name: '', website: 'https://x.example' },
    });
    expect([reply.status, ...reply.fieldNames.map((name, i) => `${reply.codes[i]} ${name}`)]).toEqual([
      400,
      'parameter_missing account.nickname',
      'parameter_invalid_empty account.business_details.legal_name',
      'parameter_missing account.business_details.email',
      'parameter_missing account.business_details.type',
      'parameter_missing account.business_details.physical_address.country',
    ]);
    const other = await second.post('/v1/accounts', { type: 'partner', business_details: { dba: 'x' } });
    expect(other.fieldNames).toEqual([
      'account.business_details.legal_name',
      'account.business_details.type',
      'account.business_details.physical_address.country',
      'account.business_details.physical_address.postal_code',
    ]);
  });

  it('refuses a nickname of another account of the tenant, in any case, but not one of another tenant', async () => {
    const user = await given.directUser(1);
    const name = nickname();
    await user.partner({ nickname: name });

    const again = await user.post('/v1/accounts', {
      type: 'partner',
      nickname: name.toUpperCase(),
      business_details: details(),
    });
    expect([again.status, again.codes, again.fieldNames]).toEqual([409, ['nickname_taken'], ['account.nickname']]);
    const outsider = await given.directUser(1);
    expect((await outsider.partner({ nickname: name })).nickname).toBe(name);
  });
});

const viewerOf = async (speaker: Speaker) =>
  (
    await must(
      speaker.graph('{ viewer { edition mode permission sessionRole onBehalf account { id } apiKey { prefix } } }'),
    )
  ).data.viewer;

describe('the viewer', () => {
  it('is the account of the key, in the mode of the key', async () => {
    const { test, live } = await given.platformBoth(2);
    const own = { edition: 2, permission: 'FULL', sessionRole: null, onBehalf: false, account: { id: test.id } };
    for (const [speaker, mode] of [
      [test, 'TEST'],
      [live, 'LIVE'],
    ] as const) {
      const { apiKey, ...viewer } = await viewerOf(speaker);
      expect(viewer).toEqual({ ...own, mode });
      expect(apiKey).toEqual({ prefix: `sk_${mode.toLowerCase()}_…${speaker.key.slice(-4)}` });
    }
  });

  it('is the connected user for which a platform acts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    expect(await viewerOf(platform.actingFor(user.id))).toMatchObject({
      ...{ edition: 1, onBehalf: true, account: { id: user.id } },
    });
    expect(await viewerOf(user)).toMatchObject({ onBehalf: false, account: { id: user.id } });
  });

  it('has the permission of a reading key, and the role of a session, which has no key', async () => {
    const user = await given.directUser(1);
    const made = await must(user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }'));
    expect(await viewerOf(user.using(made.data.createApiKey.secret))).toMatchObject({ permission: 'READ' });
    const { token } = await must(user.post('/v1/sessions', { role: 'read' }));
    expect(await viewerOf(user.using(token))).toMatchObject({
      ...{ permission: 'READ', sessionRole: 'READ', apiKey: null, account: { id: user.id } },
    });
  });
});
