import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import {
  givenIn,
  inputTypeOf,
  must,
  nickname,
  payoutAddress,
  type Reply,
  type Speaker,
  statementsWaiting,
  type Transport,
  transports,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const unknown = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;
const pdf = new TextEncoder().encode('%PDF-1.4\n%%EOF\n');

const bodyOf = (more: object = {}, invoice: object = {}) => ({
  currency: 'USD',
  invoice: {
    amount: '100.00',
    creation_date: '2026-10-01',
    currency: 'USD',
    due_date: '2026-12-01',
    reference_number: 'INV-7',
    ...invoice,
  },
  purpose_code: 'P0802',
  transaction_type: 'services',
  ...more,
});

const camel = (name: string) => name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
function inputOf(body: object): object {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (name === 'transaction_type' && typeof value === 'string') return [camel(name), value.toUpperCase()];
      const hash = typeof value === 'object' && value !== null && name !== 'metadata';
      return [camel(name), hash ? inputOf(value) : value];
    }),
  );
}

interface Answer extends Reply {
  /** The receivable of the response, in the format of /v1. */
  receivable: any;
}

async function ask(
  speaker: Speaker,
  transport: Transport,
  [path, mutation]: [path: string, mutation: string],
  body: object,
  id?: string,
): Promise<Answer> {
  if (transport === 'REST') {
    const reply = await speaker.post(path, body);
    return { ...reply, receivable: reply.body };
  }
  const type = inputTypeOf(mutation);
  const reply = await speaker.graph(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { receivable {
      id status amountLocked amountMaximumReconcilable amountReconcilable description metadata purposeCodeDescription
    } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
  );
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  const made = reply.body.data?.[mutation]?.receivable;
  if (!made) return { ...reply, status, receivable: undefined };
  const receivable = (await speaker.get(`/v1/receivables/${made.id}`)).body;
  // The response of the mutation must equal a later read.
  expect(made).toEqual({
    id: receivable.id,
    status: receivable.status.toUpperCase(),
    amountLocked: receivable.amount_locked,
    amountMaximumReconcilable: receivable.amount_maximum_reconcilable,
    amountReconcilable: receivable.amount_reconcilable,
    description: receivable.description,
    metadata: receivable.metadata,
    purposeCodeDescription: receivable.purpose_code_description,
  });
  return { ...reply, status, receivable };
}

const create = (speaker: Speaker, transport: Transport, body: object) =>
  ask(speaker, transport, ['/v1/receivables', 'createReceivable'], body);
const update = (speaker: Speaker, transport: Transport, id: string, body: object) =>
  ask(speaker, transport, [`/v1/receivables/${id}`, 'updateReceivable'], body, id);
const withdraw = (speaker: Speaker, transport: Transport, id: string) =>
  ask(speaker, transport, [`/v1/receivables/${id}/void`, 'voidReceivable'], {}, id);

async function created(speaker: Speaker, more: object = {}, invoice: object = {}): Promise<any> {
  const reply = await speaker.post('/v1/receivables', bodyOf(more, invoice));
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body;
}

/** Deposits the amount and counts it towards the receivable. */
async function locked(user: Speaker, receivable: { id: string }, amount: string): Promise<string> {
  const deposit = (await user.post('/v1/deposits', { amount, currency: 'USD' })).body;
  expect((await user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`)).status).toBe(200);
  const receivables = [{ id: receivable.id, amount }];
  expect((await user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables })).status).toBe(200);
  return deposit.id;
}

/** Pays out the available money, and settles the payout. */
async function paidOut(user: Speaker): Promise<void> {
  await payoutAddress(user);
  await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
  await world.database.call('run_jobs', [user.id.replace('account_', ''), false, 50]);
  const [payout] = (await user.get('/v1/payouts?status=processing')).body.data;
  expect((await user.post(`/v1/test_helpers/payouts/${payout.id}/settle`)).status).toBe(200);
}

describe.each(transports)('creating a receivable over %s', (transport) => {
  it('returns all that was sent and all that follows from it', async () => {
    const user = await given.directUser(1);

    const { status, receivable } = await create(
      user,
      transport,
      bodyOf({ description: 'October', metadata: { crm: '42' }, amount_maximum_reconcilable: '80.00' }),
    );

    expect(status).toBe(200);
    expect(receivable).toEqual({
      id: expect.stringMatching(/^receivable_[0-9a-f]{32}$/),
      object: 'receivable',
      created: expect.any(Number),
      livemode: false,
      account_id: user.id,
      currency: 'USD',
      amount_locked: '0.00',
      amount_maximum_reconcilable: '80.00',
      amount_reconcilable: '80.00',
      amount_settled_payouts: '0.00',
      deposit_ids_amount_locked: [],
      description: 'October',
      invoice: {
        amount: '100.00',
        creation_date: '2026-10-01',
        currency: 'USD',
        document: null,
        due_date: '2026-12-01',
        reference_number: 'INV-7',
      },
      purpose_code: 'P0802',
      purpose_code_description: expect.stringMatching(/software/i),
      transaction_type: 'services',
      status: 'open',
      system_message: [],
      metadata: { crm: '42' },
    });
    expect((await user.get(`/v1/receivables/${receivable.id}`)).body).toEqual(receivable);
  });

  it('takes the amount of the invoice as the maximum, and no metadata for {} and no description for null', async () => {
    const user = await given.directUser(1);
    const { receivable } = await create(user, transport, bodyOf({ transaction_type: 'goods', purpose_code: 'P0102' }));
    expect(receivable).toMatchObject({
      ...{ amount_maximum_reconcilable: '100.00', amount_reconcilable: '100.00' },
      ...{ metadata: {}, description: null, transaction_type: 'goods', purpose_code: 'P0102' },
    });
  });

  const required = ['currency', 'invoice', 'purpose_code', 'transaction_type'];
  const ofInvoice = ['amount', 'creation_date', 'currency', 'due_date', 'reference_number'];

  it('reports all missing parameters of the receivable and of its invoice', async () => {
    const user = await given.directUser(1);
    const none = await create(user, transport, { description: 'x' });
    expect([none.status, new Set(none.codes), none.fieldNames.toSorted()]).toEqual([
      400,
      new Set(['parameter_missing']),
      required.map((name) => `receivable.${name}`),
    ]);
    const bare = await create(user, transport, { ...bodyOf(), invoice: { document: null } });
    expect([bare.status, new Set(bare.codes), bare.fieldNames.toSorted()]).toEqual([
      400,
      new Set(['parameter_missing']),
      ofInvoice.map((name) => `receivable.invoice.${name}`),
    ]);
  });

  it.each([...required, ...ofInvoice.map((name) => `invoice.${name}`)])(
    'requires %s, and refuses null',
    async (name) => {
      const user = await given.directUser(1);
      const [outer, inner] = name.split('.') as [string, string?];
      const without = (value: unknown) => (inner ? bodyOf({}, { [inner]: value }) : { ...bodyOf(), [outer]: value });

      for (const [value, code] of [
        [undefined, 'parameter_missing'],
        [null, 'parameter_invalid_empty'],
      ] as const) {
        const reply = await create(user, transport, without(value));
        expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`receivable.${name}`]]);
      }
    },
  );

  const bad: [name: string, values: unknown[]][] = [
    ['currency', ['EUR', 'usd', 'XXX', 'US']],
    ['purpose_code', ['P9999', 'p0802', 'software']],
    ['transaction_type', ['both']],
    ['amount_maximum_reconcilable', ['0.00', '-1.00', '1.5', '1e2']],
    ['invoice.amount', ['0.00', '-1.00', '1.5', '1e2', '12345678901234.00']],
    ['invoice.creation_date', ['2026-02-30', '2026-10-01T00:00:00Z', '01.10.2026', 'today']],
    ['invoice.due_date', ['2026-13-01', '20261201']],
  ];
  it.each(bad)('refuses an invalid %s, and names it', async (name, values) => {
    const user = await given.directUser(1);
    const [outer, inner] = name.split('.') as [string, string?];
    for (const value of values) {
      const reply = await create(user, transport, inner ? bodyOf({}, { [inner]: value }) : bodyOf({ [outer]: value }));
      expect([value, reply.status, reply.codes, reply.fieldNames]).toEqual([
        value,
        400,
        ['parameter_invalid'],
        [`receivable.${name}`],
      ]);
    }
    expect((await user.get('/v1/receivables')).body.data).toEqual([]);
  });

  it('refuses an invoice with a due date before its creation date, and accepts equal dates', async () => {
    const user = await given.directUser(1);
    const reply = await create(user, transport, bodyOf({}, { creation_date: '2026-10-02', due_date: '2026-10-01' }));
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['receivable.invoice.due_date'],
    ]);
    expect((await user.get('/v1/receivables')).body.data).toEqual([]);
    const same = await create(user, transport, bodyOf({}, { creation_date: '2026-10-02', due_date: '2026-10-02' }));
    expect([same.status, same.receivable.invoice.due_date]).toEqual([200, '2026-10-02']);
  });

  it('requires whole amounts in a currency without a minor unit', async () => {
    const user = await given.directUser(1);
    const { receivable } = await create(
      user,
      transport,
      bodyOf({ currency: 'JPY', amount_maximum_reconcilable: '1000' }, { currency: 'JPY', amount: '1500.00' }),
    );
    expect([receivable.invoice.amount, receivable.amount_reconcilable]).toEqual(['1500.00', '1000.00']);

    const reply = await create(
      user,
      transport,
      bodyOf({ currency: 'JPY', amount_maximum_reconcilable: '1000.50' }, { currency: 'JPY', amount: '1500.10' }),
    );
    expect([reply.status, reply.codes, reply.fieldNames.toSorted()]).toEqual([
      400,
      ['parameter_invalid', 'parameter_invalid'],
      ['receivable.amount_maximum_reconcilable', 'receivable.invoice.amount'],
    ]);
    const raised = await update(user, transport, receivable.id, { amount_maximum_reconcilable: '1000.01' });
    expect([raised.status, raised.fieldNames]).toEqual([400, ['receivable.amount_maximum_reconcilable']]);
  });

  it('refuses a maximum above the amount of the invoice', async () => {
    const user = await given.directUser(1);
    const reply = await create(user, transport, bodyOf({ amount_maximum_reconcilable: '100.01' }));
    expect([reply.status, reply.fieldNames]).toEqual([402, ['receivable.amount_maximum_reconcilable']]);
  });

  it('takes an invoice file as its document, and neither another file nor one of another tenant', async () => {
    const [user, stranger] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const [invoice, tax, foreign] = await Promise.all([
      user.upload('invoice', pdf),
      user.upload('tax_document', pdf),
      stranger.upload('invoice', pdf),
    ]);
    expect([invoice, tax, foreign].map((r) => r.status)).toEqual([200, 200, 200]);

    const { receivable } = await create(user, transport, bodyOf({}, { document: invoice.body.id }));
    expect(receivable.invoice.document).toBe(invoice.body.id);
    const other = await create(user, transport, bodyOf({}, { document: tax.body.id }));
    expect([other.status, other.codes, other.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['receivable.invoice.document'],
    ]);
    for (const id of [foreign.body.id, unknown('file')]) {
      const reply = await create(user, transport, bodyOf({}, { document: id }));
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        404,
        ['resource_missing'],
        ['receivable.invoice.document'],
      ]);
    }
  });

  it('works for users and platforms in the visibility, and never for partners', async () => {
    const platform = await given.platform(1);
    const [user, other, stranger] = await Promise.all([
      platform.connectedUser(),
      platform.connectedUser(),
      given.directUser(1),
    ]);
    const partner = await user.partner();

    for (const [speaker, account_id, owner] of [
      [platform, undefined, platform.id],
      [platform, user.id, user.id],
      [platform.actingFor(user.id), undefined, user.id],
      [user, user.id, user.id],
    ] as const) {
      const { status, receivable } = await create(speaker, transport, bodyOf(account_id ? { account_id } : {}));
      expect([status, receivable.account_id]).toEqual([200, owner]);
    }
    for (const [speaker, account_id, status, code] of [
      [user, partner.id, 400, 'account_type_invalid'],
      [platform, partner.id, 400, 'account_type_invalid'],
      [user, platform.id, 404, 'resource_missing'],
      [user, other.id, 404, 'resource_missing'],
      [user, stranger.id, 404, 'resource_missing'],
      [platform, stranger.id, 404, 'resource_missing'],
      [platform, unknown('account'), 404, 'resource_missing'],
    ] as const) {
      const reply = await create(speaker, transport, bodyOf({ account_id }));
      expect([account_id, reply.status, reply.codes, reply.fieldNames]).toEqual([
        account_id,
        status,
        [code],
        ['receivable.account_id'],
      ]);
    }
  });

  it('requires an activated account in live mode', async () => {
    const { account, live, test } = await given.directUserBoth(1);
    const refused = await create(live, transport, bodyOf());
    expect([refused.status, refused.codes, refused.fieldNames]).toEqual([
      400,
      ['status_invalid'],
      ['receivable.account_id'],
    ]);
    if (transport === 'GraphQL') expect(refused.body.errors[0].extensions.argumentPath).toEqual(['input', 'accountId']);

    const row = await world.operator.account(account.id, true);
    await world.operator.verify(row, 'activated');
    const made = await create(live, transport, bodyOf());
    expect([made.status, made.receivable.livemode]).toEqual([200, true]);
    expect((await test.get(`/v1/receivables/${made.receivable.id}`)).status).toBe(404);

    await world.operator.hold(row);
    expect((await create(live, transport, bodyOf())).codes).toEqual(['status_invalid']);
  });

  it('is refused in live mode also when the account is put on hold at the same time', async () => {
    const { account, live } = await given.directUserBoth(1);
    const row = await world.operator.account(account.id, true);
    await world.operator.verify(row, 'activated');
    let creation: ReturnType<typeof create> | undefined;
    await world.sql.begin(async (sql) => {
      const move = JSON.stringify({ id: row.id, from: ['activated'], to: 'hold' });
      await sql`select move_account(${row.tenantId}, true, '{}', ${move}::text::jsonb)`;
      creation = create(live, transport, bodyOf());
      await Promise.race([creation, statementsWaiting(world, 1)]);
    });
    expect((await creation)?.codes).toEqual(['status_invalid']);
    expect(await world.sql`select id from receivable where tenant_id = ${row.tenantId} and livemode`).toEqual([]);
  });

  it('refuses a key that may only read', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const key = await user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const reader = user.using(key.body.data.createApiKey.secret);
    for (const reply of [
      await create(reader, transport, bodyOf()),
      await update(reader, transport, made.id, { description: 'x' }),
      await withdraw(reader, transport, made.id),
    ])
      expect([reply.status, reply.codes]).toEqual([403, ['permission_denied']]);
    expect((await reader.get(`/v1/receivables/${made.id}`)).body).toEqual(made);
  });
});

it('shows the keys of a receivable in the order of the specification', async () => {
  const user = await given.directUser(2);
  const made = await created(user, { currency: 'INR' }, { currency: 'INR' });
  expect(Object.keys(made)).toEqual(
    (
      'id object created livemode account_id currency amount_locked amount_maximum_reconcilable ' +
      'amount_reconcilable amount_settled_payouts deposit_ids_amount_locked description invoice purpose_code ' +
      'purpose_code_description transaction_type status system_message metadata'
    ).split(' '),
  );
  expect(Object.keys(made.invoice)).toEqual(
    'amount creation_date currency document due_date reference_number'.split(' '),
  );
});

it('refuses unknown parameters, also those that only the service sets', async () => {
  const user = await given.directUser(1);
  const reply = await user.post('/v1/receivables', bodyOf({ status: 'settled', amount_locked: '1.00' }, { tax: '1' }));
  expect([reply.status, new Set(reply.codes), reply.fieldNames.toSorted()]).toEqual([
    400,
    new Set(['parameter_unknown']),
    ['receivable.amount_locked', 'receivable.invoice.tax', 'receivable.status'],
  ]);
  const made = await created(user);
  const changed = await user.post(`/v1/receivables/${made.id}`, {
    currency: 'EUR',
    invoice: { amount: '1.00' },
    purpose_code: 'P0801',
    status: 'void',
  });
  expect([changed.status, changed.fieldNames.toSorted()]).toEqual([
    400,
    ['receivable.currency', 'receivable.invoice', 'receivable.purpose_code', 'receivable.status'],
  ]);
});

describe.each(transports)('updating a receivable over %s', (transport) => {
  it('returns the complete receivable, with only the sent fields changed', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { description: 'October', metadata: { a: '1', b: '2' } });

    const described = await update(user, transport, made.id, { description: 'November' });
    expect([described.status, described.receivable]).toEqual([200, { ...made, description: 'November' }]);
    const merged = await update(user, transport, made.id, { metadata: { a: '', c: '3' } });
    expect(merged.receivable).toEqual({ ...made, description: 'November', metadata: { b: '2', c: '3' } });
    const unset = await update(user, transport, made.id, { metadata: null, description: null });
    expect(unset.receivable).toEqual({ ...made, description: null, metadata: {} });
    const nothing = await update(user, transport, made.id, {});
    expect([nothing.status, nothing.receivable]).toEqual([200, unset.receivable]);
  });

  // The project's choice where the specification is silent: an empty text unsets an optional parameter, as null does.
  it('unsets the description with an empty text', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { description: 'October' });
    expect((await update(user, transport, made.id, { description: '' })).receivable.description).toBeNull();
  });

  it('applies the limits of metadata to the merged result', async () => {
    const user = await given.directUser(1);
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'v']));
    const made = await created(user, { metadata: ten });
    const eleventh = await update(user, transport, made.id, { metadata: { more: 'v' } });
    expect([eleventh.status, eleventh.codes, eleventh.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['receivable.metadata'],
    ]);
    const swapped = await update(user, transport, made.id, { metadata: { k0: null, more: 'v' } });
    expect(Object.keys(swapped.receivable.metadata)).toHaveLength(10);
    const long = await update(user, transport, made.id, { metadata: { ['k'.repeat(41)]: 'v', k1: 'v'.repeat(501) } });
    expect([long.status, long.fieldNames.toSorted()]).toEqual([
      400,
      [`receivable.metadata.${'k'.repeat(41)}`, 'receivable.metadata.k1'].toSorted(),
    ]);
  });

  it('raises the maximum up to the invoice, and lowers it down to what is locked and settled', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { amount_maximum_reconcilable: '50.00' });
    const to = (amount: string) => update(user, transport, made.id, { amount_maximum_reconcilable: amount });

    const raised = await to('100.00');
    expect([raised.status, raised.receivable.amount_reconcilable]).toEqual([200, '100.00']);
    const beyond = await to('100.01');
    expect([beyond.status, beyond.codes, beyond.fieldNames]).toEqual([
      402,
      ['amount_exceeds_reconcilable'],
      ['receivable.amount_maximum_reconcilable'],
    ]);

    // 20.00 settled and 10.00 locked.
    await locked(user, made, '20.00');
    await paidOut(user);
    const deposit = await locked(user, made, '10.00');
    const below = await to('29.99');
    expect([below.status, below.codes, below.fieldNames]).toEqual([
      402,
      ['amount_exceeds_reconcilable'],
      ['receivable.amount_maximum_reconcilable'],
    ]);
    const lowered = await to('30.00');
    expect(lowered.receivable).toEqual({
      ...made,
      ...{ amount_maximum_reconcilable: '30.00', amount_reconcilable: '0.00' },
      ...{ amount_locked: '10.00', amount_settled_payouts: '20.00' },
      ...{ deposit_ids_amount_locked: [deposit], status: 'locked' },
    });
    expect((await to('30.01')).receivable.status).toBe('open');
  });

  it('refuses a maximum that is not an amount', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    for (const [amount, code] of [
      ['0.00', 'parameter_invalid'],
      ['-1.00', 'parameter_invalid'],
      ['1.5', 'parameter_invalid'],
      [null, 'parameter_invalid_empty'],
    ] as const) {
      const reply = await update(user, transport, made.id, { amount_maximum_reconcilable: amount });
      expect([amount, reply.status, reply.codes, reply.fieldNames]).toEqual([
        amount,
        400,
        [code],
        ['receivable.amount_maximum_reconcilable'],
      ]);
    }
  });

  it('names a wrong maximum beside other wrong parameters, before the receivable is looked for', async () => {
    const user = await given.directUser(1);
    for (const amount of ['0.00', null]) {
      const changes = { amount_maximum_reconcilable: amount, description: 'a'.repeat(5_001) };
      const { status, fieldNames } = await update(user, transport, unknown('receivable'), changes);
      expect([status, fieldNames.toSorted()]).toEqual([
        400,
        ['receivable.amount_maximum_reconcilable', 'receivable.description'],
      ]);
    }
  });

  it('returns 404 to other tenants, and so does the void', async () => {
    const platform = await given.platform(1);
    const [user, other, stranger] = await Promise.all([
      platform.connectedUser(),
      platform.connectedUser(),
      given.directUser(1),
    ]);
    const made = await created(user);
    for (const [speaker, id] of [
      [other, made.id],
      [stranger, made.id],
      [user, unknown('receivable')],
    ] as const) {
      for (const reply of [
        await update(speaker, transport, id, { description: 'x' }),
        await withdraw(speaker, transport, id),
      ])
        expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['receivable.id']]);
      expect((await speaker.get(`/v1/receivables/${id}`)).status).toBe(404);
    }
    const byPlatform = await update(platform, transport, made.id, { description: 'x' });
    expect([byPlatform.status, byPlatform.receivable]).toEqual([200, { ...made, description: 'x' }]);
  });

  it('loses no metadata key when many requests update at once', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const keys = Array.from({ length: 10 }, (_, i) => `k${i}`);
    const mutation =
      'mutation ($input: UpdateReceivableInput!) { updateReceivable(input: $input) { receivable { id } } }';
    await Promise.all(
      keys.map((key) =>
        transport === 'REST'
          ? user.post(`/v1/receivables/${made.id}`, { metadata: { [key]: key } })
          : user.graph(mutation, { input: { id: made.id, metadata: { [key]: key } } }),
      ),
    );
    expect((await user.get(`/v1/receivables/${made.id}`)).body.metadata).toEqual(
      Object.fromEntries(keys.map((key) => [key, key])),
    );
  });

  it('never lowers the maximum below a lock that is made at the same time', async () => {
    const user = await given.directUser(1);
    for (let round = 0; round < 5; round++) {
      const made = await created(user);
      const deposit = (await user.post('/v1/deposits', { amount: '60.00', currency: 'USD' })).body;
      await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
      const receivables = [{ id: made.id, amount: '60.00' }];

      const [lock, lower] = await Promise.all([
        user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }),
        update(user, transport, made.id, { amount_maximum_reconcilable: '50.00' }),
      ]);

      expect([lock.status, lower.status].toSorted()).toEqual([200, 402]);
    }
  });
});

describe.each(transports)('the status of a receivable over %s', (transport) => {
  it('is open, locked when nothing can be reconciled any more, and settled when all of it is paid out', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const look = async () => {
      const r = (await user.get(`/v1/receivables/${made.id}`)).body;
      return [
        r.status,
        r.amount_locked,
        r.amount_settled_payouts,
        r.amount_reconcilable,
        r.deposit_ids_amount_locked.toSorted(),
      ];
    };
    expect(await look()).toEqual(['open', '0.00', '0.00', '100.00', []]);
    const first = await locked(user, made, '99.99');
    expect(await look()).toEqual(['open', '99.99', '0.00', '0.01', [first]]);
    const second = await locked(user, made, '0.01');
    expect(await look()).toEqual(['locked', '100.00', '0.00', '0.00', [first, second].toSorted()]);
    // A dispute opens it again; another deposit replaces the disputed one.
    await must(user.post(`/v1/test_helpers/deposits/${second}/dispute`, {}));
    expect(await look()).toEqual(['open', '99.99', '0.00', '0.01', [first]]);
    const third = await locked(user, made, '0.01');
    expect(await look()).toEqual(['locked', '100.00', '0.00', '0.00', [first, third].toSorted()]);
    await paidOut(user);
    expect(await look()).toEqual(['settled', '0.00', '100.00', '0.00', []]);

    // It has been paid, so it can neither be withdrawn nor take more.
    const voided = await withdraw(user, transport, made.id);
    expect([voided.status, voided.codes]).toEqual([400, ['status_invalid']]);
    expect(await look()).toEqual(['settled', '0.00', '100.00', '0.00', []]);
  });

  it('is settled too when the maximum is lowered to what was paid out', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    await locked(user, made, '40.00');
    await paidOut(user);
    expect((await user.get(`/v1/receivables/${made.id}`)).body.status).toBe('open');
    const { receivable } = await update(user, transport, made.id, { amount_maximum_reconcilable: '40.00' });
    expect([receivable.status, receivable.amount_settled_payouts]).toEqual(['settled', '40.00']);
  });

  it('is void after it is withdrawn with nothing locked or settled, once and permanently', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { description: 'October' });

    const first = await withdraw(user, transport, made.id);

    const { amount_reconcilable: _, ...rest } = made;
    expect([first.status, first.receivable]).toEqual([200, expect.objectContaining({ ...rest, status: 'void' })]);
    const again = await withdraw(user, transport, made.id);
    expect([again.status, again.codes]).toEqual([400, ['status_invalid']]);
    const raised = await update(user, transport, made.id, { amount_maximum_reconcilable: '50.00' });
    expect([raised.status, raised.codes]).toEqual([400, ['status_invalid']]);
    const described = await update(user, transport, made.id, { description: 'kept' });
    expect([described.status, described.receivable.description]).toEqual([200, 'kept']);
  });

  it('is not void while something is locked, and can be after a dispute has freed it', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const deposit = await locked(user, made, '0.01');
    const refused = await withdraw(user, transport, made.id);
    expect([refused.status, refused.codes]).toEqual([400, ['status_invalid']]);
    await must(user.post(`/v1/test_helpers/deposits/${deposit}/reverse`, {}));
    expect((await withdraw(user, transport, made.id)).receivable.status).toBe('void');
  });

  it('is either void or locked when both are requested at the same time', async () => {
    const user = await given.directUser(1);
    for (let round = 0; round < 5; round++) {
      const made = await created(user);
      const deposit = (await user.post('/v1/deposits', { amount: '10.00', currency: 'USD' })).body;
      await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
      const receivables = [{ id: made.id, amount: '10.00' }];

      const [lock, voided] = await Promise.all([
        user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }),
        withdraw(user, transport, made.id),
      ]);

      expect([lock.status, voided.status].toSorted()).toEqual([200, 400]);
      expect((await user.get(`/v1/receivables/${made.id}`)).body).toMatchObject(
        lock.status === 200 ? { status: 'open', amount_locked: '10.00' } : { status: 'void', amount_locked: '0.00' },
      );
    }
  });
});

describe('the list of receivables', () => {
  let platform: Speaker;
  let user: Speaker;
  let ids: Record<string, string>;
  beforeAll(async () => {
    platform = await given.platform(1);
    user = await platform.connectedUser();
    const make = async (more: object, invoice: object = {}) => (await created(user, more, invoice)).id as string;
    ids = {
      services: await make({}),
      goods: await make({ transaction_type: 'goods' }),
      euros: await make({ currency: 'EUR' }, { currency: 'EUR' }),
      voided: await make({}),
      platform: (await created(platform)).id,
    };
    await must(user.post(`/v1/receivables/${ids.voided}/void`));
  });

  const filters: [query: string, names: string[]][] = [
    ['', ['euros', 'goods', 'services', 'voided']],
    ['?status=open', ['euros', 'goods', 'services']],
    ['?status=void', ['voided']],
    ['?status=void&status=open', ['euros', 'goods', 'services', 'voided']],
    ['?status=settled,locked', []],
    ['?transaction_type=goods', ['goods']],
    ['?currency=EUR', ['euros']],
    ['?currency[]=EUR&currency[]=USD&status=open', ['euros', 'goods', 'services']],
    ['?created.gt=99999999999', []],
    ['?created.gte=1', ['euros', 'goods', 'services', 'voided']],
  ];
  it.each(filters)('of a user, filtered by "%s"', async (query, names) => {
    const reply = await user.get(`/v1/receivables${query}`);
    expect([reply.status, reply.body.object, reply.body.has_next]).toEqual([200, 'list', false]);
    expect(reply.body.data.map((r: any) => r.id).toSorted()).toEqual(names.map((name) => ids[name]!).toSorted());
  });

  it("shows a platform its own and its connected users', those of one by account_id, and others none", async () => {
    const idsOf = async (speaker: Speaker, query = '') =>
      (await speaker.get(`/v1/receivables${query}`)).body.data.map((r: any) => r.id).toSorted();
    const { platform: own, ...others } = ids;

    expect(await idsOf(platform)).toEqual(Object.values(ids).toSorted());
    expect(await idsOf(platform, `?account_id=${platform.id}`)).toEqual([own]);
    expect(await idsOf(platform, `?account_id=${user.id}`)).toEqual(Object.values(others).toSorted());
    expect(await idsOf(platform.actingFor(user.id))).toEqual(Object.values(others).toSorted());
    expect(await idsOf(user, `?account_id=${platform.id}`)).toEqual([]);
    expect(await idsOf(await given.directUser(1))).toEqual([]);
  });

  it('refuses invalid filters', async () => {
    for (const [query, field] of [
      ['?status=paid', 'status'],
      ['?transaction_type=both', 'transaction_type'],
      ['?currency=dollars', 'currency'],
      ['?limit=11', 'limit'],
      ['?colour=red', 'colour'],
      [`?starting_after=${unknown('receivable')}`, 'starting_after'],
    ] as const) {
      const reply = await user.get(`/v1/receivables${query}`);
      expect([query, reply.status, reply.fieldNames]).toEqual([query, 400, [`receivable.${field}`]]);
    }
  });

  it('pages without repeating or missing any', async () => {
    const speaker = await given.directUser(1);
    const made = new Set<string>();
    for (let n = 0; n < 7; n++) made.add((await created(speaker, {}, { reference_number: nickname() })).id);
    const seen: string[] = [];
    for (let path: string | undefined = '/v1/receivables?limit=3'; path; ) {
      const { body }: Reply = await speaker.get(path);
      seen.push(...body.data.map((r: any) => r.id));
      path = body.has_next ? `/v1/receivables?limit=3&starting_after=${seen.at(-1)}` : undefined;
    }
    expect([seen.length, new Set(seen)]).toEqual([7, made]);
  });
});
