import { Field, ArgsType } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { requestLog, RequestApi, RequestOutcome } from './table.js';

export const requestLogListing: Listing = {
  object: 'request_log',
  // Most accounts use one API, so an index by it would find almost all rows.
  filters: { api: { derived: requestLog.api }, outcome: requestLog.outcome, operation: requestLog.operation },
  byAccount: [],
};

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
