import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import { Account } from '../account/type.js';
import type { Context } from '../../operation/context.js';
import { type Listing, type Page, PageArgs } from '../../types/pagination.js';
import { FilePurpose, type FileRow, file } from './table.js';
import { File, FileConnection } from './type.js';

export const fileListing: Listing = {
  object: 'file',
  filters: { purpose: file.purpose, accountId: file.accountId },
  byAccount: ['accountId'],
};

@ArgsType()
class FileArgs extends PageArgs {
  @Field(() => [FilePurpose], { nullable: true, description: 'Only of these purposes.' })
  purpose?: FilePurpose[] | null;
  @Field(() => ID, { nullable: true, description: 'Files of this account; any within reach.' })
  accountId?: string | null;
}

@Resolver(() => File)
export class FileResolver {
  @Query(() => File, { nullable: true, description: 'A file within reach.' })
  async file(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<File> {
    return scope.one(file, id);
  }

  @Query(() => FileConnection, { description: "The files of the accounts on the caller's list." })
  async files(@Args(() => FileArgs) args: FileArgs, @Ctx() { scope }: Context): Promise<Page<File>> {
    return scope.page(file, fileListing, args);
  }

  @FieldResolver(() => Account, { description: 'The account that uploaded it.' })
  async account(@Root() row: FileRow, @Ctx() { scope }: Context): Promise<Account> {
    return scope.one(account, row.accountId);
  }
}

@Resolver(() => Account)
export class FilesOfAccount {
  @FieldResolver(() => FileConnection, { description: 'The files that the account uploaded.' })
  async files(
    @Root() row: AccountRow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<File>> {
    return scope.edge(file, fileListing, file.accountId, row.id, args);
  }

  @FieldResolver(() => File, { nullable: true, description: 'The file behind `logoId`.' })
  async logo(@Root() row: AccountRow, @Ctx() { scope }: Context): Promise<File | null> {
    return scope.find(file, row.logoId);
  }

  @FieldResolver(() => File, { nullable: true, description: 'The file behind `supportingDocumentation.idDocument`.' })
  async idDocument(@Root() row: AccountRow, @Ctx() { scope }: Context): Promise<File | null> {
    return scope.find(file, row.supportingDocumentation.idDocument);
  }
}
