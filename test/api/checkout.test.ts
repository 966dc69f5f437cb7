import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import {
  type Transport,
  must,
  transports,
  eventually,
  givenIn,
  nickname,
  type Reply,
  Speaker,
  statementsWaiting,
  useWorld,
  withLiveAcquirer,
  type World,
  tenantOf,
} from '../support/world.js';

// No worker, so that a checkout keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false, acquirers: withLiveAcquirer });
const given = givenIn(world);

// Every write records its event: without a new event the ledger is unchanged.
auditLedger(world);

const operations = {
  create: ['/v1/checkouts', 'createCheckout', 'CreateCheckoutInput'],
  cancel: ['/v1/checkouts/:id/cancel', 'cancelCheckout', 'CancelCheckoutInput'],
  pay: ['/v1/test_helpers/checkouts/:id/pay', 'payTestCheckout', 'PayTestCheckoutInput'],
  decline: ['/v1/test_helpers/checkouts/:id/decline', 'declineTestCheckout', 'DeclineTestCheckoutInput'],
  expire: ['/v1/test_helpers/checkouts/:id/expire', 'expireTestCheckout', 'ExpireTestCheckoutInput'],
} as const;
type Operation = keyof typeof operations;
type Json = any;

const unknown = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;
const day = 86_400;

const whole = `id object: __typename type created expiresAt livemode amount grossAmount currency
  from { accountId } to { accountId } paymentMethods receivables { id }
  redirectUrl status effectiveTransaction { id status } metadata url`;
const keys =
  'id object type created expires_at livemode amount gross_amount currency from to payment_methods receivables ' +
  'redirect_url status effective_transaction metadata';
const seconds = (text: string) => Date.parse(text) / 1000;
/** A checkout of GraphQL in the format of /v1. */
const asV1 = (c: Json) => ({
  id: c.id,
  object: c.object.toLowerCase(),
  type: c.type.toLowerCase(),
  created: seconds(c.created),
  expires_at: seconds(c.expiresAt),
  livemode: c.livemode,
  amount: c.amount,
  gross_amount: c.grossAmount,
  currency: c.currency,
  from: { account_id: c.from.accountId },
  to: { account_id: c.to.accountId },
  payment_methods: c.paymentMethods.map((method: string) => method.toLowerCase()),
  receivables: c.receivables,
  redirect_url: c.redirectUrl,
  status: c.status.toLowerCase(),
  effective_transaction: c.effectiveTransaction && {
    id: c.effectiveTransaction.id,
    status: c.effectiveTransaction.status.toLowerCase(),
  },
  metadata: c.metadata,
});

const camel = (name: string) => name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
const enums = new Set(['payment_methods', 'payment_method', 'reason_code']);
/** A body of /v1 as input of the mutation: names in camelCase, enum values in UPPER_CASE. */
function inputOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(inputOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries<Json>(value).map(([name, member]) => {
      const upper = (v: Json) => (typeof v === 'string' ? v.toUpperCase() : v);
      if (enums.has(name)) return [camel(name), Array.isArray(member) ? member.map(upper) : upper(member)];
      return [camel(name), name === 'metadata' ? member : inputOf(member)];
    }),
  );
}

interface Answer extends Reply {
  /** The checkout of a response, in the format of /v1. */
  checkout: Json;
  /** The address of its page. */
  url: string | undefined;
}

const linkOf = (reply: Reply) => /^<([^<>]+)>; rel="payment"$/.exec(reply.headers.get('link') ?? '')?.[1];

/** One operation through one API, with a result that can be compared between the APIs. */
async function act(
  speaker: Speaker,
  transport: Transport,
  operation: Operation,
  body: object,
  id?: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [path, mutation, type] = operations[operation];
  if (transport === 'REST') {
    const reply = await speaker.post(path.replace(':id', id ?? ''), body, headers);
    return { ...reply, checkout: reply.status === 200 ? reply.body : undefined, url: linkOf(reply) };
  }
  const reply = await speaker.graph(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { checkout { ${whole} } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
    headers,
  );
  const made = reply.body.data?.[mutation]?.checkout;
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  return { ...reply, status, checkout: made && asV1(made), url: made?.url };
}

const refusalOf = ({ status, codes, fieldNames }: Reply) => [status, codes, fieldNames];
const one = (status: number, code: string, field: string) => [status, [code], [field]];

/** The result of an operation, which must have succeeded. */
function done(reply: Answer): Json {
  expect([reply.fieldNames, reply.codes, reply.status]).toEqual([[], [], 200]);
  return reply.checkout;
}
const pay = async (speaker: Speaker, id: string, body: object = {}) =>
  done(await act(speaker, 'REST', 'pay', body, id));
const look = async (speaker: Speaker, id: string): Promise<Json> => (await speaker.get(`/v1/checkouts/${id}`)).body;

async function receivableOf(speaker: Speaker, amount = '100.00', more: object = {}): Promise<string> {
  const currency = (more as { currency?: string }).currency ?? 'INR';
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
  return reply.body.id;
}

const bodyOf = (partner: string, receivables: string[], more: object = {}) => ({
  amount: '60.00',
  currency: 'INR',
  from: { account_id: partner },
  payment_methods: ['cards', 'upi'],
  receivables: receivables.map((id) => ({ id })),
  redirect_url: 'https://shop.example/thanks?order=7#done',
  ...more,
});

interface Shop {
  user: Speaker;
  partner: string;
  receivable: string;
}

/** A direct user with a partner and a receivable of 100.00. */
async function shop(in_ = given): Promise<Shop> {
  const user = await in_.directUser(2);
  const [partner, receivable] = await Promise.all([user.partner(), receivableOf(user)]);
  return { user, partner: partner.id, receivable };
}

/** A shop with a checkout of 60.00 for its receivable. */
async function opened(more: object = {}, in_ = given): Promise<Shop & { checkout: Json; id: string }> {
  const s = await shop(in_);
  const checkout = done(await act(s.user, 'REST', 'create', bodyOf(s.partner, [s.receivable], more)));
  return { ...s, checkout, id: checkout.id };
}

/** Funds that are not zero, by compartment. */
async function funds(speaker: Speaker, id = speaker.id): Promise<Record<string, string>> {
  const { body } = await speaker.get(`/v1/balance?account_id=${id}`);
  return Object.fromEntries(
    ['available', 'pending', 'processing', 'payout_processing', 'fee_advance'].flatMap((name) =>
      (body[name] as Json[]).flatMap(({ amount, currency }) =>
        amount === '0.00' ? [] : [[`${name} ${currency}`, amount]],
      ),
    ),
  );
}

/** The locked amount, the amount that can still be reconciled, and the deposits that have locked it. */
async function locksOf(speaker: Speaker, id: string) {
  const r = (await speaker.get(`/v1/receivables/${id}`)).body;
  return [r.amount_locked, r.amount_reconcilable, r.deposit_ids_amount_locked];
}

/** The deposits that came through a checkout, oldest first. */
async function depositsOf(speaker: Speaker, id: string): Promise<Json[]> {
  const rows = await world.sql`select deposit_id from payment where checkout_id = ${id} order by id`;
  return Promise.all(rows.map(async (row) => (await speaker.get(`/v1/deposits/${row.deposit_id}`)).body));
}

const transactionsOf = async (speaker: Speaker, id: string): Promise<Json[]> =>
  (
    await speaker.graph(
      'query ($id: ID!) { checkout(id: $id) { transactions(first: 100) { nodes { id status reasonCode amount ' +
        'paymentMethod deposit { id } } } } }',
      { id },
    )
  ).body.data.checkout.transactions.nodes;

/** The types of the events of a tenant, or of one object, in the order of their creation. */
const eventsOf = async (root: Speaker, object?: string): Promise<string[]> =>
  (
    await world.sql`select type from event where tenant_id = ${tenantOf(root)} and not livemode
      and (${object ?? null}::text is null or object_id = ${object ?? null}) order by id`
  ).map(({ type }) => type);

const advance = async (speaker: Speaker, advance_seconds: number) =>
  expect((await speaker.post('/v1/test_helpers/clock', { advance_seconds })).status).toBe(200);

/** Runs the due jobs of a root's test mode, as a worker does, until none is due. */
async function work(root: Speaker, of: World = world): Promise<void> {
  for (let n = 1; n > 0; ) {
    const [row] = await of.database.call('run_jobs', [tenantOf(root), false, 50]);
    n = Number(row!.run_jobs);
  }
}

/** Checks that there is no checkout, no event of one and no address for one. */
async function nothingStored(root: Speaker): Promise<void> {
  const tenant = tenantOf(root);
  expect(await world.sql`select id from checkout where tenant_id = ${tenant}`).toEqual([]);
  expect(await world.sql`select id from event where tenant_id = ${tenant} and object = 'checkout'`).toEqual([]);
  expect(await world.sql`select id from address where tenant_id = ${tenant} and category = 'service_checkout'`).toEqual(
    [],
  );
}

describe.each(transports)('creating a checkout over %s', (transport) => {
  it('returns the complete object, emits its event, and reserves nothing', async () => {
    const { user, partner, receivable } = await shop();
    const second = await receivableOf(user, '7.00');
    const before = await locksOf(user, receivable);

    const reply = await act(
      user,
      transport,
      'create',
      bodyOf(partner, [second, receivable], { metadata: { order: '7', 'Ümläut key': '{"a":1}' } }),
    );

    expect(reply.status).toBe(200);
    expect(reply.checkout).toEqual({
      id: expect.stringMatching(/^checkout_[0-9a-f]{32}$/),
      object: 'checkout',
      type: 'payment',
      created: expect.any(Number),
      expires_at: reply.checkout.created + day,
      livemode: false,
      amount: '60.00',
      gross_amount: '60.00',
      currency: 'INR',
      from: { account_id: partner },
      to: { account_id: user.id },
      payment_methods: ['cards', 'upi'],
      receivables: [{ id: second }, { id: receivable }],
      redirect_url: 'https://shop.example/thanks?order=7#done',
      status: 'initialized',
      effective_transaction: null,
      metadata: { order: '7', 'Ümläut key': '{"a":1}' },
    });
    expect(Math.abs(reply.checkout.created - Date.now() / 1000)).toBeLessThan(30);
    expect(Object.keys((await look(user, reply.checkout.id)) as object).join(' ')).toBe(keys);
    expect(await look(user, reply.checkout.id)).toEqual(reply.checkout);
    expect(await locksOf(user, receivable)).toEqual(before);
    expect(await funds(user)).toEqual({});
    expect(await eventsOf(user, reply.checkout.id)).toEqual(['checkout.created']);
    const [event] = await world.sql`select request_id from event where object_id = ${reply.checkout.id}`;
    expect(event!.request_id).toBe(reply.headers.get('request-id'));
  });

  it('accepts "10" as "10.00", one method, and an empty map as no metadata', async () => {
    const { user, partner, receivable } = await shop();
    for (const metadata of [undefined, null, {}]) {
      const reply = await act(
        user,
        transport,
        'create',
        bodyOf(partner, [receivable], {
          amount: '10',
          payment_methods: ['upi'],
          ...(metadata !== undefined && { metadata }),
        }),
      );
      expect([reply.checkout.amount, reply.checkout.payment_methods, reply.checkout.metadata]).toEqual([
        '10.00',
        ['upi'],
        {},
      ]);
    }
  });

  it('accepts the least amount and the sum of the receivables', async () => {
    const { user, partner, receivable } = await shop();
    const second = await receivableOf(user, '7.00');
    for (const amount of ['1.00', '1', '107.00']) {
      const checkout = done(await act(user, transport, 'create', bodyOf(partner, [receivable, second], { amount })));
      expect(checkout.amount).toBe(Number(amount).toFixed(2));
    }
  });

  it('names every missing parameter', async () => {
    const { user } = await shop();
    const reply = await act(user, transport, 'create', {});
    expect([reply.status, new Set(reply.codes), reply.fieldNames.toSorted()]).toEqual([
      400,
      new Set(['parameter_missing']),
      ['amount', 'currency', 'from', 'payment_methods', 'receivables', 'redirect_url'].map((n) => `checkout.${n}`),
    ]);
    await nothingStored(user);
  });

  describe('with a wrong parameter', () => {
    let s: Shop;
    beforeAll(async () => {
      s = await shop();
    });
    afterAll(() => nothingStored(s.user));

    it.each([
      ['amount', { amount: '' }],
      ['amount', { amount: null }],
      ['currency', { currency: '' }],
      ['currency', { currency: null }],
      ['from', { from: null }],
      ['from.account_id', { from: { account_id: '' } }],
      ['payment_methods', { payment_methods: [] }],
      ['payment_methods', { payment_methods: null }],
      ['receivables', { receivables: [] }],
      ['receivables', { receivables: null }],
      ['receivables[0].id', { receivables: [{ id: '' }] }],
      ['redirect_url', { redirect_url: '' }],
      ['redirect_url', { redirect_url: null }],
    ])('says that %s is empty: %j', async (field, more) => {
      const { user, partner, receivable } = s;
      const reply = await act(user, transport, 'create', bodyOf(partner, [receivable], more));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid_empty', `checkout.${field}`));
    });

    it.each([
      ['amount', '0.99'],
      ['amount', '0'],
      ['amount', '0.00'],
      ['amount', '-1.00'],
      ['amount', '1.001'],
      ['amount', '1.0'],
      ['amount', '1,00'],
      ['amount', 'ten'],
      ['amount', '12345678901234.00'],
      // JSON numbers lose precision.
      ['amount', 10],
      ['currency', 'USD'],
      ['currency', 'XXX'],
      ['currency', 'rupee'],
      ['currency', 356],
      ['payment_methods', ['cards', 'cards']],
      ['payment_methods[1]', ['cards', 'cash']],
      ['payment_methods[0]', ['card']],
      ['redirect_url', 'shop.example'],
      ['redirect_url', '/thanks'],
      ['redirect_url', '//shop.example/'],
      ['redirect_url', 'https:shop.example'],
      ['redirect_url', 'https:\\\\shop.example'],
      ['redirect_url', 'https://'],
      ['redirect_url', 'ftp://shop.example/'],
      ['redirect_url', 'javascript:alert(1)'],
      ['redirect_url', 'data:text/html,x'],
      ['redirect_url', 'http://shop.example/'],
      ['redirect_url', 'http://localhost.shop.example/'],
      ['redirect_url', 'http://127.0.0.1.shop.example/'],
      ['redirect_url', 'http://10.0.0.1/'],
      ['redirect_url', 'https://user:secret@shop.example/'],
      ['redirect_url', 'https://user@shop.example/'],
      ['redirect_url', 'https://shop.example@evil.example/'],
      ['redirect_url', 'https://shop.example/a b'],
      ['redirect_url', ' https://shop.example/'],
      ['redirect_url', 'https://shop.example/\r\nSet-Cookie: a=1'],
      ['redirect_url', `https://shop.example/${'a'.repeat(2_028)}`],
      ['redirect_url', 7],
      ['metadata', Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, '1']))],
    ])('refuses %s: %j', async (field, value) => {
      const { user, partner, receivable } = s;
      const name = field.replace(/\[.*/, '');
      const reply = await act(user, transport, 'create', bodyOf(partner, [receivable], { [name]: value }));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', `checkout.${field}`));
    });

    it.each([
      [{ metadata: { ['k'.repeat(41)]: '1' } }, `metadata.${'k'.repeat(41)}`],
      [{ metadata: { a: 'v'.repeat(501) } }, 'metadata.a'],
      [{ metadata: { a: 1 } }, 'metadata.a'],
      [{ receivables: [{ id: ['a'] }] }, 'receivables[0].id'],
    ])('refuses %j, and names %s', async (more, field) => {
      const { user, partner, receivable } = s;
      const reply = await act(user, transport, 'create', bodyOf(partner, [receivable], more));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', `checkout.${field}`));
    });

    it.each([
      ['gross_amount', { gross_amount: '60.00' }],
      ['to', { to: { account_id: unknown('account') } }],
      ['expires_at', { expires_at: 1 }],
      ['from.address_id', { from: { account_id: unknown('account'), address_id: unknown('address') } }],
      ['receivables[0].amount', { receivables: [{ id: unknown('receivable'), amount: '1.00' }] }],
    ])('knows no %s', async (field, more) => {
      const { user, partner, receivable } = s;
      const reply = await act(user, transport, 'create', bodyOf(partner, [receivable], more));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_unknown', `checkout.${field}`));
    });

    it('names in one response every parameter that is wrong by itself', async () => {
      const { user, partner, receivable } = s;
      const reply = await act(
        user,
        transport,
        'create',
        bodyOf(partner, [receivable, receivable], {
          ...{ amount: '0.50', currency: 'USD', payment_methods: ['upi', 'upi'], redirect_url: 'http://shop.example' },
          metadata: { a: 'v'.repeat(501) },
        }),
      );
      expect([reply.status, new Set(reply.codes), reply.fieldNames.toSorted()]).toEqual([
        400,
        new Set(['parameter_invalid']),
        ['amount', 'currency', 'metadata.a', 'payment_methods', 'receivables', 'redirect_url'].map(
          (name) => `checkout.${name}`,
        ),
      ]);
    });
  });

  it('keeps the redirect address as it was sent', async () => {
    const { user, partner, receivable } = await shop();
    for (const redirect_url of [
      'https://shop.example',
      'https://shop.example:8443/a/b?c=d&e=%20f#g',
      'HTTPS://Shop.Example/',
      'https://käse.example/öl',
      'http://localhost/',
      'http://localhost:3000/thanks',
      'http://127.0.0.1:8080/',
      'http://[::1]:8080/',
      `https://shop.example/${'a'.repeat(2_027)}`,
      // Lengths count code points.
      `https://shop.example/${'😀'.repeat(2_027)}`,
    ]) {
      const checkout = done(await act(user, transport, 'create', bodyOf(partner, [receivable], { redirect_url })));
      expect(checkout.redirect_url).toBe(redirect_url);
    }
  });

  it('accepts at most 50 receivables, none of them twice', async () => {
    const { user, partner, receivable } = await shop();
    const more = await Promise.all(Array.from({ length: 50 }, () => receivableOf(user, '1.00')));
    for (const receivables of [
      [receivable, ...more],
      [receivable, more[0]!, receivable],
    ]) {
      const refused = await act(user, transport, 'create', bodyOf(partner, receivables, { amount: '1.00' }));
      expect(refusalOf(refused)).toEqual(one(400, 'parameter_invalid', 'checkout.receivables'));
    }
    await nothingStored(user);
    const { receivables } = done(await act(user, transport, 'create', bodyOf(partner, more, { amount: '50.00' })));
    expect(receivables).toEqual(more.map((id) => ({ id })));
  });

  it('returns 404 for an unknown receivable or partner, or one of another tenant, each by its name', async () => {
    const [{ user, partner, receivable }, stranger] = await Promise.all([shop(), shop()]);
    const attempts: [string, string[], string[]][] = [
      [partner, [unknown('receivable')], ['receivables[0].id']],
      [partner, [receivable, stranger.receivable], ['receivables[1].id']],
      [unknown('account'), [receivable], ['from.account_id']],
      [stranger.partner, [receivable], ['from.account_id']],
      [stranger.user.id, [receivable], ['from.account_id']],
      // Ids of other objects.
      [receivable, [partner], ['from.account_id', 'receivables[0].id']],
      [
        stranger.partner,
        [stranger.receivable, receivable, 'x'],
        ['from.account_id', 'receivables[0].id', 'receivables[2].id'],
      ],
    ];
    for (const [from, receivables, fields] of attempts) {
      const reply = await act(user, transport, 'create', bodyOf(from, receivables));
      expect(refusalOf(reply)).toEqual([
        404,
        fields.map(() => 'resource_missing'),
        fields.map((field) => `checkout.${field}`),
      ]);
    }
    await nothingStored(user);
  });

  it('refuses receivables that are void, locked, settled, or in another currency, each by its name', async () => {
    const { user, partner, receivable } = await shop();
    const [voided, locked, settled, dollars] = await Promise.all([
      receivableOf(user, '10.00'),
      receivableOf(user, '10.00'),
      receivableOf(user, '10.00'),
      receivableOf(user, '10.00', { currency: 'USD' }),
    ]);
    expect((await user.post(`/v1/receivables/${voided}/void`)).status).toBe(200);
    for (const [id, paid] of [
      [locked, false],
      [settled, true],
    ] as const) {
      const made = await user.post('/v1/deposits', {
        ...{ amount: '10.00', currency: 'INR', payment_method: 'upi', to: { account_id: user.id } },
      });
      await must(user.post(`/v1/test_helpers/deposits/${made.body.id}/complete`));
      const counted = await user.post(`/v1/deposits/${made.body.id}/reconcile`, {
        receivables: [{ id, amount: '10.00' }],
      });
      expect(counted.status).toBe(200);
      if (paid)
        await world.sql.begin(async (sql) => {
          await sql`update receivable set amount_settled_payouts = 1000, amount_locked = 0, deposit_ids_amount_locked =
            '{}' where id = ${id}`;
          await sql`update receivable_lock set settled = true where receivable_id = ${id}`;
        });
    }
    const statuses = await Promise.all(
      [voided, locked, settled].map(async (id) => (await user.get(`/v1/receivables/${id}`)).body.status),
    );
    expect(statuses).toEqual(['void', 'locked', 'settled']);

    const reply = await act(user, transport, 'create', bodyOf(partner, [receivable, voided, locked, settled, dollars]));

    expect(refusalOf(reply)).toEqual([
      400,
      ['status_invalid', 'status_invalid', 'status_invalid', 'parameter_invalid'],
      [1, 2, 3, 4].map((i) => `checkout.receivables[${i}].id`),
    ]);
    await nothingStored(user);
  });

  it('refuses receivables of two accounts, and of an account that is not a user', async () => {
    const platform = await given.platform(2);
    const [first, second] = [await platform.connectedUser(), await platform.connectedUser()];
    const [mine, theirs, own] = await Promise.all([
      receivableOf(platform, '10.00', { account_id: first.id }),
      receivableOf(platform, '10.00', { account_id: second.id }),
      receivableOf(platform, '10.00'),
    ]);
    const [partner, ofPlatform] = [await first.partner(), await platform.partner()];

    const two = await act(platform, transport, 'create', bodyOf(partner.id, [mine, theirs], { amount: '5.00' }));
    expect(refusalOf(two)).toEqual(one(400, 'parameter_invalid', 'checkout.receivables[1].id'));
    const platforms = await act(platform, transport, 'create', bodyOf(ofPlatform.id, [own], { amount: '5.00' }));
    expect(refusalOf(platforms)).toEqual(one(400, 'account_type_invalid', 'checkout.receivables[0].id'));
    await nothingStored(platform);
  });

  it('refuses every payer except a partner of the user that is paid', async () => {
    const platform = await given.platform(2);
    const [first, second] = [await platform.connectedUser(), await platform.connectedUser()];
    const receivable = await receivableOf(platform, '100.00', { account_id: first.id });
    const [partner, other, ofPlatform] = [await first.partner(), await second.partner(), await platform.partner()];

    for (const { id } of [other, ofPlatform, first, second, platform]) {
      const reply = await act(platform, transport, 'create', bodyOf(id, [receivable]));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', 'checkout.from.account_id'));
    }
    // A connected user cannot see the others.
    for (const { id } of [other, ofPlatform, second, platform]) {
      const reply = await act(first, transport, 'create', bodyOf(id, [receivable]));
      expect(refusalOf(reply)).toEqual(one(404, 'resource_missing', 'checkout.from.account_id'));
    }
    await nothingStored(platform);
    // The platform, the platform for its user, and the user itself create the same.
    for (const speaker of [platform, platform.actingFor(first.id), first]) {
      const { to } = done(await act(speaker, transport, 'create', bodyOf(partner.id, [receivable])));
      expect(to).toEqual({ account_id: first.id });
    }
  });

  it.each(['hold', 'deactivated'] as const)('refuses a partner whose status is %s', async (status) => {
    const { user, partner, receivable } = await shop();
    expect((await user.post(`/v1/accounts/${partner}/activate`)).status).toBe(200);
    const helper = status === 'hold' ? 'hold' : 'deactivate';
    expect((await user.post(`/v1/test_helpers/accounts/${partner}/${helper}`)).body.status).toBe(status);
    const reply = await act(user, transport, 'create', bodyOf(partner, [receivable]));
    expect(refusalOf(reply)).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await nothingStored(user);
  });

  it('accepts in test mode a partner that is a draft, being verified or activated', async () => {
    const { user, partner, receivable } = await shop();
    done(await act(user, transport, 'create', bodyOf(partner, [receivable])));
    expect((await user.post(`/v1/accounts/${partner}/activate`)).status).toBe(200);
    done(await act(user, transport, 'create', bodyOf(partner, [receivable])));
    expect((await user.post(`/v1/test_helpers/accounts/${partner}/verify`)).status).toBe(200);
    done(await act(user, transport, 'create', bodyOf(partner, [receivable])));
  });

  it.each([
    ['is voided', 'void_receivable', {}, 'status_invalid', 'checkout.receivables[0].id'],
    [
      'can take less',
      'update_receivable',
      { amountMaximumReconcilable: '100' },
      'amount_exceeds_reconcilable',
      'checkout.amount',
    ],
  ])('is refused also when at the same time its receivable %s', async (_, fn, change, code, field) => {
    const { user, partner, receivable } = await shop();
    let creation: Promise<Reply> | undefined;
    await world.sql.begin(async (sql) => {
      await sql.unsafe(`select ${fn}($1, false, '{}', $2::text::jsonb)`, [
        tenantOf(user),
        JSON.stringify({ id: receivable, ...change }),
      ]);
      creation = act(user, transport, 'create', bodyOf(partner, [receivable]));
      await Promise.race([creation, statementsWaiting(world, 1)]);
    });
    const reply = await creation;
    expect([reply?.codes, reply?.fieldNames]).toEqual([[code], [field]]);
    await nothingStored(user);
  });

  it('requires an activated partner and https in live mode, where no test helper can pay', async () => {
    const { account, live } = await given.directUserBoth(2);
    await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const [{ id: partner }, receivable] = [await live.partner(), await receivableOf(live)];
    const draft = await act(live, transport, 'create', bodyOf(partner, [receivable]));
    expect(refusalOf(draft)).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await must(live.post(`/v1/accounts/${partner}/activate`));
    const verifying = await act(live, transport, 'create', bodyOf(partner, [receivable]));
    expect(refusalOf(verifying)).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await world.operator.verify(await world.operator.account(partner, true), 'activated');
    for (const redirect_url of ['http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/']) {
      const plain = await act(live, transport, 'create', bodyOf(partner, [receivable], { redirect_url }));
      expect(refusalOf(plain)).toEqual(one(400, 'parameter_invalid', 'checkout.redirect_url'));
    }
    expect(await world.sql`select id from checkout where tenant_id = ${tenantOf(live)}`).toEqual([]);

    const checkout = done(await act(live, transport, 'create', bodyOf(partner, [receivable])));

    expect([checkout.livemode, checkout.status]).toEqual([true, 'initialized']);
    for (const verb of ['pay', 'decline', 'expire'] as const) {
      const reply = await act(live, transport, verb, {}, checkout.id);
      expect([reply.status, reply.codes]).toEqual([403, ['permission_denied']]);
    }
    expect((await look(live, checkout.id)).status).toBe('initialized');
    expect(done(await act(live, transport, 'cancel', {}, checkout.id)).status).toBe('cancelled');
  });

  it('returns 402 in live mode without an acquirer, after every other error, and stores nothing', async () => {
    const { account, live, test } = await given.directUserBoth(2);
    await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const [{ id: partner }, receivable] = [await live.partner(), await receivableOf(live)];
    const origin = await world.another({});
    const at = (speaker: Speaker) => new Speaker({ ...world, origin }, speaker.id, speaker.key, 2);
    const create = (body: object, headers = {}) => act(at(live), transport, 'create', body, undefined, headers);
    const body = bodyOf(partner, [receivable]);
    expect(refusalOf(await create({ ...body, amount: '0.99' }))).toEqual(
      one(400, 'parameter_invalid', 'checkout.amount'),
    );
    const missing = unknown('receivable');
    expect(refusalOf(await create(bodyOf(partner, [missing])))).toEqual(
      one(404, 'resource_missing', 'checkout.receivables[0].id'),
    );
    expect(refusalOf(await create(body))).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await must(live.post(`/v1/accounts/${partner}/activate`));
    await world.operator.verify(await world.operator.account(partner, true), 'activated');
    const key = { 'idempotency-key': randomUUID() };

    const reply = await create(body, key);

    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([402, ['acquirer_unavailable'], [undefined]]);
    expect(reply.body.errors[0].message).toMatch(/acquirer.*live mode/);
    expect((await create({ ...body, amount: '100.01' })).codes).toEqual([
      'acquirer_unavailable',
      'amount_exceeds_reconcilable',
    ]);
    for (const table of ['checkout', 'job'])
      expect(await world.sql`select from ${world.sql(table)} where tenant_id = ${tenantOf(live)} and livemode`).toEqual(
        [],
      );
    expect((await live.get(`/v1/addresses?linked_id=${partner}`)).body.data).toEqual([]);
    // The key has no stored response yet; once there is an acquirer it has one, which is returned again without an
    // acquirer.
    const made = done(await act(live, transport, 'create', body, undefined, key));
    expect(done(await create(body, key)).id).toBe(made.id);
    // Test mode has the sandbox.
    const mine = await test.partner();
    done(await act(at(test), transport, 'create', bodyOf(mine.id, [await receivableOf(test)])));
  });

  it('returns 402 above the amount of the receivables that is not locked by others', async () => {
    const { user, partner, receivable } = await shop();
    const second = await receivableOf(user, '50.00', { amount_maximum_reconcilable: '7.00' });
    const over = await act(user, transport, 'create', bodyOf(partner, [receivable, second], { amount: '107.01' }));
    expect(refusalOf(over)).toEqual(one(402, 'amount_exceeds_reconcilable', 'checkout.amount'));
    await nothingStored(user);

    const first = done(await act(user, transport, 'create', bodyOf(partner, [receivable], { amount: '99.99' })));
    // A checkout reserves nothing, so a second one may have the same amount.
    done(await act(user, transport, 'create', bodyOf(partner, [receivable], { amount: '100.00' })));
    await pay(user, first.id);
    const late = await act(user, transport, 'create', bodyOf(partner, [receivable], { amount: '1.00' }));
    expect(refusalOf(late)).toEqual(one(402, 'amount_exceeds_reconcilable', 'checkout.amount'));
  });

  it('returns the same response for the same Idempotency-Key, and refuses another request with it', async () => {
    const { user, partner, receivable } = await shop();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, 'create', bodyOf(partner, [receivable]), undefined, headers);
    const other = transport === 'REST' ? 'GraphQL' : 'REST';
    const again = await act(user, other, 'create', bodyOf(partner, [receivable]), undefined, headers);
    expect([again.checkout, again.url, again.headers.get('idempotent-replayed')]).toEqual([
      first.checkout,
      first.url,
      'true',
    ]);
    const changed = await act(
      user,
      transport,
      'create',
      bodyOf(partner, [receivable], { amount: '5' }),
      undefined,
      headers,
    );
    expect(refusalOf(changed)).toEqual(one(400, 'idempotency_key_reused', 'checkout.amount'));
    expect((await user.get('/v1/checkouts')).body.data).toHaveLength(1);
    expect(await eventsOf(user, first.checkout.id)).toEqual(['checkout.created']);
  });
});

describe('the address of the page', () => {
  it('is the same in the header of /v1 and in GraphQL, in every response with a checkout', async () => {
    const { user, id } = await opened();
    const retrieved = await user.get(`/v1/checkouts/${id}`);
    const url = linkOf(retrieved)!;
    expect(url).toMatch(new RegExp(`^${world.origin}/checkout/[A-Za-z0-9_-]{40,}$`));
    expect(new URL(url).href).toBe(url);
    const { data } = (
      await user.graph(`query ($id: ID!) { checkout(id: $id) { url } checkouts { nodes { url } } }`, { id })
    ).body;
    expect([data.checkout.url, data.checkouts.nodes]).toEqual([url, [{ url }]]);
    for (const operation of ['decline', 'pay', 'pay'] as const)
      for (const transport of transports) expect((await act(user, transport, operation, {}, id)).url).toBe(url);
  });

  it('is in no body of /v1: neither in the object nor in lists nor in events', async () => {
    const { user, id } = await opened();
    const url = linkOf(await user.get(`/v1/checkouts/${id}`))!;
    const token = url.split('/').at(-1)!;
    const list = await user.get('/v1/checkouts');
    expect(list.headers.get('link')).toBe(null);
    expect(list.text).not.toContain(token);
    const [{ n }] =
      (await world.sql`select count(*)::int as n from event where data::text like ${`%${token}%`}`) as Json;
    expect(n).toBe(0);
  });

  it('differs for every checkout, and does not depend on its id alone', async () => {
    const { user, partner, receivable } = await shop();
    const made = await Promise.all([1, 2, 3].map(() => act(user, 'REST', 'create', bodyOf(partner, [receivable]))));
    expect(new Set(made.map((m) => m.url)).size).toBe(3);
    // The keyed hash, which cannot be derived from known ids.
    const tails = made.map((m) => Buffer.from(m.url!.split('/').at(-1)!, 'base64url').subarray(33).toString('hex'));
    expect(new Set(tails).size).toBe(3);
    for (const tail of tails) expect(tail).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('a deployment with a PUBLIC_URL', () => {
  const public_ = useWorld({ worker: false, environment: { PUBLIC_URL: 'https://pay.example' } });
  it('names its pages by PUBLIC_URL', async () => {
    const { user, id } = await opened({}, givenIn(public_));
    expect(linkOf(await user.get(`/v1/checkouts/${id}`))).toMatch(/^https:\/\/pay\.example\/checkout\/[\w-]+$/);
  });
});

describe('a fee', () => {
  const dear = useWorld({
    worker: false,
    environment: { CHECKOUT_FEE_BASIS_POINTS: '250', CHECKOUT_SECONDS: '1800', CHECKOUT_ATTEMPT_SECONDS: '60' },
  });

  it('is added to the amount, is part of the attempt’s amount, and is in no balance', async () => {
    const { user, id, checkout, receivable } = await opened({ amount: '60.00' }, givenIn(dear));
    expect([checkout.amount, checkout.gross_amount]).toEqual(['60.00', '61.50']);
    expect(checkout.expires_at - checkout.created).toBe(1_800);

    const paid = await pay(user, id);

    const [attempt] = await transactionsOf(user, id);
    expect([attempt.id, attempt.amount]).toEqual([paid.effective_transaction.id, '61.50']);
    const deposit = (await user.get('/v1/deposits')).body.data[0];
    expect(deposit.amount).toBe('60.00');
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    expect(await locksOf(user, receivable)).toEqual(['60.00', '40.00', [deposit.id]]);
    const world_ = await dear.sql`
      select contra, sum(amount)::text as amount from contra_entry where tenant_id = ${tenantOf(user)} group by 1
      order by 1`;
    expect(world_).toEqual([
      { contra: 'acquirer', amount: '-6150' },
      { contra: 'fees', amount: '150' },
    ]);
    // A dispute claws back at most the amount without the fee, and the ledger stays correct.
    const over = await user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '60.01' });
    expect(refusalOf(over)).toEqual(one(402, 'amount_exceeds_deposit', 'deposit.amount'));
    expect((await user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`)).body.amount).toBe('-60.00');
    expect(await funds(user)).toEqual({});
    expect(await dear.sql`select rule, what from violations`).toEqual([]);
  });

  it('is rounded half up to the minor unit', async () => {
    const { user, partner, receivable } = await shop(givenIn(dear));
    for (const [amount, gross] of [
      ['1.00', '1.03'],
      ['1.19', '1.22'],
      ['1.20', '1.23'],
      ['99.99', '102.49'],
    ])
      expect(done(await act(user, 'REST', 'create', bodyOf(partner, [receivable], { amount }))).gross_amount).toBe(
        gross,
      );
  });

  it('is not reconciled with the receivables', async () => {
    const { user, partner, receivable } = await shop(givenIn(dear));
    const { gross_amount } = done(
      await act(user, 'REST', 'create', bodyOf(partner, [receivable], { amount: '100.00' })),
    );
    expect(gross_amount).toBe('102.50');
  });

  it('can be configured together with the time limit of an attempt', async () => {
    const { user, id } = await opened({}, givenIn(dear));
    done(await act(user, 'REST', 'decline', {}, id));
    const [row] = await dear.sql`select expires_at - created as seconds from transaction where checkout_id = ${id}`;
    expect(Number(row!.seconds)).toBe(60);
  });
});

describe.each(transports)('paying a checkout over %s', (transport) => {
  it('credits the user at once up to the amount of the receivables, and shows it everywhere', async () => {
    const { user, partner, receivable, id, checkout } = await opened();

    const paid = await act(user, transport, 'pay', {}, id);

    expect(done(paid)).toEqual({
      ...checkout,
      status: 'completed',
      effective_transaction: { id: expect.stringMatching(/^transaction_[0-9a-f]{32}$/), status: 'succeeded' },
    });
    expect(await look(user, id)).toEqual(paid.checkout);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    expect(await funds(user, partner)).toEqual({});
    const [deposit] = await depositsOf(user, id);
    expect(await locksOf(user, receivable)).toEqual(['60.00', '40.00', [deposit.id]]);
    const [from, to] = await Promise.all(
      [deposit.from, deposit.to].map(async (side) => (await user.get(`/v1/addresses/${side.address_id}`)).body),
    );
    expect(deposit).toEqual({
      id: expect.stringMatching(/^deposit_[0-9a-f]{32}$/),
      object: 'deposit',
      created: expect.any(Number),
      livemode: false,
      amount: '60.00',
      currency: 'INR',
      from: { account_id: partner, address_id: from.id },
      // The user's account, with the partner's address for payments through checkouts.
      to: { account_id: user.id, address_id: to.id },
      payment_method: 'card',
      payment_method_details: { card: { brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2099 } },
      reason_code: null,
      statement_descriptor: id,
      status: 'completed',
      metadata: null,
    });
    const keys = ['brand', 'last4', 'expiry_month', 'expiry_year'];
    expect(Object.keys(deposit.payment_method_details.card)).toEqual(keys);
    expect([from.category, from.linked_id, from.currency, from.status]).toEqual([
      'partner_payment',
      partner,
      'INR',
      'activated',
    ]);
    expect([to.category, to.linked_id, to.currency, to.status, to.type]).toEqual([
      'service_checkout',
      partner,
      'INR',
      'activated',
      'vpa',
    ]);
    const transaction = (await user.get(`/v1/transactions/${paid.checkout.effective_transaction.id}`)).body;
    const payments = (await user.get('/v1/payments')).body.data;
    expect(transaction).toEqual({
      id: paid.checkout.effective_transaction.id,
      object: 'transaction',
      created: expect.any(Number),
      livemode: false,
      checkout_id: id,
      payment_method: 'card',
      amount: '60.00',
      currency: 'INR',
      status: 'succeeded',
      reason_code: null,
      payment_id: payments[0].id,
    });
    expect(Object.keys(transaction).join(' ')).toBe(
      'id object created livemode checkout_id payment_method amount currency status reason_code payment_id',
    );
    expect(payments).toEqual([
      {
        id: transaction.payment_id,
        object: 'payment',
        created: expect.any(Number),
        livemode: false,
        type: 'checkout',
        amount: '60.00',
        currency: 'INR',
        status: 'completed',
        deposit_id: deposit.id,
        checkout_id: id,
      },
    ]);
    const entries = (await user.get(`/v1/balance_transactions?payment_id=${transaction.payment_id}`)).body.data;
    expect(entries.map((t: Json) => [t.category, t.amount]).toReversed()).toEqual([
      ['pending', '60.00'],
      ['available', '60.00'],
      ['pending', '-60.00'],
    ]);
  });

  it('emits an event for every step, all of the one request', async () => {
    const { user, partner, receivable, id } = await opened();
    const before = (await eventsOf(user)).length;

    const reply = await act(user, transport, 'pay', {}, id);

    const rows = await world.sql`
      select type, object, object_id, request_id from event where tenant_id = ${tenantOf(user)} and not livemode
      order by id offset ${before}`;
    expect(rows.map(({ type }) => type)).toEqual([
      'transaction.created',
      'address.created',
      'transaction.succeeded',
      'deposit.completed',
      'receivable.updated',
      'deposit.reconciled',
      'checkout.completed',
    ]);
    expect(new Set(rows.map((row) => row.request_id))).toEqual(new Set([reply.headers.get('request-id')]));
    expect(rows.filter(({ object }) => object === 'checkout').map((row) => row.object_id)).toEqual([id]);
    // The objects as the steps left them.
    await world.database.call('number_events', [tenantOf(user), false, 500]);
    const events = (await user.get('/v1/events')).body.data;
    const of = (type: string) => events.find((e: Json) => e.type === type).data.object;
    expect(of('checkout.completed')).toEqual(await look(user, id));
    expect(of('transaction.succeeded')).toEqual(
      (await user.get(`/v1/transactions/${reply.checkout.effective_transaction.id}`)).body,
    );
    const [deposit] = await depositsOf(user, id);
    expect(of('deposit.reconciled')).toEqual(deposit);
    expect(of('receivable.updated')).toEqual((await user.get(`/v1/receivables/${receivable}`)).body);
    expect(of('address.created').linked_id).toBe(partner);
  });

  it('pays by UPI if requested, or if the checkout accepts no other method', async () => {
    const { user, id } = await opened();
    const upi = await opened({ payment_methods: ['upi'] });
    done(await act(user, transport, 'pay', { payment_method: 'upi' }, id));
    done(await act(upi.user, transport, 'pay', {}, upi.id));
    for (const [speaker, checkout] of [
      [user, id],
      [upi.user, upi.id],
    ] as const) {
      const [deposit] = await depositsOf(speaker, checkout);
      expect([deposit.payment_method, deposit.payment_method_details]).toEqual([
        'upi',
        { upi: { vpa: 'payer@sandbox' } },
      ]);
      const from = (await speaker.get(`/v1/addresses/${deposit.from.address_id}`)).body;
      expect([from.category, from.type, from.vpa.id]).toEqual(['partner_payment', 'vpa', 'payer@sandbox']);
    }
    const refused = await opened({ payment_methods: ['upi'] });
    for (const verb of ['pay', 'decline'] as const) {
      const reply = await act(refused.user, transport, verb, { payment_method: 'card' }, refused.id);
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', 'checkout.payment_method'));
    }
    expect(await transactionsOf(refused.user, refused.id)).toEqual([]);
  });

  it('creates a partner’s addresses with its first checkout and its first payment, and uses them again', async () => {
    const { user, partner, receivable, id } = await opened();
    await pay(user, id);
    const second = done(await act(user, transport, 'create', bodyOf(partner, [receivable], { amount: '40.00' })));
    done(await act(user, transport, 'pay', {}, second.id));
    const [[one_], [two]] = [await depositsOf(user, id), await depositsOf(user, second.id)];
    expect([two.from, two.to]).toEqual([one_.from, one_.to]);
    const addresses = (await user.get(`/v1/addresses?linked_id=${partner}`)).body.data;
    expect(addresses.map((a: Json) => a.category).toSorted()).toEqual(['partner_payment', 'service_checkout']);
  });

  it('locks the receivables in the given order, each up to its amount', async () => {
    const { user, partner } = await shop();
    const [a, b, c] = await Promise.all([
      receivableOf(user, '30.00'),
      receivableOf(user, '20.00'),
      receivableOf(user, '50.00'),
    ]);
    const { id } = done(await act(user, transport, 'create', bodyOf(partner, [c, a, b], { amount: '65.00' })));
    done(await act(user, transport, 'pay', {}, id));
    const [deposit] = await depositsOf(user, id);
    expect([await locksOf(user, c), await locksOf(user, a), await locksOf(user, b)]).toEqual([
      ['50.00', '0.00', [deposit.id]],
      ['15.00', '15.00', [deposit.id]],
      ['0.00', '20.00', []],
    ]);
    expect((await user.get(`/v1/receivables/${c}`)).body.status).toBe('locked');
    expect(await funds(user)).toEqual({ 'available INR': '65.00' });
  });

  it('leaves pending the amount of receivables that are now locked by another, lowered, or void', async () => {
    const { user, partner } = await shop();
    const [taken, lowered, voided] = await Promise.all([
      receivableOf(user, '30.00'),
      receivableOf(user, '30.00'),
      receivableOf(user, '30.00'),
    ]);
    const first = done(await act(user, transport, 'create', bodyOf(partner, [taken], { amount: '20.00' })));
    const { id } = done(
      await act(user, transport, 'create', bodyOf(partner, [voided, taken, lowered], { amount: '90.00' })),
    );
    await pay(user, first.id);
    await must(user.post(`/v1/receivables/${lowered}`, { amount_maximum_reconcilable: '5.00' }));
    expect((await user.post(`/v1/receivables/${voided}/void`)).status).toBe(200);

    const paid = done(await act(user, transport, 'pay', {}, id));

    expect([paid.status, paid.effective_transaction.status]).toEqual(['completed', 'succeeded']);
    // 20.00 of the first; of this one 10.00 and 5.00, and 75.00 that no receivable takes.
    expect(await funds(user)).toEqual({ 'available INR': '35.00', 'pending INR': '75.00' });
    const [deposit] = await depositsOf(user, id);
    expect([deposit.status, deposit.amount]).toEqual(['completed', '90.00']);
    expect(await locksOf(user, voided)).toEqual(['0.00', '0.00', []]);
    // The pending amount can be reconciled later, like that of any deposit.
    const later = await receivableOf(user, '200.00');
    const over = await user.post(`/v1/deposits/${deposit.id}/reconcile`, {
      receivables: [{ id: later, amount: '75.01' }],
    });
    expect(over.status).toBe(402);
    const counted = await user.post(`/v1/deposits/${deposit.id}/reconcile`, {
      receivables: [{ id: later, amount: '75.00' }],
    });
    expect(counted.status).toBe(200);
    expect(await funds(user)).toEqual({ 'available INR': '110.00' });
  });

  it('credits an amount that no receivable can take as pending', async () => {
    const { user, receivable, id } = await opened();
    await must(user.post(`/v1/receivables/${receivable}/void`));
    const before = (await eventsOf(user)).length;
    expect(done(await act(user, transport, 'pay', {}, id)).status).toBe('completed');
    expect(await funds(user)).toEqual({ 'pending INR': '60.00' });
    expect((await eventsOf(user)).slice(before)).toEqual([
      'transaction.created',
      'address.created',
      'transaction.succeeded',
      'deposit.completed',
      'checkout.completed',
    ]);
  });

  it('credits also if the partner was put on hold or deactivated meanwhile, because the money has come', async () => {
    for (const verb of ['hold', 'deactivate']) {
      const { user, partner, id } = await opened();
      await must(user.post(`/v1/accounts/${partner}/activate`));
      expect((await user.post(`/v1/test_helpers/accounts/${partner}/${verb}`)).status).toBe(200);
      expect(done(await act(user, transport, 'pay', {}, id)).status).toBe('completed');
      expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    }
  });

  it('a second time creates a failed deposit, a duplicate, and posts nothing', async () => {
    const { user, receivable, id } = await opened();
    const paid = await pay(user, id);
    const [funded, locked] = [await funds(user), await locksOf(user, receivable)];
    const entries = (await user.get('/v1/balance_transactions')).body.data;
    const before = (await eventsOf(user)).length;

    const again = await act(user, transport, 'pay', { payment_method: 'upi' }, id);

    expect(done(again)).toEqual(paid);
    expect(await look(user, id)).toEqual(paid);
    expect([await funds(user), await locksOf(user, receivable)]).toEqual([funded, locked]);
    expect((await user.get('/v1/balance_transactions')).body.data).toEqual(entries);
    const [, duplicate] = await depositsOf(user, id);
    expect([duplicate.status, duplicate.reason_code, duplicate.amount, duplicate.to.account_id]).toEqual([
      'failed',
      'duplicate',
      '60.00',
      user.id,
    ]);
    const [attempt] = await transactionsOf(user, id);
    expect([attempt.status, attempt.reasonCode, attempt.deposit.id]).toEqual(['FAILED', 'DUPLICATE', duplicate.id]);
    const [payment] = (await user.get('/v1/payments?type=checkout&status=failed')).body.data;
    expect([payment.deposit_id, payment.checkout_id, payment.amount]).toEqual([duplicate.id, id, '60.00']);
    expect((await eventsOf(user)).slice(before)).toEqual([
      'transaction.created',
      'address.created',
      'transaction.failed',
      'deposit.failed',
    ]);
    // A test helper cannot complete it either.
    for (const verb of ['complete', 'process', 'reverse', 'dispute'])
      expect((await user.post(`/v1/test_helpers/deposits/${duplicate.id}/${verb}`)).codes).toEqual(['status_invalid']);
  });

  it('returns the same payment for the same Idempotency-Key, through either API', async () => {
    const { user, id } = await opened();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, 'pay', {}, id, headers);
    for (const other of transports) {
      const again = await act(user, other, 'pay', {}, id, headers);
      expect([again.checkout, again.headers.get('idempotent-replayed')]).toEqual([first.checkout, 'true']);
    }
    expect(await depositsOf(user, id)).toHaveLength(1);
    const other = await act(user, transport, 'pay', { payment_method: 'upi' }, id, headers);
    expect(refusalOf(other)).toEqual(one(400, 'idempotency_key_reused', 'checkout.payment_method'));
  });
});

describe.each(transports)('declining a checkout over %s', (transport) => {
  it('creates a failed attempt, moves no money, and leaves the checkout open', async () => {
    const { user, id, checkout, receivable } = await opened();
    const before = (await eventsOf(user)).length;

    const declined = done(await act(user, transport, 'decline', { reason_code: 'insufficient_funds' }, id));

    const [attempt] = await transactionsOf(user, id);
    expect(declined).toEqual({ ...checkout, effective_transaction: { id: attempt.id, status: 'failed' } });
    expect(await look(user, id)).toEqual(declined);
    expect((await user.get(`/v1/transactions/${attempt.id}`)).body).toEqual({
      ...{ id: attempt.id, object: 'transaction', created: expect.any(Number), livemode: false, checkout_id: id },
      ...{ payment_method: 'card', amount: '60.00', currency: 'INR', status: 'failed' },
      ...{ reason_code: 'insufficient_funds', payment_id: null },
    });
    expect(await funds(user)).toEqual({});
    expect(await depositsOf(user, id)).toEqual([]);
    expect(await locksOf(user, receivable)).toEqual(['0.00', '100.00', []]);
    expect((await eventsOf(user)).slice(before)).toEqual([
      'transaction.created',
      'transaction.failed',
      'checkout.updated',
    ]);
  });

  it('shows the latest finished attempt until one succeeds', async () => {
    const { user, id } = await opened();
    const seen: Json[] = [];
    for (const verb of ['decline', 'decline', 'pay', 'pay'] as const)
      seen.push(done(await act(user, transport, verb, {}, id)).effective_transaction);
    const attempts = (await transactionsOf(user, id)).toReversed();
    expect(attempts.map((t) => [t.status, t.reasonCode])).toEqual([
      ['FAILED', 'DECLINED'],
      ['FAILED', 'DECLINED'],
      ['SUCCEEDED', null],
      ['FAILED', 'DUPLICATE'],
    ]);
    expect(seen).toEqual([
      { id: attempts[0].id, status: 'failed' },
      { id: attempts[1].id, status: 'failed' },
      { id: attempts[2].id, status: 'succeeded' },
      { id: attempts[2].id, status: 'succeeded' },
    ]);
    const declined = await act(user, transport, 'decline', {}, id);
    expect(refusalOf(declined)).toEqual(one(400, 'status_invalid', 'checkout.status'));
  });

  it('refuses an unknown method and an unknown reason', async () => {
    const { user, id } = await opened();
    for (const [name, value] of [
      ['payment_method', 'cards'],
      ['payment_method', 'cash'],
      ['reason_code', 'general'],
    ] as const) {
      const reply = await act(user, transport, 'decline', { [name]: value }, id);
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', `checkout.${name}`));
    }
    expect(await transactionsOf(user, id)).toEqual([]);
  });

  it('returns the same attempt for the same Idempotency-Key', async () => {
    const { user, id } = await opened();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, 'decline', {}, id, headers);
    await pay(user, id);
    const again = await act(user, transport, 'decline', {}, id, headers);
    expect([again.checkout, again.headers.get('idempotent-replayed')]).toEqual([first.checkout, 'true']);
    expect(await transactionsOf(user, id)).toHaveLength(2);
  });
});

describe.each(transports)('cancelling and expiring a checkout over %s', (transport) => {
  it.each([
    ['cancel', 'cancelled'],
    ['expire', 'expired'],
  ] as const)('%s makes it %s, once, and emits an event', async (verb, status) => {
    const { user, id, checkout } = await opened();

    const ended = done(await act(user, transport, verb, {}, id));

    expect(ended).toEqual({ ...checkout, status, expires_at: expect.any(Number) });
    if (verb === 'cancel') expect(ended.expires_at).toBe(checkout.expires_at);
    else expect(ended.expires_at - checkout.created).toBeLessThan(30);
    expect(await look(user, id)).toEqual(ended);
    expect(await eventsOf(user, id)).toEqual(['checkout.created', `checkout.${status}`]);
    for (const again of ['cancel', 'expire', 'decline'] as const) {
      const reply = await act(user, transport, again, {}, id);
      expect(refusalOf(reply)).toEqual(one(400, 'status_invalid', 'checkout.status'));
    }
    expect(await eventsOf(user, id)).toHaveLength(2);
    expect(await look(user, id)).toEqual(ended);
  });

  it.each(['cancel', 'expire'] as const)('%s is refused once the checkout is paid or expired', async (verb) => {
    const paid = await opened();
    await pay(paid.user, paid.id);
    const over = await opened();
    await advance(over.user, day);
    for (const { user, id } of [paid, over]) {
      const before = await look(user, id);
      expect(refusalOf(await act(user, transport, verb, {}, id))).toEqual(
        one(400, 'status_invalid', 'checkout.status'),
      );
      expect(await look(user, id)).toEqual(before);
    }
  });

  it.each(['cancel', 'expire'] as const)('%s with the same Idempotency-Key returns the same response', async (verb) => {
    const { user, id } = await opened();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, verb, {}, id, headers);
    const again = await act(user, transport, verb, {}, id, headers);
    expect([again.status, again.checkout, again.headers.get('idempotent-replayed')]).toEqual([
      200,
      first.checkout,
      'true',
    ]);
    expect(await eventsOf(user, id)).toHaveLength(2);
  });

  it.each([
    ['cancel', 'cancelled'],
    ['expire', 'expired'],
  ] as const)('%s comes too early for money on its way: it is credited, and the status stays', async (verb, status) => {
    const { user, id, receivable } = await opened();
    done(await act(user, transport, verb, {}, id));
    const before = (await eventsOf(user, id)).length;

    const late = done(await act(user, transport, 'pay', {}, id));

    expect([late.status, late.effective_transaction.status]).toEqual([status, 'succeeded']);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    const [deposit] = await depositsOf(user, id);
    expect([deposit.status, await locksOf(user, receivable)]).toEqual(['completed', ['60.00', '40.00', [deposit.id]]]);
    expect((await eventsOf(user, id)).slice(before)).toEqual(['checkout.late_payment']);
    // It happens only once.
    expect(done(await act(user, transport, 'pay', {}, id))).toEqual(late);
    expect((await depositsOf(user, id)).map((d) => d.status)).toEqual(['completed', 'failed']);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
  });
});

describe('a checkout after its expiry', () => {
  it('shows as expired everywhere before a worker has run', async () => {
    const { user, partner, receivable, id, checkout } = await opened();
    await advance(user, day - 60);
    expect((await look(user, id)).status).toBe('initialized');
    expect((await user.get('/v1/checkouts?status=initialized')).body.data).toHaveLength(1);
    await advance(user, 120);

    const expired = { ...checkout, status: 'expired' };
    expect(await look(user, id)).toEqual(expired);
    const lists = ['', '?status=expired', '?status=expired,cancelled', `?account_id=${partner}&status[]=expired`];
    for (const query of lists) expect((await user.get(`/v1/checkouts${query}`)).body.data).toEqual([expired]);
    for (const status of ['initialized', 'completed', 'cancelled'])
      expect((await user.get(`/v1/checkouts?status=${status}`)).body.data).toEqual([]);
    const { data } = (
      await user.graph(
        `query ($id: ID!, $receivable: ID!) {
          checkout(id: $id) { status }
          node(id: $id) { ... on Checkout { status } }
          checkouts(status: [EXPIRED]) { totalCount nodes { status } }
          open: checkouts(status: [INITIALIZED]) { totalCount nodes { status } }
          viewer { account { checkoutsIn(status: [EXPIRED]) { nodes { status } } open: checkoutsIn(status:
          [INITIALIZED]) { nodes { id } } } }
          receivable(id: $receivable) { checkouts { nodes { status } } open: checkouts(status: [INITIALIZED]) {
          totalCount } }
        }`,
        { id, receivable },
      )
    ).body;
    const status = 'EXPIRED';
    expect(data).toEqual({
      checkout: { status },
      node: { status },
      checkouts: { totalCount: 1, nodes: [{ status }] },
      open: { totalCount: 0, nodes: [] },
      viewer: { account: { checkoutsIn: { nodes: [{ status }] }, open: { nodes: [] } } },
      receivable: { checkouts: { nodes: [{ status }] }, open: { totalCount: 0 } },
    });
    expect(await eventsOf(user, id)).toEqual(['checkout.created']);
    expect(refusalOf(await act(user, 'REST', 'decline', {}, id))).toEqual(
      one(400, 'status_invalid', 'checkout.status'),
    );
  });

  it('is expired by the worker once, with its event, at its expiry time', async () => {
    const { user, id, checkout } = await opened();
    await work(user);
    expect((await look(user, id)).status).toBe('initialized');
    await advance(user, day + 1);
    await work(user);
    expect(await look(user, id)).toEqual({ ...checkout, status: 'expired' });
    expect(await eventsOf(user, id)).toEqual(['checkout.created', 'checkout.expired']);
    const [row] =
      await world.sql`select data ->> 'status' as status from event where object_id = ${id} order by id desc limit 1`;
    expect(row!.status).toBe('expired');
  });

  it.each(['before', 'after'])('is credited for money that comes late, %s a worker has run', async (when) => {
    const { user, id, receivable } = await opened();
    await advance(user, day + 1);
    if (when === 'after') await work(user);

    const late = await pay(user, id);

    expect([late.status, late.effective_transaction.status]).toEqual(['expired', 'succeeded']);
    await work(user);
    expect(await look(user, id)).toEqual(late);
    expect(await funds(user)).toEqual({ 'available INR': '60.00' });
    expect((await locksOf(user, receivable))[0]).toBe('60.00');
    expect(await eventsOf(user, id)).toEqual(['checkout.created', 'checkout.expired', 'checkout.late_payment']);
  });

  it('stays completed or cancelled if that happened in time', async () => {
    const [paid, cancelled] = [await opened(), await opened()];
    await pay(paid.user, paid.id);
    done(await act(cancelled.user, 'REST', 'cancel', {}, cancelled.id));
    for (const [{ user, id }, status] of [
      [paid, 'completed'],
      [cancelled, 'cancelled'],
    ] as const) {
      const before = await eventsOf(user, id);
      await advance(user, day + 1);
      expect((await look(user, id)).status).toBe(status);
      await work(user);
      expect([(await look(user, id)).status, await eventsOf(user, id)]).toEqual([status, before]);
    }
  });

  describe('with a worker', () => {
    const working = useWorld();
    it('emits an event of the expiry that a client can follow', async () => {
      const { user, id, checkout } = await opened({}, givenIn(working));
      await advance(user, day + 1);
      const events = await eventually(
        async () => (await user.get('/v1/events')).body.data as Json[],
        (all) => all.some((e) => e.type === 'checkout.expired'),
      );
      const event = events.find((e) => e.type === 'checkout.expired');
      expect(event.data.object).toEqual({ ...checkout, status: 'expired' });
      expect(event.created).toBeGreaterThanOrEqual(checkout.expires_at);
      expect(await look(user, id)).toEqual(event.data.object);
    });
  });
});

/** The steps of the hosted page and of the acquirer, by the functions that they call. */
const begin = async (
  s: { user: Speaker; id: string },
  key: string = randomUUID(),
  paymentMethod = 'card',
): Promise<Json> =>
  (
    await world.database.call('begin_transaction', [
      tenantOf(s.user),
      false,
      '{}',
      JSON.stringify({ checkoutId: s.id, attemptKey: key, paymentMethod, seconds: 480 }),
    ])
  )[0];
const card = { card: { brand: 'visa', last4: '0002', expiry_month: 1, expiry_year: 2031 } };
const decide = async (s: { user: Speaker }, id: string, args: object): Promise<Json> =>
  (
    await world.database.call('decide_transaction', [
      tenantOf(s.user),
      false,
      '{}',
      JSON.stringify({ id, details: card, ...args }),
    ])
  )[0];
const settle = (s: { user: Speaker }, id: string, status: string, reason: string | null = null) =>
  world.database.call('settle_transaction', [tenantOf(s.user), false, '{}', id, status, reason]);
const attempt = async (s: { user: Speaker }, id: string) => {
  const { status, reason_code } = (await s.user.get(`/v1/transactions/${id}`)).body;
  return [status, reason_code];
};
const domainError = (code: string, field: string) => ({ problems: [expect.objectContaining({ code, field })] });

describe('an attempt', () => {
  it('is the same if its form is sent again, until the checkout is over or another attempt has started', async () => {
    const s = await opened();
    const key = randomUUID();
    const begun = await Promise.all(Array.from({ length: 8 }, () => begin(s, key)));
    expect(new Set(begun.map((t) => t.id)).size).toBe(1);
    expect((await transactionsOf(s.user, s.id)).map((t) => t.status)).toEqual(['PROCESSING']);
    expect((await look(s.user, s.id)).effective_transaction).toBe(null);
    expect((await eventsOf(s.user)).filter((type) => type === 'transaction.created')).toHaveLength(1);
    await expect(begin(s, key, 'upi')).rejects.toMatchObject(
      domainError('state_conflict', 'checkout.effective_transaction'),
    );
    done(await act(s.user, 'REST', 'cancel', {}, s.id));
    await expect(begin(s, key)).rejects.toMatchObject(domainError('status_invalid', 'checkout.status'));
    expect((await s.user.get(`/v1/transactions/${begun[0].id}`)).body).toMatchObject({
      ...{ status: 'processing', reason_code: null, payment_id: null, payment_method: 'card', checkout_id: s.id },
    });
  });

  it('is the only one while it is with the acquirer; one that was never sent there blocks no other', async () => {
    const s = await opened();
    const first = await begin(s);
    const second = await begin(s, randomUUID(), 'upi');
    expect(second.id).not.toBe(first.id);
    await decide(s, first.id, { status: 'processing' });
    await expect(begin(s)).rejects.toMatchObject(domainError('state_conflict', 'checkout.effective_transaction'));
    await expect(begin(s, randomUUID(), 'upi')).rejects.toMatchObject(
      domainError('state_conflict', 'checkout.effective_transaction'),
    );
    expect(await transactionsOf(s.user, s.id)).toHaveLength(2);
    // Once it has failed or expired, another is possible.
    await settle(s, first.id, 'failed', 'declined');
    const third = await begin(s);
    await decide(s, third.id, { status: 'processing' });
    await advance(s.user, 481);
    await begin(s);
  });

  it('is refused on a checkout that is over, by a method it does not accept, and after thirty attempts', async () => {
    const over = await Promise.all([opened(), opened(), opened()]);
    await pay(over[0].user, over[0].id);
    done(await act(over[1].user, 'REST', 'cancel', {}, over[1].id));
    await advance(over[2].user, day);
    for (const s of over)
      await expect(begin(s)).rejects.toMatchObject(domainError('status_invalid', 'checkout.status'));
    const upi = await opened({ payment_methods: ['upi'] });
    await expect(begin(upi)).rejects.toMatchObject(domainError('parameter_invalid', 'checkout.payment_methods'));
    for (let i = 0; i < 30; i++) await begin(upi, `form ${i}`, 'upi');
    await expect(begin(upi, 'form 30', 'upi')).rejects.toMatchObject(domainError('rate_limit_exceeded', 'checkout.id'));
    await begin(upi, 'form 29', 'upi');
  });

  it('is decided once: later or repeated results of the acquirer change nothing', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'succeeded' });
    await decide(s, id, {
      status: 'failed',
      reasonCode: 'declined',
      details: { card: { ...card.card, last4: '9999' } },
    });
    expect((await look(s.user, s.id)).status).toBe('initialized');
    await work(s.user);
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    expect((await look(s.user, s.id)).status).toBe('completed');
    const [deposit, ...others] = await depositsOf(s.user, s.id);
    expect([deposit.payment_method_details, others]).toEqual([card, []]);
    for (const status of ['failed', 'succeeded']) await settle(s, id, status, status === 'failed' ? 'declined' : null);
    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    expect(await depositsOf(s.user, s.id)).toHaveLength(1);
    expect((await eventsOf(s.user)).filter((type) => type.startsWith('transaction.'))).toEqual([
      'transaction.created',
      'transaction.submitted',
      'transaction.succeeded',
    ]);
  });

  const recordPoll = (s: { user: Speaker }, id: string, args: object) =>
    world.database.call('record_status_poll', [tenantOf(s.user), false, '{}', JSON.stringify({ id, ...args })]);
  const statusPollsOf = (s: { user: Speaker }, id: string) =>
    world.sql`select id from job where tenant_id = ${tenantOf(s.user)} and kind = 'inquire_transaction'
      and subject_id = ${id}`;
  const other = { card: { ...card.card, brand: null } };
  const mismatchesOf = async (id: string) =>
    (await world.operator.mismatches())
      .filter((t) => t.id === id)
      .map(({ mismatch, paymentMethodDetails }) => [mismatch!.credited, paymentMethodDetails, mismatch!.details]);

  it.each(['reported', 'polled'] as const)(
    'that succeeds with other details than it was submitted with is credited, and the operator is shown both: %s',
    async (way) => {
      const s = await opened();
      const { id } = await begin(s);
      await decide(s, id, { status: 'processing' });
      const success = { status: 'succeeded', details: other };
      await (way === 'reported' ? decide(s, id, success) : recordPoll(s, id, success));
      // The status poll is deleted only now that its result will be recorded.
      expect(await statusPollsOf(s, id)).toEqual([]);
      await work(s.user);
      expect([await attempt(s, id), (await look(s.user, s.id)).status]).toEqual([['succeeded', null], 'completed']);
      expect((await depositsOf(s.user, s.id)).map((d) => d.payment_method_details)).toEqual([card]);
      expect(await mismatchesOf(id)).toEqual([[true, card, other]]);
      // A repetition is the same mismatch.
      await decide(s, id, success);
      expect((await eventsOf(s.user)).filter((type) => type === 'transaction.mismatched')).toHaveLength(1);
      expect(await depositsOf(s.user, s.id)).toHaveLength(1);
    },
  );

  it('is not ended by a failure of another payment, and its status poll continues', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'processing' });
    await recordPoll(s, id, { status: 'failed', reasonCode: 'declined', details: other });
    await work(s.user);
    expect([await attempt(s, id), (await statusPollsOf(s, id)).length]).toEqual([['processing', null], 1]);
    await recordPoll(s, id, { status: 'succeeded', details: card });
    await work(s.user);
    expect([await attempt(s, id), await statusPollsOf(s, id), await mismatchesOf(id)]).toEqual([
      ['succeeded', null],
      [],
      [],
    ]);
  });

  it.each(['settled', 'reported'] as const)(
    'that succeeds after it was declined is not credited, and the operator sees it: %s',
    async (when) => {
      const s = await opened();
      const { id } = await begin(s);
      await decide(s, id, { status: 'failed', reasonCode: 'declined' });
      if (when === 'settled') await work(s.user);
      await decide(s, id, { status: 'succeeded' });
      await work(s.user);
      expect([await attempt(s, id), await depositsOf(s.user, s.id)]).toEqual([['failed', 'declined'], []]);
      expect(await mismatchesOf(id)).toEqual([[false, card, card]]);
    },
  );

  it('that the acquirer declines later fails then, with its reason', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'failed', reasonCode: 'insufficient_funds', afterSeconds: 30 });
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['processing', null]);
    await advance(s.user, 31);
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['failed', 'insufficient_funds']);
    expect((await look(s.user, s.id)).effective_transaction).toEqual({ id, status: 'failed' });
  });

  it('fails if no payment comes in time, and still succeeds when the money comes', async () => {
    const s = await opened();
    const { id } = await begin(s, randomUUID(), 'upi');
    await advance(s.user, 420);
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['processing', null]);
    await advance(s.user, 61);
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['failed', 'expired']);
    expect((await look(s.user, s.id)).effective_transaction).toEqual({ id, status: 'failed' });

    await settle(s, id, 'succeeded');

    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    const paid = await look(s.user, s.id);
    expect([paid.status, paid.effective_transaction]).toEqual(['completed', { id, status: 'succeeded' }]);
    expect(await funds(s.user)).toEqual({ 'available INR': '60.00' });
    // A declined attempt stays declined: no money was taken.
    const other = await opened();
    const declined = await begin(other);
    await settle(other, declined.id, 'failed', 'declined');
    await settle(other, declined.id, 'succeeded');
    expect(await attempt(other, declined.id)).toEqual(['failed', 'declined']);
    expect(await funds(other.user)).toEqual({});
  });

  it('that succeeds after the checkout’s expiry is credited, and the checkout stays expired', async () => {
    const s = await opened();
    const { id } = await begin(s);
    await decide(s, id, { status: 'succeeded', afterExpiry: true });
    await advance(s.user, 600);
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['failed', 'expired']);
    await advance(s.user, day);
    await work(s.user);
    expect(await attempt(s, id)).toEqual(['succeeded', null]);
    const late = await look(s.user, s.id);
    expect([late.status, late.effective_transaction]).toEqual(['expired', { id, status: 'succeeded' }]);
    expect(await funds(s.user)).toEqual({ 'available INR': '60.00' });
  });

  it('that expired and is then paid is a duplicate if another has succeeded', async () => {
    const s = await opened();
    const [slow, quick] = [await begin(s, randomUUID(), 'upi'), await begin(s)];
    await settle(s, quick.id, 'succeeded');
    const paid = await look(s.user, s.id);
    await advance(s.user, 481);
    await work(s.user);
    expect(await attempt(s, slow.id)).toEqual(['failed', 'expired']);
    await settle(s, slow.id, 'succeeded');
    await settle(s, slow.id, 'succeeded');
    expect(await attempt(s, slow.id)).toEqual(['failed', 'duplicate']);
    expect(await look(s.user, s.id)).toEqual(paid);
    expect((await depositsOf(s.user, s.id)).map((d) => [d.status, d.reason_code])).toEqual([
      ['completed', null],
      ['failed', 'duplicate'],
    ]);
    expect(await funds(s.user)).toEqual({ 'available INR': '60.00' });
  });

  it('counts for the checkout at the time of its end, not of its start', async () => {
    const s = await opened();
    const [first, second] = [await begin(s), await begin(s)];
    await settle(s, second.id, 'failed', 'declined');
    expect((await look(s.user, s.id)).effective_transaction.id).toBe(second.id);
    await settle(s, first.id, 'failed', 'insufficient_funds');
    expect((await look(s.user, s.id)).effective_transaction).toEqual({ id: first.id, status: 'failed' });
  });
});

describe('the deposit of a checkout', () => {
  /** A paid checkout of 60.00, of which 20.00 found a receivable. */
  const partly = async () => {
    const { user, partner } = await shop();
    const [small, gone] = [await receivableOf(user, '20.00'), await receivableOf(user, '40.00')];
    const { id } = done(await act(user, 'REST', 'create', bodyOf(partner, [small, gone])));
    await must(user.post(`/v1/receivables/${gone}/void`));
    await pay(user, id);
    expect(await funds(user)).toEqual({ 'available INR': '20.00', 'pending INR': '40.00' });
    return { user, small, id, deposit: (await depositsOf(user, id))[0] };
  };

  it('is disputed like any other: pending first, then available money, and the locks shrink', async () => {
    const { user, small, id, deposit } = await partly();
    const before = await look(user, id);
    const disputed = await user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '45.00' });
    expect([disputed.body.amount, disputed.body.status, disputed.body.reason_code]).toEqual([
      '-45.00',
      'completed',
      'general',
    ]);
    expect(await funds(user)).toEqual({ 'available INR': '15.00' });
    expect(await locksOf(user, small)).toEqual(['15.00', '5.00', [deposit.id]]);
    expect(await look(user, id)).toEqual(before);
  });

  it('is reversed like any other, and the checkout stays paid', async () => {
    const { user, small, id, deposit } = await partly();
    const before = await look(user, id);
    expect((await user.post(`/v1/test_helpers/deposits/${deposit.id}/reverse`)).body.status).toBe('reversed');
    expect(await funds(user)).toEqual({});
    expect(await locksOf(user, small)).toEqual(['0.00', '20.00', []]);
    expect(await look(user, id)).toEqual(before);
    // It credits once, even after the reversal.
    expect(await pay(user, id)).toEqual(before);
    expect((await depositsOf(user, id)).map((d) => d.status)).toEqual(['reversed', 'failed']);
    expect(await funds(user)).toEqual({});
  });

  it('links to the checkout and back, and its attempt to both', async () => {
    const { user, partner, receivable, id } = await opened();
    const { effective_transaction: effective } = await pay(user, id);
    const { data } = (
      await user.graph(
        `query ($id: ID!, $partner: ID!) {
          checkout(id: $id) {
            fromAccount { id } toAccount { id } receivables { id checkouts { nodes { id } } }
            effectiveTransaction { id checkout { id } payment { type checkout { id } deposit { id } } deposit { id
            checkout { id } } }
            deposit { id checkout { id } payment { checkout { id } } }
            transactions { nodes { id deposit { checkout { id } } } }
          }
          account(id: $partner) { checkoutsOut { nodes { id } } checkoutsIn { nodes { id } } }
        }`,
        { id, partner },
      )
    ).body;
    const [deposit] = await depositsOf(user, id);
    const c = { id };
    expect(data.checkout).toEqual({
      fromAccount: { id: partner },
      toAccount: { id: user.id },
      receivables: [{ id: receivable, checkouts: { nodes: [c] } }],
      effectiveTransaction: {
        id: effective.id,
        checkout: c,
        payment: { type: 'CHECKOUT', checkout: c, deposit: { id: deposit.id } },
        deposit: { id: deposit.id, checkout: c },
      },
      deposit: { id: deposit.id, checkout: c, payment: { checkout: c } },
      transactions: { nodes: [{ id: effective.id, deposit: { checkout: c } }] },
    });
    expect(data.account).toEqual({ checkoutsOut: { nodes: [c] }, checkoutsIn: { nodes: [] } });
  });
});

describe('a user of an aggregator', () => {
  it('passes available money of a checkout to the aggregator at once; pending money stays with the user', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await platform.connectedUser();
    const [{ id: partner }, receivable] = [await user.partner(), await receivableOf(user, '100.00')];
    const lower = done(await act(user, 'REST', 'create', bodyOf(partner, [receivable], { amount: '100.00' })));
    await must(user.post(`/v1/receivables/${receivable}`, { amount_maximum_reconcilable: '70.00' }));

    await pay(platform, lower.id);

    expect([await funds(user), await funds(platform)]).toEqual([
      { 'pending INR': '30.00' },
      { 'available INR': '70.00' },
    ]);
    const payments = (await user.get('/v1/payments')).body.data;
    expect(payments.map((p: Json) => [p.type, p.amount, p.status, p.checkout_id])).toEqual([
      ['transfer', '70.00', 'completed', null],
      ['checkout', '100.00', 'completed', lower.id],
    ]);
    const entries = (await user.get('/v1/balance_transactions')).body.data;
    expect(entries.map((t: Json) => [t.category, t.amount]).toReversed()).toEqual([
      ['pending', '100.00'],
      ['available', '70.00'],
      ['pending', '-70.00'],
      ['available', '-70.00'],
    ]);
    const [deposit] = await depositsOf(user, lower.id);
    expect(await locksOf(user, receivable)).toEqual(['70.00', '0.00', [deposit.id]]);
  });
});

describe('the list of checkouts', () => {
  it('is newest first, pages both ways, and filters by status, account and time', async () => {
    const { user, partner, receivable } = await shop();
    const other = (await user.partner()).id;
    const made: string[] = [];
    for (let i = 0; i < 6; i++) {
      const from = i % 2 ? other : partner;
      made.push(done(await act(user, 'REST', 'create', bodyOf(from, [receivable], { amount: '1.00' }))).id);
      if (i === 2) await advance(user, 3_600);
    }
    await pay(user, made[0]!);
    done(await act(user, 'REST', 'cancel', {}, made[1]!));
    done(await act(user, 'REST', 'expire', {}, made[2]!));
    const newest = made.toReversed();
    const ids = async (query: string) => {
      const { body } = await user.get(`/v1/checkouts${query}`);
      return [body.data.map((c: Json) => c.id), body.has_next];
    };
    expect(await ids('')).toEqual([newest, false]);
    expect(await ids('?limit=4')).toEqual([newest.slice(0, 4), true]);
    expect(await ids(`?limit=4&starting_after=${newest[3]}`)).toEqual([newest.slice(4), false]);
    expect(await ids(`?limit=2&ending_before=${newest[4]}`)).toEqual([newest.slice(2, 4), true]);
    expect(await ids('?status=completed')).toEqual([[made[0]], false]);
    const ended = [[made[2], made[1]], false];
    expect(await ids('?status=cancelled&status=expired')).toEqual(ended);
    expect(await ids('?status[]=cancelled&status[]=expired')).toEqual(ended);
    expect(await ids('?status=cancelled,expired')).toEqual(ended);
    expect(await ids(`?account_id=${other}`)).toEqual([[made[5], made[3], made[1]], false]);
    expect(await ids(`?account_id=${user.id}`)).toEqual([newest, false]);
    expect(await ids(`?account_id=${other}&limit=1&starting_after=${made[5]}`)).toEqual([[made[3]], true]);
    expect(await ids(`?account_id=${other}&limit=2&ending_before=${made[1]}`)).toEqual([[made[5], made[3]], false]);
    expect(await ids(`?account_id=${user.id}&limit=2&ending_before=${newest[3]}`)).toEqual([newest.slice(1, 3), true]);
    expect(await ids(`?account_id=${other}&status=initialized&limit=1`)).toEqual([[made[5]], true]);
    const { created } = await look(user, made[3]!);
    expect(await ids(`?created.gte=${created}`)).toEqual([newest.slice(0, 3), false]);
    expect(await ids(`?created.lt=${created}`)).toEqual([newest.slice(3), false]);
    // A checkout that changed its status keeps its place on every page.
    expect(await ids(`?limit=2&starting_after=${made[2]}`)).toEqual([[made[1], made[0]], false]);
  });

  it.each([
    ['?status=paid', 400, 'parameter_invalid', 'checkout.status'],
    ['?status=', 400, 'parameter_invalid_empty', 'checkout.status'],
    ['?limit=11', 400, 'parameter_invalid', 'checkout.limit'],
    [`?starting_after=${unknown('checkout')}`, 400, 'parameter_invalid', 'checkout.starting_after'],
    ['?amount=1.00', 400, 'parameter_unknown', 'checkout.amount'],
  ] as const)('refuses %s', async (query, status, code, field) => {
    const user = await given.directUser(2);
    expect(refusalOf(await user.get(`/v1/checkouts${query}`))).toEqual(one(status, code, field));
  });
});

describe('the checkouts of a receivable', () => {
  it('are newest first, page both ways, filter and count, separately for every receivable', async () => {
    const { user, partner, receivable } = await shop();
    const second = await receivableOf(user);
    const unused = await receivableOf(user);
    const made: string[] = [];
    // Most are for both receivables, in either order; the last are only for the first.
    for (let i = 0; i < 7; i++) {
      const against = i > 4 ? [receivable] : i % 2 ? [receivable, second] : [second, receivable];
      made.push(done(await act(user, 'REST', 'create', bodyOf(partner, against, { amount: '1.00' }))).id);
      if (i === 2) await advance(user, 60);
    }
    done(await act(user, 'REST', 'cancel', {}, made[1]!));
    done(await act(user, 'REST', 'cancel', {}, made[6]!));
    const page = async (args: string) => {
      const { data, errors } = (
        await user.graph(
          `{ receivables { nodes { id checkouts${args} { totalCount nodes { id } edges { cursor } pageInfo { ` +
            'hasNextPage hasPreviousPage startCursor endCursor } } } } }',
        )
      ).body;
      expect(errors).toBeUndefined();
      const { nodes } = data.receivables;
      return (id: string) => nodes.find((node: Json) => node.id === id).checkouts;
    };
    const of = (all: string[], from: number, to: number, count = all.length) => {
      const ids = all.slice(from, to);
      return {
        totalCount: count,
        nodes: ids.map((id) => ({ id })),
        edges: ids.map((cursor) => ({ cursor })),
        pageInfo: {
          hasNextPage: to < all.length,
          hasPreviousPage: from > 0,
          startCursor: ids.at(0) ?? null,
          endCursor: ids.at(-1) ?? null,
        },
      };
    };
    const newest = made.toReversed();
    const both = newest.slice(2);

    const whole = await page('');
    expect([whole(receivable), whole(second), whole(unused)]).toEqual([of(newest, 0, 7), of(both, 0, 5), of([], 0, 0)]);
    // A cursor is any visible checkout, also one that is not for this receivable.
    for (let at = 0; at < newest.length; at++) {
      const on = await page(`(first: 2, after: "${newest[at]}")`);
      expect(on(receivable).nodes).toEqual(of(newest, at + 1, at + 3).nodes);
      expect(on(receivable).pageInfo.hasNextPage).toBe(at + 3 < 7);
      expect(on(second).nodes).toEqual(of(both, Math.max(at - 1, 0), Math.max(at + 1, 2)).nodes);
      const back = await page(`(last: 2, before: "${newest[at]}")`);
      expect(back(receivable).nodes).toEqual(of(newest, Math.max(at - 2, 0), at).nodes);
      expect(back(receivable).pageInfo.hasPreviousPage).toBe(at > 2);
      expect(back(receivable).pageInfo.hasNextPage).toBe(true);
    }
    const oldest = await page('(last: 3)');
    expect([oldest(receivable), oldest(second)]).toEqual([of(newest, 4, 7), of(both, 2, 5)]);
    const cancelled = await page('(status: [CANCELLED], first: 1)');
    expect(cancelled(receivable)).toEqual(of([made[6]!, made[1]!], 0, 1));
    expect(cancelled(second)).toEqual(of([made[1]!], 0, 1));
    const { created } = await look(user, made[3]!);
    const since = await page(`(created: { gte: "${new Date(created * 1000).toISOString()}" })`);
    expect([since(receivable), since(second)]).toEqual([of(newest.slice(0, 4), 0, 4), of(both.slice(0, 2), 0, 2)]);
    const none = await user.graph(
      `{ receivable(id: "${receivable}") { checkouts(after: "${unknown('checkout')}") { nodes { id } } } }`,
    );
    expect(none.fieldNames).toEqual(['checkout.starting_after']);
  });
});

describe('a checkout of another account', () => {
  it('is visible to no other tenant, other user of the platform, or other mode, in any request', async () => {
    const { test: platform, live } = await given.platformBoth(2);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const stranger = await given.platform(2);
    const [{ id: partner }, receivable] = [await user.partner(), await receivableOf(user)];
    const { id } = done(await act(user, 'REST', 'create', bodyOf(partner, [receivable])));
    const { effective_transaction: effective } = done(await act(user, 'REST', 'decline', {}, id));
    const before = await look(user, id);

    for (const speaker of [stranger, other, platform.actingFor(other.id), live]) {
      const asked = async (about: string, transaction: string) => [
        await speaker.get(`/v1/checkouts/${about}`),
        await speaker.get(`/v1/transactions/${transaction}`),
        await speaker.post(`/v1/checkouts/${about}/cancel`),
        ...(speaker === live
          ? []
          : await Promise.all(
              ['pay', 'decline', 'expire'].map((verb) => speaker.post(`/v1/test_helpers/checkouts/${about}/${verb}`)),
            )),
      ];
      const [foreign, invented] = [
        await asked(id, effective.id),
        await asked(unknown('checkout'), unknown('transaction')),
      ];
      expect(foreign.map((r) => r.status)).toEqual(foreign.map(() => 404));
      expect(foreign.map((r) => r.body)).toEqual(invented.map((r) => r.body));
      for (const query of ['', `?account_id=${user.id}`, `?account_id=${partner}`])
        expect((await speaker.get(`/v1/checkouts${query}`)).body.data).toEqual([]);
      const { data } = (
        await speaker.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id, effective.id] })
      ).body;
      expect(data.nodes).toEqual([null, null]);
    }
    expect(await look(user, id)).toEqual(before);
    // The user, its platform, and the platform on its behalf see the same checkout.
    for (const speaker of [user, platform, platform.actingFor(user.id)]) {
      expect(await look(speaker, id)).toEqual(before);
      expect((await speaker.get('/v1/checkouts')).body.data).toEqual([before]);
      expect((await speaker.get(`/v1/checkouts?account_id=${partner}`)).body.data).toEqual([before]);
      expect((await speaker.get(`/v1/transactions/${effective.id}`)).status).toBe(200);
    }
  });
});

describe('Edition 1', () => {
  it('has no checkouts: each path and each root field is 404, well-formed or not, and the list is empty', async () => {
    const user = await given.directUser(1);
    const c = unknown('checkout');
    const replies = await Promise.all([
      user.post('/v1/checkouts', bodyOf(unknown('account'), [unknown('receivable')])),
      user.post('/v1/checkouts', { nonsense: 1 }),
      user.post('/v1/checkouts', '{'),
      user.get('/v1/checkouts'),
      user.get('/v1/checkouts?limit=99'),
      user.get(`/v1/checkouts/${c}`),
      user.post(`/v1/checkouts/${c}/cancel`),
      user.get(`/v1/transactions/${unknown('transaction')}`),
      ...['pay', 'decline', 'expire'].map((verb) => user.post(`/v1/test_helpers/checkouts/${c}/${verb}`)),
    ]);
    expect(replies.map((r) => [r.status, r.codes])).toEqual(replies.map(() => [404, ['route_missing']]));
    const mutations = (['create', 'cancel', 'pay', 'decline', 'expire'] as const).map((operation) =>
      act(
        user,
        'GraphQL',
        operation,
        operation === 'create' ? bodyOf(c, [c]) : {},
        operation === 'create' ? undefined : c,
      ),
    );
    const queries = [`checkout(id: "${c}") { id }`, `transaction(id: "${c}") { id }`];
    for (const reply of [
      ...(await Promise.all(mutations)),
      ...(await Promise.all(queries.map((q) => user.graph(`{ ${q} }`)))),
    ])
      expect([reply.body.errors[0].extensions.httpStatus, reply.codes]).toEqual([404, ['route_missing']]);
    const list = await user.graph('{ checkouts { nodes { id } pageInfo { hasNextPage } } }');
    expect(list.body.data).toEqual({ checkouts: { nodes: [], pageInfo: { hasNextPage: false } } });
  });
});
