import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { all, edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { type AccountRow, account } from '../../resources/account/table.js';
import { accountSetting } from '../../resources/account-setting/table.js';
import { type AddressRow, address } from '../../resources/address/table.js';
import { editions } from '../../editions/editions.js';
import { ActivationRequirement } from '../../resources/activation/type.js';
import { requirementsIn, shownRequirement } from '../../resources/activation/rules.js';
import { file } from '../../resources/file/table.js';
import { payoutProblemOf } from '../../resources/payout/address-problem.js';
import { PayoutObstacle, payoutsBlockedBy } from '../../resources/payout/plan.js';
import { PayoutReasonCode } from '../../resources/payout/table.js';
import { payloadOf } from '../../types/payload.js';
import { type PersonRow, person } from '../../resources/person/table.js';
import { PersonIdentification, PersonRoles } from '../../resources/person/type.js';
import { identificationOf, relationshipOf } from '../../resources/person/v1.js';
import type { OperatorContext } from '../context.js';
import { liveOf } from '../../request/mode.js';
import { filterOf } from '../graph/filters.js';
import {
  AccountArgs,
  AccountsArgs,
  DeactivateAccountInput,
  HoldAccountInput,
  IssueAddressInput,
  VerifyAccountInput,
} from '../graph/inputs.js';
import type { ListPage } from '../paging.js';
import {
  AccountPage,
  OperatorAccount,
  OperatorAddress,
  OperatorFile,
  OperatorPerson,
  OperatorSetting,
} from '../graph/type.js';
import { Input } from '../../types/input.js';
import {
  deactivateAccount,
  holdAccount,
  issueAddress,
  listAccounts,
  verificationOf,
  verifyAccount,
} from '../account/accounts.js';

const VerifyAccountPayload = payloadOf('VerifyAccount', 'account', OperatorAccount);
const HoldAccountPayload = payloadOf('HoldAccount', 'account', OperatorAccount);
const DeactivateAccountPayload = payloadOf('DeactivateAccount', 'account', OperatorAccount);
const IssueAddressPayload = payloadOf('IssueAddress', 'address', OperatorAddress);

/**
 * What the operator reads and does with accounts. Each field calls one method of the Operator, as each command does.
 * Silent: all of it.
 */
@Resolver(() => OperatorAccount)
class OperatorAccounts {
  @Query(() => OperatorAccount, { nullable: true, description: 'An account of any tenant.' })
  account(
    @Args(() => AccountArgs) { id, mode }: AccountArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorAccount> {
    return operator.account(id, liveOf(mode));
  }

  @Query(() => AccountPage, { description: 'The accounts of all tenants, or of one, oldest first by default.' })
  accounts(
    @Args(() => AccountsArgs) args: AccountsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorAccount>> {
    const { newestFirst, search } = args;
    const how = { newestFirst: newestFirst ?? undefined, search: search ?? undefined };
    return listAccounts(operator, { ...filterOf('account', args), ...how });
  }

  @Mutation(() => VerifyAccountPayload, {
    description: 'Decides a verification, or lifts a hold. A root in live mode is a DRAFT until then.',
  })
  async verifyAccount(
    @Input(() => VerifyAccountInput) { id, mode, outcome }: VerifyAccountInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { account: await verifyAccount(operator, await operator.account(id, liveOf(mode)), outcome) };
  }

  @Mutation(() => HoldAccountPayload, { description: 'Puts an account on hold.' })
  async holdAccount(
    @Input(() => HoldAccountInput) { id, mode }: HoldAccountInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { account: await holdAccount(operator, await operator.account(id, liveOf(mode))) };
  }

  @Mutation(() => DeactivateAccountPayload, { description: 'Deactivates an account of any type.' })
  async deactivateAccount(
    @Input(() => DeactivateAccountInput) { id, mode }: DeactivateAccountInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { account: await deactivateAccount(operator, await operator.account(id, liveOf(mode))) };
  }

  @Mutation(() => IssueAddressPayload, { description: 'Records a live receiving address that a bank has issued.' })
  async issueAddress(
    @Input(() => IssueAddressInput) { accountId, category, currency, bankAccount }: IssueAddressInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const owner = await operator.account(accountId, true, 'address.account_id');
    const given = { category: category ?? ('service_receive' as const), currency, bankAccount };
    return { address: await issueAddress(operator, owner, given) };
  }

  @FieldResolver(() => [OperatorPerson], { description: 'The persons of the business, for its verification.' })
  async persons(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<OperatorPerson[]> {
    return (await verificationOf(context.operator, row, context.related)).persons;
  }

  @FieldResolver(() => [OperatorFile], { description: 'The documents that it and its persons refer to.' })
  async files(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<OperatorFile[]> {
    return (await verificationOf(context.operator, row, context.related)).files;
  }

  @FieldResolver(() => [ActivationRequirement], {
    description:
      'The requirements for activation that are not met yet; none for a root, about which the operator decides.',
  })
  async requirements(@Root() row: AccountRow, @Ctx() { related }: OperatorContext): Promise<ActivationRequirement[]> {
    const { idDocument: id } = row.supportingDocumentation;
    const [persons, addresses, idDocument] = await Promise.all([
      related.all(person, person.accountId, row, row.id),
      related.all(address, address.linkedId, row, row.id),
      id == null ? null : related.one(file, file.id, row, id),
    ]);
    return requirementsIn(editions[row.edition], { account: row, persons, addresses, idDocument }).map(
      shownRequirement,
    );
  }

  @FieldResolver(() => [PayoutObstacle], {
    description: 'Why it, or its available money in a currency, would not be paid out at present. Empty if it would.',
  })
  payoutsBlockedBy(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<PayoutObstacle[]> {
    return payoutsBlockedBy(row, { scope: context.scopeOf(row) });
  }
}

@Resolver(() => OperatorAddress)
class OperatorAddresses {
  @FieldResolver(() => PayoutReasonCode, {
    nullable: true,
    description:
      'Why the last payout to it failed or came back. Null if it has arrived or is under way, or if there was none.',
  })
  payoutProblem(@Root() row: AddressRow, @Ctx() context: OperatorContext): Promise<PayoutReasonCode | null> {
    return payoutProblemOf(row, { scope: context.scopeOf(row) });
  }
}

@Resolver(() => OperatorPerson)
class OperatorPersons {
  @FieldResolver(() => PersonRoles, { description: 'Its roles in the business.' })
  relationship(@Root() row: PersonRow): PersonRoles {
    return relationshipOf(row);
  }

  @FieldResolver(() => PersonIdentification, {
    description: 'How the person is identified; the number is masked for the operator too.',
  })
  identification(@Root() row: PersonRow): PersonIdentification {
    return identificationOf(row);
  }
}

export default {
  resolvers: [OperatorAccounts, OperatorAddresses, OperatorPersons],
  fields: {
    account: 'account',
    accounts: 'account',
    verifyAccount: 'account',
    holdAccount: 'account',
    deactivateAccount: 'account',
    issueAddress: 'address',
  },
  edges: [
    edgesOf(OperatorAccount, {
      root: { ...root, description: 'The root account of its tenant in the same mode; a root is its own.' },
      owner: one(OperatorAccount, account, account.id, 'ownerId', 'The account that created it; null for a root.'),
      addresses: all(OperatorAddress, address, address.linkedId, 'Its addresses, newest first.'),
      setting: one(OperatorSetting, accountSetting, accountSetting.accountId, 'id', 'Its payout setting.'),
    }),
  ],
  sizes: {
    'Account.requirements': 20,
    'Account.persons': 10,
    'Account.files': 10,
    'Account.addresses': 10,
    'Account.payoutsBlockedBy': 10,
  },
} satisfies OperatorModule;
