import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { importRow, ImportRowStatus, importRowLists } from './table.js';

export const importRowListing = listingOf('import_row', importRowLists(importRow));

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
