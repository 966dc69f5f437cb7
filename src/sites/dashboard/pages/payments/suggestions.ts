import { hundredths } from '../../format/money';
import type { nameOf } from '../../session';
import type { Match } from './query';

/** Why a receivable may be what a payment pays, in words. */
export const reasonWords: Readonly<Record<Match['reasons'][number], string>> = {
  REFERENCE: 'Reference matches',
  AMOUNT: 'Same amount',
  PAYER: 'Same payer',
};

/** An open receivable to which a payment could be counted. */
export interface Candidate {
  id: string;
  currency: string;
  amountReconcilable: string;
  customer: Parameters<typeof nameOf>[0] | null;
  invoice: { referenceNumber: string; dueDate: string };
}

/** A candidate, and why it may be the right one. */
export interface Suggestion {
  receivable: Candidate;
  reasons: Match['reasons'];
}

/** The receivables that the gateway has matched with a payment, the best first, and then the others by due date. */
export function suggestionsFor(
  matches: readonly (Pick<Match, 'reasons'> & { receivable: { id: string } })[],
  candidates: readonly Candidate[],
): Suggestion[] {
  const ids = matches.map(({ receivable }) => receivable.id);
  const placeOf = ({ id }: Candidate) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  return candidates
    .toSorted((a, b) => placeOf(a) - placeOf(b) || a.invoice.dueDate.localeCompare(b.invoice.dueDate))
    .map((receivable) => ({ receivable, reasons: matches[placeOf(receivable)]?.reasons ?? [] }));
}

/** What of an amount a receivable can still take: the smaller one of both. */
export function fitting(rest: bigint, receivable: Candidate): bigint {
  const open = hundredths(receivable.amountReconcilable);
  return rest < open ? rest : open;
}
