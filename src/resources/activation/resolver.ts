import { Mutation, Ctx, Resolver } from 'type-graphql';
import {
  ActivateAccountPayload,
  DeactivateAccountPayload,
  VerifyTestAccountPayload,
  HoldTestAccountPayload,
  DeactivateTestAccountPayload,
  ExpireTestAddressPayload,
  DeactivateTestAddressPayload,
  CreateTestWalletPayload,
} from './type.js';
import { type ById, Input } from '../../types/input.js';
import {
  ActivateAccountInput,
  DeactivateAccountInput,
  VerifyTestAccountInput,
  HoldTestAccountInput,
  DeactivateTestAccountInput,
  ExpireTestAddressInput,
  DeactivateTestAddressInput,
  CreateTestWalletInput,
} from './inputs.js';
import type { Context } from '../../operation/context.js';
import { account, type AccountStatus } from '../account/table.js';
import { related } from '../../auth/permissions.js';
import { activatedBy, requirementsOf } from './rules.js';
import { DomainError, problem } from '../../errors/problems.js';
import { accountMoves } from '../account/rules.js';
import { address } from '../address/table.js';
import { Account } from '../account/type.js';

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
    description: 'Test helper: decides the verification of an account, or lifts its hold.',
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
