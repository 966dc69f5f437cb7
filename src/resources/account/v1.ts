import { editions } from '../../editions/editions.js';
import { amountText } from '../../types/scalars.js';
import type { AccountRow, PostalAddressObject, VolumeObject } from './table.js';
import { alwaysNull, hashOrNull, noun, optional, textOrNull, value, valueOrNull } from '../shape.js';

/** Formats an account for /v1, with its keys in the order of the specification. Spec: Account. */
export function accountV1(a: AccountRow) {
  const { shown, capability } = editions[a.edition];
  return {
    id: value(a.id),
    object: noun('account'),
    created: value(a.created),
    livemode: valueOrNull(livemodeOf(a)),
    type: value(a.type),
    sub_type: valueOrNull(a.subType),
    status: value(a.status),
    nickname: valueOrNull(a.nickname),
    address: value(a.address),
    business_details: businessDetailsV1(a, shown['account.business_details.estimated_monthly_volume'] === true),
    capability: hashOrNull(
      capability.nullFor.includes(a.subType)
        ? null
        : {
            ...optional(shown['account.capability.multicurrency_exports_v1'], () => ({
              multicurrency_exports_v1: value(a.capabilityStatus),
            })),
          },
    ),
    logo_id: valueOrNull(a.logoId),
    metadata: valueOrNull(a.metadata),
    parent_account_id: alwaysNull(),
    supporting_documentation: {
      id_document: valueOrNull(a.supportingDocumentation.idDocument ?? null),
      ...optional(shown['account.supporting_documentation.ownership_structure_document'], () => ({
        ownership_structure_document: valueOrNull(a.supportingDocumentation.ownershipStructureDocument ?? null),
      })),
      ...optional(shown['account.supporting_documentation.physical_address_document'], () => ({
        physical_address_document: valueOrNull(a.supportingDocumentation.physicalAddressDocument ?? null),
      })),
    },
    tos_acceptance: {
      ip: textOrNull(a.tosAcceptance.ip ?? null),
      time: valueOrNull(a.tosAcceptance.time ?? null),
      user_agent: valueOrNull(a.tosAcceptance.userAgent ?? null),
    },
    link: alwaysNull(),
  };
}

/** The `livemode` of an account; null for a root, which exists in both modes under one id. */
export function livemodeOf(a: Pick<AccountRow, 'ownerId' | 'livemode'>): boolean | null {
  return a.ownerId === null ? null : a.livemode;
}

/** A postal address with every key, absent ones as null. */
export function postalAddressV1(p: PostalAddressObject) {
  return {
    line1: valueOrNull(p.line1 ?? null),
    line2: valueOrNull(p.line2 ?? null),
    city: valueOrNull(p.city ?? null),
    state: valueOrNull(p.state ?? null),
    postal_code: valueOrNull(p.postalCode ?? null),
    country: textOrNull(p.country?.toUpperCase() ?? null),
  };
}

function businessDetailsV1({ businessDetails: b }: AccountRow, volumeShown: boolean) {
  const ids = b.ids ?? {};
  return {
    legal_name: valueOrNull(b.legalName ?? null),
    dba: valueOrNull(b.dba ?? null),
    email: textOrNull(b.email ?? null),
    website: valueOrNull(b.website ?? null),
    date_of_incorporation: textOrNull(b.dateOfIncorporation ?? null),
    type: valueOrNull(b.type ?? null),
    ids: {
      business: valueOrNull(ids.business ?? null),
      tax: valueOrNull(ids.tax ?? null),
      tax_deduction: valueOrNull(ids.taxDeduction ?? null),
      tax_gst: valueOrNull(ids.taxGst ?? null),
      tax_trade: valueOrNull(ids.taxTrade ?? null),
    },
    physical_address: postalAddressV1(b.physicalAddress ?? {}),
    merchant_category_code: valueOrNull(b.merchantCategoryCode ?? null),
    merchant_size: valueOrNull(b.merchantSize ?? null),
    product_category: valueOrNull(b.productCategory ?? null),
    product_description: valueOrNull(b.productDescription ?? null),
    ...optional(volumeShown, () => ({
      estimated_monthly_volume: hashOrNull(volumeV1(b.estimatedMonthlyVolume ?? null)),
    })),
  };
}

function volumeV1(volume: VolumeObject | null) {
  if (volume?.amount == null) return null;
  return { amount: value(amountText(volume.amount)), currency: valueOrNull(volume.currency ?? null) };
}
