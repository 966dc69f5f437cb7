import { describe, expect, it } from 'vitest';
import { pdf, personBody } from '../support/bodies.js';
import { assemble, complete } from '../support/onboarding-profile.js';
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
import { create, number, userOf } from './person-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

describe('creating a person', () => {
  it.each([1, 2] as const)(
    'returns the person with its keys in order and a masked number, Edition %i',
    async (edition) => {
      const platform = await given.platform(edition);
      const user = await userOf(platform, 'company');
      const image = (await must(platform.upload('identity_document', pdf))).id;

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
    const [platform, outsider] = await Promise.all([given.platform(1), given.directUser(1)]);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const partner = await platform.partner();

    const replies = await Promise.all([
      create(platform, personBody(partner.id, ['owner'])),
      create(platform, personBody(outsider.id, ['owner'])),
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
    const image = (await must(platform.upload('identity_document', pdf))).id;
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
    const logo = (await must(platform.upload('logo', pdf))).id;
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
    const image = (await must(platform.upload('identity_document', pdf))).id;
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
    const [platform, outsider] = await Promise.all([given.platform(1), given.directUser(1)]);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const made = await must(create(user, personBody(user.id, ['owner'])));
    for (const speaker of [outsider, other, platform.actingFor(other.id)])
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

describe('reading persons', () => {
  it('follows the edges from the person to its account and its documents, and back', async () => {
    const platform = await given.platform(1);
    const user = await userOf(platform, 'company');
    const [card, passport] = await Promise.all(
      ['tax_document', 'identity_document'].map(async (purpose) => (await must(platform.upload(purpose, pdf))).id),
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
      const outsider = await given.platform(edition);
      const { id } = await must(create(test, personBody(test.id, ['owner'])));
      const replies = await Promise.all([live, outsider].map((speaker) => speaker.get(`/v1/persons/${id}`)));
      expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
        replies.map(() => [404, ['resource_missing'], ['person.id']]),
      );
    },
  );
});
