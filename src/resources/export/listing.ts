import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { dataExport, BulkStatus, exportLists } from './table.js';

export const exportListing = listingOf('export', exportLists(dataExport));

@ArgsType()
export class ExportOfAccountArgs extends pageArgsOf('Export') {
  @Field(() => [BulkStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: BulkStatus[] | null;
}

@ArgsType()
export class ExportArgs extends ExportOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only exports of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}
