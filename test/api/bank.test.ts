import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import type { AccountRow } from '../../src/resources/account/table.js';
import type { BankNotice } from '../../src/operator/money/bank.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import {
  type Edition,
  eventually,
  givenIn,
  nickname,
  type Speaker,
  useWorld,
  tenantOf,
  payoutAddress,
} from '../support/world.js';

// No worker: tests make live payouts with `payOut`.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const currencyOf = { 1: 'USD', 2: 'INR' } as const;
const money = (amount: string, currency = 'USD') => [{ amount, currency }];
let count = 0;
const reference = () => `UTR${String(++count).padStart(8, '0')}`;

async function done(reply: ReturnType<Speaker['post']>): Promise<any> {
  const { status, body, fieldNames, codes } = await reply;
  expect([status, codes, fieldNames]).toEqual([200, [], []]);
  return body;
}

interface Receiver {
  live: Speaker;
  test: Speaker;
  row: AccountRow;
  addressId: string;
}

/** Creates a direct user that is activated in live mode, with an address that its bank has issued. */
async function receiver(edition: Edition = 1): Promise<Receiver> {
  const { account, live, test } = await given.directUserBoth(edition);
  const draft = await world.operator.account(account.id, true);
  const row = await world.operator.verify(draft, 'activated');
  const { id } = await world.operator.issueAddress(row, {
    ...{ category: 'service_receive', currency: currencyOf[edition], bankAccount: { number: '123456789' } },
  });
  return { live, test, row, addressId: id };
}

/** Creates an activated partner in live mode, with its own receiving address. */
async function partnerOf({ live }: Receiver): Promise<{ id: string; addressId: string }> {
  const partner = await live.partner();
  await done(live.post(`/v1/accounts/${partner.id}/activate`));
  const row = await world.operator.verify(await world.operator.account(partner.id), 'activated');
  const { id } = await world.operator.issueAddress(row, {
    ...{ category: 'service_receive', currency: currencyOf[live.edition], bankAccount: { number: '987654321' } },
  });
  return { id: partner.id, addressId: id };
}

const recordNotice = async (given: BankNotice) => {
  const { notice, deposit } = await world.operator.bankNotice(given);
  return { reference: notice.reference, event: notice.event, deposit };
};
const received = (to: Receiver, more: Partial<BankNotice> = {}): BankNotice => ({
  reference: reference(),
  event: 'received',
  addressId: to.addressId,
  amount: 1_000n,
  currency: currencyOf[to.live.edition],
  ...more,
});
const reversed = (notice: BankNotice): BankNotice => ({ ...notice, event: 'reversed' });

const pendingOf = async (speaker: Speaker, id = speaker.id) =>
  (await speaker.get(`/v1/balance?account_id=${id}`)).body.pending;
const depositsOf = async (speaker: Speaker): Promise<any[]> => (await speaker.get('/v1/deposits')).body.data;

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
    const row = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const advance = await world.operator.issueAddress(row, {
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
    const row = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    expect((await live.get('/v1/addresses')).body.data).toEqual([]);
    const details = { category: 'service_fee_advance', currency: 'INR', bankAccount: { number: '12341' } } as const;
    const { id: addressId } = await world.operator.issueAddress(row, details);
    await world.sql`update address set bank_account = null where id = ${addressId}`;
    const notice = { reference: reference(), event: 'received', addressId, amount: 500n, currency: 'INR' } as const;
    await expect(recordNotice(notice)).rejects.toMatchObject({
      ...{ status: 402, problems: [{ code: 'address_unusable', field: 'deposit.address_id' }] },
    });
    expect(await depositsOf(live)).toEqual([]);
    expect((await world.operator.issueAddress(row, details)).id).toBe(addressId);
    await recordNotice(notice);
    expect((await live.get('/v1/balance')).body.fee_advance).toEqual(money('5.00', 'INR'));
  });

  it('comes from the receiver or its partners, and from no other user of the platform', async () => {
    const { account, live } = await given.platformBoth(1);
    const row = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const { id: addressId } = await world.operator.issueAddress(row, {
      ...{ category: 'service_receive', currency: 'USD', bankAccount: { number: '12341' } },
    });
    const user = await live.connectedUser();
    const stranger = await live.actingFor(user.id).partner();
    const notice = { reference: reference(), event: 'received', addressId, amount: 500n, currency: 'USD' } as const;
    for (const fromAccountId of [stranger.id, user.id])
      await expect(recordNotice({ ...notice, fromAccountId })).rejects.toMatchObject({
        problems: [{ code: 'parameter_invalid', field: 'deposit.from_account_id' }],
      });
    expect((await live.get(`/v1/addresses?linked_id=${stranger.id}`)).body.data).toEqual([]);
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
    await expect(world.operator.issueAddress(to.row, long)).rejects.toMatchObject({
      problems: [{ code: 'parameter_invalid', field: 'address.bank_account.bank_name' }],
    });
  });

  it('must come to an address with a plausible number and IBAN', async () => {
    const to = await receiver(1);
    const wrong = { number: '12', iban: 'DE89370400440532013001' };
    const issue = (bankAccount: object) =>
      world.operator.issueAddress(to.row, { category: 'service_receive', currency: 'EUR', bankAccount });
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
    const row = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const { id } = await world.operator.issueAddress(row, {
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
    const withdrawn = await world.operator.withdrawNotice(to.addressId, ` ${notice.reference}\n`);
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
      (await world.operator.duplicateNotices()).filter(({ tenantId }) => tenantId === to.row.tenantId);
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
    const row = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const issue = (bankAccount: object) =>
      world.operator.issueAddress(row, { category: 'service_receive', currency: 'USD', bankAccount });
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

describe('a notice of a reversal', () => {
  it('claws back the complete deposit once, also if it is repeated', async () => {
    const to = await receiver(1);
    const notice = received(to);
    const { deposit } = await recordNotice(notice);

    const recorded = [
      await recordNotice(reversed(notice)),
      await recordNotice(reversed(notice)),
      await recordNotice(notice),
    ];

    expect(recorded.map((each) => [each.event, each.deposit?.id])).toEqual([
      ['reversed', deposit!.id],
      ['reversed', deposit!.id],
      ['received', deposit!.id],
    ]);
    expect((await depositsOf(to.live)).map((d) => [d.id, d.amount, d.status])).toEqual([
      [deposit!.id, '10.00', 'reversed'],
    ]);
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  it('waits for its deposit if it comes first', async () => {
    const to = await receiver(1);
    const notice = received(to);

    expect(await recordNotice(reversed(notice))).toEqual({
      reference: notice.reference,
      event: 'reversed',
      deposit: null,
    });
    expect(await depositsOf(to.live)).toEqual([]);
    const { deposit } = await recordNotice(notice);

    expect(deposit!.status).toBe('reversed');
    expect((await depositsOf(to.live)).map((d) => [d.id, d.status])).toEqual([[deposit!.id, 'reversed']]);
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    expect((await recordNotice(reversed(notice))).deposit?.id).toBe(deposit!.id);
  });

  const conflicts: [field: string, more: (to: Receiver) => Promise<Partial<BankNotice>>][] = [
    ['deposit.amount', async () => ({ amount: 400n })],
    ['deposit.currency', async () => ({ currency: 'EUR' })],
    ['deposit.address_id', async (to) => ({ addressId: (await partnerOf(to)).addressId })],
  ];
  it.each(conflicts)(
    'of a transfer that differs from the received one is a conflict about %s, in any order',
    async (field, more) => {
      const to = await receiver(1);
      for (const first of ['received', 'reversed'] as const) {
        const notice = received(to);
        const other = { ...notice, ...(await more(to)) };
        const [one, two] = first === 'received' ? [notice, reversed(other)] : [reversed(notice), other];
        const before = await recordNotice(one);
        const pending = await pendingOf(to.live);

        await expect(recordNotice(two)).rejects.toMatchObject({ problems: [{ code: 'state_conflict', field }] });

        expect(await pendingOf(to.live)).toEqual(pending);
        expect(await recordNotice(one)).toEqual(before);
      }
      expect((await depositsOf(to.live)).map((d) => d.status)).toEqual(['completed']);
    },
  );

  it('is listed while it waits, and can be withdrawn if its reference was wrong, but not once it is done', async () => {
    const to = await receiver(1);
    const [notice, other] = [received(to), received(to)];
    const row = (of: BankNotice) => ({ reference: of.reference, event: 'reversed', depositId: null });
    const waiting = async () =>
      (await world.operator.waitingNotices()).filter(({ tenantId }) => tenantId === tenantOf(to.live));
    await recordNotice(reversed(notice));
    await recordNotice(reversed(other));
    expect(await waiting()).toMatchObject([row(notice), row(other)]);

    const withdraw = (of: BankNotice) => world.operator.withdrawNotice(to.addressId, of.reference);
    // The reference alone is not enough: the same reference with another address is another notice.
    const elsewhere = await partnerOf(to);
    await expect(world.operator.withdrawNotice(elsewhere.addressId, notice.reference)).rejects.toMatchObject({
      problems: [{ code: 'resource_missing', field: 'deposit.reference' }],
    });
    expect(await withdraw(notice)).toMatchObject(row(notice));

    expect((await recordNotice(notice)).deposit!.status).toBe('completed');
    expect((await recordNotice(other)).deposit!.status).toBe('reversed');
    expect(await waiting()).toEqual([]);
    for (const none of [notice, other, received(to)])
      await expect(withdraw(none)).rejects.toMatchObject({
        problems: [{ code: 'resource_missing', field: 'deposit.reference' }],
      });
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
    await world.database.call('number_events', [tenantOf(to.live), true, 500]);
    const events = (await to.live.get('/v1/events?type=bank_notice.waiting,bank_notice.withdrawn')).body.data;
    expect(events.map((e: any) => [e.type, e.data.object.reference]).toReversed()).toEqual([
      ['bank_notice.waiting', notice.reference],
      ['bank_notice.waiting', other.reference],
      ['bank_notice.withdrawn', notice.reference],
    ]);
    expect(events[0].data.object).toEqual({
      ...{ object: 'bank_notice', reference: notice.reference, event: 'reversed', created: expect.any(Number) },
      ...{ livemode: true, address_id: to.addressId, amount: '10.00', currency: 'USD', deposit_id: null },
    });
  });

  it('takes the reconciled amount from available funds, below zero, and nothing from a payout in flight', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    const { notice } = await earn(to, '6.00', '10.00');
    await payOut(to);

    await recordNotice(reversed(notice));

    expect((await to.live.get('/v1/balance')).body).toMatchObject({
      available: money('-6.00', 'INR'),
      pending: money('0.00', 'INR'),
      payout_processing: money('6.00', 'INR'),
    });
  });

  it("takes the reconciled amount of an aggregator's user from the platform, which received it", async () => {
    const { live } = await given.platformBoth(2, { subType: 'aggregator' });
    const id = await assemble(live, complete(2, 'company'));
    await done(live.post(`/v1/accounts/${id}/activate`));
    const row = await world.operator.verify(await world.operator.account(id), 'activated');
    const user = live.actingFor(id);
    const { id: addressId } = await world.operator.issueAddress(row, {
      ...{ category: 'service_receive', currency: 'INR', bankAccount: { number: '123456789' } },
    });
    const to = { live: user, test: user, row, addressId };
    const available = async () =>
      Promise.all([user, live].map(async (one) => (await one.get('/v1/balance')).body.available));
    const { notice } = await earn(to, '6.00', '10.00');
    expect(await available()).toEqual([money('0.00', 'INR'), money('6.00', 'INR')]);
    await recordNotice(reversed(notice));
    expect(await available()).toEqual([money('0.00', 'INR'), money('0.00', 'INR')]);
    expect(await pendingOf(user, id)).toEqual(money('0.00', 'INR'));
    // A reversal that comes before its deposit takes what is pending, and nothing from the platform.
    await earn(to, '2.00', '2.00');
    const late = received(to);
    await recordNotice(reversed(late));
    await recordNotice(late);
    expect(await available()).toEqual([money('0.00', 'INR'), money('2.00', 'INR')]);
    expect(await pendingOf(user, id)).toEqual(money('0.00', 'INR'));
  });

  // Each of the two may query the other before the other is visible.
  it('is not lost if it is recorded at the same time as its deposit', async () => {
    const to = await receiver(1);
    const notices = Array.from({ length: 60 }, () => received(to));

    // Some at a time: on a busy machine all of them would not get the lock of the one balance in time.
    for (let first = 0; first < notices.length; first += 6)
      await Promise.all(
        notices.slice(first, first + 6).flatMap((notice) => [recordNotice(notice), recordNotice(reversed(notice))]),
      );

    const { body } = await to.live.graph('{ deposits(first: 100) { nodes { status } } }');
    expect(body.data.deposits.nodes).toEqual(notices.map(() => ({ status: 'REVERSED' })));
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  // The rare case, made certain: neither has committed when the other queries.
  it('is not lost if each of the two queries the other before it has committed', async () => {
    const to = await receiver(1);
    const notice = received(to);
    const { reference: utr, addressId, amount, currency } = notice;
    const content = {
      ...{ toAccountId: to.live.id, toAddressId: addressId, amount: String(amount), currency },
      ...{ fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null },
    };
    const record = (sql: typeof world.sql, event: string) =>
      sql.unsafe(`select * from record_bank_notice($1, true, '{}', $2::text::jsonb)`, [
        tenantOf(to.live),
        JSON.stringify({ reference: utr, event, content }),
      ]);
    let back: Promise<unknown> | undefined;

    await world.sql.begin(async (sql) => {
      await record(sql as never, 'received');
      back = record(world.sql, 'reversed');
      // It may wait for the deposit, or be finished already.
      await Promise.race([back, new Promise((resume) => setTimeout(resume, 300))]);
    });
    await back;

    expect((await depositsOf(to.live)).map((d) => d.status)).toEqual(['reversed']);
    expect(await recordNotice(reversed(notice))).toMatchObject({ deposit: { status: 'reversed' } });
  });

  // A transaction that locks two balances against their order deadlocks with a reconciliation.
  it('locks the balances that it needs in the common order', async () => {
    const to = await receiver(1);
    const partner = await partnerOf(to);
    const notice = received(to, { addressId: partner.addressId });
    const { deposit } = await recordNotice(notice);
    await reconciledWith(to, deposit!.id, '1.00');
    let recording: Promise<unknown> | undefined;

    await world.sql.begin(async (sql) => {
      await sql`select from balance where account_id = ${to.live.id} for update`;
      recording = recordNotice({ ...notice, reference: reference() });
      await eventually(
        () => world.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        (waiting) => waiting.length > 0,
      );
      // The user's balance comes before the partner's: a transaction that waits for it holds no later one.
      await sql`select from balance where account_id = ${partner.id} for update nowait`;
    });
    await recording;

    expect(await pendingOf(to.live, partner.id)).toEqual(money('19.00'));
  });
});

describe('notices in any order, any number of times', () => {
  it('leave the same money as if each had been recorded once and in order', async () => {
    const to = await receiver(1);
    const partner = await partnerOf(to);
    const places = { user: to.addressId, partner: partner.addressId };
    const transfer = fc.record({
      amount: fc.bigInt({ min: 1n, max: 99_999_999_999n }),
      place: fc.constantFrom('user' as const, 'partner' as const),
      // How often each notice is sent: a received transfer at least once.
      receipts: fc.integer({ min: 1, max: 3 }),
      reversals: fc.constantFrom(0, 0, 1, 2),
    });
    const held = { user: 0n, partner: 0n };
    let transfers = 0;
    let reversals = 0;

    await fc.assert(
      fc.asyncProperty(
        fc.array(transfer, { minLength: 20, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        async (history, randomness) => {
          const notices = history.flatMap(({ amount, place, receipts, reversals: backs }) => {
            const notice = received(to, { amount, addressId: places[place] });
            return [
              ...Array.from({ length: receipts }, () => notice),
              ...Array.from({ length: backs }, () => reversed(notice)),
            ];
          });
          const shuffled = notices
            .map((notice) => ({ notice, at: randomness.next().value as number }))
            .sort((a, b) => a.at - b.at);
          // Five at a time, so that copies of one notice meet.
          for (let i = 0; i < shuffled.length; i += 5)
            await Promise.all(shuffled.slice(i, i + 5).map(({ notice }) => recordNotice(notice)));

          for (const { amount, place, reversals: backs } of history) if (backs === 0) held[place] += amount;
          transfers += history.length;
          reversals += history.filter((t) => t.reversals > 0).length;
          const text = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
          expect([await pendingOf(to.live), await pendingOf(to.live, partner.id)]).toEqual([
            money(text(held.user)),
            money(text(held.partner)),
          ]);
          const { body } = await to.live.graph(
            '{ all: deposits { totalCount } back: deposits(status: [REVERSED]) { totalCount } }',
          );
          expect([body.data.all.totalCount, body.data.back.totalCount]).toEqual([transfers, reversals]);
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  });
});

const cents = (amount: string) => BigInt(amount.replace('.', ''));

/** Reconciles an amount of a deposit with a new receivable of the same amount. */
async function reconciledWith({ live }: Receiver, depositId: string, amount: string): Promise<any> {
  const currency = currencyOf[live.edition];
  const receivable = await done(
    live.post('/v1/receivables', {
      currency,
      invoice: {
        ...{ amount, currency, creation_date: '2026-10-01', due_date: '2026-12-01', reference_number: nickname() },
      },
      purpose_code: 'P0802',
      transaction_type: 'services',
    }),
  );
  await done(live.post(`/v1/deposits/${depositId}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
  return receivable;
}

/** Makes an amount available in live mode: records a bank notice and reconciles that amount with a receivable. */
async function earn(to: Receiver, amount: string, whole = amount) {
  const notice = received(to, { amount: cents(whole) });
  const { deposit } = await recordNotice(notice);
  return { notice, deposit: deposit!, receivable: await reconciledWith(to, deposit!.id, amount) };
}

/** Makes the waiting payout job due and runs it, since the clock of live mode cannot be advanced. */
async function payOut({ live }: Receiver): Promise<void> {
  await world.sql`update job set due = 0 where tenant_id = ${tenantOf(live)} and livemode and kind = 'pay_out'`;
  await world.database.call('run_jobs', [tenantOf(live), true, 50]);
}

const payoutsOf = async (speaker: Speaker): Promise<any[]> => (await speaker.get('/v1/payouts')).body.data;

describe('a payout in live mode', () => {
  it('stays in flight until the operator reports its end, for any length of time', async () => {
    const to = await receiver(2);
    const address = await payoutAddress(to.live);
    await earn(to, '60.00');
    await payOut(to);
    await payOut(to);
    expect(await payoutsOf(to.live)).toEqual([
      {
        ...{ id: expect.stringMatching(/^payout_/), object: 'payout', created: expect.any(Number), livemode: true },
        ...{ account_id: to.live.id, address_id: address.id, amount: '60.00', currency: 'INR' },
        ...{ status: 'processing', payment_id: expect.stringMatching(/^payment_/) },
        ...{ source_amount: '60.00', source_currency: 'INR', rate: '1', expected_arrival: expect.any(Number) },
      },
    ]);
    // The test helpers that end payouts in test mode do not work here.
    const [payout] = await payoutsOf(to.live);
    for (const verb of ['settle', 'fail'])
      expect((await to.live.post(`/v1/test_helpers/payouts/${payout.id}/${verb}`)).status).toBe(403);
  });

  it.each(['completed', 'failed'] as const)('is %s once, and accepts no other end after that', async (status) => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    const { receivable, deposit } = await earn(to, '60.00');
    await payOut(to);
    const [payout] = await payoutsOf(to.live);

    const ended = await world.operator.endPayout(payout.id, status);

    expect([ended.id, ended.status, ended.amount]).toEqual([payout.id, status, 6_000n]);
    for (const again of ['completed', 'failed'] as const)
      await expect(world.operator.endPayout(payout.id, again)).rejects.toMatchObject({
        status: 400,
        problems: [{ code: 'status_invalid' }],
      });
    const expected_arrival = status === 'failed' ? null : payout.expected_arrival;
    expect(await payoutsOf(to.live)).toEqual([{ ...payout, status, expected_arrival }]);
    const r = (await to.live.get(`/v1/receivables/${receivable.id}`)).body;
    const { available, payout_processing } = (await to.live.get('/v1/balance')).body;
    expect([r.amount_locked, r.amount_settled_payouts, r.deposit_ids_amount_locked, r.status]).toEqual(
      status === 'completed' ? ['0.00', '60.00', [], 'settled'] : ['60.00', '0.00', [deposit.id], 'locked'],
    );
    expect([available, payout_processing]).toEqual([
      money(status === 'completed' ? '0.00' : '60.00', 'INR'),
      money('0.00', 'INR'),
    ]);
  });

  it('has one end if many are reported concurrently', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    await earn(to, '60.00');
    await payOut(to);
    const [payout] = await payoutsOf(to.live);

    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => world.operator.endPayout(payout.id, i % 2 ? 'completed' : 'failed')),
    );

    const won = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value.status] : []));
    expect(won).toHaveLength(1);
    expect((await payoutsOf(to.live)).map((p) => p.status)).toEqual(won);
  });

  it('must exist to be ended', async () => {
    await expect(world.operator.endPayout(`payout_${'0'.repeat(32)}`, 'completed')).rejects.toThrow(/no such payout/);
  });

  it('is not made for an account that is not activated', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    await earn(to, '60.00');
    await world.operator.hold(to.row);
    await payOut(to);
    expect(await payoutsOf(to.live)).toEqual([]);
    await world.operator.verify(to.row, 'activated');
    await payOut(to);
    expect((await payoutsOf(to.live)).map((p) => p.amount)).toEqual(['60.00']);
  });
});

describe('the rates of live payouts', () => {
  let to: Receiver;
  beforeAll(async () => {
    to = await receiver(1);
    await payoutAddress(to.live);
  });

  it('are set by the operator: without a rate for another currency nothing is paid', async () => {
    await earn(to, '60.00');
    await payOut(to);
    expect(await payoutsOf(to.live)).toEqual([]);
    expect((await to.live.get('/v1/balance')).body.available).toContainEqual({ amount: '60.00', currency: 'USD' });

    // The other direction has a separate rate, and so has another tenant.
    const other = await receiver(1);
    await world.operator.setRate(to.row, 'INR', 'USD', '0.012');
    await world.operator.setRate(other.row, 'USD', 'INR', '90');
    await payOut(to);
    expect(await payoutsOf(to.live)).toEqual([]);

    await world.operator.setRate(to.row, 'USD', 'INR', '84.515');
    await payOut(to);
    const [payout, ...others] = await payoutsOf(to.live);
    expect([others, payout.amount, payout.currency]).toEqual([[], '5070.90', 'INR']);
    const { body } = await to.live.graph(`{ payout(id: "${payout.id}") { sourceAmount sourceCurrency rate } }`);
    expect(body.data.payout).toEqual({ sourceAmount: '60.00', sourceCurrency: 'USD', rate: '84.515' });
  });

  it('are as exact as they are given', async () => {
    const one = await receiver(1);
    await payoutAddress(one.live);
    // With 83 it is 9 paise less: late decimals of a rate matter for large amounts.
    await world.operator.setRate(one.row, 'USD', 'INR', '83.000000000001');
    await earn(one, '99999999999.99');
    await payOut(one);
    await world.operator.setRate(one.row, 'USD', 'INR', '0.9999999999999999');
    await earn(one, '10000.00');
    await payOut(one);
    expect((await payoutsOf(one.live)).map((p) => p.amount).toSorted()).toEqual(['8299999999999.26', '9999.99']);
  });

  it('are recorded as they were applied, also if one changes while the payout waits for a balance', async () => {
    const one = await receiver(1);
    await payoutAddress(one.live);
    await world.operator.setRate(one.row, 'USD', 'INR', '80');
    await earn(one, '10.00');
    let paying: Promise<void> | undefined;
    await world.sql.begin(async (sql) => {
      // Another transaction is creating the balance that the payout needs next.
      const keys = JSON.stringify([{ account: one.live.id, currency: 'INR' }]);
      await sql.unsafe('select lock_balances($1, true, $2::text::jsonb)', [tenantOf(one.live), keys]);
      paying = payOut(one);
      await eventually(
        () =>
          world.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%run_jobs%'
            and datname = current_database()`,
        (rows) => rows.length > 0,
      );
      await world.operator.setRate(one.row, 'USD', 'INR', '90');
    });
    await paying;
    const [payout] = await payoutsOf(one.live);
    const { body } = await one.live.graph(`{ payout(id: "${payout.id}") { sourceAmount amount rate } }`);
    expect(body.data.payout).toEqual({ sourceAmount: '10.00', amount: '900.00', rate: '90' });
  });

  it('that are absurd pay nothing and break nothing: the money waits for a valid rate', async () => {
    const one = await receiver(1);
    await payoutAddress(one.live);
    await world.operator.setRate(one.row, 'USD', 'INR', '9999999');
    await earn(one, '99999999999.99');
    await payOut(one);
    expect(await payoutsOf(one.live)).toEqual([]);
    const stuck =
      await world.sql`select kind, attempts, error from job where tenant_id = ${tenantOf(one.live)} and livemode
        and error is not null`;
    expect([...stuck]).toEqual([]);
    await world.operator.setRate(one.row, 'USD', 'INR', '83.25');
    await payOut(one);
    expect((await payoutsOf(one.live)).map((p) => p.amount)).toEqual(['8324999999999.16']);
  });

  it('trigger the waiting payouts of accounts with live FX', async () => {
    const { live: platform } = await given.platformBoth(1);
    const root = await world.operator.account(platform.id, true);
    await world.operator.updateRoot(root, { liveFx: true });
    const id = await assemble(platform, complete(1, 'individual'));
    await done(platform.post(`/v1/accounts/${id}/activate`));
    const row = await world.operator.verify(await world.operator.account(id), 'activated');
    const address = await world.operator.issueAddress(row, {
      ...{ category: 'service_receive', currency: 'USD', bankAccount: { number: '123456789' } },
    });
    const user = { live: platform.actingFor(id), test: platform, row, addressId: address.id };
    const work = () => world.database.call('run_jobs', [tenantOf(platform), true, 50]);
    const paid = async () => (await payoutsOf(user.live)).map((p) => [p.amount, p.currency]);
    await earn(user, '60.00');
    await work();
    expect(await paid()).toEqual([]);

    await world.operator.setRate(root, 'USD', 'INR', '84');
    await work();
    await work();

    expect(await paid()).toEqual([['5040.00', 'INR']]);
    await earn(user, '1.00');
    await work();
    expect(await paid()).toEqual([
      ['84.00', 'INR'],
      ['5040.00', 'INR'],
    ]);
  });

  it('may change, and each payout keeps its own', async () => {
    await earn(to, '1.00');
    await world.operator.setRate(to.row, 'USD', 'INR', '85.5555');
    await payOut(to);
    // Fractions of a paisa are not paid out.
    expect((await payoutsOf(to.live)).map((p) => p.amount)).toEqual(['85.55', '5070.90']);
  });

  it('do not apply to test mode, which has its own table', async () => {
    await done(to.test.post('/v1/test_helpers/clock', { advance_seconds: 1 }));
    await payoutAddress(to.test);
    const deposit = await done(to.test.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
    await done(to.test.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
    const receivable = await done(
      to.test.post('/v1/receivables', {
        currency: 'USD',
        invoice: {
          ...{ amount: '1.00', currency: 'USD', creation_date: '2026-10-01', due_date: '2026-12-01' },
          reference_number: nickname(),
        },
        purpose_code: 'P0802',
        transaction_type: 'services',
      }),
    );
    const receivables = [{ id: receivable.id, amount: '1.00' }];
    await done(to.test.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }));
    await done(to.test.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await world.database.call('run_jobs', [tenantOf(to.test), false, 50]);
    expect((await payoutsOf(to.test)).map((p) => p.amount)).toEqual(['83.00']);
  });

  it('are positive', async () => {
    for (const rate of ['0', '-1', 'NaN', 'one'])
      await expect(world.operator.setRate(to.row, 'USD', 'EUR', rate)).rejects.toThrow();
    const stored = await world.sql`select rate from rate where tenant_id = ${tenantOf(to.live)} and target = 'EUR'`;
    expect(stored).toEqual([]);
  });

  it('are not needed if the currency is the same', async () => {
    const own = await receiver(2);
    await payoutAddress(own.live);
    await earn(own, '7.00');
    await payOut(own);
    expect((await payoutsOf(own.live)).map((p) => [p.amount, p.currency])).toEqual([['7.00', 'INR']]);
  });
});
