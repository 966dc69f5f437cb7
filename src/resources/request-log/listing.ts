import { Field, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { requestLog, requestLogLists, RequestApi, RequestOutcome } from './table.js';

export const requestLogListing = listingOf('request_log', requestLogLists(requestLog));

@ArgsType()
export class RequestLogArgs extends pageArgsOf('RequestLog') {
  @Field(() => [RequestApi], { nullable: true, description: 'Only requests to these APIs.' })
  api?: RequestApi[] | null;
  @Field(() => [RequestOutcome], { nullable: true, description: 'Only requests that ended like this.' })
  outcome?: RequestOutcome[] | null;
  @Field(() => [String], {
    nullable: true,
    description:
      'Only these operations: root fields of the graph, such as `deposits`, or routes such as `POST /v1/deposits`.',
  })
  operation?: string[] | null;
}
