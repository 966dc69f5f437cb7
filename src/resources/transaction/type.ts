import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { TransactionPaymentMethod, TransactionReasonCode, TransactionStatus } from './table.js';

registerEnumType(TransactionStatus, {
  name: 'TransactionStatus',
  description: 'How an attempt to pay has ended, if it has.',
});
registerEnumType(TransactionPaymentMethod, { name: 'TransactionPaymentMethod', description: 'How an attempt pays.' });
registerEnumType(TransactionReasonCode, {
  name: 'TransactionReasonCode',
  description: 'Why an attempt failed.',
  valuesConfig: {
    DECLINED: { description: "The payer's bank or the payer declined the attempt." },
    DUPLICATE: { description: 'The checkout was already paid; the money is returned.' },
    EXPIRED: {
      description: 'The attempt was not paid in time. If the money arrives later, the attempt still succeeds.',
    },
    INSUFFICIENT_FUNDS: { description: 'The payer lacks the funds.' },
  },
});

/** One attempt to pay a checkout. Silent: all fields. */
@ObjectType({ implements: Node, simpleResolvers: true, description: 'One attempt to pay a checkout.' })
export class Transaction extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  checkoutId: string;
  @Field(() => TransactionPaymentMethod)
  paymentMethod: TransactionPaymentMethod;
  @Field(() => Amount, { description: 'The gross amount of the checkout.' })
  amount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => TransactionStatus)
  status: TransactionStatus;
  @Field(() => TransactionReasonCode, { nullable: true })
  reasonCode: TransactionReasonCode | null;
  @Field(() => ID, { nullable: true, description: 'The payment that it became.' })
  paymentId: string | null;
  @Field(() => DateTime, { description: 'When the attempt fails, unless it is paid before.' })
  expiresAt: number;
}

export const TransactionConnection = connectionOf('Transaction', () => Transaction);
