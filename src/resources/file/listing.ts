import { Field, ArgsType, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { file, FilePurpose } from './table.js';

export const fileListing: Listing = {
  object: 'file',
  filters: { purpose: file.purpose, accountId: file.accountId },
  byAccount: ['accountId'],
  parents: [file.accountId],
  own: file.accountId,
};

@ArgsType()
export class FileOfAccountArgs extends pageArgsOf('File') {
  @Field(() => [FilePurpose], { nullable: true, description: 'Only of these purposes.' })
  purpose?: FilePurpose[] | null;
}

@ArgsType()
export class FileArgs extends FileOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only files of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}
