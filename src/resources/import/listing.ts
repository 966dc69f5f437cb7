import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { dataImport, importLists } from './table.js';
import { BulkStatus } from '../export/table.js';

export const importListing = listingOf('import', importLists(dataImport));

@ArgsType()
export class ImportOfAccountArgs extends pageArgsOf('Import') {
  @Field(() => [BulkStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: BulkStatus[] | null;
}

@ArgsType()
export class ImportArgs extends ImportOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only imports of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}
