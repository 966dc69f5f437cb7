import { payerOf } from '../../graph/payer';
import { nameOf } from '../../session';
import type { Movement, Total } from './query';

/** What a type of payment moved, in words: what came in, and what went out. */
const sums: Record<Total['type'], [paidIn: string, paidOut: string]> = {
  DEPOSIT: ['Payments received', 'Payments taken back'],
  CHECKOUT: ['Checkouts paid', 'Checkouts taken back'],
  PAYOUT: ['Exchanged, or back from payouts', 'Paid out'],
  DISPUTE: ['Disputes won', 'Disputes'],
  TRANSFER: ['Moved in', 'Moved out'],
  REFUND: ['Refunds that failed', 'Refunds'],
  ADJUSTMENT: ['Corrections in your favour', 'Fees and corrections'],
};

/** The sums of a statement as lines: each with its name and amount, those that came in first. */
export function linesOf(totals: readonly Total[], isPlatform: boolean): { name: string; amount: string }[] {
  const named = (type: Total['type']): [string, string] => {
    if (type !== 'TRANSFER') return sums[type];
    return isPlatform ? ['From your users', 'Back to your users'] : ['Back from the platform', 'Moved to the platform'];
  };
  const lines = [
    ...totals.map(({ type, in: { amount } }) => ({ name: named(type)[0], amount })),
    ...totals.map(({ type, out: { amount } }) => ({ name: named(type)[1], amount })),
  ];
  return lines.filter(({ amount }) => amount !== '0.00');
}

interface Told {
  text: string;
  hint?: string | null | undefined;
  /** The bank's own reference. */
  reference?: string | null | undefined;
  href?: string;
}

/** A movement in words: what it is, what else is known of it, and the page that has more. */
export function movementWords(movement: Movement): Told {
  const { payment } = movement;
  const source = payment?.source;
  const paidIn = !movement.amount.amount.startsWith('-');
  if (movement.type === 'TRANSFER') {
    const other = payment?.counterpart ?? payment?.account;
    return { text: paidIn ? 'Moved in' : 'Moved out', hint: other && nameOf(other) };
  }
  if (source?.__typename === 'Deposit') {
    const [given, taken] = movement.type === 'DISPUTE' ? ['Dispute won', 'Dispute'] : ['Payment', 'Payment taken back'];
    const text = paidIn ? given : taken;
    const reference = source.bankDetails?.reference;
    const hint = source.statementDescriptor || source.bankDetails?.text;
    return { text: `${text} · ${payerOf(source)}`, hint, reference, href: `/payments/${source.id}` };
  }
  if (source?.__typename === 'Checkout') {
    return { text: `Checkout · ${nameOf(source.payer)}`, href: `/checkouts/${source.id}` };
  }
  if (source?.__typename === 'Payout') {
    return { text: payoutWords(movement, source), reference: source.bankReference, href: `/payouts/${source.id}` };
  }
  if (source?.__typename === 'Dispute') {
    return { text: paidIn ? 'Dispute won' : 'Dispute', href: `/payments/${source.depositId}` };
  }
  if (source?.__typename === 'Adjustment') return { text: 'Correction', hint: source.reason };
  return { text: sums[movement.type][paidIn ? 0 : 1] };
}

/** A payout is exchanged when it is made, and leaves or comes back later. */
function payoutWords(
  { amount: { amount, currency }, created }: Movement,
  payout: { created: string; sourceCurrency: string; currency: string },
): string {
  const exchanged = payout.sourceCurrency !== payout.currency && created === payout.created;
  if (amount.startsWith('-')) {
    return exchanged && currency === payout.sourceCurrency ? `Exchanged into ${payout.currency}` : 'Paid out';
  }
  return exchanged ? `Exchanged from ${payout.sourceCurrency}` : 'Back from a payout';
}
