import { ArgsType, Ctx, Field, ID, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { PayoutStatus, payout } from './table.js';
import { Payout } from './type.js';
import { type ById, idInputOf, Input } from '../../types/input.js';

export const payoutListing: Listing = {
  object: 'payout',
  filters: { accountId: payout.accountId, status: payout.status },
  byAccount: ['accountId'],
  parents: [payout.accountId, payout.addressId],
  own: payout.accountId,
};

@ArgsType()
export class PayoutOfAccountArgs extends pageArgsOf('Payout') {
  @Field(() => [PayoutStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: PayoutStatus[] | null;
}

@ArgsType()
export class PayoutArgs extends PayoutOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only payouts of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}

const SettleTestPayoutInput = idInputOf('SettleTestPayout', 'payout');
const FailTestPayoutInput = idInputOf('FailTestPayout', 'payout');
const SettleTestPayoutPayload = payloadOf('SettleTestPayout', 'payout', Payout);
const FailTestPayoutPayload = payloadOf('FailTestPayout', 'payout', Payout);

@Resolver(() => Payout)
export class PayoutResolver {
  @Mutation(() => SettleTestPayoutPayload, {
    description: 'Test helper: completes a payout now. The sandbox completes it a minute after its creation.',
  })
  async settleTestPayout(@Input(() => SettleTestPayoutInput) { id }: ById, @Ctx() context: Context) {
    await context.scope.one(payout, id);
    return { payout: await context.write('move_payout', payout, { id, to: 'completed' }) };
  }

  @Mutation(() => FailTestPayoutPayload, { description: 'Test helper: fails a payout; its money is available again.' })
  async failTestPayout(@Input(() => FailTestPayoutInput) { id }: ById, @Ctx() context: Context) {
    await context.scope.one(payout, id);
    return { payout: await context.write('move_payout', payout, { id, to: 'failed' }) };
  }
}
