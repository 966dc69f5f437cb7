import { createUnionType, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { CheckoutPaymentMethod } from '../checkout/table.js';
import { DepositPaymentMethod } from '../deposit/table.js';

/** Every way to pay, for deposits, attempts and checkouts. Spec: Deposit, payment_method. */
export const PaymentMethod = { ...DepositPaymentMethod } as const;
type Method = (typeof PaymentMethod)[keyof typeof PaymentMethod];

/** What each way to pay is, for the enums that list them. Spec: Deposit, payment_method. */
export const methodDescriptions = {
  AFFIRM: { description: 'Affirm, a buy-now-pay-later wallet. Edition 1 only.' },
  AFTERPAY: { description: 'Afterpay, a buy-now-pay-later wallet. Edition 1 only.' },
  CARD: { description: 'A card. Edition 2 only.' },
  CHECK: { description: 'A check. Edition 1 only.' },
  DOMESTIC_CREDIT: { description: 'A domestic bank transfer, such as ACH credit. Edition 1 only.' },
  DOMESTIC_DEBIT: { description: 'A domestic debit, such as ACH debit. Edition 1 only.' },
  DOMESTIC_FAST_CREDIT: { description: 'A domestic bank transfer that arrives at once. Edition 1 only.' },
  DOMESTIC_WIRE: { description: 'A domestic wire transfer. Both editions.' },
  GLOBAL_WIRE: { description: 'An international wire transfer. Edition 1 only.' },
  KLARNA: { description: 'Klarna, a buy-now-pay-later wallet. Edition 1 only.' },
  UPI: { description: 'UPI. Edition 2 only.' },
} as const;

registerEnumType(PaymentMethod, {
  name: 'PaymentMethod',
  description: 'A way to pay, the same for deposits, attempts to pay and checkouts.',
  valuesConfig: methodDescriptions,
});

/** The method for a checkout's method, which the specification names in the plural. Spec: Checkout. */
export const methodOfCheckout = (method: CheckoutPaymentMethod): Method => (method === 'cards' ? 'card' : method);

@ObjectType({ simpleResolvers: true, description: 'The card with which somebody has paid; never its complete number.' })
class CardDetails {
  @Field(() => String, { nullable: true, description: 'The brand of the card, such as `visa`.' })
  brand: string | null;
  @Field(() => String, { nullable: true, description: 'The last four digits of the number.' })
  last4: string | null;
  @Field(() => Int, { nullable: true, description: 'The month in which the card expires, from 1 to 12.' })
  expiryMonth: number | null;
  @Field(() => Int, { nullable: true, description: 'The year in which the card expires, such as 2031.' })
  expiryYear: number | null;
}

@ObjectType({ simpleResolvers: true, description: 'The UPI address from which somebody has paid.' })
class UpiDetails {
  @Field(() => String, { nullable: true, description: 'The virtual payment address, such as `priya@okbank`.' })
  vpa: string | null;
}

/** The details of a payment by its method. Silent: all fields. */
export const PaymentMethodDetails = createUnionType({
  name: 'PaymentMethodDetails',
  description: 'What is known of a payment beyond its method: of a card, or of a UPI address.',
  types: () => [CardDetails, UpiDetails] as const,
  resolveType: (value) => ('vpa' in value ? 'UpiDetails' : 'CardDetails'),
});

/** The stored details, under the name of their method. */
type Stored = object | null;

/** The details of a row as the graph shows them; null for other methods. */
export function methodDetailsOf({ paymentMethodDetails }: { paymentMethodDetails: Stored }) {
  const { card, upi } = (paymentMethodDetails ?? {}) as Record<string, Record<string, unknown> | undefined>;
  if (upi) return { vpa: upi.vpa ?? null };
  if (!card) return null;
  const { brand = null, last4 = null, expiry_month: expiryMonth = null, expiry_year: expiryYear = null } = card;
  return { brand, last4, expiryMonth, expiryYear };
}

/** Descriptions that the types with a payment method share. */
export const methodTexts = {
  method: 'The way in which it was paid.',
  details: 'The card or the UPI address with which it was paid. Null for other methods.',
  deprecated: 'Since 0.3.0 deposits, attempts and checkouts have one enum of methods: use `method`.',
  deprecatedDetails: 'Since 0.3.0 the details have fields of their own: use `methodDetails`.',
} as const;
