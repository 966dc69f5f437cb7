import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { ChangeRequestStatus, changeRequest, changeRequestLists } from './table.js';

export const changeRequestListing = listingOf('change_request', changeRequestLists(changeRequest));

export const [ChangeRequestArgs, ChangeRequestOfAccountArgs] = argsOf('ChangeRequest', changeRequestListing, {
  status: [ChangeRequestStatus, 'Only in these statuses.'],
  accountId: ofAccount('change requests'),
});
