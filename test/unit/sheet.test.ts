import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dayFrom,
  dayOrderOf,
  decimalSignOf,
  isCalendarDay,
  type Sheet,
  sheetLine,
  sheetOf,
} from '../../src/sites/dashboard/format/sheet.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => sheetOf(bytes(text));
const cells = (sheet: Sheet | string) => (sheet as Sheet).rows.map(({ cells: each }) => each);

describe('a sheet', () => {
  it('is read as it was written, with each separator, quotation mark and end of line', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab",;\t\n\r é₹=') });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text, text), { minLength: 1 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n', '\r'),
        (given, delimiter, end) => {
          const rows = given.filter((row) => row.some((cell) => cell.trim() !== ''));
          fc.pre(rows.length > 0);
          const file = stringify([['one', 'two', 'three'], ...given], {
            ...{ delimiter, record_delimiter: end, quoted: true },
          });
          expect(cells(read(file))).toEqual(rows.map((row) => row.map((cell) => cell.trim())));
        },
      ),
    );
  });

  it('is written so that it reads the same', () => {
    const filled = fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(fc.array(filled, { minLength: 1 }), (given) => {
        const rows = given.map((row) => row.map((cell) => cell.replaceAll('\0', '').trim()));
        fc.pre(rows.every((row) => row.some((cell) => cell !== '')));
        expect(cells(read(`a,b\r\n${rows.map(sheetLine).join('')}`))).toEqual(rows);
      }),
    );
  });

  it('counts its rows as a spreadsheet does, and leaves empty ones and empty columns out', () => {
    const sheet = read('\ufeffsep=;\r\nNo;Name;;\r\n\r\n1;"a\nb";;\r\n;;;\r\n2;c') as Sheet;
    expect(sheet.names).toEqual(['No', 'Name']);
    expect(sheet.rows).toEqual([
      { line: 4, cells: ['1', 'a\nb'] },
      { line: 6, cells: ['2', 'c'] },
    ]);
  });

  it.each([
    ['', 'The file is empty.'],
    ['PK\u0003\u0004 xlsx', /a workbook, such as Excel/],
    ['%PDF-1.7', /a PDF/],
    ['a,b\0\n1,2', /The file is not text\./],
    ['a,b', /at least one row/],
    ['\n\n,,\n', /at least one row/],
    ['a,b\n"1,2\n3,4', /The quotation marks in row 2 do not end/],
    ['a,b\n"1"x,2', /Row 2 has text behind a quotation mark/],
    ['a,b\n1,2\n1,2,3', /Row 3 has a value in a column without a name/],
    ['a,a\n1,2', /Two columns have the name “a”/],
    [`${'a,'.repeat(200)}b\n${'1,'.repeat(200)}2`, /Two columns|has 201 columns/],
    [`a\n${'1\n'.repeat(10_001)}`, /has 10,001 rows. At most 10,000/],
    [`a\n${'x'.repeat(5 * 1024 * 1024)}`, /larger than 5 MB/],
  ])('that cannot be read is refused in a sentence: %#', (text, said) => {
    expect(read(text)).toMatch(said);
  });

  it('in another encoding is refused', () => {
    expect(sheetOf(Uint8Array.of(0xff, 0xfe, 0x61, 0))).toMatch(/UTF-16/);
    expect(sheetOf(Uint8Array.of(0x61, 0xe9, 0x0a, 0x31))).toMatch(/not text in UTF-8/);
  });

  it('of any bytes is read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (given) => {
        const sheet = sheetOf(given);
        if (typeof sheet === 'string') expect(sheet).toMatch(/\.$/);
        else for (const row of sheet.rows) expect(row.cells.length).toBe(sheet.names.length);
      }),
    );
  });
});

describe('the days of a sheet', () => {
  it('are read in the order that they can only have, and otherwise in the one that is chosen', () => {
    expect(dayOrderOf(['2026-12-01', '1 Dec 2026'])).toBeUndefined();
    expect(dayOrderOf(['01/02/2026', '13/02/2026'])).toBe('DAY_FIRST');
    expect(dayOrderOf(['01/02/2026', '02.13.26'])).toBe('MONTH_FIRST');
    expect(dayOrderOf(['01/02/2026', '03/03/2026'])).toBeNull();
    expect(dayOrderOf(['03/03/2026'])).toBeUndefined();
  });

  it.each([
    ['2026-12-01', 'DAY_FIRST', '2026-12-01'],
    ['2026/2/1', 'MONTH_FIRST', '2026-02-01'],
    ['2026-02-01 00:00:00', 'MONTH_FIRST', '2026-02-01'],
    ['1/2/2026', 'DAY_FIRST', '2026-02-01'],
    ['1/2/2026', 'MONTH_FIRST', '2026-01-02'],
    ['01.02.26', 'DAY_FIRST', '2026-02-01'],
    ['28-Nov-26', 'DAY_FIRST', '2026-11-28'],
    ['3 December 2026', 'MONTH_FIRST', '2026-12-03'],
    // No such day: the gateway says so, and nothing is taken for another day.
    ['31/02/2026', 'DAY_FIRST', '31/02/2026'],
    ['2026-13-01', 'DAY_FIRST', '2026-13-01'],
    ['3 Foo 2026', 'DAY_FIRST', '3 Foo 2026'],
    ['46357', 'DAY_FIRST', '46357'],
    ['', 'DAY_FIRST', ''],
  ] as const)('%s, %s, is %s', (text, order, day) => {
    expect(dayFrom(text, order)).toBe(day);
  });

  it('are days of the calendar, whatever is written', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('DAY_FIRST', 'MONTH_FIRST'), (text, order) => {
        const day = dayFrom(text, order);
        if (day !== text) expect([day, isCalendarDay(day)]).toEqual([day, true]);
      }),
    );
  });
});

describe('a day of the calendar', () => {
  it('is one that there is', () => {
    expect(['2028-02-29', '2027-02-29', '2026-13-01', '2026-1-1', ''].map(isCalendarDay)).toEqual([
      ...[true, false, false, false, false],
    ]);
  });
});

describe('the amounts of a sheet', () => {
  it('have the decimal sign that one of them shows, and none where they disagree', () => {
    expect(decimalSignOf(['1,250.00', '12'])).toBe('.');
    expect(decimalSignOf(['1.250,5', '1.250'])).toBe(',');
    expect(decimalSignOf(['1.250', '12'])).toBeUndefined();
    expect(decimalSignOf(['1.25', '1,25'])).toBeUndefined();
  });
});
