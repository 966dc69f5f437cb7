import type { CheckoutPlace } from './link.js';

/** What the operator of the deployment has settled about checkouts. */
export interface CheckoutTerms {
  /** How long a checkout can be paid. */
  seconds: number;
  /** How long one attempt may take. */
  attemptSeconds: number;
  /** What is added to the amount, in hundredths of a percent of it. */
  feeBasisPoints: number;
}

/** The terms of checkouts, whether they can be paid, and where a checkout's page is. */
export interface Checkouts {
  terms: CheckoutTerms;
  /** Whether there is an acquirer that takes the money of a mode's checkouts. */
  payable(livemode: boolean): boolean;
  urlOf(place: CheckoutPlace): string;
}

export const checkoutTermsDefault: CheckoutTerms = { seconds: 86_400, attemptSeconds: 480, feeBasisPoints: 0 };

/** How many attempts to pay one checkout has; further ones are refused. */
export const attemptsMax = 30;

/** The terms that the settings say. */
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

/** What the payer pays: the amount and the fee, rounded half up to the minor unit. */
export function grossOf(amount: bigint, { feeBasisPoints }: CheckoutTerms): bigint {
  return amount + (amount * BigInt(feeBasisPoints) + 5_000n) / 10_000n;
}
