import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Worker } from '../../src/jobs/runner.js';
import { documentsOf, pdf, without } from '../support/onboarding-profile.js';
import {
  type Edition,
  eventually,
  givenIn,
  inputTypeOf,
  must,
  payoutAddressBody,
  payoutAddressInput,
  type Speaker,
  useWorld,
} from '../support/world.js';

// Without a worker, so that a test can see an address that waits for its deactivation.
const world = useWorld({ worker: false });
const given = givenIn(world);

const create = (speaker: Speaker, body: object) => speaker.post('/v1/addresses', body);
const payout = (speaker: Speaker, more: object = {}) => payoutAddressBody(speaker.id, more);

const keys =
  'id object created livemode category type status currency name is_reusable linked_object linked_id ' +
  'bank_account billing_details supporting_documentation vpa wallet metadata';
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
    const [user, stranger] = await Promise.all([given.directUser(2), given.directUser(2)]);
    const [mine, theirs] = await Promise.all([documentsOf(user), documentsOf(stranger)]);
    const logo = (await must(user.upload('invoice', pdf()))).id;
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
    const [platform, direct, stranger] = await Promise.all([given.platform(1), given.directUser(1), given.platform(1)]);
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
      [stranger, user.id, 404],
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

describe('the newest payout address of a currency', () => {
  const statusOf = async (speaker: Speaker, id: string) => (await must(speaker.get(`/v1/addresses/${id}`))).status;

  it('replaces the older one, which waits for its deactivation and is then deactivated', async () => {
    const user = await given.directUser(2);
    const [first, dollars] = [
      await must(create(user, payout(user))),
      await must(create(user, payout(user, { currency: 'USD' }))),
    ];

    const second = await must(create(user, payout(user)));

    expect(await Promise.all([first, second, dollars].map(({ id }) => statusOf(user, id)))).toEqual([
      'pending_deactivation',
      'activated',
      // An address in another currency is a separate destination.
      'activated',
    ]);
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    worker.start();
    try {
      await eventually(
        () => statusOf(user, first.id),
        (status) => status === 'deactivated',
      );
    } finally {
      await worker.stop();
    }
    expect(await Promise.all([second, dollars].map(({ id }) => statusOf(user, id)))).toEqual([
      'activated',
      'activated',
    ]);
    const events = await world.sql`select type from event where object_id = ${first.id} order by id`;
    expect(events.map(({ type }) => type)).toEqual([
      'address.created',
      'address.pending_deactivation',
      'address.deactivated',
    ]);
  });

  it('does not change the addresses of other accounts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [own, users] = [
      await must(create(platform, payoutAddressBody(platform.id))),
      await must(create(platform, payoutAddressBody(user.id))),
    ];
    await must(create(platform, payoutAddressBody(user.id)));
    expect(await Promise.all([own, users].map(({ id }) => statusOf(platform, id)))).toEqual([
      'activated',
      'pending_deactivation',
    ]);
  });

  // If two were in use, chance would decide where the money goes.
  it('is a single one after concurrent creations', async () => {
    const user = await given.directUser(1);
    await Promise.all(Array.from({ length: 6 }, () => must(create(user, payout(user)))));
    const { data } = await must(user.get('/v1/addresses?category=user_payout'));
    expect(data.map(({ status }: { status: string }) => status).toSorted()).toEqual([
      'activated',
      ...Array(5).fill('pending_deactivation'),
    ]);
  });
});

describe('updating an address', () => {
  it.each([1, 2] as const)('changes only its metadata, Edition %i', async (edition) => {
    const user = await given.directUser(edition);
    const before = await must(create(user, payout(user, { metadata: { a: '1', b: '2' } })));

    const reply = await user.post(`/v1/addresses/${before.id}`, { metadata: { b: '', c: '3' } });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...before, metadata: { a: '1', c: '3' } });
    expect(Object.keys(reply.body)).toEqual(keys.split(' '));
    expect(await must(user.get(`/v1/addresses/${before.id}`))).toEqual(reply.body);
    expect((await must(user.post(`/v1/addresses/${before.id}`, { metadata: null }))).metadata).toBeNull();
  });

  it('returns the address unchanged for an empty update', async () => {
    const user = await given.directUser(1);
    const before = await must(create(user, payout(user)));
    expect(await must(user.post(`/v1/addresses/${before.id}`, {}))).toEqual(before);
    expect(await must(user.post(`/v1/addresses/${before.id}`))).toEqual(before);
  });

  it('does the same through GraphQL', async () => {
    const user = await given.directUser(1);
    const before = await must(create(user, payout(user)));
    const made = await must(
      user.graph(
        'mutation ($input: UpdateAddressInput!) { updateAddress(input: $input) { address { id metadata } } }',
        { input: { id: before.id, metadata: { a: '1' } } },
      ),
    );
    expect(made.data.updateAddress.address).toEqual({ id: before.id, metadata: { a: '1' } });
    expect(await must(user.get(`/v1/addresses/${before.id}`))).toEqual({ ...before, metadata: { a: '1' } });
  });

  it('refuses every other parameter, also those of the creation, as unknown', async () => {
    const user = await given.directUser(1);
    const before = await must(create(user, payout(user)));
    const rest: Record<string, unknown> = payout(user);

    const reply = await user.post(`/v1/addresses/${before.id}`, { ...rest, metadata: { a: '1' } });

    expect(reply.status).toBe(400);
    expect(reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`).toSorted()).toEqual(
      Object.keys(rest)
        .map((name) => `parameter_unknown address.${name}`)
        .toSorted(),
    );
    expect(await must(user.get(`/v1/addresses/${before.id}`))).toEqual(before);
  });

  it('is possible for an address that the service has issued, too', async () => {
    const user = await given.directUser(1);
    const [issued] = (await must(user.get('/v1/addresses?category=service_receive'))).data;
    const after = await must(user.post(`/v1/addresses/${issued.id}`, { metadata: { shown: 'on invoices' } }));
    expect(after).toEqual({ ...issued, metadata: { shown: 'on invoices' } });
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
    const [user, stranger] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const [inLive, foreign] = await Promise.all([must(create(live, payout(live))), addressIn(stranger, 'activated')]);

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
    expect((await must(stranger.get(`/v1/addresses/${foreign}`))).status).toBe('activated');
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
    const stranger = await given.directUser(1);
    const { id } = await must(create(user, payout(user)));
    const query = 'query ($id: ID!) { address(id: $id) { id } node(id: $id) { id } }';

    const reached = await Promise.all(
      [user, platform, platform.actingFor(user.id)].map((s) => s.get(`/v1/addresses/${id}`)),
    );
    const missed = await Promise.all(
      [other, stranger, platform.actingFor(other.id)].map((s) => s.get(`/v1/addresses/${id}`)),
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

describe('listing addresses', () => {
  const ids = async (speaker: Speaker, query = '') =>
    (await must(speaker.get(`/v1/addresses${query}`))).data.map(({ id }: { id: string }) => id);

  /** Two kinds of addresses of a platform, a payout address of its user, and an expired one. */
  async function company() {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const own = (await must(platform.get('/v1/addresses'))).data as { id: string; category: string }[];
    const expired = (await must(create(user, payout(user)))).id as string;
    await must(platform.post(`/v1/test_helpers/addresses/${expired}/expire`));
    const usable = (await must(create(user, payout(user)))).id as string;
    const of = (category: string) => own.find((address) => address.category === category)!.id;
    return { platform, user, expired, usable, receive: of('service_receive'), advance: of('service_fee_advance') };
  }

  it('shows those of the acting account, and filters by every field', async () => {
    const { platform, user, expired, usable, receive, advance } = await company();
    const own = [receive, advance].toSorted().toReversed();
    const rows: [Speaker, string, string[]][] = [
      [user, '', [usable, expired]],
      [platform, '', [usable, expired, ...own]],
      [platform.actingFor(user.id), '', [usable, expired]],
      [platform, '?category=user_payout', [usable, expired]],
      [platform, '?category=service_receive', [receive]],
      [platform, '?category=service_fee_advance', [advance]],
      [platform, '?category=service_receive&category=service_fee_advance', own],
      [platform, '?category=service_receive,service_fee_advance', own],
      [platform, '?category[]=partner_payment&category[]=service_checkout', []],
      [platform, '?currency=INR', [usable, expired]],
      [platform, '?currency=USD', own],
      [platform, '?currency=USD&currency=INR', [usable, expired, ...own]],
      [platform, '?status=expired', [expired]],
      [platform, '?status=activated&category=user_payout', [usable]],
      [platform, '?status=expired&status=deactivated&status=pending_deactivation', [expired]],
      [platform, '?type=bank_account', [usable, expired, ...own]],
      [platform, '?type=wallet', []],
      [platform, '?is_reusable=false', [usable, expired, ...own]],
      [platform, '?is_reusable=true', []],
      [platform, '?wallet.provider=klarna', []],
      [platform, `?linked_id=${user.id}`, [usable, expired]],
      [platform, `?linked_id=${platform.id}`, own],
      [user, `?linked_id=${platform.id}`, []],
      [platform, '?limit=1', [usable]],
      [platform, `?starting_after=${usable}&limit=1`, [expired]],
      [platform, `?ending_before=${expired}`, [usable]],
    ];
    for (const [speaker, query, expected] of rows)
      expect([query, await ids(speaker, query)]).toEqual([query, expected]);
  });

  // Payments create wallets; here the test inserts a row of each kind.
  it('refuses the filters of the other edition on the edge as on the list', async () => {
    const [first, second] = await Promise.all([given.directUser(1), given.directUser(2)]);
    const filters: [filter: string, field: string][] = [
      ['type: [VPA]', 'address.type'],
      ['vpa: { upi: { onetime: ENABLED } }', 'address.vpa.upi.onetime'],
      ['vpa: { upi: { recurring: ENABLED } }', 'address.vpa.upi.recurring'],
    ];
    // Three times, because a document is answered by resolvers first and by its compiled query afterwards.
    for (const [filter, field] of filters)
      for (const ask of ['addresses', 'edge'])
        for (let i = 0; i < 3; i++) {
          const list = `addresses(${filter}) { nodes { id } }`;
          const query = (me: Speaker) => (ask === 'edge' ? `{ account(id: "${me.id}") { ${list} } }` : `{ ${list} }`);
          expect([filter, (await first.graph(query(first))).fieldNames]).toEqual([filter, [field]]);
          expect([filter, (await second.graph(query(second))).fieldNames]).toEqual([filter, []]);
        }
  });

  it('filters by reusability for ACH debit: addresses from which a partner paid so, until they expire', async () => {
    const user = await given.directUser(1);
    const [debtor, other] = [await user.partner(), await user.partner()];
    const paid = async (from: string, payment_method: string) =>
      (
        await must(
          user.post('/v1/deposits', { amount: '1.00', currency: 'USD', from: { account_id: from }, payment_method }),
        )
      ).from.address_id;
    const reusable = async () => (await must(user.get('/v1/addresses?is_reusable=true'))).data.map((a: any) => a.id);
    const one = await paid(debtor.id, 'domestic_debit');
    const two = await paid(other.id, 'domestic_wire');
    expect(await reusable()).toEqual([one]);
    const graph = await must(user.graph('{ addresses(isReusable: true) { nodes { id isReusable category } } }'));
    expect(graph.data.addresses.nodes).toEqual([{ id: one, isReusable: true, category: 'PARTNER_PAYMENT' }]);
    // The same account, debited later, becomes reusable; a wire does not undo that.
    expect(await paid(other.id, 'domestic_debit')).toBe(two);
    expect(await paid(debtor.id, 'domestic_wire')).toBe(one);
    expect(new Set(await reusable())).toEqual(new Set([one, two]));
    expect((await must(user.post(`/v1/test_helpers/addresses/${one}/expire`))).is_reusable).toBe(false);
    expect(await reusable()).toEqual([two]);
  });

  it('finds a wallet of each provider, which a test helper creates for a partner and no other account', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();
    const make = (id: string, body: object) => user.post(`/v1/test_helpers/accounts/${id}/wallet`, body);
    for (const provider of ['affirm', 'afterpay', 'klarna', 'paypal_external']) {
      const made = await must(make(partner.id, provider === 'paypal_external' ? {} : { provider }));
      expect(made).toMatchObject({
        type: 'wallet',
        category: 'partner_payment',
        currency: 'USD',
        wallet: { provider },
      });
      expect((await must(user.get(`/v1/addresses?wallet.provider=${provider}`))).data).toEqual([made]);
    }
    const own = await make(user.id, {});
    expect([own.status, own.codes, own.fieldNames]).toEqual([400, ['account_type_invalid'], ['address.id']]);
    const wrong = await make(partner.id, { provider: 'cash' });
    expect([wrong.status, wrong.fieldNames]).toEqual([400, ['address.provider']]);
  });

  it('filters by wallet provider and by what a vpa can do', async () => {
    const user = await given.directUser(2);
    const partner = await user.partner();
    const put = async (id: string, type: string, wallet: object | null, vpa: object | null) => {
      await world.sql`insert into address (tenant_id, livemode, id, created, category, type, status, currency,
        linked_id, wallet, vpa, context_id, on_root_list)
        select tenant_id, livemode, ${id}, created, 'partner_payment', ${type}, 'activated', 'INR', id,
               ${wallet && world.sql.json(wallet as never)}, ${vpa && world.sql.json(vpa as never)}, context_id,
               on_root_list
        from account where id = ${partner.id}`;
      return id;
    };
    const hex = partner.id.slice(-30);
    const klarna = await put(`address_${hex}01`, 'wallet', { provider: 'klarna' }, null);
    const affirm = await put(`address_${hex}02`, 'wallet', { provider: 'affirm' }, null);
    const vpa = await put(`address_${hex}03`, 'vpa', null, {
      id: 'asha@bank',
      upi: { onetime: 'enabled', recurring: 'disabled' },
    });
    const rows: [string, string[]][] = [
      ['wallet.provider=klarna', [klarna]],
      ['wallet.provider=klarna&wallet.provider=affirm', [affirm, klarna]],
      ['wallet.provider=afterpay,paypal_external', []],
      ['type=wallet', [affirm, klarna]],
      ['type=vpa', [vpa]],
      ['vpa.upi.onetime=enabled', [vpa]],
      ['vpa.upi.onetime=disabled', []],
      ['vpa.upi.recurring=disabled', [vpa]],
      ['vpa[upi][recurring]=enabled', []],
      ['vpa.upi.onetime=enabled&vpa.upi.recurring=enabled', []],
    ];
    for (const [query, expected] of rows) expect([query, await ids(user, `?${query}`)]).toEqual([query, expected]);
    expect(await must(user.get(`/v1/addresses/${vpa}`))).toMatchObject({
      type: 'vpa',
      vpa: { id: 'asha@bank', upi: { onetime: 'enabled', recurring: 'disabled' } },
      wallet: null,
      bank_account: null,
    });
    expect(await must(user.get(`/v1/addresses/${klarna}`))).toMatchObject({
      vpa: null,
      wallet: { provider: 'klarna' },
    });
  });

  const refused: [Edition, query: string, code: string, field: string][] = [
    [1, 'type=vpa', 'parameter_invalid', 'type'],
    [1, 'vpa.upi.onetime=enabled', 'parameter_unknown', 'vpa.upi.onetime'],
    [1, 'vpa.upi.recurring=enabled', 'parameter_unknown', 'vpa.upi.recurring'],
    [2, 'vpa.upi.onetime=maybe', 'parameter_invalid', 'vpa.upi.onetime'],
    [2, 'wallet.provider=purse', 'parameter_invalid', 'wallet.provider'],
    [1, 'category=user', 'parameter_invalid', 'category'],
    [1, 'currency=dollars', 'parameter_invalid', 'currency'],
    [1, 'is_reusable=no', 'parameter_invalid', 'is_reusable'],
    [1, 'status=draft', 'parameter_invalid', 'status'],
    [1, 'name=x', 'parameter_unknown', 'name'],
    // The parameter takes one account: with two, neither the first nor the last is used.
    [1, 'linked_id=account_1&linked_id=account_2', 'parameter_invalid', 'linked_id'],
  ];
  it.each(refused)('of Edition %i refuses %s', async (edition, query, code, field) => {
    const user = await given.directUser(edition);
    const reply = await user.get(`/v1/addresses?${query}`);
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`address.${field}`]]);
  });
});
