import { Field, ID, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { entry, entryLists, Compartment } from '../ledger/table.js';
import { Currency } from '../../types/scalars.js';

export const balanceTransactionListing = listingOf('balance_transaction', entryLists(entry));

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
