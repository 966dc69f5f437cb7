import { expect, it } from 'vitest';
import { moneyOf, refusal, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { addressOf, balance } = moneyOf(fixture, root);
let references = 0;
const reference = () => `RCL ${++references}`;
const pending = async () => Number((await balance(root.id)).pending ?? 0);

/** Where the money of a notice comes to. */
const place = async () => {
  const [address] = await addressOf(root.id);
  return { toAccountId: root.id, toAddressId: String(address!.id), amount: 100n, currency: 'USD' };
};
/** A received transfer of 1.00, with what its bank says. */
async function received(details?: object, of_ = reference()) {
  const content = {
    ...(await place()),
    ...{ fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null },
  };
  return write(root, 'record_bank_notice', { reference: of_, event: 'received', content, ...(details && { details }) });
}
const recall = async (original: string, of_: string, amount: bigint, more: object = {}, reason?: string) =>
  write(root, 'record_bank_recall', {
    ...{ reference: of_, originalReference: original, content: { ...(await place()), amount, ...more } },
    ...(reason && { reasonCode: reason }),
  });
const open = (id: string, of_: string, amount?: bigint, reasonCode = 'high_risk') =>
  write(root, 'open_dispute', { id, reference: of_, reasonCode, ...(amount !== undefined && { amount }) });

of('checked_reference', () => {
  const check = (given: string) => value('checked_reference', given, 'deposit.reference');

  it('leaves out the white space around a reference', async () => {
    expect(await check('\u00A0UTR 1\n')).toBe('UTR 1');
  });

  it('refuses one that is empty or has characters that nobody sees', async () => {
    expect(await refusal(check(' \t'))).toBe('parameter_invalid_empty deposit.reference');
    for (const given of ['A\u0001B', 'A\nB', 'A\u200BB', 'A\u202EB'])
      expect(await refusal(check(given))).toBe('parameter_invalid deposit.reference');
  });
});

of('refuse_other_details', () => {
  it('refuses other words about the payer than the recorded ones, and takes fewer', async () => {
    const { deposit_id: id } = await received({ payerName: 'Acme', payerLines: ['1 Main St', 'Pune'], text: 'INV 7' });
    const check = (details: object | null) =>
      call('refuse_other_details', root.tenantId, false, id, details && JSON.stringify(details));
    for (const same of [null, {}, { payerName: 'Acme' }, { payerLines: ['1 Main St', 'Pune'], text: 'INV 7' }])
      await check(same);
    for (const other of [{ payerName: 'Acme Ltd' }, { payerLines: ['1 Main St'] }, { payerCountry: 'IN' }])
      expect(await refusal(check(other))).toBe('state_conflict deposit.reference');
  });
});

of('recalled_transfer', () => {
  const find = async (of_: string, more: object = {}) => {
    const { amount, ...rest } = { ...(await place()), ...more };
    const [row] = await call('recalled_transfer', root.tenantId, false, of_, JSON.stringify({ ...rest, amount: '1' }));
    return row!;
  };

  it('is the received transfer with the reference, whatever the amount is', async () => {
    const { reference: of_, deposit_id: id } = await received();
    for (const given of [of_, ` ${of_}\n`]) expect(await find(given)).toMatchObject({ deposit_id: id });
  });

  it('is the one with the exact reference, or with money, where an earlier release has credited several', async () => {
    const of_ = reference();
    const padded: string[] = [];
    for (const space of ['\t', '  ']) {
      const { reference: bare, deposit_id: id } = await received();
      await world.sql`update bank_notice set reference = ${of_ + space}
        where tenant_id = ${root.tenantId} and reference = ${bare}`;
      padded.push(id);
    }
    expect(await find(of_)).toMatchObject({ deposit_id: padded[0] });
    await write(root, 'move_deposit', { id: padded[0]!, from: ['completed'], to: 'reversed' });
    expect(await find(of_)).toMatchObject({ deposit_id: padded[1] });
    expect(await find(`${of_}\t`)).toMatchObject({ deposit_id: padded[0] });
    await write(root, 'move_deposit', { id: padded[1]!, from: ['completed'], to: 'reversed' });
    expect(await find(of_)).toMatchObject({ deposit_id: padded[0] });
  });

  it('refuses a reference under which nothing was received, and another currency or address', async () => {
    const none = 'resource_missing deposit.original_reference';
    expect(await refusal(find(reference()))).toBe(none);
    const { reference: of_ } = await received();
    expect(await refusal(find(of_, { currency: 'EUR' }))).toBe('state_conflict deposit.currency');
    expect(await refusal(find(of_, { toAddressId: 'address_1' }))).toBe('state_conflict deposit.address_id');
    // A reversal that waits has received nothing.
    const waiting = reference();
    const content = {
      ...(await place()),
      ...{ fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null },
    };
    await write(root, 'record_bank_notice', { reference: waiting, event: 'reversed', content });
    expect(await refusal(find(waiting))).toBe(none);
  });
});

of('dispute_once', () => {
  const dispute = async (id: string, of_: string, amount: string | null, reason: string | null = null) => {
    const [row] = await call('dispute_once', root.tenantId, false, '{}', 'recall', of_, id, amount, reason);
    return row!;
  };

  it('disputes once under a reference, and compares what is given', async () => {
    const [{ deposit_id: id }, { deposit_id: other }, of_] = [await received(), await received(), reference()];
    const before = await pending();
    const taken = await dispute(id, of_, '30', 'duplicate');
    expect(taken).toMatchObject({ amount: '-30', disputes_id: id, reason_code: 'duplicate', status: 'completed' });
    expect(taken.bank_details).toEqual({ reference: of_ });
    expect(await dispute(id, of_, '30', 'duplicate')).toEqual(taken);
    expect(await dispute(id, of_, null)).toEqual(taken);
    expect(before - (await pending())).toBe(30);
    const conflict = 'state_conflict deposit.reference';
    expect(await refusal(dispute(id, of_, '31', 'duplicate'))).toBe(conflict);
    expect(await refusal(dispute(id, of_, '30', 'general'))).toBe(conflict);
    expect(await refusal(dispute(other, of_, '30', 'duplicate'))).toBe(conflict);
    expect(await eventsOf(root, taken.id)).toEqual(['deposit.completed']);
    expect(await eventsOf(root, id)).toEqual(['deposit.completed', 'deposit.disputed']);
  });

  it('keeps what refunds have left too little for as unexplained', async () => {
    const { deposit_id: id } = await received();
    const refund = await write(root, 'create_refund', { depositId: id, amount: 80n });
    await write(root, 'move_refund', { id: refund.id, to: 'succeeded' });
    const taken = await dispute(id, reference(), '50');
    expect(taken.amount).toBe('-20');
    const rows = await world.sql`select amount, currency, reason, transaction_id from unexplained
      where deposit_id = ${taken.id}`;
    expect(rows).toEqual([{ amount: '-30', currency: taken.currency, reason: 'beyond_deposit', transaction_id: null }]);
    const entries = await world.sql`
      select c.contra, c.amount from posting p join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
      where p.payment_id = ${taken.payment_id} and p.kind = 'unexplained' order by 1`;
    expect(entries).toEqual([
      { contra: 'dispute', amount: '30' },
      { contra: 'unexplained', amount: '-30' },
    ]);
  });

  it('takes all that is left without an amount', async () => {
    const { deposit_id: id } = await received();
    await dispute(id, reference(), '30');
    expect(await dispute(id, reference(), null)).toMatchObject({ amount: '-70', reason_code: 'general' });
  });

  // The balances of two deposits of different accounts are locked by neither.
  it('refuses the reference that another deposit was disputed under meanwhile, and takes nothing', async () => {
    const { deposit_id: id } = await received();
    const of_ = reference();
    await world.sql`insert into clawback
      values (${root.tenantId}, false, 'chargeback', ${of_}, 1, 'deposit_1', 'deposit_2', 1, 'general')`;
    const before = await pending();
    expect(await refusal(open(id, of_, 10n))).toBe('state_conflict deposit.reference');
    expect(await pending()).toBe(before);
    await world.sql`delete from clawback where tenant_id = ${root.tenantId} and reference = ${of_}`;
  });
});

of('record_bank_recall', () => {
  it('takes parts of a transfer back, each once, and a reversal takes the rest', async () => {
    const before = await pending();
    const { reference: original, deposit_id: id } = await received({ payerName: 'Acme' });
    const [one, two] = [reference(), reference()];
    const taken = await recall(original, one, 30n, {}, 'incorrect_amount');
    expect(taken).toMatchObject({ amount: '-30', reason_code: 'incorrect_amount', disputes_id: id });
    expect(await recall(` ${original}`, `${one}\t`, 30n)).toEqual(taken);
    await recall(original, two, 20n);
    expect((await pending()) - before).toBe(50);
    expect(await stored('deposit', root, id)).toMatchObject({
      status: 'completed',
      disputed: '50',
      pending_rest: '50',
    });

    const content = {
      ...(await place()),
      ...{ fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null },
    };
    await write(root, 'record_bank_notice', { reference: original, event: 'reversed', content });
    expect(await pending()).toBe(before);
    expect(await refusal(recall(original, reference(), 1n))).toBe('status_invalid deposit.status');
    expect(await recall(original, two, 20n)).toMatchObject({ amount: '-20' });
  });

  it('refuses more than was received, and the reference of the transfer itself', async () => {
    const { reference: original } = await received();
    expect(await refusal(recall(original, reference(), 101n))).toBe('amount_exceeds_deposit deposit.amount');
    expect(await refusal(recall(original, original, 10n))).toBe('state_conflict deposit.reference');
  });
});

of('open_dispute', () => {
  it('has the words of the acquirer and the last moment of an answer', async () => {
    const { deposit_id: id } = await received();
    const words = { respondBy: 2_000_000_000, acquirerReason: '10.4 Fraud' };
    const asked = { id, reference: reference(), reasonCode: 'high_risk', amount: 5n, ...words };
    expect(await write(root, 'open_dispute', asked)).toMatchObject({
      ...{ respond_by: '2000000000', acquirer_reason: '10.4 Fraud' },
    });
  });

  it('disputes a deposit once, by default all that is left', async () => {
    const { deposit_id: id, reference: original } = await received();
    const of_ = reference();
    await recall(original, reference(), 25n);
    const taken = await open(id, of_);
    expect(taken).toMatchObject({
      ...{ amount: '75', deposit_id: id, reason_code: 'high_risk', reference: of_, status: 'needs_response' },
      ...{ respond_by: null, acquirer_reason: null, evidence_file_ids: [], submitted_at: null, decided_at: null },
    });
    expect(await stored('deposit', root, taken.debit_deposit_id)).toMatchObject({ amount: '-75', disputes_id: id });
    expect(await eventsOf(root, taken.id)).toEqual(['dispute.opened']);
    for (const amount of [undefined, 75n]) expect(await open(id, of_, amount)).toEqual(taken);
    expect(await refusal(open(id, of_, 74n))).toBe('state_conflict deposit.reference');
    // The references of recalls are the bank's.
    const { reference: other, deposit_id: second } = await received();
    await recall(other, of_, 5n);
    expect(await open(second, reference(), 5n)).toMatchObject({ amount: '5' });
    expect(await refusal(open(taken.debit_deposit_id, reference()))).toBe('status_invalid deposit.status');
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toEqual([]);
});
