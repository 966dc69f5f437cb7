import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { checkoutBody, unknownId } from '../support/bodies.js';
import {
  must,
  transports,
  givenIn,
  type Reply,
  Speaker,
  statementsWaiting,
  useWorld,
  withLiveAcquirer,
  tenantOf,
} from '../support/world.js';
import {
  act,
  checkoutsIn,
  day,
  done,
  eventsOf,
  funds,
  locksOf,
  look,
  one,
  pay,
  receivableOf,
  refusalOf,
  type Shop,
} from './checkout-fixture.js';
import { verifyAccount } from '../../src/operator/account/accounts.js';

// No worker, so that a checkout keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false, acquirers: withLiveAcquirer });
const given = givenIn(world);
const { shop } = checkoutsIn(world);

// Every write records its event: without a new event the ledger is unchanged.
auditLedger(world);

const keys =
  'id object type created expires_at livemode amount gross_amount currency from to payment_methods receivables ' +
  'redirect_url status effective_transaction metadata';

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

    const began = Math.floor(Date.now() / 1000);
    const reply = await act(
      user,
      transport,
      'create',
      checkoutBody(partner, [second, receivable], { metadata: { order: '7', 'Ümläut key': '{"a":1}' } }),
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
    expect(reply.checkout.created).toBeGreaterThanOrEqual(began);
    expect(reply.checkout.created).toBeLessThanOrEqual(Date.now() / 1000);
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
        checkoutBody(partner, [receivable], {
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
      const checkout = done(
        await act(user, transport, 'create', checkoutBody(partner, [receivable, second], { amount })),
      );
      expect(checkout.amount).toBe(Number(amount).toFixed(2));
    }
  });

  it('expires when its creator says, from half an hour to 30 days later', async () => {
    const { user, partner, receivable } = await shop();
    const create = (seconds: number) =>
      act(user, transport, 'create', checkoutBody(partner, [receivable], { expires_in_seconds: seconds }));
    for (const seconds of [1_800, 30 * day]) {
      const checkout = done(await create(seconds));
      expect(checkout.expires_at).toBe(checkout.created + seconds);
    }
    for (const seconds of [1_799, 30 * day + 1, 0, -1]) {
      const reply = await create(seconds);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        400,
        ['parameter_invalid'],
        ['checkout.expires_in_seconds'],
      ]);
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
      const reply = await act(user, transport, 'create', checkoutBody(partner, [receivable], more));
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
      const reply = await act(user, transport, 'create', checkoutBody(partner, [receivable], { [name]: value }));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', `checkout.${field}`));
    });

    it.each([
      [{ metadata: { ['k'.repeat(41)]: '1' } }, `metadata.${'k'.repeat(41)}`],
      [{ metadata: { a: 'v'.repeat(501) } }, 'metadata.a'],
      [{ metadata: { a: 1 } }, 'metadata.a'],
      [{ receivables: [{ id: ['a'] }] }, 'receivables[0].id'],
    ])('refuses %j, and names %s', async (more, field) => {
      const { user, partner, receivable } = s;
      const reply = await act(user, transport, 'create', checkoutBody(partner, [receivable], more));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', `checkout.${field}`));
    });

    it.each([
      ['gross_amount', { gross_amount: '60.00' }],
      ['to', { to: { account_id: unknownId('account') } }],
      ['expires_at', { expires_at: 1 }],
      ['from.address_id', { from: { account_id: unknownId('account'), address_id: unknownId('address') } }],
      ['receivables[0].amount', { receivables: [{ id: unknownId('receivable'), amount: '1.00' }] }],
    ])('knows no %s', async (field, more) => {
      const { user, partner, receivable } = s;
      const reply = await act(user, transport, 'create', checkoutBody(partner, [receivable], more));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_unknown', `checkout.${field}`));
    });

    it('names in one response every parameter that is wrong by itself', async () => {
      const { user, partner, receivable } = s;
      const reply = await act(
        user,
        transport,
        'create',
        checkoutBody(partner, [receivable, receivable], {
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
      const checkout = done(
        await act(user, transport, 'create', checkoutBody(partner, [receivable], { redirect_url })),
      );
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
      const refused = await act(user, transport, 'create', checkoutBody(partner, receivables, { amount: '1.00' }));
      expect(refusalOf(refused)).toEqual(one(400, 'parameter_invalid', 'checkout.receivables'));
    }
    await nothingStored(user);
    const { receivables } = done(
      await act(user, transport, 'create', checkoutBody(partner, more, { amount: '50.00' })),
    );
    expect(receivables).toEqual(more.map((id) => ({ id })));
  });

  it('returns 404 for an unknown receivable or partner, or one of another tenant, each by its name', async () => {
    const [{ user, partner, receivable }, outsider] = await Promise.all([shop(), shop()]);
    const attempts: [string, string[], string[]][] = [
      [partner, [unknownId('receivable')], ['receivables[0].id']],
      [partner, [receivable, outsider.receivable], ['receivables[1].id']],
      [unknownId('account'), [receivable], ['from.account_id']],
      [outsider.partner, [receivable], ['from.account_id']],
      [outsider.user.id, [receivable], ['from.account_id']],
      // Ids of other objects.
      [receivable, [partner], ['from.account_id', 'receivables[0].id']],
      [
        outsider.partner,
        [outsider.receivable, receivable, 'x'],
        ['from.account_id', 'receivables[0].id', 'receivables[2].id'],
      ],
    ];
    for (const [from, receivables, fields] of attempts) {
      const reply = await act(user, transport, 'create', checkoutBody(from, receivables));
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

    const reply = await act(
      user,
      transport,
      'create',
      checkoutBody(partner, [receivable, voided, locked, settled, dollars]),
    );

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

    const two = await act(platform, transport, 'create', checkoutBody(partner.id, [mine, theirs], { amount: '5.00' }));
    expect(refusalOf(two)).toEqual(one(400, 'parameter_invalid', 'checkout.receivables[1].id'));
    const platforms = await act(platform, transport, 'create', checkoutBody(ofPlatform.id, [own], { amount: '5.00' }));
    expect(refusalOf(platforms)).toEqual(one(400, 'account_type_invalid', 'checkout.receivables[0].id'));
    await nothingStored(platform);
  });

  it('refuses every payer except a partner of the user that is paid', async () => {
    const platform = await given.platform(2);
    const [first, second] = [await platform.connectedUser(), await platform.connectedUser()];
    const receivable = await receivableOf(platform, '100.00', { account_id: first.id });
    const [partner, other, ofPlatform] = [await first.partner(), await second.partner(), await platform.partner()];

    for (const { id } of [other, ofPlatform, first, second, platform]) {
      const reply = await act(platform, transport, 'create', checkoutBody(id, [receivable]));
      expect(refusalOf(reply)).toEqual(one(400, 'parameter_invalid', 'checkout.from.account_id'));
    }
    // A connected user cannot see the others.
    for (const { id } of [other, ofPlatform, second, platform]) {
      const reply = await act(first, transport, 'create', checkoutBody(id, [receivable]));
      expect(refusalOf(reply)).toEqual(one(404, 'resource_missing', 'checkout.from.account_id'));
    }
    await nothingStored(platform);
    // The platform, the platform for its user, and the user itself create the same.
    for (const speaker of [platform, platform.actingFor(first.id), first]) {
      const { to } = done(await act(speaker, transport, 'create', checkoutBody(partner.id, [receivable])));
      expect(to).toEqual({ account_id: first.id });
    }
  });

  it.each(['hold', 'deactivated'] as const)('refuses a partner whose status is %s', async (status) => {
    const { user, partner, receivable } = await shop();
    expect((await user.post(`/v1/accounts/${partner}/activate`)).status).toBe(200);
    const helper = status === 'hold' ? 'hold' : 'deactivate';
    expect((await user.post(`/v1/test_helpers/accounts/${partner}/${helper}`)).body.status).toBe(status);
    const reply = await act(user, transport, 'create', checkoutBody(partner, [receivable]));
    expect(refusalOf(reply)).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await nothingStored(user);
  });

  it('accepts in test mode a partner that is a draft, being verified or activated', async () => {
    const { user, partner, receivable } = await shop();
    done(await act(user, transport, 'create', checkoutBody(partner, [receivable])));
    expect((await user.post(`/v1/accounts/${partner}/activate`)).status).toBe(200);
    done(await act(user, transport, 'create', checkoutBody(partner, [receivable])));
    expect((await user.post(`/v1/test_helpers/accounts/${partner}/verify`)).status).toBe(200);
    done(await act(user, transport, 'create', checkoutBody(partner, [receivable])));
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
      creation = act(user, transport, 'create', checkoutBody(partner, [receivable]));
      await Promise.race([creation, statementsWaiting(world, 1)]);
    });
    const reply = await creation;
    expect([reply?.codes, reply?.fieldNames]).toEqual([[code], [field]]);
    await nothingStored(user);
  });

  it('requires an activated partner and https in live mode, where no test helper can pay', async () => {
    const { account, live } = await given.directUserBoth(2);
    await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const [{ id: partner }, receivable] = [await live.partner(), await receivableOf(live)];
    const draft = await act(live, transport, 'create', checkoutBody(partner, [receivable]));
    expect(refusalOf(draft)).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await must(live.post(`/v1/accounts/${partner}/activate`));
    const verifying = await act(live, transport, 'create', checkoutBody(partner, [receivable]));
    expect(refusalOf(verifying)).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await verifyAccount(world.operator, await world.operator.account(partner, true), 'activated');
    for (const redirect_url of ['http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/']) {
      const plain = await act(live, transport, 'create', checkoutBody(partner, [receivable], { redirect_url }));
      expect(refusalOf(plain)).toEqual(one(400, 'parameter_invalid', 'checkout.redirect_url'));
    }
    expect(await world.sql`select id from checkout where tenant_id = ${tenantOf(live)}`).toEqual([]);

    const checkout = done(await act(live, transport, 'create', checkoutBody(partner, [receivable])));

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
    await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const [{ id: partner }, receivable] = [await live.partner(), await receivableOf(live)];
    const origin = await world.another({});
    const create = (body: object, headers = {}) => act(live.at(origin), transport, 'create', body, undefined, headers);
    const body = checkoutBody(partner, [receivable]);
    expect(refusalOf(await create({ ...body, amount: '0.99' }))).toEqual(
      one(400, 'parameter_invalid', 'checkout.amount'),
    );
    const missing = unknownId('receivable');
    expect(refusalOf(await create(checkoutBody(partner, [missing])))).toEqual(
      one(404, 'resource_missing', 'checkout.receivables[0].id'),
    );
    expect(refusalOf(await create(body))).toEqual(one(400, 'status_invalid', 'checkout.from.account_id'));
    await must(live.post(`/v1/accounts/${partner}/activate`));
    await verifyAccount(world.operator, await world.operator.account(partner, true), 'activated');
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
    done(await act(test.at(origin), transport, 'create', checkoutBody(mine.id, [await receivableOf(test)])));
  });

  it('returns 402 above the amount of the receivables that is not locked by others', async () => {
    const { user, partner, receivable } = await shop();
    const second = await receivableOf(user, '50.00', { amount_maximum_reconcilable: '7.00' });
    const over = await act(
      user,
      transport,
      'create',
      checkoutBody(partner, [receivable, second], { amount: '107.01' }),
    );
    expect(refusalOf(over)).toEqual(one(402, 'amount_exceeds_reconcilable', 'checkout.amount'));
    await nothingStored(user);

    const first = done(await act(user, transport, 'create', checkoutBody(partner, [receivable], { amount: '99.99' })));
    // A checkout reserves nothing, so a second one may have the same amount.
    done(await act(user, transport, 'create', checkoutBody(partner, [receivable], { amount: '100.00' })));
    await pay(user, first.id);
    const late = await act(user, transport, 'create', checkoutBody(partner, [receivable], { amount: '1.00' }));
    expect(refusalOf(late)).toEqual(one(402, 'amount_exceeds_reconcilable', 'checkout.amount'));
  });

  it('returns the same response for the same Idempotency-Key, and refuses another request with it', async () => {
    const { user, partner, receivable } = await shop();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await act(user, transport, 'create', checkoutBody(partner, [receivable]), undefined, headers);
    const other = transport === 'REST' ? 'GraphQL' : 'REST';
    const again = await act(user, other, 'create', checkoutBody(partner, [receivable]), undefined, headers);
    expect([again.checkout, again.url, again.headers.get('idempotent-replayed')]).toEqual([
      first.checkout,
      first.url,
      'true',
    ]);
    const changed = await act(
      user,
      transport,
      'create',
      checkoutBody(partner, [receivable], { amount: '5' }),
      undefined,
      headers,
    );
    expect(refusalOf(changed)).toEqual(one(400, 'idempotency_key_reused', 'checkout.amount'));
    expect((await user.get('/v1/checkouts')).body.data).toHaveLength(1);
    expect(await eventsOf(user, first.checkout.id)).toEqual(['checkout.created']);
  });
});
