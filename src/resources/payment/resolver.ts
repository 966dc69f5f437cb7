import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import { Account } from '../account/type.js';
import type { Context } from '../../operation/context.js';
import { type Listing, type Page, PageArgs } from '../../types/pagination.js';
import { type PaymentRow, PaymentStatus, PaymentType, payment } from './table.js';
import { Payment, PaymentConnection } from './type.js';

export const paymentListing: Listing = {
  object: 'payment',
  filters: { accountId: payment.accountId, type: payment.type, status: payment.status },
  byAccount: ['accountId'],
};

@ArgsType()
class PaymentArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Payments of this account; any within reach.' })
  accountId?: string | null;
  @Field(() => [PaymentType], { nullable: true, description: 'Only of these types.' })
  type?: PaymentType[] | null;
  @Field(() => [PaymentStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: PaymentStatus[] | null;
}

@Resolver(() => Payment)
export class PaymentResolver {
  @Query(() => Payment, { nullable: true, description: 'A payment within reach.' })
  async payment(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<Payment> {
    return scope.one(payment, id);
  }

  @Query(() => PaymentConnection, { description: "The payments of the accounts on the caller's list." })
  async payments(@Args(() => PaymentArgs) args: PaymentArgs, @Ctx() { scope }: Context): Promise<Page<Payment>> {
    return scope.page(payment, paymentListing, args);
  }

  @FieldResolver(() => Account, { description: 'The account whose money it moved.' })
  async account(@Root() row: PaymentRow, @Ctx() { scope }: Context): Promise<Account> {
    return scope.one(account, row.accountId);
  }
}

@Resolver(() => Account)
export class PaymentsOfAccount {
  @FieldResolver(() => PaymentConnection, { description: "The account's payments." })
  async payments(
    @Root() row: AccountRow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<Payment>> {
    return scope.edge(payment, paymentListing, payment.accountId, row.id, args);
  }
}
