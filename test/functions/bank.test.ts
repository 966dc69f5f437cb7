import { expect, it } from 'vitest';
import { makeAccount, moneyOf, refusal, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { of, call, value, write, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { addressOf, balance } = moneyOf(fixture, root);
let references = 0;
const reference = () => `UTR ${++references}`;

const content = async (more: object = {}) => {
  const [address] = await addressOf(root.id);
  return {
    ...{ toAccountId: root.id, toAddressId: address!.id, amount: 100n, currency: 'USD', fromAccountId: null },
    ...{ paymentMethod: 'domestic_credit', statementDescriptor: null, ...more },
  };
};
const record = async (of_: string, event: string, fields: object = {}, more: object = {}) =>
  write(root, 'record_bank_notice', { reference: of_, event, content: await content(fields), ...more });
const pending = async () => Number((await balance(root.id)).pending ?? 0);

of('record_bank_notice', () => {
  it('makes a completed deposit, once', async () => {
    const [id, before] = [reference(), await pending()];
    const partner = await makeAccount(fixture, root);
    const notice = await record(id, 'received', { fromAccountId: partner.id });
    expect(await record(id, 'received', { fromAccountId: partner.id })).toEqual(notice);
    const deposit = await stored('deposit', root, notice.deposit_id);
    expect(deposit).toMatchObject({ status: 'completed', from_account_id: partner.id });
    expect((await pending()) - before).toBe(100);
  });

  it('reverses the deposit, whichever notice comes first', async () => {
    const [one, other, before] = [reference(), reference(), await pending()];
    await record(one, 'received');
    const { deposit_id: id } = await record(one, 'reversed');
    expect(await stored('deposit', root, id)).toMatchObject({ status: 'reversed', reason_code: 'general' });
    expect(await record(other, 'reversed')).toMatchObject({ deposit_id: null });
    expect(await eventsOf(root, root.id)).toContain('bank_notice.waiting');
    const late = await record(other, 'received');
    expect(await stored('deposit', root, late.deposit_id)).toMatchObject({ status: 'reversed' });
    expect(await pending()).toBe(before);
  });

  it('refuses other content under a reference, except for what the notice leaves open', async () => {
    const id = reference();
    await record(id, 'received');
    const different = 'state_conflict deposit.reference';
    expect(await refusal(record(id, 'received', { statementDescriptor: 'INV' }))).toBe(different);
    await record(id, 'received', { statementDescriptor: 'INV' }, { open: ['statementDescriptor'] });
    expect(await refusal(record(id, 'reversed', { amount: 99n }))).toBe('state_conflict deposit.amount');
  });

  it('refuses another currency than that of the address, unless it is allowed', async () => {
    const id = reference();
    expect(await refusal(record(id, 'received', { currency: 'EUR' }))).toBe('parameter_invalid deposit.currency');
    await record(id, 'received', { currency: 'EUR' }, { allowCurrency: true });
  });

  it('refuses content with other keys than declared', async () => {
    await expect(record(reference(), 'received', { note: 'x' })).rejects.toThrow(
      'record_bank_notice: "content.note" is not declared',
    );
  });
});

of('receive_transfer', () => {
  it('creates a completed deposit of the transfer', async () => {
    const { amount, ...rest } = await content({ statementDescriptor: 'INV 7' });
    const given = JSON.stringify({ ...rest, amount: String(amount) });
    const id = await value('receive_transfer', root.tenantId, false, '{}', given, 45);
    const made = { status: 'completed', amount: '100', created: '45', statement_descriptor: 'INV 7' };
    expect(await stored('deposit', root, id)).toMatchObject(made);
  });
});

of('reverse_transfer', () => {
  it('reverses the deposit', async () => {
    const { deposit_id: id } = await record(reference(), 'received');
    await call('reverse_transfer', root.tenantId, false, '{}', id);
    expect(await stored('deposit', root, id)).toMatchObject({ status: 'reversed', reason_code: 'general' });
  });
});

of('refuse_other_currency', () => {
  it('refuses another currency than that of the address', async () => {
    const check = async (currency: string) => {
      const { toAddressId } = await content();
      await call('refuse_other_currency', root.tenantId, false, JSON.stringify({ toAddressId, currency }));
    };
    await check('USD');
    expect(await refusal(check('EUR'))).toBe('parameter_invalid deposit.currency');
  });
});

of('same_transfer', () => {
  const transfer = { toAddressId: 'address_1', currency: 'USD', amount: '1' };
  const compare = (other: object | null) =>
    call('same_transfer', JSON.stringify(transfer), other && JSON.stringify(other));

  it('accepts the same transfer, and none before', async () => {
    await compare({ ...transfer, paymentMethod: 'x' });
    await compare(null);
  });

  it.each([
    ['toAddressId', 'address_id'],
    ['currency', 'currency'],
    ['amount', 'amount'],
  ])('refuses another %s', async (key, field) => {
    expect(await refusal(compare({ ...transfer, [key]: '2' }))).toBe(`state_conflict deposit.${field}`);
  });
});

of('withdraw_bank_notice', () => {
  it('removes a reversal that waits, and refuses any other', async () => {
    const [id, other] = [reference(), reference()];
    await record(id, 'reversed');
    await record(other, 'received');
    const [address] = await addressOf(root.id);
    const withdraw = (of_: string) => write(root, 'withdraw_bank_notice', { reference: of_, addressId: address!.id });
    expect(await withdraw(id)).toMatchObject({ reference: id });
    expect(await stored('bank_notice', root, id, 'reference')).toBeUndefined();
    expect(await refusal(withdraw(other))).toBe('resource_missing deposit.reference');
  });
});
