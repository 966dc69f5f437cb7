import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime, Metadata } from '../../types/scalars.js';
import { DepositPaymentMethod, DepositReasonCode, DepositStatus } from './table.js';

registerEnumType(DepositStatus, {
  name: 'DepositStatus',
  description: 'How far a deposit has come. Its money is in balances once it is COMPLETED.',
});
registerEnumType(DepositPaymentMethod, {
  name: 'DepositPaymentMethod',
  description:
    'How a deposit was paid. Edition 1 has bank rails, checks and buy-now-pay-later wallets; Edition 2 has cards and UPI.',
});
registerEnumType(DepositReasonCode, {
  name: 'DepositReasonCode',
  description: 'Why a deposit was declined or disputed.',
});

@ObjectType({ simpleResolvers: true, description: 'One side of a deposit.' })
export class Party {
  @Field(() => ID, { nullable: true })
  accountId: string | null;
  @Field(() => ID, { nullable: true })
  addressId: string | null;
}

/** Funds that came in. Spec: Deposit. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Funds that came into an account. Its money is in balances once it is COMPLETED.',
})
export class Deposit extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => Amount, { description: 'Negative in case of a dispute.' })
  amount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => DepositPaymentMethod)
  paymentMethod: DepositPaymentMethod;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'An object named after the method, such as `card` or `upi`.',
  })
  paymentMethodDetails: Record<string, unknown> | null;
  @Field(() => DepositReasonCode, { nullable: true })
  reasonCode: DepositReasonCode | null;
  @Field(() => String, { description: 'Narration on the incoming deposit.' })
  statementDescriptor: string;
  @Field(() => DepositStatus)
  status: DepositStatus;
  @Field(() => Metadata, { nullable: true })
  metadata: Record<string, string> | null;
  @Field(() => Amount, { description: 'The part of the amount that is not reconciled yet.' })
  pendingRest: bigint;
  @Field(() => Amount, { description: 'The part of the amount that has been disputed.' })
  disputed: bigint;
}

export const DepositConnection = connectionOf('Deposit', () => Deposit);
