import { Field, ArgsType, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { dataImport } from './table.js';
import { BulkStatus } from '../export/table.js';

export const importListing: Listing = {
  object: 'import',
  filters: { accountId: dataImport.accountId, status: dataImport.status },
  byAccount: ['accountId'],
  parents: [dataImport.accountId],
  own: dataImport.accountId,
};

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
