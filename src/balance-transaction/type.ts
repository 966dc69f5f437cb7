import { Field, ID, ObjectType } from 'type-graphql';
import { Compartment } from '../ledger/table.js';
import '../ledger/type.js';
import { connectionOf } from '../listing.js';
import { Node, nodeType } from '../node.js';
import { Amount, Currency, DateTime } from '../scalars.js';

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
  @Field(() => Amount, { description: 'What the compartment held afterwards.' })
  balanceAfter: bigint;
  accountId: string;
}
nodeType('bt', 'BalanceTransaction');

export const BalanceTransactionConnection = connectionOf('BalanceTransaction', () => BalanceTransaction);
