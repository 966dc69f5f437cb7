import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm';
import { fromRow } from '../../db/read/row-mapper.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { listedMax, type ListPage } from '../paging.js';
import { problem, type Problem } from '../../errors/problems.js';
import { accountKey } from './line.js';
import { isCurrency } from '../../types/scalars.js';
import { lengthFault } from '../../types/text-length.js';
import {
  type CsvMapping,
  DayFormat,
  csvColumns,
  bankFile,
  type BankFileRow,
  bankLine,
  type BankLineRow,
  type BankLineState,
  bankMapping,
  type BankMappingRow,
} from './table.js';

const { placeholder } = sql;
const mappingsMax = 200;
const nameLengthMax = 100;

/** The id of a line, as operators name it. */
export const idOfLine = ({ fileId, number }: Pick<BankLineRow, 'fileId' | 'number'>): string => `${fileId}.${number}`;

/** The file with this id. */
export async function fileOf(operator: Operator, id: string): Promise<BankFileRow> {
  const [row] = await operator.read<BankFileRow>(
    'operator_bank_file',
    (db) =>
      db
        .select()
        .from(bankFile)
        .where(eq(bankFile.id, placeholder('id'))),
    { id },
  );
  if (!row) throw new OperatorError('There is no such file. Check the id.', 'resource_missing', 'bank_file.id');
  return row;
}

/** The line with this id. */
export async function lineOf(operator: Operator, id: string): Promise<BankLineRow> {
  const [, fileId, number] = /^(\w{1,100})\.([1-9]\d{0,8})$/.exec(id) ?? [];
  const [row] =
    fileId === undefined
      ? []
      : await operator.read<BankLineRow>(
          'operator_bank_line',
          (db) =>
            db
              .select()
              .from(bankLine)
              .where(
                and(
                  eq(bankLine.fileId, placeholder('fileId')),
                  sql`${bankLine.number} = ${placeholder('number')}::int`,
                ),
              ),
          { fileId, number },
        );
  if (!row) throw new OperatorError('There is no such line. Check the id.', 'resource_missing', 'bank_line.id');
  return row;
}

/** The files, the newest first; `after` is the `next` of the page before. */
export async function listFiles(
  operator: Operator,
  { after, limit = listedMax }: { after?: string | undefined; limit?: number | undefined },
): Promise<ListPage<BankFileRow>> {
  const from = after === undefined ? undefined : await fileOf(operator, after);
  const rows = await operator.read<BankFileRow>(
    `operator_bank_files:${from ? 'after' : ''}`,
    (db) =>
      db
        .select()
        .from(bankFile)
        .where(
          from &&
            sql`(${bankFile.created}, ${bankFile.id}) <
              (${placeholder('created')}::bigint, ${placeholder('id')}::text)`,
        )
        .orderBy(desc(bankFile.created), desc(bankFile.id))
        .limit(placeholder('limit')),
    { created: from && String(from.created), id: from?.id, limit: limit + 1 },
  );
  return { nodes: rows.slice(0, limit), next: rows.length > limit ? rows[limit - 1]!.id : null };
}

/** Which lines to list: those of a file, or the unmatched ones of all files. */
export interface LineFilter {
  fileId?: string | undefined;
  state?: BankLineState | undefined;
  after?: string | undefined;
  limit?: number | undefined;
}

/** The lines of a file in its order, or those of all files that fit no address, the oldest day first. */
export async function listLines(
  operator: Operator,
  { fileId, state, after, limit = listedMax }: LineFilter,
): Promise<ListPage<BankLineRow>> {
  if (fileId !== undefined) await fileOf(operator, fileId);
  else if (state !== 'unmatched')
    throw new OperatorError(
      'Without a file, the list has the lines that are unmatched alone. Name a file, or the state.',
      'parameter_invalid',
      'bank_line.state',
    );
  const from = after === undefined ? undefined : await lineOf(operator, after);
  const conditions: Record<string, SQL | undefined> = {
    file: fileId === undefined ? undefined : eq(bankLine.fileId, placeholder('fileId')),
    state:
      fileId === undefined
        ? sql`state = 'unmatched' and exists (select from bank_file f where f.id = file_id and f.stored_at is not null)`
        : state === undefined
          ? undefined
          : eq(bankLine.state, placeholder('state')),
    after:
      from &&
      (fileId === undefined
        ? sql`(${bankLine.day}, ${bankLine.fileId}, ${bankLine.number}) >
            (${placeholder('day')}::text, ${placeholder('lastFile')}::text, ${placeholder('number')}::int)`
        : sql`${bankLine.number} > ${placeholder('number')}::int`),
  };
  const given = Object.entries(conditions).flatMap(([name, one]) => (one ? [name] : []));
  const rows = await operator.read<BankLineRow>(
    `operator_bank_lines:${given.join(':')}`,
    (db) =>
      db
        .select()
        .from(bankLine)
        .where(and(...Object.values(conditions)))
        .orderBy(...(fileId === undefined ? [asc(bankLine.day), asc(bankLine.fileId)] : []), asc(bankLine.number))
        .limit(placeholder('limit')),
    { fileId, state, day: from?.day, lastFile: from?.fileId, number: from?.number, limit: limit + 1 },
  );
  return { nodes: rows.slice(0, limit), next: rows.length > limit ? idOfLine(rows[limit - 1]!) : null };
}

/** The saved mappings by name: 200 at most. */
export function listMappings(operator: Operator): Promise<BankMappingRow[]> {
  return operator.read<BankMappingRow>(
    'operator_bank_mappings',
    (db) => db.select().from(bankMapping).orderBy(asc(bankMapping.name)).limit(mappingsMax),
    {},
  );
}

/** The mapping with this name. */
export async function mappingOf(operator: Operator, name: string): Promise<CsvMapping> {
  const found = (await listMappings(operator)).find((row) => row.name === name);
  if (!found)
    throw new OperatorError('There is no such mapping. Check the name.', 'resource_missing', 'bank_file.mapping');
  return found.mapping;
}

/** Saves how the CSV files of a bank are read. */
export async function saveMapping(
  operator: Operator,
  name: string,
  mapping: CsvMapping,
  by: string,
): Promise<BankMappingRow> {
  refuse(mappingProblems(name, mapping));
  const before = await listMappings(operator);
  if (before.length >= mappingsMax && !before.some((row) => row.name === name))
    throw new OperatorError(
      `There are ${mappingsMax} mappings, and no more are kept. Save it in place of another one.`,
      'state_conflict',
      'bank_mapping.name',
    );
  const [row] = await operator.call('save_bank_mapping', [name, JSON.stringify(mapping), by]);
  return fromRow(bankMapping, row!);
}

/** The problems of a mapping that could read no file, or could read a wrong figure. */
function mappingProblems(name: string, { columns, currency, account, ...mapping }: CsvMapping): Problem[] {
  const wrong = (field: string, text: string) => [problem('parameter_invalid', `bank_mapping.${field}`, text)];
  const has = (column: keyof typeof columns) => columns[column] !== undefined;
  const texts = Object.entries({ name, ...columns, account }).filter(([, text]) => text !== undefined);
  return [
    ...texts.flatMap(([field, text]) => {
      const fault = text!.trim() === '' ? 'must not be empty' : lengthFault(text!, nameLengthMax);
      return fault === undefined ? [] : wrong(field === 'name' ? 'name' : `columns.${field}`, fault);
    }),
    ...Object.keys(columns).flatMap((column) =>
      (csvColumns as readonly string[]).includes(column) ? [] : wrong(`columns.${column}`, 'is not known'),
    ),
    ...(has('day') ? [] : wrong('columns.day', 'is required')),
    ...(has('reference') ? [] : wrong('columns.reference', 'is required')),
    ...(has('amount') !== (has('credit') && has('debit')) && (has('amount') || has('credit'))
      ? []
      : wrong('columns.amount', 'is required, or both `credit` and `debit` instead of it')),
    ...(has('direction') && !has('amount') ? wrong('columns.direction', 'goes with `amount` alone') : []),
    ...(has('currency') === (currency === undefined)
      ? []
      : wrong('currency', 'is required, either as a column or for all lines')),
    ...(currency === undefined || isCurrency(currency) ? [] : wrong('currency', 'must be an active ISO 4217 code')),
    ...(has('account') === (account === undefined)
      ? []
      : wrong('account', 'is required, either as a column or for all lines')),
    ...(account === undefined || accountKey(account) !== '' ? [] : wrong('account', 'must be an account number')),
    ...(Object.values(DayFormat).includes(mapping.dayFormat) ? [] : wrong('day_format', 'is not known')),
    ...(['.', ','].includes(mapping.decimal) ? [] : wrong('decimal', 'must be . or ,')),
    ...([',', ';', '\t', '|'].includes(mapping.delimiter) ? [] : wrong('delimiter', 'must be , ; | or a tab')),
    ...(mapping.headerLine >= 1 && mapping.headerLine <= 100 ? [] : wrong('header_line', 'must be from 1 to 100')),
  ];
}
