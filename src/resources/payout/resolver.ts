import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Mutation,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import { Account } from '../account/type.js';
import { type AddressRow, address } from '../address/table.js';
import { Address } from '../address/type.js';
import type { Context } from '../../operation/context.js';
import { type Listing, type Page, PageArgs } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { type PaymentRow, payment } from '../payment/table.js';
import { Payment } from '../payment/type.js';
import { type PayoutRow, PayoutStatus, payout, payoutBlock } from './table.js';
import { Payout, PayoutBlock, PayoutConnection } from './type.js';

export const payoutListing: Listing = {
  object: 'payout',
  filters: { accountId: payout.accountId, status: payout.status },
  byAccount: ['accountId'],
};

@InputType({ description: 'Names a payout.' })
class PayoutIdInput {
  @Field(() => ID)
  id: string;
}

@ArgsType()
class PayoutOfAccountArgs extends PageArgs {
  @Field(() => [PayoutStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: PayoutStatus[] | null;
}

@ArgsType()
class PayoutArgs extends PayoutOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Payouts of this account; any within reach.' })
  accountId?: string | null;
}

const SettleTestPayoutPayload = payloadOf('SettleTestPayout', 'payout', Payout);
const FailTestPayoutPayload = payloadOf('FailTestPayout', 'payout', Payout);

@Resolver(() => Payout)
export class PayoutResolver {
  @Query(() => Payout, { nullable: true, description: 'A payout within reach.' })
  async payout(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<Payout> {
    return scope.one(payout, id);
  }

  @Query(() => PayoutConnection, { description: "The payouts of the accounts on the caller's list." })
  async payouts(@Args(() => PayoutArgs) args: PayoutArgs, @Ctx() { scope }: Context): Promise<Page<Payout>> {
    return scope.page(payout, payoutListing, args);
  }

  @Mutation(() => SettleTestPayoutPayload, {
    description: 'Test helper: a payout arrives. The sandbox does that a minute after it was made.',
  })
  async settleTestPayout(@Arg('input', () => PayoutIdInput) { id }: PayoutIdInput, @Ctx() context: Context) {
    await context.scope.one(payout, id);
    return { payout: await context.write('move_payout', payout, { id, to: 'completed' }) };
  }

  @Mutation(() => FailTestPayoutPayload, { description: 'Test helper: a payout fails; its money is available again.' })
  async failTestPayout(@Arg('input', () => PayoutIdInput) { id }: PayoutIdInput, @Ctx() context: Context) {
    await context.scope.one(payout, id);
    return { payout: await context.write('move_payout', payout, { id, to: 'failed' }) };
  }

  @FieldResolver(() => Account)
  async account(@Root() row: PayoutRow, @Ctx() { scope }: Context): Promise<Account | null> {
    return scope.find(account, row.accountId);
  }

  @FieldResolver(() => Address)
  async address(@Root() row: PayoutRow, @Ctx() { scope }: Context): Promise<Address | null> {
    return scope.find(address, row.addressId);
  }

  @FieldResolver(() => Payment)
  async payment(@Root() row: PayoutRow, @Ctx() { scope }: Context): Promise<Payment | null> {
    return scope.find(payment, row.paymentId);
  }
}

@Resolver(() => Account)
export class PayoutsOfAccount {
  @FieldResolver(() => PayoutConnection, { description: "The account's payouts." })
  async payouts(
    @Root() row: AccountRow,
    @Args(() => PayoutOfAccountArgs) args: PayoutOfAccountArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<Payout>> {
    return scope.edge(payout, payoutListing, payout.accountId, row.id, args);
  }

  @FieldResolver(() => [PayoutBlock], {
    description:
      'Why available money was not paid out when it was last due, by currency. Empty where nothing is in its way, and where payouts are off as a whole: `setting.payouts` has that reason.',
  })
  async payoutBlocks(@Root() row: AccountRow, @Ctx() { scope }: Context): Promise<PayoutBlock[]> {
    return scope.all(payoutBlock, payoutBlock.accountId, row.id);
  }
}

@Resolver(() => Address)
export class PayoutsOfAddress {
  @FieldResolver(() => PayoutConnection, { description: 'The payouts that were sent to this address.' })
  async payouts(
    @Root() row: AddressRow,
    @Args(() => PayoutOfAccountArgs) args: PayoutOfAccountArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<Payout>> {
    return scope.edge(payout, payoutListing, payout.addressId, row.id, args);
  }
}

@Resolver(() => Payment)
export class PayoutOfPayment {
  @FieldResolver(() => Payout, { nullable: true, description: 'The payout that it is, if it is one.' })
  async payout(@Root() row: PaymentRow, @Ctx() { scope }: Context): Promise<Payout | null> {
    return scope.findBy(payout, payout.paymentId, row.id);
  }
}
