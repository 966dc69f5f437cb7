import { Ctx, Mutation, Resolver } from 'type-graphql';
import { DomainError, problem } from '../../errors/problems.js';
import type { Context } from '../../operation/context.js';
import { Input } from '../../types/input.js';
import { checkoutNow } from '../checkout/now.js';
import { deposit } from '../deposit/table.js';
import { CreateRefundInput, FailTestRefundInput, SucceedTestRefundInput } from './inputs.js';
import { refund } from './table.js';
import { CreateRefundPayload, FailTestRefundPayload, Refund, SucceedTestRefundPayload } from './type.js';

@Resolver(() => Refund)
export class RefundResolver {
  /** Refunds a deposit. Silent: the operation. */
  @Mutation(() => CreateRefundPayload, {
    description:
      'Refunds a completed deposit, or that of a checkout, to its payer, whole or in part. The money that is not ' +
      'reconciled goes first, then available money of the account; for a user of an aggregator, that of the platform.',
  })
  async createRefund(@Input(() => CreateRefundInput) input: CreateRefundInput, @Ctx() context: Context) {
    await context.scope.refuseBesideOtherReleases();
    const { amount, reason } = input;
    const depositId = await depositOf(context, input);
    const submits = context.checkouts.refundable(context.caller.livemode);
    return { refund: await context.write('create_refund', refund, { depositId, amount, reason, submits }) };
  }

  @Mutation(() => SucceedTestRefundPayload, {
    description:
      'Test helper: completes a refund now. Otherwise the sandbox completes it a minute after its creation, or the ' +
      'acquirer of test mode, if there is one.',
  })
  async succeedTestRefund(@Input(() => SucceedTestRefundInput) input: SucceedTestRefundInput, @Ctx() context: Context) {
    await context.scope.one(refund, input.id);
    return { refund: await context.write('move_refund', refund, { ...input, to: 'succeeded' }) };
  }

  @Mutation(() => FailTestRefundPayload, {
    description: 'Test helper: fails a refund; its money is back where it came from, with its locks.',
  })
  async failTestRefund(
    @Input(() => FailTestRefundInput) { id, failureReason }: FailTestRefundInput,
    @Ctx() context: Context,
  ) {
    await context.scope.one(refund, id);
    return { refund: await context.write('move_refund', refund, { id, to: 'failed', failureReason }) };
  }
}

/** The id of the deposit that a refund names, by itself or by its checkout, which has to be paid. */
async function depositOf({ scope }: Context, { depositId, checkoutId }: CreateRefundInput): Promise<string> {
  if (depositId != null) return (await scope.one(deposit, depositId, 'refund.deposit_id')).id;
  const paid = await scope.one(checkoutNow, checkoutId!, 'refund.checkout_id');
  if (paid.depositId === null) throw new DomainError(problem('status_invalid', 'checkout.status'));
  return paid.depositId;
}
