import type postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { refusal, type Row, useFunctions } from './fixture.js';
import { payeesOf } from './payee.js';

const fixture = useFunctions();
const { world, of, call } = fixture;
const payee = payeesOf(fixture);
const json = JSON.stringify;
let files = 0;

const file = async (): Promise<string> =>
  (await call('store_bank_file', 'a.xml', `hash ${++files}`, 'camt.053.001.08', 1, 'anna'))[0]!.id;
const line = (number: number, more: object = {}) => ({
  ...{ number, line: number, statement: 1, account: 'A1', payee: null, direction: 'credit', is_reversal: false },
  ...{ is_unclear: false, amount: '100', currency: 'USD', day: '2026-11-27', reference: `R${number}`, details: {} },
  ...{ state: 'unmatched', reason: 'unknown_account', tenant: null, address_id: null, deposit_id: null, ...more },
});
const linesOf = (id: string): Promise<Row[]> =>
  world.sql`select * from bank_line where file_id = ${id} order by number`;
const move = (id: string, from: string, to: string, changes: object = {}, number = 1) =>
  call('move_bank_line', id, number, from, to, json(changes));

of('save_bank_mapping', () => {
  it('saves a mapping in place of the one with its name', async () => {
    await call('save_bank_mapping', 'bank', '{"decimal": "."}', 'anna');
    const [row] = await call('save_bank_mapping', 'bank', '{"decimal": ","}', 'bruno');
    expect(row).toMatchObject({ name: 'bank', created_by: 'bruno', mapping: { decimal: ',' } });
    expect(await world.sql`select mapping from bank_mapping`).toEqual([{ mapping: { decimal: ',' } }]);
  });
});

of('store_bank_file', () => {
  it('stores a file once by its hash', async () => {
    const [made] = await call('store_bank_file', 'a.xml', 'same', 'csv', 3, 'anna');
    expect(made).toMatchObject({ name: 'a.xml', format: 'csv', lines: 3, created_by: 'anna', stored_at: null });
    expect(await call('store_bank_file', 'b.xml', 'same', 'csv', 3, 'bruno')).toEqual([made]);
  });
});

of('store_bank_lines', () => {
  it('stores lines and statements once, and leaves those that are stored as they are', async () => {
    const id = await file();
    const statement = { number: 1, account: 'A1', currency: 'USD', day: '2026-11-27', opening: '5', closing: '105' };
    const store = (...lines: object[]) =>
      call('store_bank_lines', id, json(lines), json([{ ...statement, not_booked: 2 }]));
    await store(line(1));
    await move(id, 'unmatched', 'returned', { note: 'sent back' });
    await store(line(1, { amount: '200' }), line(2, { state: 'matched', reason: null, tenant: 't', address_id: 'a' }));
    expect(await linesOf(id)).toMatchObject([
      { number: 1, amount: '100', state: 'returned', note: 'sent back' },
      { number: 2, amount: '100', state: 'matched', tenant: 't', address_id: 'a', allow_currency: false },
    ]);
    expect(await world.sql`select closing, not_booked from bank_statement where file_id = ${id}`).toEqual([
      { closing: '105', not_booked: 2 },
    ]);
  });
});

of('finish_bank_file', () => {
  it('records once that all lines are stored', async () => {
    const id = await file();
    const [finished] = await call('finish_bank_file', id);
    expect(Number(finished!.stored_at)).toBeGreaterThan(1_700_000_000);
    await world.sql`update bank_file set stored_at = 5 where id = ${id}`;
    expect((await call('finish_bank_file', id))[0]!.stored_at).toBe('5');
  });
});

of('forget_bank_file', () => {
  it('forgets a file that is not stored whole, and no other', async () => {
    const [whole, part] = [await file(), await file()];
    for (const id of [whole, part]) await call('store_bank_lines', id, json([line(1)]), '[]');
    await call('finish_bank_file', whole);
    for (const id of [whole, part]) await call('forget_bank_file', id);
    const left = await world.sql`select f.id, l.number from bank_file f left join bank_line l on l.file_id = f.id
      where f.id in (${whole}, ${part})`;
    expect(left).toEqual([{ id: whole, number: 1 }]);
  });
});

of('move_bank_line', () => {
  const stored = async (more: object = {}) => {
    const id = await file();
    await call('store_bank_lines', id, json([line(1, more)]), '[]');
    return id;
  };
  const to = { tenant: 't', address_id: 'address_1', allow_currency: true };

  it('moves a line once, with what is known then', async () => {
    const id = await stored();
    const [claimed] = await move(id, 'unmatched', 'matched', { ...to, decided_by: 'anna' });
    expect(claimed).toMatchObject({ state: 'matched', reason: null, ...to, decided_by: 'anna' });
    expect(Number(claimed!.decided_at)).toBeGreaterThan(1_700_000_000);
    expect(await move(id, 'unmatched', 'matched', { ...to, decided_by: 'bruno' })).toEqual([claimed]);

    const [booked] = await move(id, 'matched', 'booked', { deposit_id: 'deposit_1' });
    expect(booked).toMatchObject({ ...claimed, state: 'booked', deposit_id: 'deposit_1' });
    expect(await move(id, 'matched', 'booked', { deposit_id: 'deposit_1' })).toEqual([booked]);
    expect(await refusal(move(id, 'matched', 'booked', { deposit_id: 'deposit_2' }))).toMatch(/^status_invalid/);
  });

  it('refuses another decision, and one about a line that has another state', async () => {
    const id = await stored();
    await move(id, 'unmatched', 'matched', to);
    for (const [state, changes] of [
      ['matched', { ...to, address_id: 'address_2' }],
      ['returned', { note: 'no' }],
    ] as const)
      expect(await refusal(move(id, 'unmatched', state, changes))).toBe('status_invalid bank_line.state');
    expect(await refusal(move(id, 'unmatched', 'matched', to, 2))).toBe('status_invalid bank_line.state');
  });

  it('gives a line back with the reason, and keeps what it was to be', async () => {
    const id = await stored();
    await move(id, 'unmatched', 'matched', { ...to, given_reference: 'G', original_reference: 'O' });
    const [row] = await move(id, 'matched', 'unmatched', { reason: 'refused', note: 'Too late.' });
    expect(row).toMatchObject({ state: 'unmatched', reason: 'refused', note: 'Too late.', ...to });
    expect(row).toMatchObject({ reference: 'R1', given_reference: 'G', original_reference: 'O' });
  });

  it('books no line as what another line is already', async () => {
    const booked = async (more: object, changes: object) => {
      const id = await stored(more);
      // What is assigned to an address answers no payout.
      await move(id, 'unmatched', 'matched', 'payout_id' in more ? { tenant: to.tenant } : to);
      return move(id, 'matched', 'booked', changes);
    };
    const taken = 'state_conflict bank_line.reference';
    await booked({}, { deposit_id: 'deposit_taken' });
    expect(await refusal(booked({}, { deposit_id: 'deposit_taken' }))).toBe(taken);
    await booked({ direction: 'debit' }, { deposit_id: 'deposit_taken' });
    await booked({ payout_id: 'payout_taken' }, {});
    expect(await refusal(booked({ payout_id: 'payout_taken' }, {}))).toBe(taken);
    const both = await Promise.allSettled([1, 2].map(() => booked({}, { deposit_id: 'deposit_raced' })));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('lets one of two decide that come at once', async () => {
    const id = await stored();
    const asked = await Promise.allSettled(
      ['address_1', 'address_2', 'address_3'].map((address_id) =>
        move(id, 'unmatched', 'matched', { ...to, address_id }),
      ),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a booked line', () => {
  it('breaks a rule when it is not what it is booked as', async () => {
    const { tenantId: tenant, money, payOut } = await payee();
    const { tenantId: other } = await payee();
    const { id: deposit, currency } = await money.deposit(100n);
    const payout = (await payOut())!;
    const id = await file();
    const booked = { state: 'booked', reason: null, tenant, address_id: 'address_1' };
    const paid = { ...booked, address_id: null, payout_id: payout.id, direction: 'debit' };
    const lines = [
      line(1, { ...booked, deposit_id: deposit, currency }),
      // Of what is taken back refunds may have left less.
      line(2, { ...booked, deposit_id: deposit, currency, direction: 'debit', amount: '120' }),
      line(3, { ...paid, amount: String(payout.amount), currency: payout.currency }),
    ];
    await call('store_bank_lines', id, json(lines), '[]');
    const breaches = (sql: postgres.ISql) => sql`select rule, what from violations where what like ${`${id} %`}`;
    expect(await breaches(world.sql)).toEqual([]);
    const changes: [number, string][] = [
      ...[1, 2, 3].map((number): [number, string] => [number, "currency = 'XXX'"]),
      ...[1, 3].flatMap((number): [number, string][] => ['+', '-'].map((by) => [number, `amount = amount ${by} 1`])),
      [2, 'amount = 99'],
      [1, "deposit_id = 'deposit_0'"],
      [1, `tenant = '${other}'`],
      [2, "deposit_id = 'deposit_0'"],
      [3, "payout_id = 'payout_0'"],
      [3, "deposit_id = 'deposit_0'"],
    ];
    for (const [number, change] of changes)
      await world.sql
        .begin(async (tx) => {
          await tx.unsafe(`update bank_line set ${change} where file_id = '${id}' and number = ${number}`);
          const rule = 'bank line is not what it is booked as';
          expect([change, await breaches(tx)]).toEqual([change, [{ rule, what: `${id} ${number}` }]]);
          throw new Error('undone');
        })
        .catch((error: Error) => expect(error.message).toBe('undone'));
  });

  it('breaks a rule when another line is booked as the same transfer', async () => {
    const id = await file();
    const booked = { state: 'booked', reason: null, tenant: 'tenant_0' };
    const deposit = { ...booked, address_id: 'address_1', deposit_id: 'deposit_twice' };
    const lines = [line(1, deposit), line(2, { ...booked, direction: 'debit', payout_id: 'payout_twice' })];
    const back = [line(3, { ...deposit, direction: 'debit' }), line(4, { ...booked, payout_id: 'payout_twice' })];
    await call('store_bank_lines', id, json([...lines, ...back]), '[]');
    const breaches = (sql: postgres.ISql) =>
      sql`select what from violations where rule = 'two bank lines are booked as one transfer'`;
    // Money that came and was taken back, and money that left and came back, is two lines.
    expect(await breaches(world.sql)).toEqual([]);
    await world.sql
      .begin(async (tx) => {
        await tx`drop index bank_line_deposit, bank_line_payout`;
        await tx`insert into bank_line
          select (jsonb_populate_record(l, '{"number": 9}')).* from bank_line l where file_id = ${id} and number = 1`;
        expect(await breaches(tx)).toEqual([{ what: 'deposit_twice credit' }]);
        await tx`update bank_line set direction = 'debit' where file_id = ${id} and payout_id is not null`;
        const both = await breaches(tx);
        expect(both.map(({ what }) => what).toSorted()).toEqual(['deposit_twice credit', 'payout_twice debit']);
        throw new Error('undone');
      })
      .catch((error: Error) => expect(error.message).toBe('undone'));
  });
});
