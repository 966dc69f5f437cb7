import { Args, ArgsType, Ctx, Field, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import type { Allocation } from '../../resources/allocation/type.js';
import { address } from '../../resources/address/table.js';
import { deposit } from '../../resources/deposit/table.js';
import { dispute } from '../../resources/dispute/table.js';
import { PayoutObstacle } from '../../resources/payout/plan.js';
import { payout } from '../../resources/payout/table.js';
import { type ReceivableRow, receivable } from '../../resources/receivable/table.js';
import { refund } from '../../resources/refund/table.js';
import { DateTime } from '../../types/scalars.js';
import type { OperatorContext } from '../context.js';
import { OperatorBankNotice } from '../graph/bank-type.js';
import { OperatorDispute } from '../graph/dispute-type.js';
import { tenantOfDeposit } from '../graph/inputs.js';
import { all, edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { OperatorRefund } from '../graph/refund-type.js';
import {
  OperatorAllocation,
  OperatorCheckout,
  OperatorEntry,
  OperatorPosting,
  OperatorReceivable,
  OperatorTrail,
} from '../graph/trail-type.js';
import { OperatorAccount, OperatorAddress, OperatorDeposit, OperatorPayout } from '../graph/type.js';
import {
  allocatedIn,
  checkoutOf,
  noticesOf,
  paidAccount,
  partsMax,
  planIn,
  postingsOf,
  type Trail,
  trailOf,
} from '../trail/trail.js';
import { noticeOf } from './money.js';

@ArgsType()
class TrailArgs {
  @Field(() => ID, { description: 'The id of a deposit or of a payout.' })
  id: string;
  @Field(() => ID, { nullable: true, description: tenantOfDeposit })
  tenantId?: string | null;
}

/** The way of the money. Silent: all of it. */
@Resolver(() => OperatorTrail)
class OperatorTrails {
  @Query(() => OperatorTrail, { description: 'The way of the money of a deposit or a payout of any tenant.' })
  trail(
    @Args(() => TrailArgs) { id, tenantId }: TrailArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorTrail> {
    return trailOf(operator, id, tenantId ?? undefined);
  }

  @FieldResolver(() => [OperatorBankNotice], {
    description: "What its bank has said of the deposit, the oldest first. Recalls are in the deposit's `takenBack`.",
  })
  async bankNotices(@Root() trail: Trail): Promise<OperatorBankNotice[]> {
    return (await noticesOf(trail)).map((notice) => noticeOf(notice, trail.deposit));
  }

  @FieldResolver(() => OperatorCheckout, { nullable: true, description: 'The checkout that the deposit came through.' })
  checkout(@Root() trail: Trail): Promise<OperatorCheckout | null> {
    return checkoutOf(trail);
  }

  @FieldResolver(() => [OperatorAllocation], {
    description: `What the money counts towards, the newest ${partsMax}, the newest first.`,
  })
  async allocations(@Root() trail: Trail): Promise<OperatorAllocation[]> {
    return (await allocatedIn(trail)).nodes.map((allocation) => ({ ...allocation, ...placeOf(trail) }));
  }

  @FieldResolver(() => Boolean, { description: 'Whether the money counts towards more than `allocations` has.' })
  async hasMoreAllocations(@Root() trail: Trail): Promise<boolean> {
    return (await allocatedIn(trail)).hasMore;
  }

  @FieldResolver(() => [OperatorPosting], {
    description: `The movements of the payment in the ledger, at most the newest ${partsMax}, the oldest first.`,
  })
  postings(@Root() trail: Trail): Promise<OperatorPosting[]> {
    return postingsOf(trail) as Promise<OperatorPosting[]>;
  }

  @FieldResolver(() => OperatorAccount, {
    description: "The account whose payouts pay the money: of a partner's deposit the user who does business with it.",
  })
  paidAccount(@Root() trail: Trail): Promise<OperatorAccount> {
    return paidAccount(trail);
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the next payout of that account is due. Null while nothing would be paid out.',
  })
  async nextPayoutAt(@Root() trail: Trail): Promise<number | null> {
    return (await planIn(trail)).nextAt;
  }

  @FieldResolver(() => [PayoutObstacle], {
    description: 'Why that account, or its money in one currency, would not be paid out at present.',
  })
  async payoutsBlockedBy(@Root() trail: Trail): Promise<PayoutObstacle[]> {
    return (await planIn(trail)).obstacles;
  }
}

const placeOf = ({ deposit, payout }: Trail) => {
  const { tenantId, livemode } = (deposit ?? payout)!;
  return { tenantId, livemode };
};

@Resolver(() => OperatorAllocation)
class OperatorAllocations {
  @FieldResolver(() => OperatorReceivable, {
    nullable: true,
    description: 'The invoice that the money counts towards.',
  })
  async receivable(
    @Root() { receivableId, ...place }: Allocation & { tenantId: string; livemode: boolean },
    @Ctx() { related }: OperatorContext,
  ): Promise<OperatorReceivable | null> {
    const row = await related.one(receivable, receivable.id, place, receivableId);
    return row && shownReceivable(row);
  }
}

function shownReceivable(row: ReceivableRow): OperatorReceivable {
  const { referenceNumber, dueDate, amount, currency } = row.invoice;
  return { ...row, referenceNumber, dueDate, amount: BigInt(amount), currency };
}

export default {
  resolvers: [OperatorTrails, OperatorAllocations],
  fields: { trail: 'trail' },
  edges: [
    edgesOf(OperatorAllocation, {
      deposit: one(OperatorDeposit, deposit, deposit.id, 'depositId', 'The deposit that the money came from.'),
      payout: one(OperatorPayout, payout, payout.id, 'payoutId', 'The payout that pays it; null while it is LOCKED.'),
    }),
    edgesOf(OperatorEntry, {
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account whose balance changed.'),
    }),
    edgesOf(OperatorDeposit, {
      root,
      toAccount: one(OperatorAccount, account, account.id, 'toAccountId', 'The account that received.'),
      fromAccount: one(OperatorAccount, account, account.id, 'fromAccountId', 'The partner that paid, if it is known.'),
      toAddress: one(OperatorAddress, address, address.id, 'toAddressId', 'The address that received.'),
      disputedDeposit: one(OperatorDeposit, deposit, deposit.id, 'disputesId', 'The deposit of which it took money.'),
      takenBack: all(OperatorDeposit, deposit, deposit.disputesId, 'The deposits that took money of it, newest first.'),
      refunds: all(OperatorRefund, refund, refund.depositId, 'Its refunds, newest first.'),
      disputes: all(OperatorDispute, dispute, dispute.depositId, 'Its disputes, newest first.'),
    }),
  ],
  sizes: {
    'Trail.bankNotices': 2,
    'Trail.allocations': partsMax,
    'Trail.postings': partsMax,
    'Trail.payoutsBlockedBy': 10,
    'Posting.entries': 4,
    'Deposit.takenBack': 10,
    'Deposit.refunds': 10,
    'Deposit.disputes': 10,
  },
} satisfies OperatorModule;
