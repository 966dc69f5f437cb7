import { Mutation, Ctx, Resolver, Query } from 'type-graphql';
import { CreateReceivablePayload, UpdateReceivablePayload, VoidReceivablePayload, Receivable } from './type.js';
import { CreateReceivableInput, UpdateReceivableInput, VoidReceivableInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { DomainError, problem } from '../../errors/problems.js';
import { ofPartner, checkCustomer } from './rules.js';
import { checkFiles } from '../file/reference.js';
import { receivable } from './table.js';
import { PurposeCode, purposeCodeList } from './purpose-codes.js';

@Resolver(() => Receivable)
export class ReceivableResolver {
  /** Creates a receivable. Silent: the operation and its required parameters. */
  @Mutation(() => CreateReceivablePayload, {
    description: 'Creates a receivable from an invoice. In live mode the account must be activated.',
  })
  async createReceivable(@Input(() => CreateReceivableInput) input: CreateReceivableInput, @Ctx() context: Context) {
    const { scope, caller } = context;
    const { invoice } = input;
    const maximum = input.amountMaximumReconcilable ?? invoice.amount;
    const owner = await scope.one(account, input.accountId || caller.actingAccountId, 'receivable.account_id');
    if (owner.kind === 'partner')
      throw new DomainError(problem('account_type_invalid', 'receivable.account_id', ofPartner));
    if (owner.livemode && owner.status !== 'activated')
      throw new DomainError(
        problem(
          'status_invalid',
          'receivable.account_id',
          'Only an activated account can create live receivables. Activate the account first.',
        ),
      );
    await checkCustomer(scope, input.customerId, owner.id);
    await checkFiles(scope, [{ id: invoice.document, field: 'receivable.invoice.document', purposes: ['invoice'] }]);
    if (maximum > invoice.amount)
      throw new DomainError(
        problem(
          'amount_exceeds_reconcilable',
          'receivable.amount_maximum_reconcilable',
          'must be at most the amount of the invoice',
        ),
      );
    const row = await context.write('create_receivable', receivable, {
      ...input,
      customerId: input.customerId ?? null,
      accountId: owner.id,
      amountMaximumReconcilable: maximum,
      invoice: { ...invoice, document: invoice.document ?? null },
    });
    return { receivable: row };
  }

  /** Changes a receivable. Spec: Endpoints, POST /v1/receivables/:id. */
  @Mutation(() => UpdateReceivablePayload, {
    description: 'Changes the maximum, the description or the metadata of a receivable.',
  })
  async updateReceivable(@Input(() => UpdateReceivableInput) input: UpdateReceivableInput, @Ctx() context: Context) {
    const before = await context.scope.one(receivable, input.id);
    const { id: _, ...changes } = input;
    await checkCustomer(context.scope, input.customerId, before.accountId);
    if (Object.values(changes).every((value) => value === undefined)) return { receivable: before };
    return {
      receivable: await context.write('update_receivable', receivable, input),
    };
  }

  @Mutation(() => VoidReceivablePayload, {
    description: 'Withdraws a receivable if nothing of it is locked or settled.',
  })
  async voidReceivable(@Input(() => VoidReceivableInput) input: VoidReceivableInput, @Ctx() context: Context) {
    await context.scope.one(receivable, input.id);
    return { receivable: await context.write('void_receivable', receivable, input) };
  }
}

/** The purpose codes that a receivable may have. Silent: the list. */
@Resolver(() => PurposeCode)
export class PurposeCodeResolver {
  @Query(() => [PurposeCode], {
    description: 'The purpose codes that a receivable may have, with their meanings, in the order of the codes.',
  })
  purposeCodes(): readonly PurposeCode[] {
    return purposeCodeList;
  }
}
