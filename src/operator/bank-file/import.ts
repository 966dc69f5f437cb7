import { createHash, type Hash } from 'node:crypto';
import { fromRow } from '../../db/read/row-mapper.js';
import { DomainError, problem } from '../../errors/problems.js';
import { type Operator, OperatorError } from '../operator.js';
import { BankFileFault, type FileLine, type FilePart, type FileStatement, textOf } from './line.js';
import { LineMatcher, type MatchedLine } from './matching.js';
import { fileParts } from './reader.js';
import { type CsvMapping, bankFile, type BankFileRow, BankLineState, type UnmatchedReason } from './table.js';

/** A file to be imported. It is read twice, so that nothing of it is stored before all of it was read. */
export interface GivenFile {
  name: string;
  /** Begins to read the file anew. */
  open: () => AsyncIterable<Uint8Array>;
  mapping: CsvMapping | undefined;
  /** Whether it is stored although none of its lines names an account of the service. */
  allowUnknown?: boolean | undefined;
}

/** What would become of the lines of a file, by their number, and of those that fit no address by the reason. */
export interface FileTrial {
  format: string;
  lines: number;
  new: number;
  seenBefore: number;
  unmatched: number;
  reasons: Partial<Record<UnmatchedReason, number>>;
  /** The transfers that the bank has only announced; they are no lines. */
  notBooked: number;
}

/** How many lines are compared and stored by one statement. */
const batchMax = 500;

const nameLengthMax = 200;

/** Reads a file and says what would become of it. Stores nothing. */
export async function tryBankFile(operator: Operator, given: GivenFile): Promise<FileTrial> {
  return (await trialOf(operator, given)).trial;
}

/**
 * Stores a file with its lines, and books none of them. The same file again goes on where an earlier import was
 * interrupted, and changes nothing else. Refuses a file with a fault, by its line, and one that names no account of the
 * service.
 */
export async function storeBankFile(
  operator: Operator,
  given: GivenFile,
  by: string,
): Promise<{ file: BankFileRow; trial: FileTrial }> {
  const { trial, sha256, knowsAccount } = await trialOf(operator, given);
  if (!knowsAccount && given.allowUnknown !== true)
    throw new OperatorError(
      'No line of the file names an account of the service. Import the file of another bank only if its lines are to ' +
        'be assigned by hand (allowUnknown, --allow-unknown).',
      'parameter_invalid',
      'bank_file.content',
    );
  const name = textOf(given.name, nameLengthMax) ?? trial.format;
  const [row] = await operator.call('store_bank_file', [name, sha256, trial.format, trial.lines, by]);
  const file = fromRow(bankFile, row!);
  if (file.storedAt !== null) return { file, trial };
  const matcher = new LineMatcher(operator, file.id);
  const again = await eachBatch(given, async (lines, statements) => {
    const stored = (await matcher.match(lines)).map(storedLine);
    await operator.call('store_bank_lines', [file.id, text(stored), text(statements.map(storedStatement))]);
  });
  if (again.sha256 !== sha256) {
    await operator.call('forget_bank_file', [file.id]);
    throw new OperatorError(
      'The file has changed while it was read. Nothing was stored; import it again.',
      'state_conflict',
      'bank_file.content',
    );
  }
  const [finished] = await operator.call('finish_bank_file', [file.id]);
  return { file: fromRow(bankFile, finished!), trial };
}

async function trialOf(operator: Operator, given: GivenFile) {
  const matcher = new LineMatcher(operator, '');
  const trial: FileTrial = { format: '', lines: 0, new: 0, seenBefore: 0, unmatched: 0, reasons: {}, notBooked: 0 };
  const { sha256, format } = await eachBatch(given, async (lines, statements) => {
    for (const { state, reason } of await matcher.match(lines)) {
      trial.lines++;
      if (state === BankLineState.MATCHED) trial.new++;
      else if (state === BankLineState.SEEN_BEFORE) trial.seenBefore++;
      else trial.unmatched++;
      if (reason !== null) trial.reasons[reason] = (trial.reasons[reason] ?? 0) + 1;
    }
    for (const { notBooked } of statements) trial.notBooked += notBooked;
  });
  // A file without lines names no account, and there is nothing to store that would be wrong.
  const knowsAccount = matcher.knowsAccount || trial.lines === 0;
  return { trial: { ...trial, format }, sha256, knowsAccount };
}

/** Reads a file to its end, so many lines at a time. The hash is that of its content and of its mapping. */
async function eachBatch(
  { open, mapping }: GivenFile,
  each: (lines: FileLine[], statements: FileStatement[]) => Promise<void>,
): Promise<{ sha256: string; format: string }> {
  const hash = createHash('sha256').update(JSON.stringify(mapping ?? null));
  const parts = fileParts(hashed(open(), hash), mapping);
  let batch: FilePart[] = [];
  const pass = async () => {
    const lines = batch.filter((part): part is FileLine => part.kind === 'line');
    const statements = batch.filter((part): part is FileStatement => part.kind === 'statement');
    batch = [];
    await each(lines, statements);
  };
  try {
    for (;;) {
      const { done, value } = await parts.next();
      if (done) {
        await pass();
        return { sha256: hash.digest('hex'), format: value };
      }
      batch.push(value);
      if (batch.length >= batchMax) await pass();
    }
  } catch (error) {
    if (!(error instanceof BankFileFault)) throw error;
    const fault = `cannot be read: line ${error.line} ${error.fault}`;
    throw new DomainError(problem('parameter_invalid', 'bank_file.content', fault));
  }
}

async function* hashed(source: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of source) {
    hash.update(piece);
    yield piece;
  }
}

const text = (rows: object[]): string =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

const storedLine = ({ kind: _, isReversal, isUnclear, addressId, depositId, payoutId, ...same }: MatchedLine) => ({
  ...same,
  ...{ is_reversal: isReversal, is_unclear: isUnclear, address_id: addressId, deposit_id: depositId },
  payout_id: payoutId,
});

const storedStatement = ({ kind: _, line: __, notBooked, ...same }: FileStatement) => ({
  ...same,
  not_booked: notBooked,
});
