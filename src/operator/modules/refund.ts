import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import { type DepositRow, deposit } from '../../resources/deposit/table.js';
import type { RefundRow } from '../../resources/refund/table.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { DateTime } from '../../types/scalars.js';
import type { OperatorContext } from '../context.js';
import { filterOf } from '../graph/filters.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { FailRefundInput, OperatorRefund, RefundPage, RefundsArgs, SucceedRefundInput } from '../graph/refund-type.js';
import { OperatorAccount, OperatorDeposit } from '../graph/type.js';
import { endRefund, listRefunds, refundOf } from '../money/refunds.js';
import type { ListPage } from '../paging.js';

const SucceedRefundPayload = payloadOf('SucceedRefund', 'refund', OperatorRefund);
const FailRefundPayload = payloadOf('FailRefund', 'refund', OperatorRefund);

/** Refunds that accounts have asked for. In live mode the operator says how they end. Spec: decisions, 8.11. */
@Resolver(() => OperatorRefund)
class OperatorRefunds {
  @Query(() => OperatorRefund, { nullable: true, description: 'A refund of any tenant.' })
  refund(
    @Arg('id', () => ID, { description: 'The id of the refund.' }) id: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorRefund> {
    return refundOf(operator, id);
  }

  @Query(() => RefundPage, {
    description:
      'The refunds of all tenants, or of one, newest first. PENDING refunds, which in live mode wait for the ' +
      'operator, are oldest first.',
  })
  refunds(
    @Args(() => RefundsArgs) args: RefundsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorRefund>> {
    return listRefunds(operator, filterOf('refund', args));
  }

  @Mutation(() => SucceedRefundPayload, { description: 'Records that the payer has the money of a refund.' })
  async succeedRefund(
    @Input(() => SucceedRefundInput) input: SucceedRefundInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { refund: await endRefund(operator, input.id, 'succeeded', input) };
  }

  @Mutation(() => FailRefundPayload, {
    description: 'Records that a refund has failed; its money is back where it came from, with its locks.',
  })
  async failRefund(@Input(() => FailRefundInput) input: FailRefundInput, @Ctx() { operator }: OperatorContext) {
    return { refund: await endRefund(operator, input.id, 'failed', input) };
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When it succeeded or failed. Null while it is PENDING.',
  })
  endedAt(@Root() row: RefundRow, @Ctx() { related }: OperatorContext): Promise<number | null> | null {
    return row.status === 'pending' ? null : related.endedAt('refund_end', row, row.id);
  }
}

/** Where the money of a deposit came from, for who sends it back. */
@Resolver(() => OperatorDeposit)
class OperatorDepositPayers {
  @FieldResolver(() => String, { nullable: true, description: "The bank's reference, if a bank has reported it." })
  bankReference(@Root() { bankDetails }: DepositRow): string | null {
    return bankDetails?.reference ?? null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The payer in the words of the bank.' })
  payerName(@Root() { bankDetails }: DepositRow): string | null {
    return bankDetails?.payerName ?? null;
  }
}

export default {
  resolvers: [OperatorRefunds, OperatorDepositPayers],
  fields: { refund: 'refund', refunds: 'refund', succeedRefund: 'refund', failRefund: 'refund' },
  edges: [
    edgesOf(OperatorRefund, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account that had received the deposit.'),
      deposit: one(OperatorDeposit, deposit, deposit.id, 'depositId', 'The deposit that is refunded.'),
    }),
  ],
} satisfies OperatorModule;
