import { amountText } from '../../types/scalars.js';
import type { DepositRow } from './table.js';
import type { BankNoticeRow } from '../../operator/table.js';
import { declareKeys, optional, orNull, stated } from '../shape.js';

/** Formats a deposit for /v1. Spec: Deposit. */
export function depositV1(d: DepositRow) {
  return {
    id: d.id,
    object: 'deposit',
    created: d.created,
    livemode: d.livemode,
    amount: amountText(d.amount),
    currency: d.currency,
    from: { account_id: d.fromAccountId, address_id: d.fromAddressId },
    to: { account_id: d.toAccountId, address_id: d.toAddressId },
    payment_method: d.paymentMethod,
    payment_method_details: paymentMethodDetailsV1(d.paymentMethodDetails),
    reason_code: d.reasonCode,
    statement_descriptor: d.statementDescriptor,
    status: d.status,
    metadata: d.metadata,
  };
}

/**
 * Formats the stored details of a card or a UPI address in the order of the specification, because jsonb does not keep
 * the order.
 */
function paymentMethodDetailsV1(details: DepositRow['paymentMethodDetails']) {
  if (!details) return null;
  const { card, upi } = details;
  return {
    ...(card && {
      card: {
        brand: card.brand ?? null,
        last4: card.last4,
        expiry_month: card.expiry_month,
        expiry_year: card.expiry_year,
      },
    }),
    ...(upi && { upi: { vpa: upi.vpa } }),
  };
}

/** Formats a bank's notice for the events of /v1 and for the command line. Silent: all fields. */
export function bankNoticeV1({ reference, event, created, livemode, depositId, content }: BankNoticeRow) {
  return {
    object: 'bank_notice',
    reference,
    event,
    created,
    livemode,
    address_id: content.toAddressId,
    amount: amountText(BigInt(content.amount)),
    currency: content.currency,
    deposit_id: depositId,
  };
}

const text = stated({ type: 'string' });
const number = stated({ type: 'integer' });

declareKeys(depositV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  amount: 'value',
  currency: 'value',
  from: { account_id: 'value or null', address_id: 'value or null' },
  to: { account_id: 'value', address_id: 'value or null' },
  payment_method: 'value',
  payment_method_details: orNull({
    card: optional(
      {
        brand: stated({ type: ['string', 'null'] }),
        last4: text,
        expiry_month: number,
        expiry_year: number,
      },
      'Shown when the payer used a card.',
    ),
    upi: optional({ vpa: text }, 'Shown when the payer used UPI.'),
  }),
  reason_code: 'value or null',
  statement_descriptor: 'value',
  status: 'value',
  metadata: 'value or null',
});

declareKeys(bankNoticeV1, {
  object: 'noun',
  reference: text,
  event: text,
  created: number,
  livemode: stated({ type: 'boolean' }),
  address_id: text,
  amount: text,
  currency: text,
  deposit_id: stated({ type: ['string', 'null'] }),
});
