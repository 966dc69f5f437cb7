import { Field, ArgsType, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { dataExport, BulkStatus } from './table.js';

export const exportListing: Listing = {
  object: 'export',
  filters: { accountId: dataExport.accountId, status: dataExport.status },
  byAccount: ['accountId'],
  parents: [dataExport.accountId],
  own: dataExport.accountId,
};

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
