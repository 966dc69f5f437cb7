import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import { shownChanges } from '../../resources/change-request/rules.js';
import { changesMax, type ChangeRequestRow } from '../../resources/change-request/table.js';
import { RequestedChange } from '../../resources/change-request/type.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { changeRequestOf, endChangeRequest, listChangeRequests } from '../account/change-requests.js';
import type { OperatorContext } from '../context.js';
import {
  AcceptChangeRequestInput,
  ChangeRequestPage,
  ChangeRequestsArgs,
  DeclineChangeRequestInput,
  OperatorChangeRequest,
} from '../graph/change-request-type.js';
import { filterOf } from '../graph/filters.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { OperatorAccount } from '../graph/type.js';
import type { ListPage } from '../paging.js';

const AcceptChangeRequestPayload = payloadOf('AcceptChangeRequest', 'changeRequest', OperatorChangeRequest);
const DeclineChangeRequestPayload = payloadOf('DeclineChangeRequest', 'changeRequest', OperatorChangeRequest);

/** What owners ask to change of accounts that they cannot update. Silent: all of it. */
@Resolver(() => OperatorChangeRequest)
class OperatorChangeRequests {
  @Query(() => OperatorChangeRequest, { nullable: true, description: 'A change request of any tenant.' })
  changeRequest(
    @Arg('id', () => ID, { description: 'The id of the change request.' }) id: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorChangeRequest> {
    return changeRequestOf(operator, id);
  }

  @Query(() => ChangeRequestPage, {
    description:
      'The change requests of all tenants, or of one, newest first. OPEN ones, which wait for the operator, are ' +
      'oldest first.',
  })
  changeRequests(
    @Args(() => ChangeRequestsArgs) args: ChangeRequestsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorChangeRequest>> {
    return listChangeRequests(operator, filterOf('change_request', args));
  }

  @Mutation(() => AcceptChangeRequestPayload, {
    description:
      'Gives the account the details that the request asks for. A live request of a root changes both modes.',
  })
  async acceptChangeRequest(
    @Input(() => AcceptChangeRequestInput) { id, answer }: AcceptChangeRequestInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { changeRequest: await endChangeRequest(operator, id, 'accepted', answer) };
  }

  @Mutation(() => DeclineChangeRequestPayload, {
    description: 'Declines a change request; the account stays as it is.',
  })
  async declineChangeRequest(
    @Input(() => DeclineChangeRequestInput) { id, answer }: DeclineChangeRequestInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { changeRequest: await endChangeRequest(operator, id, 'declined', answer) };
  }

  @FieldResolver(() => [RequestedChange], { description: 'The details that are to change, by their paths.' })
  changes(@Root() row: ChangeRequestRow): RequestedChange[] {
    return shownChanges(row);
  }
}

export default {
  resolvers: [OperatorChangeRequests],
  fields: {
    changeRequest: 'change_request',
    changeRequests: 'change_request',
    acceptChangeRequest: 'change_request',
    declineChangeRequest: 'change_request',
  },
  edges: [
    edgesOf(OperatorChangeRequest, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account that is to change.'),
    }),
  ],
  sizes: { 'ChangeRequest.changes': changesMax },
} satisfies OperatorModule;
