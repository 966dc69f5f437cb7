import { amountText } from '../../types/scalars.js';
import type { DepositRow } from './table.js';
import { type BankDetails, bankDetailsOf } from './type.js';
import type { BankNoticeRow } from '../../operator/table.js';
import { hashOrNull, noun, optional, schemas, stated, value, valueOrNull } from '../shape.js';

/** Formats a deposit for /v1. Spec: Deposit. */
export function depositV1(d: DepositRow) {
  return {
    id: value(d.id),
    object: noun('deposit'),
    created: value(d.created),
    livemode: value(d.livemode),
    amount: value(amountText(d.amount)),
    currency: value(d.currency),
    from: { account_id: valueOrNull(d.fromAccountId), address_id: valueOrNull(d.fromAddressId) },
    to: { account_id: value(d.toAccountId), address_id: valueOrNull(d.toAddressId) },
    payment_method: value(d.paymentMethod),
    payment_method_details: hashOrNull(paymentMethodDetailsV1(d.paymentMethodDetails)),
    reason_code: valueOrNull(d.reasonCode),
    statement_descriptor: value(d.statementDescriptor),
    status: value(d.status),
    metadata: valueOrNull(d.metadata),
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
    ...optional(card, cardV1, 'Shown when the payer used a card.'),
    ...optional(upi, upiV1, 'Shown when the payer used UPI.'),
  };
}

type StoredDetails = Record<string, string | number | null>;

const cardV1 = ({ brand, last4, expiry_month, expiry_year }: StoredDetails) => ({
  card: {
    brand: stated(schemas.stringOrNull, brand ?? null),
    last4: stated(schemas.string, last4),
    expiry_month: stated(schemas.integer, expiry_month),
    expiry_year: stated(schemas.integer, expiry_year),
  },
});

const upiV1 = ({ vpa }: StoredDetails) => ({ upi: { vpa: stated(schemas.string, vpa) } });

/** Formats what a bank says of a deposit for /v1. Silent: all fields. */
export function bankDetailsV1(details: BankDetails) {
  return { object: noun('bank_details'), ...saidByBank(details) };
}

/** Formats a deposit for an export, where it has what its bank says of it. Silent: what it has beyond a deposit. */
export function exportedDepositV1(d: DepositRow) {
  return {
    ...depositV1(d),
    ...optional(
      bankDetailsOf(d),
      (details) => ({ bank_details: saidByBank(details) }),
      'Shown where something is recorded.',
    ),
  };
}

function saidByBank({ reference, payer, text }: BankDetails) {
  return {
    reference: value(reference),
    payer: hashOrNull(
      payer && {
        name: valueOrNull(payer.name),
        address_lines: value(payer.addressLines),
        country: valueOrNull(payer.country),
      },
    ),
    text: valueOrNull(text),
  };
}

/** Formats a bank's notice for the events of /v1 and for the command line. Silent: all fields. */
export function bankNoticeV1({ reference, event, created, livemode, depositId, content }: BankNoticeRow) {
  return {
    object: noun('bank_notice'),
    reference: stated(schemas.string, reference),
    event: stated(schemas.string, event),
    created: stated(schemas.integer, created),
    livemode: stated(schemas.boolean, livemode),
    address_id: stated(schemas.string, content.toAddressId),
    amount: stated(schemas.string, amountText(BigInt(content.amount))),
    currency: stated(schemas.string, content.currency),
    deposit_id: stated(schemas.stringOrNull, depositId),
  };
}
