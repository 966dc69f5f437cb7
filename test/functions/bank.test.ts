import { expect, it } from 'vitest';
import { whiteSpace } from '../../src/operator/table.js';
import { makeAccount, moneyOf, refusal, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, stored, eventsOf, rowText } = fixture;
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

  it('credits a transfer once, whatever white space is around its reference, in either order', async () => {
    const [id, before] = [reference(), await pending()];
    const notice = await record(`${id} `, 'received');
    expect(notice.reference).toBe(id);
    for (const given of [id, `\t${id}`, `${id}\n`, `\u00A0${id}`])
      expect(await record(given, 'received')).toEqual(notice);
    expect((await pending()) - before).toBe(100);
    expect(await record(` ${id}`, 'reversed')).toMatchObject({ reference: id, deposit_id: notice.deposit_id });
    expect(await pending()).toBe(before);

    const other = reference();
    expect(await record(`${other}\t`, 'reversed')).toMatchObject({ reference: other, deposit_id: null });
    const late = await record(` ${other}`, 'received');
    expect(await stored('deposit', root, late.deposit_id)).toMatchObject({ status: 'reversed' });
  });

  it('knows what an earlier release has stored with white space', async () => {
    const [id, other] = [reference(), reference()];
    const deposit = await recordedBefore(`${id} `, 'received');
    const before = await pending();
    expect(await record(id, 'received')).toMatchObject({ deposit_id: deposit });
    expect(await pending()).toBe(before);
    expect(await record(id, 'reversed')).toMatchObject({ deposit_id: deposit });
    expect(await stored('deposit', root, deposit!)).toMatchObject({ status: 'reversed' });
    // A reversal that waits is carried out when its deposit arrives.
    await recordedBefore(` ${other}`, 'reversed');
    const late = await record(other, 'received');
    expect(await stored('deposit', root, late.deposit_id)).toMatchObject({ status: 'reversed' });
  });

  it('credits a transfer no more when an earlier release has left its reversal waiting', async () => {
    const [id, before] = [reference(), await pending()];
    await recordedBefore(`${id} `, 'reversed', 1);
    const deposit = await recordedBefore(id, 'received', 2);
    for (const given of [id, `${id} `]) expect(await record(given, 'received')).toMatchObject({ deposit_id: deposit });
    expect((await pending()) - before).toBe(100);
    expect(await record(`${id} `, 'reversed')).toMatchObject({ reference: id, deposit_id: deposit });
    expect(await pending()).toBe(before);
  });

  it('takes each of several credits of one transfer back, under its reference as it is stored', async () => {
    const id = reference();
    const before = await pending();
    const [oldest, newer] = [await recordedBefore(id, 'received', 1), await recordedBefore(`${id} `, 'received', 2)];
    expect(await record(`${id} `, 'received')).toMatchObject({ deposit_id: oldest });
    expect(await record(`${id} `, 'reversed')).toMatchObject({ deposit_id: newer });
    expect((await pending()) - before).toBe(100);
    expect(await record(id, 'reversed')).toMatchObject({ deposit_id: oldest });
    expect(await pending()).toBe(before);
  });

  it('refuses content with other keys than declared', async () => {
    await expect(record(reference(), 'received', { note: 'x' })).rejects.toThrow(
      'record_bank_notice: "content.note" is not declared',
    );
  });
});

async function storedContent(more: object = {}): Promise<string> {
  const { amount, ...rest } = await content(more);
  return JSON.stringify({ ...rest, amount: String(amount) });
}

/** Another address of the account that takes money. */
async function otherAddress(): Promise<string> {
  const owner = await rowText('account', root, root.id);
  const [made] = await call(
    'insert_address',
    root.tenantId,
    false,
    '{}',
    owner,
    'service_receive',
    'bank_account',
    'USD',
  );
  return String(made!.id);
}

/** A notice as an earlier release stored it: with the white space that is around its reference, and its own deposit. */
async function recordedBefore(
  of_: string,
  event: 'received' | 'reversed',
  created = 1,
  more: object = {},
): Promise<string | null> {
  const given = await storedContent(more);
  const id =
    event === 'received' ? String(await value('receive_transfer', root.tenantId, false, '{}', given, created)) : null;
  await world.sql`insert into bank_notice (tenant_id, livemode, reference, event, created, deposit_id, content)
    values (${root.tenantId}, false, ${of_}, ${event}, ${created}, ${id}, ${given}::text::jsonb)`;
  return id;
}

const spaces = [' ', '\t', '\n', '\r\n', '\u00A0', '\u2003', '\u3000', '\u0085', '\uFEFF', '\u2028'];

of('white_space', () => {
  it('has what the index of padded references leaves out, and all white space of JavaScript', async () => {
    const found: string = await value('white_space');
    expect(found).toBe(JSON.parse(`"${whiteSpace}"`));
    for (let code = 0; code < 0x10000; code++) {
      const character = String.fromCharCode(code);
      if (character.trim() === '' || /\p{White_Space}/u.test(character))
        expect([code, found]).toEqual([code, expect.stringContaining(character)]);
    }
    expect([...found].filter((character) => !/[\p{White_Space}\uFEFF]/u.test(character))).toEqual([]);
  });
});

of('stored_reference', () => {
  const referenceOf = async (given: string, event = 'received') =>
    value('stored_reference', root.tenantId, false, given, event, await storedContent());

  it.each(spaces.map((space) => [JSON.stringify(space), space]))(
    'leaves %s around a reference out',
    async (_, space) => {
      const id = reference();
      expect(await referenceOf(`${space}${id}${space}${space}`)).toBe(id);
      const { deposit_id: deposit } = await record(id, 'received');
      expect(await record(`${id}${space}`, 'received')).toMatchObject({ reference: id, deposit_id: deposit });
    },
  );

  it('is that of the oldest notice with the same but for white space', async () => {
    const id = reference();
    await recordedBefore(`${id} `, 'received', 3);
    await recordedBefore(`\t${id}`, 'received', 2);
    await recordedBefore(`${id}\n`, 'received', 2);
    for (const given of [id, `${id} `, ` ${id}`]) expect(await referenceOf(given)).toBe(`\t${id}`);
    // A reversal under the reference of one of them takes that one back.
    expect(await referenceOf(`${id} `, 'reversed')).toBe(`${id} `);
    expect(await referenceOf(id, 'reversed')).toBe(`\t${id}`);
  });

  it('is that of the same transfer where another one has it but for white space', async () => {
    const [id, other] = [reference(), { amount: 99n }];
    const ten = await recordedBefore(id, 'received', 1);
    const nine = await recordedBefore(`${id} `, 'received', 2, other);
    expect(await record(`${id} `, 'received', other)).toMatchObject({ reference: `${id} `, deposit_id: nine });
    expect(await record(id, 'reversed', other)).toMatchObject({ reference: `${id} `, deposit_id: nine });
    expect(await record(`${id} `, 'reversed')).toMatchObject({ reference: id, deposit_id: ten });
    expect(await refusal(record(id, 'received', { amount: 98n }))).toBe('state_conflict deposit.reference');
  });

  it.each(['A\tB', 'A\u0001B', 'A\nB', 'A\u0085B', 'A\u200BB', 'A\u202EB', 'A\uFEFFB'])('refuses %j', async (given) => {
    expect(await refusal(referenceOf(given))).toBe('parameter_invalid deposit.reference');
  });

  it('refuses a reference of white space alone', async () => {
    expect(await refusal(referenceOf(spaces.join('')))).toBe('parameter_invalid_empty deposit.reference');
  });

  it('knows a reference with a control character that was recorded before', async () => {
    const id = `${reference()}\tX`;
    const deposit = await recordedBefore(id, 'received');
    expect(await record(id, 'reversed')).toMatchObject({ deposit_id: deposit });
  });
});

of('refuse_other_deposit', () => {
  it('refuses a reversal again after a duplicate was taken back, until the other deposit is reversed', async () => {
    const id = reference();
    await recordedBefore(id, 'received', 1);
    await recordedBefore(`${id} `, 'received', 2);
    await record(`${id} `, 'reversed');
    const check = () => call('refuse_other_deposit', root.tenantId, false, `${id} `);
    const conflict = 'state_conflict deposit.reference';
    expect([await refusal(check()), await refusal(record(`${id} `, 'reversed'))]).toEqual([conflict, conflict]);
    const taken = await record(id, 'reversed');
    await check();
    expect(await record(id, 'reversed')).toEqual(taken);
  });

  it('returns the reversal again where the other deposit is of another transfer', async () => {
    for (const other of [{ amount: 99n }, { currency: 'EUR' }, { toAddressId: await otherAddress() }]) {
      const id = reference();
      await recordedBefore(id, 'received', 1);
      await recordedBefore(`${id} `, 'received', 2, other);
      const taken = await record(id, 'reversed');
      await call('refuse_other_deposit', root.tenantId, false, id);
      expect(await record(id, 'reversed')).toEqual(taken);
      // The duplicate of the same transfer is still to be reversed by its own reference.
      await recordedBefore(`\t${id}`, 'received', 3);
      expect(await refusal(record(id, 'reversed'))).toBe('state_conflict deposit.reference');
    }
  });
});

of('bank_notices_under', () => {
  it('are those with the reference, whatever white space is around it', async () => {
    const id = reference();
    await recordedBefore(id, 'received');
    await recordedBefore(` ${id}`, 'reversed');
    await recordedBefore(`${id}x`, 'received');
    const found = await call('bank_notices_under', root.tenantId, false, id);
    expect(found.map((row) => row.reference).toSorted()).toEqual([` ${id}`, id]);
  });

  // Few notices have white space, so this index is small, and the primary key has the others.
  it('finds those with white space by their index', async () => {
    const plan = await world.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      return tx`explain select from bank_notice b where b.tenant_id = 'x' and b.livemode
        and btrim(b.reference, white_space()) = 'y' and b.reference <> btrim(b.reference, white_space())`;
    });
    expect(JSON.stringify(plan)).toContain('bank_notice_padded');
  });
});

of('receive_transfer', () => {
  it('creates a completed deposit of the transfer', async () => {
    const given = await storedContent({ statementDescriptor: 'INV 7' });
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

of('refuse_without_details', () => {
  it('refuses an address of a fee advance that has no details', async () => {
    const owner = await rowText('account', root, root.id);
    const fee = ['service_fee_advance', 'bank_account', 'USD'] as const;
    const [made] = await call('insert_address', root.tenantId, false, '{}', owner, ...fee);
    const id = String(made!.id);
    const check = async (toAddressId: string) =>
      call('refuse_without_details', root.tenantId, false, JSON.stringify({ toAddressId }));
    expect(await refusal(check(id))).toBe('address_unusable deposit.address_id');
    expect(await refusal(record(reference(), 'received', { toAddressId: id }))).toBe(
      'address_unusable deposit.address_id',
    );
    await check((await content()).toAddressId);
    await world.sql`update address set bank_account = '{"number": "12"}' where id = ${id}`;
    await check(id);
  });
});

of('is_same_transfer', () => {
  it('compares the address, the currency and the amount', async () => {
    const transfer = { toAddressId: 'address_1', currency: 'USD', amount: '1' };
    const compare = (other: object) => value('is_same_transfer', JSON.stringify(transfer), JSON.stringify(other));
    expect(await compare({ ...transfer, paymentMethod: 'x' })).toBe(true);
    for (const key of Object.keys(transfer)) expect(await compare({ ...transfer, [key]: '2' })).toBe(false);
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
    const padded = reference();
    await recordedBefore(`${padded}\t`, 'reversed');
    expect(await withdraw(` ${padded}`)).toMatchObject({ reference: `${padded}\t` });
  });
});
