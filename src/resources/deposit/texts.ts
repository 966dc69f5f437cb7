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
