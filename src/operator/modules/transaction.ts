import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import type { OperatorContext } from '../context.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { PageArgs, pageSizeOf } from '../graph/inputs.js';
import {
  DecideTransactionInput,
  OperatorPendingTransaction,
  OperatorTransaction,
  PendingTransactionPage,
} from '../graph/transaction-type.js';
import { OperatorAccount } from '../graph/type.js';
import { decideTransaction, listPendingAttempts } from '../money/attempts.js';
import type { ListPage } from '../paging.js';

const DecideTransactionPayload = payloadOf('DecideTransaction', 'transaction', OperatorTransaction);

/** What the operator records about attempts to pay. Silent: all of it. */
@Resolver()
class OperatorTransactions {
  @Query(() => PendingTransactionPage, {
    description:
      'The attempts of all tenants in live mode whose time is over and of which the acquirer has not said how they ' +
      'ended, oldest first. It is asked about each for 30 days; then `decideTransaction` names the attempt by its id.',
  })
  pendingTransactions(
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorPendingTransaction>> {
    return listPendingAttempts(operator, after ?? undefined, pageSizeOf('transaction', first));
  }

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

const payee = one(OperatorAccount, account, account.id, 'actingAccountId', 'The account whose checkout it is.');

export default {
  resolvers: [OperatorTransactions],
  fields: { pendingTransactions: 'transaction', decideTransaction: 'transaction' },
  edges: [
    edgesOf(OperatorPendingTransaction, { root, account: payee }),
    edgesOf(OperatorTransaction, { root, account: payee }),
  ],
} satisfies OperatorModule;
