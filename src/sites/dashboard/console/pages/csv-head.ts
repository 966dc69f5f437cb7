/*
 * What a CSV file of a bank seems to be, so that there is less to choose when its columns are mapped. The gateway reads
 * the file.
 */

/** The marks that may separate cells, by their names in the graph. */
const delimiters = { COMMA: ',', SEMICOLON: ';', TAB: '\t', PIPE: '|' } as const;
export type Delimiter = keyof typeof delimiters;

/** The first lines of a file, and where the names of its columns seem to be. */
export interface CsvHead {
  lines: string[];
  headerLine: number;
  delimiter: Delimiter;
}

/** How much of a file is looked at, and how many of its lines. */
const bytesMax = 65_536;
const linesMax = 100;

/** The first lines of a file in base64; undefined for a file of XML. */
export function headOf(content: string): CsvHead | undefined {
  const binary = atob(content.slice(0, Math.floor(bytesMax / 4) * 4));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const text = new TextDecoder().decode(bytes);
  if (text.trimStart().startsWith('<')) return undefined;
  const lines = text.split(/\r\n|\n|\r/, linesMax);
  let best: { headerLine: number; delimiter: Delimiter; cells: number } = {
    ...{ headerLine: 1, delimiter: 'COMMA', cells: 0 },
  };
  for (const delimiter of Object.keys(delimiters) as Delimiter[])
    for (const [i, line] of lines.entries()) {
      const cells = cellsOf(line, delimiter);
      // A line of names has no empty cell and no number, and the next line has as many cells.
      const isHeader = cells.every((cell) => cell !== '' && !/^[\d.,-]+$/.test(cell));
      if (isHeader && cells.length > best.cells && cellsOf(lines[i + 1] ?? '', delimiter).length === cells.length)
        best = { headerLine: i + 1, delimiter, cells: cells.length };
    }
  return { lines, headerLine: best.headerLine, delimiter: best.delimiter };
}

/** The cells of a line; a mark within quotation marks separates none. */
export function cellsOf(line: string, delimiter: Delimiter): string[] {
  const cells = [''];
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === delimiters[delimiter] && !quoted) cells.push('');
    else cells[cells.length - 1] += character;
  }
  return cells.map((cell) => cell.trim());
}

/** What banks call their columns. */
const usual: Readonly<Record<string, RegExp>> = {
  reference: /^(utr|reference|ref|bank reference|transaction (id|reference))\b/i,
  day: /^((booking|transaction|txn|posting) )?(date|day)$/i,
  amount: /^(amount|transaction amount)\b/i,
  credit: /^(credit|deposit|cr\b)/i,
  debit: /^(debit|withdrawal|dr\b)/i,
  currency: /^(currency|ccy)$/i,
  account: /^(virtual )?account( number| no\.?)?$/i,
  payerName: /^(payer|remitter|sender|from)\b/i,
  text: /^(narration|description|remarks|particulars|text)\b/i,
  endToEndId: /^(end.?to.?end)/i,
  returnReason: /^return/i,
};

/** The column that seems to be meant, among the names of a file. */
export const guessOf = (member: string, names: readonly string[]): string | undefined =>
  names.find((name) => usual[member]?.test(name));
