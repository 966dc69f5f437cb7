import { Mutation, Ctx, Resolver } from 'type-graphql';
import { SettleTestPayoutPayload, FailTestPayoutPayload, Payout } from './type.js';
import { type ById, Input } from '../../types/input.js';
import { SettleTestPayoutInput, FailTestPayoutInput } from './inputs.js';
import type { Context } from '../../operation/context.js';
import { payout } from './table.js';

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
