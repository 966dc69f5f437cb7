import type { CsvColumn, CsvMapping, DayFormat, Direction, LineDetails } from './table.js';
import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { bankDetailsMax } from '../money/bank-details.js';
import {
  accountOf,
  amountOf,
  bankFileMax,
  BankFileFault,
  checkedText,
  currencyIn,
  dayOf,
  type FileLine,
  referenceOf,
  returnReasonMax,
  textOf,
} from './line.js';

const csvMax = { columns: 200, recordCharacters: 65_536 } as const;

const faults: Readonly<Partial<Record<string, string>>> = {
  CSV_MAX_RECORD_SIZE: `has a row of more than ${csvMax.recordCharacters} characters, or a quote that does not end`,
  CSV_QUOTE_NOT_CLOSED: 'has a quote that does not end',
};

const directions: Readonly<Record<string, Direction>> = {
  ...{ C: 'credit', CR: 'credit', CREDIT: 'credit', '+': 'credit', CRDT: 'credit' },
  ...{ D: 'debit', DR: 'debit', DEBIT: 'debit', '-': 'debit', DBIT: 'debit' },
};

/** Reads the lines of a CSV file by a mapping, piece by piece. */
export async function* csvLines(
  text: AsyncIterable<string>,
  mapping: CsvMapping,
): AsyncGenerator<FileLine, void, void> {
  const options = {
    ...{ bom: true, info: true, skip_empty_lines: true, relax_column_count: true },
    ...{ delimiter: mapping.delimiter, from_line: mapping.headerLine, record_delimiter: ['\r\n', '\n', '\r'] },
    max_record_size: csvMax.recordCharacters,
  };
  const input = Readable.from(wholeLines(text));
  const parser = input.on('error', (error) => parser.destroy(error)).pipe(parse(options));
  let header: Row | undefined;
  let [number, line] = [0, mapping.headerLine];
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      if (record.length > csvMax.columns) throw new BankFileFault(line, `has more than ${csvMax.columns} columns`);
      if (!header) header = headerOf(record, mapping, line);
      else if (record.some((cell) => cell.trim() !== '')) {
        if (number >= bankFileMax.lines)
          throw new BankFileFault(line, `is beyond ${bankFileMax.lines} transfers, the most that a file may have`);
        const read = lineOf(record, header, mapping, line);
        if (read.amount !== 0n) yield { ...read, number: ++number };
      }
      line = info.lines + 1;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new BankFileFault(Number(error.lines) || line, faults[error.code] ?? `cannot be read as CSV (${error.code})`);
  } finally {
    input.destroy();
  }
  if (!header) throw new BankFileFault(line, 'has no names of columns');
}

/** The text of a file that ends with a line break. Refuses another: if it is cut, its last amount is a part of one. */
async function* wholeLines(text: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let [line, last] = [1, ''];
  for await (const piece of text) {
    line += piece.split('\n').length - 1;
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (last !== '\n' && last !== '\r')
    throw new BankFileFault(line, 'ends without a line break: the file may be cut. If it is whole, add one');
}

/** The place of each column of the mapping, and how many there are. */
interface Row {
  places: Partial<Record<CsvColumn, number>>;
  width: number;
}

function headerOf(cells: readonly string[], { columns }: CsvMapping, line: number): Row {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const places: Row['places'] = {};
  for (const [column, name] of Object.entries(columns) as [CsvColumn, string][]) {
    const place = names.indexOf(name.trim().toLowerCase());
    if (place < 0) throw new BankFileFault(line, `has no column \`${name}\`, which the mapping names`);
    if (names.includes(names[place]!, place + 1)) throw new BankFileFault(line, `has the column \`${name}\` twice`);
    places[column] = place;
  }
  return { places, width: names.length };
}

function lineOf(cells: string[], { places, width }: Row, mapping: CsvMapping, line: number): Omit<FileLine, 'number'> {
  if (cells.length !== width) throw new BankFileFault(line, `has ${cells.length} cells, and the file ${width} columns`);
  const cell = (column: CsvColumn): string | undefined => {
    const place = places[column];
    return place === undefined ? undefined : checkedText(cells[place]!, line).trim();
  };
  const currency = currencyIn(cell('currency') ?? mapping.currency ?? '', line);
  const values = {
    payerName: textOf(cell('payerName'), bankDetailsMax.name),
    text: textOf(cell('text'), bankDetailsMax.text),
    endToEndId: referenceOf(line, cell('endToEndId')) ?? undefined,
    returnReason: textOf(cell('returnReason'), returnReasonMax),
  };
  const filled = Object.entries(values).filter(([, value]) => value !== undefined);
  return {
    ...{ kind: 'line', line, statement: null, payee: null, isReversal: false, isUnclear: false },
    account: accountOf(cell('account') ?? mapping.account, line),
    ...moneyOf(cell, mapping, currency, line),
    currency,
    day: dayIn(cell('day') ?? '', mapping.dayFormat, line),
    reference: referenceOf(line, cell('reference')),
    details: Object.fromEntries(filled) as LineDetails,
  };
}

/** The amount and direction of a line: from two columns, from a sign, or from a column that says the direction. */
function moneyOf(
  cell: (column: CsvColumn) => string | undefined,
  { columns, decimal }: CsvMapping,
  currency: string,
  line: number,
): { amount: bigint; direction: Direction } {
  const read = (text: string | undefined) => (text ? amountOf(plain(text, decimal, line), currency, line, true) : 0n);
  if (columns.amount === undefined) {
    const [credit, debit] = [read(cell('credit')), read(cell('debit'))];
    if (credit < 0n || debit < 0n || (credit > 0n && debit > 0n))
      throw new BankFileFault(line, 'has not one of a credit and a debit');
    return credit > 0n ? { amount: credit, direction: 'credit' } : { amount: debit, direction: 'debit' };
  }
  const text = cell('amount');
  if (!text) throw new BankFileFault(line, 'has no amount');
  const amount = read(text);
  if (columns.direction === undefined)
    return { amount: amount < 0n ? -amount : amount, direction: amount < 0n ? 'debit' : 'credit' };
  const direction = directions[cell('direction')!.toUpperCase()];
  if (direction === undefined || amount < 0n)
    throw new BankFileFault(line, 'has a direction that is neither credit nor debit, or a sign beside it');
  return { amount, direction };
}

/** A number without what separates its thousands, in groups of two or three, and with a point as its decimal mark. */
function plain(text: string, decimal: '.' | ',', line: number): string {
  const separator = decimal === '.' ? ',' : '.';
  // Blanks and apostrophes separate thousands in some countries; a sign may stand apart.
  const [, sign = '', digits = ''] = /^([+-]?)\s*(.*)$/su.exec(text.trim())!;
  const [units = '', decimals, ...more] = (sign + digits.replaceAll(/[\s']/gu, separator)).split(decimal);
  const groups = units.split(separator);
  const whole = groups.length === 1 || (/^[+-]?\d{1,3}$/.test(groups[0]!) && groups.slice(1).every(isGroup));
  if (more.length > 0 || !whole || (groups.length > 1 && groups.at(-1)!.length !== 3))
    throw new BankFileFault(line, 'has an amount whose digits are not grouped as the mapping says');
  return groups.join('') + (decimals === undefined ? '' : `.${decimals}`);
}

const isGroup = (digits: string): boolean => /^\d{2,3}$/.test(digits);

function dayIn(text: string, format: DayFormat, line: number): string {
  const parts = /^(\d{1,4})[-/. ](\d{1,2})[-/. ](\d{1,4})$/.exec(text)?.slice(1) ?? [];
  const order = { 'YYYY-MM-DD': [0, 1, 2], 'DD/MM/YYYY': [2, 1, 0], 'MM/DD/YYYY': [2, 0, 1] }[format];
  const [year = '', month = '', day = ''] = order.map((place) => parts[place]);
  if (year.length !== 4) throw new BankFileFault(line, `has a day that is not written as ${format}`);
  return dayOf(year, month.padStart(2, '0'), day.padStart(2, '0'), line);
}
