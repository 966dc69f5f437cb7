import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import { GraphQLInputObjectType, type GraphQLInputType, getNullableType } from 'graphql';
import type { FileRows } from '../../../operation/bulk.js';
import { cut, problemsMax, snake } from '../../../errors/problems.js';

/** The most bytes, rows and columns of a file. */
const importMax = { bytes: 5 * 1024 * 1024, rows: 10_000, columns: 200 } as const;

/** The names of the columns of an input: the dotted names of its parameters on /v1. A map ends with a dot. */
export function columnsOfInput(type: GraphQLInputObjectType, at = ''): string[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const name = at + snake(field.name);
    const inner = getNullableType(field.type) as GraphQLInputType;
    if (inner instanceof GraphQLInputObjectType) return columnsOfInput(inner, `${name}.`);
    return 'name' in inner && inner.name === 'Metadata' ? [`${name}.`] : [name];
  });
}

/**
 * How much of a file is read before others have their turn: a whole file takes a second, in which nothing is served.
 */
const pieceBytes = 64 * 1024;

/** The rows of a file, or what is wrong with it as a whole. Empty cells are absent. */
export async function rowsOfFile(content: Buffer, columns: readonly string[]): Promise<FileRows> {
  if (content.length > importMax.bytes) return faulty([`is larger than ${importMax.bytes / 1024 / 1024} MB`]);
  const read = await cellsOf(content);
  if (typeof read === 'string') return faulty([read]);
  const [header = [], ...lines] = withoutEmptyColumns(read);
  if (header.length > importMax.columns) return faulty([`must have at most ${importMax.columns} columns`]);
  const faults = [...headerFaults(header, columns), ...sizeFaults(header, lines)];
  if (faults.length > 0) return faulty(faults);
  return { faults, rows: lines.map((cells) => rowOf(header, cells)) };
}

const faulty = (faults: string[]): FileRows => ({ faults: faults.slice(0, problemsMax), rows: [] });

/** The characters that may separate the cells of a file; the first one where its header has none of them. */
const delimiters = [',', ';', '\t'] as const;

/**
 * How a file separates its cells: as its first line says, which spreadsheets write as `sep=;`, or by the character that
 * its header has most often outside quotes. `from` is the line with the header.
 */
function delimiterOf(content: Buffer): { delimiter: string; from: number } {
  const text = content.subarray(0, pieceBytes).toString().replace('\ufeff', '');
  const said = delimiters.find((each) => text.slice(0, 7).toLowerCase().replaceAll('"', '').startsWith(`sep=${each}`));
  if (said) return { delimiter: said, from: 2 };
  const counts = new Map<string, number>();
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (character === '\n' && !quoted && counts.size > 0) break;
    else if (!quoted && character !== '\r' && character !== '\n')
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const often = (each: string) => counts.get(each) ?? 0;
  return { delimiter: delimiters.toSorted((one, other) => often(other) - often(one))[0]!, from: 1 };
}

const isEmpty = (cell: string | undefined): boolean => cell === undefined || cell.trim() === '';

/** The lines without the columns that have neither a name nor a value, as spreadsheets leave them behind. */
function withoutEmptyColumns(lines: string[][]): string[][] {
  const [header = [], ...rows] = lines;
  // A line of too many cells is a fault, whatever they have.
  const width = Math.min(Math.max(0, ...lines.map((cells) => cells.length)), importMax.columns);
  const empty = new Set<number>();
  for (let i = 0; i < width; i++)
    if (isEmpty(header[i]) && rows.every((cells) => isEmpty(cells[i]) || cells.length > importMax.columns))
      empty.add(i);
  if (empty.size === 0) return lines;
  return lines.map((cells) => (cells.length > importMax.columns ? cells : cells.filter((_, i) => !empty.has(i))));
}

/**
 * The cells of a file by lines; no more lines than what shows that there are too many lines, or too many cells in one.
 * A line without a value is none.
 */
async function cellsOf(content: Buffer): Promise<string[][] | string> {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return 'must be text in UTF-8';
  }
  const { delimiter, from } = delimiterOf(content);
  const options = {
    ...{ bom: true, relax_column_count: true, skip_empty_lines: true, max_record_size: 1_000_000 },
    ...{ delimiter, from_line: from, record_delimiter: ['\r\n', '\n', '\r'] },
  };
  const lines: string[][] = [];
  try {
    for await (const cells of Readable.from(piecesOf(content)).pipe(parse(options)) as AsyncIterable<string[]>) {
      if (cells.length <= importMax.columns && cells.every(isEmpty)) continue;
      lines.push(cells);
      if (cells.length > importMax.columns || lines.length > importMax.rows + 1) break;
    }
    return lines;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return `cannot be read as CSV near line ${Number(error.lines)} (${error.code})`;
  }
}

async function* piecesOf(content: Buffer): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; at < content.length; at += pieceBytes) {
    yield content.subarray(at, at + pieceBytes);
    await turn();
  }
}

function headerFaults(header: readonly string[], columns: readonly string[]): string[] {
  const known = (name: string) =>
    columns.some((column) => (column.endsWith('.') ? name.startsWith(column) && name !== column : name === column));
  return header.flatMap((name, i) => {
    if (name === '') return [`has no name for its column ${i + 1}`];
    if (header.indexOf(name) < i) return [`has the column \`${cut(name)}\` twice`];
    return known(name) ? [] : [`has the unknown column \`${cut(name)}\``];
  });
}

function sizeFaults(header: readonly string[], lines: readonly (readonly string[])[]): string[] {
  if (lines.length === 0) return ['must have a header and at least one row'];
  if (lines.length > importMax.rows) return [`must have at most ${importMax.rows} rows`];
  return lines.flatMap((cells, i) =>
    cells.length === header.length
      ? []
      : [`has ${cells.length} cells in row ${i + 1}, and ${header.length} in its header`],
  );
}

function rowOf(header: readonly string[], cells: readonly string[]): Record<string, string> {
  const row: Record<string, string> = Object.create(null);
  for (const [i, name] of header.entries()) if (cells[i] !== '') row[name] = cells[i]!;
  return row;
}
