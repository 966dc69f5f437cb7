import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import type { BankNotice } from '../../src/operator/money/notice.js';
import { currencyOf } from '../support/bodies.js';
import { type Edition, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { banksIn, depositsOf, money, pendingOf, reversed } from './bank-fixture.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { duplicateNotices, withdrawNotice } from '../../src/operator/money/bank.js';

// No worker: tests make live payouts with `payOut`.
const world = useWorld({ worker: false });
const given = givenIn(world);
const { reference, receiver, partnerOf, recordNotice, received } = banksIn(world);

auditLedger(world);

describe('a notice of received money', () => {
  it('is a completed deposit in live mode, with pending money', async () => {
    const to = await receiver(1);
    const partner = await to.live.partner();
    const notice = received(to, {
      ...{ amount: 123_456n, fromAccountId: partner.id, paymentMethod: 'global_wire', statementDescriptor: 'INV 7' },
    });

    const recorded = await recordNotice(notice);

    expect([recorded.reference, recorded.event]).toEqual([notice.reference, 'received']);
    const [deposit, ...others] = await depositsOf(to.live);
    expect(others).toEqual([]);
    expect(deposit).toEqual({
      id: recorded.deposit!.id,
      object: 'deposit',
      created: expect.any(Number),
      livemode: true,
      amount: '1234.56',
      currency: 'USD',
      from: { account_id: partner.id, address_id: expect.stringMatching(/^address_/) },
      to: { account_id: to.live.id, address_id: to.addressId },
      payment_method: 'global_wire',
      payment_method_details: null,
      reason_code: null,
      statement_descriptor: 'INV 7',
      status: 'completed',
      metadata: null,
    });
    expect(await pendingOf(to.live)).toEqual(money('1234.56'));
    expect(await depositsOf(to.test)).toEqual([]);
    // The partner's first payment creates the address that it paid from.
    const from = (await to.live.get(`/v1/addresses/${deposit.from.address_id}`)).body;
    expect([from.category, from.linked_id, from.status]).toEqual(['partner_payment', partner.id, 'activated']);
  });

  it('requires only the receiving address, and is a domestic wire in Edition 2', async () => {
    const to = await receiver(2);
    await recordNotice(received(to));
    expect(await depositsOf(to.live)).toEqual([
      expect.objectContaining({
        ...{ amount: '10.00', currency: 'INR', payment_method: 'domestic_wire', statement_descriptor: '' },
        from: { account_id: null, address_id: null },
      }),
    ]);
  });

  it("is pending for the partner if it came to the partner's address", async () => {
    const to = await receiver(1);
    const partner = await partnerOf(to);
    await recordNotice(received(to, { addressId: partner.addressId }));
    expect([await pendingOf(to.live), await pendingOf(to.live, partner.id)]).toEqual([money('0.00'), money('10.00')]);
    expect((await to.live.get('/v1/balance/aggregate')).body.pending).toEqual(money('10.00'));
  });

  it('is fee advance if it came to the fee advance address of a platform', async () => {
    const { account, live } = await given.platformBoth(1);
    const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const advance = await issueAddress(world.operator, row, {
      ...{ category: 'service_fee_advance', currency: 'USD', bankAccount: { number: '12341' } },
    });
    await recordNotice({
      ...{ reference: reference(), event: 'received', addressId: advance.id, amount: 500n, currency: 'USD' },
    });
    expect((await live.get('/v1/balance')).body).toMatchObject({
      pending: money('0.00'),
      fee_advance: money('5.00'),
    });
  });

  it('is refused at a fee advance address without details, until they are recorded', async () => {
    const { account, live } = await given.platformBoth(2);
    const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    expect((await live.get('/v1/addresses')).body.data).toEqual([]);
    const details = { category: 'service_fee_advance', currency: 'INR', bankAccount: { number: '12341' } } as const;
    const { id: addressId } = await issueAddress(world.operator, row, details);
    await world.sql`update address set bank_account = null where id = ${addressId}`;
    const notice = { reference: reference(), event: 'received', addressId, amount: 500n, currency: 'INR' } as const;
    await expect(recordNotice(notice)).rejects.toMatchObject({
      ...{ status: 402, problems: [{ code: 'address_unusable', field: 'deposit.address_id' }] },
    });
    expect(await depositsOf(live)).toEqual([]);
    expect((await issueAddress(world.operator, row, details)).id).toBe(addressId);
    await recordNotice(notice);
    expect((await live.get('/v1/balance')).body.fee_advance).toEqual(money('5.00', 'INR'));
  });

  it('comes from the receiver or its partners, and from no other user of the platform', async () => {
    const { account, live } = await given.platformBoth(1);
    const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const { id: addressId } = await issueAddress(world.operator, row, {
      ...{ category: 'service_receive', currency: 'USD', bankAccount: { number: '12341' } },
    });
    const user = await live.connectedUser();
    const outsider = await live.actingFor(user.id).partner();
    const notice = { reference: reference(), event: 'received', addressId, amount: 500n, currency: 'USD' } as const;
    for (const fromAccountId of [outsider.id, user.id])
      await expect(recordNotice({ ...notice, fromAccountId })).rejects.toMatchObject({
        problems: [{ code: 'parameter_invalid', field: 'deposit.from_account_id' }],
      });
    expect((await live.get(`/v1/addresses?linked_id=${outsider.id}`)).body.data).toEqual([]);
    expect((await recordNotice({ ...notice, fromAccountId: account.id })).deposit!.fromAccountId).toBe(account.id);
  });

  it('has no text that is too long or that a database cannot store', async () => {
    const to = await receiver(1);
    for (const statementDescriptor of ['x'.repeat(5_001), 'x\0', '\ud800'])
      await expect(recordNotice(received(to, { statementDescriptor }))).rejects.toMatchObject({
        problems: [{ code: 'parameter_invalid', field: 'deposit.statement_descriptor' }],
      });
    expect(await depositsOf(to.live)).toEqual([]);
    const bankAccount = { number: '12341', bankName: 'x'.repeat(5_001) };
    const long = { category: 'service_receive', currency: 'USD', bankAccount } as const;
    await expect(issueAddress(world.operator, to.row, long)).rejects.toMatchObject({
      problems: [{ code: 'parameter_invalid', field: 'address.bank_account.bank_name' }],
    });
  });

  it('must come to an address with a plausible number and IBAN', async () => {
    const to = await receiver(1);
    const wrong = { number: '12', iban: 'DE89370400440532013001' };
    const issue = (bankAccount: object) =>
      issueAddress(world.operator, to.row, { category: 'service_receive', currency: 'EUR', bankAccount });
    await expect(issue(wrong)).rejects.toMatchObject({
      problems: [{ field: 'address.bank_account.number' }, { field: 'address.bank_account.iban' }],
    });
  });

  it('is refused for an address of test mode, an unknown address and an invalid amount', async () => {
    const to = await receiver(1);
    const [testAddress] = (await to.test.get('/v1/addresses?category=service_receive')).body.data;
    const wrong = [
      received(to, { addressId: testAddress.id }),
      received(to, { addressId: `address_${'0'.repeat(32)}` }),
      received(to, { amount: 0n }),
      received(to, { amount: -1n }),
    ];
    for (const notice of wrong) await expect(recordNotice(notice)).rejects.toThrow();
    expect(await depositsOf(to.live)).toEqual([]);
    // A refused notice is not stored: the corrected one is accepted.
    await recordNotice({ ...wrong[2]!, amount: 300n });
    expect(await pendingOf(to.live)).toEqual(money('3.00'));
  });
});

// Spec: Deposit, payment_method; domestic_wire in Edition 2 as its sample shows.
const methodsOf: Record<Edition, string[]> = {
  1: [
    ...['affirm', 'afterpay', 'check', 'domestic_credit', 'domestic_debit', 'domestic_fast_credit', 'domestic_wire'],
    ...['global_wire', 'klarna'],
  ],
  2: ['card', 'upi', 'domestic_wire'],
};
describe.each([1, 2] as const)('the payment method of a notice in Edition %i', (edition) => {
  it.each([...new Set([...methodsOf[1], ...methodsOf[2]])])('%s, of this edition or not', async (paymentMethod) => {
    const to = await receiver(edition);
    const partner = await partnerOf(to);
    // The edition is that of the receiving account, to which a partner's address belongs, too.
    for (const addressId of [to.addressId, partner.addressId]) {
      const notice = received(to, { paymentMethod, addressId });
      if (methodsOf[edition].includes(paymentMethod)) {
        expect((await recordNotice(notice)).deposit!.paymentMethod).toBe(paymentMethod);
        continue;
      }
      await expect(recordNotice(notice)).rejects.toMatchObject({
        problems: [{ code: 'parameter_invalid', field: 'deposit.payment_method' }],
      });
      // Nothing of it is stored.
      expect((await recordNotice({ ...notice, paymentMethod: undefined })).deposit!.status).toBe('completed');
    }
  });
});

describe('a notice in another currency than its address', () => {
  const refused = { problems: [{ code: 'parameter_invalid', field: 'deposit.currency' }] };

  it.each([
    [1, 'EUR'],
    [1, 'INR'],
    [2, 'USD'],
    [2, 'JPY'],
  ] as const)(
    'is refused in Edition %i, stores nothing, and is booked with the operator’s confirmation',
    async (edition, currency) => {
      const to = await receiver(edition);
      const notice = received(to, { currency });
      await expect(recordNotice(notice)).rejects.toMatchObject(refused);
      await expect(recordNotice(reversed(notice))).rejects.toMatchObject(refused);
      await expect(recordNotice({ ...notice, allowCurrency: false })).rejects.toMatchObject(refused);
      expect(await depositsOf(to.live)).toEqual([]);
      expect(await pendingOf(to.live)).toEqual(money('0.00', currencyOf[edition]));
      expect(await world.sql`select 1 from bank_notice where tenant_id = ${to.row.tenantId}`).toEqual([]);

      const { deposit } = await recordNotice({ ...notice, allowCurrency: true });

      expect([deposit!.currency, deposit!.amount, deposit!.status]).toEqual([currency, 1_000n, 'completed']);
      const alsoShown = edition === 2 ? money('0.00', 'INR') : [];
      expect(await pendingOf(to.live)).toEqual([...alsoShown, ...money('10.00', currency)]);
    },
  );

  it('needs the confirmation once per reference: a repetition or a reversal needs none', async () => {
    const to = await receiver(1);
    const notice = received(to, { currency: 'EUR' });
    const first = await recordNotice({ ...notice, allowCurrency: true });
    expect(await recordNotice(notice)).toEqual(first);
    expect((await recordNotice(reversed(notice))).deposit).toMatchObject({ id: first.deposit!.id, status: 'reversed' });
    expect(await depositsOf(to.live)).toHaveLength(1);
    // The reversal comes first, with the confirmation.
    const other = received(to, { currency: 'EUR' });
    expect((await recordNotice({ ...reversed(other), allowCurrency: true })).deposit).toBeNull();
    expect((await recordNotice(other)).deposit!.status).toBe('reversed');
  });

  it('needs the confirmation for a fee advance address, too', async () => {
    const { account } = await given.platformBoth(1);
    const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const { id } = await issueAddress(world.operator, row, {
      ...{ category: 'service_fee_advance', currency: 'USD', bankAccount: { number: '123456789' } },
    });
    const notice = { reference: reference(), event: 'received', addressId: id, amount: 500n, currency: 'EUR' } as const;
    await expect(recordNotice(notice)).rejects.toMatchObject(refused);
    expect((await recordNotice({ ...notice, allowCurrency: true })).deposit!.currency).toBe('EUR');
  });
});

describe('white space around a reference', () => {
  const padded = (id: string) => [id, `${id} `, ` ${id}`, `${id}\n`, `\t${id}`, `${id}\u00A0`, `${id}\u3000\r\n`];

  it('is left out: one transfer is one deposit, also where it is reported at once with and without', async () => {
    const to = await receiver(1);
    const notice = received(to);
    const answers = await Promise.all(
      padded(notice.reference).map((reference) => recordNotice({ ...notice, reference })),
    );
    expect(new Set(answers.map(({ reference, deposit }) => `${reference} ${deposit!.id}`)).size).toBe(1);
    expect(answers[0]!.reference).toBe(notice.reference);
    expect(await depositsOf(to.live)).toHaveLength(1);
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
    await recordNotice({ ...reversed(notice), reference: `${notice.reference}\t` });
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    // Letters of the other case are another reference.
    expect((await recordNotice({ ...notice, reference: notice.reference.toLowerCase() })).deposit!.id).not.toBe(
      answers[0]!.deposit!.id,
    );
  });

  it('does not count towards the length of the reference, and is no reference by itself', async () => {
    const to = await receiver(1);
    const long = 'R'.repeat(255);
    expect((await recordNotice(received(to, { reference: `  ${long}  ` }))).reference).toBe(long);
    for (const reference of ['\u00A0\u0085 ', '\uFEFF'])
      await expect(recordNotice(received(to, { reference }))).rejects.toMatchObject({
        problems: [{ code: 'parameter_invalid_empty', field: 'deposit.reference' }],
      });
    for (const reference of ['A\tB', 'A\u0007', 'A\u200BB'])
      await expect(recordNotice(received(to, { reference }))).rejects.toMatchObject({
        problems: [{ code: 'parameter_invalid', field: 'deposit.reference' }],
      });
    expect(await depositsOf(to.live)).toHaveLength(1);
  });

  it('withdraws a reversal that waits', async () => {
    const to = await receiver(1);
    const notice = reversed(received(to));
    await recordNotice(notice);
    const withdrawn = await withdrawNotice(world.operator, to.addressId, ` ${notice.reference}\n`);
    expect(withdrawn.reference).toBe(notice.reference);
  });

  it('lists what earlier releases credited more than once, until all but one are reversed', async () => {
    const to = await receiver(2);
    const notice = received(to);
    const { deposit } = await recordNotice(notice);
    await recordNotice(received(to));
    // What an earlier release stored: each spelling of the reference with a deposit of its own.
    const [own] = await world.sql`select * from bank_notice where reference = ${notice.reference}`;
    for (const [i, reference] of [`${notice.reference} `, `\u00A0${notice.reference}`].entries()) {
      const other = await recordNotice(received(to));
      await world.sql`update bank_notice set reference = ${reference}, created = ${Number(own!.created) + 1 + i}
        where tenant_id = ${to.row.tenantId} and reference = ${other.reference}`;
    }
    const mine = async () =>
      (await duplicateNotices(world.operator)).filter(({ tenantId }) => tenantId === to.row.tenantId);
    const listed = await mine();
    expect(listed.map(({ reference }) => reference)).toEqual(
      ['', ' ', '\u00A0'].map((space) => (space === ' ' ? `${notice.reference} ` : space + notice.reference)),
    );
    expect(listed[0]!.depositId).toBe(deposit!.id);
    for (const { reference } of listed.slice(1)) {
      const back = await recordNotice({ ...reversed(notice), reference });
      expect(back.deposit).toMatchObject({ status: 'reversed' });
      expect(back.deposit!.id).not.toBe(deposit!.id);
    }
    expect(await mine()).toEqual([]);
    expect(await pendingOf(to.live)).toEqual(money('20.00', 'INR'));
    // Another amount under the reference is another transfer.
    const other = await recordNotice(received(to, { amount: 1n }));
    await world.sql`update bank_notice set reference = ${`${notice.reference}  `}
      where tenant_id = ${to.row.tenantId} and reference = ${other.reference}`;
    expect(await mine()).toEqual([]);
  });
});

describe('the details of an address that a bank issued', () => {
  it('are stored without white space around them, and refused with control characters', async () => {
    const { account } = await given.directUserBoth(1);
    const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const issue = (bankAccount: object) =>
      issueAddress(world.operator, row, { category: 'service_receive', currency: 'USD', bankAccount });
    await expect(issue({ number: '123456789', domesticWire: '0210\t0002' })).rejects.toMatchObject({
      problems: [{ code: 'parameter_invalid', field: 'address.bank_account.domestic_wire' }],
    });
    await expect(issue({ number: ' ' })).rejects.toMatchObject({ problems: [{ code: 'parameter_missing' }] });
    const { bankAccount } = await issue({ number: '123456789 \u00A0', domesticWire: ' 021000021\n', bankName: ' ' });
    expect(bankAccount).toMatchObject({
      number: '123456789',
      last4: '6789',
      domesticWire: '021000021',
      bankName: null,
    });
  });
});

describe('a repeated notice', () => {
  // A bank may repeat a notice that was recorded before its edition had its own method.
  it('without a payment method is the same notice, for every recorded method', async () => {
    const to = await receiver(1);
    const notice = received(to, { paymentMethod: 'check' });
    const first = await recordNotice(notice);
    expect(await recordNotice({ ...notice, paymentMethod: undefined })).toEqual(first);
  });

  it('changes nothing, sequentially or concurrently', async () => {
    const to = await receiver(1);
    const [one, two] = [received(to), received(to, { amount: 200n })];
    const first = await recordNotice(one);
    expect(await recordNotice(one)).toEqual(first);

    const recorded = await Promise.all(Array.from({ length: 12 }, (_, i) => recordNotice(i % 2 ? one : two)));

    expect(new Set(recorded.map((each) => each.deposit?.id)).size).toBe(2);
    expect((await depositsOf(to.live)).map((d) => [d.amount, d.status]).toSorted()).toEqual([
      ['10.00', 'completed'],
      ['2.00', 'completed'],
    ]);
    expect(await pendingOf(to.live)).toEqual(money('12.00'));
  });

  const differing: [what: string, more: Partial<BankNotice>][] = [
    ['amount', { amount: 1_001n }],
    ['currency', { currency: 'EUR' }],
    ['payment method', { paymentMethod: 'check' }],
    ['narration', { statementDescriptor: 'another' }],
  ];
  it.each(differing)('with another %s is a conflict, and changes nothing', async (_, more) => {
    const to = await receiver(1);
    const notice = received(to, { statementDescriptor: 'INV 7' });
    const { deposit } = await recordNotice(notice);
    for (const event of ['received', 'reversed'] as const) {
      if (event === 'reversed') await recordNotice(reversed(notice));
      const before = await depositsOf(to.live);
      await expect(recordNotice({ ...notice, ...more, event })).rejects.toMatchObject({
        status: 409,
        problems: [{ code: 'state_conflict' }],
      });
      expect(await depositsOf(to.live)).toEqual(before);
    }
    expect((await depositsOf(to.live)).map((d) => d.id)).toEqual([deposit!.id]);
  });

  it('with another address or payer is a conflict too', async () => {
    const to = await receiver(1);
    const [partner, payer] = [await partnerOf(to), await to.live.partner()];
    const notice = received(to);
    await recordNotice(notice);
    for (const more of [{ addressId: partner.addressId }, { fromAccountId: payer.id }])
      await expect(recordNotice({ ...notice, ...more })).rejects.toMatchObject({ status: 409 });
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
  });

  it('is a separate notice in another tenant, with the same reference', async () => {
    const [one, other] = [await receiver(1), await receiver(1)];
    const notice = received(one);
    await recordNotice(notice);
    await recordNotice({ ...notice, addressId: other.addressId, amount: 777n });
    expect([await pendingOf(one.live), await pendingOf(other.live)]).toEqual([money('10.00'), money('7.77')]);
  });
});

describe('what a bank says of a transfer', () => {
  const said: Partial<BankNotice> = {
    payer: { name: ' Zoë Retail GmbH ', addressLines: ['Marktstraße 7', ' ', '80331 München'], country: 'DE' },
    text: 'RE 2026-17',
  };
  const details = (reference: string) => ({
    ...{ object: 'bank_details', reference, text: 'RE 2026-17' },
    payer: { name: 'Zoë Retail GmbH', address_lines: ['Marktstraße 7', '80331 München'], country: 'DE' },
  });
  const found = async (speaker: Speaker, search: string) =>
    (await must(speaker.get(`/v1/deposits?search=${encodeURIComponent(search)}`))).data.map(({ id }: any) => id);
  /** An export of the deposits of a direct user in live mode, without the job that stores it. */
  async function exported({ live }: { live: Speaker }, format: 'csv' | 'jsonl'): Promise<string> {
    const caller = {
      ...{ tenantId: tenantOf(live), livemode: true, edition: live.edition, permission: 'full' as const, keyId: null },
      ...{ kind: 'direct_user' as const, accountId: live.id, actingAccountId: live.id },
      actingAccountKind: 'direct_user' as const,
    };
    const { statement, header, lines } = await world.app.bulk.list(
      { list: '/v1/deposits', filters: '', format },
      caller,
    );
    let text = header;
    await world.database.lists.read(statement, async (rows) => void (text += lines(rows)));
    return text;
  }

  it('is shown to the owner of the deposit on both APIs, and /v1 keeps its deposit', async () => {
    const to = await receiver(1);
    const notice = received(to, said);
    const { deposit } = await recordNotice({ ...notice, reference: ` ${notice.reference}\n` });
    const id = deposit!.id;
    expect(await must(to.live.get(`/v1/deposits/${id}/bank_details`))).toEqual(details(notice.reference));
    expect(Object.keys((await depositsOf(to.live))[0])).not.toContain('bank_details');
    const fields = '{ reference payer { name addressLines country } text }';
    const { data } = await must(
      to.live.graph(`{ deposits { nodes { bankDetails ${fields} } } bankDetails(id: "${id}") ${fields} }`),
    );
    const { object: _, payer, ...rest } = details(notice.reference);
    const shown = { ...rest, payer: { name: payer.name, addressLines: payer.address_lines, country: 'DE' } };
    expect(data).toEqual({ deposits: { nodes: [{ bankDetails: shown }] }, bankDetails: shown });
    // Events and webhooks have the object of /v1 alone.
    const events = await world.sql`select data from event where tenant_id = ${tenantOf(to.live)} and object_id = ${id}`;
    expect(events.length).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toContain('Zoë');
  });

  it('is the reference alone where the bank said no more, and nothing in test mode', async () => {
    const to = await receiver(1);
    const notice = received(to, { payer: { name: ' ', addressLines: [] }, text: '' });
    const { deposit } = await recordNotice(notice);
    expect(await must(to.live.get(`/v1/deposits/${deposit!.id}/bank_details`))).toEqual({
      ...{ object: 'bank_details', reference: notice.reference, payer: null, text: null },
    });
    const { id } = await must(to.test.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
    const none = await to.test.get(`/v1/deposits/${id}/bank_details`);
    expect([none.status, none.codes, none.fieldNames]).toEqual([404, ['resource_missing'], ['deposit.id']]);
    expect((await must(to.test.graph(`{ deposit(id: "${id}") { bankDetails { reference } } }`))).data).toEqual({
      deposit: { bankDetails: null },
    });
  });

  it('is seen by who sees the deposit, and by nobody else', async () => {
    const to = await receiver(1);
    const outsider = await receiver(1);
    const notice = received(to, said);
    const { deposit } = await recordNotice(notice);
    for (const other of [outsider.live, to.test]) {
      expect((await other.get(`/v1/deposits/${deposit!.id}/bank_details`)).status).toBe(404);
      expect(await found(other, notice.reference)).toEqual([]);
    }
  });

  it('is found by its reference and its payer', async () => {
    const to = await receiver(1);
    const [one, other] = [received(to, { ...said, statementDescriptor: 'Wire of three words' }), received(to)];
    const ids = [(await recordNotice(one)).deposit!.id, (await recordNotice(other)).deposit!.id];
    expect(await found(to.live, one.reference)).toEqual([ids[0]]);
    expect(await found(to.live, other.reference.toLowerCase())).toEqual([ids[1]]);
    for (const search of ['zoe', 'retail gm', 'wire of']) expect(await found(to.live, search)).toEqual([ids[0]]);
    expect(await found(to.live, 'marktstrasse')).toEqual([]);
  });

  it('is in exports of deposits', async () => {
    const to = await receiver(1);
    const [one, other] = [received(to, { ...said, text: '=1+1' }), received(to)];
    await recordNotice(one);
    await recordNotice(other);
    const lines = (await exported(to, 'jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { object: _, ...rest } = details(one.reference);
    expect(lines.find(({ bank_details: its }) => its.reference === one.reference).bank_details).toEqual({
      ...{ ...rest, text: '=1+1' },
    });
    const rows: Record<string, string>[] = parse(await exported(to, 'csv'), { columns: true });
    const row = rows.find((each) => each['bank_details.reference'] === one.reference)!;
    expect([row['bank_details.payer.name'], row['bank_details.payer.country'], row['bank_details.text']]).toEqual([
      ...['Zoë Retail GmbH', 'DE', "'=1+1"],
    ]);
    expect(rows.map((each) => each['bank_details.payer.address_lines']).toSorted()).toEqual([
      '',
      '["Marktstraße 7","80331 München"]',
    ]);
  });

  it('conflicts with other words, not with fewer', async () => {
    const to = await receiver(1);
    const notice = received(to, said);
    const { deposit } = await recordNotice(notice);
    const { payer: _, text: __, ...bare } = notice;
    for (const again of [notice, bare, { ...bare, text: said.text! }, { ...bare, payer: { country: 'DE' } }])
      expect((await recordNotice(again)).deposit!.id).toBe(deposit!.id);
    const conflict = { problems: [{ code: 'state_conflict', field: 'deposit.reference' }] };
    for (const more of [
      { text: 'RE 2026-18' },
      { payer: { name: 'Zoe' } },
      { payer: { addressLines: ['Marktstraße 7'] } },
    ])
      await expect(recordNotice({ ...bare, ...more })).rejects.toMatchObject(conflict);
    // A reversal says nothing of the payer, and takes the money of the transfer with it.
    expect((await recordNotice(reversed(bare))).deposit!.status).toBe('reversed');
    const late = received(to);
    await recordNotice(reversed(late));
    const { deposit: reversedAtOnce } = await recordNotice({ ...late, ...said });
    expect(reversedAtOnce!.bankDetails).toMatchObject({ reference: late.reference, payerName: 'Zoë Retail GmbH' });
  });

  const wrong: [field: string, more: Partial<BankNotice>][] = [
    ['payer.name', { payer: { name: 'x'.repeat(141) } }],
    ['payer.name', { payer: { name: 'A\u0007B' } }],
    ['payer.name', { payer: { name: 'A\u202EB' } }],
    ['payer.address_lines', { payer: { addressLines: ['1', '2', '3', '4', '5'] } }],
    ['payer.address_lines[1]', { payer: { addressLines: ['1', 'x'.repeat(71)] } }],
    ['payer.address_lines[0]', { payer: { addressLines: ['1\n2'] } }],
    ['text', { text: 'x'.repeat(141) }],
    ['text', { text: '\ud800' }],
  ];
  it.each(wrong)('is bounded in its %s: %j', async (field, more) => {
    const to = await receiver(1);
    await expect(recordNotice(received(to, more))).rejects.toMatchObject({
      problems: [{ code: 'parameter_invalid', field: `deposit.${field}` }],
    });
    expect(await depositsOf(to.live)).toEqual([]);
  });

  it('takes less than 1 KiB beside a deposit, with all of it', async () => {
    const to = await receiver(1);
    const { deposit } = await recordNotice(
      received(to, {
        ...{ reference: 'R'.repeat(255), text: 'T'.repeat(140) },
        payer: { name: 'N'.repeat(140), addressLines: Array.from({ length: 4 }, () => 'A'.repeat(70)), country: 'IN' },
      }),
    );
    const [size] = await world.sql`select pg_column_size(bank_details) as bytes from deposit where id = ${deposit!.id}`;
    expect(size!.bytes).toBeLessThan(1_024);
  });
});
