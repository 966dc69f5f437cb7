import { postalAddressV1 } from '../account/v1.js';
import type { AddressRow, VpaObject } from './table.js';
import { hashOrNull, noun, optional, value, valueOrNull } from '../shape.js';

/** Formats an address for /v1. Spec: Address. */
export function addressV1(a: AddressRow) {
  return {
    id: value(a.id),
    object: noun('address'),
    created: value(a.created),
    livemode: value(a.livemode),
    category: value(a.category),
    type: value(a.type),
    status: value(a.status),
    currency: value(a.currency),
    name: valueOrNull(a.name),
    is_reusable: value(a.isReusable),
    linked_object: value('account'),
    linked_id: value(a.linkedId),
    bank_account: hashOrNull(bankAccountV1(a)),
    billing_details: hashOrNull(a.billingDetails && postalAddressV1(a.billingDetails)),
    supporting_documentation: hashOrNull(
      a.supportingDocumentation && { id_document: valueOrNull(a.supportingDocumentation.idDocument ?? null) },
    ),
    vpa: hashOrNull(a.vpa && vpaV1(a.vpa)),
    wallet: hashOrNull(a.wallet && { provider: value(a.wallet.provider) }),
    metadata: valueOrNull(a.metadata),
  };
}

function bankAccountV1({ bankAccount: b, category }: AddressRow) {
  if (b === null) return null;
  return {
    bank_name: valueOrNull(b.bankName ?? null),
    domestic_credit: valueOrNull(b.domesticCredit ?? null),
    domestic_debit: valueOrNull(b.domesticDebit ?? null),
    domestic_fast_credit: valueOrNull(b.domesticFastCredit ?? null),
    domestic_wire: valueOrNull(b.domesticWire ?? null),
    global_wire: valueOrNull(b.globalWire ?? null),
    iban: valueOrNull(b.iban ?? null),
    last4: valueOrNull(b.last4 ?? null),
    number: valueOrNull(b.number ?? null),
    // "A receive address also shows type."
    ...optional(
      category === 'service_receive',
      () => ({ type: valueOrNull(b.type ?? null) }),
      'Shown on addresses of category `service_receive`.',
    ),
  };
}

function vpaV1({ id, upi }: VpaObject) {
  return { id: value(id), upi: { onetime: value(upi.onetime), recurring: value(upi.recurring) } };
}
