import { Ctx, Mutation, Resolver } from 'type-graphql';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import type { OperatorContext } from '../context.js';
import type { OperatorModule } from '../graph/module.js';
import { DecideTransactionInput, OperatorTransaction } from '../graph/transaction-type.js';
import { decideTransaction } from '../money/attempts.js';

const DecideTransactionPayload = payloadOf('DecideTransaction', 'transaction', OperatorTransaction);

/** What the operator records about attempts to pay. Silent: all of it. */
@Resolver()
class OperatorTransactions {
  @Mutation(() => DecideTransactionPayload, {
    description:
      'Records what the acquirer says of an attempt in live mode, as a report of it would: for an attempt about ' +
      'which the acquirer is not asked any more. The same again changes nothing.',
  })
  async decideTransaction(
    @Input(() => DecideTransactionInput) { id, outcome, amount, currency }: DecideTransactionInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const decision = { status: outcome, amount: amount ?? undefined, currency: currency ?? undefined };
    return { transaction: await decideTransaction(operator, id, decision) };
  }
}

export default {
  resolvers: [OperatorTransactions],
  fields: { decideTransaction: 'transaction' },
} satisfies OperatorModule;
