import { type Problem, problem } from '../../../errors/problems.js';

/** A call of a function that writes. */
interface Write {
  fn: string;
  args: object;
}

/** What a row of a trial would write; `row` is its place in its batch. */
export interface TriedWrite extends Write {
  row: number;
}

/** Thrown in place of a write, with what would have been written. */
export class Tried extends Error {
  constructor(
    readonly fn: string,
    readonly args: object,
  ) {
    super('A write was tried.');
  }
}

/** The arguments of the functions that imports call, as far as rows are compared by them. */
interface ComparedArguments {
  unlessSeen?: boolean;
  accountId?: string;
  customerId?: string | null;
  invoice?: { referenceNumber: string };
  ownerId?: string;
  nickname?: string | null;
  businessDetails?: { legalName?: string | null; physicalAddress?: Record<string, string | null> | null } | null;
}

/** What `refuse_seen_receivable` and `refuse_seen_partner` compare, as one text; null where they compare nothing. */
export function comparedBy({ fn, args }: Write): string | null {
  const { unlessSeen, accountId, customerId, invoice, ownerId, businessDetails } = args as ComparedArguments;
  if (!unlessSeen) return null;
  if (fn === 'create_receivable')
    return customerId ? JSON.stringify([accountId, customerId, invoice!.referenceNumber]) : null;
  const { legalName, physicalAddress } = businessDetails ?? {};
  const address = Object.entries(physicalAddress ?? {}).filter(([, value]) => value != null);
  if (!legalName || address.length === 0) return null;
  return JSON.stringify([ownerId, legalName, address.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
}

/** The problem of a row that was seen before, as the function has it that would have stored the row. */
export const seenBefore = ({ fn }: Write): Problem =>
  problem(
    'seen_before',
    fn === 'create_receivable' ? 'receivable.invoice.reference_number' : 'account.business_details.legal_name',
  );

/** The nickname of a new account, as the database compares it; null where it has none. */
export const nicknameOf = ({ args }: Write): string | null =>
  (args as ComparedArguments).nickname?.normalize('NFKC').trim().toLowerCase() ?? null;
