import { Ctx, Field, InputType, Mutation, ObjectType, Resolver, ID, registerEnumType } from 'type-graphql';
import { type AccountRow, type AccountStatus, account } from '../account/table.js';
import { accountMoves } from '../account/transitions.js';
import { Account } from '../account/type.js';
import { address, WalletProvider } from '../address/table.js';
import { Address } from '../address/type.js';
import type { Context } from '../../operation/context.js';
import type { ProblemCode } from '../../errors/catalogue.js';
import { ErrorCode, pathInGraph } from '../../types/problem.js';
import { file } from '../file/table.js';
import { payloadOf } from '../../types/payload.js';
import { type Permission, related } from '../../auth/permissions.js';
import { person } from '../person/table.js';
import { type Problem, problem, DomainError, sentenceOfGraph } from '../../errors/problems.js';
import type { Edition } from '../../editions/edition.js';
import { type OnboardingProfile, unmet } from '../../editions/prerequisites.js';
import { type ById, idInputOf, Input } from '../../types/input.js';

/**
 * The kinds of accounts that each kind of caller activates. Only the operator activates roots.
 * Spec: Activate an Account.
 */
export const activatedBy = {
  platform: ['connected_user', 'partner', 'connected_user_partner'],
  direct_user: ['partner'],
  connected_user: [],
} as const satisfies Permission['relations'];

const VerificationOutcome = { ACTIVATED: 'activated', HOLD: 'hold' } as const;
type VerificationOutcome = (typeof VerificationOutcome)[keyof typeof VerificationOutcome];
registerEnumType(VerificationOutcome, {
  name: 'VerificationOutcome',
  description: 'The outcome of a verification.',
  valuesConfig: {
    ACTIVATED: { description: 'The account is activated.' },
    HOLD: { description: 'The account is put on hold.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'A requirement for activation that is not met yet.' })
export class ActivationRequirement {
  @Field(() => String, { description: 'The name that `activate` reports as `field_name`.' })
  fieldName: string;
  @Field(() => ErrorCode, { description: 'The code that `activate` reports.' })
  code: ProblemCode;
  @Field(() => [String], {
    description: 'The place of what is missing, in the names of the graph, such as `["businessDetails", "website"]`.',
  })
  path: string[];
  @Field(() => String, { description: 'What is missing, as a sentence.' })
  message: string;
  @Field(() => [String], { description: 'Other parameters that also meet the requirement.' })
  alternatives: string[];
}

@InputType({ description: 'Names an account, and the outcome of its verification.' })
class VerifyTestAccountInput {
  @Field(() => ID, { description: 'The id of the account.' })
  id: string;
  @Field(() => VerificationOutcome, {
    nullable: true,
    defaultValue: 'activated',
    description: 'The outcome of the verification.',
  })
  outcome?: VerificationOutcome | null;
}

@InputType({ description: 'Names a partner, and the wallet that it pays from.' })
class CreateTestWalletInput {
  @Field(() => ID, { description: 'The id of the partner.' })
  id: string;
  @Field(() => WalletProvider, {
    nullable: true,
    defaultValue: 'paypal_external',
    description: 'The company that keeps the wallet.',
  })
  provider?: WalletProvider | null;
}

const ActivateAccountInput = idInputOf('ActivateAccount', 'account');
const DeactivateAccountInput = idInputOf('DeactivateAccount', 'account');
const HoldTestAccountInput = idInputOf('HoldTestAccount', 'account');
const DeactivateTestAccountInput = idInputOf('DeactivateTestAccount', 'account');
const ExpireTestAddressInput = idInputOf('ExpireTestAddress', 'address');
const DeactivateTestAddressInput = idInputOf('DeactivateTestAddress', 'address');

const CreateTestWalletPayload = payloadOf('CreateTestWallet', 'address', Address);
const ActivateAccountPayload = payloadOf('ActivateAccount', 'account', Account);
const DeactivateAccountPayload = payloadOf('DeactivateAccount', 'account', Account);
const VerifyTestAccountPayload = payloadOf('VerifyTestAccount', 'account', Account);
const HoldTestAccountPayload = payloadOf('HoldTestAccount', 'account', Account);
const DeactivateTestAccountPayload = payloadOf('DeactivateTestAccount', 'account', Account);
const ExpireTestAddressPayload = payloadOf('ExpireTestAddress', 'address', Address);
const DeactivateTestAddressPayload = payloadOf('DeactivateTestAddress', 'address', Address);

@Resolver(() => Account)
export class ActivationResolver {
  /** Submits an account for activation. Spec: Activate an Account. */
  @Mutation(() => ActivateAccountPayload, {
    description:
      'Submits an account for activation. A platform activates its connected users; a platform or direct user ' +
      'activates its partners. See `Account.requirements`.',
  })
  async activateAccount(@Input(() => ActivateAccountInput) { id }: ById, @Ctx() context: Context) {
    const row = await context.scope.one(account, id);
    if (!related(context.caller, activatedBy, row)) {
      throw new DomainError(
        problem(
          'permission_denied',
          'account.id',
          'A connected user is activated by its platform, a partner by a platform or a direct user, a platform ' +
            'or direct user by the operator.',
        ),
      );
    }
    const from: readonly AccountStatus[] = accountMoves.activate[row.kind as keyof typeof accountMoves.activate] ?? [];
    if (!from.includes(row.status)) throw new DomainError(problem('status_invalid', 'account.status'));
    const problems = await requirementsOf(context, row);
    if (problems.length > 0) throw new DomainError(...problems);
    // The version pins the row on which the prerequisites were checked: a change in the meantime is a conflict.
    return {
      account: await context.write('move_account', account, { id, from, to: 'verifying', version: row.version }),
    };
  }

  /** Deactivates a partner. Spec: Deactivate an Account. */
  @Mutation(() => DeactivateAccountPayload, {
    description: 'Deactivates a partner, and its receiving addresses with it.',
  })
  async deactivateAccount(@Input(() => DeactivateAccountInput) { id }: ById, @Ctx() context: Context) {
    const row = await context.scope.one(account, id);
    if (row.kind !== 'partner')
      throw new DomainError(
        problem(
          'account_type_invalid',
          'account.type',
          'Only accounts of type partner can be deactivated. Name a partner.',
        ),
      );
    return {
      account: await context.write('move_account', account, { id, from: accountMoves.deactivate, to: 'deactivated' }),
    };
  }

  @Mutation(() => VerifyTestAccountPayload, {
    description: 'Test helper: settles the verification of an account, or lifts its hold.',
  })
  async verifyTestAccount(
    @Input(() => VerifyTestAccountInput) { id, outcome }: VerifyTestAccountInput,
    @Ctx() context: Context,
  ) {
    await context.scope.one(account, id);
    const to = outcome ?? 'activated';
    return { account: await context.write('move_account', account, { id, from: accountMoves.verify[to], to }) };
  }

  @Mutation(() => HoldTestAccountPayload, { description: 'Test helper: puts an account on hold.' })
  async holdTestAccount(@Input(() => HoldTestAccountInput) { id }: ById, @Ctx() context: Context) {
    await context.scope.one(account, id);
    return { account: await context.write('move_account', account, { id, from: accountMoves.hold, to: 'hold' }) };
  }

  @Mutation(() => DeactivateTestAccountPayload, { description: 'Test helper: deactivates an account of any type.' })
  async deactivateTestAccount(@Input(() => DeactivateTestAccountInput) { id }: ById, @Ctx() context: Context) {
    await context.scope.one(account, id);
    return {
      account: await context.write('move_account', account, { id, from: accountMoves.close, to: 'deactivated' }),
    };
  }

  @Mutation(() => ExpireTestAddressPayload, { description: 'Test helper: expires an address.' })
  async expireTestAddress(@Input(() => ExpireTestAddressInput) { id }: ById, @Ctx() context: Context) {
    await context.scope.one(address, id);
    return { address: await context.write('move_address', address, { id, from: ['activated'], to: 'expired' }) };
  }

  @Mutation(() => DeactivateTestAddressPayload, { description: 'Test helper: deactivates an address.' })
  async deactivateTestAddress(@Input(() => DeactivateTestAddressInput) { id }: ById, @Ctx() context: Context) {
    await context.scope.one(address, id);
    return {
      address: await context.write('move_address', address, {
        id,
        from: ['activated', 'expired', 'pending_deactivation'],
        to: 'deactivated',
      }),
    };
  }

  @Mutation(() => CreateTestWalletPayload, {
    description: 'Test helper: creates a wallet of any provider that a partner pays from. Returns its address.',
  })
  async createTestWallet(
    @Input(() => CreateTestWalletInput) { id, provider }: CreateTestWalletInput,
    @Ctx() context: Context,
  ) {
    const owner = await context.scope.one(account, id, 'address.id');
    if (owner.kind !== 'partner')
      throw new DomainError(
        problem(
          'account_type_invalid',
          'address.id',
          'Only a partner pays from a wallet. Name an address of a partner.',
        ),
      );
    const args = { accountId: id, provider: provider ?? 'paypal_external', currency: context.edition.currency };
    return { address: await context.write('create_test_wallet', address, args) };
  }
}

/** The requirements that an account still misses for its activation, as the graph shows them. */
export async function requirements(row: AccountRow, context: Context): Promise<ActivationRequirement[]> {
  return (await requirementsOf(context, row)).map(shownRequirement);
}

/** A requirement that is not met, as the graph shows it. */
export function shownRequirement(p: Problem): ActivationRequirement {
  return {
    fieldName: p.field ?? '',
    code: p.code,
    path: pathInGraph(p.field ?? ''),
    message: sentenceOfGraph(p),
    alternatives: (p.metadata?.alternatives as string[]) ?? [],
  };
}

/** The rules of its edition that an account does not meet. Roots have none: the operator decides about them. */
export function requirementsIn(edition: Pick<Edition, 'activation'>, profile: OnboardingProfile): Problem[] {
  const rules = edition.activation[profile.account.kind];
  return rules ? unmet(rules, profile) : [];
}

async function requirementsOf({ scope, edition }: Context, row: AccountRow): Promise<Problem[]> {
  if (!edition.activation[row.kind]) return [];
  const [persons, addresses, [idDocument = null]] = await Promise.all([
    scope.all(person, person.accountId, row.id),
    scope.all(address, address.linkedId, row.id),
    // All files of the tenant count, for every caller: the requirements do not depend on who uploaded a file.
    scope.all(file, file.id, row.supportingDocumentation.idDocument ?? ''),
  ]);
  return requirementsIn(edition, { account: row, persons, addresses, idDocument });
}
