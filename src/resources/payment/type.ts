import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { PaymentStatus, PaymentType } from './table.js';

registerEnumType(PaymentType, { name: 'PaymentType', description: 'What a payment is of.' });
registerEnumType(PaymentStatus, { name: 'PaymentStatus', description: 'How far a payment has come.' });

/** A cause of balance transactions. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'What produces balance transactions: a deposit, checkout, payout, dispute or transfer.',
})
export class Payment extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => PaymentType)
  type: PaymentType;
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => PaymentStatus)
  status: PaymentStatus;
  @Field(() => ID, { nullable: true })
  depositId: string | null;
  @Field(() => ID, { nullable: true })
  checkoutId: string | null;
  accountId: string;
}

export const PaymentConnection = connectionOf('Payment', () => Payment);
