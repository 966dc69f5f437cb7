import { editions } from '../../editions/editions.js';
import { amountText } from '../../types/scalars.js';
import type { AccountRow, PostalAddressObject, VolumeObject } from './table.js';
import { declareKeys, optional, orNull } from '../shape.js';

/** Formats an account for /v1, with its keys in the order of the specification. Spec: Account. */
export function accountV1(a: AccountRow) {
  const { shown, capability } = editions[a.edition];
  return {
    id: a.id,
    object: 'account',
    created: a.created,
    livemode: livemodeOf(a),
    type: a.type,
    sub_type: a.subType,
    status: a.status,
    nickname: a.nickname,
    address: a.address,
    business_details: businessDetailsV1(a, shown['account.business_details.estimated_monthly_volume'] === true),
    capability: capability.nullFor.includes(a.subType)
      ? null
      : {
          ...(shown['account.capability.multicurrency_exports_v1'] && { multicurrency_exports_v1: a.capabilityStatus }),
        },
    logo_id: a.logoId,
    metadata: a.metadata,
    parent_account_id: null,
    supporting_documentation: {
      id_document: a.supportingDocumentation.idDocument ?? null,
      ...(shown['account.supporting_documentation.ownership_structure_document'] && {
        ownership_structure_document: a.supportingDocumentation.ownershipStructureDocument ?? null,
      }),
      ...(shown['account.supporting_documentation.physical_address_document'] && {
        physical_address_document: a.supportingDocumentation.physicalAddressDocument ?? null,
      }),
    },
    tos_acceptance: {
      ip: a.tosAcceptance.ip ?? null,
      time: a.tosAcceptance.time ?? null,
      user_agent: a.tosAcceptance.userAgent ?? null,
    },
    link: null,
  };
}

/** The `livemode` of an account; null for a root, which exists in both modes under one id. */
export function livemodeOf(a: Pick<AccountRow, 'ownerId' | 'livemode'>): boolean | null {
  return a.ownerId === null ? null : a.livemode;
}

/** A postal address with every key, absent ones as null. */
export function postalAddressV1(p: PostalAddressObject) {
  return {
    line1: p.line1 ?? null,
    line2: p.line2 ?? null,
    city: p.city ?? null,
    state: p.state ?? null,
    postal_code: p.postalCode ?? null,
    country: p.country?.toUpperCase() ?? null,
  };
}

function businessDetailsV1({ businessDetails: b }: AccountRow, volumeShown: boolean) {
  const ids = b.ids ?? {};
  return {
    legal_name: b.legalName ?? null,
    dba: b.dba ?? null,
    email: b.email ?? null,
    website: b.website ?? null,
    date_of_incorporation: b.dateOfIncorporation ?? null,
    type: b.type ?? null,
    ids: {
      business: ids.business ?? null,
      tax: ids.tax ?? null,
      tax_deduction: ids.taxDeduction ?? null,
      tax_gst: ids.taxGst ?? null,
      tax_trade: ids.taxTrade ?? null,
    },
    physical_address: postalAddressV1(b.physicalAddress ?? {}),
    merchant_category_code: b.merchantCategoryCode ?? null,
    merchant_size: b.merchantSize ?? null,
    product_category: b.productCategory ?? null,
    product_description: b.productDescription ?? null,
    ...(volumeShown && { estimated_monthly_volume: volumeV1(b.estimatedMonthlyVolume ?? null) }),
  };
}

function volumeV1(volume: VolumeObject | null) {
  if (volume?.amount == null) return null;
  return { amount: amountText(volume.amount), currency: volume.currency ?? null };
}

/** The keys of a postal address. */
export const postalAddressKeys = {
  line1: 'value or null',
  line2: 'value or null',
  city: 'value or null',
  state: 'value or null',
  postal_code: 'value or null',
  country: 'text or null',
} as const;

declareKeys(accountV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value or null',
  type: 'value',
  sub_type: 'value or null',
  status: 'value',
  nickname: 'value or null',
  address: 'value',
  business_details: {
    legal_name: 'value or null',
    dba: 'value or null',
    email: 'text or null',
    website: 'value or null',
    date_of_incorporation: 'text or null',
    type: 'value or null',
    ids: {
      business: 'value or null',
      tax: 'value or null',
      tax_deduction: 'value or null',
      tax_gst: 'value or null',
      tax_trade: 'value or null',
    },
    physical_address: postalAddressKeys,
    merchant_category_code: 'value or null',
    merchant_size: 'value or null',
    product_category: 'value or null',
    product_description: 'value or null',
    estimated_monthly_volume: optional(orNull({ amount: 'value', currency: 'value or null' })),
  },
  capability: orNull({ multicurrency_exports_v1: optional('value') }),
  logo_id: 'value or null',
  metadata: 'value or null',
  parent_account_id: 'null',
  supporting_documentation: {
    id_document: 'value or null',
    ownership_structure_document: optional('value or null'),
    physical_address_document: optional('value or null'),
  },
  tos_acceptance: { ip: 'text or null', time: 'value or null', user_agent: 'value or null' },
  link: 'null',
});
