import { Field, ID, ObjectType } from 'type-graphql';
import { Amount, Currency } from '../../types/scalars.js';

@ObjectType({ simpleResolvers: true, description: 'Money: an amount in a currency.' })
export class Money {
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency)
  currency: string;
}

/**
 * Funds of an account by compartment, one entry per currency; amounts are sums made in PostgreSQL, never numbers.
 * Refuses `resource_missing` when the account is not visible. Spec: Balance.
 */
@ObjectType({ simpleResolvers: true, description: 'Funds of an account by compartment, one entry per currency.' })
export class Balance {
  @Field(() => ID)
  accountId: string;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => [Money], { description: 'Reconciled, not yet picked up for payout. May be negative after a dispute.' })
  available: Money[];
  @Field(() => [Money], { description: 'Received, not yet reconciled.' })
  pending: Money[];
  @Field(() => [Money], { description: 'On the way from one compartment to another.' })
  processing: Money[];
  @Field(() => [Money], { description: 'Being paid out.' })
  payoutProcessing: Money[];
  @Field(() => [Money], { description: 'Kept in advance for fees; empty for accounts that are not platforms.' })
  feeAdvance: Money[];
}

@ObjectType({ simpleResolvers: true, description: "The pending funds of an account's partners together." })
export class BalanceAggregate {
  @Field(() => ID)
  accountId: string;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => [Money])
  pending: Money[];
}
