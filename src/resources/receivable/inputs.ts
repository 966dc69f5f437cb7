import { InputType, Field, ID } from 'type-graphql';
import { Amount, LocalDate, Currency, Metadata } from '../../types/scalars.js';
import { invoiceTexts } from './type.js';
import { ReceivableTransactionType } from './table.js';
import { texts } from '../../types/texts.js';

@InputType({ description: 'The invoice of a receivable.' })
class InvoiceInput {
  @Field(() => Amount, { description: invoiceTexts.amount })
  amount: bigint;
  @Field(() => LocalDate, { description: invoiceTexts.creationDate })
  creationDate: string;
  @Field(() => Currency, { description: invoiceTexts.currency })
  currency: string;
  @Field(() => ID, { nullable: true, description: invoiceTexts.document })
  document?: string | null;
  @Field(() => LocalDate, { description: invoiceTexts.dueDate })
  dueDate: string;
  @Field(() => String, { description: invoiceTexts.referenceNumber })
  referenceNumber: string;
}

const customerText = 'The id of the customer: the partner of the account that the invoice bills;';

@InputType({ description: 'Creates a receivable from an invoice.' })
export class CreateReceivableInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The id of the account that the money is owed to: the acting account by default; never a partner.',
  })
  accountId?: string | null;
  @Field(() => ID, { nullable: true, description: `${customerText} null and an empty text mean that it is not known.` })
  customerId?: string | null;
  @Field(() => Currency, { description: 'The currency of the amounts. It must be that of the invoice.' })
  currency: string;
  @Field(() => InvoiceInput, { description: 'The invoice that is to be paid.' })
  invoice: InvoiceInput;
  @Field(() => String, { description: 'The purpose code of the Reserve Bank of India (RBI), such as `P0802`.' })
  purposeCode: string;
  @Field(() => ReceivableTransactionType, { description: 'Whether the invoice is for goods or for services.' })
  transactionType: ReceivableTransactionType;
  @Field(() => Amount, {
    nullable: true,
    description: 'The most that may count towards the receivable; the amount of the invoice by default.',
  })
  amountMaximumReconcilable?: bigint | null;
  @Field(() => String, { nullable: true, description: 'A text of your own.' })
  description?: string | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Changes a receivable. Members that are absent stay as they are.' })
export class UpdateReceivableInput {
  @Field(() => ID, { description: 'The id of the receivable.' })
  id: string;
  @Field(() => Amount, {
    nullable: true,
    description:
      'The most that may count towards the receivable: at most the amount of the ' +
      'invoice, and at least what is locked and settled.',
  })
  amountMaximumReconcilable?: bigint | null;
  @Field(() => ID, { nullable: true, description: `${customerText} null and an empty text remove it.` })
  customerId?: string | null;
  @Field(() => String, { nullable: true, description: 'A text of your own; null removes it.' })
  description?: string | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataChanges })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Names the receivable to be withdrawn.' })
export class VoidReceivableInput {
  @Field(() => ID, { description: 'The id of the receivable.' })
  id: string;
}
