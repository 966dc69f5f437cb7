import { Query, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import {
  AccountConnection,
  Account,
  CreateAccountPayload,
  CreateConnectedUserPayload,
  UpdateAccountPayload,
} from './type.js';
import { PartnerArgs, partnerListing } from './listing.js';
import type { Context } from '../../operation/context.js';
import type { Page, PageArgs } from '../../types/pagination.js';
import { account } from './table.js';
import { CreateAccountInput, CreateConnectedUserInput, UpdateAccountInput } from './inputs.js';
import { Input } from '../../types/input.js';
import { addressKeyOf, nicknameOf, businessDetailsOf, initialSetting, checkReferences } from './rules.js';
import { DomainError, problem } from '../../errors/problems.js';

@Resolver(() => Account)
export class AccountResolver {
  @Query(() => AccountConnection, {
    description: 'The partners of the acting account, or of one visible account, newest first.',
  })
  async partners(
    @Args(() => PartnerArgs) { accountId, ...args }: PageArgs & { accountId?: string | null },
    @Ctx() { scope, caller }: Context,
  ): Promise<Page<Account>> {
    const owner = await scope.one(account, accountId || caller.actingAccountId, 'account.account_id');
    return scope.page(account, { ...partnerListing, fixed: { ownerId: owner.id, type: 'partner' } }, args);
  }

  /** Creates a partner of the acting account. Spec: Create an Account. */
  @Mutation(() => CreateAccountPayload, { description: 'Creates a partner of the acting account, in status DRAFT.' })
  async createAccount(@Input(() => CreateAccountInput) input: CreateAccountInput, @Ctx() context: Context) {
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
    @Input(() => CreateConnectedUserInput) input: CreateConnectedUserInput,
    @Ctx() context: Context,
  ) {
    const { caller, edition, scope } = context;
    if (caller.actingAccountKind !== 'platform') {
      throw new DomainError(
        problem(
          'permission_denied',
          'On-Behalf-Of',
          'A connected user has no connected users. Send the request as the platform itself.',
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
  async updateAccount(@Input(() => UpdateAccountInput) input: UpdateAccountInput, @Ctx() context: Context) {
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
}

/** The input in its stored form, without blank texts. Absent members stay absent, so that they change nothing. */
function changesOf({ businessDetails, nickname, ...others }: CreateConnectedUserInput) {
  const changes = {
    ...others,
    businessDetails: businessDetailsOf(businessDetails),
    nickname: nicknameOf(nickname),
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}
