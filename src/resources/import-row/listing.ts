import { Field, ArgsType, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { importRow, ImportRowStatus } from './table.js';

export const importRowListing: Listing = {
  object: 'import_row',
  filters: { importId: importRow.importId, status: importRow.status },
  byAccount: ['importId'],
  parents: [importRow.importId],
};

@ArgsType()
export class ImportRowOfImportArgs extends pageArgsOf('ImportRow') {
  @Field(() => [ImportRowStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: ImportRowStatus[] | null;
}

@ArgsType()
export class ImportRowArgs extends ImportRowOfImportArgs {
  @Field(() => ID, { nullable: true, description: 'Rows of this import.' })
  importId?: string | null;
}
