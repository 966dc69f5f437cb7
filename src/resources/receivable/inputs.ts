import { Field, ID, InputType } from 'type-graphql';
import { emptyOptional, type Problem, problem } from '../../errors/problems.js';
import { Amount, Currency, LocalDate, Metadata } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { purposeCodes } from './purpose.js';
import { ReceivableTransactionType } from './table.js';
import { invoiceTexts } from './texts.js';

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

/**
 * The problems of a receivable: an amount that is not positive, a due date before the invoice, another currency than
 * the invoice, an unknown purpose.
 */
export function receivableProblems({
  invoice,
  currency,
  purposeCode,
  amountMaximumReconcilable: maximum,
}: Partial<CreateReceivableInput>): Problem[] {
  const problems: Problem[] = [];
  if (invoice?.amount !== undefined) problems.push(...moneyProblems('receivable.invoice.amount', invoice.amount));
  if (maximum != null) problems.push(...moneyProblems('receivable.amount_maximum_reconcilable', maximum));
  // Dates are YYYY-MM-DD, so their order as texts is their order in time.
  if (invoice?.dueDate !== undefined && invoice.creationDate !== undefined && invoice.dueDate < invoice.creationDate)
    problems.push(
      problem('parameter_invalid', 'receivable.invoice.due_date', 'must not be before invoice.creation_date'),
    );
  if (invoice?.currency !== undefined && currency !== undefined && currency !== invoice.currency) {
    problems.push(problem('parameter_invalid', 'receivable.currency', "must be the invoice's currency"));
  }
  if (purposeCode !== undefined && purposeCode !== '' && !Object.hasOwn(purposeCodes, purposeCode)) {
    problems.push(
      problem('parameter_invalid', 'receivable.purpose_code', 'must be a purpose code of the RBI, such as P0802'),
    );
  }
  return problems;
}

export const receivableUpdateLimits = { amount_maximum_reconcilable: { notNull: true } } as const;

/** The problems of an update: a maximum that is null or zero. */
export function receivableUpdateProblems({
  amountMaximumReconcilable: maximum,
}: Partial<UpdateReceivableInput>): Problem[] {
  const field = 'receivable.amount_maximum_reconcilable';
  if (maximum === null) return [problem('parameter_invalid_empty', field, emptyOptional)];
  return maximum === undefined ? [] : moneyProblems(field, maximum);
}

/** The problem of an amount of a receivable that is not positive; `field` names it. */
function moneyProblems(field: string, amount: bigint): Problem[] {
  return amount <= 0n ? [problem('parameter_invalid', field, 'must be greater than zero')] : [];
}
