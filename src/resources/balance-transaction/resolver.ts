import { Args, ArgsType, Ctx, Field, ID, Query, Resolver } from 'type-graphql';
import { account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import { Compartment, entry } from '../ledger/table.js';
import { type Listing, type Page, pageArgsOf } from '../../types/pagination.js';
import { Currency } from '../../types/scalars.js';
import { BalanceTransaction, BalanceTransactionConnection } from './type.js';

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
class BalanceTransactionArgs extends BalanceTransactionOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Only those of this account; the acting account by default.' })
  accountId?: string | null;
}

@Resolver(() => BalanceTransaction)
export class BalanceTransactionResolver {
  @Query(() => BalanceTransactionConnection, {
    description:
      'The balance transactions of the acting account, or of one account that ' +
      'the caller can see. They add up to its balance.',
  })
  async balanceTransactions(
    @Args(() => BalanceTransactionArgs) args: BalanceTransactionArgs,
    @Ctx() { scope, caller }: Context,
  ): Promise<Page<BalanceTransaction>> {
    const owner = await scope.one(account, args.accountId || caller.actingAccountId, 'balance_transaction.account_id');
    return scope.page(entry, { ...balanceTransactionListing, fixed: { accountId: owner.id } }, args);
  }
}
