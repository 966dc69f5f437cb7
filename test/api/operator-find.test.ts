import { describe, expect, it } from 'vitest';
import { setRate } from '../../src/operator/money/payouts.js';
import { bookLines } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { bytesOf, camt } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { importRow, payOutLive } from '../support/jobs.js';
import { eventually, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { banksIn } from './bank-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY, REQUEST_LOG_DAYS: '1' } });
const { ask, data } = operatorIn(world);
const { receiver, recordNotice, received } = banksIn(world);

const query = `query ($text: String!) {
  find(text: $text) {
    objects {
      type id tenantId livemode created status amount currency reference accountId depositId payoutId
      account { id root { id } }
      request { api operation status codes durationMilliseconds apiKeyId sessionId onBehalfOfAccount { id } }
    }
    hasMore searched hint
  }
}`;

const find = async (text: string): Promise<Json> => (await data(ask(query, { text }))).find;
/** What is found by a text, as `type id`. */
const found = async (text: string): Promise<string[]> =>
  (await find(text)).objects.map(({ type, id }: Json) => `${type} ${id}`);

/** A payment of a live account that waits for its payout, and what belongs to it. */
async function trade(reference: string, amount: bigint) {
  const to = await receiver(1, `88${reference.replaceAll(/\D/g, '')}`);
  await payoutAddress(to.live);
  const { deposit } = await recordNotice(received(to, { reference, amount }));
  const text = `${String(amount / 100n)}.${String(amount % 100n).padStart(2, '0')}`;
  const invoice = await must(to.live.post('/v1/receivables', receivableBody({ amount: text })));
  return { to, depositId: deposit!.id, invoice, text };
}

/** What of an account has an id in its tenant alone: its kind, its id, and the reference of what is found. */
async function ofTenant(account: Speaker, webhook: string) {
  const idOf = async (table: string, where: string) => {
    const of = `tenant_id = '${tenantOf(account)}' and livemode and ${where}`;
    const [row] = await world.sql.unsafe(`select id from ${table} where ${of} order by id limit 1`);
    return String(row!.id);
  };
  const csv = new TextEncoder().encode('currency\nUSD');
  const file = (await must(account.upload('import', csv, 'sheet.csv'))).id as string;
  const made = await must(account.post('/v1/imports', { kind: 'receivables', file_id: file }));
  const row = await importRow(account, made.id);
  const entry = await idOf('entry', 'true');
  const [moved] = await world.sql`select payment_id from entry where id = ${entry}`;
  const exported = await must(account.post('/v1/exports', { list: '/v1/deposits', format: 'csv' }));
  const session = await must(account.post('/v1/sessions', { role: 'read' }));
  await must(account.post(`/v1/webhook_endpoints/${webhook}/test`));
  const key = await idOf('api_key', 'true');
  const [prefix] = await world.sql`select prefix from api_key where id = ${key}`;
  const event = await idOf('event', `object_id = '${file}'`);
  const delivery = await idOf('webhook_delivery', 'true');
  const [sent] = await world.sql`select event_id, event_type from webhook_delivery where id = ${delivery}`;
  return [
    ['ACCOUNT_SETTING', await idOf('account_setting', `account_id = '${account.id}'`), null],
    ['API_KEY', key, prefix!.prefix],
    ['BALANCE_TRANSACTION', entry, moved!.payment_id],
    ['EVENT', event, `file.created ${file}`],
    ['EXPORT', exported.id, '/v1/deposits'],
    ['FILE', file, 'sheet.csv'],
    ['IMPORT', made.id, 'receivables'],
    ['IMPORT_ROW', row, made.id],
    ['SESSION', session.id, key],
    ['WEBHOOK_DELIVERY', delivery, `${sent!.event_type} ${sent!.event_id}`],
  ] as const;
}

describe('finding an object of any tenant', () => {
  it('finds each kind by its id, in the tenant and mode where it is', async () => {
    const { to, depositId, invoice } = await trade('UTR7001001', 39_327n);
    const refund = await must(to.live.post('/v1/refunds', { deposit_id: depositId, amount: '1.00' }));
    const open = mutation('openDispute', 'OpenDisputeInput', 'dispute { id }');
    const { openDispute } = await data(
      ask(open, { input: { id: depositId, amount: '2.00', reasonCode: 'GENERAL', reference: 'CB-7001' } }),
    );
    const ids = { DEPOSIT: depositId, RECEIVABLE: invoice.id, REFUND: refund.id, DISPUTE: openDispute.dispute.id };
    for (const [type, id] of Object.entries(ids)) {
      const { objects, searched, hint, hasMore } = await find(` ${id}\n`);
      expect(objects).toMatchObject([
        { type, id, livemode: true, tenantId: to.row.tenantId, account: { id: to.live.id, root: { id: to.live.id } } },
      ]);
      expect([searched.length, hint, hasMore]).toEqual([1, null, false]);
    }
    // A root has one id in both modes.
    expect(new Set((await find(to.live.id)).objects.map(({ livemode }: Json) => livemode))).toEqual(
      new Set([true, false]),
    );
    expect(await found(to.addressId)).toEqual([`ADDRESS ${to.addressId}`]);
    expect((await find('CB-7001')).objects).toMatchObject([{ type: 'DEPOSIT', amount: '-2.00', reference: 'CB-7001' }]);
  });

  it('finds a reference that looks like an id of no kind, and nothing by an id that no object has', async () => {
    await trade('inv_7006006', 1_000n);
    expect(await found('inv_7006006')).toContain('BANK_NOTICE inv_7006006');
    expect((await find('posting_0123')).searched).toContain('Bank notices by reference');
    expect(await find('payout_0123')).toMatchObject({ objects: [], searched: ['Payouts by id'], hint: null });
  });

  it('finds a transfer by the reference of its bank, also when it was typed in small letters', async () => {
    const { to, depositId } = await trade('UTR7002002', 1_000n);
    for (const text of ['UTR7002002', 'utr7002002']) {
      const { objects, searched } = await find(text);
      expect(objects).toMatchObject([
        {
          type: 'BANK_NOTICE',
          id: 'UTR7002002',
          status: 'received',
          amount: '10.00',
          depositId,
          accountId: to.live.id,
        },
      ]);
      expect(searched).toContain('Bank notices by reference');
    }
    // A line of a file that fits no address has no tenant.
    const entry = { reference: 'UTR7002003', amount: '5.00', payee: '000999888777' };
    const text = camt([{ account: 'POOL-9', entries: [entry] }]);
    const { file } = await storeBankFile(
      world.operator,
      { name: 'bank.xml', open: () => bytesOf(text), mapping: undefined, allowUnknown: true },
      'anna',
    );
    await bookLines(world.operator, file.id);
    expect((await find('UTR7002003')).objects).toMatchObject([
      { type: 'BANK_LINE', id: file.id, tenantId: null, status: 'unmatched', amount: '5.00', account: null },
    ]);
  });

  it('finds what was taken back and no balance had by the reference of its bank', async () => {
    const { to, depositId } = await trade('UTR7011011', 1_000n);
    await must(to.live.post('/v1/refunds', { deposit_id: depositId }));
    const record = mutation('recordUnexplained', 'RecordUnexplainedInput', 'unexplained { id }');
    const input = { depositId, amount: '3.00', reference: 'CB-7011', note: 'After its refund' };
    const { recordUnexplained } = await data(ask(record, { input }));
    const { id } = recordUnexplained.unexplained;
    const { objects, searched } = await find('cb-7011');
    expect(objects).toMatchObject([
      { type: 'UNEXPLAINED', id, tenantId: to.row.tenantId, amount: '-3.00', reference: 'CB-7011', depositId },
    ]);
    expect(searched).toContain('Unexplained money by reference');
    expect(await found(id)).toEqual([`UNEXPLAINED ${id}`]);
  });

  it('finds a payout by its id and by the reference of its bank', async () => {
    const { to, depositId, invoice, text } = await trade('UTR7003003', 1_000n);
    await must(
      to.live.post(`/v1/deposits/${depositId}/reconcile`, { receivables: [{ id: invoice.id, amount: text }] }),
    );
    await setRate(world.operator, to.row, 'USD', 'INR', '83.25');
    await payOutLive(to.live);
    const [payout] = (await must(to.live.get('/v1/payouts'))).data;
    expect(await found(payout.id)).toEqual([`PAYOUT ${payout.id}`]);
    expect((await find(invoice.id)).objects).toMatchObject([{ type: 'RECEIVABLE', depositId }]);
    const ofTenant = await find(`${invoice.invoice.reference_number} ${to.live.id}`);
    expect(ofTenant.objects).toMatchObject([{ type: 'RECEIVABLE', id: invoice.id, depositId }]);
    const settle = mutation('settlePayout', 'SettlePayoutInput', 'payout { id }');
    await data(ask(settle, { input: { id: payout.id, bankReference: 'OUT7003003' } }));
    expect((await find('out7003003')).objects).toMatchObject([
      { type: 'PAYOUT', id: payout.id, status: 'completed', reference: 'OUT7003003', payoutId: payout.id },
    ]);
  });

  it('finds a receiving address by its account number, with blanks or without', async () => {
    const to = await receiver(1, '4455667788990');
    for (const text of ['4455667788990', '4455 6677 8899 0', '4455-6677-88990'])
      expect(await found(text)).toEqual([`ADDRESS ${to.addressId}`]);
  });

  it('finds accounts by a word of their names, and says when there are more', async () => {
    const [one, ...others] = await Promise.all(Array.from({ length: 6 }, () => receiver()));
    const legalName = one!.row.businessDetails.legalName!;
    expect(others.length).toBe(5);
    const { objects, hasMore, searched } = await find(legalName);
    expect(objects.map(({ type }: Json) => type)).toEqual(Array.from({ length: 5 }, () => 'ACCOUNT'));
    expect([hasMore, searched.includes('Accounts by name')]).toEqual([true, true]);
  });

  it('finds amounts, invoices and texts of payments in the tenant of an account that stands beside them', async () => {
    const { to, depositId, invoice } = await trade('UTR7004004', 777_700n);
    const other = await trade('UTR7005005', 777_700n);
    for (const amount of ['7777.00 USD', 'usd 7,777.00', '7777 USD']) {
      const ofBoth = await found(`${amount} ${to.live.id}`);
      expect(ofBoth).toEqual([`DEPOSIT ${depositId}`, `RECEIVABLE ${invoice.id}`]);
    }
    expect(await found(`${to.live.id} ${invoice.invoice.reference_number}`)).toEqual([`RECEIVABLE ${invoice.id}`]);
    expect(await found(`UTR7004004 ${to.live.id}`)).toEqual(['BANK_NOTICE UTR7004004', `DEPOSIT ${depositId}`]);
    expect(await found(`UTR7004004 ${other.to.live.id}`)).toEqual(['BANK_NOTICE UTR7004004']);
    // Without an account it says what to add.
    for (const text of ['7777.00 USD', '7777.00', `7777.00 ${to.live.id}`])
      expect((await find(text)).hint).toContain('393.27 USD account_');
    expect((await find('INV-5001')).hint).toContain('add the id of an account');
    expect((await find(`INV-5001 ${to.live.id}`)).hint).toBeNull();
    const missing = await ask(query, { text: 'INV-5001 account_0123' });
    expect([missing.codes, missing.fieldNames]).toEqual([['resource_missing'], ['find.text']]);
  });

  it('finds a checkout by its id and by the address of its page, in its present state', async () => {
    const payee = await PayeeFixture.open(world);
    const checkout = await payee.checkoutFixture();
    for (const text of [checkout.id, checkout.url])
      expect((await find(text)).objects).toMatchObject([
        {
          ...{ type: 'CHECKOUT', id: checkout.id, livemode: false, status: 'initialized', accountId: payee.user.id },
          depositId: null,
        },
      ]);
    const paid = await payee.checkoutFixture();
    await payee.help(paid, 'pay');
    await payee.work();
    const [object] = (await find(paid.id)).objects;
    expect(object).toMatchObject({ status: 'completed', depositId: expect.stringMatching(/^deposit_/) });
    expect((await find(paid.receivableIds[0]!)).objects).toMatchObject([{ depositId: object.depositId }]);
    await world.sql`update checkout set expires_at = created - 1 where id = ${checkout.id}`;
    expect((await find(checkout.id)).objects).toMatchObject([{ status: 'expired' }]);
    expect(await found(checkout.url.slice(0, -1))).toEqual([]);
  });

  it('finds a payment order by its id, and what has ids of a tenant alone beside the id of an account', async () => {
    const { to, depositId } = await trade('UTR7012012', 1_000n);
    const { tenantId } = to.row;
    const webhook = await must(
      to.live.post('/v1/webhook_endpoints', { url: 'https://shop.example/events', event_types: ['file.*'] }),
    );
    const person = 'person_0123456789abcdef';
    const inTest = 'person_fedcba9876543210';
    await world.sql`insert into person (tenant_id, livemode, id, created, account_id, full_name, relationship,
        identification, context_id, on_root_list)
      select tenant_id, livemode, case when livemode then ${person} else ${inTest} end, created, id, 'Meera Rao', '{}',
        '{}', context_id, on_root_list
      from account where id = ${to.live.id}`;
    const [payment] = (await must(to.live.get('/v1/payments'))).data;
    const others = await ofTenant(to.live, webhook.id);
    for (const [type, id, reference] of [
      ...others,
      ['PAYMENT', payment.id, 'deposit'],
      ['PERSON', person, 'Meera Rao'],
      ['WEBHOOK_ENDPOINT', webhook.id, 'https://shop.example/events'],
    ] as const) {
      const account = { id: to.live.id };
      expect((await find(`${id} ${to.live.id}`)).objects).toMatchObject([
        { type, id, tenantId, livemode: true, reference, account },
      ]);
      const hint = `add the id of an account: ${id.replace(/_[^_]*$/, '')}_… account_….`;
      expect(await find(id)).toMatchObject({ objects: [], hint: expect.stringContaining(hint) });
    }
    expect((await find(`${payment.id} ${to.live.id}`)).objects).toMatchObject([{ depositId, amount: '10.00' }]);
    expect((await find(`${inTest} ${to.live.id}`)).objects).toMatchObject([{ id: inTest, livemode: false }]);
    expect(await found(`${payment.id} ${(await receiver()).live.id}`)).toEqual([]);

    const order = 'payment_order_0123';
    await world.sql`insert into own_account (id, created, created_by, holder, currency, iban)
      values ('own_account_1', 1, 'anna', 'Tidegate', 'INR', 'DE89370400440532013000')`;
    await world.sql`insert into payment_order (id, created, created_by, own_account_id, currency, value_date, status)
      values (${order}, 1, 'anna', 'own_account_1', 'INR', '2099-12-01', 'rejected')`;
    expect((await find(order)).objects).toMatchObject([
      { type: 'PAYMENT_ORDER', id: order, tenantId: null, status: 'rejected', amount: null, currency: 'INR' },
    ]);
  });

  it('finds a logged request by its id', async () => {
    const { live } = await receiver();
    const reply = await live.post('/v1/receivables', { currency: 'nothing' });
    const id = reply.headers.get('request-id')!;
    const objects = await eventually(
      async () => (await find(id)).objects,
      (found: Json[]) => found.length > 0,
    );
    expect(objects).toMatchObject([{ type: 'REQUEST', id, status: 'refused', accountId: live.id, livemode: true }]);
    expect(objects[0].reference).toContain('POST /v1/receivables 400 parameter_');
    expect(objects[0].request).toMatchObject({
      ...{ api: 'REST', operation: 'POST /v1/receivables', status: 400, sessionId: null, onBehalfOfAccount: null },
      apiKeyId: expect.stringMatching(/^key_/),
    });
    expect(objects[0].request.codes.length).toBeGreaterThan(0);
    expect(objects[0].request.durationMilliseconds).toBeGreaterThanOrEqual(0);
    expect((await find(live.id)).objects[0].request).toBeNull();
  });

  it('refuses a text that is empty or too long, and takes hostile ones for what they are', async () => {
    for (const text of ['', '  ', '-- ,', 'x'.repeat(301)]) {
      const reply = await ask(query, { text });
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([200, ['parameter_invalid'], ['find.text']]);
    }
    for (const text of [
      `${'a '.repeat(149)}a`,
      `${'1 '.repeat(140)}1`,
      `${'1,'.repeat(149)}`,
      'account_ account_0 account_1',
      `/checkout/${'a'.repeat(280)}`,
      `%' or 1=1 --`,
      '<img src=x onerror=alert(1)>',
    ])
      expect((await ask(query, { text })).body.errors?.[0]?.extensions.code ?? 'none').not.toBe('internal_error');
  });
});

describe('the trail of money', () => {
  const trailQuery = `query ($id: ID!, $tenantId: ID) {
    trail(id: $id, tenantId: $tenantId) {
      deposit { id amount bankReference toAccount { id } fromAccount { id } toAddress { id }
        refunds { id endedAt } disputes { id }
        takenBack { id amount } disputedDeposit { id } }
      payout { id amount currency rate bankReference endedAt orderId account { id } }
      bankNotices { reference event created }
      allocations {
        amount currency status
        receivable { id referenceNumber amount } deposit { id } payout { id status }
      }
      hasMoreAllocations
      postings { kind created entries { accountId compartment contra amount currency } }
      paidAccount { id } nextPayoutAt payoutsBlockedBy { reasonCode currency }
    }
  }`;
  const trail = async (id: string, tenantId?: string): Promise<Json> =>
    (await data(ask(trailQuery, { id, tenantId }))).trail;

  it('leads from the notice of a bank over the invoice to the payout, and back', async () => {
    const { to, depositId, invoice, text } = await trade('UTR7008008', 2_000n);
    const waiting = await trail(depositId);
    expect(waiting).toMatchObject({
      deposit: { id: depositId, bankReference: 'UTR7008008', toAccount: { id: to.live.id }, fromAccount: null },
      ...{ payout: null, allocations: [], hasMoreAllocations: false, paidAccount: { id: to.live.id } },
      bankNotices: [{ reference: 'UTR7008008', event: 'RECEIVED' }],
      postings: [
        {
          kind: 'deposit',
          entries: [
            { accountId: to.live.id, compartment: 'PENDING', contra: null, amount: '20.00', currency: 'USD' },
            { accountId: null, compartment: null, contra: 'bank', amount: '-20.00', currency: 'USD' },
          ],
        },
      ],
    });
    await must(
      to.live.post(`/v1/deposits/${depositId}/reconcile`, { receivables: [{ id: invoice.id, amount: text }] }),
    );
    expect(await trail(depositId, to.row.tenantId)).toMatchObject({
      ...{ nextPayoutAt: null, payoutsBlockedBy: [{ reasonCode: 'RATE_MISSING', currency: 'USD' }] },
      allocations: [
        { amount: '20.00', status: 'LOCKED', receivable: { id: invoice.id, amount: '20.00' }, payout: null },
      ],
    });
    await setRate(world.operator, to.row, 'USD', 'INR', '83.25');
    await payOutLive(to.live);
    const [payout] = (await must(to.live.get('/v1/payouts'))).data;
    const settle = mutation('settlePayout', 'SettlePayoutInput', 'payout { id endedAt }');
    const { settlePayout } = await data(ask(settle, { input: { id: payout.id, bankReference: 'OUT7008008' } }));
    const allocation = { amount: '20.00', currency: 'USD', receivable: { id: invoice.id }, payout: { id: payout.id } };
    expect(await trail(depositId)).toMatchObject({ allocations: [allocation] });
    const ofPayout = await trail(payout.id);
    expect(ofPayout).toMatchObject({
      ...{ deposit: null, bankNotices: [], paidAccount: { id: to.live.id } },
      payout: { id: payout.id, amount: '1665.00', rate: '83.25', bankReference: 'OUT7008008', orderId: null },
      allocations: [{ ...allocation, deposit: { id: depositId } }],
    });
    expect(ofPayout.payout.endedAt).toBe(settlePayout.payout.endedAt);
    for (const { entries } of ofPayout.postings) {
      const sums = new Map<string, bigint>();
      for (const { currency, amount } of entries)
        sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(amount.replace('.', '')));
      expect([...sums.values()].every((sum) => sum === 0n)).toBe(true);
    }
  });

  it('has the ways back: refunds, disputes and recalls', async () => {
    const { to, depositId } = await trade('UTR7009009', 5_000n);
    const refund = await must(to.live.post('/v1/refunds', { deposit_id: depositId, amount: '1.00' }));
    const open = mutation('openDispute', 'OpenDisputeInput', 'dispute { id }');
    const given = { id: depositId, amount: '2.00', reasonCode: 'GENERAL', reference: 'CB-7009' };
    const { openDispute } = await data(ask(open, { input: given }));
    const { deposit } = await trail(depositId);
    expect(deposit).toMatchObject({
      refunds: [{ id: refund.id, endedAt: null }],
      disputes: [{ id: openDispute.dispute.id }],
      takenBack: [{ amount: '-2.00' }],
      disputedDeposit: null,
    });
    const debit = await trail(deposit.takenBack[0].id);
    expect(debit.deposit.disputedDeposit).toEqual({ id: depositId });
  });

  it('has no part of a posting, however many sides those of a payment have', async () => {
    const { to, depositId } = await trade('UTR7010010', 9_000n);
    const { tenantId } = to.row;
    const [row] = await world.sql`select payment_id from deposit where tenant_id = ${tenantId} and id = ${depositId}`;
    const side = (category: string, amount: number) => ({ account: to.live.id, category, currency: 'USD', amount });
    const sides = [
      ...[side('available', 5), side('processing', 1), side('pending', -1)],
      { contra: 'bank', currency: 'USD', amount: -5 },
    ];
    for (let i = 0; i < 40; i++)
      await world.database.call('post', [
        ...[tenantId, true, 'deposit', `${depositId} ${i}`, row!.payment_id, JSON.stringify(sides)],
      ]);
    const { postings } = await trail(depositId);
    expect(postings.length).toBeGreaterThan(30);
    expect(new Set(postings.map(({ entries }: Json) => entries.length))).toEqual(new Set([4]));
  });

  it('is refused for an id that is of neither, or of nothing', async () => {
    for (const id of ['payout_0123', 'deposit_0123', 'account_0123', ''])
      expect((await ask(trailQuery, { id })).codes).toEqual(['resource_missing']);
  });
});
