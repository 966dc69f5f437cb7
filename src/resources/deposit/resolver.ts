import { sql } from 'drizzle-orm';
import { Ctx, Mutation, Resolver } from 'type-graphql';
import { account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import type { Listing } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import { receivable } from '../receivable/table.js';
import {
  CancelTestDepositInput,
  CreateDepositInput,
  DisputeTestDepositInput,
  FailTestDepositInput,
  ReconcileDepositInput,
  ReverseTestDepositInput,
} from './inputs.js';
import { partiesOf } from './parties.js';
import { receiverOf } from './receiver.js';
import { type DepositRow, deposit, unreconciledOf } from './table.js';
import { Deposit } from './type.js';
import { type ById, idInputOf, Input } from '../../types/input.js';

/** The maximum number of receivables per call of reconcileDeposit; the rest of a deposit needs another call. */
const receivablesMax = 100;
export const reconcileLimits = { receivables: { maxItems: receivablesMax } };

/** How deposits are listed. A filter by account finds the payer's and the payee's. */
export const depositListing: Listing = {
  object: 'deposit',
  filters: {
    accountId: { either: [deposit.toAccountId, deposit.fromAccountId] },
    status: deposit.status,
    paymentMethod: deposit.paymentMethod,
    currency: deposit.currency,
    addressId: deposit.toAddressId,
    unreconciled: { flag: unreconciledOf(deposit.pendingRest) },
  },
  byAccount: ['accountId', 'addressId'],
  parents: [deposit.toAccountId, deposit.fromAccountId],
  hashed: [deposit.toAccountId, deposit.fromAccountId, deposit.toAddressId],
  own: deposit.toAccountId,
  orders: {
    amount: {
      by: (name) => sql`${name(deposit.amount)}`,
      type: 'bigint',
      valueOf: (row: DepositRow) => row.amount,
      key: 'currency',
      because: ', since amounts of several currencies have no common order',
      parents: [deposit.toAccountId],
    },
  },
  exclusive: { addressId: 'address' },
  search: {
    object: 'deposit',
    // The names of a payer on another account's list are not searched: that account does not see them.
    texts: (name) => sql`(array[${name(deposit.statementDescriptor)}] || (
      select array[a.nickname, a.business_details ->> 'legalName'] from account a
      where a.tenant_id = ${sql.placeholder('tenantId')} and a.livemode = ${sql.placeholder('livemode')}
        and a.id = ${name(deposit.fromAccountId)} and a.context_id = ${name(deposit.actingAccountId)}))`,
    metadata: (name) => name(deposit.metadata),
  },
};

const ProcessTestDepositInput = idInputOf('ProcessTestDeposit', 'deposit');
const CompleteTestDepositInput = idInputOf('CompleteTestDeposit', 'deposit');
const CreateDepositPayload = payloadOf('CreateDeposit', 'deposit', Deposit);
const ReconcileDepositPayload = payloadOf('ReconcileDeposit', 'deposit', Deposit);
const ProcessTestDepositPayload = payloadOf('ProcessTestDeposit', 'deposit', Deposit);
const CompleteTestDepositPayload = payloadOf('CompleteTestDeposit', 'deposit', Deposit);
const FailTestDepositPayload = payloadOf('FailTestDeposit', 'deposit', Deposit);
const CancelTestDepositPayload = payloadOf('CancelTestDeposit', 'deposit', Deposit);
const ReverseTestDepositPayload = payloadOf('ReverseTestDeposit', 'deposit', Deposit);
const DisputeTestDepositPayload = payloadOf('DisputeTestDeposit', 'deposit', Deposit);

@Resolver(() => Deposit)
export class DepositResolver {
  /** Creates a deposit in test mode; the sandbox completes it in about a second. Spec: Create a Deposit. */
  @Mutation(() => CreateDepositPayload, {
    description: 'Test mode only: creates a deposit, which the sandbox bank completes in about a second.',
  })
  async createDeposit(@Input(() => CreateDepositInput) input: CreateDepositInput, @Ctx() context: Context) {
    const row = await context.write('create_deposit', deposit, {
      amount: input.amount,
      currency: input.currency,
      paymentMethod: input.paymentMethod ?? 'domestic_credit',
      statementDescriptor: input.statementDescriptor,
      metadata: input.metadata,
      ...(await partiesOf(context, input)),
    });
    return { deposit: row };
  }

  /** Counts a deposit towards receivables. Silent: the operation. */
  @Mutation(() => ReconcileDepositPayload, {
    description:
      'Counts a completed deposit towards receivables: its pending money becomes available, and they are locked.',
  })
  async reconcileDeposit(@Input(() => ReconcileDepositInput) input: ReconcileDepositInput, @Ctx() context: Context) {
    const { scope } = context;
    const row = await scope.one(deposit, input.id);
    const holder = await scope.one(account, row.toAccountId);
    const receiver = receiverOf(holder);
    const rows = await Promise.all(
      input.receivables.map(({ id }, i) => scope.one(receivable, id, `deposit.receivables[${i}].id`)),
    );
    const misfits = rows.flatMap((r, i) => {
      if (r.accountId !== receiver)
        return [
          problem(
            'parameter_invalid',
            `deposit.receivables[${i}].id`,
            'must belong to the account that receives the deposit',
          ),
        ];
      return r.currency === row.currency
        ? []
        : [problem('parameter_invalid', `deposit.receivables[${i}].id`, "must be in the deposit's currency")];
    });
    if (misfits.length > 0) throw new DomainError(...misfits);
    return { deposit: await context.write('reconcile_deposit', deposit, input) };
  }

  @Mutation(() => ProcessTestDepositPayload, { description: 'Test helper: the bank begins to process a deposit.' })
  processTestDeposit(@Input(() => ProcessTestDepositInput) input: ById, @Ctx() context: Context) {
    return moved(context, input, ['initialized'], 'processing');
  }

  @Mutation(() => CompleteTestDepositPayload, { description: 'Test helper: completes a deposit now.' })
  completeTestDeposit(@Input(() => CompleteTestDepositInput) input: ById, @Ctx() context: Context) {
    return moved(context, input, ['initialized', 'processing'], 'completed');
  }

  @Mutation(() => FailTestDepositPayload, { description: 'Test helper: fails a deposit.' })
  failTestDeposit(@Input(() => FailTestDepositInput) input: FailTestDepositInput, @Ctx() context: Context) {
    return moved(context, input, ['initialized', 'processing'], 'failed');
  }

  @Mutation(() => CancelTestDepositPayload, {
    description: 'Test helper: cancels a deposit before it is processed.',
  })
  cancelTestDeposit(@Input(() => CancelTestDepositInput) input: CancelTestDepositInput, @Ctx() context: Context) {
    return moved(context, input, ['initialized'], 'cancelled');
  }

  @Mutation(() => ReverseTestDepositPayload, {
    description: 'Test helper: reverses the undisputed rest of a completed deposit.',
  })
  reverseTestDeposit(@Input(() => ReverseTestDepositInput) input: ReverseTestDepositInput, @Ctx() context: Context) {
    return moved(context, input, ['completed'], 'reversed');
  }

  @Mutation(() => DisputeTestDepositPayload, {
    description: 'Test helper: disputes an amount of a deposit. Returns the new deposit, whose amount is negative.',
  })
  async disputeTestDeposit(
    @Input(() => DisputeTestDepositInput) input: DisputeTestDepositInput,
    @Ctx() context: Context,
  ) {
    await context.scope.one(deposit, input.id);
    return { deposit: await context.write('dispute_deposit', deposit, input) };
  }
}

/** The problems of a deposit or its reconciliation: an amount that is not positive, or too many receivables. */
export function depositProblems({
  amount,
  receivables,
}: {
  amount?: bigint | null;
  receivables?: ReconcileDepositInput['receivables'];
}): Problem[] {
  const notPositive = (value: bigint | null | undefined, field: string) =>
    value != null && value <= 0n ? [problem('parameter_invalid', field, 'must be greater than zero')] : [];
  if (receivables && receivables.length > receivablesMax)
    return [problem('parameter_invalid', 'deposit.receivables', `must have at most ${receivablesMax} entries`)];
  return [
    ...notPositive(amount, 'deposit.amount'),
    ...(receivables ?? []).flatMap((share, i) => notPositive(share.amount, `deposit.receivables[${i}].amount`)),
  ];
}

async function moved(context: Context, input: ById, from: string[], to: string) {
  await context.scope.one(deposit, input.id);
  return { deposit: await context.write('move_deposit', deposit, { ...input, from, to }) };
}
