import { Field, ID, ArgsType } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { entry, Compartment } from '../ledger/table.js';
import { Currency } from '../../types/scalars.js';

/** How balance transactions are listed. Spec: List BalanceTransactions. */
export const balanceTransactionListing: Listing = {
  object: 'balance_transaction',
  filters: {
    category: entry.category,
    currency: entry.currency,
    paymentId: { selective: entry.paymentId },
    accountId: entry.accountId,
  },
  byAccount: ['accountId'],
  parents: [entry.accountId],
  hashed: [entry.accountId, entry.paymentId],
  own: entry.accountId,
};

@ArgsType()
export class BalanceTransactionOfAccountArgs extends pageArgsOf('BalanceTransaction') {
  @Field(() => [Compartment], { nullable: true, description: 'Only of these categories.' })
  category?: Compartment[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  @Field(() => [ID], { nullable: true, description: 'Only of these payments.' })
  paymentId?: string[] | null;
}

@ArgsType()
export class BalanceTransactionArgs extends BalanceTransactionOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Only those of this account; the acting account by default.' })
  accountId?: string | null;
}
