import fs from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { amountText } from '../../types/scalars.js';
import { assignLine, type Booking, bookLines, returnLine } from '../bank-file/booking.js';
import { type GivenFile, storeBankFile, tryBankFile } from '../bank-file/import.js';
import { idOfLine, listFiles, listLines, listMappings, mappingOf, saveMapping } from '../bank-file/listing.js';
import { bankReport } from '../bank-file/report.js';
import {
  type CsvColumn,
  type CsvMapping,
  DayFormat,
  csvColumns,
  type BankFileRow,
  type BankLineRow,
  BankLineState,
  type BankMappingRow,
} from '../bank-file/table.js';
import { type Operator, OperatorError } from '../operator.js';
import { currencyCode, reasonText, wholeNumber } from './arguments.js';
import { type AddCommand, after, commandUser, type Options } from './command.js';
import { progressOf } from './terminal.js';

/** Adds the commands about files of banks. */
export function bankCommands(program: Command, command: AddCommand): void {
  const bank = program.command('bank').description('Files of banks, and the transfers in them');
  command(
    bank,
    'import <file>',
    'Read a camt.053, a camt.054 or a CSV file, and book its transfers; the same file again books nothing twice',
    async (operator, o, path) => {
      const mapping = o.mapping === undefined ? undefined : await mappingOf(operator, String(o.mapping));
      const given = fileAt(path, mapping, o);
      if (o.dryRun === true) return { dry_run: true, ...snake(await tryBankFile(operator, given)) };
      const { file, trial } = await storeBankFile(operator, given, commandUser());
      const booking = await bookAll(operator, file.id);
      return { ...fileV1(file), found: snake(trial), booking };
    },
  )
    .option('--dry-run', 'say what would become of its lines, and store nothing')
    .option('--mapping <name>', 'the saved mapping by which a CSV file is read')
    .option('--allow-unknown', 'store the file although no line names an account of the service');
  command(bank, 'files', 'List the imported files, the newest first', async (operator, o) => {
    const { nodes, next } = await listFiles(operator, { after: o.after as string | undefined });
    return { files: nodes.map(fileV1), ...(next !== null && { next }) };
  }).addOption(after());
  command(
    bank,
    'lines [file]',
    'List the lines of a file; without one, those of all files that fit no address',
    async (operator, o, fileId) => {
      const state = (o.state ?? (fileId === '' ? BankLineState.UNMATCHED : undefined)) as BankLineState | undefined;
      const filter = { fileId: fileId === '' ? undefined : fileId, state, after: o.after as string | undefined };
      const { nodes, next } = await listLines(operator, filter);
      return { lines: nodes.map(lineV1), ...(next !== null && { next }) };
    },
  )
    .addOption(new Option('--state <state>', 'only of this state').choices(Object.values(BankLineState)))
    .addOption(after());
  decisionCommands(bank, command);
  command(bank, 'report', "Compare the bank's closing balances of a day with the ledger", async (operator, o) => {
    const { statements, hasMore } = await bankReport(operator, String(o.day));
    return { statements: statements.map((row) => snake(row)), ...(hasMore && { has_more: true }) };
  }).requiredOption('--day <day>', 'such as 2026-01-31');
  mappingCommands(bank, command);
}

/** How many lines are booked between two looks at how many are left. */
const bookedMax = 500;

/** Books the lines of a file that wait, and shows how many. */
async function bookAll(operator: Operator, fileId: string): Promise<Booking> {
  const all = { booked: 0, unmatched: 0, left: 0 };
  let waited: number | undefined;
  for (;;) {
    const { booked, unmatched, left } = await bookLines(operator, fileId, bookedMax);
    waited ??= booked + unmatched + left;
    progressOf('Booking the lines', waited - left, waited, 'lines');
    const stays = left === 0 || left === all.left;
    Object.assign(all, { booked: all.booked + booked, unmatched: all.unmatched + unmatched, left });
    if (stays) return all;
  }
}

function decisionCommands(bank: Command, command: AddCommand): void {
  command(bank, 'assign <line>', 'Book a line that fits no address to one', async (operator, o, id) =>
    lineV1(
      await assignLine(
        operator,
        id,
        {
          addressId: String(o.address),
          reference: o.reference as string | undefined,
          originalReference: o.original as string | undefined,
          allowCurrency: o.allowCurrency as boolean | undefined,
        },
        commandUser(),
      ),
    ),
  )
    .requiredOption('--address <address>', 'the receiving address')
    .option('--reference <reference>', 'the reference, where the bank gives none or another one is meant')
    .option('--original <reference>', "of money that was taken back: the bank's reference of its receipt")
    .option('--allow-currency', 'book a transfer in another currency than its address');
  command(
    bank,
    'return <line>',
    'Record that the money of a line was sent back to its payer; it is in no balance',
    async (operator, o, id) => lineV1(await returnLine(operator, id, String(o.reason), commandUser())),
  ).requiredOption('--reason <text>', 'why', reasonText);
}

function mappingCommands(bank: Command, command: AddCommand): void {
  command(bank, 'mappings', 'List the saved mappings of CSV files', async (operator) => ({
    mappings: (await listMappings(operator)).map(mappingV1),
  }));
  command(bank, 'map <name>', 'Save how the CSV files of a bank are read', async (operator, o, name) =>
    mappingV1(await saveMapping(operator, name, mappingIn(o), commandUser())),
  )
    .requiredOption(
      '--column <column=name...>',
      `what a column of the file is: ${csvColumns.join(', ')}`,
      addColumn,
      {},
    )
    .option('--currency <currency>', 'the currency of all lines', currencyCode)
    .option('--account <account>', 'the account of all lines, as an IBAN or a number')
    .addOption(
      new Option('--day-format <format>', 'how days are written')
        .choices(Object.values(DayFormat))
        .default(DayFormat.YEAR_FIRST),
    )
    .addOption(new Option('--decimal <mark>', 'the decimal mark').choices(['.', ',']).default('.'))
    .addOption(
      new Option('--delimiter <character>', 'what separates cells').choices([',', ';', 'tab', '|']).default(','),
    )
    .option('--header-line <line>', 'the line with the names of the columns', wholeNumber, 1);
}

/** The file at a path of this machine. */
function fileAt(path: string, mapping: CsvMapping | undefined, { allowUnknown }: Options): GivenFile {
  if (!fs.statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new OperatorError('There is no such file. Check the path.', 'resource_missing', 'bank_file.name');
  // It is read twice: before anything is stored, and to store its lines.
  const steps = ['Reading the file', 'Storing its lines'];
  return {
    name: path.split(/[/\\]/).at(-1)!,
    open: () => readFile(path, steps.shift()!),
    ...{ mapping, allowUnknown: allowUnknown as boolean | undefined },
  };
}

/** Reads a file, and shows how far. */
async function* readFile(path: string, step: string): AsyncGenerator<Buffer> {
  const { size } = fs.statSync(path);
  let bytes = 0;
  for await (const piece of fs.createReadStream(path) as AsyncIterable<Buffer>) {
    progressOf(step, (bytes += piece.length), size, 'bytes');
    yield piece;
  }
}

/** Adds one column, written as `column=name`. */
function addColumn(text: string, before: CsvMapping['columns']): CsvMapping['columns'] {
  const [, column, name] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (column === undefined || !(csvColumns as readonly string[]).includes(column))
    throw new InvalidArgumentError(`It must be one of ${csvColumns.join(', ')}, = and the name of a column.`);
  return { ...before, [column as CsvColumn]: name };
}

const mappingIn = (o: Options): CsvMapping => ({
  columns: o.column as CsvMapping['columns'],
  currency: o.currency as string | undefined,
  account: o.account as string | undefined,
  dayFormat: o.dayFormat as DayFormat,
  decimal: o.decimal as '.' | ',',
  delimiter: o.delimiter === 'tab' ? '\t' : (o.delimiter as ',' | ';' | '|'),
  headerLine: o.headerLine as number,
});

const fileV1 = ({ id, created, createdBy, name, format, lines, storedAt }: BankFileRow) => ({
  ...{ id, created, name, format, lines, created_by: createdBy, stored_at: storedAt },
});

const mappingV1 = ({ name, created, createdBy, mapping }: BankMappingRow) => ({
  ...{ name, created, created_by: createdBy, ...snake(mapping) },
});

function lineV1(row: BankLineRow) {
  const { account, payee, direction, amount, currency, day, reference, state, reason, note } = row;
  return {
    ...{ id: idOfLine(row), line: row.line, day, account, payee, direction, is_reversal: row.isReversal },
    ...{ amount: amountText(amount), currency, reference: row.givenReference ?? reference, state, reason, note },
    ...{ address_id: row.addressId, deposit_id: row.depositId, decided_by: row.decidedBy },
    ...{ original_reference: row.originalReference, details: row.details },
  };
}

/** An object as commands print it: names as on /v1, and amounts as text. */
function snake(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof member === 'bigint' ? amountText(member) : (member as unknown),
    ]),
  );
}
