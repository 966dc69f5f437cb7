import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { requestLog, requestLogLists, RequestApi, RequestOutcome } from './table.js';

export const requestLogListing = listingOf('request_log', requestLogLists(requestLog));

export const [RequestLogArgs] = argsOf('RequestLog', requestLogListing, {
  api: [RequestApi, 'Only requests to these APIs.'],
  outcome: [RequestOutcome, 'Only requests that ended like this.'],
  operation: [
    [String],
    'Only these operations: root fields of the graph, such as `deposits`, or routes such as `POST /v1/deposits`.',
  ],
});
