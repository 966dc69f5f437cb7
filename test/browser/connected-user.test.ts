import { describe, expect, it } from 'vitest';
import { assemble, complete, pdf, personBody } from '../support/onboarding-profile.js';
import {
  details,
  type Edition,
  givenIn,
  must,
  nickname,
  payoutAddressBody,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const createMutation =
  'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
const updateMutation = 'mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) { account { id } } }';
const update = (speaker: Speaker, id: string, body: object) => speaker.post(`/v1/accounts/${id}`, body);
const read = (speaker: Speaker, id: string) => must(speaker.get(`/v1/accounts/${id}`));
const emptyIds = { business: null, tax: null, tax_deduction: null, tax_gst: null, tax_trade: null };
const emptyPlace = { line1: null, line2: null, city: null, state: null, postal_code: null, country: null };

/** A connected user without any details, exactly as /v1 shows it, with its keys in order. */
const blank = (edition: Edition, id: string) => ({
  id,
  object: 'account',
  created: expect.any(Number),
  livemode: false,
  type: 'user',
  sub_type: null,
  status: 'draft',
  nickname: null as string | null,
  address: 'deactivated',
  business_details: {
    legal_name: null,
    dba: null,
    email: null,
    website: null,
    date_of_incorporation: null,
    type: null,
    ids: emptyIds,
    physical_address: emptyPlace,
    merchant_category_code: null,
    merchant_size: null,
    product_category: null,
    product_description: null,
    ...(edition === 1 && { estimated_monthly_volume: null }),
  },
  capability: edition === 1 ? { multicurrency_exports_v1: 'pending' } : {},
  logo_id: null,
  metadata: null,
  parent_account_id: null,
  supporting_documentation:
    edition === 1
      ? { id_document: null, ownership_structure_document: null }
      : { id_document: null, physical_address_document: null },
  tos_acceptance: { ip: null, time: null, user_agent: null },
  link: null,
});
const keysOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([name, member]) => [name, keysOf(member)])
    : null;

describe('creating a connected user', () => {
  it.each([1, 2] as const)('accepts every parameter of an update, and returns a draft, Edition %i', async (edition) => {
    const platform = await given.platform(edition);
    const [logo, document] = await Promise.all([
      must(platform.upload('logo', pdf())),
      must(platform.upload('tax_document', pdf())),
    ]);
    const name = nickname();
    const second = edition === 1 ? 'ownershipStructureDocument' : 'physicalAddressDocument';

    const made = await must(
      platform.graph(createMutation, {
        input: {
          nickname: name,
          logoId: logo.id,
          metadata: { crm: '42' },
          businessDetails: {
            legalName: 'Indigo Looms LLP',
            dba: 'Indigo',
            email: 'a@indigo.example',
            website: 'https://indigo.example',
            dateOfIncorporation: '2014-04-01',
            type: 'LIMITED_LIABILITY_PARTNERSHIP',
            ids: { business: 'B', tax: 'T', taxDeduction: 'D', taxTrade: 'X' },
            taxGst: 'G',
            physicalAddress: { line1: '1', line2: '2', city: 'C', state: 'S', postalCode: 'P', country: 'IN' },
            merchantCategoryCode: '5131',
            merchantSize: 'small',
            productCategory: 'goods',
            productDescription: 'Cloth',
            ...(edition === 1 && { estimatedMonthlyVolume: { amount: '1250', currency: 'USD' } }),
          },
          supportingDocumentation: { idDocument: document.id, [second]: document.id },
        },
      }),
    );

    const { id } = made.data.createConnectedUser.account;
    const shown = await read(platform, id);
    const base = blank(edition, id);
    expect(shown).toEqual({
      ...base,
      nickname: name,
      logo_id: logo.id,
      metadata: { crm: '42' },
      business_details: {
        legal_name: 'Indigo Looms LLP',
        dba: 'Indigo',
        email: 'a@indigo.example',
        website: 'https://indigo.example',
        date_of_incorporation: '2014-04-01',
        type: 'limited_liability_partnership',
        ids: { business: 'B', tax: 'T', tax_deduction: 'D', tax_gst: 'G', tax_trade: 'X' },
        physical_address: { line1: '1', line2: '2', city: 'C', state: 'S', postal_code: 'P', country: 'IN' },
        merchant_category_code: '5131',
        merchant_size: 'small',
        product_category: 'goods',
        product_description: 'Cloth',
        ...(edition === 1 && { estimated_monthly_volume: { amount: '1250.00', currency: 'USD' } }),
      },
      supporting_documentation:
        edition === 1
          ? { id_document: document.id, ownership_structure_document: document.id }
          : { id_document: document.id, physical_address_document: document.id },
    });
    // It has its setting, and is on the platform's list and on its own.
    expect((await must(platform.get(`/v1/account_settings?account_id=${id}`))).data).toHaveLength(1);
    const lists = await Promise.all(
      [platform, platform.actingFor(id)].map((speaker) => must(speaker.get('/v1/accounts'))),
    );
    expect(lists.map(({ data }) => data.map((account: { id: string }) => account.id))).toEqual([
      [id, platform.id],
      [id],
    ]);
  });

  it.each([1, 2] as const)(
    'shows exactly the keys of Edition %i, in the specification’s order, at every depth',
    async (edition) => {
      const platform = await given.platform(edition);
      const { id } = (await must(platform.graph(createMutation, { input: { metadata: { a: '1' } } }))).data
        .createConnectedUser.account;
      const shown = await read(platform, id);
      const metadata = { a: '1' };
      expect(shown).toEqual({ ...blank(edition, id), metadata });
      expect(keysOf(shown)).toEqual(keysOf({ ...blank(edition, id), created: null, metadata }));
      // Activating and updating return the same object, with the same keys.
      expect(keysOf(await must(update(platform, id, { nickname: nickname() })))).toEqual(keysOf(shown));
    },
  );

  it('is created with null for each member that is not given', async () => {
    const platform = await given.platform(1);
    const absent = { nickname: null, metadata: null, logo_id: null, business_details: null };
    const body = { ...absent, supporting_documentation: null };
    expect((await platform.post('/v1/accounts/connected', body)).codes).toEqual(['parameter_missing']);
    const { status, body: user } = await platform.post('/v1/accounts/connected', { ...body, metadata: { a: '1' } });
    expect([status, user.supporting_documentation.id_document]).toEqual([200, null]);
    expect((await platform.get(`/v1/accounts/${user.id}`)).body).toEqual(user);
  });

  it('is for platforms only: a direct user and a connected user get 403', async () => {
    const [platform, direct] = await Promise.all([given.platform(1), given.directUser(1)]);
    const user = await platform.connectedUser();
    const input = { nickname: nickname() };
    const replies = await Promise.all([direct, user].map((speaker) => speaker.graph(createMutation, { input })));
    expect(replies.map(({ codes, body }) => [codes, body.errors[0].extensions.httpStatus, body.data])).toEqual(
      replies.map(() => [['permission_denied'], 403, { createConnectedUser: null }]),
    );
  });

  it.each(['user', 'platform'])('is not possible with POST /v1/accounts: the type %s is refused', async (type) => {
    const platform = await given.platform(1);
    const reply = await platform.post('/v1/accounts', { type, nickname: nickname(), business_details: details() });
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, ['parameter_invalid'], ['account.type']]);
    expect((await must(platform.get('/v1/accounts'))).data).toHaveLength(1);
  });

  it('refuses a nickname that a partner of another user of the tenant has', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const name = nickname();
    await user.partner({ nickname: name });
    const replies = await Promise.all([
      platform.graph(createMutation, { input: { nickname: name.toUpperCase() } }),
      platform.graph(updateMutation, { input: { id: user.id, nickname: name } }),
      update(platform, user.id, { nickname: name }),
    ]);
    expect(replies.map(({ codes, fieldNames }) => [codes, fieldNames])).toEqual(
      replies.map(() => [['nickname_taken'], ['account.nickname']]),
    );
    expect(replies[2]!.status).toBe(409);
  });
});

describe('updating a connected user in draft', () => {
  const start = {
    nickname: 'set below',
    metadata: { a: '1', b: '2' },
    business_details: {
      legal_name: 'Indigo Looms LLP',
      dba: 'Indigo',
      type: 'company',
      ids: { business: 'B', tax: 'T', tax_gst: 'G' },
      physical_address: { line1: '1 Wharf', city: 'Pune', country: 'IN' },
    },
    tos_acceptance: { ip: '203.0.113.7', time: 1_700_000_000, user_agent: 'Browser/1' },
  };
  async function user() {
    const platform = await given.platform(1);
    const { id } = await platform.connectedUser();
    const before = await must(update(platform, id, { ...start, nickname: nickname() }));
    const change = async (body: object) => {
      const answer = await must(update(platform, id, body));
      expect(await read(platform, id)).toEqual(answer);
      return answer;
    };
    return { platform, id, before, change };
  }

  it('returns the complete account with the new values', async () => {
    const { before } = await user();
    expect(before).toEqual({
      ...blank(1, before.id),
      nickname: before.nickname,
      metadata: start.metadata,
      business_details: {
        ...blank(1, before.id).business_details,
        ...start.business_details,
        ids: { ...emptyIds, ...start.business_details.ids },
        physical_address: { ...emptyPlace, ...start.business_details.physical_address },
      },
      tos_acceptance: start.tos_acceptance,
    });
  });

  it('merges objects at every depth: members that are not sent stay', async () => {
    const { before, change } = await user();
    const after = await change({
      business_details: { dba: 'Indigo Home', ids: { tax: 'T2' }, physical_address: { city: 'Jaipur', line2: 'East' } },
      tos_acceptance: { user_agent: 'Browser/2' },
      metadata: { b: '', c: '3' },
    });
    expect(after).toEqual({
      ...before,
      metadata: { a: '1', c: '3' },
      business_details: {
        ...before.business_details,
        dba: 'Indigo Home',
        ids: { ...before.business_details.ids, tax: 'T2' },
        physical_address: { ...before.business_details.physical_address, city: 'Jaipur', line2: 'East' },
      },
      tos_acceptance: { ...start.tos_acceptance, user_agent: 'Browser/2' },
    });
  });

  it('clears with null: a member, a nested object, or all of it', async () => {
    const { before, change } = await user();
    const one = await change({ business_details: { dba: null, type: null, ids: { business: null } }, nickname: null });
    expect(one).toEqual({
      ...before,
      nickname: null,
      business_details: {
        ...before.business_details,
        dba: null,
        type: null,
        ids: { ...before.business_details.ids, business: null },
      },
    });
    const two = await change({ business_details: { ids: null, physical_address: null }, tos_acceptance: null });
    expect(two).toEqual({
      ...one,
      business_details: { ...one.business_details, ids: emptyIds, physical_address: emptyPlace },
      tos_acceptance: { ip: null, time: null, user_agent: null },
    });
    const three = await change({ business_details: null, metadata: null });
    expect(three).toEqual(blank(1, before.id));
    // Cleared values can be set again.
    expect((await change({ business_details: { ids: { tax: 'T3' } } })).business_details.ids).toEqual({
      ...emptyIds,
      tax: 'T3',
    });
  });

  it('clears documents and the logo with null', async () => {
    const { platform, before, change } = await user();
    const [logo, document] = await Promise.all(
      ['logo', 'identity_document'].map(async (purpose) => (await must(platform.upload(purpose, pdf()))).id),
    );
    const set = await change({
      logo_id: logo,
      supporting_documentation: { id_document: document, ownership_structure_document: document },
    });
    expect([set.logo_id, set.supporting_documentation]).toEqual([
      logo,
      { id_document: document, ownership_structure_document: document },
    ]);
    const half = await change({ logo_id: null, supporting_documentation: { id_document: null } });
    expect([half.logo_id, half.supporting_documentation]).toEqual([
      null,
      { id_document: null, ownership_structure_document: document },
    ]);
    expect(await change({ supporting_documentation: null })).toEqual(before);
  });

  it('accepts the GST id at either place, and stores it in ids', async () => {
    const { platform, id, before, change } = await user();
    const gst = async (business_details: object) => (await change({ business_details })).business_details.ids.tax_gst;

    expect(await gst({ tax_gst: 'G2' })).toBe('G2');
    expect(await gst({ ids: { tax_gst: 'G3' } })).toBe('G3');
    expect(await gst({ tax_gst: 'G4', ids: { tax: 'T4' } })).toBe('G4');
    expect(await gst({ tax_gst: 'G5', ids: { tax_gst: 'G5' } })).toBe('G5');
    expect(await gst({ tax_gst: null })).toBeNull();
    const shown = await read(platform, id);
    expect(Object.keys(shown.business_details)).toEqual(Object.keys(before.business_details));
    expect(shown.business_details.ids).toEqual({ ...before.business_details.ids, tax: 'T4', tax_gst: null });
  });

  it('returns the account for an empty update, in both APIs', async () => {
    const { platform, id, before } = await user();
    expect(await must(update(platform, id, {}))).toEqual(before);
    expect(await must(platform.post(`/v1/accounts/${id}`))).toEqual(before);
    expect((await must(platform.graph(updateMutation, { input: { id } }))).data.updateAccount.account).toEqual({ id });
    expect(await read(platform, id)).toEqual(before);
  });

  it('loses no concurrent update', async () => {
    const { platform, id, before } = await user();
    const valueOf = (name: string) => (name === 'website' ? 'https://new.example' : `new ${name}`);
    const paths = ['legal_name', 'website', 'merchant_size', 'product_category', 'product_description'] as const;
    await Promise.all(
      paths.flatMap((name, i) => [
        must(update(platform, id, { business_details: { [name]: valueOf(name) }, metadata: { [`k${i}`]: 'v' } })),
        must(
          update(platform, id, { business_details: { physical_address: { [i % 2 ? 'state' : 'postal_code']: 'X' } } }),
        ),
      ]),
    );
    const after = await read(platform, id);
    expect(after).toEqual({
      ...before,
      metadata: { a: '1', b: '2', k0: 'v', k1: 'v', k2: 'v', k3: 'v', k4: 'v' },
      business_details: {
        ...before.business_details,
        ...Object.fromEntries(paths.map((name) => [name, valueOf(name)])),
        physical_address: { ...before.business_details.physical_address, state: 'X', postal_code: 'X' },
      },
    });
  });

  it('does the same through GraphQL as on /v1', async () => {
    const { platform, id, before } = await user();
    await must(
      platform.graph(updateMutation, {
        input: {
          id,
          businessDetails: { ids: { tax: null }, taxGst: 'G9', physicalAddress: { city: 'Kochi' } },
          tosAcceptance: { time: '2026-01-31T12:00:00Z' },
          metadata: { a: '' },
        },
      }),
    );
    expect(await read(platform, id)).toEqual({
      ...before,
      metadata: { b: '2' },
      business_details: {
        ...before.business_details,
        ids: { ...before.business_details.ids, tax: null, tax_gst: 'G9' },
        physical_address: { ...before.business_details.physical_address, city: 'Kochi' },
      },
      tos_acceptance: { ...start.tos_acceptance, time: 1_769_860_800 },
    });
  });

  it('is for the platform, the user itself and the platform on its behalf; others find no account', async () => {
    const { platform, id } = await user();
    const [other, stranger] = await Promise.all([platform.connectedUser(), given.platform(1)]);
    const key = await must(
      platform.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
        input: { accountId: id },
      }),
    );
    const itself = platform.using(key.data.createApiKey.secret);
    const replies = await Promise.all(
      [platform, itself, platform.actingFor(id), other, stranger, platform.actingFor(other.id)].map((speaker, i) =>
        update(speaker, id, { metadata: { [`by${i}`]: 'x' } }),
      ),
    );
    expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual([
      ...Array(3).fill([200, [], []]),
      ...Array(3).fill([404, ['resource_missing'], ['account.id']]),
    ]);
    expect((await read(platform, id)).metadata).toEqual({ a: '1', b: '2', by0: 'x', by1: 'x', by2: 'x' });
  });

  const refused: [title: string, body: object, code: string, field: string][] = [
    ['a type', { type: 'partner' }, 'parameter_unknown', 'type'],
    ['a status', { status: 'activated' }, 'parameter_unknown', 'status'],
    ['an id', { id: 'account_1' }, 'parameter_unknown', 'id'],
    ['an unknown detail', { business_details: { colour: 'red' } }, 'parameter_unknown', 'business_details.colour'],
    ['an unknown id', { business_details: { ids: { vat: '1' } } }, 'parameter_unknown', 'business_details.ids.vat'],
    [
      'an invalid email address',
      { business_details: { email: 'nobody' } },
      'parameter_invalid',
      'business_details.email',
    ],
    [
      'an unknown type of business',
      { business_details: { type: 'club' } },
      'parameter_invalid',
      'business_details.type',
    ],
    [
      'an unknown country',
      { business_details: { physical_address: { country: 'India' } } },
      'parameter_invalid',
      'business_details.physical_address.country',
    ],
    ['details that are not an object', { business_details: 'x' }, 'parameter_invalid', 'business_details'],
    ['a text that is a number', { business_details: { dba: 7 } }, 'parameter_invalid', 'business_details.dba'],
    [
      'a volume that is a number',
      { business_details: { estimated_monthly_volume: { amount: 10, currency: 'USD' } } },
      'parameter_invalid',
      'business_details.estimated_monthly_volume.amount',
    ],
    [
      'a volume of one decimal',
      { business_details: { estimated_monthly_volume: { amount: '10.5', currency: 'USD' } } },
      'parameter_invalid',
      'business_details.estimated_monthly_volume.amount',
    ],
    [
      'a volume without a currency',
      { business_details: { estimated_monthly_volume: { amount: '10' } } },
      'parameter_missing',
      'business_details.estimated_monthly_volume.currency',
    ],
    [
      'a volume in half yen',
      { business_details: { estimated_monthly_volume: { amount: '10.50', currency: 'JPY' } } },
      'parameter_invalid',
      'business_details.estimated_monthly_volume.amount',
    ],
    [
      'two different GST ids',
      { business_details: { tax_gst: 'G', ids: { tax_gst: 'H' } } },
      'parameter_invalid',
      'business_details.tax_gst',
    ],
    ['an invalid website', { tos_acceptance: { ip: '300.1.1.1' } }, 'parameter_invalid', 'tos_acceptance.ip'],
    ['a time that is text', { tos_acceptance: { time: '2026-01-31' } }, 'parameter_invalid', 'tos_acceptance.time'],
    [
      'a document of Edition 2',
      { supporting_documentation: { physical_address_document: 'file_1' } },
      'parameter_unknown',
      'supporting_documentation.physical_address_document',
    ],
    ['a metadata value that is too long', { metadata: { a: 'x'.repeat(501) } }, 'parameter_invalid', 'metadata.a'],
  ];
  it.each(refused)('refuses %s, and changes nothing', async (_, body, code, field) => {
    const { platform, id, before } = await user();
    const reply = await update(platform, id, body);
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`account.${field}`]]);
    expect(await read(platform, id)).toEqual(before);
  });
});

describe('an update that is refused', () => {
  it.each([1, 2] as const)('is one of any account except a connected user in draft, Edition %i', async (edition) => {
    const [platform, direct] = await Promise.all([given.platform(edition), given.directUser(edition)]);
    const id = await assemble(platform, complete(edition));
    const partner = await platform.partner();
    const refused = async (speaker: Speaker, account: string) => {
      const before = await read(speaker, account);
      const replies = await Promise.all([
        update(speaker, account, { metadata: { a: 'b' } }),
        speaker.graph(updateMutation, { input: { id: account, metadata: { a: 'b' } } }),
      ]);
      expect(replies.map(({ codes }) => codes)).toEqual([['account_not_updatable'], ['account_not_updatable']]);
      expect(replies[0]!.status).toBe(400);
      expect(await read(speaker, account)).toEqual(before);
    };
    await refused(platform, platform.id);
    await refused(direct, direct.id);
    await refused(platform, partner.id);
    for (const step of ['activate', 'verify', 'hold', 'deactivate']) {
      const path = step === 'activate' ? `/v1/accounts/${id}/activate` : `/v1/test_helpers/accounts/${id}/${step}`;
      await must(platform.post(path));
      await refused(platform, id);
    }
  });

  const withheld: Record<Edition, [input: object, body: object, field: string][]> = {
    1: [
      [
        { supportingDocumentation: { physicalAddressDocument: 'file_1' } },
        { supporting_documentation: { physical_address_document: 'file_1' } },
        'supporting_documentation.physical_address_document',
      ],
    ],
    2: [
      [
        { businessDetails: { estimatedMonthlyVolume: { amount: '10.00', currency: 'USD' } } },
        { business_details: { estimated_monthly_volume: { amount: '10.00', currency: 'USD' } } },
        'business_details.estimated_monthly_volume',
      ],
      [
        { supportingDocumentation: { ownershipStructureDocument: 'file_1' } },
        { supporting_documentation: { ownership_structure_document: 'file_1' } },
        'supporting_documentation.ownership_structure_document',
      ],
    ],
  };
  it.each([1, 2] as const)('is one with the other edition’s parameters, Edition %i', async (edition) => {
    const platform = await given.platform(edition);
    const { id } = await platform.connectedUser();
    const before = await read(platform, id);
    for (const [input, body, field] of withheld[edition]) {
      const replies = await Promise.all([
        update(platform, id, body),
        platform.graph(updateMutation, { input: { id, ...input } }),
        platform.graph(createMutation, { input }),
      ]);
      expect(replies.map(({ codes, fieldNames }) => [codes, fieldNames])).toEqual(
        replies.map(() => [['parameter_unknown'], [`account.${field}`]]),
      );
      expect(replies[0]!.status).toBe(400);
    }
    expect(await read(platform, id)).toEqual(before);
  });

  it('is in Edition 2 one of the acceptance of the terms', async () => {
    const platform = await given.platform(2);
    const { id } = await platform.connectedUser();
    const replies = await Promise.all([
      update(platform, id, { tos_acceptance: { ip: '203.0.113.7' } }),
      platform.graph(updateMutation, { input: { id, tosAcceptance: { ip: '203.0.113.7' } } }),
    ]);
    expect(replies.map(({ codes, fieldNames }) => [codes, fieldNames])).toEqual(
      replies.map(() => [['parameter_unknown'], ['account.tos_acceptance']]),
    );
    expect((await read(platform, id)).tos_acceptance).toEqual({ ip: null, time: null, user_agent: null });
  });
});

describe('acting on behalf of a connected user', () => {
  it.each([1, 2] as const)('a platform creates partners that belong to the user, Edition %i', async (edition) => {
    const platform = await given.platform(edition);
    const user = await platform.connectedUser();

    const partner = await platform.actingFor(user.id).partner();

    const owner = await must(
      platform.graph('query ($id: ID!) { account(id: $id) { owner { id } } }', { id: partner.id }),
    );
    expect(owner.data.account.owner).toEqual({ id: user.id });
    const ids = async (speaker: Speaker) =>
      (await must(speaker.get('/v1/accounts'))).data.map((a: { id: string }) => a.id);
    expect(await ids(user)).toEqual([partner.id, user.id]);
    expect(await ids(platform.actingFor(user.id))).toEqual([partner.id, user.id]);
    expect(await ids(platform)).toEqual([user.id, platform.id]);
    // On no other list, but the platform can see it.
    expect(await read(platform, partner.id)).toEqual(await read(user, partner.id));
  });

  it('a platform can also create through GraphQL, and viewer shows the acting account', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const made = await must(
      platform
        .actingFor(user.id)
        .graph(
          'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { type owner { id } } } }',
          {
            input: {
              type: 'PARTNER',
              nickname: nickname(),
              businessDetails: {
                legalName: 'A',
                email: 'a@b.example',
                type: 'COMPANY',
                physicalAddress: { country: 'US' },
              },
            },
          },
        ),
    );
    expect(made.data.createAccount.account).toEqual({ type: 'PARTNER', owner: { id: user.id } });
    const viewer = await must(platform.actingFor(user.id).graph('{ viewer { onBehalf account { id } } }'));
    expect(viewer.data.viewer).toEqual({ onBehalf: true, account: { id: user.id } });
  });

  it('is for platforms, and for their own connected users of the same mode', async () => {
    const [platform, direct, stranger] = await Promise.all([
      given.platformBoth(1),
      given.directUser(1),
      given.platform(1),
    ]);
    const [user, other, foreign] = await Promise.all([
      platform.test.connectedUser(),
      platform.test.connectedUser(),
      stranger.connectedUser(),
    ]);
    const partner = await platform.test.partner();
    const rows: [Speaker, string, number, string][] = [
      [platform.test, foreign.id, 404, 'resource_missing'],
      [platform.test, partner.id, 404, 'resource_missing'],
      [platform.test, 'account_0', 404, 'resource_missing'],
      [platform.live, user.id, 404, 'resource_missing'],
      [direct, direct.id, 403, 'permission_denied'],
      [user, other.id, 403, 'permission_denied'],
      [user, user.id, 403, 'permission_denied'],
    ];
    const replies = await Promise.all(
      rows.flatMap(([speaker, id]) => [
        speaker.actingFor(id).get('/v1/accounts'),
        speaker.actingFor(id).graph('{ viewer { edition } }'),
      ]),
    );
    expect(replies.map(({ status, codes }) => [status, codes])).toEqual(
      rows.flatMap(([, , status, code]) => [
        [status, [code]],
        [status, [code]],
      ]),
    );
  });
});

describe('the edges of an account', () => {
  it('can all be walked, both ways, in one query', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [partner, ofPlatform] = [await user.partner(), await platform.partner()];
    const [person, file, address] = await Promise.all([
      must(platform.post('/v1/persons', personBody(user.id, ['owner']))),
      must(user.upload('logo', pdf())),
      must(platform.post('/v1/addresses', payoutAddressBody(user.id))),
    ]);
    await must(update(user, user.id, { logo_id: file.id }));
    const settings = await Promise.all(
      [platform.id, user.id, partner.id].map(
        async (id) => (await must(platform.get(`/v1/account_settings?account_id=${id}`))).data[0].id,
      ),
    );

    const graph = await must(
      platform.graph(
        `query ($user: ID!, $partner: ID!, $setting: ID!, $person: ID!, $file: ID!, $address: ID!) {
          viewer { account {
            id owner { id }
            setting { id account { id } }
            connectedUsers { totalCount nodes {
              id owner { id }
              setting { id account { id } }
              connectedUsers { nodes { id } }
              partners { nodes { id owner { id owner { id owner { id } } } setting { id account { id } } partners {
              nodes { id } } } }
              persons { nodes { id account { id } } }
              files { nodes { id account { id } } }
              logo { id account { id } }
              addresses { nodes { id account { id } } }
              apiKeys { nodes { account { id } } }
            } }
            partners { nodes { id owner { id } } }
            addresses(category: [SERVICE_FEE_ADVANCE]) { nodes { category account { id } } }
            apiKeys { nodes { account { id } } }
          } }
          account(id: $user) { partners { nodes { id } } }
          leaf: account(id: $partner) { owner { connectedUsers { nodes { id } } owner { connectedUsers { nodes {
          partners { nodes { id } } } } } } }
          accountSetting(id: $setting) { account { id setting { id } } }
          person(id: $person) { account { id persons { nodes { id } } } }
          file(id: $file) { account { id files { nodes { id } } } }
          address(id: $address) { account { id addresses { nodes { id } } } }
        }`,
        {
          user: user.id,
          partner: partner.id,
          setting: settings[1],
          person: person.id,
          file: file.id,
          address: address.id,
        },
      ),
    );

    const [ofRoot, ofUser, ofPartner] = settings;
    const self = { account: { id: user.id } };
    expect(graph.data).toEqual({
      viewer: {
        account: {
          id: platform.id,
          owner: null,
          setting: { id: ofRoot, account: { id: platform.id } },
          connectedUsers: {
            totalCount: 1,
            nodes: [
              {
                id: user.id,
                owner: { id: platform.id },
                setting: { id: ofUser, ...self },
                connectedUsers: { nodes: [] },
                partners: {
                  nodes: [
                    {
                      id: partner.id,
                      owner: { id: user.id, owner: { id: platform.id, owner: null } },
                      setting: { id: ofPartner, account: { id: partner.id } },
                      partners: { nodes: [] },
                    },
                  ],
                },
                persons: { nodes: [{ id: person.id, ...self }] },
                files: { nodes: [{ id: file.id, ...self }] },
                logo: { id: file.id, ...self },
                addresses: { nodes: [{ id: address.id, ...self }] },
                apiKeys: { nodes: [self] },
              },
            ],
          },
          partners: { nodes: [{ id: ofPlatform.id, owner: { id: platform.id } }] },
          addresses: { nodes: [{ category: 'SERVICE_FEE_ADVANCE', account: { id: platform.id } }] },
          apiKeys: { nodes: [{ account: { id: platform.id } }] },
        },
      },
      account: { partners: { nodes: [{ id: partner.id }] } },
      leaf: {
        owner: {
          connectedUsers: { nodes: [] },
          owner: { connectedUsers: { nodes: [{ partners: { nodes: [{ id: partner.id }] } }] } },
        },
      },
      accountSetting: { account: { id: user.id, setting: { id: ofUser } } },
      person: { account: { id: user.id, persons: { nodes: [{ id: person.id }] } } },
      file: { account: { id: user.id, files: { nodes: [{ id: file.id }] } } },
      address: { account: { id: user.id, addresses: { nodes: [{ id: address.id }] } } },
    });
  });

  // A user must not get to its platform, and from there to the platform's other users.
  it('end where the visibility ends: a connected user finds neither its owner nor other users', async () => {
    const platform = await given.platform(1);
    const [user, neighbour] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    await neighbour.partner();
    for (const speaker of [user, platform.actingFor(user.id)]) {
      const graph = await must(
        speaker.graph(
          'query ($id: ID!) { account(id: $id) { id owner { id connectedUsers { ' +
            'nodes { id } } } } accounts { nodes { id } } }',
          { id: user.id },
        ),
      );
      expect(graph.data).toEqual({ account: { id: user.id, owner: null }, accounts: { nodes: [{ id: user.id }] } });
    }
  });
});

describe.each([1, 2] as const)('POST /v1/accounts/connected, Edition %i', (edition) => {
  it('creates the same connected user as the mutation', async () => {
    const platform = await given.platform(edition);
    const name = nickname();
    const { body } = await platform.post('/v1/accounts/connected', { nickname: name, metadata: { a: '1' } });
    expect(body).toEqual({ ...blank(edition, body.id), nickname: name, metadata: { a: '1' } });
    const listed = await platform.get('/v1/accounts?type=user');
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([body.id]);
  });

  it.each([
    {},
    { nickname: null },
    { nickname: ' ', business_details: {} },
    { business_details: { ids: { tax: '' } }, metadata: {} },
  ])('refuses %j, which says nothing about the user, and stores nothing', async (input) => {
    const platform = await given.platform(edition);
    const reply = await platform.post('/v1/accounts/connected', input);
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
      400,
      ['parameter_missing'],
      ['account.business_details'],
    ]);
    const listed = await platform.get('/v1/accounts');
    expect(listed.body.data).toHaveLength(1);
  });

  it('refuses an empty input of the mutation, too', async () => {
    const platform = await given.platform(edition);
    const reply = await platform.graph(createMutation, { input: {} });
    expect([reply.codes, reply.fieldNames]).toEqual([['parameter_missing'], ['account.business_details']]);
  });

  it('is for platforms, and not for a platform that acts for a user', async () => {
    const platform = await given.platform(edition);
    const user = await platform.connectedUser();
    const input = { nickname: nickname() };
    const replies = await Promise.all(
      [user, await given.directUser(edition), platform.actingFor(user.id)].map((speaker) =>
        speaker.post('/v1/accounts/connected', input),
      ),
    );
    expect(replies.map(({ status, codes }) => [status, codes])).toEqual(
      Array.from({ length: 3 }, () => [403, ['permission_denied']]),
    );
  });
});

describe('a platform that uses /v1 alone', () => {
  it('is told how a connected user and its partners are created', async () => {
    const platform = await given.platform(1);
    const reply = await platform.post('/v1/accounts', {
      type: 'user',
      nickname: nickname(),
      business_details: details(),
    });
    expect([reply.status, reply.fieldNames]).toEqual([400, ['account.type']]);
    expect(reply.body.errors[0].message).toContain('POST /v1/accounts/connected');
    expect(reply.body.errors[0].message).toContain('On-Behalf-Of');
  });

  it('lists its own partners, and those of its users', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [own, ofUser] = [await platform.partner(), await user.partner()];
    const listed = async (owner: string, speaker = platform) => {
      const { status, body } = await speaker.get(`/v1/accounts/${owner}/partners`);
      return status === 200 ? body.data.map(({ id }: { id: string }) => id) : status;
    };
    expect(await listed(platform.id)).toEqual([own.id]);
    expect(await listed(user.id)).toEqual([ofUser.id]);
    expect(await listed(user.id, user)).toEqual([ofUser.id]);
    expect(await listed(own.id)).toEqual([]);
    // The platform does not exist for its user.
    expect(await listed(platform.id, user)).toBe(404);
    expect((await platform.get(`/v1/accounts/${platform.id}/partners?status=hold`)).body.data).toEqual([]);
    const graph = await platform.graph('{ partners(status: DRAFT) { nodes { id } totalCount } }');
    expect(graph.body.data.partners).toEqual({ nodes: [{ id: own.id }], totalCount: 1 });
  });

  it("is told to act for the user when it sends money of the user's partner to itself", async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const partner = await user.partner();
    const refused = await platform.post('/v1/deposits', {
      amount: '10.00',
      currency: 'USD',
      from: { account_id: partner.id },
    });
    expect([refused.status, refused.fieldNames]).toEqual([400, ['deposit.from.account_id']]);
    expect(refused.body.errors[0].message).toContain('On-Behalf-Of');
  });
});
