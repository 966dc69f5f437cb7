import { sql, and, eq, desc } from 'drizzle-orm';
import type { Context } from '../../operation/context.js';
import type { CreateDepositInput, DepositPartyInput, ReconcileDepositInput } from './inputs.js';
import { type AccountRow, account, type AccountKind } from '../account/table.js';
import { address } from '../address/table.js';
import { DomainError, problem, type Problem } from '../../errors/problems.js';

/**
 * The accounts and addresses of a deposit. When the request names a receiving account at most, the write itself checks
 * it and finds its address: a statement less.
 */
export async function partiesOf(context: Context, input: CreateDepositInput) {
  if (!input.to?.addressId && !input.from?.accountId && !input.from?.addressId) {
    const toAccountId = input.to?.accountId || context.caller.actingAccountId;
    return {
      toAccountId,
      toAddressId: null,
      fromAccountId: null,
      fromAddressId: null,
      visibleTo: context.scope.visibleTo,
    };
  }
  const to = await (input.to?.addressId ? namedDestination : destination)(context, input);
  const from = await sourceOf(context, input.from, to.account);
  return {
    toAccountId: to.account.id,
    toAddressId: to.addressId,
    fromAccountId: from?.account.id ?? null,
    fromAddressId: from?.addressId ?? null,
  };
}

/** The destination of a deposit: the receiving account, and its address. */
interface Destination {
  account: Pick<AccountRow, 'id' | 'actingAccountId'>;
  addressId: string;
}

/**
 * The receiving account, and its newest usable address, preferably in the deposit's currency. Refuses with 402 when
 * there is none. `deposit_destination` in drizzle/functions has the same rule.
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
            eq(address.tenantId, p('tenantId')),
            eq(address.livemode, p('livemode')),
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
        v1: 'must be an address of deposit.to.account_id',
        graph: 'must be an address of to.accountId',
      }),
    );
  // Earlier releases opened fee advance addresses without details, where no money can arrive.
  const takesMoney =
    named.category === 'service_receive' || (named.category === 'service_fee_advance' && named.bankAccount !== null);
  if (named.status !== 'activated' || !takesMoney)
    throw new DomainError(problem('address_unusable', 'deposit.to.address_id'));
  return { account: owner, addressId: named.id };
}

/**
 * The paying account. It must have the same acting account as the receiving one, because money comes only from own
 * partners.
 */
async function sourceOf(
  { scope, caller }: Context,
  from: DepositPartyInput | null | undefined,
  to: Destination['account'],
): Promise<{ account: AccountRow; addressId: string | null } | null> {
  if (!from?.accountId && !from?.addressId) return null;
  const named = from.addressId ? await scope.one(address, from.addressId, 'deposit.from.address_id') : undefined;
  const payer = await scope.one(account, from.accountId || named!.linkedId, 'deposit.from.account_id');
  if (named && named.linkedId !== payer.id)
    throw new DomainError(
      problem('parameter_invalid', 'deposit.from.address_id', {
        v1: 'must be an address of deposit.from.account_id',
        graph: 'must be an address of from.accountId',
      }),
    );
  const itself = caller.kind === 'platform' && caller.actingAccountId === caller.accountId;
  const strange = payerProblems(payer, to, 'deposit.from.account_id', itself ? wayForPlatform : '');
  if (strange.length > 0) throw new DomainError(...strange);
  return { account: payer, addressId: named?.id ?? null };
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

/**
 * The account that receives the deposits of an account, by the account's kind: the account itself, or its owner.
 * `receiver_by_kind` in drizzle/functions/shared/rules.sql is generated from it. The SQL functions decide; TypeScript
 * asks in order to refuse before the write.
 */
export const receiverByKind = {
  platform: 'id',
  direct_user: 'id',
  connected_user: 'id',
  partner: 'ownerId',
} as const satisfies Record<AccountKind, 'id' | 'ownerId'>;

/** The account that receives the deposits of an account. */
export function receiverOf(row: Pick<AccountRow, 'kind' | 'id' | 'ownerId'>): string {
  // Only a root account has no owner.
  return row[receiverByKind[row.kind]]!;
}

/** The maximum number of receivables per call of reconcileDeposit; the rest of a deposit needs another call. */
const receivablesMax = 100;

export const reconcileLimits = { receivables: { maxItems: receivablesMax } };

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
