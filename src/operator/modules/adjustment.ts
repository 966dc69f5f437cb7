import { Args, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import type { AdjustmentRow } from '../../resources/adjustment/table.js';
import { shown } from '../../resources/adjustment/type.js';
import { liveOf } from '../../request/mode.js';
import { type ById, Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import type { OperatorContext } from '../context.js';
import {
  AdjustmentPage,
  AdjustmentsArgs,
  ApproveAdjustmentInput,
  OperatorAdjustment,
  ProposeAdjustmentInput,
  RejectAdjustmentInput,
} from '../graph/adjustment-type.js';
import { approvalsLeft, approvalsLeftText } from '../access/approvals.js';
import { filterOf } from '../graph/filters.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { OperatorAccount } from '../graph/type.js';
import { approveAdjustment, listAdjustments, proposeAdjustment, rejectAdjustment } from '../money/adjustments.js';
import type { ListPage } from '../paging.js';

const ProposeAdjustmentPayload = payloadOf('ProposeAdjustment', 'adjustment', OperatorAdjustment);
const ApproveAdjustmentPayload = payloadOf('ApproveAdjustment', 'adjustment', OperatorAdjustment);
const RejectAdjustmentPayload = payloadOf('RejectAdjustment', 'adjustment', OperatorAdjustment);

/** Corrections of available money by two operators. Spec: decisions, 8.15. */
@Resolver()
class OperatorAdjustments {
  @Query(() => AdjustmentPage, {
    description: 'The adjustments of all tenants, or of one, newest first; those that are PROPOSED are oldest first.',
  })
  async adjustments(
    @Args(() => AdjustmentsArgs) args: AdjustmentsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorAdjustment>> {
    const { nodes, next } = await listAdjustments(operator, filterOf('adjustment', args));
    return { nodes: nodes.map(shown), next };
  }

  @Mutation(() => ProposeAdjustmentPayload, {
    description:
      'Proposes to correct available money of an account: from or to the outside world, or between two of its ' +
      'currencies. It moves nothing until another operator approves it.',
  })
  async proposeAdjustment(
    @Input(() => ProposeAdjustmentInput) { mode, ...content }: ProposeAdjustmentInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { adjustment: shown(await proposeAdjustment(operator, { ...content, livemode: liveOf(mode) }, viewer)) };
  }

  @Mutation(() => ApproveAdjustmentPayload, {
    description:
      'Approves an adjustment that another named operator has proposed: its money moves at once. Only an ' +
      'operator with a name and a key of their own can. One that `OPERATOR_KEY` or a command has proposed ' +
      'needs two of them: of the first it is the proposal from then on, stays PROPOSED, and has one of ' +
      '`approvalsLeft`.',
  })
  async approveAdjustment(
    @Input(() => ApproveAdjustmentInput) { id }: ById,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { adjustment: shown(await approveAdjustment(operator, id, viewer)) };
  }

  @Mutation(() => RejectAdjustmentPayload, {
    description: 'Rejects an adjustment that waits, or withdraws it. It moves nothing.',
  })
  async rejectAdjustment(
    @Input(() => RejectAdjustmentInput) { id }: ById,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { adjustment: shown(await rejectAdjustment(operator, id, viewer)) };
  }
}

/** What the rows of adjustments do not have as they are. */
@Resolver(() => OperatorAdjustment)
class FieldsOfAdjustment {
  @FieldResolver(() => Int, { description: approvalsLeftText })
  approvalsLeft(@Root() { status, proposedById }: AdjustmentRow): number {
    return approvalsLeft(status, proposedById);
  }
}

export default {
  resolvers: [OperatorAdjustments, FieldsOfAdjustment],
  fields: {
    adjustments: 'adjustment',
    proposeAdjustment: 'adjustment',
    approveAdjustment: 'adjustment',
    rejectAdjustment: 'adjustment',
  },
  edges: [
    edgesOf(OperatorAdjustment, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account whose money it changes.'),
    }),
  ],
} satisfies OperatorModule;
