import { Mutation, Ctx, Resolver } from 'type-graphql';
import { CreateAddressPayload, UpdateAddressPayload, Address } from './type.js';
import { CreateAddressInput, UpdateAddressInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { DomainError, problem } from '../../errors/problems.js';
import { related, ownAccounts } from '../../auth/permissions.js';
import { checkFiles, verificationPurposes } from '../file/reference.js';
import { bankDetailsOf, lastFour } from './rules.js';
import { address } from './table.js';

@Resolver(() => Address)
export class AddressResolver {
  /** Creates a payout address, activated at once. Spec: Create an Address. */
  @Mutation(() => CreateAddressPayload, {
    description: 'Creates a payout address. Payouts of a currency use the newest address; it replaces the older ones.',
  })
  async createAddress(@Input(() => CreateAddressInput) input: CreateAddressInput, @Ctx() context: Context) {
    const owner = await context.scope.one(account, input.linkedId, 'address.linked_id');
    if (owner.kind === 'partner')
      throw new DomainError(
        problem('parameter_invalid', 'address.linked_id', 'must be an account of type user or platform'),
      );
    if (!related(context.caller, ownAccounts, owner)) {
      throw new DomainError(
        problem(
          'permission_denied',
          'address.linked_id',
          'A payout address is created by the user itself, or by its platform. Use a key of one of them.',
        ),
      );
    }
    const documents = input.supportingDocumentation;
    await checkFiles(context.scope, [
      {
        id: documents?.idDocument,
        field: 'address.supporting_documentation.id_document',
        purposes: verificationPurposes,
      },
    ]);
    const { linkedObject: _, bankAccount, billingDetails, supportingDocumentation, ...rest } = input;
    const bank = bankDetailsOf(bankAccount);
    const row = await context.write('create_address', address, {
      ...rest,
      bankAccount: { ...bank, last4: lastFour(bank.number ?? bank.iban) },
      billingDetails,
      supportingDocumentation: supportingDocumentation ?? null,
      // With its own key, also on behalf of the user.
      byPlatform: context.caller.kind === 'platform',
    });
    return { address: row };
  }

  /** Changes an address's metadata. Spec: Endpoints, POST /v1/addresses/:id. */
  @Mutation(() => UpdateAddressPayload, { description: 'Changes the metadata of an address.' })
  async updateAddress(@Input(() => UpdateAddressInput) input: UpdateAddressInput, @Ctx() context: Context) {
    const { id, metadata } = input;
    const before = await context.scope.one(address, id);
    if (metadata === undefined) return { address: before };
    return { address: await context.write('update_address', address, { id, metadata }) };
  }
}
