const capitals: Record<string, string> = {
  api: 'API',
  upi: 'UPI',
  ach: 'ACH',
  id: 'ID',
  dba: 'DBA',
  gst: 'GST',
  line1: 'line 1',
  url: 'URL',
};

/** A constant of the graph in words: `DOMESTIC_FAST_CREDIT` becomes `Domestic fast credit`. */
export function words(constant: string): string {
  const text = constant
    .toLowerCase()
    .split('_')
    .map((word) => capitals[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The type of an event in words: `deposit.completed` becomes `Payment completed`. The payments of the graph that have
 * events are transfers between a user and its platform, and adjustments.
 */
export function eventWords(type: string): string {
  return words(
    type
      .replaceAll('.', '_')
      .replace(/^payment_/, 'transfer_or_adjustment_')
      .replace(/^deposit_/, 'payment_'),
  );
}

/** A number with its noun: `1 payment`, `3 payments`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;
}
