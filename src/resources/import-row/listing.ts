import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { importRow, ImportRowStatus, importRowLists } from './table.js';

export const importRowListing = listingOf('import_row', importRowLists(importRow));

export const [ImportRowArgs, ImportRowOfImportArgs] = argsOf('ImportRow', importRowListing, {
  status: [ImportRowStatus, 'Only in these statuses.'],
  importId: 'Rows of this import.',
});
