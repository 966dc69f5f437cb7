import { and, desc, eq, sql } from 'drizzle-orm';
import { Ctx, Mutation, Resolver } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import { address } from '../address/table.js';
import type { Context } from '../../operation/context.js';
import type { Listing } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { type Problem, problem, DomainError } from '../../request/problems.js';
import { receivable } from '../receivable/table.js';
import {
  CreateDepositInput,
  DepositIdInput,
  DisputeTestDepositInput,
  EndTestDepositInput,
  type PartyInput,
  ReconcileDepositInput,
} from './inputs.js';
import { receiverOf } from './receiver.js';
import { type DepositRow, deposit, unreconciledOf } from './table.js';
import { Deposit } from './type.js';
import { Input } from '../../types/input.js';

/** The maximum number of receivables per call of reconcileDeposit; the rest of a deposit needs another call. */
const receivablesMax = 100;

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
      where a.tenant_id = ${sql.placeholder('tenant')} and a.livemode = ${sql.placeholder('live')}
        and a.id = ${name(deposit.fromAccountId)} and a.context_id = ${name(deposit.actingAccountId)}))`,
    metadata: (name) => name(deposit.metadata),
  },
};

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
    const to = await (input.to?.addressId ? namedDestination : destination)(context, input);
    const from = await sourceOf(context, input.from, to.account);
    const row = await context.write('create_deposit', deposit, {
      amount: input.amount,
      currency: input.currency,
      toAccountId: to.account.id,
      toAddressId: to.addressId,
      fromAccountId: from?.account.id ?? null,
      fromAddressId: from?.addressId ?? null,
      paymentMethod: input.paymentMethod ?? 'domestic_credit',
      statementDescriptor: input.statementDescriptor,
      metadata: input.metadata,
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
  processTestDeposit(@Input(() => DepositIdInput) input: DepositIdInput, @Ctx() context: Context) {
    return moved(context, input, ['initialized'], 'processing');
  }

  @Mutation(() => CompleteTestDepositPayload, { description: 'Test helper: completes a deposit now.' })
  completeTestDeposit(@Input(() => DepositIdInput) input: DepositIdInput, @Ctx() context: Context) {
    return moved(context, input, ['initialized', 'processing'], 'completed');
  }

  @Mutation(() => FailTestDepositPayload, { description: 'Test helper: fails a deposit.' })
  failTestDeposit(@Input(() => EndTestDepositInput) input: EndTestDepositInput, @Ctx() context: Context) {
    return moved(context, input, ['initialized', 'processing'], 'failed');
  }

  @Mutation(() => CancelTestDepositPayload, {
    description: 'Test helper: cancels a deposit before it is processed.',
  })
  cancelTestDeposit(@Input(() => EndTestDepositInput) input: EndTestDepositInput, @Ctx() context: Context) {
    return moved(context, input, ['initialized'], 'cancelled');
  }

  @Mutation(() => ReverseTestDepositPayload, {
    description: 'Test helper: reverses the undisputed rest of a completed deposit.',
  })
  reverseTestDeposit(@Input(() => EndTestDepositInput) input: EndTestDepositInput, @Ctx() context: Context) {
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
    return [problem('parameter_invalid', 'deposit.receivables', `has more than ${receivablesMax} entries`)];
  return [
    ...notPositive(amount, 'deposit.amount'),
    ...(receivables ?? []).flatMap((share, i) => notPositive(share.amount, `deposit.receivables[${i}].amount`)),
  ];
}

/** The payer must be the receiving account or one of its partners, never an account of another user. */
export function payerProblems(
  payer: Pick<AccountRow, 'actingAccountId'>,
  to: Pick<AccountRow, 'actingAccountId'>,
  field: string,
  way = '',
): Problem[] {
  return payer.actingAccountId === to.actingAccountId
    ? []
    : [problem('parameter_invalid', field, `must be the receiving user or one of its partners${way}`)];
}

const wayForPlatform =
  '. To receive money of a connected user, name that user in to, or act for it with the header On-Behalf-Of.';

async function moved(context: Context, input: EndTestDepositInput, from: string[], to: string) {
  await context.scope.one(deposit, input.id);
  return { deposit: await context.write('move_deposit', deposit, { ...input, from, to }) };
}

/** The destination of a deposit: the receiving account, and its address. */
interface Destination {
  account: Pick<AccountRow, 'id' | 'actingAccountId'>;
  addressId: string;
}

/**
 * The receiving account, and its newest usable address, preferably in the deposit's currency. Refuses with 402 when
 * there is none.
 */
async function destination({ scope, caller }: Context, { to, currency }: CreateDepositInput): Promise<Destination> {
  const [found] = await scope.readFrom<{ account: Destination['account']; addressId: string | null }>(
    'deposit_destination',
    (db, visible) => {
      const p = sql.placeholder;
      const usable = db
        .select({ id: address.id })
        .from(address)
        .where(
          and(
            eq(address.tenantId, p('tenant')),
            eq(address.livemode, p('live')),
            eq(address.linkedId, account.id),
            eq(address.category, 'service_receive'),
            eq(address.status, 'activated'),
          ),
        )
        .orderBy(desc(sql`${address.currency} = ${p('currency')}`), desc(address.created), desc(address.id))
        .limit(1);
      return db
        .select({
          account: { id: account.id, actingAccountId: account.actingAccountId },
          addressId: sql<string | null>`(${usable})`,
        })
        .from(account)
        .where(visible(account));
    },
    { id: to?.accountId || caller.actingAccountId, currency },
  );
  if (!found) throw new DomainError(problem('resource_missing', 'deposit.to.account_id'));
  if (found.addressId === null) throw new DomainError(problem('address_unusable', 'deposit.to.account_id'));
  return { account: found.account, addressId: found.addressId };
}

/**
 * The destination when the input names the address. A platform's fee advance address must be named: it is never a
 * default.
 */
async function namedDestination({ scope }: Context, { to }: CreateDepositInput): Promise<Destination> {
  const named = await scope.one(address, to!.addressId!, 'deposit.to.address_id');
  const owner = await scope.one(account, to!.accountId || named.linkedId, 'deposit.to.account_id');
  if (named.linkedId !== owner.id)
    throw new DomainError(
      problem('parameter_invalid', 'deposit.to.address_id', {
        v1: 'does not belong to deposit.to.account_id',
        graph: 'does not belong to to.accountId',
      }),
    );
  if (named.status !== 'activated' || !['service_receive', 'service_fee_advance'].includes(named.category))
    throw new DomainError(problem('address_unusable', 'deposit.to.address_id'));
  return { account: owner, addressId: named.id };
}

/**
 * The paying account. It must have the same acting account as the receiving one, because money comes only from own
 * partners.
 */
async function sourceOf(
  { scope, caller }: Context,
  from: PartyInput | null | undefined,
  to: Destination['account'],
): Promise<{ account: AccountRow; addressId: string | null } | null> {
  if (!from?.accountId && !from?.addressId) return null;
  const named = from.addressId ? await scope.one(address, from.addressId, 'deposit.from.address_id') : undefined;
  const payer = await scope.one(account, from.accountId || named!.linkedId, 'deposit.from.account_id');
  if (named && named.linkedId !== payer.id)
    throw new DomainError(
      problem('parameter_invalid', 'deposit.from.address_id', {
        v1: 'does not belong to deposit.from.account_id',
        graph: 'does not belong to from.accountId',
      }),
    );
  const itself = caller.kind === 'platform' && caller.actingAccountId === caller.accountId;
  const strange = payerProblems(payer, to, 'deposit.from.account_id', itself ? wayForPlatform : '');
  if (strange.length > 0) throw new DomainError(...strange);
  return { account: payer, addressId: named?.id ?? null };
}
