import type { CsvMapping } from '../../src/operator/bank-file/table.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BankFileFault, type FileLine, type FilePart, textOf } from '../../src/operator/bank-file/line.js';
import { fileParts } from '../../src/operator/bank-file/reader.js';
import { bytesOf, camt, type Entry, schemaFaults, type Statement, today } from '../support/bank-files.js';

async function partsOf(source: AsyncIterable<Uint8Array>, mapping?: CsvMapping): Promise<FilePart[]> {
  const found: FilePart[] = [];
  for await (const part of fileParts(source, mapping)) found.push(part);
  return found;
}
const linesOf = async (text: string | Uint8Array, mapping?: CsvMapping): Promise<FileLine[]> =>
  (await partsOf(bytesOf(text), mapping)).filter((part): part is FileLine => part.kind === 'line');

/** The line and the fault with which a file is refused. */
async function faultOf(source: string | Uint8Array | AsyncIterable<Uint8Array>, mapping?: CsvMapping) {
  const bytes = typeof source === 'string' || source instanceof Uint8Array ? bytesOf(source) : source;
  try {
    await partsOf(bytes, mapping);
  } catch (error) {
    if (error instanceof BankFileFault) return `${error.line}: ${error.fault}`;
    throw error;
  }
  throw new Error('the file was not refused');
}

const iban = 'DE02120300000000202051';
const one = (entry: Entry, of: { message?: '053' | '054'; version?: string } = {}) =>
  camt([{ account: iban, entries: [entry] }], of);
const versions = Array.from({ length: 12 }, (_, i) => String(i + 2).padStart(2, '0'));

describe('a message of ISO 20022', () => {
  it.each(versions)('is read in version %s, as a statement and as a notification', async (version) => {
    for (const message of ['053', '054'] as const) {
      const entry = { reference: 'B1', endToEndId: 'E1', amount: '1250.5', payer: 'Acme & Co', text: 'Invoice 7' };
      const [line] = await linesOf(one({ ...entry, payee: 'XX-77 1' }, { message, version }));
      expect(line).toEqual({
        ...{ kind: 'line', number: 1, line: 3, statement: 1, account: iban, payee: 'XX771', direction: 'credit' },
        ...{ isReversal: false, isUnclear: false, amount: 125_050n, currency: 'USD', day: today },
        ...{ reference: 'B1', details: { endToEndId: 'E1', payerName: 'Acme & Co', text: 'Invoice 7' } },
      });
    }
  });

  // What the tests read is what a bank may write. Schemas of the other versions are in no repository with a licence.
  it.each(['053', '054'] as const)('is as the schema of camt.%s has it', async (message) => {
    const entries: Entry[] = [
      { reference: 'A', payee: 'A1234', payer: 'Acme', text: 'Invoice 7', endToEndId: 'E1' },
      { reference: 'B', direction: 'DBIT', isReversal: true, returnReason: 'AC04' },
      { batch: 2, amount: '3.00', transfers: [{ amount: '1.00', reference: 'C', payee: iban }, { amount: '2.00' }] },
    ];
    const balances = message === '053' ? { opening: '1.00', closing: '-2.00' } : {};
    const totals = { TtlNtries: { count: '3', sum: '23.00' } };
    const text = camt([{ account: iban, ...balances, totals, entries }], { message, version: '12' });
    expect(await schemaFaults(`camt.${message}.001.12`, text)).toEqual([]);
    expect(await linesOf(text)).toHaveLength(4);
    expect(await schemaFaults(`camt.${message}.001.12`, text.replaceAll('BookgDt', 'BookDt'))).not.toEqual([]);
  });

  it('has a line for each transfer of an entry, if these are the entry together', async () => {
    const transfers = [
      { reference: 'B1', amount: '7.50', payee: 'A1234' },
      { reference: 'B2', amount: '3.00', payee: 'A5678' },
      { reference: 'B3', amount: '0.50', direction: 'DBIT' as const },
    ];
    for (const version of ['04', '13']) {
      const lines = await linesOf(one({ amount: '10.00', transfers }, { version }));
      expect(lines.map((line) => [line.reference, line.amount, line.direction, line.payee])).toEqual([
        ['B1', 750n, 'credit', 'A1234'],
        ['B2', 300n, 'credit', 'A5678'],
        ['B3', 50n, 'debit', null],
      ]);
    }
    for (const transfer of [{ amount: '3.01' }, { amount: undefined }, { currency: 'EUR' }]) {
      const wrong = one({ amount: '10.00', transfers: [transfers[0]!, { ...transfers[1], ...transfer }] });
      expect(await linesOf(wrong)).toMatchObject([{ amount: 1_000n, isUnclear: true, payee: null }]);
    }
  });

  it('has the amount of its entry where it is the only one, since charges may be left out of it', async () => {
    const lines = await linesOf(
      one({ amount: '9.00', reference: 'B1', transfers: [{ amount: '10.00', currency: 'EUR' }] }),
    );
    expect(lines).toMatchObject([{ amount: 900n, currency: 'USD', reference: 'B1' }]);
  });

  it('is unclear where the bank says that an entry has more transfers than the file', async () => {
    const transfers = [{ amount: '10.00' }, { amount: '20.00' }];
    for (const entry of [{ transfers: [] }, { transfers: transfers.slice(0, 1) }, { transfers }])
      expect(await linesOf(one({ amount: '60.00', reference: 'B1', batch: 3, ...entry }))).toMatchObject([
        { amount: 6_000n, reference: 'B1', isUnclear: true },
      ]);
    for (const batch of [undefined, 0, 1])
      expect(await linesOf(one({ reference: 'B1', batch, transfers: [] }))).toMatchObject([{ isUnclear: false }]);
  });

  // A statement may have the sum of an entry alone, and its notification the one transfer with references of its own.
  it('has the same reference with and without the details of the one transfer of an entry', async () => {
    const files = [[], [{ amount: '7.00', reference: 'TX1' }], [{ endToEndId: 'E1' }]].map((transfers) =>
      one({ amount: '7.00', reference: 'ENTRY1', transfers }),
    );
    for (const file of files) expect(await linesOf(file)).toMatchObject([{ reference: 'ENTRY1' }]);
    const without = one({ amount: '7.00', transfers: [{ amount: '7.00', reference: 'TX1' }] });
    expect(await linesOf(without)).toMatchObject([{ reference: 'TX1' }]);
  });

  it('shows reversals, debits and balances, and leaves out what is not booked and what is nothing', async () => {
    const entries: Entry[] = [
      { amount: '1.00', direction: 'DBIT', isReversal: true },
      { amount: '2.00', direction: 'DBIT' },
      { amount: '4.00', status: 'PDNG' },
      { amount: '0.00' },
    ];
    const text = camt([{ account: iban, opening: '-5.00', closing: '-8.00', day: '2026-11-26', entries }]);
    const parts = await partsOf(bytesOf(text));
    expect(parts).toMatchObject([
      { number: 1, direction: 'debit', isReversal: true },
      { number: 2, direction: 'debit', isReversal: false },
      {
        kind: 'statement',
        account: iban,
        currency: 'USD',
        day: '2026-11-26',
        opening: -500n,
        closing: -800n,
        notBooked: 1,
      },
    ]);
  });

  describe('whose bank says how many entries a statement has, and what they are together', () => {
    const entries: Entry[] = [
      { amount: '1.50', direction: 'DBIT' },
      { amount: '2.00' },
      { amount: '3.25', currency: 'EUR' },
      { amount: '4.00', status: 'PDNG' },
    ];
    const text = (totals: Statement['totals']) => camt([{ account: iban, entries, totals }]);

    it.each<[totals: NonNullable<Statement['totals']>]>([
      [{ TtlNtries: { count: '3', sum: '6.75' } }],
      [{ TtlNtries: { count: '4', sum: '10.75000' }, TtlDbtNtries: { count: '1', sum: '+1.5' } }],
      [{ TtlCdtNtries: { count: '2', sum: '5.25' }, TtlDbtNtries: { sum: '1.50' } }],
      [{ TtlCdtNtries: { sum: '9.25' } }],
      [{ TtlNtries: {}, TtlNtriesPerBkTxCd: { count: '99' } }],
    ])('is read where they are that: %j', async (totals) => {
      expect(await linesOf(text(totals))).toHaveLength(3);
    });

    it.each<[total: string, said: { count?: string; sum?: string }]>([
      ['TtlNtries', { count: '2' }],
      ['TtlNtries', { count: '5', sum: '6.75' }],
      // The count is that of the booked ones, and the sum that of all.
      ['TtlNtries', { count: '3', sum: '10.75' }],
      ['TtlNtries', { sum: '6.751' }],
      ['TtlNtries', { sum: '-6.75' }],
      ['TtlCdtNtries', { count: '1' }],
      ['TtlCdtNtries', { sum: '5.26' }],
      ['TtlDbtNtries', { count: '0', sum: '0' }],
      ['TtlDbtNtries', { count: 'one' }],
    ])('is refused where its %s is another: %j', async (total, said) => {
      expect(await faultOf(text({ [total]: said }))).toBe(
        `2: has a \`${total}\` that does not fit its entries: the file is cut or changed`,
      );
    });

    it('is compared statement by statement', async () => {
      const statement = {
        account: iban,
        entries: [{ amount: '1.00' }],
        totals: { TtlNtries: { count: '1', sum: '1' } },
      };
      expect(await linesOf(camt([statement, statement]))).toHaveLength(2);
      expect(await faultOf(camt([statement, { ...statement, entries: [] }]))).toMatch(/^4: has a `TtlNtries`/);
    });
  });

  it('takes a batch of which it has some transfers only for none of them', async () => {
    const of = { amount: '10.00', transfers: [{ amount: '10.00', payee: 'A1234' }] };
    expect(await linesOf(one({ ...of, batch: 2 }))).toMatchObject([{ isUnclear: true, payee: null, amount: 1_000n }]);
    expect(await linesOf(one({ ...of, batch: 1 }))).toMatchObject([{ isUnclear: false, payee: 'A1234' }]);
  });

  it.each([
    ['JPY', '1500', 150_000n],
    ['JPY', '1500.00', 150_000n],
    ['KWD', '1.250', 125n],
    ['USD', '0.01', 1n],
    ['USD', '9999999999999.99', 999_999_999_999_999n],
    ['USD', '5.10000', 510n],
  ])('has an amount in %s of %s exactly', async (currency, amount, minor) => {
    expect((await linesOf(one({ currency, amount })))[0]!.amount).toBe(minor);
  });

  it.each([
    ['JPY', '1500.50'],
    ['KWD', '1.255'],
    ['USD', '0.001'],
    ['USD', '-1.00'],
    ['USD', '1e3'],
    ['USD', '1,00'],
    ['USD', '10000000000000.00'],
    ['XXX', '1.00'],
    ['usd', '1.00'],
  ])('is refused with an amount in %s of %s, by its line', async (currency, amount) => {
    expect(await faultOf(one({ currency, amount }))).toMatch(/^3: has an? (amount|currency)/);
  });

  it('is refused without what every entry has, and with what none can have', async () => {
    const text = one({ reference: 'B1' });
    const cases: [from: string | RegExp, to: string, fault: string][] = [
      ['<CdtDbtInd>CRDT</CdtDbtInd>', '', '3: has neither CRDT nor DBIT as its `CdtDbtInd`'],
      ['CRDT', 'BOTH', '3: has neither CRDT nor DBIT as its `CdtDbtInd`'],
      [/<BookgDt>.*<\/BookgDt>/, '', '3: has an entry without a day of booking'],
      [today, '2026-02-30', '3: has a day that is not in the calendar'],
      [/<Sts>.*<\/Sts>/, '', '3: has an entry without a status'],
      [/(<Amt.*<\/Amt>)/, '$1$1', '3: has `Amt` more than once in its `Ntry`'],
      ['10.00', '10<x/>0.00', '3: has text beside elements'],
      ['<Amt Ccy="USD">', '<Amt>', '3: has a `Ntry` without an amount and its currency'],
      ['10.00', '1&#0;0.00', '3: is not well-formed XML: invalid character entity'],
      ['B1', 'B&#xD800;', '3: is not well-formed XML: invalid character entity'],
      ['B1', 'B\u0007', '3: has a character that no text may have'],
      [iban, 'DE02\u202e', '2: has an account that is no account number'],
      ['<MsgId>', '<MsgId xmlns:a="a">', ''],
    ];
    for (const [from, to, fault] of cases)
      if (fault === '') expect(await linesOf(text.replace(from, to))).toHaveLength(1);
      else expect(await faultOf(text.replace(from, to))).toBe(fault);
  });

  it.each([
    ['camt.052.001.08', 'camt.053.001.08'],
    ['camt.053.001.14', 'camt.053.001.08'],
    ['camt.053.001.01', 'camt.053.001.08'],
    ['pain.001.001.09', 'camt.053.001.08'],
  ])('is refused as %s', async (other, own) => {
    expect(await faultOf(one({}).replace(own, other))).toBe('2: is no camt.053 or camt.054, version 001.02 to 001.13');
  });

  it('passes over what has another namespace', async () => {
    const extra = '<s:Extra xmlns:s="urn:other"><s:Amt Ccy="EUR">99.00</s:Amt></s:Extra>';
    expect(await linesOf(one({ amount: '1.00' }).replace('</Ntry>', `${extra}</Ntry>`))).toMatchObject([
      { amount: 100n },
    ]);
  });

  it('is read alike, wherever its bytes are divided', async () => {
    const text = one({ reference: 'Zürich-✓', payer: 'Åsa 😀', amount: '3.21' });
    const whole = await partsOf(bytesOf(text));
    for (const size of [1, 2, 3, 7, 64]) expect(await partsOf(bytesOf(text, size))).toEqual(whole);
  });
});

describe('a hostile file', () => {
  const laughs = `<!DOCTYPE lolz [<!ENTITY lol "lol">${Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i || ''};`.repeat(10)}">`,
  ).join('')}]>`;

  it.each([
    ['of entities that grow', laughs],
    ['of an external entity', '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'],
    ['of an external type', '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">'],
    ['of an endless type', `<!DOCTYPE x [${'<!-- -->'.repeat(40_000)}`],
  ])('is refused by its line: %s', async (_, type) => {
    const text = one({ reference: '&lol9;' }).replace('<Document', `${type}\n<Document`);
    expect(await faultOf(text)).toMatch(/^[23]: (has a document type|is not well-formed XML: max buffer length)/);
  });

  it('is refused with an entity that XML does not have', async () => {
    expect(await faultOf(one({}).replace('10.00', '&x;'))).toMatch(
      /^3: is not well-formed XML: invalid character entity/,
    );
  });

  it.each([
    ['UTF-16, little endian', Buffer.from(`\ufeff${one({})}`, 'utf16le'), '1: is not text in UTF-8'],
    ['UTF-16 without its mark', Buffer.from(one({}), 'utf16le'), '1: is not text in UTF-8'],
    ['Latin 1 that says so', one({}).replace('UTF-8', 'ISO-8859-1'), '1: says another encoding than UTF-8'],
    ['Latin 1 that does not', Buffer.from(one({ payer: 'Zürich' }), 'latin1'), '3: is not text in UTF-8'],
    ['nothing', '', '1: is empty'],
    ['CSV without a mapping', 'reference,amount\nA,1\n', '1: does not begin as XML'],
    ['bytes that are no text', Buffer.alloc(4_096, 0x81), '1: is not text in UTF-8'],
  ])('is refused in %s', async (_, text, fault) => {
    expect(await faultOf(text)).toContain(fault);
  });

  it('is refused wherever it is cut', async () => {
    const text = camt([{ account: iban, entries: [{ payer: 'Åsa' }, { payer: 'Bo' }] }]).trimEnd();
    const bytes = Buffer.from(text);
    const cut = fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 1 }), async (at) => {
      expect(await faultOf(bytes.subarray(0, at))).toMatch(/^\d+: (ends before the document does|is not)/);
    });
    await fc.assert(cut, { numRuns: 200 });
  });

  it('is refused when its elements, its texts or its names have no end', async () => {
    const inside = (text: string) => one({}).replace('</Ntry>', `${text}</Ntry>`);
    expect(await faultOf(inside('<a>'.repeat(1_000)))).toBe('3: has more than 40 nested elements');
    expect(await faultOf(inside(`<a>${'x'.repeat(200_000)}</a>`))).toMatch(/^3: has a text that is longer/);
    expect(await faultOf(inside(`<${'a'.repeat(400_000)}`))).toMatch(/^3: is not well-formed XML: max buffer length/);
    expect(await faultOf(inside('<a>x</a>'.repeat(3_000)))).toBe('3: has more in one `Ntry` than is read of it');
  });
});

const mapping: CsvMapping = {
  columns: {
    reference: 'UTR',
    day: 'Date',
    credit: 'Deposit',
    debit: 'Withdrawal',
    text: 'Narration',
    account: 'Account',
  },
  ...{ currency: 'INR', dayFormat: 'DD/MM/YYYY', decimal: '.', delimiter: ',', headerLine: 3 },
};
const head = 'Statement of account\n\nDate,Account,UTR,Narration,Deposit,Withdrawal,Balance\n';

describe('a text of a file', () => {
  it('says that it was cut, and is one line', () => {
    const kept = ['INV-1', ' INV-1\n and\u202e INV-2 ', 'INV-1 and INV-2', 'INV-1 an INV-2', '', undefined];
    expect(kept.map((text) => textOf(text, 14))).toEqual([
      ...['INV-1', 'INV-1 and INV…', 'INV-1 and INV…', 'INV-1 an INV-2', undefined, undefined],
    ]);
    expect(textOf('₹₹₹₹ ₹₹', 6)).toBe('₹₹₹₹…');
  });
});

describe('a CSV file', () => {
  it('is read by its mapping', async () => {
    const rows =
      '01/11/2026,XX 77-1,U1,"Invoice ""7"",\nsecond",,250.00,1\n2-11-2026,XX771,U2,,"1,00,000.50",,2\n,,,,,,\n';
    const text = `\ufeff${head}${rows}`;
    expect(await linesOf(text, mapping)).toMatchObject([
      { number: 1, line: 4, direction: 'debit', amount: 25_000n, currency: 'INR', day: '2026-11-01', account: 'XX771' },
      { number: 2, line: 6, direction: 'credit', amount: 10_000_050n, reference: 'U2', day: '2026-11-02', details: {} },
    ]);
    expect((await linesOf(text, mapping))[0]!.details).toEqual({ text: 'Invoice "7", second' });
  });

  it.each([
    ['1 000.50', 100_050n],
    ['1\u00a0000\u00a0000', 100_000_000n],
    ["12'34'567.5", 123_456_750n],
    [' + 7 ', 700n],
  ])('has thousands that blanks or apostrophes separate, in groups: %s', async (amount, minor) => {
    expect(await linesOf(`${head}01/11/2026,XX771,U1,,${amount},,\n`, mapping)).toMatchObject([{ amount: minor }]);
  });

  it('has its amount with a sign, or with a direction, and with the marks of its mapping', async () => {
    const { columns: _, ...rest } = mapping;
    const of = (columns: CsvMapping['columns']): CsvMapping => ({
      ...{ ...rest, columns: { reference: 'R', day: 'D', ...columns }, headerLine: 1, dayFormat: 'YYYY-MM-DD' },
      ...{ decimal: ',', delimiter: ';', account: 'XX771', currency: 'EUR' },
    });
    const sign = of({ amount: 'A' });
    expect(await linesOf('R;D;A\n1;2026-11-01;-1.234,5\n2;2026-11-01;7\n', sign)).toMatchObject([
      { direction: 'debit', amount: 123_450n, account: 'XX771', currency: 'EUR' },
      { direction: 'credit', amount: 700n },
    ]);
    const word = of({ amount: 'A', direction: 'T', currency: 'C' });
    expect(await linesOf('R;D;A;T;C\n1;2026-11-01;5;Dr;USD\n2;2026-11-01;6;CR;JPY\n', word)).toMatchObject([
      { direction: 'debit', amount: 500n, currency: 'USD' },
      { direction: 'credit', amount: 600n, currency: 'JPY' },
    ]);
  });

  it.each([
    ['01/11/2026,XX771,U1,,1.00,1.00,', '4: has not one of a credit and a debit'],
    ['01/11/2026,XX771,U1,,"1.000,00",,', '4: has an amount that is no decimal number'],
    ['01/11/2026,XX771,U1,,"1,00",,', '4: has an amount whose digits are not grouped as the mapping says'],
    ...['1 2 3 . 5 0', '1 000 00.00', "1'00.00", '- 1 0'].map((amount) => [
      ...[`01/11/2026,XX771,U1,,${amount},,`, '4: has an amount whose digits are not grouped as the mapping says'],
    ]),
    ['01/11/0026,XX771,U1,,1.00,,', '4: has a day before the year 2000 or after 2099'],
    ['01/11/2126,XX771,U1,,1.00,,', '4: has a day before the year 2000 or after 2099'],
    ['01/11/2026,XX771,U1,,1.005,,', '4: has an amount with more than 2 decimals, which INR cannot have here'],
    ['2026/11/01,XX771,U1,,1.00,,', '4: has a day that is not written as DD/MM/YYYY'],
    ['31/02/2026,XX771,U1,,1.00,,', '4: has a day that is not in the calendar'],
    ['01/11/2026,XX771,U1', '4: has 3 cells, and the file 7 columns'],
    ['01/11/2026,XX771,U\u00071,,1.00,,', '4: has a character that no text may have'],
    ['01/11/2026,XX771,"U1,,1.00,,', '4: has a quote that does not end'],
    [
      `01/11/2026,XX771,${'U'.repeat(100_000)},,1.00,,`,
      '4: has a row of more than 65536 characters, or a quote that does not end',
    ],
  ])('is refused by its line: %s', async (line, fault) => {
    expect(await faultOf(`${head}${line}\n`, mapping)).toBe(fault);
  });

  it('is refused wherever it is cut within a line, so that no amount is a part of one', async () => {
    const columns = { day: 'Date', reference: 'UTR', text: 'Narration', amount: 'Amount' };
    const last: CsvMapping = { ...mapping, columns, headerLine: 1 };
    const rows = [
      'Date,Narration,UTR,Amount\n',
      '01/11/2026,"Rent,\n""May""",Ü1,1250.00\n',
      '02/11/2026,,U2,"2,500.00"\n',
      '03/11/2026,,U3,-7\n',
    ];
    const bytes = Buffer.from(rows.join(''));
    const whole = await linesOf(bytes, last);
    expect(whole.map(({ amount }) => amount)).toEqual([125_000n, 250_000n, 700n]);
    const ends = rows.map((_, i) => Buffer.byteLength(rows.slice(0, i + 1).join('')));
    for (let at = 1; at <= bytes.length; at++) {
      const cut = bytes.subarray(0, at);
      // A file of whole lines is one that a bank may write, and the whole file brings the rest.
      if (ends.includes(at)) expect(await linesOf(cut, last)).toEqual(whole.slice(0, ends.indexOf(at)));
      else expect([at, await faultOf(cut, last)]).toEqual([at, expect.stringMatching(/^[1-5]: /)]);
    }
  });

  it.each([
    ['UTF-16', Buffer.from(`\ufeff${head}`, 'utf16le'), '1: is not text in UTF-8'],
    ['Latin 1', Buffer.from(`${head}01/11/2026,XX771,U1,Zürich,1.00,,\n`, 'latin1'), '4: is not text in UTF-8'],
  ])('is refused in %s', async (_, bytes, fault) => {
    expect(await faultOf(bytes, mapping)).toContain(fault);
  });

  it('is refused without a column that the mapping names, and with one twice', async () => {
    expect(await faultOf(head.replace('UTR', 'Ref'), mapping)).toBe('3: has no column `UTR`, which the mapping names');
    expect(await faultOf(head.replace('Narration', 'utr'), mapping)).toMatch(
      /^3: has the column `UTR` twice|^3: has no column/,
    );
    expect(await faultOf('x\n', mapping)).toBe('3: has no names of columns');
    expect(await faultOf(Buffer.from(`${head}é`, 'latin1'), mapping)).toBe('4: is not text in UTF-8: the file is cut');
  });
});
