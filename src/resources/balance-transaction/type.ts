import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Compartment } from '../ledger/table.js';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';

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
  @Field(() => Amount, { description: 'The amount; negative for a debit.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currency })
  currency: string;
  @Field(() => Compartment, { description: 'The compartment of the balance that the amount changed.' })
  category: Compartment;
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the payment that produced the entry.' })
  paymentId: string;
  @Field(() => Amount, { description: 'The amount of the compartment after this entry.' })
  balanceAfter: bigint;
  accountId: string;
}

export const BalanceTransactionConnection = connectionOf('BalanceTransaction', () => BalanceTransaction);
