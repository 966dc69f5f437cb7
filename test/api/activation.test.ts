import { beforeAll, describe, expect, it, vi } from 'vitest';
import { personBody } from '../support/bodies.js';
import { patience } from '../support/scale.js';
import {
  assemble,
  type BusinessType,
  businessTypes,
  complete,
  documentsOf,
  type OnboardingProfile,
  type Purpose,
  type Role,
  secondDetails,
  without,
} from '../support/onboarding-profile.js';
import { givenIn, must, payoutAddressBody, payoutAddressInput, Speaker, tenantOf, useWorld } from '../support/world.js';
import { activate, nothing, statusOf } from './activation-fixture.js';

vi.setConfig(patience);

// Without a worker no state changes by itself, so that a test can look at every state.
const world = useWorld({ worker: false });
const given = givenIn(world);

const entry = (fieldName: string) => ({
  code: 'account_requirements_missing',
  message: expect.stringMatching(/./),
  metadata: expect.objectContaining({ field_name: fieldName }),
});
/** The complete response to an activation that lacks only this. */
const lacks = (...fieldNames: string[]) => ({
  object: 'error',
  http_status_code: 400,
  errors: fieldNames.map(entry),
});

/** A connected user of a platform as a client, with a key of its own. */
async function keyOf(platform: Speaker, id: string): Promise<Speaker> {
  const mutation = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
  const { data } = await must(platform.graph(mutation, { input: { accountId: id } }));
  return new Speaker(world, id, data.createApiKey.secret, platform.edition);
}

interface Case {
  title: string;
  profile: OnboardingProfile;
  /** The field that the error names; null if the profile activates. */
  missing: string | null;
}

/** Edition 1, rule 3: the details that identify a business, and those of them that are required. */
function identification(type: BusinessType): Case[] {
  const whole = complete(1, type);
  const bare = { ...whole, details: { type }, document: null };
  const by = (details: object, document: Purpose | null = null): OnboardingProfile => ({
    ...bare,
    details: { type, ...details },
    document,
  });
  const does = (title: string, profile: OnboardingProfile) => ({ title: `${title} will do`, profile, missing: null });
  const lacking = (title: string, profile: OnboardingProfile, missing: string) => ({ title, profile, missing });
  if (type === 'partnership') {
    const gst = 'account.business_details.ids.tax_gst';
    const deed = 'account.supporting_documentation.id_document';
    return [
      does('a GST id with a partnership deed', by({ tax_gst: 'G' }, 'identity_document')),
      lacking('without a GST id', by({}, 'identity_document'), gst),
      lacking(
        'a company number or tax id is not a GST id',
        by({ ids: { business: 'B', tax: 'T' } }, 'identity_document'),
        gst,
      ),
      lacking('without a partnership deed', by({ tax_gst: 'G' }), deed),
      lacking('a GST certificate is no deed', by({ tax_gst: 'G' }, 'tax_document'), deed),
      lacking('an incorporation certificate is no deed', by({ tax_gst: 'G' }, 'additional_verification'), deed),
    ];
  }
  if (type === 'sole_proprietor' || type === 'individual') {
    const place = { line1: '1 Wharf', city: 'Pune', postal_code: '411001', country: 'IN' };
    const gst = 'account.business_details.ids.tax_gst';
    return [
      does('a GST id', by({ tax_gst: 'G' })),
      does('a GST id in ids', by({ ids: { tax_gst: 'G' } })),
      does('a GST certificate', by({}, 'tax_document')),
      does('a physical address', by({ physical_address: place })),
      ...Object.keys(place).map((part) =>
        lacking(`a physical address without ${part}`, by({ physical_address: without(place, part) }), gst),
      ),
      lacking('without any of them', bare, gst),
      lacking('a physical address of nothing is none', by({ physical_address: { line1: null } }), gst),
      lacking('a tax id copy is no GST certificate', by({}, 'identity_document'), gst),
      lacking('an incorporation certificate is no GST certificate', by({}, 'additional_verification'), gst),
      lacking('a company number or tax id is not a GST id', by({ ids: { business: 'B', tax: 'T' } }), gst),
    ];
  }
  const number = 'account.business_details.ids.business';
  return [
    does('an identification number', by({ ids: { business: 'B' } })),
    does('a business tax id', by({ ids: { tax: 'T' } })),
    does('a GST id', by({ tax_gst: 'G' })),
    does('a GST id in ids', by({ ids: { tax_gst: 'G' } })),
    does('an incorporation certificate', by({}, 'additional_verification')),
    does('a tax id copy', by({}, 'identity_document')),
    does('a GST certificate', by({}, 'tax_document')),
    lacking('without any of them', bare, number),
    lacking('other numbers do not identify a business', by({ ids: { tax_deduction: 'D', tax_trade: 'X' } }), number),
    lacking(
      'an address does not identify a business',
      by({ physical_address: { line1: '1 Wharf', country: 'IN' } }),
      number,
    ),
  ];
}

/** Edition 1, rule 4 and decisions 3.5: the persons that a business requires. */
function people(type: BusinessType): Case[] {
  const whole = complete(1, type);
  const of = (title: string, persons: Role[][], missing: string | null) => ({
    title,
    profile: { ...whole, persons },
    missing,
  });
  if (type === 'sole_proprietor' || type === 'individual') {
    const owner = 'account.persons.owner';
    return [
      of('without its owner', [], owner),
      of('two owners are one too many', [['owner'], ['owner']], owner),
      of('an owner beside a director', [['owner'], ['director']], owner),
      of('a director alone is no owner', [['director']], owner),
      of('an owner who is director too', [['owner', 'director']], owner),
      of('an owner who is representative too', [['owner', 'representative']], owner),
    ];
  }
  return [
    of('one person in every role will do', [['director', 'owner', 'representative']], null),
    of('more persons than needed will do', [['director'], ['director'], ['owner'], ['owner', 'representative']], null),
    of('without a director', [['owner'], ['representative']], 'account.persons.director'),
    of('without an owner', [['director'], ['representative']], 'account.persons.owner'),
    of('without a representative', [['director', 'owner']], 'account.persons.representative'),
  ];
}

const firstCases = (type: BusinessType): Case[] => [
  { title: 'a complete profile activates', profile: complete(1, type), missing: null },
  ...identification(type),
  ...people(type),
  {
    title: 'without a payout address',
    profile: { ...complete(1, type), payoutAddress: false },
    missing: 'account.addresses.user_payout',
  },
];

const secondCases: Case[] = [
  { title: 'a complete profile activates', profile: complete(2), missing: null },
  ...businessTypes.map((type) => ({
    title: `the type ${type} requires nothing more`,
    profile: complete(2, type),
    missing: null,
  })),
  ...secondDetails.map((path) => ({
    title: `without business_details.${path}`,
    profile: { ...complete(2), details: without(complete(2).details, path) },
    missing: `account.business_details.${path}`,
  })),
  { title: 'without a nickname', profile: { ...complete(2), nickname: false }, missing: 'account.nickname' },
  {
    title: 'one director is too few',
    profile: { ...complete(2), persons: [['director'], ['owner', 'representative']] },
    missing: 'account.persons.director',
  },
  { title: 'without persons', profile: { ...complete(2), persons: [] }, missing: 'account.persons.director' },
  {
    title: 'two directors of any further role are sufficient',
    profile: {
      ...complete(2),
      persons: [
        ['director', 'owner'],
        ['director', 'representative'],
      ],
    },
    missing: null,
  },
  {
    title: 'without a payout address',
    profile: { ...complete(2), payoutAddress: false },
    missing: 'account.addresses.user_payout',
  },
];

const tables = [
  ...businessTypes.map((type) => ({ edition: 1 as const, of: `of type ${type}`, cases: firstCases(type) })),
  { edition: 2 as const, of: 'of any type', cases: secondCases },
];

describe.each(tables)('activating a connected user $of, Edition $edition', ({ edition, cases }) => {
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(edition);
  });
  it.concurrent.each(cases)('$title', async ({ profile, missing }) => {
    const id = await assemble(platform, profile);

    const reply = await activate(platform, id);

    expect(reply.body).toEqual(
      missing === null ? expect.objectContaining({ id, status: 'verifying' }) : lacks(missing),
    );
    expect(reply.status).toBe(missing === null ? 200 : 400);
    expect(await statusOf(platform, id)).toBe(missing === null ? 'verifying' : 'draft');
  });
});

describe('a missing requirement', () => {
  it('is shown with all others, equally by both APIs, and before an activation', async () => {
    const platform = await given.platform(2);
    const id = await assemble(platform, nothing);
    const expected = [
      ...secondDetails.map((path) => `account.business_details.${path}`),
      'account.nickname',
      'account.persons.director',
      'account.addresses.user_payout',
    ];

    const asked = await platform.graph('query ($id: ID!) { account(id: $id) { requirements { fieldName } } }', { id });
    const rest = await activate(platform, id);
    const graph = await platform.graph(
      'mutation ($input: ActivateAccountInput!) { activateAccount(input: $input) { account { id } } }',
      { input: { id } },
    );

    expect(asked.body.data.account.requirements.map((r: { fieldName: string }) => r.fieldName).sort()).toEqual(
      expected.toSorted(),
    );
    expect(rest.fieldNames.toSorted()).toEqual(expected.toSorted());
    expect(new Set(rest.codes)).toEqual(new Set(['account_requirements_missing']));
    expect(graph.fieldNames).toEqual(rest.fieldNames);
    expect(graph.body.errors.map((e: any) => e.extensions.error)).toEqual(rest.body.errors);
    expect(graph.body.errors.map((e: any) => [e.extensions.code, e.extensions.httpStatus])).toEqual(
      expected.map(() => ['ACCOUNT_REQUIREMENTS_MISSING', 400]),
    );
  });

  it.each(['sole_proprietor', 'individual'] as const)(
    'is the tax card of an owner who has only a passport, if the business is a %s',
    async (type) => {
      const platform = await given.platform(1);
      const id = await assemble(platform, { ...complete(1, 'company'), persons: [] });
      const passport_image = (await documentsOf(platform)).identity_document;
      const person = { ...personBody(id, ['owner']), identification: { passport_image } };
      await must(platform.post('/v1/persons', person));
      await must(platform.post(`/v1/accounts/${id}`, { business_details: complete(1, type).details }));

      const reply = await activate(platform, id);

      expect([reply.status, reply.body]).toEqual([400, lacks('account.persons.owner')]);
    },
  );

  it('names the members that a physical address needs to be an alternative', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, { ...complete(1, 'individual'), details: { type: 'individual' } });
    const reply = await activate(platform, id);
    expect(reply.fieldNames).toEqual(['account.business_details.ids.tax_gst']);
    expect(reply.body.errors[0].message).toContain(
      'account.business_details.physical_address (with line1, city, postal_code and country)',
    );
    expect(reply.body.errors[0].metadata.alternatives).toContain('account.business_details.physical_address');
  });

  it('is a stored value that is older than its format and does not match it', async () => {
    const platform = await given.platform(2);
    const id = await assemble(platform, complete(2));
    await world.sql`update account set business_details = business_details ||
      '{"website": "nowhere", "merchantCategoryCode": "12", "dateOfIncorporation": "soon"}' where id = ${id}`;
    expect((await activate(platform, id)).fieldNames).toEqual([
      'account.business_details.date_of_incorporation',
      'account.business_details.merchant_category_code',
      'account.business_details.website',
    ]);
  });

  it('is a value of only blanks', async () => {
    const platform = await given.platform(2);
    const whole = complete(2);
    const id = await assemble(platform, { ...whole, details: { ...whole.details, dba: '  ', website: ' \t ' } });
    expect((await activate(platform, id)).fieldNames.toSorted()).toEqual([
      'account.business_details.dba',
      'account.business_details.website',
    ]);
    const shown = (await platform.get(`/v1/accounts/${id}`)).body.business_details;
    expect([shown.dba, shown.website]).toEqual([null, null]);
  });

  it('is, in Edition 1 without a type of business, the type and the requirements of every type', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, { ...complete(1), details: {}, payoutAddress: false });

    const reply = await activate(platform, id);

    expect(reply.fieldNames.toSorted()).toEqual(['account.addresses.user_payout', 'account.business_details.type']);
  });

  // Payouts need an activated address.
  it('is a payout address again once the only one is no longer activated', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, complete(1));
    const [address] = (await must(platform.get(`/v1/addresses?linked_id=${id}`))).data;
    await must(platform.post(`/v1/test_helpers/addresses/${address.id}/expire`));

    const reply = await activate(platform, id);

    expect(reply.body).toEqual(lacks('account.addresses.user_payout'));
  });

  // Spec: Activate an Account, Edition 1. "An address of category user_payout created by the platform for the user."
  it('is in Edition 1 a payout address that the platform has made, with On-Behalf-Of or for the user', async () => {
    const platform = await given.platform(1);
    const requirements = async (id: string) => {
      const query = 'query ($id: ID!) { account(id: $id) { requirements { fieldName message } } }';
      return (await must(platform.graph(query, { id }))).data.account.requirements;
    };
    for (const through of ['REST', 'GraphQL'] as const) {
      const id = await assemble(platform, { ...complete(1), payoutAddress: false });
      const own = await keyOf(platform, id);
      const make = (by: Speaker) =>
        through === 'REST'
          ? must(by.post('/v1/addresses', payoutAddressBody(id)))
          : must(
              by.graph('mutation ($input: CreateAddressInput!) { createAddress(input: $input) { address { id } } }', {
                input: payoutAddressInput(id),
              }),
            );
      await make(own);
      const refused = await activate(platform, id);
      expect(refused.body).toEqual(lacks('account.addresses.user_payout'));
      expect(refused.body.errors[0].message).toContain('with a key of the platform');
      expect(await requirements(id)).toMatchObject([{ fieldName: 'account.addresses.user_payout' }]);
      await make(through === 'REST' ? platform.actingFor(id) : platform);
      expect(await requirements(id)).toEqual([]);
      expect((await activate(platform, id)).status).toBe(200);
    }
  });

  it('is in Edition 2 also met by a payout address that the user made', async () => {
    const platform = await given.platform(2);
    const id = await assemble(platform, { ...complete(2), payoutAddress: false });
    await must((await keyOf(platform, id)).post('/v1/addresses', payoutAddressBody(id)));
    expect((await activate(platform, id)).status).toBe(200);
  });

  it('is met by an address that was stored before the row said who made it', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, { ...complete(1), payoutAddress: false });
    const [row] = await world.database.call('create_address', [
      tenantOf(platform),
      false,
      '{}',
      JSON.stringify({
        ...{ linkedId: id, category: 'user_payout', type: 'bank_account', currency: 'INR', name: 'Acme' },
        ...{ bankAccount: { number: '004501551234' }, billingDetails: {}, supportingDocumentation: null },
        byPlatform: false,
      }),
    ]);
    expect((await activate(platform, id)).status).toBe(400);
    await world.sql`update address set by_platform = default where id = ${row!.id as string}`;
    expect((await activate(platform, id)).status).toBe(200);
  });

  // The rules do not depend on the caller: a document that the platform uploaded counts as well.
  it('is the same for the user itself as for its platform, also when the other one uploaded the document', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, { ...complete(1, 'partnership') });
    const key = await must(
      platform.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
        input: { accountId: id },
      }),
    );
    const ask = { query: 'query ($id: ID!) { account(id: $id) { requirements { fieldName } } }', variables: { id } };

    const asked = await Promise.all(
      [platform, platform.using(key.data.createApiKey.secret), platform.actingFor(id)].map((speaker) =>
        speaker.post('/graphql', ask),
      ),
    );

    expect(asked.map(({ body }) => body.data?.account?.requirements)).toEqual([[], [], []]);
  });

  it('is the same for a platform that acts for its user, so that the activation goes through', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, { ...complete(1, 'partnership') });

    const reply = await activate(platform.actingFor(id), id);

    expect([reply.status, reply.fieldNames, reply.body.status]).toEqual([200, [], 'verifying']);
  });

  it('does not exist for partners, whose creation requires all, or roots, which the operator judges', async () => {
    for (const edition of [1, 2] as const) {
      const platform = await given.platform(edition);
      const partner = await platform.partner();
      const asked = await platform.graph(
        'query ($root: ID!, $partner: ID!) { root: account(id: $root) { requirements { fieldName } } partner: ' +
          'account(id: $partner) { requirements { fieldName } } }',
        { root: platform.id, partner: partner.id },
      );
      expect(asked.body.data).toEqual({ root: { requirements: [] }, partner: { requirements: [] } });
    }
  });

  // A nickname of blanks is empty; stored as null, it would make a partner that can never be activated.
  it('is never the nickname of a partner of Edition 1, since creation refuses one of blanks', async () => {
    const user = await given.directUser(1);

    const reply = await user.post('/v1/accounts', {
      type: 'partner',
      nickname: '  ',
      business_details: {
        legal_name: 'Blue Whale',
        email: 'a@b.example',
        type: 'company',
        physical_address: { country: 'US' },
      },
    });

    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
      400,
      ['parameter_invalid_empty'],
      ['account.nickname'],
    ]);
  });
});

describe.each([1, 2] as const)('permission to activate, Edition %i', (edition) => {
  /** A platform with a user of a complete profile, a partner of each, and an outsider's partner. */
  async function company() {
    const [platform, direct, outsider] = await Promise.all([
      given.platform(edition),
      given.directUser(edition),
      given.directUser(edition),
    ]);
    const userId = await assemble(platform, complete(edition));
    const key = await must(
      platform.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
        input: { accountId: userId },
      }),
    );
    const user = platform.using(key.data.createApiKey.secret);
    const [ofPlatform, ofUser, ofDirect, ofOutsider] = await Promise.all(
      [platform, user, direct, outsider].map(async (speaker) => (await speaker.partner()).id as string),
    );
    return {
      speakers: { platform, direct, user, acting: platform.actingFor(userId) },
      ids: { platform: platform.id, direct: direct.id, user: userId, ofPlatform, ofUser, ofDirect, ofOutsider },
    };
  }
  type Speakers = keyof Awaited<ReturnType<typeof company>>['speakers'];
  type Ids = keyof Awaited<ReturnType<typeof company>>['ids'];
  const rows: [Speakers, Ids, 200 | 403 | 404][] = [
    ['platform', 'user', 200],
    ['platform', 'ofPlatform', 200],
    ['platform', 'ofUser', 200],
    ['platform', 'platform', 403],
    ['platform', 'ofOutsider', 404],
    ['acting', 'user', 200],
    ['acting', 'ofUser', 200],
    ['acting', 'ofPlatform', 404],
    ['acting', 'platform', 404],
    ['direct', 'ofDirect', 200],
    ['direct', 'direct', 403],
    ['direct', 'ofOutsider', 404],
    ['user', 'user', 403],
    ['user', 'ofUser', 403],
    ['user', 'ofPlatform', 404],
    ['user', 'platform', 404],
  ];
  const answers = {
    200: { codes: [], status: 'verifying' },
    403: { codes: ['permission_denied'], status: undefined },
    404: { codes: ['resource_missing'], status: undefined },
  };

  // What is refused changes nothing, so one company asks for all of it.
  let unchanged: Awaited<ReturnType<typeof company>>;
  beforeAll(async () => {
    unchanged = await company();
  });

  it.concurrent.each(rows)('%s activates %s: %i, in both APIs', async (speaker, target, status) => {
    const [one, two] = status === 200 ? await Promise.all([company(), company()]) : [unchanged, unchanged];

    const rest = await activate(one.speakers[speaker], one.ids[target]!);
    const graph = await two.speakers[speaker].graph(
      'mutation ($input: ActivateAccountInput!) { activateAccount(input: $input) { account { status } } }',
      { input: { id: two.ids[target] } },
    );

    expect([rest.status, rest.codes, rest.body.status]).toEqual([
      status,
      answers[status].codes,
      answers[status].status,
    ]);
    expect([graph.codes, graph.body.data?.activateAccount?.account.status]).toEqual([
      answers[status].codes,
      answers[status].status?.toUpperCase(),
    ]);
    if (status === 200) return;
    expect(graph.body.errors[0].extensions).toMatchObject({
      code: answers[status].codes[0]?.toUpperCase(),
      httpStatus: status,
    });
    const [stored] = await world.sql`select status from account where id = ${one.ids[target]!} and not livemode`;
    expect(stored!.status).toBe(target === 'platform' || target === 'direct' ? 'activated' : 'draft');
  });

  // Permission is checked before the state: a caller that may not activate learns nothing about missing requirements.
  it('is refused before the profile or the state is checked', async () => {
    const platform = await given.platform(edition);
    const user = await platform.connectedUser();

    const reply = await activate(user, user.id);

    expect([reply.status, reply.codes]).toEqual([403, ['permission_denied']]);
    expect(await statusOf(platform, user.id)).toBe('draft');
  });

  it('gives the same response for an invented id as for another tenant’s', async () => {
    const [platform, outsider] = await Promise.all([given.platform(edition), given.directUser(edition)]);
    const partner = await outsider.partner();
    const invented = `account_${'0'.repeat(32)}`;

    const [a, b] = await Promise.all([activate(platform, partner.id), activate(platform, invented)]);

    expect(a.status).toBe(404);
    expect(a.body).toEqual(b.body);
  });
});

describe('activating twice', () => {
  it('is refused during and after the verification of the first, and changes nothing', async () => {
    const user = await given.directUser(2);
    const { id } = await user.partner();
    const first = await must(activate(user, id));
    const again = await activate(user, id);
    await must(user.post(`/v1/test_helpers/accounts/${id}/verify`));
    const once = await activate(user, id);

    expect(first).toMatchObject({ id, object: 'account', status: 'verifying' });
    expect([again, once].map(({ status, body }) => [status, body])).toEqual(
      Array(2).fill([
        400,
        {
          object: 'error',
          http_status_code: 400,
          errors: [
            {
              code: 'status_invalid',
              message: expect.stringMatching(/./),
              metadata: { field_name: 'account.status' },
            },
          ],
        },
      ]),
    );
    expect(await statusOf(user, id)).toBe('activated');
  });

  // A client that lost the response repeats the request: it gets the first response, not an error about the state.
  it('with one idempotency key returns the first response again, for every status of the account', async () => {
    const user = await given.directUser(2);
    const { id } = await user.partner();
    const key = { 'idempotency-key': 'activate-1' };
    const first = await user.post(`/v1/accounts/${id}/activate`, undefined, key);
    await must(user.post(`/v1/test_helpers/accounts/${id}/verify`));
    const again = await user.post(`/v1/accounts/${id}/activate`, undefined, key);

    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([200, 'true', first.body]);
    expect(await statusOf(user, id)).toBe('activated');
  });
});

describe('two concurrent activations', () => {
  it('submit the account once', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();

    const replies = await Promise.all(Array.from({ length: 4 }, () => activate(user, partner.id)));

    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    // The second gets 400 if it is checked after the first has committed, and 409 if it is checked before and loses to
    // it.
    for (const { status, codes } of replies.filter((reply) => reply.status !== 200))
      expect([
        [400, ['status_invalid']],
        [409, ['state_conflict']],
      ]).toContainEqual([status, codes]);
    const events = await world.sql`select type from event where object_id = ${partner.id} order by id`;
    expect(events.map(({ type }) => type)).toEqual(['account.created', 'account.verifying']);
  });
});
