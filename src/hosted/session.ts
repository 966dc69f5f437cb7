import { type AccountRow, account } from '../resources/account/table.js';
import { type AddressRow, address } from '../resources/address/table.js';
import type { Caller } from '../request/caller.js';
import type { CheckoutPlace } from '../resources/checkout/link.js';
import { type CheckoutNow, checkoutNow } from '../resources/checkout/now.js';
import type { ScopeSource } from '../db/doors.js';
import { Scope } from '../db/scope.js';
import { deposit } from '../resources/deposit/table.js';
import { type FileRow, file } from '../resources/file/table.js';
import { type ReceivableRow, receivable, receivableLock } from '../resources/receivable/table.js';
import { type TransactionRow, transaction } from '../resources/transaction/table.js';

/** The data of a payment page. */
export interface Session {
  checkout: CheckoutNow;
  payee: AccountRow;
  logo: FileRow | null;
  /** The address that receives the money; its UPI address is in the code. */
  address: AddressRow;
  receivables: ReceivableRow[];
  /**
   * What each receivable receives, by its id: before the payment by the present amounts, after it as it was credited.
   */
  receives: Map<string, bigint>;
  /** The attempts, newest first. */
  attempts: TransactionRow[];
  /** The time when the money was credited, in epoch seconds; null before that. */
  paidAt: number | null;
}

/** The state that a page shows. */
export type State =
  | { name: 'summary' | 'expired' | 'cancelled' }
  /** In this order: a UPI code is not paid yet; an attempt is with the acquirer; one has failed; one has succeeded. */
  | { name: 'awaiting' | 'confirming' | 'declined' | 'paid'; attempt: TransactionRow };

/**
 * The scope of the payer, a client that has the address of a page: it reads what the page shows and writes attempts.
 */
export function payerScope(database: ScopeSource, { tenantId, livemode }: Omit<CheckoutPlace, 'id'>): Scope {
  const payer: Caller = {
    tenantId,
    livemode,
    edition: 2,
    kind: 'operator',
    permission: 'full',
    keyId: null,
    accountId: '',
    actingAccountId: '',
    actingAccountKind: 'platform',
  };
  return new Scope(payer, database);
}

const logoBytesMax = 1_048_576;

/** Whether a file is an image that a page may show. */
function showable({ purpose, contentType, size }: FileRow): boolean {
  return purpose === 'logo' && contentType.startsWith('image/') && size <= logoBytesMax;
}

/** All data that a page shows, or null when the checkout does not exist. */
export async function sessionOf(scope: Scope, id: string): Promise<Session | null> {
  const checkout = await scope.find(checkoutNow, id);
  if (!checkout) return null;
  const [payee, to, attempts, ...receivables] = await Promise.all([
    scope.one(account, checkout.toAccountId),
    scope.one(address, checkout.toAddressId),
    scope.all(transaction, transaction.checkoutId, id),
    ...checkout.receivableIds.map((receivableId) => scope.one(receivable, receivableId)),
  ]);
  const [logo, credit, locks] = await Promise.all([
    scope.find(file, payee.logoId),
    scope.find(deposit, checkout.depositId),
    checkout.depositId === null ? undefined : scope.all(receivableLock, receivableLock.depositId, checkout.depositId),
  ]);
  const receives = locks
    ? new Map(locks.map((lock) => [lock.receivableId, BigInt(lock.amount)]))
    : expected(checkout.amount, receivables);
  const shown = logo && showable(logo) ? logo : null;
  return {
    checkout,
    payee,
    address: to,
    attempts,
    receivables,
    receives,
    logo: shown,
    paidAt: credit?.created ?? null,
  };
}

/** What receivables would receive of an amount now: in their order, each what it can still take. */
function expected(amount: bigint, receivables: ReceivableRow[]): Map<string, bigint> {
  let left = amount;
  return new Map(
    receivables.map(({ id, amountReconcilable }) => {
      const able = amountReconcilable ?? 0n;
      const receives = able < left ? able : left;
      left -= receives;
      return [id, receives];
    }),
  );
}

/** The key of the state that a checkout's page shows, or undefined when the checkout does not exist. */
export async function stateAt(scope: Scope, id: string): Promise<string | undefined> {
  const [checkout, attempts] = await Promise.all([
    scope.find(checkoutNow, id),
    scope.all(transaction, transaction.checkoutId, id),
  ]);
  return checkout ? stateKey(stateOf(checkout, attempts)) : undefined;
}

/** The state that a page shows. It depends only on stored data, so every tab and every process shows the same. */
export function stateOf(checkout: CheckoutNow, attempts: TransactionRow[]): State {
  const credited = attempts.find((t) => t.depositId !== null && t.depositId === checkout.depositId);
  if (credited) return { name: 'paid', attempt: credited };
  const open = attempts.filter((t) => t.status === 'processing' && t.expiresAt > checkout.now);
  // A card is submitted to the acquirer when its attempt begins. A code waits until a payer scans it.
  const submitted = open.find((t) => t.paymentMethod === 'card' || t.paymentMethodDetails !== null);
  if (submitted) return { name: 'confirming', attempt: submitted };
  if (checkout.status === 'expired' || checkout.status === 'cancelled') return { name: checkout.status };
  const [latest] = attempts;
  if (!latest) return { name: 'summary' };
  return { name: open.includes(latest) ? 'awaiting' : 'declined', attempt: latest };
}

/** A state as one text, which changes whenever the page must change. */
export function stateKey(state: State): string {
  return 'attempt' in state ? `${state.name}:${state.attempt.id}` : state.name;
}
