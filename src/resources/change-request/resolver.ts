import { Ctx, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { type ById, Input } from '../../types/input.js';
import { account } from '../account/table.js';
import {
  AcceptTestChangeRequestInput,
  DeclineTestChangeRequestInput,
  RequestAccountChangeInput,
  WithdrawChangeRequestInput,
} from './inputs.js';
import { checkDocuments, membersOf, refuseLoss } from './rules.js';
import { changeRequest } from './table.js';
import {
  AcceptTestChangeRequestPayload,
  ChangeRequest,
  DeclineTestChangeRequestPayload,
  RequestAccountChangePayload,
  WithdrawChangeRequestPayload,
} from './type.js';

@Resolver(() => ChangeRequest)
export class ChangeRequestResolver {
  /** Asks the service to change details of an account that is no draft. Silent: the operation. */
  @Mutation(() => RequestAccountChangePayload, {
    description:
      'Asks the service to change details of an account, which its owner cannot update once it is activated. One ' +
      'request at a time is open for an account. A connected user in status DRAFT is updated by `updateAccount`.',
  })
  async requestAccountChange(
    @Input(() => RequestAccountChangeInput) input: RequestAccountChangeInput,
    @Ctx() context: Context,
  ) {
    await context.scope.refuseBesideOtherReleases();
    const row = await context.scope.one(account, input.accountId, 'change_request.account_id');
    await checkDocuments(context, input);
    const changes = membersOf(input);
    await refuseLoss(context, row, changes);
    return {
      changeRequest: await context.write('create_change_request', changeRequest, {
        ...{ accountId: row.id, changes, reason: input.reason },
      }),
    };
  }

  @Mutation(() => WithdrawChangeRequestPayload, {
    description: 'Takes a change request back before it is answered, so that another one can be made.',
  })
  withdrawChangeRequest(@Input(() => WithdrawChangeRequestInput) input: ById, @Ctx() context: Context) {
    return ended(context, input, 'withdrawn');
  }

  @Mutation(() => AcceptTestChangeRequestPayload, {
    description: 'Test helper: the service accepts a change request, and the account has the new details.',
  })
  acceptTestChangeRequest(@Input(() => AcceptTestChangeRequestInput) input: ById, @Ctx() context: Context) {
    return ended(context, input, 'accepted');
  }

  @Mutation(() => DeclineTestChangeRequestPayload, {
    description: 'Test helper: the service declines a change request, and the account stays as it is.',
  })
  declineTestChangeRequest(
    @Input(() => DeclineTestChangeRequestInput) input: DeclineTestChangeRequestInput,
    @Ctx() context: Context,
  ) {
    return ended(context, input, 'declined');
  }
}

async function ended(context: Context, { id, answer }: ById & { answer?: string | null }, to: string) {
  await context.scope.one(changeRequest, id);
  return { changeRequest: await context.write('end_change_request', changeRequest, { id, to, answer }) };
}
