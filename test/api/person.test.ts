import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sealTaxCards } from '../../src/resources/person/encryption.js';
import { Secrets } from '../../src/config/secrets.js';
import {
  assemble,
  type BusinessType,
  businessTypes,
  complete,
  pdf,
  personBody,
  type Role,
} from '../support/onboarding-profile.js';
import {
  inputTypeOf,
  type Transport,
  must,
  transports,
  type Edition,
  givenIn,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const number = 'ABCPE1234F';
const create = (speaker: Speaker, body: object) => speaker.post('/v1/persons', body);

/** A connected user in draft with this type of business. */
async function userOf(platform: Speaker, type: BusinessType): Promise<string> {
  const made = await must(
    platform.graph(
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
      { input: { businessDetails: { type: type.toUpperCase() } } },
    ),
  );
  return made.data.createConnectedUser.account.id;
}

describe('creating a person', () => {
  it.each([1, 2] as const)(
    'returns the person with its keys in order and a masked number, Edition %i',
    async (edition) => {
      const platform = await given.platform(edition);
      const user = await userOf(platform, 'company');
      const image = (await must(platform.upload('identity_document', pdf()))).id;

      const reply = await create(platform, {
        account_id: user,
        full_name: 'Meera Rao',
        relationship: { director: true, representative: true },
        identification: { tax_card_number: number, tax_card_image: image },
        metadata: { crm: '42' },
      });

      expect(reply.status).toBe(200);
      expect(reply.body).toEqual({
        id: expect.stringMatching(/^person_[0-9a-f]{32}$/),
        object: 'person',
        created: expect.any(Number),
        livemode: false,
        account_id: user,
        full_name: 'Meera Rao',
        relationship: { director: true, owner: false, representative: true },
        identification: { tax_card_number: '••••••234F', tax_card_image: image, passport_image: null },
        metadata: { crm: '42' },
      });
      expect(Object.keys(reply.body)).toEqual(
        'id object created livemode account_id full_name relationship identification metadata'.split(' '),
      );
      expect(await must(platform.get(`/v1/persons/${reply.body.id}`))).toEqual(reply.body);
    },
  );

  it('creates it for the acting account by default', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const { account_id: _, ...body } = personBody(user.id, ['director']);
    const made = await Promise.all(
      [platform, user, platform.actingFor(user.id)].map((speaker) => must(create(speaker, body))),
    );
    expect(made.map(({ account_id }) => account_id)).toEqual([platform.id, user.id, user.id]);
  });

  it.each(['{}', 'null', 'absent'])('needs no identification in Edition 2: %s', async (sent) => {
    const platform = await given.platform(2);
    const { identification: _, ...body } = personBody(platform.id, ['director']);
    const none = { tax_card_number: null, tax_card_image: null, passport_image: null };
    const made = await must(
      create(platform, { ...body, ...(sent !== 'absent' && { identification: JSON.parse(sent) }) }),
    );
    expect(made.identification).toEqual(none);
    expect((await must(platform.get('/v1/persons'))).data).toEqual([made]);
    await world.database.call('number_events', [platform.id.replace('account_', ''), false, 500]);
    const { data } = await must(platform.get('/v1/events?type=person.created'));
    expect(data[0].data.object.identification).toEqual(none);
  });

  it('refuses a partner, and accounts outside the visibility', async () => {
    const [platform, stranger] = await Promise.all([given.platform(1), given.directUser(1)]);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const partner = await platform.partner();

    const replies = await Promise.all([
      create(platform, personBody(partner.id, ['owner'])),
      create(platform, personBody(stranger.id, ['owner'])),
      create(user, personBody(platform.id, ['owner'])),
      create(user, personBody(other.id, ['owner'])),
    ]);

    expect(replies.map(({ status, fieldNames }) => [status, fieldNames])).toEqual([
      [400, ['person.account_id']],
      ...Array(3).fill([404, ['person.account_id']]),
    ]);
    expect((await must(platform.get('/v1/persons'))).data).toEqual([]);
  });

  const company = { relationship: { director: true }, identification: { tax_card_number: number } };
  const refused: [title: string, body: object, problems: string[]][] = [
    ['nothing', {}, ['parameter_missing full_name', 'parameter_missing relationship']],
    ['an empty name', { ...company, full_name: '' }, ['parameter_invalid_empty full_name']],
    ['a name of null', { ...company, full_name: null }, ['parameter_invalid_empty full_name']],
    ['a name that is not a text', { ...company, full_name: 7 }, ['parameter_invalid full_name']],
    [
      'an empty relationship',
      { ...company, full_name: 'A', relationship: {} },
      ['parameter_invalid_empty relationship'],
    ],
    [
      'an unknown role',
      { ...company, full_name: 'A', relationship: { director: true, chef: true } },
      ['parameter_unknown relationship.chef'],
    ],
    [
      'a role that is neither',
      { ...company, full_name: 'A', relationship: { director: 'yes' } },
      ['parameter_invalid relationship.director'],
    ],
    [
      'an unknown document',
      { ...company, full_name: 'A', identification: { tax_card_number: number, visa: 'x' } },
      ['parameter_unknown identification.visa'],
    ],
    [
      'a number that is none',
      { ...company, full_name: 'A', identification: { tax_card_number: 1234567890 } },
      ['parameter_invalid identification.tax_card_number'],
    ],
    ['an unknown parameter', { ...company, full_name: 'A', email: 'a@b.example' }, ['parameter_unknown email']],
    [
      'metadata that are not texts',
      { ...company, full_name: 'A', metadata: { n: 1 } },
      ['parameter_invalid metadata.n'],
    ],
  ];
  it.each(refused)('refuses %s', async (_, body, problems) => {
    // Of Edition 2, which requires no identification.
    const user = await given.directUser(2);
    const reply = await create(user, body);
    expect(reply.status).toBe(400);
    expect(reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`)).toEqual(
      problems.map((line) => line.replace(' ', ' person.')),
    );
  });
});

const enumsOf = (body: any): any =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, any]) => [
      name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase()),
      typeof value === 'object' && value !== null && name !== 'metadata' ? enumsOf(value) : value,
    ]),
  );
/** Changes or removes a person through one of the APIs, and returns the response in the format of /v1. */
async function change(speaker: Speaker, transport: Transport, id: string, body?: object) {
  const operation = body ? 'update' : 'remove';
  if (transport === 'REST') return speaker.post(`/v1/persons/${id}${body ? '' : '/remove'}`, body);
  const name = `${operation}Person`;
  const reply = await speaker.graph(
    `mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { person { id created
      livemode accountId fullName
      relationship { director owner representative } identification { taxCardNumber taxCardImage passportImage }
      metadata } } }`,
    { input: { id, ...enumsOf(body ?? {}) } },
  );
  const p = reply.body.data?.[name]?.person;
  const made = p && {
    ...{
      id: p.id,
      object: 'person',
      created: Date.parse(p.created) / 1000,
      livemode: p.livemode,
      account_id: p.accountId,
    },
    ...{ full_name: p.fullName, relationship: p.relationship, metadata: p.metadata },
    identification: {
      tax_card_number: p.identification.taxCardNumber,
      tax_card_image: p.identification.taxCardImage,
      passport_image: p.identification.passportImage,
    },
  };
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  return { ...reply, status, body: made ?? reply.body };
}
const refusalOf = ({ status, codes, fieldNames }: Pick<Reply, 'status' | 'codes' | 'fieldNames'>) => [
  status,
  codes,
  fieldNames,
];

describe.each(transports)('changing a person over %s', (transport) => {
  it('merges roles, identification and metadata, and leaves the other fields unchanged', async () => {
    const platform = await given.platform(1);
    const user = await userOf(platform, 'company');
    const image = (await must(platform.upload('identity_document', pdf()))).id;
    const made = await must(
      create(platform, { ...personBody(user, ['director', 'owner']), metadata: { a: '1', b: '2' } }),
    );

    const one = await change(platform, transport, made.id, { full_name: 'Meera Rao-Iyer' });
    expect(one.body).toEqual({ ...made, full_name: 'Meera Rao-Iyer' });
    const two = await change(platform, transport, made.id, {
      relationship: { director: null, representative: true },
      identification: { passport_image: image },
      metadata: { a: '', c: '3' },
    });
    expect(two.body).toEqual({
      ...made,
      full_name: 'Meera Rao-Iyer',
      relationship: { director: false, owner: true, representative: true },
      identification: { ...made.identification, passport_image: image },
      metadata: { b: '2', c: '3' },
    });
    // For an owner of a company the passport alone is sufficient.
    const three = await change(platform, transport, made.id, { identification: { tax_card_number: '' } });
    expect(three.body.identification).toEqual({ tax_card_number: null, tax_card_image: null, passport_image: image });
    expect((await change(platform, transport, made.id, {})).body).toEqual(three.body);
    expect(await must(platform.get(`/v1/persons/${made.id}`))).toEqual(three.body);
  });

  it('refuses values that are not valid, names each one, and changes nothing', async () => {
    const platform = await given.platform(1);
    const user = await userOf(platform, 'company');
    const logo = (await must(platform.upload('logo', pdf()))).id;
    const made = await must(create(platform, personBody(user, ['director'])));
    const empty = 'parameter_invalid_empty';
    const invalid = 'parameter_invalid';
    const wrong: [body: object, codes: string[], fields: string[]][] = [
      [{ full_name: '' }, [empty], ['full_name']],
      [{ full_name: ' ' }, [empty], ['full_name']],
      [{ full_name: null, relationship: null }, [empty, empty], ['full_name', 'relationship']],
      [{ relationship: { director: false } }, [invalid], ['relationship']],
      [{ identification: { tax_card_number: null } }, ['parameter_missing'], ['identification.tax_card_number']],
      [{ identification: null }, ['parameter_missing'], ['identification.tax_card_number']],
      [{ identification: { passport_image: logo } }, [invalid], ['identification.passport_image']],
      [{ account_id: user }, ['parameter_unknown'], ['account_id']],
    ];
    for (const [body, codes, fields] of wrong) {
      const reply = await change(platform, transport, made.id, body);
      expect([body, ...refusalOf(reply)]).toEqual([body, 400, codes, fields.map((field) => `person.${field}`)]);
    }
    const unknown = await change(platform, transport, made.id, {
      identification: { passport_image: `file_${'0'.repeat(32)}` },
    });
    expect(refusalOf(unknown)).toEqual([404, ['resource_missing'], ['person.identification.passport_image']]);
    expect(await must(platform.get(`/v1/persons/${made.id}`))).toEqual(made);
  });

  it('works only while the account is a draft', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, complete(1));
    const { data } = await must(platform.get(`/v1/persons?account_id=${id}`));
    const before = [...data];
    await must(change(platform, transport, data[0].id, { full_name: 'Before' }));
    before[0] = { ...data[0], full_name: 'Before' };
    await must(platform.post(`/v1/accounts/${id}/activate`));
    // Verifying, then activated, then on hold.
    for (const helper of ['', 'verify', 'hold']) {
      if (helper) await must(platform.post(`/v1/test_helpers/accounts/${id}/${helper}`));
      for (const body of [{ full_name: 'After' }, {}, undefined])
        expect(refusalOf(await change(platform, transport, data[0].id, body))).toEqual([
          400,
          ['account_not_updatable'],
          ['person.account_id'],
        ]);
    }
    expect((await must(platform.get(`/v1/persons?account_id=${id}`))).data).toEqual(before);
  });

  it('removes a person, who no longer exists then, and whose files remain', async () => {
    const platform = await given.platform(1);
    const user = await userOf(platform, 'company');
    const image = (await must(platform.upload('identity_document', pdf()))).id;
    const [made, other] = [
      await must(create(platform, { ...personBody(user, ['owner']), identification: { passport_image: image } })),
      await must(create(platform, personBody(user, ['director']))),
    ];

    expect((await change(platform, transport, made.id)).body).toEqual(made);

    for (const reply of [
      await platform.get(`/v1/persons/${made.id}`),
      await change(platform, transport, made.id),
      await change(platform, transport, made.id, { full_name: 'B' }),
    ])
      expect(refusalOf(reply)).toEqual([404, ['resource_missing'], ['person.id']]);
    expect((await must(platform.get(`/v1/persons?account_id=${user}`))).data).toEqual([other]);
    expect((await must(platform.get(`/v1/files/${image}`))).id).toBe(image);
  });

  it('requires visibility of the account and a key that may write', async () => {
    const [platform, stranger] = await Promise.all([given.platform(1), given.directUser(1)]);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const made = await must(create(user, personBody(user.id, ['owner'])));
    for (const speaker of [stranger, other, platform.actingFor(other.id)])
      for (const body of [{ full_name: 'Mallory' }, {}, undefined])
        expect(refusalOf(await change(speaker, transport, made.id, body))).toEqual([
          404,
          ['resource_missing'],
          ['person.id'],
        ]);
    for (const speaker of [user, platform, platform.actingFor(user.id)])
      expect((await change(speaker, transport, made.id, { metadata: { by: speaker.key } })).status).toBe(200);
  });
});

describe('concurrent changes of persons', () => {
  it('lose no metadata of each other, and no role that another change relied on', async () => {
    const platform = await given.platform(1);
    const user = await userOf(platform, 'company');
    const { id } = await must(create(platform, personBody(user, ['director', 'owner'])));
    const keys = Array.from({ length: 8 }, (_, i) => `k${i}`);
    const replies = await Promise.all(
      keys.map((key) => platform.post(`/v1/persons/${id}`, { metadata: { [key]: 'v' } })),
    );
    expect(replies.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect(Object.keys((await must(platform.get(`/v1/persons/${id}`))).metadata).toSorted()).toEqual(keys);
    // Each change alone leaves a role; together they would leave none.
    const roles = await Promise.all(
      ['director', 'owner'].map((role) => platform.post(`/v1/persons/${id}`, { relationship: { [role]: false } })),
    );
    expect(roles.map(({ status }) => status).filter((status) => ![200, 400, 409].includes(status))).toEqual([]);
    const { relationship } = await must(platform.get(`/v1/persons/${id}`));
    expect(relationship.director || relationship.owner).toBe(true);
  });

  it('and an activation: an account is never submitted without the persons that it requires', async () => {
    const platform = await given.platform(1);
    for (let round = 0; round < 8; round++) {
      const id = await assemble(platform, complete(1));
      const { data } = await must(platform.get(`/v1/persons?account_id=${id}`));
      const [activated, removed] = await Promise.all([
        platform.post(`/v1/accounts/${id}/activate`),
        platform.post(`/v1/persons/${data[round % data.length].id}/remove`),
      ]);
      expect([activated.status, removed.status].filter((status) => status === 200)).toHaveLength(1);
      expect([200, 400, 409]).toContain(activated.status);
      expect([200, 400, 409]).toContain(removed.status);
    }
  });
});

describe('a change of the type of business', () => {
  const alone = ['sole_proprietor', 'individual'];
  const requirementsOf = async (platform: Speaker, id: string): Promise<{ fieldName: string; message: string }[]> =>
    (await must(platform.graph('query ($id: ID!) { account(id: $id) { requirements { fieldName message } } }', { id })))
      .data.account.requirements;
  const ofPersons = async (platform: Speaker, id: string) =>
    (await requirementsOf(platform, id)).filter(({ fieldName }) => fieldName.startsWith('account.persons.'));

  /** Does what the requirements say about the persons, using only calls of /v1. */
  async function mend(platform: Speaker, id: string, type: string): Promise<void> {
    const { data } = await must(platform.get(`/v1/persons?account_id=${id}`));
    if (!alone.includes(type)) {
      for (const { fieldName } of await ofPersons(platform, id))
        await must(create(platform, personBody(id, [fieldName.split('.').at(-1) as Role])));
      return;
    }
    const [kept, ...others] = data;
    for (const { id: person } of others) await must(platform.post(`/v1/persons/${person}/remove`));
    if (!kept) await must(create(platform, personBody(id, ['owner'])));
    // One step after the other; after each, something else is still missing.
    else
      for (const step of [
        { relationship: { owner: true, director: false, representative: false } },
        { identification: { tax_card_number: number } },
      ])
        await must(platform.post(`/v1/persons/${kept.id}`, step));
  }

  it.each(businessTypes)('from %s to any other can always be completed, for every set of persons', async (from) => {
    const platform = await given.platform(1);
    const passport = (await must(platform.upload('identity_document', pdf()))).id;
    const casts = (id: string): object[][] =>
      alone.includes(from)
        ? [[], [personBody(id, ['owner'])]]
        : [
            [],
            [personBody(id, ['director']), personBody(id, ['owner']), personBody(id, ['representative'])],
            [{ ...personBody(id, ['owner']), identification: { passport_image: passport } }],
            [personBody(id, ['director', 'owner', 'representative'])],
            [personBody(id, ['director']), personBody(id, ['director'])],
          ];
    for (const to of businessTypes)
      for (let i = 0; i < casts('').length; i++) {
        const id = await userOf(platform, from);
        for (const body of casts(id)[i]!) await must(create(platform, body));
        await must(platform.post(`/v1/accounts/${id}`, { business_details: { type: to } }));
        if ((await ofPersons(platform, id)).length > 0) await mend(platform, id, to);
        expect([from, to, i, await ofPersons(platform, id)]).toEqual([from, to, i, []]);
      }
  });

  it('is reported with the persons to remove and to update', async () => {
    const platform = await given.platform(1);
    const passport = (await must(platform.upload('identity_document', pdf()))).id;
    const id = await userOf(platform, 'company');
    const owner = await must(
      create(platform, { ...personBody(id, ['owner', 'director']), identification: { passport_image: passport } }),
    );
    const other = await must(
      create(platform, { ...personBody(id, ['owner']), identification: { passport_image: passport } }),
    );
    await must(platform.post(`/v1/accounts/${id}`, { business_details: { type: 'individual' } }));
    const message = async () => {
      const [one, ...more] = await ofPersons(platform, id);
      expect([one?.fieldName, more]).toEqual(['account.persons.owner', []]);
      // Activation reports the same.
      const { body } = await platform.post(`/v1/accounts/${id}/activate`);
      const refused = body.errors.find((e: any) => e.metadata.field_name === 'account.persons.owner');
      expect(refused.message).toBe(one!.message);
      return one!.message;
    };
    expect(await message()).toMatch(
      /Remove every person but the owner\. Update the owner with the number or an image of the personal tax card\.$/,
    );
    await must(platform.post(`/v1/persons/${other.id}/remove`));
    expect(await message()).toMatch(
      /card\. Update the owner so that owner is the only role\. Update the owner with the number/,
    );
    await must(platform.post(`/v1/persons/${owner.id}`, { relationship: { director: false } }));
    expect(await message()).toMatch(/personal tax card\. Update the owner with the number/);
    await must(platform.post(`/v1/persons/${owner.id}`, { identification: { tax_card_number: number } }));
    expect(await ofPersons(platform, id)).toEqual([]);
    await must(platform.post(`/v1/persons/${owner.id}/remove`));
    expect(await message()).toMatch(/Create this person\.$/);
  });

  it('requires two directors in Edition 2, for every previous type', async () => {
    const platform = await given.platform(2);
    for (const from of businessTypes)
      for (const to of businessTypes) {
        const id = await userOf(platform, from);
        for (let i = 0; i < 2; i++) await must(create(platform, personBody(id, ['director'])));
        await must(platform.post(`/v1/accounts/${id}`, { business_details: { type: to } }));
        expect([from, to, await ofPersons(platform, id)]).toEqual([from, to, []]);
      }
  });
});

describe('the required person, Edition 1, rule 4', () => {
  const ways = ['number', 'image', 'passport', 'number and passport', 'nothing', 'an empty hash', 'blanks'] as const;
  type Way = (typeof ways)[number];
  const roles: Role[][] = [
    ['owner'],
    ['director'],
    ['representative'],
    ['owner', 'director'],
    ['director', 'representative'],
  ];
  const alone = (type: BusinessType) => type === 'sole_proprietor' || type === 'individual';

  /** The specification's rule: a tax card's number or image; for an owner of the larger types a passport instead. */
  function problems(type: BusinessType, held: Role[], way: Way): string[] {
    const out = [];
    if (alone(type) && held.join() !== 'owner') out.push('parameter_invalid person.relationship');
    const card = ['number', 'image', 'number and passport'].includes(way);
    const passport = way === 'passport' && held.includes('owner') && !alone(type);
    if (!card && !passport) out.push('identification');
    return out;
  }

  it.each(businessTypes)('of a %s', async (type) => {
    const platform = await given.platform(1);
    const user = await userOf(platform, type);
    const image = (await must(platform.upload('identity_document', pdf()))).id;
    const identification: Record<Way, object | undefined> = {
      number: { tax_card_number: number },
      image: { tax_card_image: image },
      passport: { passport_image: image },
      'number and passport': { tax_card_number: number, passport_image: image },
      nothing: undefined,
      'an empty hash': {},
      blanks: { tax_card_number: '', tax_card_image: '', passport_image: '' },
    };
    const cases = roles.flatMap((held) => ways.map((way) => ({ held, way })));

    const outcomes = await Promise.all(
      cases.map(async ({ held, way }) => {
        // A business that may have only one person has none yet.
        const of = alone(type) ? await userOf(platform, type) : user;
        const reply = await create(platform, {
          account_id: of,
          full_name: 'Meera Rao',
          relationship: Object.fromEntries(held.map((role) => [role, true])),
          ...(identification[way] && { identification: identification[way] }),
        });
        // The specification leaves open which member of the identification is reported when all are missing.
        const lines = reply.codes.map((code, i) =>
          reply.fieldNames[i]?.startsWith('person.identification')
            ? 'identification'
            : `${code} ${reply.fieldNames[i]}`,
        );
        return { held, way, status: reply.status, problems: [...new Set(lines)] };
      }),
    );

    expect(outcomes).toEqual(
      cases.map(({ held, way }) => {
        const expected = problems(type, held, way);
        return { held, way, status: expected.length === 0 ? 200 : 400, problems: expected };
      }),
    );
    const made = alone(type) ? 0 : cases.filter(({ held, way }) => problems(type, held, way).length === 0).length;
    const count = await must(
      platform.graph('query ($id: ID!) { account(id: $id) { persons { totalCount } } }', { id: user }),
    );
    expect(count.data.account.persons.totalCount).toBe(made);
  });

  it.each(['sole_proprietor', 'individual'] as const)(
    'is the only person of a %s, also when the request names other roles',
    async (type) => {
      const platform = await given.platform(1);
      const user = await userOf(platform, type);
      const owner = { full_name: 'A', relationship: { owner: true }, identification: { tax_card_number: number } };
      const replies = await Promise.all(
        Array.from({ length: 6 }, () => create(platform, { account_id: user, ...owner })),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
      for (const { status, codes, fieldNames } of replies)
        if (status !== 200) expect([codes, fieldNames]).toEqual([['status_invalid'], ['person.account_id']]);
      const { data } = await must(platform.get(`/v1/persons?account_id=${user}`));
      expect(data.length).toBe(1);
    },
  );

  it('is not required in Edition 2, whose rule counts directors', async () => {
    const platform = await given.platform(2);
    const user = await userOf(platform, 'individual');
    const body = await must(create(platform, { account_id: user, full_name: 'A', relationship: { director: true } }));
    expect(body.identification).toEqual({ tax_card_number: null, tax_card_image: null, passport_image: null });
  });

  it.each(['tax_card_image', 'passport_image'] as const)(
    "takes as %s a document in the account's visibility, for verification",
    async (name) => {
      const [user, stranger] = await Promise.all([given.directUser(1), given.directUser(1)]);
      const upload = async (speaker: Speaker, purpose: string) => (await must(speaker.upload(purpose, pdf()))).id;
      const [foreign, ...own] = await Promise.all([
        upload(stranger, 'identity_document'),
        ...['additional_verification', 'identity_document', 'tax_document', 'invoice', 'logo'].map((purpose) =>
          upload(user, purpose),
        ),
      ]);

      const replies = await Promise.all(
        [...own, foreign, `file_${'0'.repeat(32)}`].map((id) =>
          create(user, {
            full_name: 'A',
            relationship: { owner: true },
            identification: { tax_card_number: number, [name]: id },
          }),
        ),
      );

      const field = [`person.identification.${name}`];
      expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual([
        ...Array(3).fill([200, [], []]),
        ...Array(2).fill([400, ['parameter_invalid'], field]),
        ...Array(2).fill([404, ['resource_missing'], field]),
      ]);
    },
  );
});

describe('the number of a tax card', () => {
  it('is never shown again in any response of either API, including replays and errors', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const body = personBody(user.id, ['owner']);
    const key = { 'idempotency-key': 'person-1' };
    const mutation =
      'mutation ($input: CreatePersonInput!) { createPerson(input: $input) { ' +
      'person { id identification { taxCardNumber } } } }';
    const input = {
      accountId: user.id,
      fullName: 'Jonas Lind',
      relationship: { director: true },
      identification: { taxCardNumber: number },
    };

    const made = await create(platform, body);
    const replies = [
      made,
      await platform.post('/v1/persons', body, key),
      await platform.post('/v1/persons', body, key),
      await platform.post('/v1/persons', { ...body, full_name: 'Another' }, key),
      await platform.graph(mutation, { input }),
      await create(platform, { ...body, full_name: '' }),
      await create(platform, { ...body, identification: { tax_card_number: number.repeat(600) } }),
      await create(platform, { ...body, identification: { tax_card_number: `${number}\u0000` } }),
      await platform.graph(mutation, { input: { ...input, relationship: {} } }),
      ...(await Promise.all(
        [platform, user].flatMap((speaker) => [
          speaker.get(`/v1/persons/${made.body.id}`),
          speaker.get('/v1/persons'),
          speaker.graph(
            'query ($id: ID!, $account: ID!) { person(id: $id) { identification { taxCardNumber } } node(id: ' +
              '$id) { ... on Person { identification { taxCardNumber } } } persons { nodes { identification { ' +
              'taxCardNumber } } } account(id: $account) { persons { nodes { ' +
              'identification { taxCardNumber } } } } }',
            { id: made.body.id, account: user.id },
          ),
        ]),
      )),
    ];

    expect(replies.map(({ status }) => status)).toEqual([
      200,
      200,
      200,
      400,
      200,
      400,
      400,
      400,
      200,
      ...Array(6).fill(200),
    ]);
    expect(replies[2]!.headers.get('idempotent-replayed')).toBe('true');
    expect(replies[2]!.body).toEqual(replies[1]!.body);
    for (const { text } of replies) expect(text).not.toContain(number);
    const masked = { taxCardNumber: '••••••234F' };
    expect(replies[4]!.body.data.createPerson.person.identification).toEqual(masked);
    expect(replies.at(-1)!.body.data).toEqual({
      person: { identification: masked },
      node: { identification: masked },
      persons: { nodes: Array(3).fill({ identification: masked }) },
      account: { persons: { nodes: Array(3).fill({ identification: masked }) } },
    });
  });

  it('is nowhere in the database unencrypted, and its ciphertext decrypts only for its person', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const secret = 'ZZYPX9876Q';
    const identification = { tax_card_number: secret };
    const key = { 'idempotency-key': 'person-sealed' };
    const body = { ...personBody(user.id, ['owner']), identification };
    const { body: made } = await platform.post('/v1/persons', body, key);
    expect(made.identification.tax_card_number).toBe('••••••876Q');
    // The event and the stored response have it too.
    expect(await world.sql`select from event where object_id = ${made.id}`).toHaveLength(1);
    expect((await platform.post('/v1/persons', body, key)).headers.get('idempotent-replayed')).toBe('true');
    const tables = await world.sql`select tablename as name from pg_tables where schemaname = 'public'`;
    const unkeyed = hash('sha256', JSON.stringify({ value: secret }), 'base64url').slice(0, 22);
    for (const { name } of tables) {
      const found = await world.sql.unsafe(
        `select from "${name}" t where strpos(to_jsonb(t)::text, $1) > 0 or strpos(to_jsonb(t)::text, $2) > 0`,
        [secret, unkeyed],
      );
      expect([name, found.length]).toEqual([name, 0]);
    }

    const [row] = await world.sql`select tenant_id, identification from person where id = ${made.id}`;
    const sealed = row!.identification.taxCardSealed as string;
    const place = { tenantId: row!.tenant_id, livemode: false, id: made.id };
    const secrets = Secrets.of(world.pepper);
    expect(secrets.open(sealed, place)).toBe(secret);
    for (const other of [
      { ...place, id: 'person_0' },
      { ...place, livemode: true },
      { ...place, tenantId: 'x' },
    ])
      expect(() => secrets.open(sealed, other)).toThrow();
    const altered = `${sealed.slice(0, -3)}${sealed.endsWith('AAA') ? 'BBB' : 'AAA'}`;
    expect(() => secrets.open(altered, place)).toThrow();
    expect(Secrets.of('another pepper that is long enough').open(sealed, place)).toBeUndefined();
    expect(
      await world.sql`select from event where object_id = ${made.id} and data::text like '%taxCardSealed%'
        union all select from idempotency where answer::text like '%taxCardSealed%'`,
    ).toHaveLength(0);
  });

  it('of an old row is encrypted when a gateway starts, and again when the key has changed', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const body = personBody(user.id, ['owner']);
    const key = { 'idempotency-key': 'person-clear' };
    const { body: made } = await platform.post('/v1/persons', body, key);
    // The row as the previous version of the program left it.
    const clear = JSON.stringify({ taxCardNumber: number, taxCardImage: made.identification.tax_card_image });
    await world.sql`update person set identification = ${clear}::text::jsonb where id = ${made.id}`;
    await world.sql`update event set data = jsonb_set(data, '{identification}', ${clear}::text::jsonb)
      where object_id = ${made.id}`;
    await world.sql`update idempotency set answer = jsonb_set(answer, '{identification}', ${clear}::text::jsonb)
      where answer ->> 'id' = ${made.id}`;
    const [row] = await world.sql`select tenant_id from person where id = ${made.id}`;
    const place = { tenantId: row!.tenant_id as string, livemode: false, id: made.id as string };
    const stored = async () =>
      (await world.sql`select identification from person where id = ${made.id}`)[0]!.identification;
    expect((await platform.get(`/v1/persons/${made.id}`)).body).toEqual(made);

    const before = Secrets.of(world.pepper);
    expect(await sealTaxCards(world.database, before, () => false)).toBeGreaterThanOrEqual(1);
    const first = await stored();
    expect([first.taxCardNumber, before.open(first.taxCardSealed, place)]).toEqual(['••••••234F', number]);
    expect((await platform.get(`/v1/persons/${made.id}`)).body).toEqual(made);
    expect((await platform.post('/v1/persons', body, key)).body).toEqual(made);
    const left =
      await world.sql`select data from event where object_id = ${made.id} and data::text like ${`%${number}%`}
      union all select answer from idempotency where answer ->> 'id' = ${made.id}
      and answer::text like ${`%${number}%`}`;
    expect(left).toHaveLength(0);
    expect(await sealTaxCards(world.database, before, () => false)).toBe(0);

    const after = Secrets.of(world.pepper, 'an encryption key that is long enough');
    expect(await sealTaxCards(world.database, after, () => false)).toBeGreaterThanOrEqual(1);
    const second = await stored();
    expect([after.open(second.taxCardSealed, place), before.open(second.taxCardSealed, place)]).toEqual([
      number,
      undefined,
    ]);
    expect(await sealTaxCards(world.database, before, () => false)).toBe(0);
  });

  it('is masked completely when it is short', async () => {
    const user = await given.directUser(1);
    const shown = await Promise.all(
      ['1234', '12', '7'].map(async (tax_card_number) => {
        const body = { full_name: 'A', relationship: { owner: true }, identification: { tax_card_number } };
        return (await must(create(user, body))).identification.tax_card_number;
      }),
    );
    expect(shown).toEqual(['••••', '••', '•']);
  });
});

describe('reading persons', () => {
  it('follows the edges from the person to its account and its documents, and back', async () => {
    const platform = await given.platform(1);
    const user = await userOf(platform, 'company');
    const [card, passport] = await Promise.all(
      ['tax_document', 'identity_document'].map(async (purpose) => (await must(platform.upload(purpose, pdf()))).id),
    );
    const { id } = await must(
      create(platform, {
        account_id: user,
        full_name: 'Meera Rao',
        relationship: { owner: true },
        identification: { tax_card_image: card, passport_image: passport },
      }),
    );

    const graph = await must(
      platform.graph(
        'query ($id: ID!) { person(id: $id) { fullName livemode accountId relationship { director owner ' +
          'representative } identification { taxCardNumber taxCardImage passportImage } taxCardImage { id ' +
          'purpose } passportImage { id purpose } account { id persons { nodes { id } } } } }',
        { id },
      ),
    );

    expect(graph.data.person).toEqual({
      fullName: 'Meera Rao',
      livemode: false,
      accountId: user,
      relationship: { director: false, owner: true, representative: false },
      identification: { taxCardNumber: null, taxCardImage: card, passportImage: passport },
      taxCardImage: { id: card, purpose: 'TAX_DOCUMENT' },
      passportImage: { id: passport, purpose: 'IDENTITY_DOCUMENT' },
      account: { id: user, persons: { nodes: [{ id }] } },
    });
  });

  it('lists the persons of the acting account, newest first, and those of any account in its visibility', async () => {
    const platform = await given.platform(1);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const a = (await must(create(user, personBody(user.id, ['owner'])))).id;
    const b = (await must(create(platform, personBody(other.id, ['director'])))).id;
    const c = (await must(create(platform, personBody(platform.id, ['director'])))).id;
    const rows: [Speaker, string, string[]][] = [
      [platform, '', [c, b, a]],
      [user, '', [a]],
      [platform.actingFor(other.id), '', [b]],
      [platform, `?account_id=${user.id}`, [a]],
      [user, `?account_id=${other.id}`, []],
      [platform, '?limit=1', [c]],
      [platform, `?starting_after=${c}`, [b, a]],
      [platform, `?ending_before=${a}&limit=1`, [b]],
    ];
    for (const [speaker, query, expected] of rows) {
      const list = await must(speaker.get(`/v1/persons${query}`));
      expect([query, list.data.map(({ id }: { id: string }) => id)]).toEqual([query, expected]);
    }
    const odd = await platform.get('/v1/persons?full_name=A');
    expect([odd.status, odd.codes, odd.fieldNames]).toEqual([400, ['parameter_unknown'], ['person.full_name']]);
  });

  it.each([1, 2] as const)(
    'finds no persons of other tenants or of the other mode, Edition %i',
    async (edition: Edition) => {
      const { test, live } = await given.directUserBoth(edition);
      const stranger = await given.platform(edition);
      const { id } = await must(create(test, personBody(test.id, ['owner'])));
      const replies = await Promise.all([live, stranger].map((speaker) => speaker.get(`/v1/persons/${id}`)));
      expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
        replies.map(() => [404, ['resource_missing'], ['person.id']]),
      );
    },
  );
});
