import type { PaymentMethodDetails, TransactionReasonCode } from '../resources/transaction/table.js';
import type { RefundState } from './adapter/protocol.js';
import type { Card } from './card.js';

/**
 * The payment instrument of a payer: in test mode a card, in live mode the acquirer's token for one, or a UPI address.
 */
export type Instrument = { card: Card } | { token: string } | { vpa: string };

/** What the database stores of a card: never a complete number. */
type CardDetails = NonNullable<PaymentMethodDetails['card']>;

/** Money of a successful attempt that goes back to its payer. */
interface AttemptRefund {
  id: string;
  attemptId: string;
  amount: bigint;
  currency: string;
}

/** An attempt to take money. */
interface Attempt {
  id: string;
  amount: bigint;
  currency: string;
}

/**
 * The acquirer's own form for a card. The payment page shows it in a frame, and gets a token from it by a message, so
 * that no card number of a live payment passes through this process.
 */
interface CardFields {
  /** The address of the form. The page frames only its origin, and reads messages of no other. */
  url: string;
  /** The card behind a token, without its number; undefined for a token that the acquirer does not know. */
  cardOf(token: string): Promise<CardDetails | undefined>;
}

/** When the sandbox, which knows it in advance, reports an outcome: after seconds, or after the checkout's expiry. */
interface Delay {
  afterSeconds?: number;
  afterExpiry?: true;
}

type Failed = { status: 'failed'; reasonCode: TransactionReasonCode };

/**
 * The report of an acquirer about an attempt: `processing` while it does not know the outcome, and what it really took,
 * which may be another amount than the attempt's, once it has succeeded.
 */
export type Decision = Delay &
  (
    | { status: 'processing'; reasonCode?: never; amount?: never; currency?: never }
    | { status: 'succeeded'; amount: bigint; currency: string; reasonCode?: never }
    | (Failed & { amount?: never; currency?: never })
  );

/** What the sandbox decides, for attempts of any amount. */
type Outcome = Delay & ({ status: 'processing' | 'succeeded'; reasonCode?: never } | Failed);

/**
 * The acquirer takes the payer's money. An adapter's has card fields if the acquirer takes cards, and the acquirer
 * provides the UPI address in the payers' codes. `pollStatus` reports the money that arrives there with an attempt's
 * reference.
 */
export interface Acquirer {
  /**
   * The form for cards. Without it, pages offer UPI alone. The sandbox has none: the page has its own form.
   */
  cardFields?: CardFields;
  /**
   * The UPI address of an account, which `vpa` of its `service_checkout` address stores at its first code in live mode;
   * undefined when the acquirer gives out none for it. Each call for an account has the same answer.
   */
  vpaOf?(payee: { id: string; name: string }): Promise<string | undefined>;
  /** The fault of an instrument in words for the payer, or undefined; called before the instrument is submitted. */
  fault(instrument: Instrument): string | undefined;
  /** Submits an attempt. A second submission with the same id is the same attempt. */
  submit(attempt: Attempt, instrument: Instrument): Promise<Decision>;
  /**
   * The status of an attempt; may be called any number of times. It is undefined when the acquirer has not received the
   * attempt, such as a UPI code that no payer has paid. This call recovers an answer that was lost or is late. The
   * argument `details` is what the database stores; the returned details are those of the payer who paid.
   */
  pollStatus(
    attempt: Attempt,
    details: PaymentMethodDetails | null,
  ): Promise<(Decision & { details?: PaymentMethodDetails }) | undefined>;
  /**
   * Submits a refund, and says what has become of it; a second submission with the same id is the same refund. Without
   * it, the operator carries refunds out.
   */
  refund?(refund: AttemptRefund): Promise<RefundState>;
  /** Whether it is the sandbox, whose cards and UPI addresses decide the outcome; its pages have a form for these. */
  sandbox?: true;
}

const succeeds: Outcome = { status: 'succeeded', afterSeconds: 1 };
const declined: Outcome = { status: 'failed', reasonCode: 'declined', afterSeconds: 1 };
const short: Outcome = { status: 'failed', reasonCode: 'insufficient_funds', afterSeconds: 1 };
const pending: Outcome = { status: 'processing' };
const late: Outcome = { status: 'succeeded', afterExpiry: true };

/** The cards of the sandbox. The README's table repeats them. */
export const testCards: Record<string, Outcome> = {
  '4242424242424242': succeeds,
  '5555555555554444': succeeds,
  '6074819900004939': succeeds,
  '4000000000000002': declined,
  '4000000000009995': short,
  '4000000000003220': pending,
  '4000000000000341': late,
};

/** The UPI addresses of the sandbox. */
export const testVpas: Record<string, Outcome> = {
  'success@test': succeeds,
  'failure@test': declined,
  'insufficient@test': short,
  'pending@test': pending,
  'late@test': late,
};

/** Test mode: known cards and addresses decide the outcome. It refuses all others, so it never takes a real card. */
const sandbox: Acquirer = {
  sandbox: true,
  fault: (instrument) => {
    if (outcomeOf(instrument)) return undefined;
    return !('vpa' in instrument)
      ? 'Test mode accepts test cards only, such as 4242 4242 4242 4242.'
      : `Test mode accepts test UPI IDs only: ${Object.keys(testVpas).join(', ')}.`;
  },
  submit: async (attempt, instrument) => decided(attempt, outcomeOf(instrument)),
  // The sandbox stores nothing. It finds the test card by the last four digits, which differ on every test card.
  pollStatus: async (attempt, details) => {
    if (details?.upi) return decided(attempt, outcomeOf({ vpa: details.upi.vpa }));
    if (!details?.card) return undefined;
    const number = Object.keys(testCards).find((n) => n.endsWith(details.card!.last4));
    return decided(attempt, number === undefined ? undefined : testCards[number]);
  },
};

/** What the sandbox reports: it takes the amount of the attempt, and refuses what it does not know. */
function decided({ amount, currency }: Attempt, outcome: Outcome = declined): Decision {
  return outcome.status === 'succeeded' ? { ...outcome, status: 'succeeded', amount, currency } : (outcome as Decision);
}

function outcomeOf(instrument: Instrument): Outcome | undefined {
  if ('token' in instrument) return undefined;
  const [table, name] = 'card' in instrument ? [testCards, instrument.card.number] : [testVpas, instrument.vpa];
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The acquirer of each mode. Without a live one, live pages begin no attempt and no live checkout can be created. */
export interface Acquirers {
  test: Acquirer;
  live?: Acquirer;
}

/** The acquirers of a gateway without settings for them: the sandbox, and none for live mode. */
export const acquirers: Acquirers = { test: sandbox };

/** Whether an acquirer decides by cards and UPI addresses that its pages have forms for. No live page has these. */
export const isSandbox = (livemode: boolean, acquirer: Acquirer | undefined): boolean =>
  !livemode && acquirer?.sandbox === true;

/** The acquirer of a mode, or undefined when it has none. */
export function acquirerOf(livemode: boolean, { test, live }: Acquirers): Acquirer | undefined {
  return livemode ? live : test;
}
