import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Compartment } from '../ledger/table.js';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';

registerEnumType(Compartment, {
  name: 'Compartment',
  description: 'A compartment of a balance.',
  valuesConfig: {
    AVAILABLE: { description: 'Reconciled, not yet picked up for payout.' },
    PENDING: { description: 'Received, not yet reconciled.' },
    PROCESSING: { description: 'On the way from one compartment to another, as in a conversion.' },
    PAYOUT_PROCESSING: { description: 'Being paid out.' },
    FEE_ADVANCE: { description: 'Kept by a platform in advance for fees.' },
  },
});

/** A credit or debit of one compartment: an entry of the ledger. Spec: BalanceTransaction. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: "A credit or debit of one compartment of an account's balance.",
})
export class BalanceTransaction extends Node {
  @Field(() => Amount, { description: 'Signed: negative for a debit.' })
  amount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => Compartment)
  category: Compartment;
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  paymentId: string;
  @Field(() => Amount, { description: 'The amount of the compartment afterwards.' })
  balanceAfter: bigint;
  accountId: string;
}

export const BalanceTransactionConnection = connectionOf('BalanceTransaction', () => BalanceTransaction);
