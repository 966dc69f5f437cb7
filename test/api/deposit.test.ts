import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { currencyOf, unknownId } from '../support/bodies.js';
import { activatedUser } from '../support/onboarding-profile.js';
import {
  type Transport,
  transports,
  type Edition,
  eventually,
  givenIn,
  type Reply,
  type Speaker,
  useWorld,
  tenantOf,
  payoutAddress,
} from '../support/world.js';
import { activatedPartner, addressesOf, ask, bodyOf, deposited, move, verbs } from './deposit-fixture.js';

// No worker, so that a deposit keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const create = (speaker: Speaker, transport: Transport, body: object) =>
  ask(speaker, transport, ['/v1/deposits', 'createDeposit', 'CreateDepositInput'], body);

describe.each(transports)('creating a deposit over %s', (transport) => {
  it('requires only an amount and a currency in Edition 1; goes to the acting account by domestic credit', async () => {
    const user = await given.directUser(1);
    const [receiving] = await addressesOf(user, user.id, 'service_receive');

    const { status, deposit } = await create(user, transport, { amount: '10', currency: 'USD' });

    expect(status).toBe(200);
    expect(deposit).toEqual({
      id: expect.stringMatching(/^deposit_[0-9a-f]{32}$/),
      object: 'deposit',
      created: expect.any(Number),
      livemode: false,
      // "10" means "10.00".
      amount: '10.00',
      currency: 'USD',
      from: { account_id: null, address_id: null },
      to: { account_id: user.id, address_id: receiving.id },
      payment_method: 'domestic_credit',
      payment_method_details: null,
      reason_code: null,
      statement_descriptor: '',
      status: 'initialized',
      metadata: null,
    });
  });

  it('also requires a destination and a method in Edition 2, which accepts INR', async () => {
    const user = await given.directUser(2);
    const [receiving] = await addressesOf(user, user.id, 'service_receive');

    const { status, deposit } = await create(user, transport, {
      ...{ amount: '99.90', currency: 'INR', payment_method: 'upi', to: { account_id: user.id } },
      ...{ statement_descriptor: 'Course fee', metadata: { order: '7' } },
    });

    expect(status).toBe(200);
    expect(deposit).toEqual({
      id: expect.stringMatching(/^deposit_[0-9a-f]{32}$/),
      object: 'deposit',
      created: expect.any(Number),
      livemode: false,
      amount: '99.90',
      currency: 'INR',
      from: { account_id: null, address_id: null },
      to: { account_id: user.id, address_id: receiving.id },
      payment_method: 'upi',
      payment_method_details: null,
      reason_code: null,
      statement_descriptor: 'Course fee',
      status: 'initialized',
      metadata: { order: '7' },
    });
  });

  it.each([
    [1, {}, ['deposit.amount', 'deposit.currency']],
    [2, {}, ['deposit.amount', 'deposit.currency', 'deposit.payment_method', 'deposit.to']],
    [2, { amount: '1.00', currency: 'INR' }, ['deposit.payment_method', 'deposit.to']],
    [2, { amount: '1.00', currency: 'INR', payment_method: 'upi' }, ['deposit.to']],
  ] as const)('names all that is missing in Edition %i of %j', async (edition, body, missing) => {
    const user = await given.directUser(edition);

    const reply = await create(user, transport, body);

    expect([reply.status, new Set(reply.codes), reply.fieldNames.toSorted()]).toEqual([
      400,
      new Set(['parameter_missing']),
      missing,
    ]);
  });

  it('accepts a destination by its account, by its address, or by both', async () => {
    const user = await given.directUser(2);
    const [receiving] = await addressesOf(user, user.id, 'service_receive');
    const whole = { account_id: user.id, address_id: receiving.id };

    for (const to of [{ account_id: user.id }, { address_id: receiving.id }, whole]) {
      const { deposit } = await create(user, transport, bodyOf(user, '1.00', { to }));
      expect([to, deposit.to]).toEqual([to, whole]);
    }
  });

  it('accepts a source by its account, by its address, or by both', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();
    const { from } = await deposited(user, '1.00', { from: { account_id: partner.id } });
    expect(from).toEqual({ account_id: partner.id, address_id: expect.stringMatching(/^address_/) });

    for (const party of [{ account_id: partner.id }, { address_id: from.address_id }, from]) {
      const { deposit } = await create(user, transport, bodyOf(user, '1.00', { from: party }));
      expect([party, deposit.from]).toEqual([party, from]);
    }
  });

  it('refuses an account with an address of another one, on either side', async () => {
    const user = await given.directUser(2);
    const [partner, other] = [await activatedPartner(user, user), await user.partner()];
    const [receiving] = await addressesOf(user, user.id, 'service_receive');
    const { from } = await deposited(user, '1.00', { from: { account_id: other.id } });

    const to = await create(
      user,
      transport,
      bodyOf(user, '1.00', { to: { account_id: partner.id, address_id: receiving.id } }),
    );
    expect([to.status, to.codes, to.fieldNames]).toEqual([400, ['parameter_invalid'], ['deposit.to.address_id']]);
    const mixed = { account_id: partner.id, address_id: from.address_id };
    const reply = await create(user, transport, bodyOf(user, '1.00', { from: mixed }));
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['deposit.from.address_id'],
    ]);
  });

  // Another tenant must not learn what exists: a foreign id gets the same response as an invented one.
  it.each(['to.account_id', 'to.address_id', 'from.account_id', 'from.address_id'])(
    'returns 404 for a foreign %s, as for an invented one, and names it',
    async (name) => {
      const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
      const partner = await outsider.partner();
      const paid = await deposited(outsider, '1.00', { from: { account_id: partner.id } });
      const [side, member] = name.split('.') as ['to' | 'from', 'account_id' | 'address_id'];
      const foreign = paid[side][member];

      const [reply, invented] = await Promise.all(
        [foreign, unknownId(foreign.split('_')[0])].map((id) =>
          create(user, transport, bodyOf(user, '1.00', { [side]: { [member]: id } })),
        ),
      );

      expect([reply!.status, reply!.codes, reply!.fieldNames]).toEqual([
        404,
        ['resource_missing'],
        [`deposit.${name}`],
      ]);
      expect([invented!.status, invented!.codes, invented!.fieldNames]).toEqual([
        reply!.status,
        reply!.codes,
        reply!.fieldNames,
      ]);
      expect((await user.get('/v1/deposits')).body.data).toEqual([]);
    },
  );

  it('refuses money from a partner of another user of the platform', async () => {
    const platform = await given.platform(1);
    const [one, other] = [await activatedUser(platform), await platform.connectedUser()];
    const partner = await other.partner();

    // The platform can see both, the user only its own.
    const byPlatform = await create(
      platform,
      transport,
      bodyOf(platform, '1.00', { from: { account_id: partner.id } }),
    );
    expect([byPlatform.status, byPlatform.codes, byPlatform.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['deposit.from.account_id'],
    ]);
    const byUser = await create(one, transport, bodyOf(one, '1.00', { from: { account_id: partner.id } }));
    expect([byUser.status, byUser.fieldNames]).toEqual([404, ['deposit.from.account_id']]);
  });

  it('returns 402 without a usable receiving address, however it is named', async () => {
    const platform = await given.platform(1);
    const draft = await platform.connectedUser();
    const [user, second] = [await given.directUser(1), await given.platform(2)];
    const partner = await user.partner();
    const payout = await payoutAddress(user);
    const { from } = await deposited(user, '1.00', { from: { account_id: partner.id } });
    const receiving = await addressesOf(user, user.id, 'service_receive');
    expect((await user.post(`/v1/test_helpers/addresses/${receiving[0].id}/expire`)).status).toBe(200);

    const replies = await Promise.all([
      // In Edition 2 a platform has only that of its fee advance, which must be named by its address.
      create(second, transport, bodyOf(second)),
      // A draft has none yet, for every acting account, and neither has a partner.
      create(draft, transport, bodyOf(draft)),
      create(platform, transport, bodyOf(platform, '1.00', { to: { account_id: draft.id } })),
      create(user, transport, bodyOf(user, '1.00', { to: { account_id: partner.id } })),
      // The only one has expired.
      create(user, transport, bodyOf(user)),
      create(user, transport, bodyOf(user, '1.00', { to: { address_id: receiving[0].id } })),
      // Addresses for sending or for payouts receive nothing.
      create(user, transport, bodyOf(user, '1.00', { to: { address_id: payout.id } })),
      create(user, transport, bodyOf(user, '1.00', { to: { address_id: from.address_id } })),
    ]);

    expect(replies.map(({ status, codes }) => [status, codes])).toEqual(replies.map(() => [402, ['address_unusable']]));
  });

  it('works only with a full test key, like all its helpers', async () => {
    const { test, live } = await given.directUserBoth(1);
    const made = await deposited(test);
    const key = await test.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const reader = test.using(key.body.data.createApiKey.secret);

    for (const speaker of [live, reader]) {
      const replies = await Promise.all([
        create(speaker, transport, bodyOf(speaker)),
        ...verbs.map((verb) => move(speaker, transport, made.id, verb)),
      ]);
      expect(replies.map(({ status, codes }) => [status, codes])).toEqual(
        replies.map(() => [403, ['permission_denied']]),
      );
    }
    expect((await test.get(`/v1/deposits/${made.id}`)).body).toEqual(made);
    expect((await live.get(`/v1/deposits/${made.id}`)).status).toBe(404);
  });
});

// Spec: Deposit, payment_method, and Create a Deposit.
const methods: Record<Edition, string[]> = {
  1: [
    ...['affirm', 'afterpay', 'check', 'domestic_credit', 'domestic_debit', 'domestic_fast_credit', 'domestic_wire'],
    ...['global_wire', 'klarna'],
  ],
  2: ['card', 'upi'],
};
const currencies: Record<Edition, string[]> = { 1: ['USD'], 2: ['INR', 'USD'] };

// Spec: Deposit, payment_method. Edition 2's sample shows domestic_wire, too.
describe.each([1, 2] as const)('the filter by payment method in Edition %i', (edition) => {
  const every = [...new Set([...methods[1], ...methods[2]])];
  const known = edition === 1 ? methods[1] : [...methods[2], 'domestic_wire'];
  const edges = (id: string, address: string): [name: string, query: string, (data: any) => any][] => [
    ['deposits', 'deposits(paymentMethod: $m) { nodes { id } }', (data) => data.deposits],
    [
      'in',
      `account(id: "${id}") { depositsIn(paymentMethod: $m) { nodes { id } } }`,
      (data) => data.account.depositsIn,
    ],
    [
      'out',
      `account(id: "${id}") { depositsOut(paymentMethod: $m) { nodes { id } } }`,
      (data) => data.account.depositsOut,
    ],
    [
      'of an address',
      `address(id: "${address}") { deposits(paymentMethod: $m) { nodes { id } } }`,
      (data) => data.address.deposits,
    ],
  ];

  it('accepts only the methods of the edition, on every list of deposits', async () => {
    const user = await given.directUser(edition);
    const [address] = (await user.get('/v1/addresses?category=service_receive')).body.data;
    const { deposit } = await create(user, 'REST', bodyOf(user));
    for (const method of every) {
      const reply = await user.get(`/v1/deposits?payment_method=${method}`);
      const rest = await user.get(`/v1/deposits?payment_method=${known[0]},${method}`);
      const refused = [400, ['parameter_invalid'], ['deposit.payment_method']];
      for (const { status, codes, fieldNames } of [reply, rest])
        expect([method, status, codes, fieldNames]).toEqual([
          method,
          ...(known.includes(method) ? [200, [], []] : refused),
        ]);
      // Three times, because a document is answered by resolvers first and by its compiled query afterwards.
      for (const [name, query, of] of edges(user.id, address.id))
        for (let i = 0; i < 3; i++) {
          const graph = await user.graph(`query ($m: [DepositPaymentMethod!]) { ${query} }`, {
            m: [method.toUpperCase()],
          });
          expect([name, method, graph.codes, graph.fieldNames]).toEqual(
            known.includes(method)
              ? [name, method, [], []]
              : [name, method, ['parameter_invalid'], ['deposit.payment_method']],
          );
          if (known.includes(method) && name === 'deposits')
            expect(of(graph.body.data).nodes).toEqual(method === deposit.payment_method ? [{ id: deposit.id }] : []);
        }
    }
  });
});

describe.each([1, 2] as const)('the parameters of a deposit in Edition %i', (edition) => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(edition);
  });

  it.each([...new Set([...methods[1], ...methods[2]])])('payment_method %s, of this edition or not', async (method) => {
    const body = { ...bodyOf(user), payment_method: method, to: { account_id: user.id } };
    for (const transport of transports) {
      const { status, fieldNames, deposit } = await create(user, transport, body);
      const allowed = methods[edition].includes(method);
      expect([transport, status, fieldNames, deposit?.payment_method]).toEqual(
        allowed ? [transport, 200, [], method] : [transport, 400, ['deposit.payment_method'], undefined],
      );
    }
  });

  it.each(['USD', 'INR', 'EUR', 'JPY', 'usd', 'XXX'])('currency %s, of this edition or not', async (currency) => {
    for (const transport of transports) {
      const { status, fieldNames, deposit } = await create(user, transport, { ...bodyOf(user), currency });
      const allowed = currencies[edition].includes(currency);
      expect([transport, status, fieldNames, deposit?.currency]).toEqual(
        allowed ? [transport, 200, [], currency] : [transport, 400, ['deposit.currency'], undefined],
      );
    }
  });

  it('are all named in one response if they are empty, unknown or of the wrong type', async () => {
    const empty = await user.post('/v1/deposits', { ...bodyOf(user), amount: '', currency: null });
    expect([empty.status, empty.codes, empty.fieldNames]).toEqual([
      400,
      ['parameter_invalid_empty', 'parameter_invalid_empty'],
      ['deposit.amount', 'deposit.currency'],
    ]);
    const reply = await user.post('/v1/deposits', {
      ...bodyOf(user),
      status: 'completed',
      payment_method: 'cash',
      from: { iban: 'x' },
      metadata: { n: 1 },
    });
    expect([reply.status, reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`).toSorted()]).toEqual([
      400,
      [
        'parameter_invalid deposit.metadata.n',
        'parameter_invalid deposit.payment_method',
        'parameter_unknown deposit.from.iban',
        'parameter_unknown deposit.status',
      ],
    ]);
  });
});

it.each(transports)('refuses an empty destination in Edition 2, where one is required, over %s', async (transport) => {
  const user = await given.directUser(2);
  const hashes = [
    ...[{}, { account_id: '' }, { account_id: ' ' }, { account_id: null }, { address_id: '' }, { address_id: null }],
    ...[
      { account_id: '', address_id: '' },
      { account_id: null, address_id: '' },
    ],
  ];
  // A text is not an object: GraphQL refuses it by its type.
  for (const to of [...hashes, null, ...(transport === 'REST' ? [''] : [])]) {
    const reply = await create(user, transport, bodyOf(user, '1.00', { to }));
    expect([to, reply.status, reply.codes, reply.fieldNames]).toEqual([
      to,
      400,
      ['parameter_invalid_empty'],
      ['deposit.to'],
    ]);
    if (transport === 'GraphQL') expect(reply.body.errors[0].extensions.argumentPath).toEqual(['input', 'to']);
  }
  expect((await user.get('/v1/deposits')).body.data).toEqual([]);
});

it.each(transports)(
  'treats an empty destination as none in Edition 1, which has a default, over %s',
  async (transport) => {
    const user = await given.directUser(1);
    for (const to of [{}, { account_id: '' }, { account_id: null, address_id: '' }]) {
      const { status, deposit } = await create(user, transport, bodyOf(user, '1.00', { to }));
      expect([to, status, deposit.to.account_id]).toEqual([to, 200, user.id]);
    }
  },
);

it('shows the keys of a deposit in the order of the specification', async () => {
  const user = await given.directUser(1);
  const made = await deposited(user);
  expect(Object.keys(made)).toEqual(
    (
      'id object created livemode amount currency from to payment_method payment_method_details reason_code ' +
      'statement_descriptor status metadata'
    ).split(' '),
  );
  expect([Object.keys(made.from), Object.keys(made.to)]).toEqual([
    ['account_id', 'address_id'],
    ['account_id', 'address_id'],
  ]);
});

describe('the address from which a partner has paid', () => {
  const kinds: [Edition, string, object][] = [
    ...(['affirm', 'afterpay', 'klarna'] as const).map((provider): [Edition, string, object] => [
      1,
      provider,
      { type: 'wallet', wallet: { provider }, vpa: null, bank_account: null },
    ]),
    [1, 'domestic_wire', { type: 'bank_account', wallet: null, vpa: null, bank_account: expect.any(Object) }],
    [
      2,
      'upi',
      {
        type: 'vpa',
        wallet: null,
        vpa: { id: expect.any(String), upi: { onetime: expect.any(String), recurring: expect.any(String) } },
        bank_account: null,
      },
    ],
  ];

  it.each(kinds)(
    'in Edition %i by %s is created with the first payment and used for the next',
    async (edition, method, kind) => {
      const user = await given.directUser(edition);
      const partner = await user.partner();
      const from = { account_id: partner.id };
      expect(await addressesOf(user, partner.id, 'partner_payment')).toEqual([]);

      const [first, second] = [
        await deposited(user, '1.00', { from, payment_method: method }),
        await deposited(user, '2.00', { from, payment_method: method }),
      ];

      const made = await addressesOf(user, partner.id, 'partner_payment');
      expect(made).toEqual([
        {
          ...{ id: first.from.address_id, object: 'address', created: expect.any(Number), livemode: false },
          ...{ category: 'partner_payment', status: 'activated', currency: currencyOf[edition], name: null },
          ...{ is_reusable: false, linked_object: 'account', linked_id: partner.id, billing_details: null },
          ...{ supporting_documentation: null, metadata: null },
          ...kind,
        },
      ]);
      expect(second.from).toEqual(first.from);
    },
  );

  it('differs for another wallet, and does not exist for money of the user itself or of an unknown payer', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();
    const from = { account_id: partner.id };

    const [klarna, affirm, wire] = [
      await deposited(user, '1.00', { from, payment_method: 'klarna' }),
      await deposited(user, '1.00', { from, payment_method: 'affirm' }),
      await deposited(user, '1.00', { from, payment_method: 'domestic_wire' }),
    ];
    const own = await deposited(user, '1.00', { from: { account_id: user.id } });

    expect(new Set([klarna, affirm, wire].map((d) => d.from.address_id)).size).toBe(3);
    expect(own.from).toEqual({ account_id: user.id, address_id: null });
    expect((await user.get('/v1/addresses?category=partner_payment')).body.data).toHaveLength(3);
    const wallets = await user.get('/v1/addresses?wallet.provider=klarna,affirm');
    expect(wallets.body.data.map((a: any) => a.id).toSorted()).toEqual(
      [klarna.from.address_id, affirm.from.address_id].toSorted(),
    );
  });

  it('is a single one after concurrent first payments', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();

    const made = await Promise.all(
      Array.from({ length: 8 }, () => deposited(user, '1.00', { from: { account_id: partner.id } })),
    );

    expect(new Set(made.map((d) => d.from.address_id)).size).toBe(1);
    expect(await addressesOf(user, partner.id, 'partner_payment')).toHaveLength(1);
  });
});

// Without a payer, `create_deposit` checks the receiving account and finds its address; with one, the gateway does.
describe('the destination of a deposit that names no address', () => {
  it('is the same with and without a payer: for each caller, account, currency, edition and state', async () => {
    const [platform, outsider, direct] = [await given.platform(1), await given.platform(1), await given.directUser(2)];
    const [user, other] = [await activatedUser(platform), await activatedUser(platform)];
    const draft = await platform.connectedUser();
    const partner = await activatedPartner(platform, user);
    const closed = await activatedPartner(platform, other);
    const [ended] = await addressesOf(platform, closed.id, 'service_receive');
    expect((await platform.post(`/v1/test_helpers/addresses/${ended.id}/expire`)).status).toBe(200);
    const ids = {
      ...{ itself: undefined, user: user.id, other: other.id, draft: draft.id, partner: partner.id },
      ...{ closed: closed.id, platform: platform.id, direct: direct.id, unknown: unknownId('account') },
    };
    const callers = {
      ...{ platform, user, acting: platform.actingFor(user.id), other, outsider, direct },
    };
    const payers: Record<string, string> = {};
    for (const [name, caller] of Object.entries(callers)) payers[name] = (await caller.partner()).id;
    const outcomes: Record<string, string> = {};
    const askAs = async (name: keyof typeof callers, at: keyof typeof ids, currency: string) => {
      const [caller, id] = [callers[name], ids[at]];
      const to = id === undefined ? {} : { to: { account_id: id } };
      const ask = async (more: object) => {
        const method = caller.edition === 2 && { payment_method: 'upi' };
        const reply = await caller.post('/v1/deposits', { amount: '1.00', currency, ...method, ...to, ...more });
        const fault = `${reply.status} ${reply.codes[0]} ${reply.fieldNames[0]}`;
        return reply.status === 200 ? `${reply.body.to.account_id} ${reply.body.to.address_id}` : fault;
      };
      const [without, withPayer] = await Promise.all([ask({}), ask({ from: { account_id: payers[name]! } })]);
      // Then the destination was accepted, and its account is not that of the payer.
      const accepted = withPayer === '400 parameter_invalid deposit.from.account_id';
      const wanted = accepted ? expect.stringMatching(/^account_/) : withPayer;
      expect([name, at, without]).toEqual([name, at, wanted]);
      outcomes[`${name} to ${at} ${currency}`] = without.replace(/^account_.*/, 'an address');
    };
    const names = Object.keys(callers) as (keyof typeof callers)[];
    await Promise.all(
      names.flatMap((name) =>
        (Object.keys(ids) as (keyof typeof ids)[]).flatMap((at) => {
          if (callers[name].edition === 1) return [askAs(name, at, 'USD')];
          // Edition 2 requires a destination.
          return at === 'itself' ? [] : [askAs(name, at, 'INR'), askAs(name, at, 'USD')];
        }),
      ),
    );
    const missing = '404 resource_missing deposit.to.account_id';
    const unusable = '402 address_unusable deposit.to.account_id';
    const found = (name: string) => Object.keys(ids).map((at) => outcomes[`${name} to ${at} USD`]);
    const address = 'an address';
    // itself, user, other, draft, partner, closed, platform, direct, unknown
    expect({
      platform: found('platform'),
      user: found('user'),
      acting: found('acting'),
      other: found('other'),
      outsider: found('outsider'),
      direct: found('direct'),
    }).toEqual({
      platform: [address, address, address, unusable, address, unusable, address, missing, missing],
      user: [address, address, missing, missing, address, missing, missing, missing, missing],
      acting: [address, address, missing, missing, address, missing, missing, missing, missing],
      other: [address, missing, address, missing, missing, unusable, missing, missing, missing],
      outsider: [address, missing, missing, missing, missing, missing, missing, missing, missing],
      direct: [undefined, missing, missing, missing, missing, missing, missing, address, missing],
    });
    expect(outcomes['direct to direct INR']).toBe(address);
  });

  it('is no address that is of another category, account, mode or state', async () => {
    const { test, live } = await given.directUserBoth(1);
    const [address] = await addressesOf(test, test.id, 'service_receive');
    await payoutAddress(test);
    const other = await given.directUser(1);
    const partner = await test.partner();
    const columns = `tenant_id, livemode, id, created, category, type, status, currency, name, is_reusable, linked_id,
      bank_account, billing_details, context_id, on_root_list`;
    const copy = (more: object) =>
      world.sql.unsafe(
        `insert into address (${columns}) select ${columns} from jsonb_populate_record(null::address, (
           select to_jsonb(a) || jsonb_build_object('id', a.id || md5(random()::text), 'created', a.created + 9)
           from address a
           where a.id = '${address.id}' and not a.livemode) || $1::text::jsonb)`,
        [JSON.stringify(more)],
      );
    // Each is newer than the right one.
    for (const more of [
      { category: 'service_fee_advance' },
      { category: 'user_payout' },
      { livemode: true },
      { linked_id: partner.id },
      { tenant_id: tenantOf(other), linked_id: other.id },
      ...['deactivated', 'expired', 'pending_deactivation'].map((status) => ({ status })),
    ])
      await copy(more);
    expect((await deposited(test)).to).toEqual({ account_id: test.id, address_id: address.id });
    // Deposits of live mode come from the bank alone.
    expect((await create(live, 'REST', bodyOf(live))).status).toBe(403);
  });

  it('is closed or not while requests race: none that follows the answer of the closing gets it', async () => {
    const user = await given.directUser(1);
    const [address] = await addressesOf(user, user.id, 'service_receive');
    let closed = false;
    const racing = Array.from({ length: 12 }, async () => {
      const each: [late: boolean, reply: Reply][] = [];
      while (each.length === 0 || !each.at(-1)![0]) {
        const late = closed;
        each.push([late, await create(user, 'REST', bodyOf(user))]);
      }
      return each;
    });
    await eventually(
      () => world.sql`select from deposit where tenant_id = ${tenantOf(user)}`,
      (rows) => rows.length >= 12,
    );
    expect((await user.post(`/v1/test_helpers/addresses/${address.id}/expire`)).status).toBe(200);
    closed = true;
    const outcomes = (await Promise.all(racing)).flat().map(([late, { status, codes, body }]) => {
      const outcome = status === 200 && body.to.address_id === address.id ? 'an address' : `${status} ${codes[0]}`;
      return `${late ? 'later' : 'before or beside'}: ${outcome}`;
    });
    const allowed = ['before or beside: an address', 'before or beside: 402 address_unusable'];
    expect([...new Set(outcomes)].filter((text) => !allowed.includes(text))).toEqual(['later: 402 address_unusable']);
  });
});
