import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { DomainError, problem } from '../../errors/problems.js';
import type { Context } from '../../operation/context.js';
import { Input } from '../../types/input.js';
import { account } from '../account/table.js';
import { payment } from '../payment/table.js';
import { CreateTestAdjustmentInput } from './inputs.js';
import { adjustment } from './table.js';
import { Adjustment, CreateTestAdjustmentPayload, shown } from './type.js';

@Resolver(() => Adjustment)
export class AdjustmentResolver {
  /** The adjustment of a payment. Silent: the operation. */
  @Query(() => Adjustment, {
    nullable: true,
    description: 'The adjustment of a payment that the caller can see. RESOURCE_MISSING for a payment of another type.',
  })
  async adjustment(
    @Arg('id', () => ID, { description: 'The id of the payment.' }) id: string,
    @Ctx() { scope }: Context,
  ): Promise<Adjustment> {
    const { id: paymentId } = await scope.one(payment, id);
    const row = await scope.findBy(adjustment, adjustment.paymentId, paymentId);
    if (row) return shown(row);
    throw new DomainError(problem('resource_missing', 'payment.id', 'The payment is of no adjustment.'));
  }

  @Mutation(() => CreateTestAdjustmentPayload, {
    description:
      'Test helper: adjusts available money of an account, as the service does in live mode: from or to the outside ' +
      'world, or between two currencies of the account.',
  })
  async createTestAdjustment(
    @Input(() => CreateTestAdjustmentInput) input: CreateTestAdjustmentInput,
    @Ctx() context: Context,
  ) {
    await context.scope.one(account, input.accountId, 'adjustment.account_id');
    return { adjustment: shown(await context.write('create_test_adjustment', adjustment, input)) };
  }
}
