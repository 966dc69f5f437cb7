import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime, LocalDate } from '../../types/scalars.js';
import { ReceivableStatus, TransactionType } from './table.js';

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
registerEnumType(TransactionType, { name: 'TransactionType', description: 'What an invoice is for.' });

@ObjectType({ simpleResolvers: true, description: 'The invoice of a receivable.' })
export class Invoice {
  @Field(() => Amount)
  amount: string;
  @Field(() => LocalDate)
  creationDate: string;
  @Field(() => Currency)
  currency: string;
  @Field(() => ID, { nullable: true, description: 'A file of purpose INVOICE.' })
  document: string | null;
  @Field(() => LocalDate)
  dueDate: string;
  @Field(() => String)
  referenceNumber: string;
}

@ObjectType({ simpleResolvers: true, description: 'A message of the service about a receivable.' })
export class SystemMessage {
  @Field(() => String)
  code: string;
  @Field(() => String)
  message: string;
  @Field(() => DateTime)
  created: number;
}

/** An invoice that collected funds pay. Spec: Receivable. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'An invoice to be paid by collected funds. Locked, settled and reconcilable add up to the maximum, until it is void.',
})
export class Receivable extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  accountId: string;
  @Field(() => Currency)
  currency: string;
  @Field(() => Amount, { description: 'The amount that counts towards it and is not paid out yet.' })
  amountLocked: bigint;
  @Field(() => Amount, { description: 'The maximum amount that may count towards it.' })
  amountMaximumReconcilable: bigint;
  @Field(() => Amount, { description: 'The amount that can still count towards it.' })
  amountReconcilable: bigint;
  @Field(() => Amount, { description: 'Paid out.' })
  amountSettledPayouts: bigint;
  @Field(() => [ID], { description: 'The deposits whose locks are not paid out yet.' })
  depositIdsAmountLocked: string[];
  @Field(() => String, { nullable: true })
  description: string | null;
  @Field(() => Invoice)
  invoice: Invoice;
  @Field(() => String, { description: 'RBI purpose code.' })
  purposeCode: string;
  @Field(() => TransactionType)
  transactionType: TransactionType;
  @Field(() => ReceivableStatus)
  status: ReceivableStatus;
  @Field(() => [SystemMessage])
  systemMessage: SystemMessage[];
}

export const ReceivableConnection = connectionOf('Receivable', () => Receivable);
