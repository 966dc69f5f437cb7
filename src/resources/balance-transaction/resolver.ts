import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import { Account } from '../account/type.js';
import type { Context } from '../../operation/context.js';
import { Compartment, type EntryRow, entry } from '../ledger/table.js';
import { type Listing, type Page, PageArgs } from '../../types/pagination.js';
import { type PaymentRow, payment } from '../payment/table.js';
import { Payment } from '../payment/type.js';
import { Currency } from '../../types/scalars.js';
import { BalanceTransaction, BalanceTransactionConnection } from './type.js';

/** How balance transactions are listed. Spec: List BalanceTransactions. */
export const balanceTransactionListing: Listing = {
  object: 'balance_transaction',
  filters: {
    category: entry.category,
    currency: entry.currency,
    paymentId: entry.paymentId,
    accountId: entry.accountId,
  },
  byAccount: ['accountId'],
};

@ArgsType()
class BalanceTransactionOfAccountArgs extends PageArgs {
  @Field(() => [Compartment], { nullable: true, description: 'Only of these categories.' })
  category?: Compartment[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  @Field(() => [ID], { nullable: true, description: 'Only of these payments.' })
  paymentId?: string[] | null;
}

@ArgsType()
class BalanceTransactionArgs extends BalanceTransactionOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Those of this account; the context account by default.' })
  accountId?: string | null;
}

@Resolver(() => BalanceTransaction)
export class BalanceTransactionResolver {
  @Query(() => BalanceTransaction, { nullable: true, description: 'A balance transaction within reach.' })
  async balanceTransaction(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<BalanceTransaction> {
    return scope.one(entry, id, 'balance_transaction.id');
  }

  @Query(() => BalanceTransactionConnection, {
    description: 'Those of the context account alone, or of one account within reach: they add up to its balance.',
  })
  async balanceTransactions(
    @Args(() => BalanceTransactionArgs) args: BalanceTransactionArgs,
    @Ctx() { scope, caller }: Context,
  ): Promise<Page<BalanceTransaction>> {
    const owner = await scope.one(account, args.accountId || caller.actingAccountId, 'balance_transaction.account_id');
    return scope.page(entry, { ...balanceTransactionListing, fixed: { accountId: owner.id } }, args);
  }

  @FieldResolver(() => Account)
  async account(@Root() row: EntryRow, @Ctx() { scope }: Context): Promise<Account> {
    return scope.one(account, row.accountId);
  }

  @FieldResolver(() => Payment, {
    nullable: true,
    description: "The payment that produced it; null where it is another account's and out of reach.",
  })
  async payment(@Root() row: EntryRow, @Ctx() { scope }: Context): Promise<Payment | null> {
    return scope.find(payment, row.paymentId);
  }
}

@Resolver(() => Account)
export class BalanceTransactionsOfAccount {
  @FieldResolver(() => BalanceTransactionConnection, { description: "The account's balance transactions." })
  async balanceTransactions(
    @Root() row: AccountRow,
    @Args(() => BalanceTransactionOfAccountArgs) args: BalanceTransactionOfAccountArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<BalanceTransaction>> {
    return scope.edge(entry, balanceTransactionListing, entry.accountId, row.id, args);
  }
}

@Resolver(() => Payment)
export class BalanceTransactionsOfPayment {
  @FieldResolver(() => BalanceTransactionConnection, {
    description: 'The balance transactions that the payment produced.',
  })
  async balanceTransactions(
    @Root() row: PaymentRow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<BalanceTransaction>> {
    return scope.edge(entry, balanceTransactionListing, entry.paymentId, row.id, args);
  }
}
