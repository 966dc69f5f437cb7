import { registerEnumType, Field, ID, ObjectType } from 'type-graphql';
import { ReceivableStatus, ReceivableTransactionType } from './table.js';
import { Amount, LocalDate, Currency, DateTime } from '../../types/scalars.js';
import { Node } from '../../types/relay-node.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(ReceivableStatus, {
  name: 'ReceivableStatus',
  description: 'How much of a receivable is still to come.',
  valuesConfig: {
    OPEN: { description: 'Can still be reconciled.' },
    LOCKED: { description: 'Nothing is left to reconcile; not all of it is paid out.' },
    SETTLED: { description: 'All of it is paid out.' },
    VOID: { description: 'Withdrawn.' },
  },
});

registerEnumType(ReceivableTransactionType, {
  name: 'ReceivableTransactionType',
  description: 'What an invoice is for.',
  valuesConfig: { GOODS: { description: 'For goods.' }, SERVICES: { description: 'For services.' } },
});

/** Descriptions of the parts of an invoice, which its type and its input share. Spec: Receivable, `invoice`. */
export const invoiceTexts = {
  amount: 'The amount of the invoice.',
  creationDate: 'The date of the invoice.',
  currency: 'The currency of the invoice.',
  document: 'The id of a file of purpose INVOICE.',
  dueDate: 'The date on which the invoice is due; the date of the invoice or later.',
  referenceNumber: 'The number of the invoice, such as `INV-1042`.',
} as const;

@ObjectType({ simpleResolvers: true, description: 'The invoice of a receivable.' })
export class Invoice {
  @Field(() => Amount, { description: invoiceTexts.amount })
  amount: string;
  @Field(() => LocalDate, { description: invoiceTexts.creationDate })
  creationDate: string;
  @Field(() => Currency, { description: invoiceTexts.currency })
  currency: string;
  @Field(() => ID, { nullable: true, description: invoiceTexts.document })
  document: string | null;
  @Field(() => LocalDate, { description: invoiceTexts.dueDate })
  dueDate: string;
  @Field(() => String, { description: invoiceTexts.referenceNumber })
  referenceNumber: string;
}

@ObjectType({ simpleResolvers: true, description: 'A message of the service about a receivable.' })
export class SystemMessage {
  @Field(() => String, { description: 'What the message is about, as a code.' })
  code: string;
  @Field(() => String, { description: 'The message, as a sentence.' })
  message: string;
  @Field(() => DateTime, { description: 'When the service wrote the message.' })
  created: number;
}

/** An invoice that collected funds pay. Spec: Receivable. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'An invoice to be paid by collected funds. Locked, settled and ' +
    'reconcilable add up to the maximum, until it is void.',
})
export class Receivable extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the account that the money is owed to.' })
  accountId: string;
  @Field(() => Currency, { description: 'The currency of the amounts: that of the invoice.' })
  currency: string;
  @Field(() => Amount, { description: 'The amount that counts towards it and is not paid out yet.' })
  amountLocked: bigint;
  @Field(() => Amount, { description: 'The maximum amount that may count towards it.' })
  amountMaximumReconcilable: bigint;
  @Field(() => Amount, { description: 'The amount that can still count towards it.' })
  amountReconcilable: bigint;
  @Field(() => Amount, { description: 'The amount that counts towards the receivable and is paid out.' })
  amountSettledPayouts: bigint;
  @Field(() => [ID], { description: 'The ids of the deposits whose locks are not paid out yet.' })
  depositIdsAmountLocked: string[];
  @Field(() => String, { nullable: true, description: 'A text of the account that owns the receivable.' })
  description: string | null;
  @Field(() => Invoice, { description: 'The invoice that is to be paid.' })
  invoice: Invoice;
  @Field(() => String, { description: 'The purpose code of the Reserve Bank of India (RBI), such as `P0802`.' })
  purposeCode: string;
  @Field(() => ReceivableTransactionType, { description: 'Whether the invoice is for goods or for services.' })
  transactionType: ReceivableTransactionType;
  @Field(() => ReceivableStatus, {
    description: 'Whether the receivable can still be reconciled, and how much of it is paid out.',
  })
  status: ReceivableStatus;
  @Field(() => [SystemMessage], {
    description: 'Messages of the service about the receivable.',
    deprecationReason: 'Since 0.3.0 this list has a name in the plural: use `systemMessages`.',
  })
  systemMessage: SystemMessage[];
}

export const ReceivableConnection = connectionOf('Receivable', () => Receivable, {
  DUE_DATE_ASC: 'The earliest due date first.',
  DUE_DATE_DESC: 'The latest due date first.',
  AMOUNT_DESC: 'The greatest amount of an invoice first, in one currency.',
  AMOUNT_ASC: 'The smallest amount of an invoice first, in one currency.',
});

export const CreateReceivablePayload = payloadOf('CreateReceivable', 'receivable', Receivable);
export const UpdateReceivablePayload = payloadOf('UpdateReceivable', 'receivable', Receivable);
export const VoidReceivablePayload = payloadOf('VoidReceivable', 'receivable', Receivable);
