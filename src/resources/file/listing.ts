import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { file, FilePurpose, fileLists } from './table.js';

export const fileListing = listingOf('file', fileLists(file));

export const [FileArgs, FileOfAccountArgs] = argsOf('File', fileListing, {
  purpose: [FilePurpose, 'Only of these purposes.'],
  accountId: ofAccount('files'),
});
