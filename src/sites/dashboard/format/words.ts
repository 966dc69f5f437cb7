const capitals: Record<string, string> = {
  api: 'API',
  upi: 'UPI',
  ach: 'ACH',
  id: 'ID',
  dba: 'DBA',
  gst: 'GST',
  line1: 'line 1',
  line2: 'line 2',
  url: 'URL',
};

/** What the words of the ledger are for people. */
const plain: Record<string, string> = { INITIALIZED: 'Waiting for payment', LOCKED: 'Matched' };

/** A constant of the graph in words: `DOMESTIC_FAST_CREDIT` becomes `Domestic fast credit`. */
export function words(constant: string): string {
  if (constant in plain) return plain[constant]!;
  const text = constant
    .toLowerCase()
    .split('_')
    .map((word) => capitals[word] ?? word)
    .join(' ');
  return capitalized(text);
}

/** A text that begins with a capital letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What happened, where the name of the event says it in words of the ledger. */
const plainEvents: Readonly<Record<string, string>> = {
  'account.hold': 'Account put on hold',
  'account.verifying': 'Account submitted for verification',
  'deposit.initialized': 'Payment announced',
  'deposit.processing': 'Payment on its way',
  'deposit.reconciled': 'Payment matched with invoices',
  'payout.processing': 'Payout on its way',
};

/** The members of an object of /v1 that say what has happened to it. */
interface Happened {
  type?: string;
  amount?: string;
}

/**
 * What an event says in words: `deposit.completed` becomes `Payment completed`. The payments of the graph that have
 * events are transfers and adjustments, as their type says, and a deposit with a negative amount takes money back.
 */
export function eventWords(type: string, object: unknown): string {
  const { type: kind = 'payment', amount = '' } = object as Happened;
  const [noun, verb] = type.split('.') as [string, string];
  if (noun === 'payment') return words(`${kind}_${verb}`);
  const isTakenBack = noun === 'deposit' && amount.startsWith('-');
  if (!isTakenBack) return plainEvents[type] ?? words(`${noun === 'deposit' ? 'payment' : noun}_${verb}`);
  return { completed: 'Money taken back', reversed: 'Money given back' }[verb] ?? words(`payment_${verb}`);
}

const reasonNouns = { REFERENCE: 'reference', AMOUNT: 'amount', PAYER: 'payer' };

/** That a payment was matched by itself, and by what. */
export function matchedWords(reasons: readonly (keyof typeof reasonNouns)[]): string {
  const nouns = reasons.map((reason) => reasonNouns[reason]);
  return `Matched automatically by ${nouns.join(', ').replace(/, (\w+)$/, ' and $1')}`;
}

/** A number with its noun: `1 payment`, `3 payments`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;
}
