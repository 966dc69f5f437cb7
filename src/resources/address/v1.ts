import { postalAddressV1 } from '../account/v1.js';
import type { AddressRow } from './table.js';

/** Formats an address for /v1. Spec: Address. */
export function addressV1(a: AddressRow) {
  return {
    id: a.id,
    object: 'address',
    created: a.created,
    livemode: a.livemode,
    category: a.category,
    type: a.type,
    status: a.status,
    currency: a.currency,
    name: a.name,
    is_reusable: a.isReusable,
    linked_object: 'account',
    linked_id: a.linkedId,
    bank_account: bankAccountV1(a),
    billing_details: a.billingDetails && postalAddressV1(a.billingDetails),
    supporting_documentation: a.supportingDocumentation && {
      id_document: a.supportingDocumentation.idDocument ?? null,
    },
    vpa: a.vpa,
    wallet: a.wallet,
    metadata: a.metadata,
  };
}

function bankAccountV1({ bankAccount: b, category }: AddressRow) {
  if (b === null) return null;
  return {
    bank_name: b.bankName ?? null,
    domestic_credit: b.domesticCredit ?? null,
    domestic_debit: b.domesticDebit ?? null,
    domestic_fast_credit: b.domesticFastCredit ?? null,
    domestic_wire: b.domesticWire ?? null,
    global_wire: b.globalWire ?? null,
    iban: b.iban ?? null,
    last4: b.last4 ?? null,
    number: b.number ?? null,
    // "A receive address also shows type."
    ...(category === 'service_receive' && { type: b.type ?? null }),
  };
}
