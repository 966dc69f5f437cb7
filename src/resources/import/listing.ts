import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { dataImport, importLists } from './table.js';
import { BulkStatus } from '../export/table.js';

export const importListing = listingOf('import', importLists(dataImport));

export const [ImportArgs, ImportOfAccountArgs] = argsOf('Import', importListing, {
  status: [BulkStatus, 'Only in these statuses.'],
  accountId: ofAccount('imports'),
});
