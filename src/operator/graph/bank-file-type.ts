import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DayFormat, type Direction, BankLineState, UnmatchedReason } from '../bank-file/table.js';
import { Amount, Currency, DateTime, LocalDate } from '../../types/scalars.js';
import { pageOf } from './page-type.js';

registerEnumType(BankLineState, {
  name: 'BankLineState',
  description: 'What has become of a line of a bank.',
  valuesConfig: {
    MATCHED: { description: 'It waits to be booked to its address.' },
    BOOKED: { description: 'It is booked, and its money is in a balance or taken from one.' },
    SEEN_BEFORE: { description: 'Another file, or a notice that was recorded by hand, has the same transfer.' },
    UNMATCHED: { description: 'It fits no address, until an operator assigns it or returns its money.' },
    RETURNED: {
      description:
        'Its money was sent back, or was taken back of a receipt that had nothing left: `note`. It is in no balance.',
    },
  },
});
registerEnumType(UnmatchedReason, {
  name: 'BankLineReason',
  description: 'Why a line of a bank is not booked.',
  valuesConfig: {
    UNKNOWN_ACCOUNT: { description: 'No receiving address has the account that it names.' },
    SEVERAL_ADDRESSES: { description: 'Several receiving addresses have the account.' },
    OTHER_CURRENCY: { description: 'The address, or the payout that it answers, has another currency.' },
    NO_REFERENCE: { description: 'The bank gives no reference for it alone.' },
    REPEATED: {
      description:
        'It cannot be told from another transfer: its reference is that of an earlier one, or it pays a payout that ' +
        'is paid already.',
    },
    UNCLEAR: { description: 'It is several transfers, whose amounts are not its amount together.' },
    REVERSAL: { description: 'It takes a receipt back, and none with its reference and amount is recorded.' },
    OUTGOING: { description: 'It is money that has left, or that came back after it, as payouts do.' },
    OTHER_AMOUNT: { description: 'It answers a payout that has another amount.' },
    OTHER_ACCOUNT: {
      description: 'It answers a payout, and is on another account than the one from which its payment order pays.',
    },
    REFUSED: { description: 'Its booking was refused; `note` says why.' },
  },
});
const BankLineDirection = { CREDIT: 'credit', DEBIT: 'debit' } as const;
registerEnumType(BankLineDirection, {
  name: 'BankLineDirection',
  description: 'In which direction money went, as the bank says it.',
  valuesConfig: { CREDIT: { description: 'It came in.' }, DEBIT: { description: 'It went out.' } },
});
registerEnumType(DayFormat, {
  name: 'BankDayFormat',
  description: 'How the days of a CSV file are written; what separates the parts does not matter.',
  valuesConfig: {
    YEAR_FIRST: { description: 'As in 2026-01-31.' },
    DAY_FIRST: { description: 'As in 31/01/2026.' },
    MONTH_FIRST: { description: 'As in 01/31/2026.' },
  },
});
export const BankDecimalMark = { POINT: '.', COMMA: ',' } as const;
registerEnumType(BankDecimalMark, {
  name: 'BankDecimalMark',
  description: 'The decimal mark of a CSV file. The other one separates thousands.',
  valuesConfig: { POINT: { description: 'As in 1,000.50.' }, COMMA: { description: 'As in 1.000,50.' } },
});
export const BankDelimiter = { COMMA: ',', SEMICOLON: ';', TAB: '\t', PIPE: '|' } as const;
registerEnumType(BankDelimiter, {
  name: 'BankDelimiter',
  description: 'What separates the cells of a CSV file.',
  valuesConfig: {
    COMMA: { description: 'A comma.' },
    SEMICOLON: { description: 'A semicolon.' },
    TAB: { description: 'A tab.' },
    PIPE: { description: 'A vertical line.' },
  },
});

@ObjectType('BankFile', { simpleResolvers: true, description: 'A file of a bank that was imported.' })
export class OperatorBankFile {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was imported first.' })
  created: number;
  @Field(() => String, { description: 'Who imported it.' })
  createdBy: string;
  @Field(() => String, { description: 'Its name.' })
  name: string;
  @Field(() => String, { description: 'The message and its version, such as `camt.053.001.08`, or `csv`.' })
  format: string;
  @Field(() => Int, { description: 'How many lines it has: transfers that the bank has booked.' })
  lines: number;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When all its lines were stored; null after an import that was interrupted. Import it again then.',
  })
  storedAt: number | null;
}

@ObjectType('BankLine', { simpleResolvers: true, description: 'A transfer in a file of a bank.' })
export class OperatorBankLine {
  @Field(() => ID, { description: 'The id: that of the file, and the number of the line in it.' })
  id: string;
  @Field(() => ID, { description: 'The file.' })
  fileId: string;
  @Field(() => Int, { description: 'Where it begins in the file.' })
  line: number;
  @Field(() => LocalDate, { description: 'The day on which the bank booked it.' })
  day: string;
  @Field(() => String, { nullable: true, description: 'The account of which the bank tells it.' })
  account: string | null;
  @Field(() => String, { nullable: true, description: 'The account to which it was sent, where the bank names one.' })
  payee: string | null;
  @Field(() => BankLineDirection, { description: 'In which direction the money went.' })
  direction: Direction;
  @Field(() => Boolean, { description: 'Whether it takes an earlier transfer back.' })
  isReversal: boolean;
  @Field(() => Amount, { description: 'The amount.' })
  amount: bigint;
  @Field(() => Currency, { description: 'Of the amount.' })
  currency: string;
  @Field(() => String, { nullable: true, description: "The bank's reference." })
  reference: string | null;
  @Field(() => String, { nullable: true, description: "The payer's name." })
  payerName: string | null;
  @Field(() => String, { nullable: true, description: 'The remittance text of the payer.' })
  text: string | null;
  @Field(() => BankLineState, { description: 'What has become of it.' })
  state: BankLineState;
  @Field(() => UnmatchedReason, { nullable: true, description: 'Why it is unmatched.' })
  reason: UnmatchedReason | null;
  @Field(() => String, { nullable: true, description: 'Why its booking was refused, or why its money was sent back.' })
  note: string | null;
  @Field(() => ID, { nullable: true, description: 'The address to which it is booked, or was to be.' })
  addressId: string | null;
  @Field(() => ID, { nullable: true, description: 'Its deposit, once it is booked.' })
  depositId: string | null;
  @Field(() => ID, { nullable: true, description: 'The payout that it answers.' })
  payoutId: string | null;
  @Field(() => String, { nullable: true, description: 'Who assigned or returned it.' })
  decidedBy: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'What becomes of the lines of a file, or would in a dry run.' })
export class BankFileImport {
  @Field(() => OperatorBankFile, { nullable: true, description: 'The file; null after a dry run.' })
  file: OperatorBankFile | null;
  @Field(() => String, { description: 'The message and its version, or `csv`.' })
  format: string;
  @Field(() => Int, { description: 'How many lines it has.' })
  lines: number;
  @Field(() => Int, { description: 'How many of them are new and have an address.' })
  new: number;
  @Field(() => Int, { description: 'How many were seen before, by their reference, amount and day.' })
  seenBefore: number;
  @Field(() => Int, { description: 'How many fit no address.' })
  unmatched: number;
  @Field(() => [BankLineReasonCount], { description: 'Why these fit none.' })
  reasons: BankLineReasonCount[];
  @Field(() => Int, { description: 'How many transfers the bank has announced and not booked. They are no lines.' })
  notBooked: number;
}

@ObjectType({ simpleResolvers: true, description: 'How many lines are unmatched for one reason.' })
class BankLineReasonCount {
  @Field(() => UnmatchedReason, { description: 'The reason.' })
  reason: UnmatchedReason;
  @Field(() => Int, { description: 'How many.' })
  count: number;
}

@ObjectType({ simpleResolvers: true, description: 'What one call has booked of a file.' })
export class BankFileBooking {
  @Field(() => Int, { description: 'How many lines it booked.' })
  booked: number;
  @Field(() => Int, { description: 'How many lines were refused and are unmatched now.' })
  unmatched: number;
  @Field(() => Int, { description: 'How many lines still wait. Call again until none does.' })
  left: number;
}

@ObjectType({
  simpleResolvers: true,
  description: "How a bank's statement of an account for a day compares with the ledger.",
})
export class BankReportRow {
  @Field(() => ID, { description: 'The file with the statement.' })
  fileId: string;
  @Field(() => String, { description: 'The name of the file.' })
  file: string;
  @Field(() => String, { nullable: true, description: 'The account.' })
  account: string | null;
  @Field(() => Currency, { description: 'Of the amounts.' })
  currency: string;
  @Field(() => LocalDate, { description: 'The day.' })
  day: string;
  @Field(() => Amount, { description: "The bank's balance before the day." })
  opening: bigint;
  @Field(() => Amount, { description: "The bank's balance after the day." })
  closing: bigint;
  @Field(() => LocalDate, {
    nullable: true,
    description: 'The day of the last closing balance of the account before this day; null where none is known.',
  })
  previousDay: string | null;
  @Field(() => Amount, {
    nullable: true,
    description:
      'By how much the opening balance differs from that closing balance. Other than zero, the file of a day in ' +
      'between was not imported.',
  })
  gap: bigint | null;
  @Field(() => Amount, { description: 'What the lines of the account and day are together, each transfer once.' })
  lines: bigint;
  @Field(() => Amount, { description: 'What the ledger received from these lines, less what was taken back.' })
  ledger: bigint;
  @Field(() => Amount, { description: 'What waits to be booked.' })
  waiting: bigint;
  @Field(() => Amount, { description: 'What fits no address.' })
  unmatched: bigint;
  @Field(() => Amount, { description: 'What was sent back.' })
  returned: bigint;
  @Field(() => Amount, {
    description: 'What the balance has moved by in the day, less the ledger. Zero if both agree.',
  })
  difference: bigint;
}

@ObjectType({ simpleResolvers: true, description: 'The closing balances of a day, compared with the ledger.' })
export class BankReport {
  @Field(() => [BankReportRow], { description: 'One for each statement, by account: 200 at most.' })
  statements: BankReportRow[];
  @Field(() => Boolean, { description: 'Whether the day has more statements than are here.' })
  hasMore: boolean;
}

const column = (description: string) => ({ nullable: true, description });

@ObjectType({ simpleResolvers: true, description: 'The names of the columns of a CSV file.' })
@InputType('BankColumnsInput', { description: 'The names of the columns of a CSV file.' })
export class BankColumns {
  @Field(() => String, column("The bank's reference. Required."))
  reference?: string | null;
  @Field(() => String, column('The day of the booking. Required.'))
  day?: string | null;
  @Field(() => String, column('The amount, with a sign or beside a direction.'))
  amount?: string | null;
  @Field(() => String, column('The amount of what came in, beside `debit` and without `amount`.'))
  credit?: string | null;
  @Field(() => String, column('The amount of what went out, beside `credit`.'))
  debit?: string | null;
  @Field(() => String, column('Whether it came in or went out: C, CR, CRDT, CREDIT or +, and D, DR, DBIT, DEBIT or -.'))
  direction?: string | null;
  @Field(() => String, column('The currency, where lines have their own.'))
  currency?: string | null;
  @Field(() => String, column('The account that received, where lines have their own.'))
  account?: string | null;
  @Field(() => String, column("The payer's name."))
  payerName?: string | null;
  @Field(() => String, column('The remittance text.'))
  text?: string | null;
  @Field(() => String, column('The reference that the sender gave.'))
  endToEndId?: string | null;
  @Field(() => String, column('Why a payout came back. A line that has it is a return.'))
  returnReason?: string | null;
}

@ObjectType('BankMapping', { simpleResolvers: true, description: 'How the CSV files of a bank are read.' })
export class OperatorBankMapping {
  @Field(() => String, { description: 'The name.' })
  name: string;
  @Field(() => DateTime, { description: 'When it was saved.' })
  created: number;
  @Field(() => String, { description: 'Who saved it.' })
  createdBy: string;
  @Field(() => BankColumns, { description: 'The names of the columns.' })
  columns: BankColumns;
  @Field(() => Currency, { nullable: true, description: 'The currency of all lines.' })
  currency: string | null;
  @Field(() => String, { nullable: true, description: 'The account of all lines.' })
  account: string | null;
  @Field(() => DayFormat, { description: 'How days are written.' })
  dayFormat: DayFormat;
  @Field(() => BankDecimalMark, { description: 'The decimal mark.' })
  decimal: '.' | ',';
  @Field(() => BankDelimiter, { description: 'What separates cells.' })
  delimiter: ',' | ';' | '\t' | '|';
  @Field(() => Int, { description: 'The line with the names of the columns.' })
  headerLine: number;
}

export const BankFilePage = pageOf('BankFile', () => OperatorBankFile, 'newest first');
export const BankLinePage = pageOf('BankLine', () => OperatorBankLine, 'in the order of its file, or oldest day first');
