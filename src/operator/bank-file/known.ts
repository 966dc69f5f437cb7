import { and, eq, or, sql } from 'drizzle-orm';
import type { Operator } from '../operator.js';
import { bankNotice, type BankNoticeRow } from '../table.js';
import type { FileLine } from './line.js';
import { bankFile, bankLine, type BankLineRow } from './table.js';

/* What is known of the transfers of lines already, from other files and without any. */

const { placeholder } = sql;
const texts = (name: string) => sql`${placeholder(name)}::text[]`;

/** Whether two lines are one transfer. A reference that one of two files does not have tells nothing. */
export function isSame(one: Compared, other: Compared): boolean {
  const isUnknown = one.reference === null || other.reference === null;
  return isUnknown
    ? keyOf({ ...one, reference: null }) === keyOf({ ...other, reference: null })
    : keyOf(one) === keyOf(other);
}

export type Compared = Pick<
  FileLine,
  'reference' | 'amount' | 'currency' | 'day' | 'account' | 'direction' | 'isReversal'
>;

/** What makes two lines one transfer. */
export const keyOf = (line: Compared): string =>
  JSON.stringify([
    ...[line.reference, String(line.amount), line.currency, line.day, line.account, line.direction, line.isReversal],
  ]);

/**
 * Lines of other files than this one, of which all lines are stored. An import that was interrupted, or whose file has
 * changed meanwhile, has lines that are never booked.
 */
export const ofOtherFiles = sql`${bankLine.fileId} <> ${placeholder('fileId')} and exists (
  select from ${bankFile} f where f.id = ${bankLine.fileId} and f.stored_at is not null)`;

/** The lines of other files that are known as one of these deposits, or answer one of these payouts, by its id. */
export async function takenBy(
  operator: Operator,
  ids: readonly string[],
  fileId: string,
): Promise<Map<string, BankLineRow[]>> {
  if (ids.length === 0) return new Map();
  const rows = await operator.read<BankLineRow>(
    'operator_bank_lines_taken',
    (db) =>
      db
        .select()
        .from(bankLine)
        .where(
          and(
            or(sql`${bankLine.depositId} = any(${texts('ids')})`, sql`${bankLine.payoutId} = any(${texts('ids')})`),
            sql`${bankLine.state} in ('matched', 'booked', 'seen_before')`,
            ofOtherFiles,
          ),
        ),
    { ids: [...new Set(ids)], fileId },
  );
  const found = new Map<string, BankLineRow[]>();
  for (const row of rows) {
    const id = row.depositId ?? row.payoutId!;
    found.set(id, [...(found.get(id) ?? []), row]);
  }
  return found;
}
/** The notices of received money that tenants have under these references, in live mode. */
export function receiptsOf(
  operator: Operator,
  asked: readonly { tenant: string; reference: string }[],
): Promise<BankNoticeRow[]> {
  return operator.read<BankNoticeRow>(
    'operator_bank_receipts',
    (db) =>
      db
        .select()
        .from(bankNotice)
        .where(
          and(
            sql`(${bankNotice.tenantId}, ${bankNotice.reference}) in
              (select * from unnest(${texts('tenants')}, ${texts('references')}))`,
            eq(bankNotice.livemode, sql`true`),
            sql`${bankNotice.event} = 'received'`,
          ),
        ),
    { tenants: asked.map(({ tenant }) => tenant), references: asked.map(({ reference }) => reference) },
  );
}
