import { postalAddressKeys, postalAddressV1 } from '../account/v1.js';
import type { AddressRow } from './table.js';
import { declareKeys, optional, orNull } from '../shape.js';

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

declareKeys(addressV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  category: 'value',
  type: 'value',
  status: 'value',
  currency: 'value',
  name: 'value or null',
  is_reusable: 'value',
  linked_object: 'value',
  linked_id: 'value',
  bank_account: orNull({
    bank_name: 'value or null',
    domestic_credit: 'value or null',
    domestic_debit: 'value or null',
    domestic_fast_credit: 'value or null',
    domestic_wire: 'value or null',
    global_wire: 'value or null',
    iban: 'value or null',
    last4: 'value or null',
    number: 'value or null',
    type: optional('value or null', 'Shown on addresses of category `service_receive`.'),
  }),
  billing_details: orNull(postalAddressKeys),
  supporting_documentation: orNull({ id_document: 'value or null' }),
  vpa: orNull({ id: 'value', upi: { onetime: 'value', recurring: 'value' } }),
  wallet: orNull({ provider: 'value' }),
  metadata: 'value or null',
});
