import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { DayFormat, BankLineState } from '../bank-file/table.js';
import { idInputOf } from '../../types/input.js';
import { Currency } from '../../types/scalars.js';
import { BankColumns, BankDecimalMark, BankDelimiter } from './bank-file-type.js';
import { FileContent, FileContentScalar } from './file-content.js';
import { PageArgs, reasonLengthMax } from './inputs.js';

@ArgsType()
export class BankLinesArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Only of this file. Without it, `state` must be UNMATCHED.' })
  fileId?: string | null;
  @Field(() => BankLineState, { nullable: true, description: 'Only in this state.' })
  state?: BankLineState | null;
}

@InputType({ description: 'A file of a bank, and how it is read.' })
export class ImportBankFileInput {
  @Field(() => String, { description: 'Its name, at most 200 characters.' })
  name: string;
  @Field(() => FileContentScalar, { description: 'Its content: camt.053 or camt.054 in versions 2 to 13, or CSV.' })
  content: FileContent;
  @Field(() => String, { nullable: true, description: 'Of a CSV file, and required there: the name of its mapping.' })
  mapping?: string | null;
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Whether to say only what would become of its lines, and to store nothing.',
  })
  dryRun?: boolean | null;
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Whether to store a file of which no line names an account of the service.',
  })
  allowUnknown?: boolean | null;
}

export const BookBankFileInput = idInputOf('BookBankFile', 'file');

@InputType({ description: 'A line that fits no address, and the address to which it belongs.' })
export class AssignBankLineInput {
  @Field(() => ID, { description: 'The line.' })
  id: string;
  @Field(() => ID, { description: 'The receiving address.' })
  addressId: string;
  @Field(() => String, {
    nullable: true,
    description: 'A reference in place of that of the bank. Required where the bank gives none.',
  })
  reference?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Of money that was taken back, and required there: the bank's reference of its receipt.",
  })
  originalReference?: string | null;
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Whether the transfer may be in another currency than the address.',
  })
  allowCurrency?: boolean | null;
}

@InputType({ description: 'A line that fits no address, and whose money was sent back.' })
export class ReturnBankLineInput {
  @Field(() => ID, { description: 'The line.' })
  id: string;
  @Field(() => String, { description: `Why: at most ${reasonLengthMax} characters.` })
  reason: string;
}

@InputType({ description: 'How the CSV files of a bank are read, under a name.' })
export class SaveBankMappingInput {
  @Field(() => String, { description: 'The name. A mapping with this name is replaced.' })
  name: string;
  @Field(() => BankColumns, { description: 'The names of the columns.' })
  columns: BankColumns;
  @Field(() => Currency, { nullable: true, description: 'The currency of all lines, where no column has it.' })
  currency?: string | null;
  @Field(() => String, { nullable: true, description: 'The account of all lines, where no column has it.' })
  account?: string | null;
  @Field(() => DayFormat, { nullable: true, defaultValue: DayFormat.YEAR_FIRST, description: 'How days are written.' })
  dayFormat?: DayFormat | null;
  @Field(() => BankDecimalMark, { nullable: true, defaultValue: '.', description: 'The decimal mark.' })
  decimal?: '.' | ',' | null;
  @Field(() => BankDelimiter, { nullable: true, defaultValue: ',', description: 'What separates cells.' })
  delimiter?: ',' | ';' | '\t' | '|' | null;
  @Field(() => Int, { nullable: true, defaultValue: 1, description: 'The line with the names of the columns.' })
  headerLine?: number | null;
}
