import { Query, Args, Ctx, Resolver } from 'type-graphql';
import { BalanceTransactionConnection, BalanceTransaction } from './type.js';
import { BalanceTransactionArgs, balanceTransactionListing } from './listing.js';
import type { Context } from '../../operation/context.js';
import type { Page, PageArgs } from '../../types/pagination.js';
import { account } from '../account/table.js';
import { entry } from '../ledger/table.js';

@Resolver(() => BalanceTransaction)
export class BalanceTransactionResolver {
  @Query(() => BalanceTransactionConnection, {
    description:
      'The balance transactions of the acting account, or of one account that ' +
      'the caller can see. They add up to its balance.',
  })
  async balanceTransactions(
    @Args(() => BalanceTransactionArgs) args: PageArgs & { accountId?: string | null },
    @Ctx() { scope, caller }: Context,
  ): Promise<Page<BalanceTransaction>> {
    const owner = await scope.one(account, args.accountId || caller.actingAccountId, 'balance_transaction.account_id');
    return scope.page(entry, { ...balanceTransactionListing, fixed: { accountId: owner.id } }, args);
  }
}
