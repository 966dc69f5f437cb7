import { amountText } from '../../types/scalars.js';
import type { DepositRow } from './table.js';
import type { BankNoticeRow } from '../../operator/table.js';

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
