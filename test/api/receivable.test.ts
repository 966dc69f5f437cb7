import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { pdf, unknownId } from '../support/bodies.js';
import { givenIn, type Speaker, statementsWaiting, type Transport, transports, useWorld } from '../support/world.js';
import { ask, bodyOf, created, update, withdraw } from './receivable-fixture.js';
import { holdAccount, verifyAccount } from '../../src/operator/account/accounts.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const create = (speaker: Speaker, transport: Transport, body: object) =>
  ask(speaker, transport, ['/v1/receivables', 'createReceivable'], body);

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
    const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const [invoice, tax, foreign] = await Promise.all([
      user.upload('invoice', pdf),
      user.upload('tax_document', pdf),
      outsider.upload('invoice', pdf),
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
    for (const id of [foreign.body.id, unknownId('file')]) {
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
    const [user, other, outsider] = await Promise.all([
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
      [user, outsider.id, 404, 'resource_missing'],
      [platform, outsider.id, 404, 'resource_missing'],
      [platform, unknownId('account'), 404, 'resource_missing'],
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
    await verifyAccount(world.operator, row, 'activated');
    const made = await create(live, transport, bodyOf());
    expect([made.status, made.receivable.livemode]).toEqual([200, true]);
    expect((await test.get(`/v1/receivables/${made.receivable.id}`)).status).toBe(404);

    await holdAccount(world.operator, row);
    expect((await create(live, transport, bodyOf())).codes).toEqual(['status_invalid']);
  });

  it('is refused in live mode also when the account is put on hold at the same time', async () => {
    const { account, live } = await given.directUserBoth(1);
    const row = await world.operator.account(account.id, true);
    await verifyAccount(world.operator, row, 'activated');
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
