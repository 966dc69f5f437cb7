import { hundredths } from '../../format/money';

/** An open receivable to which a payment could be counted. */
export interface Candidate {
  id: string;
  currency: string;
  amountReconcilable: string;
  invoice: { referenceNumber: string; dueDate: string };
  deposits: readonly { fromAccount: { id: string } | null }[];
}

/** A candidate, and why it may be the right one. */
export interface Suggestion {
  receivable: Candidate;
  reasons: string[];
}

/** Sorts receivables by how well they match a payment: the reference first, then the amount, then the payer. */
export function suggestionsFor(
  payment: { pendingRest: string; statementDescriptor: string; fromAccount: { id: string } | null },
  candidates: readonly Candidate[],
): Suggestion[] {
  const descriptor = payment.statementDescriptor.toLowerCase();
  const scored = candidates.map((receivable) => {
    const reference = receivable.invoice.referenceNumber.toLowerCase();
    const named = reference !== '' && descriptor.includes(reference);
    const equal = hundredths(receivable.amountReconcilable) === hundredths(payment.pendingRest);
    const payer =
      payment.fromAccount !== null &&
      receivable.deposits.some(({ fromAccount }) => fromAccount?.id === payment.fromAccount?.id);
    const reasons = [named && 'Reference matches', equal && 'Same amount', payer && 'Same payer'];
    return {
      receivable,
      reasons: reasons.filter((reason) => reason !== false),
      score: (named ? 4 : 0) + (equal ? 2 : 0) + (payer ? 1 : 0),
    };
  });
  return scored.sort(
    (a, b) => b.score - a.score || a.receivable.invoice.dueDate.localeCompare(b.receivable.invoice.dueDate),
  );
}

/** What of an amount a receivable can still take: the smaller one of both. */
export function fitting(rest: bigint, receivable: Candidate): bigint {
  const open = hundredths(receivable.amountReconcilable);
  return rest < open ? rest : open;
}
