import pino from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Worker } from '../../src/jobs/runner.js';
import {
  inputTypeOf,
  type Transport,
  must,
  transports,
  type Edition,
  eventually,
  givenIn,
  nickname,
  type Reply,
  type Speaker,
  useWorld,
  type World,
  tenantOf,
  payoutAddress,
  withoutTotals,
} from '../support/world.js';

// No worker, so that a deposit keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const verbs = ['process', 'complete', 'fail', 'cancel', 'reverse', 'dispute'] as const;
type Verb = (typeof verbs)[number];

const currencyOf = { 1: 'USD', 2: 'INR' } as const;
const money = (amount: string, currency = 'USD') => [{ amount, currency }];
const unknown = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;

const camel = (name: string) => name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
/** A body of /v1 as the input of the mutation: names in camelCase, enum values in UPPER_CASE. */
function inputOf(body: object): object {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (name === 'payment_method' || name === 'reason_code') return [camel(name), String(value).toUpperCase()];
      if (Array.isArray(value)) return [camel(name), value.map(inputOf)];
      const hash = typeof value === 'object' && value !== null && name !== 'metadata';
      return [camel(name), hash ? inputOf(value) : value];
    }),
  );
}

interface Answer extends Reply {
  /** The deposit of a response, in the format of /v1. */
  deposit: any;
}

/** One operation through one API, with a result that can be compared between the APIs. */
async function ask(
  speaker: Speaker,
  transport: Transport,
  [path, mutation, type]: [path: string, mutation: string, type: string],
  body: object,
  id?: string,
): Promise<Answer> {
  if (transport === 'REST') {
    const reply = await speaker.post(path, body);
    return { ...reply, deposit: reply.body };
  }
  const reply = await speaker.graph(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { deposit { id amount status reasonCode } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
  );
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  const made = reply.body.data?.[mutation]?.deposit;
  if (!made) return { ...reply, status, deposit: undefined };
  const deposit = (await speaker.get(`/v1/deposits/${made.id}`)).body;
  // The mutation's response must already be the same as a later query's.
  expect([made.amount, made.status, made.reasonCode]).toEqual([
    deposit.amount,
    deposit.status.toUpperCase(),
    deposit.reason_code?.toUpperCase() ?? null,
  ]);
  return { ...reply, status, deposit };
}

const create = (speaker: Speaker, transport: Transport, body: object) =>
  ask(speaker, transport, ['/v1/deposits', 'createDeposit', 'CreateDepositInput'], body);

const reconcile = (
  speaker: Speaker,
  transport: Transport,
  id: string,
  receivables: [receivable: string, amount: string][],
) =>
  ask(
    speaker,
    transport,
    [`/v1/deposits/${id}/reconcile`, 'reconcileDeposit', 'ReconcileDepositInput'],
    { receivables: receivables.map(([receivable, amount]) => ({ id: receivable, amount })) },
    id,
  );

const move = (speaker: Speaker, transport: Transport, id: string, verb: Verb, body: object = {}) =>
  ask(
    speaker,
    transport,
    [`/v1/test_helpers/deposits/${id}/${verb}`, `${verb}TestDeposit`, inputTypeOf(`${verb}TestDeposit`)],
    body,
    id,
  );

/** Runs the due jobs of a root's test mode and advances its test clock until none is due. */
async function work(root: Speaker, of: World = world): Promise<void> {
  for (let done = 1; done > 0; ) {
    await must(root.post('/v1/test_helpers/clock', { advance_seconds: 61 }));
    done = await once(root, of);
  }
}

/** Runs one round of a worker; the jobs that it creates wait for the next. */
async function once(root: Speaker, of: World = world): Promise<number> {
  const [row] = await of.database.call('run_jobs', [tenantOf(root), false, 50]);
  return Number(row!.run_jobs);
}

/** Advances a root's test clock to the next noon, far from midnight, when payouts are made. */
async function noon(root: Speaker): Promise<void> {
  const { now } = (await root.post('/v1/test_helpers/clock', { advance_seconds: 1 })).body;
  await must(root.post('/v1/test_helpers/clock', { advance_seconds: 86_400 + 43_200 - (now % 86_400) }));
}

/** Creates a connected user that is activated and can receive money. */
async function activatedUser(platform: Speaker): Promise<Speaker> {
  await noon(platform);
  const businessDetails =
    platform.edition === 1
      ? {
          legalName: 'Asha Rao',
          type: 'INDIVIDUAL',
          physicalAddress: { line1: '1 Road', city: 'Pune', postalCode: '411001', country: 'IN' },
        }
      : {
          ...{ legalName: 'Asha Courses', dba: 'Asha', email: 'a@asha.example', website: 'https://asha.example' },
          ...{ dateOfIncorporation: '2014-04-01', type: 'COMPANY', ids: { business: 'U52100' } },
          physicalAddress: { line1: '1 Road', city: 'Oslo', state: 'Oslo', postalCode: '0150', country: 'NO' },
          ...{ merchantCategoryCode: '5131', merchantSize: 'small' },
          ...{ productCategory: 'goods', productDescription: 'Courses.' },
        };
  const user = await platform.connectedUser({ businessDetails });
  const relationship = platform.edition === 1 ? { owner: true } : { director: true };
  const persons = ['Asha Rao', 'Jonas Lind'].slice(0, platform.edition).map((full_name) => ({
    ...{ account_id: user.id, full_name, relationship, identification: { tax_card_number: 'ABCPE1234F' } },
  }));
  for (const person of persons) expect((await platform.post('/v1/persons', person)).status).toBe(200);
  await payoutAddress(platform, 'INR', user.id);
  const activated = await platform.post(`/v1/accounts/${user.id}/activate`);
  expect([activated.fieldNames, activated.status]).toEqual([[], 200]);
  await work(platform);
  return user;
}

async function activatedPartner(root: Speaker, owner: Speaker): Promise<{ id: string }> {
  const partner = await owner.partner();
  expect((await root.post(`/v1/accounts/${partner.id}/activate`)).status).toBe(200);
  await work(root);
  return partner;
}

const addressesOf = async (speaker: Speaker, id: string, category: string): Promise<any[]> =>
  (await speaker.get(`/v1/addresses?linked_id=${id}&category=${category}`)).body.data;

async function receivableOf(speaker: Speaker, amount: string, more: object = {}): Promise<any> {
  const currency = currencyOf[speaker.edition];
  const reply = await speaker.post('/v1/receivables', {
    currency,
    invoice: {
      ...{ amount, currency, creation_date: '2026-10-01', due_date: '2026-12-01' },
      reference_number: nickname(),
    },
    purpose_code: 'P0802',
    transaction_type: 'services',
    ...more,
  });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body;
}

/** A valid body of a deposit in either edition, with defaults for everything except the amount. */
const bodyOf = (speaker: Speaker, amount = '10.00', more: object = {}) => ({
  amount,
  currency: currencyOf[speaker.edition],
  ...(speaker.edition === 2 && { to: { account_id: speaker.id }, payment_method: 'upi' }),
  ...more,
});

async function deposited(speaker: Speaker, amount = '10.00', more: object = {}): Promise<any> {
  const made = await speaker.post('/v1/deposits', bodyOf(speaker, amount, more));
  expect([made.fieldNames, made.status]).toEqual([[], 200]);
  return made.body;
}

async function completed(speaker: Speaker, amount = '10.00', more: object = {}): Promise<any> {
  const { id } = await deposited(speaker, amount, more);
  const reply = await speaker.post(`/v1/test_helpers/deposits/${id}/complete`);
  expect([reply.status, reply.body.status]).toEqual([200, 'completed']);
  return reply.body;
}

async function funds(speaker: Speaker, id = speaker.id) {
  const { available, pending, payout_processing, fee_advance } = (await speaker.get(`/v1/balance?account_id=${id}`))
    .body;
  return { available, pending, payout_processing, fee_advance };
}

async function locksOf(speaker: Speaker, id: string) {
  const r = (await speaker.get(`/v1/receivables/${id}`)).body;
  return [r.amount_locked, r.amount_settled_payouts, r.amount_reconcilable, r.deposit_ids_amount_locked];
}

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
      const [user, stranger] = await Promise.all([given.directUser(1), given.directUser(1)]);
      const partner = await stranger.partner();
      const paid = await deposited(stranger, '1.00', { from: { account_id: partner.id } });
      const [side, member] = name.split('.') as ['to' | 'from', 'account_id' | 'address_id'];
      const foreign = paid[side][member];

      const [reply, invented] = await Promise.all(
        [foreign, unknown(foreign.split('_')[0])].map((id) =>
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

// Decisions 5.6. A helper that ends an initialized deposit passes through `processing`.
type State = 'initialized' | 'processing' | 'completed' | 'cancelled' | 'failed' | 'reversed' | 'a dispute';
const edges: Record<State, Partial<Record<Verb, string>>> = {
  initialized: { process: 'processing', cancel: 'cancelled', complete: 'completed', fail: 'failed' },
  processing: { complete: 'completed', fail: 'failed' },
  completed: { reverse: 'reversed', dispute: 'completed' },
  cancelled: {},
  failed: {},
  reversed: {},
  'a dispute': {},
};
const ways: Record<State, Verb[]> = {
  initialized: [],
  processing: ['process'],
  completed: ['process', 'complete'],
  cancelled: ['cancel'],
  failed: ['process', 'fail'],
  reversed: ['complete', 'reverse'],
  'a dispute': ['complete', 'dispute'],
};
const transitions = (Object.keys(edges) as State[]).flatMap((state) =>
  verbs.map((verb) => [state, verb, edges[state][verb] ?? 'refused'] as const),
);

describe.each(transports)('the state of a deposit over %s', (transport) => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  it.each(transitions)('%s, %s: %s', async (state, verb, outcome) => {
    let { id } = await deposited(user);
    for (const step of ways[state]) id = (await move(user, 'REST', id, step)).deposit.id;
    const before = await user.get(`/v1/deposits/${id}`);
    const balance = await funds(user);

    const { status, codes, deposit } = await move(
      user,
      transport,
      id,
      verb,
      verb === 'fail' ? { reason_code: 'general' } : {},
    );

    const after = (await user.get(`/v1/deposits/${id}`)).body;
    if (outcome === 'refused') {
      expect([status, codes, after]).toEqual([400, ['status_invalid'], before.body]);
      expect(await funds(user)).toEqual(balance);
    } else if (verb === 'dispute') {
      expect([status, after]).toEqual([200, before.body]);
      expect(deposit).toEqual({
        ...before.body,
        id: expect.not.stringMatching(id),
        created: expect.any(Number),
        amount: '-10.00',
        reason_code: expect.any(String),
        status: 'completed',
      });
    } else {
      const reason = verb === 'fail' ? { reason_code: 'general' } : {};
      expect([status, deposit, after]).toEqual([
        200,
        { ...before.body, status: outcome, ...reason },
        { ...before.body, status: outcome, ...reason },
      ]);
    }
  });

  it.each([
    'cancelled',
    'duplicate',
    'general',
    'high_risk',
    'incorrect_amount',
    'poor_image_quality',
    'unmatched_details',
  ])('a dispute or a failure may have the reason %s', async (reason) => {
    const [failing, disputed] = await Promise.all([deposited(user), completed(user)]);
    const failed = await move(user, transport, failing.id, 'fail', { reason_code: reason });
    const dispute = await move(user, transport, disputed.id, 'dispute', { reason_code: reason, amount: '1.00' });
    expect([failed.deposit.reason_code, dispute.deposit.reason_code]).toEqual([reason, reason]);
  });

  it('refuses an unknown reason, and treats a foreign deposit like an invented one', async () => {
    const [own, stranger] = await Promise.all([completed(user), given.directUser(1)]);
    const foreign = await completed(stranger);
    const reason = await user.post(`/v1/test_helpers/deposits/${own.id}/dispute`, { reason_code: 'whim' });
    expect([reason.status, reason.fieldNames]).toEqual([400, ['deposit.reason_code']]);
    for (const verb of verbs) {
      const replies = await Promise.all([foreign.id, unknown('deposit')].map((id) => move(user, transport, id, verb)));
      expect(replies.map((r) => [r.status, r.codes, r.fieldNames])).toEqual(
        replies.map(() => [404, ['resource_missing'], ['deposit.id']]),
      );
    }
  });
});

describe('the money of a deposit', () => {
  it('is in no balance until the deposit is completed, and never if it is cancelled or fails', async () => {
    const user = await given.directUser(1);
    const nothing = {
      available: money('0.00'),
      pending: money('0.00'),
      payout_processing: money('0.00'),
      fee_advance: [],
    };
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => deposited(user)));
    await must(move(user, 'REST', one.id, 'process'));
    await must(move(user, 'REST', two.id, 'cancel'));
    await must(move(user, 'REST', three.id, 'fail'));
    expect(await funds(user)).toEqual(nothing);
    expect((await user.get('/v1/balance_transactions')).body.data).toEqual([]);

    await must(move(user, 'REST', one.id, 'complete'));

    expect(await funds(user)).toEqual({ ...nothing, pending: money('10.00') });
    expect((await user.get('/v1/balance_transactions')).body.data).toEqual([
      expect.objectContaining({ amount: '10.00', currency: 'USD', category: 'pending' }),
    ]);
    const payments = (await user.get('/v1/payments')).body.data;
    expect(payments.map((p: any) => [p.type, p.amount, p.status, p.deposit_id]).toSorted()).toEqual(
      [
        ['deposit', '10.00', 'completed', one.id],
        ['deposit', '10.00', 'cancelled', two.id],
        ['deposit', '10.00', 'failed', three.id],
      ].toSorted(),
    );
  });

  it('is credited once after concurrent completions over both APIs', async () => {
    const user = await given.directUser(1);
    const { id } = await deposited(user);

    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => move(user, transports[i % 2]!, id, 'complete')),
    );

    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    expect((await funds(user)).pending).toEqual(money('10.00'));
  });

  it('is fee advance of a platform that is paid on its fee advance address, and never pending', async () => {
    for (const edition of [1, 2] as const) {
      const platform = await given.platform(edition);
      const currency = currencyOf[edition];
      const [advance] = await addressesOf(platform, platform.id, 'service_fee_advance');

      const done = await completed(platform, '25.00', { to: { address_id: advance.id } });

      expect(done.to).toEqual({ account_id: platform.id, address_id: advance.id });
      const held = { available: money('0.00', currency), pending: money('0.00', currency) };
      expect(await funds(platform)).toMatchObject({ ...held, fee_advance: money('25.00', currency) });
      expect((await platform.get('/v1/balance_transactions')).body.data).toEqual([
        expect.objectContaining({ amount: '25.00', category: 'fee_advance' }),
      ]);
      // It is clawed back from the same compartment.
      await must(move(platform, 'REST', done.id, 'dispute', { amount: '5.00' }));
      expect(await funds(platform)).toMatchObject({ ...held, fee_advance: money('20.00', currency) });
      await must(move(platform, 'REST', done.id, 'reverse'));
      expect(await funds(platform)).toMatchObject({ ...held, fee_advance: money('0.00', currency) });
    }
  });

  it('is pending at a platform that is paid on its own receiving address, in Edition 1', async () => {
    const platform = await given.platform(1);
    await completed(platform, '25.00');
    expect(await funds(platform)).toEqual({
      available: money('0.00'),
      pending: money('25.00'),
      payout_processing: money('0.00'),
      fee_advance: money('0.00'),
    });
  });

  // The helper reads the deposit and waits for the balance; meanwhile the sandbox starts to process it.
  it('goes to the account of its address, also if the sandbox moves it while a helper completes it', async () => {
    const platform = await given.platform(1);
    const [advance] = await addressesOf(platform, platform.id, 'service_fee_advance');
    const to = { address_id: advance.id };
    await completed(platform, '1.00', { to });
    await work(platform);
    const { id } = await deposited(platform, '2.00', { to });
    let helper: Promise<Answer> | undefined;

    await world.sql.begin(async (sql) => {
      await sql`select from balance where tenant_id = ${tenantOf(platform)} for update`;
      helper = move(platform, 'REST', id, 'complete');
      await eventually(
        () => world.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        (waiting) => waiting.length > 0,
      );
      await once(platform);
    });

    expect([(await helper!).status, (await helper!).deposit.status]).toEqual([200, 'completed']);
    const { pending, fee_advance } = await funds(platform);
    expect([pending, fee_advance]).toEqual([money('0.00'), money('3.00')]);
  });

  it("is pending at a partner that is paid on its own address, and in its owner's aggregate", async () => {
    const user = await given.directUser(1);
    const [one, other] = [await activatedPartner(user, user), await activatedPartner(user, user)];
    const to = { account_id: one.id };

    const done = await completed(user, '30.00', { from: { account_id: one.id }, to });
    await completed(user, '12.50', { from: { account_id: other.id }, to: { account_id: other.id } });
    await completed(user, '1.00');

    const [address] = await addressesOf(user, one.id, 'service_receive');
    expect(done.to).toEqual({ account_id: one.id, address_id: address.id });
    expect((await funds(user, one.id)).pending).toEqual(money('30.00'));
    expect((await funds(user)).pending).toEqual(money('1.00'));
    expect((await user.get('/v1/balance/aggregate')).body).toEqual({
      object: 'balance_aggregate',
      account_id: user.id,
      livemode: false,
      pending: money('42.50'),
    });
  });
});

describe('the sandbox', () => {
  const real = useWorld();
  const there = givenIn(real);

  it('takes a deposit through processing to completed by itself, once, also with two workers', async () => {
    const second = new Worker(real.database, pino({ level: 'silent' }));
    second.start();
    const user = await there.directUser(1);

    const made = await Promise.all(Array.from({ length: 5 }, () => deposited(user, '1.00')));
    expect(made.map((d) => d.status)).toEqual(made.map(() => 'initialized'));
    await eventually(
      () => user.get('/v1/deposits'),
      (r) => r.body.data.every((d: any) => d.status === 'completed'),
    );
    await eventually(
      () => user.get('/v1/events?type=deposit.completed'),
      (r) => r.body.data.length === 5,
    );
    await second.stop();

    expect((await user.get('/v1/balance')).body.pending).toEqual(money('5.00'));
    const { body } = await user.graph(
      '{ events(type: ["deposit.initialized", "deposit.processing", ' +
        '"deposit.completed"], first: 50) { nodes { type objectId } } }',
    );
    const emitted = body.data.events.nodes.map((e: any) => `${e.objectId} ${e.type}`).toSorted();
    expect(emitted).toEqual(
      made
        .flatMap(({ id }) => ['initialized', 'processing', 'completed'].map((state) => `${id} deposit.${state}`))
        .toSorted(),
    );
    expect(await real.sql`select rule, what from violations`).toEqual([]);
  });
});

describe('finding deposits', () => {
  it('lists those of the listed accounts on either side, for each kind of caller', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const toUser = await deposited(user, '1.00', { from: { account_id: partner.id } });
    const toPartner = await deposited(user, '2.00', {
      from: { account_id: partner.id },
      to: { account_id: partner.id },
    });
    const fromUser = await deposited(user, '3.00', {
      from: { account_id: user.id },
      to: { account_id: partner.id },
    });
    const toPlatform = await deposited(platform, '4.00');
    const ids = async (speaker: Speaker, query = '') =>
      (await speaker.get(`/v1/deposits${query}`)).body.data.map((d: any) => d.amount).toSorted();

    expect(await ids(user)).toEqual(['1.00', '2.00', '3.00']);
    expect(await ids(platform.actingFor(user.id))).toEqual(['1.00', '2.00', '3.00']);
    // A connected user's partner is not on the platform's list, so a deposit to it without a payer is not shown.
    expect(await ids(platform)).toEqual(['1.00', '3.00', '4.00']);
    // The platform can still see it, by its id and by its account.
    for (const d of [toUser, toPartner, fromUser, toPlatform])
      expect((await platform.get(`/v1/deposits/${d.id}`)).body).toEqual(d);
    expect((await user.get(`/v1/deposits/${toPlatform.id}`)).status).toBe(404);
    expect(await ids(platform, `?account_id=${user.id}`)).toEqual(['1.00', '3.00']);
    expect(await ids(platform, `?account_id=${partner.id}`)).toEqual(['1.00', '2.00', '3.00']);
    expect(await ids(user, `?account_id=${partner.id}`)).toEqual(['1.00', '2.00', '3.00']);
    expect(await ids(user, `?account_id=${platform.id}`)).toEqual([]);
    const graph = await user.graph(
      `{ account(id: "${partner.id}") { depositsIn { nodes { amount } } depositsOut { nodes { amount } } } }`,
    );
    expect(graph.body.data.account.depositsIn.nodes.map((d: any) => d.amount).toSorted()).toEqual(['2.00', '3.00']);
    expect(graph.body.data.account.depositsOut.nodes.map((d: any) => d.amount).toSorted()).toEqual(['1.00', '2.00']);
  });

  it('are found from their receiving address and from each other, in both directions', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const disputed = await completed(user, '9.00', { from: { account_id: partner.id } });
    const other = await completed(user, '1.00', { to: { account_id: partner.id } });
    const first = (await move(user, 'REST', disputed.id, 'dispute', { amount: '2.00' })).deposit;
    const second = (await move(user, 'REST', disputed.id, 'dispute', { amount: '3.00' })).deposit;
    await withoutTotals(world, tenantOf(platform));
    await world.sql`update deposit set created = created + 1 where tenant_id = ${platform.id.replace('account_', '')}
      and id = ${second.id}`;
    const walk = (speaker: Speaker, id: string) =>
      speaker.graph(
        `query ($id: ID!) { deposit(id: $id) {
           fromAddress { id category } toAddress { id category } disputes { id } disputedBy(first: 1) { nodes { amount
           disputes { id } } totalCount pageInfo { hasNextPage } }
           at: toAddress { deposits { nodes { amount } totalCount } failed: deposits(status: [FAILED]) { nodes { id } }
           } } }`,
        { id },
      );
    for (const speaker of [user, platform]) {
      const { deposit } = (await walk(speaker, disputed.id)).body.data;
      expect(deposit.disputes).toBeNull();
      expect([deposit.fromAddress, deposit.toAddress]).toEqual([
        { id: disputed.from.address_id, category: 'PARTNER_PAYMENT' },
        { id: disputed.to.address_id, category: 'SERVICE_RECEIVE' },
      ]);
      expect(deposit.disputedBy).toEqual({
        nodes: [{ amount: '-3.00', disputes: { id: disputed.id } }],
        ...{ totalCount: 2, pageInfo: { hasNextPage: true } },
      });
      // A dispute has come in nowhere that the disputed deposit has not.
      const { deposits, failed } = deposit.at;
      expect(deposits.nodes.map((d: any) => d.amount).toSorted()).toEqual(['-2.00', '-3.00', '9.00']);
      expect([deposits.totalCount, failed.nodes]).toEqual([3, []]);
      const back = (await walk(speaker, first.id)).body.data.deposit;
      expect([back.disputes, back.disputedBy.totalCount]).toEqual([{ id: disputed.id }, 0]);
      const elsewhere = (await walk(speaker, other.id)).body.data.deposit;
      expect([elsewhere.disputedBy.totalCount, elsewhere.at.deposits.totalCount]).toEqual([0, 1]);
    }
  });

  it('that are not reconciled are a list with the rest of each, whose sum is the pending balance', async () => {
    const user = await given.directUser(1);
    const waiting = async () => {
      const list = 'nodes { id pendingRest } totalCount';
      const query = `{ deposits(unreconciled: true) { ${list} }
        viewer { account { depositsIn(unreconciled: true) { ${list} } balance { pending { amount } } } } }`;
      // The resolvers answer twice, and then a compiled query does.
      const answers: any[] = [];
      for (let n = 0; n < 4; n++) answers.push((await user.graph(query)).body.data);
      const [{ deposits, viewer }] = answers;
      expect(answers).toEqual(Array(4).fill(answers[0]));
      expect(viewer.account.depositsIn).toEqual(deposits);
      expect(deposits.totalCount).toBe(deposits.nodes.length);
      const found = deposits.nodes.map(({ id, pendingRest }: any) => [id, pendingRest]);
      expect((await user.get('/v1/deposits?unreconciled=true')).body.data.map(({ id }: any) => id)).toEqual(
        found.map(([id]: [string]) => id),
      );
      return [found, viewer.account.balance.pending[0]?.amount];
    };
    const receivable = await receivableOf(user, '100.00');
    const [first, second] = [await completed(user, '10.00'), await completed(user, '20.10')];
    await deposited(user, '7.00');
    const rest = [second.id, '20.10'];
    expect(await waiting()).toEqual([[rest, [first.id, '10.00']], '30.10']);
    await must(reconcile(user, 'REST', first.id, [[receivable.id, '9.99']]));
    expect(await waiting()).toEqual([[rest, [first.id, '0.01']], '20.11']);
    await must(reconcile(user, 'REST', first.id, [[receivable.id, '0.01']]));
    expect(await waiting()).toEqual([[rest], '20.10']);
    await must(move(user, 'REST', second.id, 'reverse'));
    expect((await waiting())[0]).toEqual([]);
    for (const wrong of [
      'unreconciled=false',
      'unreconciled=no',
      'unreconciled=true&order_by=amount_desc&currency=USD',
    ]) {
      const { status, codes, fieldNames } = await user.get(`/v1/deposits?${wrong}`);
      expect([status, codes, fieldNames]).toEqual([400, ['parameter_invalid'], ['deposit.unreconciled']]);
    }
  });

  it('of one account on either side finds each once, with any filters, page, direction and API', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const party = (id: string) => ({ account_id: id });
    const sides: [from: string | undefined, to: string][] = [
      [partner.id, user.id],
      [user.id, partner.id],
      [partner.id, partner.id],
      [user.id, user.id],
      [undefined, partner.id],
      [undefined, user.id],
    ];
    for (let n = 0; n < 3; n++)
      for (const [from, to] of sides) {
        const d = await deposited(user, `${n + 1}.00`, { ...(from && { from: party(from) }), to: party(to) });
        if (n === 0) await move(user, 'REST', d.id, 'complete');
      }
    // Six to a second: both sides meet within one.
    const tenant = tenantOf(platform);
    await withoutTotals(world, tenant);
    await world.sql`
      update deposit d set created = 1800000000 + n.n % 3
      from (select id, row_number() over (order by id) n from deposit where tenant_id = ${tenant} and not livemode) n
      where d.id = n.id and d.tenant_id = ${tenant} and not d.livemode`;
    const rows = (await world.sql`select * from deposit where tenant_id = ${tenant} and not livemode`)
      .map((row) => ({ ...row, created: Number(row.created) }) as any)
      .sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
    const filters: [query: string, args: string, passes: (row: any) => boolean][] = [
      ['', '', () => true],
      ['&status=completed', ', status: [COMPLETED]', (row) => row.status === 'completed'],
      [
        '&status=initialized&currency=USD',
        ', status: [INITIALIZED], currency: ["USD"]',
        (r) => r.status !== 'completed',
      ],
      ['&payment_method=klarna', ', paymentMethod: [KLARNA]', () => false],
      ['&created.gt=1800000000', ', created: { gt: "2027-01-15T08:00:00Z" }', (row) => row.created > 1_800_000_000],
      ['&unreconciled=true', ', unreconciled: true', (row) => row.pending_rest !== '0'],
      [
        '&unreconciled=true&currency=USD&status=completed',
        ', unreconciled: true, status: [COMPLETED], currency: ["USD"]',
        (row) => row.pending_rest !== '0',
      ],
    ];
    expect(rows.filter((row) => row.pending_rest !== '0').length).toBeGreaterThan(1);
    const all = [user, platform].flatMap((speaker) =>
      [user, partner].flatMap(({ id }) => filters.map((filter) => ({ speaker, id, filter }))),
    );
    for (const {
      speaker,
      id,
      filter: [query, args, passes],
    } of all) {
      const of = (row: any) => row.to_account_id === id || row.from_account_id === id;
      const ids: string[] = rows.filter((row) => of(row) && passes(row)).map((row) => row.id);
      const rest = async (more: string) => {
        const { status, body } = await speaker.get(`/v1/deposits?account_id=${id}${query}${more}`);
        expect(status).toBe(200);
        return [body.data.map((d: any) => d.id), body.has_next];
      };
      for (const size of [1, 2, 5, 10]) {
        const page = `&limit=${size}`;
        for (let at = 0; at < Math.max(ids.length, 1); at += size) {
          const end = at + size;
          const [after, before] = [ids[at - 1], ids[ids.length - at]];
          expect(await rest(`${page}${after ? `&starting_after=${after}` : ''}`)).toEqual([
            ids.slice(at, end),
            ids.length > end,
          ]);
          if (!before) continue;
          const start = Math.max(ids.length - end, 0);
          expect(await rest(`${page}&ending_before=${before}`)).toEqual([ids.slice(start, ids.length - at), start > 0]);
        }
      }
      const fields = 'totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage }';
      const middle = Math.floor(ids.length / 2);
      const list = (alias: string, more: string) =>
        `${alias}: deposits(accountId: "${id}"${args}, ${more}) { ${fields} }`;
      const cursor = ids[middle];
      const { data, errors } = (
        await speaker.graph(
          `{ ${list('newest', 'first: 2')} ${list('oldest', 'last: 2')}
             ${cursor ? list('on', `first: 2, after: "${cursor}"`) : ''}
             ${cursor ? list('back', `last: 2, before: "${cursor}"`) : ''} }`,
        )
      ).body;
      expect(errors).toBeUndefined();
      const shown = (from: number, to: number) => ({
        totalCount: ids.length,
        nodes: ids.slice(Math.max(from, 0), to).map((one) => ({ id: one })),
        pageInfo: { hasNextPage: to < ids.length, hasPreviousPage: from > 0 },
      });
      expect(data).toEqual({
        newest: shown(0, 2),
        oldest: shown(ids.length - 2, ids.length),
        ...(cursor && { on: shown(middle + 1, middle + 3), back: shown(middle - 2, middle) }),
      });
    }
  });

  it('of one account misses and repeats none while deposits are added on both sides', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const make = (i: number) => {
      const [from, to] = i % 2 === 0 ? [user, partner] : [partner, user];
      return deposited(user, `${i + 1}.00`, { from: { account_id: from.id }, to: { account_id: to.id } });
    };
    const before: string[] = [];
    for (let i = 0; i < 12; i++) before.push((await make(i)).id);
    let more = true;
    const busy = Promise.all(
      [0, 1].map(async (side) => {
        const made: string[] = [];
        for (let i = side; more && i < 200; i += 2) made.push((await make(i)).id);
        return made;
      }),
    );
    const walk = async (first: string, parameter: string) => {
      const met: string[] = [];
      for (let cursor = first; ; ) {
        const { body } = await user.get(`/v1/deposits?account_id=${partner.id}&limit=3&${parameter}=${cursor}`);
        const ids: string[] = body.data.map((d: any) => d.id);
        if (parameter === 'ending_before') met.unshift(...ids);
        else met.push(...ids);
        cursor = (parameter === 'ending_before' ? met[0] : met.at(-1)) ?? first;
        if (!body.has_next) return met;
      }
    };
    const onward = await walk(before.at(-1)!, 'starting_after');
    more = false;
    const made = (await busy).flat();
    const back = await walk(before[0]!, 'ending_before');

    expect(onward).toEqual(before.slice(0, -1).toReversed());
    expect(made.length).toBeGreaterThan(0);
    expect(back).toHaveLength(new Set(back).size);
    expect(back.toSorted()).toEqual([...before.slice(1), ...made].toSorted());
  });

  it('shows none of them to another tenant, and pages and filters like every list', async () => {
    const [user, stranger] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const made = [];
    for (let n = 1; n <= 12; n++) made.push(await deposited(user, `${n}.00`));
    await must(move(user, 'REST', made[0]!.id, 'complete'));

    expect((await stranger.get('/v1/deposits')).body).toEqual({ object: 'list', data: [], has_next: false });
    expect((await stranger.get(`/v1/deposits/${made[0]!.id}`)).status).toBe(404);
    const newest = [...made].sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1)).map((d) => d.id);
    const first = await user.get('/v1/deposits');
    expect([first.body.data.map((d: any) => d.id), first.body.has_next]).toEqual([newest.slice(0, 10), true]);
    const next = await user.get(`/v1/deposits?starting_after=${newest[9]}`);
    expect([next.body.data.map((d: any) => d.id), next.body.has_next]).toEqual([newest.slice(10), false]);
    const back = await user.get(`/v1/deposits?ending_before=${newest[10]}&limit=3`);
    expect([back.body.data.map((d: any) => d.id), back.body.has_next]).toEqual([newest.slice(7, 10), true]);
    const done = await user.get('/v1/deposits?status=completed');
    expect(done.body.data.map((d: any) => d.id)).toEqual([made[0]!.id]);
    const foreign = await user.get(`/v1/deposits?starting_after=${unknown('deposit')}`);
    expect([foreign.status, foreign.fieldNames]).toEqual([400, ['deposit.starting_after']]);
  });
});

describe.each(transports)('reconciling a deposit over %s', (transport) => {
  it('moves money from pending to available, in parts and over several receivables, and locks these', async () => {
    const user = await given.directUser(1);
    const [one, two] = [await receivableOf(user, '100.00'), await receivableOf(user, '50.00')];
    const deposit = await completed(user, '120.00');

    const first = await reconcile(user, transport, deposit.id, [
      [one.id, '70.00'],
      [two.id, '20.00'],
    ]);

    expect([first.status, first.deposit]).toEqual([200, deposit]);
    expect(await funds(user)).toMatchObject({ available: money('90.00'), pending: money('30.00') });
    expect(await locksOf(user, one.id)).toEqual(['70.00', '0.00', '30.00', [deposit.id]]);
    expect(await locksOf(user, two.id)).toEqual(['20.00', '0.00', '30.00', [deposit.id]]);

    // The same receivable again, and twice in one request: the amounts are added.
    const second = await reconcile(user, transport, deposit.id, [
      [two.id, '10.00'],
      [two.id, '20.00'],
    ]);
    expect(second.status).toBe(200);
    expect(await funds(user)).toMatchObject({ available: money('120.00'), pending: money('0.00') });
    expect(await locksOf(user, two.id)).toEqual(['50.00', '0.00', '0.00', [deposit.id]]);
    expect((await user.get(`/v1/receivables/${two.id}`)).body.status).toBe('locked');
    const { body } = await user.graph(
      `{ deposit(id: "${deposit.id}") { pendingRest receivables { id lockedDeposits { id } } } }`,
    );
    expect(body.data.deposit.pendingRest).toBe('0.00');
    expect(body.data.deposit.receivables.map((r: any) => [r.id, r.lockedDeposits]).toSorted()).toEqual(
      [one.id, two.id].map((id) => [id, [{ id: deposit.id }]]).toSorted(),
    );
  });

  it("takes the money from a partner that holds it, and gives it to the receivable's owner", async () => {
    const user = await given.directUser(1);
    const partner = await activatedPartner(user, user);
    const receivable = await receivableOf(user, '100.00');
    const to = { account_id: partner.id };
    const deposit = await completed(user, '40.00', { from: { account_id: partner.id }, to });

    expect((await reconcile(user, transport, deposit.id, [[receivable.id, '25.00']])).status).toBe(200);

    expect(await funds(user, partner.id)).toMatchObject({ available: money('0.00'), pending: money('15.00') });
    expect(await funds(user)).toMatchObject({ available: money('25.00'), pending: money('0.00') });
    expect((await user.get('/v1/balance/aggregate')).body.pending).toEqual(money('15.00'));
  });

  it('refuses more than the rest of the deposit or of a receivable, and then moves no money', async () => {
    const user = await given.directUser(1);
    const [small, large] = [await receivableOf(user, '10.00'), await receivableOf(user, '1000.00')];
    const deposit = await completed(user, '50.00');

    for (const [beyond, parts] of [
      [[0], [[small.id, '10.01']]],
      [[0], [[large.id, '50.01']]],
      // Each is possible alone; together they exceed the deposit or the receivable, from the named one on.
      [
        [1],
        [
          [large.id, '30.00'],
          [large.id, '20.01'],
        ],
      ],
      [
        [2],
        [
          [large.id, '20.00'],
          [small.id, '5.00'],
          [small.id, '5.01'],
          [large.id, '1.00'],
        ],
      ],
      [
        [1, 2],
        [
          [large.id, '39.00'],
          [small.id, '10.01'],
          [large.id, '1.00'],
        ],
      ],
    ] as [number[], [string, string][]][]) {
      const reply = await reconcile(user, transport, deposit.id, parts);
      expect([parts, reply.status, reply.codes]).toEqual([parts, 402, beyond.map(() => 'amount_exceeds_reconcilable')]);
      expect(reply.fieldNames).toEqual(beyond.map((i) => `deposit.receivables[${i}].amount`));
      if (transport === 'GraphQL')
        expect(reply.body.errors.map((e: any) => e.extensions.argumentPath)).toEqual(
          beyond.map((i) => ['input', 'receivables', i, 'amount']),
        );
    }

    expect(await funds(user)).toMatchObject({ available: money('0.00'), pending: money('50.00') });
    expect(await locksOf(user, large.id)).toEqual(['0.00', '0.00', '1000.00', []]);
    expect(await locksOf(user, small.id)).toEqual(['0.00', '0.00', '10.00', []]);
  });

  it('refuses receivables of another owner or currency, or void ones, and names which', async () => {
    const platform = await given.platform(2);
    const [user, other] = [await activatedUser(platform), await platform.connectedUser()];
    const deposit = await completed(user, '50.00');
    const foreign = await receivableOf(other, '100.00');
    const dollars = await receivableOf(user, '100.00', {
      currency: 'USD',
      invoice: { ...foreign.invoice, document: null, currency: 'USD' },
    });
    const voided = await receivableOf(user, '100.00');
    expect((await user.post(`/v1/receivables/${voided.id}/void`)).status).toBe(200);
    const good = await receivableOf(user, '100.00');

    const refused = async (speaker: Speaker, id: string, status: number, code: string) => {
      const reply = await reconcile(speaker, transport, deposit.id, [
        [good.id, '1.00'],
        [id, '1.00'],
      ]);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        status,
        [code],
        [expect.stringMatching(/^deposit\.receivables/)],
      ]);
    };
    await refused(platform, foreign.id, 400, 'parameter_invalid');
    await refused(user, foreign.id, 404, 'resource_missing');
    await refused(user, dollars.id, 400, 'parameter_invalid');
    await refused(user, voided.id, 400, 'status_invalid');
    // An error of a state comes before one of an amount, in any order of the receivables.
    const open = await receivableOf(user, '1.00');
    const both = await reconcile(user, transport, deposit.id, [
      [open.id, '50.00'],
      [voided.id, '1.00'],
    ]);
    expect([both.status, both.codes]).toEqual([400, ['status_invalid']]);
    await refused(user, unknown('receivable'), 404, 'resource_missing');
    expect(await funds(user)).toMatchObject({
      available: money('0.00', 'INR'),
      pending: money('50.00', 'INR'),
    });
    expect(await locksOf(user, good.id)).toEqual(['0.00', '0.00', '100.00', []]);
  });

  it.each(['initialized', 'processing', 'cancelled', 'failed', 'reversed', 'a dispute'] as const)(
    'refuses a deposit that is %s',
    async (state) => {
      const user = await given.directUser(1);
      const receivable = await receivableOf(user, '100.00');
      let { id } = await deposited(user);
      for (const step of ways[state]) id = (await move(user, 'REST', id, step)).deposit.id;

      const reply = await reconcile(user, transport, id, [[receivable.id, '1.00']]);

      expect([reply.status, reply.codes]).toEqual([400, ['status_invalid']]);
      expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', '100.00', []]);
    },
  );

  it('is permitted for the owner and its platform, on behalf of the user or not, and for no other', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const receivable = await receivableOf(user, '100.00');
    const deposit = await completed(user, '30.00');
    const strangers = await Promise.all([given.directUser(1), given.platform(1), platform.connectedUser()]);

    for (const speaker of [user, platform, platform.actingFor(user.id)])
      expect((await reconcile(speaker, transport, deposit.id, [[receivable.id, '10.00']])).status).toBe(200);

    for (const stranger of strangers) {
      const reply = await reconcile(stranger, transport, deposit.id, [[receivable.id, '1.00']]);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['deposit.id']]);
    }
    expect(await locksOf(user, receivable.id)).toEqual(['30.00', '0.00', '70.00', [deposit.id]]);
  });

  it('accepts at most a hundred receivables', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');
    const many = Array.from({ length: 101 }, () => [`receivable_${'0'.repeat(32)}`, '0.01'] as [string, string]);
    const refused = await reconcile(user, transport, deposit.id, many);
    expect([refused.status, refused.codes, refused.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['deposit.receivables'],
    ]);
    const receivable = await receivableOf(user, '10.00');
    const hundred = Array.from({ length: 100 }, () => [receivable.id, '0.01'] as [string, string]);
    expect((await reconcile(user, transport, deposit.id, hundred)).status).toBe(200);
    expect(await locksOf(user, receivable.id)).toEqual(['1.00', '0.00', '9.00', [deposit.id]]);
  });

  it('names what is missing, empty or not positive', async () => {
    const user = await given.directUser(1);
    const [receivable, deposit] = [await receivableOf(user, '100.00'), await completed(user)];

    const none = await reconcile(user, transport, deposit.id, []);
    expect([none.status, none.codes, none.fieldNames]).toEqual([
      400,
      ['parameter_invalid_empty'],
      ['deposit.receivables'],
    ]);
    for (const amount of ['0.00', '0', '-1.00', '1.5', '']) {
      const reply = await reconcile(user, transport, deposit.id, [[receivable.id, amount]]);
      expect([amount, reply.status, reply.fieldNames]).toEqual([amount, 400, ['deposit.receivables[0].amount']]);
    }
  });

  it('moves nothing if it is repeated with its key, over either API, also concurrently', async () => {
    const user = await given.directUser(1);
    const [receivable, deposit] = [await receivableOf(user, '100.00'), await completed(user, '50.00')];
    const keyed = user.with({ 'idempotency-key': nickname() });

    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        reconcile(keyed, i % 2 ? 'REST' : transport, deposit.id, [[receivable.id, '20.00']]),
      ),
    );

    expect(replies.map((r) => [r.status, r.deposit])).toEqual(replies.map(() => [200, deposit]));
    expect(replies.filter((r) => r.headers.get('idempotent-replayed') === 'true')).toHaveLength(5);
    expect(await funds(user)).toMatchObject({ available: money('20.00'), pending: money('30.00') });
    const other = await reconcile(keyed, transport, deposit.id, [[receivable.id, '20.01']]);
    expect([other.status, other.codes]).toEqual([400, ['idempotency_key_reused']]);
  });

  it('never exceeds the available amounts under concurrency', async () => {
    const user = await given.directUser(1);
    const [receivable, ...deposits] = [
      await receivableOf(user, '100.00'),
      await completed(user, '50.00'),
      await completed(user, '90.00'),
    ];

    // The deposits have 140.00, the receivable takes 100.00: ten parts of 10.00 are all that fit.
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, i) => reconcile(user, transport, deposits[i % 2]!.id, [[receivable.id, '10.00']])),
    );

    const done = replies.filter((r) => r.status === 200).length;
    expect(replies.filter((r) => r.status !== 200).map((r) => [r.status, r.codes])).toEqual(
      Array.from({ length: 16 - done }, () => [402, ['amount_exceeds_reconcilable']]),
    );
    expect(done).toBe(10);
    expect((await locksOf(user, receivable.id)).slice(0, 3)).toEqual(['100.00', '0.00', '0.00']);
    expect((await funds(user)).available).toEqual(money('100.00'));
  });
});

it('works in live mode, too, where no other operation on deposits does', async () => {
  const { account, live } = await given.directUserBoth(1);
  const root = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
  const address = await world.operator.issueAddress(root, {
    category: 'service_receive',
    currency: 'USD',
    bankAccount: { number: '123456789', domesticCredit: '026009593' },
  });
  const recorded = await world.operator.bankNotice({
    ...{ reference: 'BANK-1', event: 'received', addressId: address.id, amount: 5_000n, currency: 'USD' },
  });
  const receivable = await receivableOf(live, '100.00');

  const reply = await reconcile(live, 'REST', recorded.deposit!.id, [[receivable.id, '20.00']]);

  expect([reply.status, reply.deposit.livemode]).toEqual([200, true]);
  expect(await funds(live)).toMatchObject({ available: money('20.00'), pending: money('30.00') });
});

describe.each(transports)('a dispute over %s', (transport) => {
  it('claws back pending money, then available funds, below zero, and shrinks the newest locks first', async () => {
    const user = await given.directUser(1);
    const [old, newer] = [await receivableOf(user, '100.00'), await receivableOf(user, '100.00')];
    const deposit = await completed(user, '100.00');
    await must(reconcile(user, 'REST', deposit.id, [[old.id, '30.00']]));
    await must(reconcile(user, 'REST', deposit.id, [[newer.id, '40.00']]));

    const first = await move(user, transport, deposit.id, 'dispute', { amount: '20.00', reason_code: 'high_risk' });
    expect([first.deposit.amount, first.deposit.reason_code, first.deposit.status]).toEqual([
      '-20.00',
      'high_risk',
      'completed',
    ]);
    expect(await funds(user)).toMatchObject({ available: money('70.00'), pending: money('10.00') });
    expect([await locksOf(user, old.id), await locksOf(user, newer.id)]).toEqual([
      ['30.00', '0.00', '70.00', [deposit.id]],
      ['40.00', '0.00', '60.00', [deposit.id]],
    ]);

    // 10.00 of it is pending; the other 45.00 use up the newer lock, and 5.00 of the older one.
    await must(move(user, transport, deposit.id, 'dispute', { amount: '55.00' }));
    expect(await funds(user)).toMatchObject({ available: money('25.00'), pending: money('0.00') });
    expect([await locksOf(user, old.id), await locksOf(user, newer.id)]).toEqual([
      ['25.00', '0.00', '75.00', [deposit.id]],
      ['0.00', '0.00', '100.00', []],
    ]);
    const counting = await user.graph(
      `{ old: receivable(id: "${old.id}") { deposits { id } } newer: receivable(id: "${newer.id}") { deposits ` +
        '{ id } } }',
    );
    expect(counting.body.data).toEqual({ old: { deposits: [{ id: deposit.id }] }, newer: { deposits: [] } });
    const disputes = (await user.get('/v1/deposits')).body.data.filter((d: any) => d.amount.startsWith('-'));
    expect(disputes.map((d: any) => d.amount).toSorted()).toEqual(['-20.00', '-55.00']);
    const payments = (await user.get('/v1/payments?type=dispute')).body.data;
    expect(payments.map((p: any) => [p.amount, p.status, p.deposit_id]).toSorted()).toEqual(
      disputes.map((d: any) => [d.amount, 'completed', d.id]).toSorted(),
    );
  });

  it('is at most the undisputed rest, which is also the default amount', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');
    const tooMuch = await move(user, transport, deposit.id, 'dispute', { amount: '10.01' });
    expect([tooMuch.status, tooMuch.codes]).toEqual([402, ['amount_exceeds_deposit']]);
    expect((await move(user, transport, deposit.id, 'dispute', { amount: '4.00' })).status).toBe(200);
    const again = await move(user, transport, deposit.id, 'dispute', { amount: '6.01' });
    expect([again.status, again.codes]).toEqual([402, ['amount_exceeds_deposit']]);

    expect((await move(user, transport, deposit.id, 'dispute')).deposit.amount).toBe('-6.00');

    const none = await move(user, transport, deposit.id, 'dispute');
    expect([none.status, none.codes]).toEqual([402, ['amount_exceeds_deposit']]);
    expect(await funds(user)).toMatchObject({ available: money('0.00'), pending: money('0.00') });
  });

  it('refuses an invalid amount', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');
    for (const amount of ['0.00', '-1.00', '1.5', 'all']) {
      const reply = await move(user, transport, deposit.id, 'dispute', { amount });
      expect([amount, reply.status, reply.codes, reply.fieldNames]).toEqual([
        amount,
        400,
        ['parameter_invalid'],
        ['deposit.amount'],
      ]);
    }
    expect((await funds(user)).pending).toEqual(money('10.00'));
  });

  it('does not change the locks of a payout in flight, and never takes from payout_processing', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user);
    const receivable = await receivableOf(user, '100.00');
    const deposit = await completed(user, '80.00');
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '60.00']]));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await once(user);
    const [payout] = (await user.get('/v1/payouts')).body.data;
    expect([payout.status, payout.amount]).toEqual(['processing', '60.00']);
    // Money that is reconciled meanwhile is not part of the payout.
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '5.00']]));

    await must(move(user, transport, deposit.id, 'dispute', { amount: '50.00' }));

    expect(await funds(user)).toEqual({
      available: money('-30.00', 'INR'),
      pending: money('0.00', 'INR'),
      payout_processing: money('60.00', 'INR'),
      fee_advance: [],
    });
    expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', '40.00', [deposit.id]]);
    expect((await user.post(`/v1/test_helpers/payouts/${payout.id}/settle`)).status).toBe(200);
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '60.00', '40.00', []]);
    expect(await funds(user)).toMatchObject({
      available: money('-30.00', 'INR'),
      payout_processing: money('0.00', 'INR'),
    });
  });

  it("takes from the partner's pending first and then from its owner's available funds", async () => {
    const user = await given.directUser(1);
    const partner = await activatedPartner(user, user);
    const receivable = await receivableOf(user, '100.00');
    const party = { account_id: partner.id };
    const deposit = await completed(user, '40.00', { from: party, to: party });
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '25.00']]));

    await must(move(user, transport, deposit.id, 'dispute', { amount: '20.00' }));

    expect((await funds(user, partner.id)).pending).toEqual(money('0.00'));
    expect((await funds(user)).available).toEqual(money('20.00'));
    expect(await locksOf(user, receivable.id)).toEqual(['20.00', '0.00', '80.00', [deposit.id]]);
  });

  it('is created once if it is repeated with its key', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '50.00');
    const keyed = user.with({ 'idempotency-key': nickname() });
    const replies = [
      await move(keyed, 'REST', deposit.id, 'dispute', { amount: '10.00' }),
      await move(keyed, transport, deposit.id, 'dispute', { amount: '10.00' }),
    ];
    expect(new Set(replies.map((r) => r.deposit.id)).size).toBe(1);
    expect((await funds(user)).pending).toEqual(money('40.00'));
  });

  it('never exceeds the deposit under concurrency', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '50.00');
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => move(user, transport, deposit.id, 'dispute', { amount: '10.00' })),
    );
    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 200, 200, 200, 200, 402, 402, 402]);
    expect(await funds(user)).toMatchObject({ available: money('0.00'), pending: money('0.00') });
  });
});

describe.each(transports)('a reversal over %s', (transport) => {
  it('claws back the complete rest without a separate deposit, and frees its locks', async () => {
    const user = await given.directUser(1);
    const [one, other] = [await receivableOf(user, '100.00'), await receivableOf(user, '100.00')];
    const [deposit, kept] = [await completed(user, '100.00'), await completed(user, '5.00')];
    await must(
      reconcile(user, 'REST', deposit.id, [
        [one.id, '60.00'],
        [other.id, '10.00'],
      ]),
    );
    await must(reconcile(user, 'REST', kept.id, [[other.id, '5.00']]));
    await must(move(user, 'REST', deposit.id, 'dispute', { amount: '20.00' }));

    const reply = await move(user, transport, deposit.id, 'reverse', { reason_code: 'duplicate' });

    expect([reply.status, reply.deposit]).toEqual([200, { ...deposit, status: 'reversed', reason_code: 'duplicate' }]);
    // 80.00 of it were left: 10.00 pending, 70.00 available. The money of the other deposit stays.
    expect(await funds(user)).toMatchObject({ available: money('5.00'), pending: money('0.00') });
    expect([await locksOf(user, one.id), await locksOf(user, other.id)]).toEqual([
      ['0.00', '0.00', '100.00', []],
      ['5.00', '0.00', '95.00', [kept.id]],
    ]);
    expect((await user.get('/v1/deposits')).body.data).toHaveLength(3);
    const payments = (await user.get('/v1/payments?type=deposit&status=reversed')).body.data;
    expect(payments.map((p: any) => p.deposit_id)).toEqual([deposit.id]);
  });

  it('may take available funds below zero, which later deposits compensate', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user);
    const receivable = await receivableOf(user, '500.00');
    const deposit = await completed(user, '80.00');
    await must(reconcile(user, 'REST', deposit.id, [[receivable.id, '80.00']]));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await work(user);
    expect((await user.get('/v1/payouts')).body.data.map((p: any) => [p.amount, p.status])).toEqual([
      ['80.00', 'completed'],
    ]);

    expect((await move(user, transport, deposit.id, 'reverse')).status).toBe(200);
    expect((await funds(user)).available).toEqual(money('-80.00', 'INR'));
    // It was paid out: settled amounts stay settled.
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '80.00', '420.00', []]);

    const next = await completed(user, '100.00');
    await must(reconcile(user, 'REST', next.id, [[receivable.id, '100.00']]));
    expect((await funds(user)).available).toEqual(money('20.00', 'INR'));
  });

  it('happens once after eight concurrent requests, and leaves nothing to dispute', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '10.00');

    const replies = await Promise.all(Array.from({ length: 8 }, () => move(user, transport, deposit.id, 'reverse')));

    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    expect(replies.flatMap((r) => r.codes)).toEqual(Array.from({ length: 7 }, () => 'status_invalid'));
    expect((await funds(user)).pending).toEqual(money('0.00'));
    const late = await move(user, transport, deposit.id, 'dispute', { amount: '1.00' });
    expect([late.status, late.codes]).toEqual([400, ['status_invalid']]);
  });
});

// Without a payer, `create_deposit` checks the receiving account and finds its address; with one, the gateway does.
describe('the destination of a deposit that names no address', () => {
  it('is the same with and without a payer: for each caller, account, currency, edition and state', async () => {
    const [platform, stranger, direct] = [await given.platform(1), await given.platform(1), await given.directUser(2)];
    const [user, other] = [await activatedUser(platform), await activatedUser(platform)];
    const draft = await platform.connectedUser();
    const partner = await activatedPartner(platform, user);
    const closed = await activatedPartner(platform, other);
    const [ended] = await addressesOf(platform, closed.id, 'service_receive');
    expect((await platform.post(`/v1/test_helpers/addresses/${ended.id}/expire`)).status).toBe(200);
    const ids = {
      ...{ itself: undefined, user: user.id, other: other.id, draft: draft.id, partner: partner.id },
      ...{ closed: closed.id, platform: platform.id, direct: direct.id, unknown: unknown('account') },
    };
    const callers = {
      ...{ platform, user, acting: platform.actingFor(user.id), other, stranger, direct },
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
      stranger: found('stranger'),
      direct: found('direct'),
    }).toEqual({
      platform: [address, address, address, unusable, address, unusable, address, missing, missing],
      user: [address, address, missing, missing, address, missing, missing, missing, missing],
      acting: [address, address, missing, missing, address, missing, missing, missing, missing],
      other: [address, missing, address, missing, missing, unusable, missing, missing, missing],
      stranger: [address, missing, missing, missing, missing, missing, missing, missing, missing],
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
