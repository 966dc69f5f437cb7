/** A row of a sheet: its place, as a spreadsheet counts, and its cells. */
export interface SheetRow {
  line: number;
  cells: string[];
}

/** A sheet: the names of its columns, and its rows without the empty ones. */
export interface Sheet {
  names: string[];
  rows: SheetRow[];
}

/** The most that the gateway takes. */
const sheetMax = { bytes: 5 * 1024 * 1024, rows: 10_000, columns: 200 } as const;

const asCsv = 'Save the sheet as CSV (UTF-8), and choose that file.';

/** What a file is that is no text, by its first bytes. */
const others: readonly (readonly [start: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 3, 4], 'a workbook, such as Excel saves it, or an archive'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'a workbook of an older Excel'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF'],
  [[0xff, 0xfe], 'text in UTF-16'],
  [[0xfe, 0xff], 'text in UTF-16'],
];

/** The sheet in a file, or a sentence that says why it cannot be read. */
export function sheetOf(bytes: Uint8Array): Sheet | string {
  if (bytes.length === 0) return 'The file is empty.';
  if (bytes.length > sheetMax.bytes) return 'The file is larger than 5 MB. Import its rows in several files.';
  const other = others.find(([start]) => start.every((byte, i) => bytes[i] === byte));
  if (other) return `The file is ${other[1]}. ${asCsv}`;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `The file is not text in UTF-8. ${asCsv}`;
  }
  if (text.includes('\0')) return `The file is not text. ${asCsv}`;
  return read(text);
}

function read(text: string): Sheet | string {
  const { separator, rest } = separatorOf(text);
  const records = recordsOf(rest, separator);
  if (typeof records === 'string') return records;
  const filled = records.filter(({ cells }) => cells.some((cell) => cell !== ''));
  const [head, ...rows] = filled;
  if (!head || rows.length === 0) return 'The file needs a line with the names of its columns, and at least one row.';
  if (rows.length > sheetMax.rows)
    return `The file has ${rows.length.toLocaleString()} rows. At most 10,000 can be imported at once.`;
  const width = Math.max(...filled.map(({ cells }) => cells.findLastIndex((cell) => cell !== '') + 1));
  if (width > sheetMax.columns) return `The file has ${width} columns. At most ${sheetMax.columns} can be imported.`;
  const wide = rows.find(({ cells }) => cells.some((cell, i) => cell !== '' && (head.cells[i] ?? '') === ''));
  if (wide)
    return (
      `Row ${wide.line} has a value in a column without a name. Name each column in the first line of the sheet; a ` +
      'comma within a value needs quotation marks around the value, which spreadsheets write by themselves.'
    );
  const names = head.cells.slice(0, width);
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) < i);
  if (twice !== undefined) return `Two columns have the name “${twice.slice(0, 60)}”. Give each its own.`;
  return { names, rows: rows.map(({ line, cells }) => ({ line, cells: names.map((_, i) => cells[i] ?? '') })) };
}

const separators = [',', ';', '\t'] as const;

/** What separates the cells: as a first line `sep=;` says, or what the line of names has most often. */
function separatorOf(text: string): { separator: string; rest: string } {
  const said = /^"?sep=([,;\t])"?\r?\n?/i.exec(text.slice(0, 12));
  // The line counts as a row of the sheet.
  if (said) return { separator: said[1]!, rest: `\n${text.slice(said[0].length)}` };
  const first = text
    .slice(0, 65_536)
    .trimStart()
    .split(/[\r\n]/, 1)[0]!;
  const often = (mark: string) => first.split(mark).length;
  return { separator: separators.toSorted((one, other) => often(other) - often(one))[0]!, rest: text };
}

/** The records of CSV by RFC 4180, with the spaces around their cells removed; or what is wrong with them. */
function recordsOf(text: string, separator: string): SheetRow[] | string {
  const records: SheetRow[] = [];
  let cells: string[] = [];
  let at = 0;
  for (;;) {
    let cell: string;
    while (text[at] === ' ') at++;
    if (text[at] === '"') {
      const parts: string[] = [];
      for (at++; ; ) {
        const end = text.indexOf('"', at);
        if (end < 0) return `The quotation marks in row ${records.length + 1} do not end.`;
        parts.push(text.slice(at, end));
        at = end + 1;
        if (text[at] !== '"') break;
        parts.push('"');
        at++;
      }
      const end = endOf(text, at, separator);
      if (text.slice(at, end).trim() !== '')
        return `Row ${records.length + 1} has text behind a quotation mark that ends a cell.`;
      at = end;
      cell = parts.join('');
    } else {
      const end = endOf(text, at, separator);
      cell = text.slice(at, end);
      at = end;
    }
    cells.push(cell.trim());
    if (text[at] === separator) {
      at++;
      continue;
    }
    records.push({ line: records.length + 1, cells });
    if (at >= text.length) return records;
    at += text.startsWith('\r\n', at) ? 2 : 1;
    cells = [];
  }
}

/** Where a cell without quotation marks ends. */
function endOf(text: string, from: number, separator: string): number {
  let at = from;
  while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at++;
  return at;
}

/** A line of CSV that has each text as it is. */
export const sheetLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;

/** In which order the days of a sheet are written. */
export type DayOrder = 'DAY_FIRST' | 'MONTH_FIRST';

const writtenDay = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})$/;

/** The order in which all days of a sheet can be read; null where both can, and undefined where the order is told. */
export function dayOrderOf(texts: readonly string[]): DayOrder | null | undefined {
  const parts = texts.flatMap((text) => {
    const [, one, other] = writtenDay.exec(text) ?? [];
    return one ? [[Number(one), Number(other)] as const] : [];
  });
  if (parts.length === 0) return undefined;
  if (parts.some(([first]) => first > 12)) return 'DAY_FIRST';
  if (parts.some(([, second]) => second > 12)) return 'MONTH_FIRST';
  return parts.every(([first, second]) => first === second) ? undefined : null;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** A day as people write it, as the gateway takes it: `2026-12-01`. A text that is no day stays as it is. */
export function dayFrom(text: string, order: DayOrder): string {
  if (text.length > 40) return text;
  const iso = /^(\d{4})[./-](\d{1,2})[./-](\d{1,2})(?:[T ]00:00(?::00)?)?$/.exec(text);
  if (iso) return dayOfParts(text, iso[1]!, Number(iso[2]), Number(iso[3]));
  const written = writtenDay.exec(text);
  if (written) {
    const [one, other] = [Number(written[1]), Number(written[2])];
    return order === 'DAY_FIRST'
      ? dayOfParts(text, written[3]!, other, one)
      : dayOfParts(text, written[3]!, one, other);
  }
  const named = /^(\d{1,2})[ -]([A-Za-z]{3})[a-z]{0,6}[ -](\d{4}|\d{2})$/.exec(text);
  if (!named) return text;
  return dayOfParts(text, named[3]!, months.indexOf(named[2]!.toLowerCase()) + 1, Number(named[1]));
}

/** Whether a text is a day of the calendar as the gateway takes it. */
export function isCalendarDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return year !== undefined && dayOfParts('', year, Number(month), Number(day)) === text;
}

/** A day of its parts; the text itself where there is no such day. */
function dayOfParts(text: string, year: string, month: number, day: number): string {
  const whole = year.length === 2 ? `20${year}` : year;
  const at = new Date(Date.UTC(Number(whole), month - 1, day));
  if (month < 1 || at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return text;
  return at.toISOString().slice(0, 10);
}

/** The sign before the decimals of a column of amounts, where one of them shows it; undefined where none does. */
export function decimalSignOf(texts: readonly string[]): string | undefined {
  const signs = new Set(texts.flatMap((text) => /\d([.,])\d{1,2}\D{0,4}$/.exec(text.slice(-12))?.[1] ?? []));
  return signs.size === 1 ? [...signs][0] : undefined;
}
