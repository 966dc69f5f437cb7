import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { dataExport, BulkStatus, exportLists } from './table.js';

export const exportListing = listingOf('export', exportLists(dataExport));

export const [ExportArgs, ExportOfAccountArgs] = argsOf('Export', exportListing, {
  status: [BulkStatus, 'Only in these statuses.'],
  accountId: ofAccount('exports'),
});
