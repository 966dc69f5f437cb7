import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { file, FilePurpose, fileLists } from './table.js';

export const fileListing = listingOf('file', fileLists(file));

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
