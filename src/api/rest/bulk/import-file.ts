import { CsvError, parse } from 'csv-parse/sync';
import { GraphQLInputObjectType, type GraphQLInputType, getNullableType } from 'graphql';
import type { FileRows } from '../../../operation/bulk.js';
import { cut, problemsMax, snake } from '../../../request/problems.js';

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

/** The rows of a file, or what is wrong with it as a whole. Empty cells are absent. */
export function rowsOfFile(content: Buffer, columns: readonly string[]): FileRows {
  if (content.length > importMax.bytes) return faulty([`is larger than ${importMax.bytes / 1024 / 1024} MB`]);
  const read = cellsOf(content);
  if (typeof read === 'string') return faulty([read]);
  const [header = [], ...lines] = read;
  const faults = [...headerFaults(header, columns), ...sizeFaults(header, lines)];
  if (faults.length > 0) return faulty(faults);
  return { faults, rows: lines.map((cells) => rowOf(header, cells)) };
}

const faulty = (faults: string[]): FileRows => ({ faults: faults.slice(0, problemsMax), rows: [] });

function cellsOf(content: Buffer): string[][] | string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return 'must be text in UTF-8';
  }
  try {
    return parse(text, { relax_column_count: true, skip_empty_lines: true, max_record_size: 1_000_000 });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return `cannot be read as CSV near line ${Number(error.lines)} (${error.code})`;
  }
}

function headerFaults(header: readonly string[], columns: readonly string[]): string[] {
  if (header.length > importMax.columns) return [`must have at most ${importMax.columns} columns`];
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
  if (lines.length > importMax.rows) return [`must have at most ${importMax.rows} rows, and has ${lines.length}`];
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
