import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import type { Listing, Page } from '../../types/pagination.js';
import { PageArgs } from '../../types/pagination.js';
import { checkFiles, verificationPurposes } from '../file/reference.js';
import { payloadOf } from '../../types/payload.js';
import { problem, DomainError } from '../../request/problems.js';
import { addressKeyOf, blankToNull, businessDetailsOf, initialSetting, nicknameOf } from './creation.js';
import { AccountArgs, CreateAccountInput, CreateConnectedUserInput, UpdateAccountInput } from './inputs.js';
import { type AccountRow, account } from './table.js';
import { Account, AccountConnection, Capability } from './type.js';
import { livemodeOf } from './v1.js';

/** How accounts are listed. Spec: List Accounts. */
export const accountListing: Listing = {
  object: 'account',
  filters: {
    address: account.address,
    status: account.status,
    type: account.type,
    'capability.multicurrencyExportsV1': account.capabilityStatus,
  },
  byAccount: [],
};

const CreateAccountPayload = payloadOf('CreateAccount', 'account', Account);
const CreateConnectedUserPayload = payloadOf('CreateConnectedUser', 'account', Account);
const UpdateAccountPayload = payloadOf('UpdateAccount', 'account', Account);

@Resolver(() => Account)
export class AccountResolver {
  @Query(() => Account, { nullable: true, description: 'An account within reach.' })
  async account(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<Account> {
    return scope.one(account, id);
  }

  @Query(() => AccountConnection, {
    description: 'For a platform, itself and its connected users; for a user, itself and its partners. Newest first.',
  })
  async accounts(@Args(() => AccountArgs) args: AccountArgs, @Ctx() { scope }: Context): Promise<Page<Account>> {
    return scope.page(account, accountListing, args);
  }

  /** Creates a partner of the context account. Spec: Create an Account. */
  @Mutation(() => CreateAccountPayload, { description: 'Creates a partner of the context account, in status DRAFT.' })
  async createAccount(@Arg('input', () => CreateAccountInput) input: CreateAccountInput, @Ctx() context: Context) {
    const { caller, edition } = context;
    const row = await context.write('create_account', account, {
      kind: 'partner',
      edition: edition.number,
      addressKey: addressKeyOf('partner', caller.actingAccountKind, edition),
      ownerId: caller.actingAccountId,
      actingAccountId: caller.actingAccountId,
      onRootList: false,
      nickname: nicknameOf(input.nickname),
      businessDetails: businessDetailsOf(input.businessDetails),
      metadata: input.metadata,
      setting: initialSetting('partner', null, edition),
    });
    return { account: row };
  }

  /** Creates a connected user of a platform. Silent: the specification shows no call that does. */
  @Mutation(() => CreateConnectedUserPayload, {
    description: 'Creates a connected user of the platform, in status DRAFT.',
  })
  async createConnectedUser(
    @Arg('input', () => CreateConnectedUserInput) input: CreateConnectedUserInput,
    @Ctx() context: Context,
  ) {
    const { caller, edition, scope } = context;
    if (caller.actingAccountKind !== 'platform') {
      throw new DomainError(
        problem(
          'permission_denied',
          'On-Behalf-Of',
          'A connected user has no connected users; ask as the platform itself.',
        ),
      );
    }
    const details = changesOf(input);
    await checkReferences(context, input);
    const platform = await scope.one(account, caller.accountId);
    const row = await context.write('create_account', account, {
      ...details,
      kind: 'connected_user',
      edition: edition.number,
      addressKey: addressKeyOf('connected_user', 'platform', edition),
      ownerId: caller.accountId,
      onRootList: true,
      setting: initialSetting('connected_user', platform.subType, edition),
    });
    return { account: row };
  }

  /** Changes a connected user in draft. Spec: Update an Account. */
  @Mutation(() => UpdateAccountPayload, {
    description: 'Changes a connected user in status DRAFT, by its platform or the user itself.',
  })
  async updateAccount(@Arg('input', () => UpdateAccountInput) input: UpdateAccountInput, @Ctx() context: Context) {
    const { id, ...rest } = input;
    const before = await context.scope.one(account, id);
    const changes = changesOf(rest);
    await checkReferences(context, rest);
    if (before.kind !== 'connected_user' || before.status !== 'draft') {
      throw new DomainError(problem('account_not_updatable', 'account.status'));
    }
    if (Object.keys(changes).length === 0) return { account: before };
    return { account: await context.write('update_account', account, { id, ...changes }) };
  }

  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'Null for a direct user or a platform, which exist in both modes.',
  })
  livemode(@Root() row: AccountRow): boolean | null {
    return livemodeOf(row);
  }

  @FieldResolver(() => Capability, { nullable: true, description: 'Null for an aggregator platform.' })
  capability(@Root() row: AccountRow, @Ctx() { edition }: Context): Capability | null {
    if (edition.capability.nullFor.includes(row.subType as never)) return null;
    return { multicurrencyExportsV1: edition.capability.shown ? row.capabilityStatus : null };
  }

  @FieldResolver(() => Account, {
    nullable: true,
    description:
      'The account that created this one: the platform of a connected user, the owner of a partner. Null for a root, and where it is out of reach.',
  })
  async owner(@Root() row: AccountRow, @Ctx() { scope }: Context): Promise<Account | null> {
    return scope.find(account, row.ownerId);
  }

  @FieldResolver(() => AccountConnection, { description: 'The partners that the account owns.' })
  async partners(
    @Root() row: AccountRow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<Account>> {
    return scope.edge(account, { ...accountListing, fixed: { type: 'partner' } }, account.ownerId, row.id, args);
  }

  @FieldResolver(() => AccountConnection, { description: "A platform's connected users." })
  async connectedUsers(
    @Root() row: AccountRow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<Account>> {
    return scope.edge(account, { ...accountListing, fixed: { type: 'user' } }, account.ownerId, row.id, args);
  }
}

/** What of the input is to be stored; absent members stay absent, so that they change nothing. */
function changesOf({
  businessDetails,
  nickname,
  logoId,
  metadata,
  supportingDocumentation,
  tosAcceptance,
}: CreateConnectedUserInput) {
  const changes = {
    businessDetails: businessDetailsOf(businessDetails),
    nickname: nicknameOf(nickname),
    logoId: blankToNull(logoId),
    metadata,
    supportingDocumentation: blankToNull(supportingDocumentation),
    tosAcceptance: blankToNull(tosAcceptance),
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

async function checkReferences(
  { scope }: Context,
  { logoId, supportingDocumentation: documents }: CreateConnectedUserInput,
): Promise<void> {
  const document = (name: string, id: string | null | undefined) => ({
    id,
    field: `account.supporting_documentation.${name}`,
    purposes: verificationPurposes,
  });
  await checkFiles(scope, [
    { id: logoId, field: 'account.logo_id', purposes: ['logo'] },
    document('id_document', documents?.idDocument),
    document('ownership_structure_document', documents?.ownershipStructureDocument),
    document('physical_address_document', documents?.physicalAddressDocument),
  ]);
}
