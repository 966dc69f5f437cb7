import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { type ById, Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { LocalDate } from '../../types/scalars.js';
import { assignLine, type Booking, bookLines, returnLine } from '../bank-file/booking.js';
import { type FileTrial, storeBankFile, tryBankFile } from '../bank-file/import.js';
import { idOfLine, listFiles, listLines, listMappings, mappingOf, saveMapping } from '../bank-file/listing.js';
import { bankReport } from '../bank-file/report.js';
import {
  type CsvMapping,
  DayFormat,
  type BankFileRow,
  type BankLineRow,
  type BankMappingRow,
  UnmatchedReason,
} from '../bank-file/table.js';
import type { OperatorContext } from '../context.js';
import {
  AssignBankLineInput,
  BankLinesArgs,
  BookBankFileInput,
  ImportBankFileInput,
  ReturnBankLineInput,
  SaveBankMappingInput,
} from '../graph/bank-file-inputs.js';
import {
  BankFileBooking,
  BankFileImport,
  BankFilePage,
  BankLinePage,
  BankReport,
  OperatorBankFile,
  OperatorBankLine,
  OperatorBankMapping,
} from '../graph/bank-file-type.js';
import { PageArgs, pageSizeOf } from '../graph/inputs.js';
import type { OperatorModule } from '../graph/module.js';
import type { ListPage } from '../paging.js';

const ImportBankFilePayload = payloadOf('ImportBankFile', 'import', BankFileImport);
const BookBankFilePayload = payloadOf('BookBankFile', 'booking', BankFileBooking);
const AssignBankLinePayload = payloadOf('AssignBankLine', 'line', OperatorBankLine);
const ReturnBankLinePayload = payloadOf('ReturnBankLine', 'line', OperatorBankLine);
const SaveBankMappingPayload = payloadOf('SaveBankMapping', 'mapping', OperatorBankMapping);

/** How many lines one request books. */
const bookedMax = 200;

/** Files of banks and the transfers in them. Silent: all of it. */
@Resolver()
class OperatorBankFiles {
  @Query(() => BankFilePage, { description: 'The files that were imported, the newest first.' })
  bankFiles(
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorBankFile>> {
    return listFiles(operator, { after: after ?? undefined, limit: pageSizeOf('bank_file', first) });
  }

  @Query(() => BankLinePage, {
    description: 'The lines of a file in its order, or those of all files that fit no address, the oldest day first.',
  })
  async bankLines(
    @Args(() => BankLinesArgs) { fileId, state, first, after }: BankLinesArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorBankLine>> {
    const { nodes, next } = await listLines(operator, {
      ...{ fileId: fileId ?? undefined, state: state ?? undefined, after: after ?? undefined },
      limit: pageSizeOf('bank_line', first),
    });
    return { nodes: nodes.map(lineOf), next };
  }

  @Query(() => BankReport, {
    description:
      'Compares the closing balances of a day with the ledger, for each account of which a bank has sent a statement ' +
      'with its opening and its closing balance.',
  })
  bankReport(
    @Arg('day', () => LocalDate, { description: 'The day of the closing balances.' }) day: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<BankReport> {
    return bankReport(operator, day);
  }

  @Query(() => [OperatorBankMapping], { description: 'How CSV files are read, by name: 200 at most.' })
  async bankMappings(@Ctx() { operator }: OperatorContext): Promise<OperatorBankMapping[]> {
    return (await listMappings(operator)).map(mappingShown);
  }

  @Mutation(() => ImportBankFilePayload, {
    description:
      'Reads a file of a bank and stores its lines, or says only what would become of them. It books none: call ' +
      '`bookBankFile` then. The same content again is the same file. A file that is wrong is refused as a whole, ' +
      'with the line of the fault.',
  })
  async importBankFile(
    @Input(() => ImportBankFileInput) { name, content, mapping, dryRun, allowUnknown }: ImportBankFileInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    const given = {
      ...{ name, open: () => content.read(), allowUnknown: allowUnknown ?? undefined },
      mapping: mapping == null ? undefined : await mappingOf(operator, mapping),
    };
    if (dryRun === true) return { import: importOf(null, await tryBankFile(operator, given)) };
    const { file, trial } = await storeBankFile(operator, given, viewer.name);
    return { import: importOf(file, trial) };
  }

  @Mutation(() => BookBankFilePayload, {
    description:
      `Books the lines of a file that wait, in their order, ${bookedMax} at most. Call it until none waits. Whatever ` +
      'is interrupted or repeated, a line is booked once.',
  })
  async bookBankFile(
    @Input(() => BookBankFileInput) { id }: ById,
    @Ctx() { operator }: OperatorContext,
  ): Promise<{ booking: Booking }> {
    return { booking: await bookLines(operator, id, bookedMax) };
  }

  @Mutation(() => AssignBankLinePayload, {
    description:
      'Books a line that fits no address to one. Of two operators who decide about it at once, one is refused.',
  })
  async assignBankLine(
    @Input(() => AssignBankLineInput) { id, addressId, ...given }: AssignBankLineInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    const assignment = {
      ...{ addressId, reference: given.reference ?? undefined, allowCurrency: given.allowCurrency ?? undefined },
      originalReference: given.originalReference ?? undefined,
    };
    return { line: lineOf(await assignLine(operator, id, assignment, viewer.name)) };
  }

  @Mutation(() => ReturnBankLinePayload, {
    description: 'Records that the money of a line was sent back to its payer. It moves nothing, and is in no balance.',
  })
  async returnBankLine(
    @Input(() => ReturnBankLineInput) { id, reason }: ReturnBankLineInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { line: lineOf(await returnLine(operator, id, reason, viewer.name)) };
  }

  @Mutation(() => SaveBankMappingPayload, {
    description: 'Saves how the CSV files of a bank are read. Files that were imported stay as they are.',
  })
  async saveBankMapping(
    @Input(() => SaveBankMappingInput) { name, ...given }: SaveBankMappingInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { mapping: mappingShown(await saveMapping(operator, name, mappingIn(given), viewer.name)) };
  }
}

const importOf = (file: BankFileRow | null, { reasons, ...trial }: FileTrial): BankFileImport => ({
  ...{ file, ...trial },
  reasons: Object.entries(reasons).map(([reason, count]) => ({ reason: reason as UnmatchedReason, count })),
});

const lineOf = (row: BankLineRow): OperatorBankLine => ({
  ...{ ...row, id: idOfLine(row), reference: row.givenReference ?? row.reference },
  ...{ payerName: row.details.payerName ?? null, text: row.details.text ?? null },
});

const mappingShown = ({ name, created, createdBy, mapping }: BankMappingRow): OperatorBankMapping => ({
  ...{ name, created, createdBy, ...mapping },
  ...{ currency: mapping.currency ?? null, account: mapping.account ?? null },
});

/** A mapping as it is stored: without what was not given. */
function mappingIn(given: Omit<SaveBankMappingInput, 'name'>): CsvMapping {
  const columns = Object.entries(given.columns).filter(([, name]) => name != null);
  return {
    ...{ columns: Object.fromEntries(columns), currency: given.currency ?? undefined },
    ...{ account: given.account ?? undefined, dayFormat: given.dayFormat ?? DayFormat.YEAR_FIRST },
    ...{ decimal: given.decimal ?? '.', delimiter: given.delimiter ?? ',', headerLine: given.headerLine ?? 1 },
  };
}

export default {
  resolvers: [OperatorBankFiles],
  fields: {
    bankFiles: 'bank_file',
    bankLines: 'bank_line',
    bankReport: 'bank_report',
    bankMappings: 'bank_mapping',
    importBankFile: 'bank_file',
    bookBankFile: 'bank_file',
    assignBankLine: 'bank_line',
    returnBankLine: 'bank_line',
    saveBankMapping: 'bank_mapping',
  },
  sizes: {
    'BankReport.statements': 200,
    'Query.bankMappings': 200,
    'BankFileImport.reasons': Object.keys(UnmatchedReason).length,
  },
} satisfies OperatorModule;
