import type { PaymentMethodDetails, TransactionReasonCode } from '../resources/transaction/table.js';
import type { Card } from './card.js';

/** What a payer pays with. */
export type Instrument = { card: Card } | { vpa: string };

/**
 * What an acquirer says of an attempt: `processing` while it does not know itself. The sandbox knows beforehand what it will
 * say, and when: after some seconds, or once the checkout has expired.
 */
export type Decision = {
  afterSeconds?: number;
  afterExpiry?: true;
} & (
  | { status: 'processing' | 'succeeded'; reasonCode?: never }
  | { status: 'failed'; reasonCode: TransactionReasonCode }
);

/**
 * Whoever takes the payer's money: the one place through which a card number leaves this process. A live one brings these
 * three functions, and the UPI address that payers' codes name, which is kept in `vpa` of the partner's `service_checkout`
 * address: money that comes there under an attempt's reference is what `pollStatus` tells of.
 */
export interface Acquirer {
  /** What is wrong with an instrument before it is submitted, in words for the payer. */
  fault(instrument: Instrument): string | undefined;
  /** Submits an attempt. Submitted again under the same id, it is the same attempt. */
  submit(transactionId: string, instrument: Instrument): Promise<Decision>;
  /**
   * What has become of an attempt, however often it is asked; undefined where it has never come, as of a UPI code that nobody
   * has paid. This is how an answer comes that was lost or is late. The details are those that are kept, or of whoever paid.
   */
  pollStatus(
    transactionId: string,
    details: PaymentMethodDetails | null,
  ): Promise<(Decision & { details?: PaymentMethodDetails }) | undefined>;
}

const succeeds: Decision = { status: 'succeeded', afterSeconds: 1 };
const declined: Decision = { status: 'failed', reasonCode: 'declined', afterSeconds: 1 };
const short: Decision = { status: 'failed', reasonCode: 'insufficient_funds', afterSeconds: 1 };
const pending: Decision = { status: 'processing' };
const late: Decision = { status: 'succeeded', afterExpiry: true };

/** The cards of the sandbox. The README's table repeats them. */
export const testCards: Record<string, Decision> = {
  '4242424242424242': succeeds,
  '5555555555554444': succeeds,
  '6074819900004939': succeeds,
  '4000000000000002': declined,
  '4000000000009995': short,
  '4000000000003220': pending,
  '4000000000000341': late,
};

/** The UPI addresses of the sandbox. */
export const testVpas: Record<string, Decision> = {
  'success@test': succeeds,
  'failure@test': declined,
  'insufficient@test': short,
  'pending@test': pending,
  'late@test': late,
};

/** Test mode: known cards and addresses decide what happens, and no others are taken, least of all somebody's real card. */
const sandbox: Acquirer = {
  fault: (instrument) => {
    if (decisionOf(instrument)) return undefined;
    return 'card' in instrument
      ? 'Test mode accepts test cards only, such as 4242 4242 4242 4242.'
      : `Test mode accepts test UPI IDs only: ${Object.keys(testVpas).join(', ')}.`;
  },
  submit: async (_, instrument) => decisionOf(instrument) ?? declined,
  // It keeps nothing: what it decided by is told by the last digits, which are different on every test card.
  pollStatus: async (_, details) => {
    if (details?.upi) return decisionOf({ vpa: details.upi.vpa }) ?? declined;
    if (!details?.card) return undefined;
    const number = Object.keys(testCards).find((n) => n.endsWith(details.card!.last4));
    return number === undefined ? declined : testCards[number];
  },
};

function decisionOf(instrument: Instrument): Decision | undefined {
  const [table, name] = 'card' in instrument ? [testCards, instrument.card.number] : [testVpas, instrument.vpa];
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The acquirer of each mode. Without one of live mode its pages begin nothing, and no live checkout is created. */
export interface Acquirers {
  test: Acquirer;
  live?: Acquirer;
}

/** What this gateway is delivered with: the sandbox, and no acquirer of live mode. An operator brings its own in `main.ts`. */
export const acquirers: Acquirers = { test: sandbox };

/** The acquirer of a mode, if there is one. */
export function acquirerOf(livemode: boolean, { test, live }: Acquirers): Acquirer | undefined {
  return livemode ? live : test;
}
