import { describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { details, givenIn, must, nickname, type Speaker, useWorld } from '../support/world.js';
import { blank, createMutation, read, update, updateMutation } from './connected-user-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const keysOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([name, member]) => [name, keysOf(member)])
    : null;

describe('creating a connected user', () => {
  it.each([1, 2] as const)('accepts every parameter of an update, and returns a draft, Edition %i', async (edition) => {
    const platform = await given.platform(edition);
    const [logo, document] = await Promise.all([
      must(platform.upload('logo', pdf)),
      must(platform.upload('tax_document', pdf)),
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
    const [platform, direct, outsider] = await Promise.all([
      given.platformBoth(1),
      given.directUser(1),
      given.platform(1),
    ]);
    const [user, other, foreign] = await Promise.all([
      platform.test.connectedUser(),
      platform.test.connectedUser(),
      outsider.connectedUser(),
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
