import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { DisputeStatus, dispute, disputeLists } from './table.js';

export const disputeListing = listingOf('dispute', disputeLists(dispute));

export const [DisputeArgs, DisputeOfAccountArgs] = argsOf('Dispute', disputeListing, {
  status: [DisputeStatus, 'Only in these statuses.'],
  accountId: ofAccount('disputes'),
});
