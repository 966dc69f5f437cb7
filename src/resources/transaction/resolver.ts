import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { type CheckoutNow, checkoutNow } from '../checkout/now.js';
import { Checkout } from '../checkout/type.js';
import type { Context } from '../../operation/context.js';
import { deposit } from '../deposit/table.js';
import { Deposit } from '../deposit/type.js';
import { type Listing, type Page, PageArgs } from '../../types/pagination.js';
import { payment } from '../payment/table.js';
import { Payment } from '../payment/type.js';
import { type TransactionRow, transaction } from './table.js';
import { Transaction, TransactionConnection } from './type.js';

const transactionListing: Listing = { object: 'transaction', filters: {}, byAccount: [] };

@Resolver(() => Transaction)
export class TransactionResolver {
  @Query(() => Transaction, { nullable: true, description: 'An attempt to pay a checkout within reach.' })
  async transaction(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<Transaction> {
    return scope.one(transaction, id);
  }

  @FieldResolver(() => Checkout)
  async checkout(@Root() row: TransactionRow, @Ctx() { scope }: Context): Promise<CheckoutNow> {
    return scope.one(checkoutNow, row.checkoutId);
  }

  @FieldResolver(() => Payment, { nullable: true, description: 'The payment that it became.' })
  async payment(@Root() row: TransactionRow, @Ctx() { scope }: Context): Promise<Payment | null> {
    return scope.find(payment, row.paymentId);
  }

  @FieldResolver(() => Deposit, {
    nullable: true,
    description: 'The deposit that it became: a FAILED one where the checkout was paid already.',
  })
  async deposit(@Root() row: TransactionRow, @Ctx() { scope }: Context): Promise<Deposit | null> {
    return scope.find(deposit, row.depositId);
  }
}

@Resolver(() => Checkout)
export class TransactionsOfCheckout {
  @FieldResolver(() => TransactionConnection, { description: 'The attempts to pay it.' })
  async transactions(
    @Root() row: CheckoutNow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<Transaction>> {
    return scope.edge(transaction, transactionListing, transaction.checkoutId, row.id, args);
  }
}
