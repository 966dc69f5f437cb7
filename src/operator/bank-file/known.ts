import { and, eq, or, sql } from 'drizzle-orm';
import { type Operator, OperatorError } from '../operator.js';
import { bankNotice, type BankNoticeRow } from '../table.js';
import type { FileLine } from './line.js';
import { bankFile, bankLine, type BankLineRow, type PartedEntry } from './table.js';

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

/** The key of the entry of which a line is a transfer; undefined for a line that is all of its entry. */
export const keyOfEntry = ({ entry, ...line }: PartedEntryOf): string | undefined =>
  entry && keyOf({ ...line, ...entry, amount: BigInt(entry.amount) });

/** An entry, and what it has in common with its transfers. */
type PartedEntryOf = Pick<Compared, 'currency' | 'day' | 'account' | 'isReversal'> & {
  entry?: PartedEntry | undefined;
};

/**
 * The entries that other files have in another form, by their keys: those that a line is all of and that the other file
 * has by their transfers, and those whose transfers lines are and that are booked as a whole.
 */
export async function otherForms(
  operator: Operator,
  lines: readonly (Compared & Pick<FileLine, 'details'>)[],
  fileId: string,
): Promise<{ byTransfers: Set<string>; asWhole: Set<string> }> {
  const references = lines.flatMap(({ reference, details }) => (details.entry ? [] : (reference ?? [])));
  const entries = lines.flatMap(({ details, day }) => (details.entry ? [{ ...details.entry, day }] : []));
  const byTransfers = new Set<string>();
  const asWhole = new Set<string>();
  if (references.length > 0)
    for (const row of await operator.read<PartedEntryOf>(
      'operator_bank_lines_of_entries',
      (db) =>
        // An entry may have tens of thousands of transfers.
        db
          .selectDistinct({
            ...{ currency: bankLine.currency, day: bankLine.day, account: bankLine.account },
            ...{ isReversal: bankLine.isReversal, entry: sql<PartedEntry>`details -> 'entry'`.as('entry') },
          })
          .from(bankLine)
          .where(
            and(sql`details ? 'entry' and details #>> '{entry,reference}' = any(${texts('references')})`, ofOtherFiles),
          ),
      { references, fileId },
    ))
      byTransfers.add(keyOfEntry(row)!);
  if (entries.length > 0)
    for (const row of await operator.read<BankLineRow>(
      'operator_bank_lines_as_whole',
      (db) =>
        db
          .select()
          .from(bankLine)
          .where(
            and(
              sql`(${bankLine.reference}, ${bankLine.amount}::text, ${bankLine.day}) in
                (select * from unnest(${texts('references')}, ${texts('amounts')}, ${texts('days')}))`,
              sql`${bankLine.reference} = any(${texts('references')})`,
              sql`${bankLine.state} in ('matched', 'booked')`,
              ofOtherFiles,
            ),
          ),
      {
        fileId,
        references: entries.map(({ reference }) => reference),
        amounts: entries.map(({ amount }) => amount),
        days: entries.map(({ day }) => day),
      },
    ))
      asWhole.add(keyOf(row));
  return { byTransfers, asWhole };
}

/** Refuses to book a line that is all of an entry of which another file has the transfers. */
export async function refuseBesideTransfers(operator: Operator, line: BankLineRow): Promise<void> {
  const { byTransfers } = await otherForms(operator, [line], line.fileId);
  if (byTransfers.has(keyOf(line)))
    throw new OperatorError(
      'Another file has the transfers of this entry, which are lines of their own. Record this one as returned.',
      'state_conflict',
      'bank_line.id',
    );
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
