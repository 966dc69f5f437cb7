import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import {
  CreateDepositPayload,
  ReconcileDepositPayload,
  ReconcileDepositsPayload,
  ProcessTestDepositPayload,
  CompleteTestDepositPayload,
  FailTestDepositPayload,
  CancelTestDepositPayload,
  ReverseTestDepositPayload,
  DisputeTestDepositPayload,
  RecallTestDepositPayload,
  BankDetails,
  bankDetailsOf,
  Deposit,
} from './type.js';
import {
  CreateDepositInput,
  ReconcileDepositInput,
  ReconcileDepositsInput,
  ProcessTestDepositInput,
  CompleteTestDepositInput,
  FailTestDepositInput,
  CancelTestDepositInput,
  ReverseTestDepositInput,
  DisputeTestDepositInput,
  RecallTestDepositInput,
} from './inputs.js';
import { Input, type ById } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { deposit } from './table.js';
import { partiesOf } from './rules.js';
import { reconciliationOf, refuseMisfits } from './reconciliation.js';
import { idempotency } from '../../operation/table.js';
import { weights } from '../../types/weights.js';
import { problem, DomainError } from '../../errors/problems.js';

/** How long a dispute of the sandbox can be answered: a week, by the test clock. */
const sandboxRespondSeconds = 604_800;

@Resolver(() => Deposit)
export class DepositResolver {
  /** What the bank says of a deposit. Silent: all of it. */
  @Query(() => BankDetails, {
    nullable: true,
    description: 'What the bank says of a deposit that the caller can see. RESOURCE_MISSING where nothing is recorded.',
  })
  async bankDetails(
    @Arg('id', () => ID, { description: 'The id of the deposit.' }) id: string,
    @Ctx() { scope }: Context,
  ): Promise<BankDetails> {
    const details = bankDetailsOf(await scope.one(deposit, id));
    if (details) return details;
    const none = 'No bank has said anything of this deposit.';
    throw new DomainError(problem('resource_missing', 'deposit.id', none));
  }

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
    await refuseMisfits(context.scope, input);
    return { deposit: await context.write('reconcile_deposit', deposit, input) };
  }

  /** Counts several deposits towards receivables, each by itself. Silent: the operation. */
  @Mutation(() => ReconcileDepositsPayload, {
    description:
      'Counts up to 100 completed deposits towards receivables, as `reconcileDeposit` does. A refused one changes ' +
      'nothing, says its problems and leaves the others alone. With an idempotency key, a retry gets the same ' +
      'results. It costs a write for each deposit.',
  })
  async reconcileDeposits(@Input(() => ReconcileDepositsInput) input: ReconcileDepositsInput, @Ctx() context: Context) {
    const deposits = await Promise.all(input.deposits.map((row) => reconciliationOf(context.scope, row)));
    context.budget.charge?.count(weights.write * (deposits.length - 1));
    return { deposit: await context.write('reconcile_deposits', idempotency, { deposits }) };
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
    description:
      'Test helper: opens a dispute of an amount of a deposit, which can be answered for a week. Returns the new ' +
      'deposit, whose amount is negative.',
  })
  async disputeTestDeposit(
    @Input(() => DisputeTestDepositInput) input: DisputeTestDepositInput,
    @Ctx() context: Context,
  ) {
    await context.scope.one(deposit, input.id);
    // An older release beside this one could not read the object: the money is taken without it, as before.
    const object = !(await context.scope.besideOtherReleases()) && { respondInSeconds: sandboxRespondSeconds };
    return { deposit: await context.write('dispute_deposit', deposit, { ...input, ...object }) };
  }

  @Mutation(() => RecallTestDepositPayload, {
    description:
      'Test helper: the bank takes an amount of a deposit back, which cannot be answered as a dispute can. Returns ' +
      'the new deposit, whose amount is negative.',
  })
  async recallTestDeposit(@Input(() => RecallTestDepositInput) input: RecallTestDepositInput, @Ctx() context: Context) {
    await context.scope.one(deposit, input.id);
    return { deposit: await context.write('dispute_deposit', deposit, { ...input }) };
  }
}

async function moved(context: Context, input: ById, from: string[], to: string) {
  await context.scope.one(deposit, input.id);
  return { deposit: await context.write('move_deposit', deposit, { ...input, from, to }) };
}
