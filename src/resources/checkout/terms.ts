import type { CheckoutPlace } from './link.js';

/** The terms of checkouts that the operator of the deployment has set. */
export interface CheckoutTerms {
  /** How long a checkout can be paid. */
  seconds: number;
  /** How long one attempt may take. */
  attemptSeconds: number;
  /** The fee that is added to the amount, in hundredths of a percent of the amount. */
  feeBasisPoints: number;
}

/** The terms of checkouts, whether they can be paid, and where a checkout's page is. */
export interface Checkouts {
  terms: CheckoutTerms;
  /** Whether an acquirer exists that takes payments for checkouts of a mode. */
  payable(livemode: boolean): boolean;
  /** Whether that acquirer carries out refunds of checkouts. */
  refundable(livemode: boolean): boolean;
  urlOf(place: CheckoutPlace): string;
}

/** The maximum number of attempts to pay one checkout; further ones are refused. */
export const attemptsMax = 30;

/** The terms of checkouts from the settings. */
export function checkoutTermsOf(settings: {
  CHECKOUT_SECONDS: number;
  CHECKOUT_ATTEMPT_SECONDS: number;
  CHECKOUT_FEE_BASIS_POINTS: number;
}): CheckoutTerms {
  return {
    seconds: settings.CHECKOUT_SECONDS,
    attemptSeconds: settings.CHECKOUT_ATTEMPT_SECONDS,
    feeBasisPoints: settings.CHECKOUT_FEE_BASIS_POINTS,
  };
}

/** The amount that the payer pays: the amount of the checkout and the fee, rounded half up to the minor unit. */
export function grossOf(amount: bigint, { feeBasisPoints }: CheckoutTerms): bigint {
  return amount + (amount * BigInt(feeBasisPoints) + 5_000n) / 10_000n;
}
