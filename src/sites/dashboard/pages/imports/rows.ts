import { countries } from '../../format/countries';
import { typedAmount } from '../../format/money';
import {
  type DayOrder,
  dayFrom,
  dayOrderOf,
  decimalSignOf,
  isCalendarDay,
  type Sheet,
  type SheetRow,
  sheetLine,
} from '../../format/sheet';
import { type Customers, customerOf } from './customers';
import { type ImportKind, kinds, type Member } from './members';

/** What the columns of a sheet are, and what all of its rows have beside them. */
export interface Mapping {
  /** The column of the import for each column of the sheet; empty for one that is left out. */
  columns: readonly string[];
  /** The values that all rows have, by the column of the import. */
  constants: Readonly<Record<string, string>>;
  /** How days are written, where the sheet does not tell. */
  dayOrder: DayOrder | undefined;
}

/** The rows as they are imported. */
export interface ImportRows {
  /** The columns, of which the first are those of the sheet. */
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** The rows of the sheet that these are. One that has nothing in the columns that are imported is none. */
  from: readonly SheetRow[];
  /** The columns of the sheet that the first columns are. */
  cellsFrom: readonly number[];
  /** How many of the columns are those of the sheet, or of all rows; the others repeat them. */
  own: number;
}

const memberOf = (kind: ImportKind, column: string): Member | undefined =>
  kinds[kind].members.find((member) => member.column === column);

/** The cells of the columns that are days. */
const dayCells = (kind: ImportKind, { names, rows }: Sheet, { columns }: Mapping): string[] =>
  names.flatMap((_, i) => (memberOf(kind, columns[i] ?? '')?.kind === 'day' ? rows.map(({ cells }) => cells[i]!) : []));

/** In which order the days are written; null where a person has to say it, since both ways are possible. */
export const orderOf = (kind: ImportKind, sheet: Sheet, mapping: Mapping): DayOrder | null | undefined =>
  dayOrderOf(dayCells(kind, sheet, mapping));

/** The members without which no row can be imported, and that neither a column nor a constant gives. */
export function missing(kind: ImportKind, { columns, constants }: Mapping): Member[] {
  return kinds[kind].members.filter(
    ({ column, required }) => required && !columns.includes(column) && !constants[column],
  );
}

/** The rows of a sheet as the gateway takes them. A cell that cannot be read stays as it is, and is refused there. */
export function importRows(
  kind: ImportKind,
  sheet: Sheet,
  mapping: Mapping,
  customers: Customers | undefined,
  edition: number,
): ImportRows {
  const order = orderOf(kind, sheet, mapping) ?? mapping.dayOrder ?? 'DAY_FIRST';
  const given = Object.entries(mapping.constants).filter(
    ([column, value]) => value && !mapping.columns.includes(column),
  );
  const taken = mapping.columns.flatMap((column, i) => (column === '' ? [] : [{ column, i }]));
  const from = sheet.rows.filter(({ cells }) => taken.some(({ i }) => cells[i] !== ''));
  const readers = taken.map(({ column, i }) => {
    const cells = from.map(({ cells: each }) => each[i]!);
    return readerOf(memberOf(kind, column), cells, order, customers);
  });
  const also = [...taken.map(({ column }) => column), ...given.map(([column]) => column)].flatMap((column, i) => {
    const { also: other, alsoIn = edition } = memberOf(kind, column) ?? {};
    return other && alsoIn === edition && !mapping.columns.includes(other) ? [{ other, i }] : [];
  });
  return {
    columns: [
      ...taken.map(({ column }) => column),
      ...given.map(([column]) => column),
      ...also.map(({ other }) => other),
    ],
    from,
    cellsFrom: taken.map(({ i }) => i),
    own: taken.length + given.length,
    rows: from.map(({ cells }) => {
      const row = [...taken.map(({ i }, k) => readers[k]!(cells[i]!)), ...given.map(([, value]) => value)];
      return [...row, ...also.map(({ i }) => row[i]!)];
    }),
  };
}

/** Whether a cell was read, or stays as it was written. */
export const isRead = {
  amount: (cell: string): boolean => /^-?\d+\.\d\d$/.test(cell),
  day: isCalendarDay,
};

/** How the cells of a column are read. */
function readerOf(
  member: Member | undefined,
  cells: readonly string[],
  order: DayOrder,
  customers: Customers | undefined,
): (cell: string) => string {
  const sign = decimalSignOf(cells);
  switch (member?.kind) {
    case 'amount':
      return (cell) => (cell === '' ? '' : typedAmount(cell, sign));
    case 'day':
      return (cell) => dayFrom(cell, order);
    case 'currency':
      return (cell) => cell.toUpperCase();
    case 'customer':
      return (cell) => (cell === '' || !customers ? cell : customerOf(cell, customers));
    case 'country':
      return countryReader();
    case 'choice':
      return choiceReader(member);
    default:
      return (cell) => cell;
  }
}

function countryReader(): (cell: string) => string {
  const codes = new Map(countries().map(({ value, name }) => [name.toLowerCase(), value]));
  return (cell) => codes.get(cell.toLowerCase()) ?? (cell.length === 2 ? cell.toUpperCase() : cell);
}

function choiceReader({ values }: Member): (cell: string) => string {
  const named = new Map(
    values?.flatMap(({ value, name }) => [
      [name.toLowerCase(), value],
      [value, value],
    ]),
  );
  // Without values of its own, it is a code, which is written in capitals.
  return (cell) => (values ? (named.get(cell.toLowerCase()) ?? cell) : cell.toUpperCase());
}

/** The rows as a CSV file with the columns of /v1. */
export const fileOf = ({ columns, rows }: ImportRows): File =>
  new File([sheetLine(columns), ...rows.map(sheetLine)], 'rows.csv', { type: 'text/csv' });
