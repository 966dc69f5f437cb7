import { describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { documentsOf, without } from '../support/onboarding-profile.js';
import {
  type Edition,
  givenIn,
  inputTypeOf,
  must,
  payoutAddressBody,
  payoutAddressInput,
  type Speaker,
  useWorld,
} from '../support/world.js';
import { create, keys, payout } from './address-fixture.js';

// Without a worker, so that a test can see an address that waits for its deactivation.
const world = useWorld({ worker: false });
const given = givenIn(world);

const bankKeys =
  'bank_name domestic_credit domestic_debit domestic_fast_credit domestic_wire global_wire iban last4 number';

describe('creating a payout address', () => {
  it.each([1, 2] as const)('returns the address, activated at once, Edition %i', async (edition) => {
    const user = await given.directUser(edition);

    const reply = await create(user, payout(user, { metadata: { crm: '42' } }));

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^address_[0-9a-f]{32}$/),
      object: 'address',
      created: expect.any(Number),
      livemode: false,
      category: 'user_payout',
      type: 'bank_account',
      status: 'activated',
      currency: 'INR',
      name: 'Acme Exports',
      is_reusable: false,
      linked_object: 'account',
      linked_id: user.id,
      bank_account: {
        bank_name: 'Bank of the Coast',
        domestic_credit: 'BOTC0000451',
        domestic_debit: null,
        domestic_fast_credit: null,
        domestic_wire: null,
        global_wire: null,
        iban: null,
        last4: '1234',
        number: '004501551234',
      },
      billing_details: {
        line1: '1 Wharf',
        line2: null,
        city: 'Pune',
        state: 'MH',
        postal_code: '411001',
        country: 'IN',
      },
      supporting_documentation: null,
      vpa: null,
      wallet: null,
      metadata: { crm: '42' },
    });
    expect(Object.keys(reply.body)).toEqual(keys.split(' '));
    expect(Object.keys(reply.body.bank_account)).toEqual(bankKeys.split(' '));
    expect(Object.keys(reply.body.billing_details)).toEqual('line1 line2 city state postal_code country'.split(' '));
    expect(await must(user.get(`/v1/addresses/${reply.body.id}`))).toEqual(reply.body);
  });

  it('stores every detail of the bank account, with the last four of the IBAN if there is no number', async () => {
    const user = await given.directUser(2);
    const bank = {
      bank_name: 'Nordbank',
      domestic_credit: 'A1',
      domestic_debit: 'A2',
      domestic_fast_credit: 'A3',
      domestic_wire: 'A4',
      global_wire: 'NORDNO22',
      iban: 'NO9386011117947',
    };
    const body = await must(create(user, payout(user, { currency: 'NOK', bank_account: bank })));
    expect(body.bank_account).toEqual({ ...bank, last4: '7947', number: null });
    expect(body.currency).toBe('NOK');
  });

  it('through GraphQL creates the same address, which both APIs then read', async () => {
    const user = await given.directUser(1);
    const made = await must(
      user.graph(
        'mutation ($input: CreateAddressInput!) { createAddress(input: $input) { address { id category type ' +
          'status currency name isReusable linkedObject linkedId bankAccount { number domesticCredit last4 type ' +
          '} billingDetails { line1 country } wallet { provider } vpa { id } metadata account { id } } } }',
        {
          input: payoutAddressInput(user.id),
        },
      ),
    );
    const { address } = made.data.createAddress;
    expect(address).toEqual({
      id: expect.stringMatching(/^address_/),
      category: 'USER_PAYOUT',
      type: 'BANK_ACCOUNT',
      status: 'ACTIVATED',
      currency: 'INR',
      name: 'Acme Exports',
      isReusable: false,
      linkedObject: 'ACCOUNT',
      linkedId: user.id,
      bankAccount: { number: '004501551234', domesticCredit: 'BOTC0000451', last4: '1234', type: null },
      billingDetails: { line1: '1 Wharf', country: 'IN' },
      wallet: null,
      vpa: null,
      metadata: null,
      account: { id: user.id },
    });
    expect(await must(user.get(`/v1/addresses/${address.id}`))).toMatchObject({ id: address.id, status: 'activated' });
  });

  const required = [
    'category',
    'type',
    'currency',
    'linked_id',
    'linked_object',
    'name',
    'bank_account',
    'billing_details',
  ];

  it.each([1, 2] as const)('names every missing parameter in one response, Edition %i', async (edition) => {
    const user = await given.directUser(edition);
    const reply = await create(user, {});
    const bank = edition === 1 ? ['number', 'domestic_credit'] : ['number', 'global_wire'];
    expect(reply.status).toBe(400);
    // A missing object is named once, or by its required members.
    expect(reply.fieldNames.filter((name) => !bank.some((b) => name === `address.bank_account.${b}`))).toEqual(
      required.map((name) => `address.${name}`),
    );
    expect(new Set(reply.codes)).toEqual(new Set(['parameter_missing']));
  });

  const members = ([1, 2] as const).flatMap((edition) => required.map((name) => ({ edition, name })));
  it.concurrent.each(members)(
    'requires $name, which must not be empty, Edition $edition',
    async ({ edition, name }) => {
      const user = await given.directUser(edition);
      const whole: Record<string, unknown> = payout(user);
      const hash = typeof whole[name] === 'object';

      const replies = await Promise.all([
        create(user, without(whole, name)),
        create(user, { ...whole, [name]: null }),
        create(user, { ...whole, [name]: hash ? {} : '' }),
      ]);

      expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual([
        [400, ['parameter_missing'], [`address.${name}`]],
        [400, ['parameter_invalid_empty'], [`address.${name}`]],
        [400, ['parameter_invalid_empty'], [`address.${name}`]],
      ]);
    },
  );

  /** The members of a bank account that each edition requires; null if the account is sufficient. */
  const banks: [Edition, object, [code: string, field: string][]][] = [
    [1, { number: '12341', domestic_credit: 'X' }, []],
    [1, { number: '12341' }, [['parameter_missing', 'domestic_credit']]],
    [1, { domestic_credit: 'X' }, [['parameter_missing', 'number']]],
    [1, { number: '', domestic_credit: 'X' }, [['parameter_invalid_empty', 'number']]],
    [1, { number: '12341', domestic_credit: null }, [['parameter_invalid_empty', 'domestic_credit']]],
    [
      1,
      { iban: 'DE89370400440532013000', global_wire: 'W' },
      [
        ['parameter_missing', 'number'],
        ['parameter_missing', 'domestic_credit'],
      ],
    ],
    [2, { number: '12341', global_wire: 'W' }, []],
    [2, { number: '12341', bank_name: 'B' }, []],
    [2, { iban: 'DE89370400440532013000', global_wire: 'W' }, []],
    [2, { iban: 'DE89370400440532013000', bank_name: 'B' }, []],
    [2, { number: '12341', iban: 'DE89370400440532013000', global_wire: 'W', bank_name: 'B' }, []],
    [2, { number: '', iban: 'DE89370400440532013000', bank_name: 'B' }, []],
    [2, { global_wire: 'W' }, [['parameter_missing', 'number']]],
    [2, { number: '12341' }, [['parameter_missing', 'global_wire']]],
    [2, { number: '12341', domestic_credit: 'X' }, [['parameter_missing', 'global_wire']]],
    [
      2,
      { domestic_wire: 'X' },
      [
        ['parameter_missing', 'number'],
        ['parameter_missing', 'global_wire'],
      ],
    ],
    [2, { iban: '', bank_name: 'B' }, [['parameter_invalid_empty', 'iban']]],
  ];
  it.concurrent.each(banks)('checks in Edition %i a bank account of %j', async (edition, bank, problems) => {
    const user = await given.directUser(edition);
    const reply = await create(user, payout(user, { bank_account: bank }));
    expect([reply.status, reply.codes.map((code, i) => [code, reply.fieldNames[i]])]).toEqual([
      problems.length === 0 ? 200 : 400,
      problems.map(([code, field]) => [code, `address.bank_account.${field}`]),
    ]);
  });

  const plausible: [name: string, good: string[], bad: string[]][] = [
    [
      'iban',
      [
        'DE89370400440532013000',
        'GB33BUKB20201555555555',
        'NO9386011117947',
        'MT84MALT011000012345MTLCAST001S',
        'DE89 3704 0044 0532 0130 00',
        'de89-3704-0044-0532-0130-00',
        // A copy from a PDF.
        'DE89\u00A03704\u00A00044 0532 0130 00',
        // The examples of the registry for countries that lists of formats often lack.
        'BI4210000100010000332045181',
        'BY13NBRB3600900000002Z00AB00',
        'DJ2100010000000154000100186',
        'FK88SC123456789012',
        'HN88CABF00000000000250005469',
        'LY83002048000020100120361',
        'MN121234123456789123',
        'NI45BAPR00000013000003558124',
        'OM810180000001299123456',
        'RU0204452560040702810412345678901',
        'SD2129010501234001',
        'SO211000001001000100141',
        'ST23000100010051845310146',
        'YE15CBYE0001018861234567891234',
        // Check digits 98, and 02 to 97 are the others.
        'GB98BARC20714583608387',
      ],
      [
        // Check digits that give the same remainder as 98, 97 and 02.
        'GB01BARC20714583608387',
        'GB00BARC20714583608387',
        'GB99BARC20714583608387',
        'DE89370400440532013001',
        'DE8937040044053201300',
        'XX89370400440532013000',
        'DE1',
        'IBAN',
        '89370400440532013000',
      ],
    ],
    [
      'number',
      ['1234', '000123456789', 'A1B2C3D4', '12-3456-78', '1'.repeat(34)],
      ['1', '123', '1'.repeat(35), '12.34', '----', '1234\n5', '１２３４５', '12_345'],
    ],
  ];
  it.each(plausible)('accepts only an account with a plausible %s, in both APIs', async (name, good, bad) => {
    const user = await given.directUser(2);
    const graph = (bank: object) =>
      user.graph('mutation ($input: CreateAddressInput!) { createAddress(input: $input) { address { id } } }', {
        input: payoutAddressInput(user.id, { bankAccount: bank }),
      });
    for (const value of bad)
      for (const reply of [
        await create(user, payout(user, { bank_account: { [name]: value, bank_name: 'B' } })),
        await graph({ [name]: value, bankName: 'B' }),
      ])
        expect([value, reply.codes, reply.fieldNames]).toEqual([
          value,
          ['parameter_invalid'],
          [`address.bank_account.${name}`],
        ]);
    expect((await must(user.get('/v1/addresses?category=user_payout'))).data).toEqual([]);
    for (const value of good) {
      const made = await must(create(user, payout(user, { bank_account: { [name]: value, bank_name: 'B' } })));
      expect(made.bank_account[name]).toBe(value);
      expect((await graph({ [name]: value, bankName: 'B' })).codes).toEqual([]);
    }
  });

  const refused: [Edition, title: string, body: object, code: string, field: string][] = [
    ...([1, 2] as const).flatMap((edition): [Edition, string, object, string, string][] => [
      ...['service_receive', 'partner_payment', 'service_checkout', 'service_fee_advance', 'other'].map(
        (category): [Edition, string, object, string, string] => [
          edition,
          `the category ${category}`,
          { category },
          'parameter_invalid',
          'category',
        ],
      ),
      [edition, 'a wallet', { type: 'wallet' }, 'parameter_invalid', 'type'],
      [edition, 'a vpa', { type: 'vpa' }, 'parameter_invalid', 'type'],
      [
        edition,
        'a link to anything but an account',
        { linked_object: 'deposit' },
        'parameter_invalid',
        'linked_object',
      ],
      [edition, 'a currency that is none', { currency: 'ABC' }, 'parameter_invalid', 'currency'],
      [edition, 'a currency in small letters', { currency: 'inr' }, 'parameter_invalid', 'currency'],
      [
        edition,
        'an unknown country',
        { billing_details: { country: 'IND' } },
        'parameter_invalid',
        'billing_details.country',
      ],
      [edition, 'an unknown parameter', { nickname: 'x' }, 'parameter_unknown', 'nickname'],
      [edition, 'a status', { status: 'expired' }, 'parameter_unknown', 'status'],
      [
        edition,
        'the type of a receiving account',
        { bank_account: { number: '12341', bank_name: 'B', domestic_credit: 'X', type: 'all' } },
        'parameter_unknown',
        'bank_account.type',
      ],
      [
        edition,
        'last digits of its own',
        { bank_account: { number: '12341', bank_name: 'B', domestic_credit: 'X', last4: '9' } },
        'parameter_unknown',
        'bank_account.last4',
      ],
      [edition, 'metadata that is no text', { metadata: { n: 1 } }, 'parameter_invalid', 'metadata.n'],
    ]),
    [1, 'any currency but INR', { currency: 'USD' }, 'parameter_invalid', 'currency'],
  ];
  it.concurrent.each(refused)('refuses in Edition %i %s', async (edition, _, body, code, field) => {
    const user = await given.directUser(edition);
    const reply = await create(user, payout(user, body));
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`address.${field}`]]);
    expect((await must(user.get(`/v1/addresses?linked_id=${user.id}&category=user_payout`))).data).toEqual([]);
  });

  it('accepts a visible document whose purpose is a proof', async () => {
    const [user, outsider] = await Promise.all([given.directUser(2), given.directUser(2)]);
    const [mine, theirs] = await Promise.all([documentsOf(user), documentsOf(outsider)]);
    const logo = (await must(user.upload('invoice', pdf))).id;
    const withDocument = (id_document: string) =>
      create(user, payout(user, { supporting_documentation: { id_document } }));

    const [fine, wrong, foreign] = await Promise.all([
      withDocument(mine.identity_document),
      withDocument(logo),
      withDocument(theirs.identity_document),
    ]);

    const field = ['address.supporting_documentation.id_document'];
    expect([fine.status, fine.body.supporting_documentation]).toEqual([200, { id_document: mine.identity_document }]);
    expect([wrong.status, wrong.codes, wrong.fieldNames]).toEqual([400, ['parameter_invalid'], field]);
    expect([foreign.status, foreign.codes, foreign.fieldNames]).toEqual([404, ['resource_missing'], field]);
  });

  it('is refused for a partner, also for its owner', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [ofPlatform, ofUser] = await Promise.all([platform.partner(), user.partner()]);

    const replies = await Promise.all([
      create(platform, payoutAddressBody(ofPlatform.id)),
      create(platform, payoutAddressBody(ofUser.id)),
      create(user, payoutAddressBody(ofUser.id)),
    ]);

    expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
      replies.map(() => [400, ['parameter_invalid'], ['address.linked_id']]),
    );
  });

  it('is for the caller itself and for a platform’s connected users; it finds no others', async () => {
    const [platform, direct, outsider] = await Promise.all([given.platform(1), given.directUser(1), given.platform(1)]);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const rows: [Speaker, string, number][] = [
      [platform, platform.id, 200],
      [platform, user.id, 200],
      [platform.actingFor(user.id), user.id, 200],
      [user, user.id, 200],
      [direct, direct.id, 200],
      [user, platform.id, 404],
      [user, other.id, 404],
      [platform.actingFor(user.id), other.id, 404],
      [direct, platform.id, 404],
      [outsider, user.id, 404],
      [platform, `account_${'0'.repeat(32)}`, 404],
    ];
    for (const [speaker, linkedId, status] of rows) {
      const reply = await create(speaker, payoutAddressBody(linkedId));
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual(
        status === 200 ? [200, [], []] : [404, ['resource_missing'], ['address.linked_id']],
      );
      if (status === 200) expect(reply.body.linked_id).toBe(linkedId);
    }
  });

  it('stays in its mode: the live key of the same account does not find it', async () => {
    const { test, live } = await given.directUserBoth(1);
    const [inTest, inLive] = await Promise.all([must(create(test, payout(test))), must(create(live, payout(live)))]);

    const crossed = await Promise.all([
      live.get(`/v1/addresses/${inTest.id}`),
      test.get(`/v1/addresses/${inLive.id}`),
      live.post(`/v1/addresses/${inTest.id}`, { metadata: { a: 'b' } }),
    ]);

    expect([inTest.livemode, inLive.livemode]).toEqual([false, true]);
    expect(crossed.map(({ status, codes }) => [status, codes])).toEqual(crossed.map(() => [404, ['resource_missing']]));
    // If the second had replaced the first, one mode would have changed the other's data.
    expect((await must(test.get(`/v1/addresses/${inTest.id}`))).status).toBe('activated');
  });
});

describe('the test helpers for addresses', () => {
  type Status = 'activated' | 'expired' | 'deactivated' | 'pending_deactivation';
  type Verb = 'expire' | 'deactivate';
  const edges: Record<Status, Partial<Record<Verb, Status>>> = {
    activated: { expire: 'expired', deactivate: 'deactivated' },
    expired: { deactivate: 'deactivated' },
    pending_deactivation: { deactivate: 'deactivated' },
    deactivated: {},
  };
  const rest = (speaker: Speaker, verb: Verb, id: string) => speaker.post(`/v1/test_helpers/addresses/${id}/${verb}`);
  const graph = (speaker: Speaker, verb: Verb, id: string) =>
    speaker.graph(
      `mutation ($input: ${inputTypeOf(`${verb}TestAddress`)}!) {
         answer: ${verb}TestAddress(input: $input) { address { id status } } }`,
      { input: { id } },
    );
  /** A payout address in this status. */
  async function addressIn(user: Speaker, status: Status): Promise<string> {
    const { id } = await must(create(user, payout(user)));
    if (status === 'pending_deactivation') await must(create(user, payout(user)));
    else if (status !== 'activated') await must(rest(user, status === 'expired' ? 'expire' : 'deactivate', id));
    return id;
  }

  const rows = (Object.keys(edges) as Status[]).flatMap((from) =>
    (['expire', 'deactivate'] as const).map((verb) => ({ from, verb, to: edges[from][verb] })),
  );
  it.each(rows)('$verb from $from: $to, in both APIs', async ({ from, verb, to }) => {
    const users = await Promise.all([given.directUser(1), given.directUser(1)]);
    const ids = await Promise.all(users.map((user) => addressIn(user, from)));

    const [byRest, byGraph] = await Promise.all([rest(users[0], verb, ids[0]!), graph(users[1], verb, ids[1]!)]);

    const field = ['address.status'];
    expect([byRest.status, byRest.codes, byRest.fieldNames]).toEqual(
      to ? [200, [], []] : [400, ['status_invalid'], field],
    );
    expect([byGraph.codes, byGraph.fieldNames]).toEqual(to ? [[], []] : [['status_invalid'], field]);
    if (to) {
      expect(byRest.body).toMatchObject({ id: ids[0], object: 'address', status: to });
      expect(byGraph.body.data.answer.address).toEqual({ id: ids[1], status: to.toUpperCase() });
    }
    const after = await Promise.all(users.map((user, i) => must(user.get(`/v1/addresses/${ids[i]}`))));
    expect(after.map(({ status }) => status)).toEqual([to ?? from, to ?? from]);
  });

  it('are for test keys, and for visible addresses', async () => {
    const { live } = await given.directUserBoth(1);
    const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const [inLive, foreign] = await Promise.all([must(create(live, payout(live))), addressIn(outsider, 'activated')]);

    const replies = await Promise.all(
      (['expire', 'deactivate'] as const).flatMap((verb) => [rest(live, verb, inLive.id), rest(user, verb, foreign)]),
    );

    expect(replies.map(({ status, codes }) => [status, codes])).toEqual([
      [403, ['permission_denied']],
      [404, ['resource_missing']],
      [403, ['permission_denied']],
      [404, ['resource_missing']],
    ]);
    expect((await must(live.get(`/v1/addresses/${inLive.id}`))).status).toBe('activated');
    expect((await must(outsider.get(`/v1/addresses/${foreign}`))).status).toBe('activated');
  });
});

describe('an address that the service has issued', () => {
  it.each([
    [1, 'USD'],
    [2, 'INR'],
  ] as const)('shows a type in its bank account and no billing details, Edition %i', async (edition, currency) => {
    const user = await given.directUser(edition);

    const list = await must(user.get('/v1/addresses'));

    expect(list).toEqual({
      object: 'list',
      data: [
        {
          id: expect.stringMatching(/^address_[0-9a-f]{32}$/),
          object: 'address',
          created: expect.any(Number),
          livemode: false,
          category: 'service_receive',
          type: 'bank_account',
          status: 'activated',
          currency,
          name: 'Root Traders',
          is_reusable: false,
          linked_object: 'account',
          linked_id: user.id,
          bank_account: expect.objectContaining({ type: 'all', number: expect.stringMatching(/^\d{6,}$/) }),
          billing_details: null,
          supporting_documentation: null,
          vpa: null,
          wallet: null,
          metadata: null,
        },
      ],
      has_next: false,
    });
    const [issued] = list.data;
    expect(Object.keys(issued)).toEqual(keys.split(' '));
    expect(Object.keys(issued.bank_account)).toEqual([...bankKeys.split(' '), 'type']);
    expect(issued.bank_account.last4).toBe(issued.bank_account.number.slice(-4));
  });
});

describe('the visibility of an address', () => {
  it('includes its owner and the platform above, and no other caller, in both APIs', async () => {
    const platform = await given.platform(1);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const outsider = await given.directUser(1);
    const { id } = await must(create(user, payout(user)));
    const query = 'query ($id: ID!) { address(id: $id) { id } node(id: $id) { id } }';

    const reached = await Promise.all(
      [user, platform, platform.actingFor(user.id)].map((s) => s.get(`/v1/addresses/${id}`)),
    );
    const missed = await Promise.all(
      [other, outsider, platform.actingFor(other.id)].map((s) => s.get(`/v1/addresses/${id}`)),
    );
    const graph = await Promise.all([user, other].map((s) => s.graph(query, { id })));

    expect(reached.map(({ body }) => body.id)).toEqual([id, id, id]);
    expect(missed.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
      missed.map(() => [404, ['resource_missing'], ['address.id']]),
    );
    expect(graph[0]!.body.data).toEqual({ address: { id }, node: { id } });
    expect([graph[1]!.codes, graph[1]!.body.data]).toEqual([['resource_missing'], { address: null, node: null }]);
  });
});
