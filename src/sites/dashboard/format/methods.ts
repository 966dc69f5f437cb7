/** The kinds of ways to pay, as charts group them. */
export type Kind = 'Bank transfer' | 'Card or wallet' | 'UPI' | 'Pay later' | 'Check' | 'Other';

const kinds: Readonly<Record<string, Kind>> = {
  DOMESTIC_CREDIT: 'Bank transfer',
  DOMESTIC_DEBIT: 'Bank transfer',
  DOMESTIC_FAST_CREDIT: 'Bank transfer',
  DOMESTIC_WIRE: 'Bank transfer',
  GLOBAL_WIRE: 'Bank transfer',
  CARD: 'Card or wallet',
  UPI: 'UPI',
  AFFIRM: 'Pay later',
  AFTERPAY: 'Pay later',
  KLARNA: 'Pay later',
  CHECK: 'Check',
};

/** The kind of a method of the graph; a later version may have others. */
export const kindOf = (method: string): Kind => kinds[method] ?? 'Other';

/** The ways to pay that the sandbox has in each edition. */
const ofEditions = [
  [
    'DOMESTIC_CREDIT',
    'DOMESTIC_FAST_CREDIT',
    'DOMESTIC_DEBIT',
    'DOMESTIC_WIRE',
    'GLOBAL_WIRE',
    'CHECK',
    'AFFIRM',
    'AFTERPAY',
    'KLARNA',
  ],
  ['UPI', 'CARD'],
] as const;

export const methodsOf = (edition: number) => ofEditions[edition - 1]!;

/** The ways in which money comes: a bank's notice of Edition 2 may be of a wire. */
export const receivedMethodsOf = (edition: number) =>
  edition === 2 ? ([...ofEditions[1], 'DOMESTIC_WIRE'] as const) : ofEditions[0];
