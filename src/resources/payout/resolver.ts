import { Mutation, Ctx, Resolver } from 'type-graphql';
import { SettleTestPayoutPayload, FailTestPayoutPayload, ReturnTestPayoutPayload, Payout } from './type.js';
import { Input } from '../../types/input.js';
import { SettleTestPayoutInput, FailTestPayoutInput, ReturnTestPayoutInput } from './inputs.js';
import type { Context } from '../../operation/context.js';
import { payout } from './table.js';

@Resolver(() => Payout)
export class PayoutResolver {
  @Mutation(() => SettleTestPayoutPayload, {
    description: 'Test helper: completes a payout now. The sandbox completes it a minute after its creation.',
  })
  async settleTestPayout(@Input(() => SettleTestPayoutInput) input: SettleTestPayoutInput, @Ctx() context: Context) {
    await context.scope.one(payout, input.id);
    return { payout: await context.write('move_payout', payout, { ...input, to: 'completed' }) };
  }

  @Mutation(() => FailTestPayoutPayload, { description: 'Test helper: fails a payout; its money is available again.' })
  failTestPayout(@Input(() => FailTestPayoutInput) input: FailTestPayoutInput, @Ctx() context: Context) {
    return this.#ended(context, 'failed', input);
  }

  @Mutation(() => ReturnTestPayoutPayload, {
    description:
      'Test helper: the bank sends a completed payout back; its money is available again, and its receivables are ' +
      'locked and no longer settled.',
  })
  returnTestPayout(@Input(() => ReturnTestPayoutInput) input: ReturnTestPayoutInput, @Ctx() context: Context) {
    return this.#ended(context, 'returned', input);
  }

  async #ended(context: Context, to: 'failed' | 'returned', { id, reasonCode }: FailTestPayoutInput) {
    await context.scope.one(payout, id);
    return { payout: await context.write('move_payout', payout, { id, to, ...(reasonCode && { reasonCode }) }) };
  }
}
