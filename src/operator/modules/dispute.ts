import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import { deposit } from '../../resources/deposit/table.js';
import type { DisputeRow } from '../../resources/dispute/table.js';
import { type FileRow, file } from '../../resources/file/table.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import type { OperatorContext } from '../context.js';
import {
  DisputePage,
  DisputesArgs,
  LoseDisputeInput,
  OpenDisputeInput,
  OperatorDispute,
  WinDisputeInput,
} from '../graph/dispute-type.js';
import { filterOf } from '../graph/filters.js';
import { unexplainedMember } from '../graph/unexplained-type.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { OperatorAccount, OperatorDeposit, OperatorFile } from '../graph/type.js';
import { decideDispute, disputeOf, listDisputes, openDispute } from '../money/disputes.js';
import type { ListPage } from '../paging.js';

const disputeOrUnexplained = { nullable: true, others: unexplainedMember };
const OpenDisputePayload = payloadOf('OpenDispute', 'dispute', OperatorDispute, disputeOrUnexplained);
const WinDisputePayload = payloadOf('WinDispute', 'dispute', OperatorDispute, disputeOrUnexplained);
const LoseDisputePayload = payloadOf('LoseDispute', 'dispute', OperatorDispute, disputeOrUnexplained);

/** Disputes, which banks and acquirers report and decide. Spec: decisions, 8.11 and 8.13. */
@Resolver()
class OperatorDisputes {
  @Query(() => OperatorDispute, { nullable: true, description: 'A dispute of any tenant.' })
  dispute(
    @Arg('id', () => ID, { description: 'The id of the dispute.' }) id: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorDispute> {
    return disputeOf(operator, id);
  }

  @Query(() => DisputePage, {
    description:
      'The disputes of all tenants, or of one, newest first. Those UNDER_REVIEW, whose answers the bank or the ' +
      'acquirer wants in live mode, are oldest first.',
  })
  disputes(
    @Args(() => DisputesArgs) args: DisputesArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorDispute>> {
    return listDisputes(operator, filterOf('dispute', args));
  }

  @Mutation(() => OpenDisputePayload, {
    description:
      'Opens a dispute in live mode: the payer has got money of a completed deposit back from the bank or the ' +
      'acquirer. The money is taken at once. Where refunds and disputes have left nothing of the deposit, it is ' +
      'unexplained, and `dispute` is null; so is all of an attempt that was taken in another currency. The same ' +
      'again changes nothing.',
  })
  async openDispute(@Input(() => OpenDisputeInput) input: OpenDisputeInput, @Ctx() { operator }: OperatorContext) {
    return openDispute(operator, input);
  }

  @Mutation(() => WinDisputePayload, {
    description:
      'Records that a dispute was decided for the account; its money is pending of the deposit again. Of unexplained ' +
      'money what was taken from the account since is, and the rest of it has come back to no balance: `dispute` is ' +
      'then null.',
  })
  async winDispute(@Input(() => WinDisputeInput) { id }: WinDisputeInput, @Ctx() { operator }: OperatorContext) {
    return decideDispute(operator, id, 'won');
  }

  @Mutation(() => LoseDisputePayload, {
    description: 'Records that a dispute was decided for the payer. It moves nothing.',
  })
  async loseDispute(@Input(() => LoseDisputeInput) { id }: LoseDisputeInput, @Ctx() { operator }: OperatorContext) {
    return decideDispute(operator, id, 'lost');
  }
}

@Resolver(() => OperatorDispute)
class OperatorDisputeFiles {
  @FieldResolver(() => [OperatorFile], { description: 'The files of the answer, for the bank or the acquirer.' })
  async evidenceFiles(@Root() row: DisputeRow, @Ctx() { related }: OperatorContext): Promise<FileRow[]> {
    const found = await Promise.all(row.evidenceFileIds.map((id) => related.one(file, file.id, row, id)));
    return found.filter((each) => each !== null);
  }
}

export default {
  resolvers: [OperatorDisputes, OperatorDisputeFiles],
  fields: {
    dispute: 'dispute',
    disputes: 'dispute',
    openDispute: 'dispute',
    winDispute: 'dispute',
    loseDispute: 'dispute',
  },
  edges: [
    edgesOf(OperatorDispute, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account that had received the deposit.'),
      deposit: one(OperatorDeposit, deposit, deposit.id, 'depositId', 'The deposit that is disputed.'),
    }),
  ],
  sizes: { 'Dispute.evidenceFiles': 10 },
} satisfies OperatorModule;
