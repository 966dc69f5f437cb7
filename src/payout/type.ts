import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../listing.js';
import { Node, nodeType } from '../node.js';
import { Amount, Currency, DateTime } from '../scalars.js';
import { PayoutStatus } from './table.js';

registerEnumType(PayoutStatus, { name: 'PayoutStatus', description: 'How far a payout has come.' });

/** Funds on their way out. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Funds on their way to a payout address, in its currency.',
})
export class Payout extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  accountId: string;
  @Field(() => ID)
  addressId: string;
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => PayoutStatus)
  status: PayoutStatus;
  @Field(() => ID)
  paymentId: string;
  @Field(() => Amount, { description: 'What it was converted from.' })
  sourceAmount: bigint;
  @Field(() => Currency)
  sourceCurrency: string;
  @Field(() => String, { description: 'What one unit of the source currency bought, as a decimal.' })
  rate: string;
}
nodeType('payout', 'Payout');

export const PayoutConnection = connectionOf('Payout', () => Payout);
