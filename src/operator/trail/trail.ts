import { and, desc, eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { isParent } from '../../db/schema/filter-index.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import type { Scope } from '../../db/scope.js';
import { account, type AccountRow } from '../../resources/account/table.js';
import { allocationsOf } from '../../resources/allocation/pages.js';
import type { Allocation } from '../../resources/allocation/type.js';
import { type CheckoutRow, checkout } from '../../resources/checkout/table.js';
import { receiverOf } from '../../resources/deposit/rules.js';
import type { DepositRow } from '../../resources/deposit/table.js';
import { contraEntry, entry, posting } from '../../resources/ledger/table.js';
import { payment } from '../../resources/payment/table.js';
import { type PayoutPlan, planOf } from '../../resources/payout/plan.js';
import type { PayoutRow } from '../../resources/payout/table.js';
import { operatorDeposit } from '../money/bank.js';
import { payoutOf } from '../money/payouts.js';
import type { Operator } from '../operator.js';
import { type BankNoticeRow, bankNotice } from '../table.js';

/** The way of the money of one deposit, or of one payout; its parts are read when they are asked for. */
export interface Trail {
  deposit: DepositRow | null;
  payout: PayoutRow | null;
  /** Reads every object of the tenant and mode. */
  scope: Scope;
}

/** How many of the allocations, and of the postings, a trail has. */
export const partsMax = 50;
/** How many entries are read: one more than `partsMax` postings of two have. */
const entriesMax = 2 * partsMax + 1;

/** The trail of the deposit or the payout with this id. Refuses other ids, and those that are not there. */
export async function trailOf(operator: Operator, id: string, tenantId?: string): Promise<Trail> {
  const payout = id.startsWith('payout_') ? await payoutOf(operator, id) : null;
  const deposit = payout ? null : await operatorDeposit(operator, id, tenantId);
  return { deposit, payout, scope: operator.scope((payout ?? deposit)!) };
}

const p = sql.placeholder;
const ofTenant = (table: Record<keyof TenantAndMode, PgColumn>) =>
  and(eq(table.tenantId, p('tenantId')), eq(table.livemode, p('livemode')));

/** What its bank has said of a deposit: that it arrived, and that it was taken back. The oldest comes first. */
export async function noticesOf({ deposit, scope }: Trail): Promise<BankNoticeRow[]> {
  const reference = deposit?.bankDetails?.reference;
  if (reference === undefined) return [];
  const rows = await scope.read<BankNoticeRow>(
    'trail_notices',
    (db) =>
      db
        .select()
        .from(bankNotice)
        .where(and(ofTenant(bankNotice), eq(bankNotice.reference, p('reference')))),
    { reference },
  );
  return rows.toSorted((one, other) => one.created - other.created);
}

/** The checkout that a deposit came through. */
export async function checkoutOf({ deposit, scope }: Trail): Promise<CheckoutRow | null> {
  if (!deposit) return null;
  return scope.find(checkout, (await scope.find(payment, deposit.paymentId))?.checkoutId);
}

/** What the money counts towards, newest first, and whether there is more of it. */
export async function allocatedIn({ deposit, payout, scope }: Trail) {
  const { nodes, hasNext } = await allocationsOf(scope, deposit ? 'deposit' : 'payout', (deposit ?? payout)!.id, {
    first: partsMax,
  });
  return { nodes: nodes as Allocation[], hasMore: hasNext };
}

/** The account whose payouts pay the money: of a partner's deposit the user who does business with it. */
export async function paidAccount({ deposit, payout, scope }: Trail): Promise<AccountRow> {
  if (payout) return scope.one(account, payout.accountId);
  return scope.one(account, receiverOf(await scope.one(account, deposit!.toAccountId)));
}

/** When and whether the account of a trail is paid out. */
export const planIn = async (trail: Trail): Promise<PayoutPlan> => planOf(trail.scope, (await paidAccount(trail)).id);

/** One side of a posting: a compartment of the balance of an account, or a contra account of the service. */
export interface TrailEntry extends TenantAndMode {
  accountId: string | null;
  compartment: string | null;
  contra: string | null;
  amount: bigint;
  currency: string;
}

export interface TrailPosting {
  id: string;
  kind: string;
  created: number;
  entries: TrailEntry[];
}

/**
 * The postings of the payment of a deposit or payout, the oldest first: those of the newest entries that are read, each
 * with all of its sides. Of most postings two entries are of this payment.
 */
export async function postingsOf({ deposit, payout, scope }: Trail): Promise<TrailPosting[]> {
  const { paymentId, tenantId, livemode } = (deposit ?? payout)!;
  const place = { tenantId, livemode };
  const entries = await scope.read<typeof entry.$inferSelect>(
    'trail_entries',
    (db) =>
      db
        .select()
        .from(entry)
        .where(and(ofTenant(entry), isParent(entry.paymentId, sql`${p('paymentId')}`)))
        .orderBy(desc(entry.created), desc(entry.id))
        .limit(entriesMax),
    { paymentId },
  );
  // The last one that was read may have more entries, which were not.
  const cut = entries.length < entriesMax ? undefined : entries.at(-1)!.postingId;
  const ids = [...new Set(entries.map(({ postingId }) => postingId))].filter((id) => id !== cut).slice(0, partsMax);
  if (ids.length === 0) return [];
  const [postings, contras] = await Promise.all([
    scope.read<typeof posting.$inferSelect>(
      'trail_postings',
      (db) =>
        db
          .select()
          .from(posting)
          .where(and(ofTenant(posting), sql`${posting.id} = any(${p('ids')})`)),
      { ids },
    ),
    scope.read<typeof contraEntry.$inferSelect>(
      'trail_contra_entries',
      (db) =>
        db
          .select()
          .from(contraEntry)
          .where(and(ofTenant(contraEntry), sql`${contraEntry.postingId} = any(${p('ids')})`)),
      { ids },
    ),
  ]);
  const sides = (id: string): TrailEntry[] => [
    ...entries
      .filter(({ postingId }) => postingId === id)
      .toReversed()
      .map(({ accountId, category, amount, currency }) => ({
        ...{ ...place, accountId, compartment: category, contra: null, amount, currency },
      })),
    ...contras
      .filter(({ postingId }) => postingId === id)
      .map(({ contra, amount, currency }) => ({
        ...place,
        accountId: null,
        compartment: null,
        contra,
        amount,
        currency,
      })),
  ];
  return postings
    .map(({ id, kind, created }) => ({ id, kind, created, entries: sides(id) }))
    .toSorted((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1));
}
