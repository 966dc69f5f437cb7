import { describe, expect, it } from 'vitest';
import { pdf, personBody } from '../support/bodies.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { type Edition, givenIn, must, nickname, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';
import { blank, createMutation, emptyIds, emptyPlace, read, update, updateMutation } from './connected-user-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

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
      ['logo', 'identity_document'].map(async (purpose) => (await must(platform.upload(purpose, pdf))).id),
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
    const [other, outsider] = await Promise.all([platform.connectedUser(), given.platform(1)]);
    const key = await must(
      platform.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
        input: { accountId: id },
      }),
    );
    const itself = platform.using(key.data.createApiKey.secret);
    const replies = await Promise.all(
      [platform, itself, platform.actingFor(id), other, outsider, platform.actingFor(other.id)].map((speaker, i) =>
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

describe('the edges of an account', () => {
  it('can all be walked, both ways, in one query', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [partner, ofPlatform] = [await user.partner(), await platform.partner()];
    const [person, file, address] = await Promise.all([
      must(platform.post('/v1/persons', personBody(user.id, ['owner']))),
      must(user.upload('logo', pdf)),
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
