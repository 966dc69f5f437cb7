import type { CsvMapping } from '../../src/operator/bank-file/table.js';
import { describe, expect, it } from 'vitest';
import { assignLine, bookLines, returnLine } from '../../src/operator/bank-file/booking.js';
import { type GivenFile, storeBankFile, tryBankFile } from '../../src/operator/bank-file/import.js';
import { idOfLine, listFiles, listLines, mappingOf, saveMapping } from '../../src/operator/bank-file/listing.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Entry, type Statement, today } from '../support/bank-files.js';
import { statementsWaiting, useWorld } from '../support/world.js';
import { banksIn, depositsOf, money, pendingOf, type Receiver } from './bank-fixture.js';
import { mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const { ask, data } = operatorIn(world);
const { reference, receiver: plainReceiver, recordNotice } = banksIn(world);

auditLedger(world);

let numbers = 0;
const number = () => `88${String(++numbers).padStart(10, '0')}`;

/** A user with an address whose account no other has. */
async function receiver(edition: 1 | 2 = 1, account = number()): Promise<Receiver & { account: string }> {
  return { ...(await plainReceiver(edition, `${account.slice(0, 4)} ${account.slice(4)}`)), account };
}

const fileOf = (text: string, more: Partial<GivenFile> = {}): GivenFile => ({
  ...{ name: 'bank.xml', open: () => bytesOf(text), mapping: undefined, ...more },
});
const statementsOf = (account: string, entries: Entry[], more: Partial<Statement> = {}) =>
  camt([{ account, entries, ...more }]);

/** Imports a file and books it; returns its lines as they are then. */
async function imported(text: string, more: Partial<GivenFile> = {}) {
  const { file } = await storeBankFile(world.operator, fileOf(text, more), 'anna');
  const booking = await bookLines(world.operator, file.id);
  const { nodes: lines } = await listLines(world.operator, { fileId: file.id });
  return { file, booking, lines, fates: lines.map(({ state, reason }) => reason ?? state) };
}

const amountsOf = async ({ live }: Receiver) => (await depositsOf(live)).map(({ amount }) => amount);

describe('importing a file of a bank', () => {
  it('books each line to the address whose account it names, and shows the payer to the owner', async () => {
    const [one, other] = [await receiver(), await receiver()];
    const references = [reference(), reference()];
    const text = statementsOf('POOL-1', [
      { amount: '10.00', reference: references[0], payee: one.account, payer: 'Acme GmbH', text: 'Invoice 7' },
      { amount: '20.50', reference: references[1], payee: other.account },
    ]);
    const { file, booking, lines, fates } = await imported(text);

    expect([file.lines, booking, fates]).toEqual([2, { booked: 2, unmatched: 0, left: 0 }, ['booked', 'booked']]);
    expect(await pendingOf(one.live)).toEqual(money('10.00'));
    expect(await pendingOf(other.live)).toEqual(money('20.50'));
    const [deposit] = await depositsOf(one.live);
    expect(deposit).toMatchObject({ id: lines[0]!.depositId, to: { address_id: one.addressId } });
    const { body } = await one.live.get(`/v1/deposits/${deposit.id}/bank_details`);
    expect(body).toMatchObject({ reference: references[0], text: 'Invoice 7' });
    expect(JSON.stringify(body)).toContain('Acme GmbH');
  });

  it('tells in a dry run what would become of each line, and stores nothing', async () => {
    const to = await receiver();
    const [seen, byHand] = [reference(), reference()];
    await imported(statementsOf(to.account, [{ reference: seen }]));
    await recordNotice({
      ...{ reference: byHand, event: 'received', addressId: to.addressId, amount: 1_000n, currency: 'USD' },
    });
    const repeated = reference();
    const text = statementsOf(to.account, [
      { reference: reference() },
      { reference: seen },
      { reference: byHand },
      { reference: repeated },
      { reference: repeated },
      { reference: reference(), currency: 'EUR' },
      { reference: undefined },
      { reference: reference(), direction: 'DBIT' },
      { reference: reference(), status: 'PDNG' },
      { reference: reference(), transfers: [{ amount: '1.00' }, { amount: '2.00' }] },
    ]);
    const other = camt([{ account: 'ELSEWHERE', entries: [{ reference: reference() }] }]);
    const before = await world.sql`select count(*)::int as n from bank_line`;

    expect(await tryBankFile(world.operator, fileOf(text))).toEqual({
      ...{ format: 'camt.053.001.08', lines: 9, new: 2, seenBefore: 2, unmatched: 5, notBooked: 1 },
      reasons: { repeated: 1, other_currency: 1, no_reference: 1, outgoing: 1, unclear: 1 },
    });
    expect(await tryBankFile(world.operator, fileOf(other))).toMatchObject({ reasons: { unknown_account: 1 } });
    expect(await world.sql`select count(*)::int as n from bank_line`).toEqual(before);

    const { fates } = await imported(text);
    expect(fates).toEqual([
      ...['booked', 'seen_before', 'seen_before', 'booked', 'repeated', 'other_currency', 'no_reference'],
      ...['outgoing', 'unclear'],
    ]);
    expect(await amountsOf(to)).toEqual(['10.00', '10.00', '10.00', '10.00']);
  });

  it('books a transfer once, whatever files have it and however often', async () => {
    const to = await receiver();
    const entry: Entry = { reference: reference(), amount: '7.00' };
    const text = camt([{ account: to.account, entries: [entry] }], { message: '054' });
    const first = await imported(text);
    const again = await imported(text, { name: 'renamed.xml' });
    expect(again.file).toEqual(first.file);
    const statement = await imported(statementsOf(to.account, [entry, { reference: reference(), amount: '1.00' }]));
    expect(statement.fates).toEqual(['seen_before', 'booked']);
    // On another day it is another transfer, which needs a reference of its own.
    const later = await imported(statementsOf(to.account, [{ ...entry, day: '2026-01-05' }]));
    expect(later.fates).toEqual(['repeated']);
    expect(await amountsOf(to)).toEqual(['1.00', '7.00']);
    // Another amount under the reference is a matter for a person.
    const other = await imported(statementsOf(to.account, [{ ...entry, amount: '8.00' }]));
    expect([other.fates, other.lines[0]!.note]).toEqual([['refused'], expect.stringContaining('reference')]);
    expect(await amountsOf(to)).toEqual(['1.00', '7.00']);
  });

  it('books nothing again when it was interrupted between a booking and its record, also by two at once', async () => {
    const to = await receiver();
    const entries = Array.from({ length: 6 }, (_, i) => ({ reference: reference(), amount: `${i + 1}.00` }));
    const { file, lines } = await imported(statementsOf(to.account, entries));
    await world.sql`update bank_line set state = 'matched', deposit_id = null where file_id = ${file.id}`;
    await Promise.all([bookLines(world.operator, file.id), bookLines(world.operator, file.id)]);
    expect((await listLines(world.operator, { fileId: file.id })).nodes).toEqual(lines);
    expect(await amountsOf(to)).toEqual(['6.00', '5.00', '4.00', '3.00', '2.00', '1.00']);
  });

  it('books a receipt and its reversal in one file, in their order, and no reversal without its receipt', async () => {
    const to = await receiver();
    const [received, alone] = [reference(), reference()];
    const { fates } = await imported(
      statementsOf(to.account, [
        { reference: received, amount: '5.00' },
        { reference: received, amount: '5.00', direction: 'DBIT', isReversal: true },
        { reference: alone, amount: '6.00', direction: 'DBIT', isReversal: true },
        { reference: reference(), amount: '6.00', direction: 'CRDT', isReversal: true },
      ]),
    );
    expect(fates).toEqual(['booked', 'booked', 'reversal', 'outgoing']);
    expect((await depositsOf(to.live)).map(({ amount, status }) => [amount, status])).toEqual([['5.00', 'reversed']]);
  });

  it('refuses a file that is wrong, as a whole, and one of another bank unless it is meant', async () => {
    const to = await receiver();
    const text = statementsOf(to.account, [{ reference: reference() }, { reference: reference(), amount: '1.005' }]);
    const refused = (given: GivenFile) => expect(storeBankFile(world.operator, given, 'anna')).rejects;
    await refused(fileOf(text)).toMatchObject({
      problems: [
        {
          ...{ code: 'parameter_invalid', field: 'bank_file.content' },
          text: 'cannot be read: line 4 has an amount with more than 2 decimals, which USD cannot have here',
        },
      ],
    });
    await refused(fileOf(text.slice(0, 900))).toMatchObject({ problems: [{ field: 'bank_file.content' }] });
    expect(await amountsOf(to)).toEqual([]);

    const other = statementsOf('OTHER-BANK', [{ reference: reference(), payee: 'X1' }]);
    await refused(fileOf(other)).toMatchObject({ problems: [{ field: 'bank_file.content' }] });
    expect((await imported(other, { allowUnknown: true })).fates).toEqual(['unknown_account']);
    // A file that changes between its two readings is not stored.
    const before = await listFiles(world.operator, { limit: 1 });
    let opened = 0;
    const changing = () => bytesOf(statementsOf(to.account, [{ reference: `C${opened}`, amount: `${++opened}.00` }]));
    await refused(fileOf('', { open: changing })).toMatchObject({ problems: [{ code: 'state_conflict' }] });
    expect(await listFiles(world.operator, { limit: 1 })).toEqual(before);
    expect(await amountsOf(to)).toEqual([]);
  });

  it('chooses among addresses with one account by currency and by use, and asks where that is not enough', async () => {
    const [one, other] = [await receiver(), await receiver()];
    const rupees = await receiver(2, one.account);
    const twin = await receiver(1, other.account);
    const { fates, lines } = await imported(
      statementsOf('POOL', [
        { reference: reference(), payee: one.account.toLowerCase() },
        { reference: reference(), payee: one.account, currency: 'JPY', amount: '100' },
        { reference: reference(), payee: one.account, currency: 'INR' },
        { reference: reference(), payee: other.account },
      ]),
    );
    expect(lines.map(({ addressId }) => addressId)).toEqual([one.addressId, null, rupees.addressId, null]);
    expect(fates).toEqual(['booked', 'other_currency', 'booked', 'several_addresses']);
    expect([await amountsOf(other), await amountsOf(twin)]).toEqual([[], []]);
    const { fates: both } = await imported(
      statementsOf(one.account, [{ reference: reference(), payee: other.account }]),
    );
    expect(both).toEqual(['several_addresses']);
  });

  it('books a CSV file by its saved mapping', async () => {
    const to = await receiver(2);
    const mapping: CsvMapping = {
      columns: { reference: 'UTR', day: 'Date', amount: 'Amount', account: 'Account', payerName: 'From' },
      ...{ currency: 'INR', dayFormat: 'DD/MM/YYYY', decimal: '.', delimiter: ';', headerLine: 1 },
    };
    await saveMapping(world.operator, 'indian', mapping, 'anna');
    const text = `Date;UTR;Account;From;Amount\n27/11/2026;${reference()};${to.account};Ravi;1,00,000.50\n`;
    const { fates, file } = await imported(text, { mapping: await mappingOf(world.operator, 'indian') });
    expect([file.format, fates]).toEqual(['csv', ['booked']]);
    expect(await amountsOf(to)).toEqual(['100000.50']);
    await expect(mappingOf(world.operator, 'none')).rejects.toMatchObject({ problems: [{ code: 'resource_missing' }] });
  });

  it.each<[field: string, more: Partial<CsvMapping>]>([
    ['bank_mapping.columns.day', { columns: { reference: 'R', amount: 'A', account: 'N' } }],
    ['bank_mapping.columns.amount', { columns: { reference: 'R', day: 'D', credit: 'C', account: 'N' } }],
    [
      'bank_mapping.columns.direction',
      { columns: { reference: 'R', day: 'D', credit: 'C', debit: 'B', direction: 'T', account: 'N' } },
    ],
    ['bank_mapping.currency', { currency: undefined }],
    ['bank_mapping.currency', { currency: 'XXX' }],
    ['bank_mapping.account', { account: 'A1' }],
    ['bank_mapping.header_line', { headerLine: 0 }],
  ])('refuses a mapping with a wrong %s', async (field, more) => {
    const mapping: CsvMapping = {
      columns: { reference: 'R', day: 'D', amount: 'A', account: 'N' },
      ...{ currency: 'INR', dayFormat: 'DD/MM/YYYY', decimal: '.', delimiter: ';', headerLine: 1, ...more },
    };
    await expect(saveMapping(world.operator, 'wrong', mapping, 'anna')).rejects.toMatchObject({
      problems: [{ field }],
    });
  });
});

describe('a line that fits no address', () => {
  const unmatched = async (entry: Entry, account = 'NOWHERE') => {
    const { lines } = await imported(statementsOf(account, [{ reference: reference(), ...entry }]), {
      allowUnknown: true,
    });
    return idOfLine(lines[0]!);
  };

  it('is assigned once to an address, and becomes its deposit', async () => {
    const [to, other] = [await receiver(), await receiver()];
    const id = await unmatched({ amount: '3.00' });
    const asked = await Promise.allSettled(
      [to, other, to].map(({ addressId }) => assignLine(world.operator, id, { addressId }, 'anna')),
    );
    expect(asked.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect([...(await amountsOf(to)), ...(await amountsOf(other))]).toEqual(['3.00']);
    const winner = (await amountsOf(to)).length === 1 ? to : other;
    const again = await assignLine(world.operator, id, { addressId: winner.addressId }, 'anna');
    expect(again).toMatchObject({ state: 'booked', addressId: winner.addressId, decidedBy: 'anna' });
    expect([...(await amountsOf(to)), ...(await amountsOf(other))]).toEqual(['3.00']);
    await expect(returnLine(world.operator, id, 'too late', 'bruno')).rejects.toMatchObject({
      problems: [{ code: 'status_invalid' }],
    });
  });

  it('goes back to the unmatched ones with the refusal, and can be assigned anew', async () => {
    const to = await receiver();
    const id = await unmatched({ amount: '4.00', currency: 'EUR' });
    const { addressId } = to;
    await expect(assignLine(world.operator, id, { addressId }, 'anna')).rejects.toMatchObject({
      problems: [{ field: 'deposit.currency' }],
    });
    const { nodes } = await listLines(world.operator, { state: 'unmatched' });
    expect(nodes.find((row) => idOfLine(row) === id)).toMatchObject({
      reason: 'refused',
      note: expect.stringContaining('allow'),
    });
    const line = await assignLine(world.operator, id, { addressId, allowCurrency: true }, 'bruno');
    expect(line).toMatchObject({ state: 'booked', decidedBy: 'bruno', note: null, reason: null });
    expect(await depositsOf(to.live)).toMatchObject([{ amount: '4.00', currency: 'EUR' }]);
  });

  it('needs a reference where the bank gives none, and the receipt of what it takes back', async () => {
    const to = await receiver();
    const { addressId } = to;
    const none = await unmatched({ amount: '9.00', reference: undefined }, to.account);
    await expect(assignLine(world.operator, none, { addressId }, 'anna')).rejects.toMatchObject({
      problems: [{ code: 'parameter_missing', field: 'bank_line.reference' }],
    });
    const original = reference();
    await assignLine(world.operator, none, { addressId, reference: original }, 'anna');
    const back = await unmatched({ amount: '2.00', direction: 'DBIT' }, to.account);
    await expect(assignLine(world.operator, back, { addressId }, 'anna')).rejects.toMatchObject({
      problems: [{ code: 'parameter_missing', field: 'bank_line.original_reference' }],
    });
    await assignLine(world.operator, back, { addressId, originalReference: original }, 'anna');
    expect(await amountsOf(to)).toEqual(['-2.00', '9.00']);
  });

  it('is in no balance where nothing was left of the receipt that it takes back', async () => {
    const to = await receiver();
    const { addressId } = to;
    const original = reference();
    await assignLine(world.operator, await unmatched({ amount: '9.00' }), { addressId, reference: original }, 'anna');
    const take = async (amount: string) => {
      const id = await unmatched({ amount, direction: 'DBIT' }, to.account);
      return assignLine(world.operator, id, { addressId, originalReference: original }, 'anna');
    };
    expect(await take('9.00')).toMatchObject({ state: 'booked' });
    for (const amount of ['9.00', '5.00'])
      expect(await take(amount)).toMatchObject({
        ...{ state: 'returned', decidedBy: 'anna', depositId: null },
        note: expect.stringMatching(
          /^Refunds and disputes had left nothing of its receipt\. The money is unexplained_/,
        ),
      });
    expect(await amountsOf(to)).toEqual(['-9.00', '9.00']);
  });

  it('is returned, and is then in no balance', async () => {
    const to = await receiver();
    const id = await unmatched({ amount: '4.00' });
    const line = await returnLine(world.operator, id, 'Payer unknown', 'anna');
    expect(line).toMatchObject({ state: 'returned', note: 'Payer unknown', decidedBy: 'anna', addressId: null });
    expect(await returnLine(world.operator, id, 'Payer unknown', 'anna')).toEqual(line);
    await expect(assignLine(world.operator, id, { addressId: to.addressId }, 'anna')).rejects.toMatchObject({
      problems: [{ code: 'status_invalid', field: 'bank_line.state' }],
    });
    expect(await amountsOf(to)).toEqual([]);
  });

  it('is listed page by page, by file and over all files', async () => {
    const { file } = await imported(
      statementsOf(
        'P',
        Array.from({ length: 5 }, () => ({ reference: reference() })),
      ),
      {
        allowUnknown: true,
      },
    );
    for (const filter of [
      { fileId: file.id },
      { fileId: file.id, state: 'unmatched' as const },
      { state: 'unmatched' as const },
    ]) {
      const found: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await listLines(world.operator, { ...filter, after, limit: 2 });
        found.push(...page.nodes.map(idOfLine));
        if (page.next === null) break;
        after = page.next;
      }
      expect(new Set(found).size).toBe(found.length);
      expect(found.filter((id) => id.startsWith(file.id))).toHaveLength(5);
    }
    await expect(listLines(world.operator, {})).rejects.toMatchObject({ problems: [{ field: 'bank_line.state' }] });
    for (const id of ['x', `${file.id}.99`])
      await expect(returnLine(world.operator, id, 'x', 'anna')).rejects.toMatchObject({
        problems: [{ field: 'bank_line.id' }],
      });
  });
});

describe('the report of a day', () => {
  it('is even when every line is booked, and names what is not', async () => {
    const to = await receiver();
    const day = today;
    const [first, byHand, lost] = [reference(), reference(), reference()];
    await recordNotice({
      ...{ reference: byHand, event: 'received', addressId: to.addressId, amount: 500n, currency: 'USD' },
    });
    const entries: Entry[] = [
      { reference: first, amount: '10.00', day },
      { reference: byHand, amount: '5.00', day },
      { reference: lost, amount: '2.50', day, payee: undefined, direction: 'DBIT' },
    ];
    await imported(camt([{ account: to.account, entries: entries.slice(0, 1) }], { message: '054' }));
    await imported(statementsOf(to.account, entries, { opening: '100.00', closing: '112.50', day }));
    const row = async () =>
      (await bankReport(world.operator, day)).statements.find(({ account }) => account === to.account)!;
    expect(await row()).toMatchObject({
      ...{ opening: 10_000n, closing: 11_250n, lines: 1_250n, ledger: 1_500n, unmatched: -250n, difference: -250n },
    });
    await imported(
      statementsOf(to.account, [{ reference: first, amount: '10.00', day, direction: 'DBIT', isReversal: true }]),
    );
    expect(await row()).toMatchObject({ lines: 250n, ledger: 500n, difference: 750n });
    // The statement of the next day begins where this one has ended; a day without a file shows as a gap.
    expect(await row()).toMatchObject({ previousDay: null, gap: null });
    const at = async (next: string, opening: string, closing: string) => {
      await imported(statementsOf(to.account, [{ day: next, amount: '1.00' }], { opening, closing, day: next }));
      const { statements } = await bankReport(world.operator, next);
      return statements.filter(({ account }) => account === to.account);
    };
    expect(await at('2098-10-08', '112.50', '113.50')).toMatchObject([{ previousDay: day, gap: 0n }]);
    const later = await at('2098-10-10', '120.50', '121.50');
    expect(later).toMatchObject([{ previousDay: '2098-10-08', gap: 700n }]);
    // Statements of parts of a day follow one another; the last one is that of the day.
    expect(await at('2098-10-10', '121.50', '122.50')).toMatchObject([{ gap: 700n }, { gap: 0n }]);
    expect(await at('2098-10-11', '122.50', '123.50')).toMatchObject([{ previousDay: '2098-10-10', gap: 0n }]);
    await expect(bankReport(world.operator, 'today')).rejects.toMatchObject({
      problems: [{ field: 'bank_report.day' }],
    });
    expect(await bankReport(world.operator, '2020-10-06')).toEqual({ statements: [], hasMore: false });
  });

  it('says that the day has more statements than it shows', async () => {
    const [busy, { account }] = ['2097-03-01', await receiver()];
    await imported(
      statementsOf(account, [{ day: busy, amount: '1.00' }], { opening: '0.00', closing: '1.00', day: busy }),
    );
    await world.sql`insert into bank_statement (file_id, number, account, currency, day, opening, closing, not_booked)
      select s.file_id, 1000 + n, 'Z' || n, s.currency, s.day, 0, 0, 0
      from bank_statement s, generate_series(1, 199) n where s.day = ${busy}`;
    const shown = async () => {
      const { statements, hasMore } = await bankReport(world.operator, busy);
      return [statements.length, hasMore];
    };
    expect(await shown()).toEqual([200, false]);
    await world.sql`insert into bank_statement (file_id, number, account, currency, day, opening, closing, not_booked)
      select s.file_id, 2000, 'Z200', s.currency, s.day, 0, 0, 0 from bank_statement s
      where s.day = ${busy} and s.number < 1000`;
    expect(await shown()).toEqual([200, true]);
  });
});

describe("the operator's graph", () => {
  const line = 'id state reason amount currency reference payerName text addressId depositId decidedBy note';
  const importFile = mutation(
    'importBankFile',
    'ImportBankFileInput',
    `import { file { id name lines storedAt } format lines new seenBefore unmatched notBooked
      reasons { reason count } }`,
  );
  const book = mutation('bookBankFile', 'BookBankFileInput', 'booking { booked unmatched left }');
  const assign = mutation('assignBankLine', 'AssignBankLineInput', `line { ${line} }`);
  const giveBack = mutation('returnBankLine', 'ReturnBankLineInput', `line { ${line} }`);
  const save = mutation('saveBankMapping', 'SaveBankMappingInput', 'mapping { name decimal columns { day } }');
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  it('tries, imports, books and decides as the commands do', async () => {
    const to = await receiver();
    const day = '2026-09-01';
    const entries: Entry[] = [
      { reference: reference(), amount: '3.00', day, payer: 'Acme' },
      { amount: '4.00', day },
      { reference: reference(), amount: '5.00', currency: 'EUR', day },
    ];
    const content = base64(statementsOf(to.account, entries, { opening: '0.00', closing: '7.00', day }));
    const input = { name: 'monday.xml', content };

    const tried = await data(ask(importFile, { input: { ...input, dryRun: true } }));
    const trial = { format: 'camt.053.001.08', lines: 3, new: 1, seenBefore: 0, unmatched: 2, notBooked: 0 };
    expect(tried.importBankFile.import).toEqual({
      ...{ file: null, ...trial },
      reasons: [
        { reason: 'NO_REFERENCE', count: 1 },
        { reason: 'OTHER_CURRENCY', count: 1 },
      ],
    });
    const { file } = (await data(ask(importFile, { input }))).importBankFile.import;
    expect(file).toEqual({ id: file.id, name: 'monday.xml', lines: 3, storedAt: expect.any(String) });
    expect((await data(ask('{ bankFiles(first: 1) { nodes { id createdBy } next } }'))).bankFiles).toEqual({
      nodes: [{ id: file.id, createdBy: 'OPERATOR_KEY' }],
      next: file.id,
    });
    for (const booked of [1, 0])
      expect((await data(ask(book, { input: { id: file.id } }))).bookBankFile.booking).toEqual({
        ...{ booked, unmatched: 0, left: 0 },
      });
    const list = `query ($id: ID!) { bankLines(fileId: $id) { nodes { ${line} } next } }`;
    const [first, second, third] = (await data(ask(list, { id: file.id }))).bankLines.nodes;
    expect(first).toMatchObject({ state: 'BOOKED', amount: '3.00', payerName: 'Acme', addressId: to.addressId });
    const given = reference();
    const assigned = await data(ask(assign, { input: { id: second.id, addressId: to.addressId, reference: given } }));
    expect(assigned.assignBankLine.line).toMatchObject({
      state: 'BOOKED',
      reference: given,
      decidedBy: 'OPERATOR_KEY',
    });
    const returned = await data(ask(giveBack, { input: { id: third.id, reason: 'Wrong currency' } }));
    expect(returned.returnBankLine.line).toMatchObject({ state: 'RETURNED', note: 'Wrong currency' });
    const report = `{ bankReport(day: "${day}") {
      statements { account currency opening closing ledger difference } } }`;
    expect((await data(ask(report))).bankReport.statements).toEqual([
      { account: to.account, currency: 'USD', opening: '0.00', closing: '7.00', ledger: '7.00', difference: '0.00' },
    ]);
    expect(await amountsOf(to)).toEqual(['4.00', '3.00']);
  });

  it('lets one of two operators decide who ask two gateways at once, and tells the other one', async () => {
    const [to, another] = [await receiver(), await receiver()];
    const there = operatorIn({ ...world, origin: await world.another() }).ask;
    const given = { addressId: to.addressId };
    const pairs: [string, object][][] = [
      [
        [assign, given],
        [giveBack, { reason: 'Payer unknown' }],
      ],
      [
        [giveBack, { reason: 'Payer unknown' }],
        [assign, given],
      ],
      [
        [assign, given],
        [assign, { addressId: another.addressId }],
      ],
    ];
    let expected = 0;
    for (const pair of pairs) {
      const text = statementsOf('NOWHERE', [{ reference: reference(), amount: '6.00' }]);
      const { file, lines } = await imported(text, { allowUnknown: true });
      const id = idOfLine(lines[0]!);
      // Both have found the line undecided before either decides.
      let asked: Promise<[winner: Awaited<ReturnType<typeof ask>>, loser: Awaited<ReturnType<typeof ask>>]>;
      await world.sql.begin(async (tx) => {
        await tx`select from bank_line where file_id = ${file.id} for update`;
        const [one, other] = pair.map(([query, input], i) => [ask, there][i]!(query, { input: { id, ...input } }));
        asked = Promise.all([one!, other!]).then(([a, b]) => (a.codes.length === 0 ? [a, b] : [b, a]));
        await statementsWaiting(world, 2);
      });
      const [winner, loser] = await asked!;
      expect([winner.codes, loser.codes, loser.fieldNames]).toEqual([[], ['status_invalid'], ['bank_line.state']]);
      const [{ line: decided }] = Object.values<any>(winner.body.data);
      const { nodes } = await listLines(world.operator, { fileId: file.id });
      expect(nodes).toMatchObject([{ state: decided.state.toLowerCase(), addressId: decided.addressId }]);
      if (decided.state === 'BOOKED') expected += 1;
      expect([...(await amountsOf(to)), ...(await amountsOf(another))]).toEqual(Array(expected).fill('6.00'));
    }
    await world.endLast();
  });

  it('takes the file of a day, which is larger than other requests, and none of more than 4 MiB', async () => {
    const to = await receiver();
    const entries = Array.from({ length: 5_000 }, () => ({ reference: reference(), amount: '1.00' }));
    const content = base64(camt([{ account: to.account, entries }]));
    expect(content.length).toBeGreaterThan(1_048_576);
    const tried = await data(ask(importFile, { input: { name: 'day.xml', content, dryRun: true } }));
    expect(tried.importBankFile.import).toMatchObject({ lines: 5_000, new: 5_000 });
    const large = { input: { name: 'day.xml', content: content.repeat(4).slice(0, 4 * 2 ** 20), dryRun: true } };
    const refused = await ask(importFile, large);
    expect([refused.status, refused.codes]).toEqual([400, ['body_too_large']]);
  });

  it('reads a CSV file by a mapping that was saved', async () => {
    const to = await receiver();
    const columns = { reference: 'R', day: 'D', amount: 'A' };
    const mapping = {
      name: 'comma',
      columns,
      currency: 'USD',
      account: to.account,
      decimal: 'COMMA',
      delimiter: 'SEMICOLON',
    };
    const saved = await data(ask(save, { input: mapping }));
    expect(saved.saveBankMapping.mapping).toEqual({ name: 'comma', decimal: 'COMMA', columns: { day: 'D' } });
    const { bankMappings } = await data(
      ask('{ bankMappings { name currency account dayFormat delimiter headerLine } }'),
    );
    expect(bankMappings).toContainEqual({
      ...{ name: 'comma', currency: 'USD', account: to.account, dayFormat: 'YEAR_FIRST', delimiter: 'SEMICOLON' },
      headerLine: 1,
    });
    const input = { name: 'a.csv', content: base64(`R;D;A\n${reference()};2026-09-02;1,50\n`), mapping: 'comma' };
    expect((await data(ask(importFile, { input }))).importBankFile.import).toMatchObject({ format: 'csv', new: 1 });
  });

  it('refuses what is wrong at the argument that it is in', async () => {
    const cases: [query: string, input: object, field: string][] = [
      [importFile, { name: 'a', content: base64('x') }, 'bank_file.content'],
      [importFile, { name: 'a', content: base64('x'), mapping: 'none' }, 'bank_file.mapping'],
      [book, { id: 'bank_file_0' }, 'bank_file.id'],
      [assign, { id: 'bank_file_0.1', addressId: 'address_0' }, 'bank_line.id'],
      [giveBack, { id: 'bank_file_0.1', reason: 'x'.repeat(201) }, 'bank_line.reason'],
      [save, { name: 'x', columns: { reference: 'R', day: 'D', amount: 'A' }, account: 'A' }, 'bank_mapping.currency'],
    ];
    for (const [query, input, field] of cases) expect((await ask(query, { input })).fieldNames).toEqual([field]);
    expect((await ask(importFile, { input: { name: 'a', content: 'no base64' } })).status).toBe(400);
    expect((await ask('{ bankLines { next } }')).fieldNames).toEqual(['bank_line.state']);
  });
});
