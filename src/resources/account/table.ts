import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  jsonb,
  type PgColumn,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
} from 'drizzle-orm/pg-core';
import { isOneOf, type MetadataMap, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';
import { fileIndexes } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';

/** The place of an account in its tree of accounts. The `type` of the specification follows from the kind. */
export const AccountKind = {
  PLATFORM: 'platform',
  DIRECT_USER: 'direct_user',
  CONNECTED_USER: 'connected_user',
  PARTNER: 'partner',
} as const;
export type AccountKind = (typeof AccountKind)[keyof typeof AccountKind];

export const AccountType = { PLATFORM: 'platform', USER: 'user', PARTNER: 'partner' } as const;
export type AccountType = (typeof AccountType)[keyof typeof AccountType];

export const AccountSubType = { AGGREGATOR: 'aggregator' } as const;
export type AccountSubType = (typeof AccountSubType)[keyof typeof AccountSubType];

export const AccountStatus = {
  DRAFT: 'draft',
  VERIFYING: 'verifying',
  ACTIVATED: 'activated',
  DEACTIVATED: 'deactivated',
  HOLD: 'hold',
} as const;
export type AccountStatus = (typeof AccountStatus)[keyof typeof AccountStatus];

export const AccountAddressState = {
  DEACTIVATED: 'deactivated',
  REQUESTED: 'requested',
  PROCESSING: 'processing',
  ACTIVATED: 'activated',
} as const;
export type AccountAddressState = (typeof AccountAddressState)[keyof typeof AccountAddressState];

export const CapabilityStatus = {
  PENDING: 'pending',
  VERIFYING: 'verifying',
  ACTIVATED: 'activated',
  HOLD: 'hold',
} as const;
export type CapabilityStatus = (typeof CapabilityStatus)[keyof typeof CapabilityStatus];

export const BusinessType = {
  COMPANY: 'company',
  LIMITED_LIABILITY_PARTNERSHIP: 'limited_liability_partnership',
  SOLE_PROPRIETOR: 'sole_proprietor',
  INDIVIDUAL: 'individual',
  PARTNERSHIP: 'partnership',
  BUSINESS: 'business',
} as const;
export type BusinessType = (typeof BusinessType)[keyof typeof BusinessType];

/** The key of the governing setting that decides about an account's receiving addresses. Spec: AccountSetting. */
export const AddressKey = {
  CONNECTED_USER: 'connected_user',
  CONNECTED_USER_PARTNER: 'connected_user_partner',
  PARTNER: 'partner',
  PLATFORM: 'platform',
  USER: 'user',
} as const;
export type AddressKey = (typeof AddressKey)[keyof typeof AddressKey];

/** A postal address as stored; absent children read as null. */
export interface PostalAddressObject {
  line1?: string | null;
  line2?: string | null;
  city?: string | null;
  state?: string | null;
  postalCode?: string | null;
  country?: string | null;
}

export interface BusinessIdsObject {
  business?: string | null;
  tax?: string | null;
  taxDeduction?: string | null;
  taxGst?: string | null;
  taxTrade?: string | null;
}

/** An expected volume, as stored. Amounts inside objects are minor units as a string of digits. */
export interface VolumeObject {
  amount?: string | null;
  currency?: string | null;
}

export interface BusinessDetailsObject {
  legalName?: string | null;
  dba?: string | null;
  email?: string | null;
  website?: string | null;
  dateOfIncorporation?: string | null;
  type?: BusinessType | null;
  ids?: BusinessIdsObject | null;
  physicalAddress?: PostalAddressObject | null;
  merchantCategoryCode?: string | null;
  merchantSize?: string | null;
  productCategory?: string | null;
  productDescription?: string | null;
  estimatedMonthlyVolume?: VolumeObject | null;
}

export interface SupportingDocumentationObject {
  idDocument?: string | null;
  ownershipStructureDocument?: string | null;
  physicalAddressDocument?: string | null;
}

export interface TosAcceptanceObject {
  ip?: string | null;
  time?: number | null;
  userAgent?: string | null;
}

/** The columns that lists of accounts are filtered by. */
type Listed = 'address' | 'status' | 'type' | 'capabilityStatus' | 'ownerId' | 'tenantId';

/** How accounts are listed. Spec: List Accounts. */
export const accountLists = (t: Record<Listed, PgColumn>): Lists => ({
  filters: {
    address: t.address,
    status: t.status,
    type: t.type,
    'capability.multicurrencyExportsV1': t.capabilityStatus,
  },
  byAccount: [],
  keys: {
    address: ['address'],
    status: ['status'],
    type: ['type'],
    capability: ['capability.multicurrencyExportsV1'],
  },
  scans: { account_tenant: t.tenantId, account_owner: { column: t.ownerId, keys: ['type'] } },
});

/** The columns of an account, which the table and the view `account_by_balance` share. */
export const accountColumns = () => ({
  ...keyColumns(),
  kind: text('kind').$type<AccountKind>().notNull(),
  type: text('type')
    .$type<AccountType>()
    .notNull()
    .generatedAlwaysAs(sql`case kind when 'platform' then 'platform' when 'partner' then 'partner' else 'user' end`),
  edition: smallint('edition').$type<1 | 2>().notNull(),
  subType: text('sub_type').$type<AccountSubType>(),
  status: text('status').$type<AccountStatus>().notNull(),
  address: text('address').$type<AccountAddressState>().notNull().default('deactivated'),
  addressKey: text('address_key').$type<AddressKey>(),
  nickname: text('nickname'),
  nicknameKey: text('nickname_key').generatedAlwaysAs(sql`lower(nickname)`),
  businessDetails: jsonb('business_details').$type<BusinessDetailsObject>().notNull(),
  /** Follows from the status; shown in Edition 1 only. */
  capabilityStatus: text('capability_status')
    .$type<CapabilityStatus>()
    .notNull()
    .generatedAlwaysAs(
      sql.raw(
        "case status when 'verifying' then 'verifying' when 'activated' then 'activated' " +
          "when 'draft' then 'pending' else 'hold' end",
      ),
    ),
  logoId: text('logo_id'),
  metadata: jsonb('metadata').$type<MetadataMap>(),
  supportingDocumentation: jsonb('supporting_documentation').$type<SupportingDocumentationObject>().notNull(),
  tosAcceptance: jsonb('tos_acceptance').$type<TosAcceptanceObject>().notNull(),
  /** The account that created it: null for a root, the platform for a connected user, the owner of a partner. */
  ownerId: text('owner_id'),
  ...visibilityColumns(),
  ...version(),
  /** Since when it has its status. Null where the status is older than the column and no event tells it. */
  statusSince: bigint('status_since', { mode: 'number' }),
});

/**
 * Platforms, users and partners. A root (platform or direct user) has one row per mode under one id,
 * and its tenant is the text after `account_` in that id.
 */
export const account = pgTable('account', accountColumns(), (t) => [
  primaryKey({ name: 'account_pkey', columns: [t.tenantId, t.livemode, t.id] }),
  unique('account_nickname_taken').on(t.tenantId, t.livemode, t.nicknameKey),
  foreignKey({
    name: 'account_owner',
    columns: [t.tenantId, t.livemode, t.ownerId],
    foreignColumns: [t.tenantId, t.livemode, t.id],
  }),
  index('account_context').on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id),
  index('account_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
  // The operator searches all tenants: by id, and by status for the accounts that it has to decide about.
  index('account_by_id').on(t.id),
  index('account_queue').on(t.status, t.created, t.id, t.livemode),
  // All accounts of a tenant, for a platform that lists its own with the partners of its users.
  index('account_of_tenant').on(t.tenantId, t.livemode, t.created, t.id),
  index('account_owned').on(t.tenantId, t.livemode, t.ownerId, t.created, t.id),
  // The accounts that are stopped or not activated yet, of which the queue of what needs attention is made. Those of
  // which the time is not known come first: it is before all that were recorded.
  index('account_stopped')
    .on(t.tenantId, t.livemode, t.status, t.statusSince.nullsFirst(), t.id)
    .where(sql`${t.kind} <> 'partner' and ${t.status} <> 'activated'`),
  // What nicknames are compared by: not unique, since names from before may be there twice.
  index('account_nickname')
    .on(
      t.tenantId,
      t.livemode,
      sql`hashtextextended(lower(btrim(normalize(${t.nickname}, nfkc), ' ' || chr(9) || chr(10) || chr(13))), 0)`,
    )
    .where(sql`${t.nickname} is not null`),
  // What rows of imports are compared by.
  index('account_seen')
    .on(
      t.tenantId,
      t.livemode,
      sql`hashtextextended(${t.ownerId} || ' ' || (${t.businessDetails} ->> 'legalName')
        || jsonb_strip_nulls(${t.businessDetails} -> 'physicalAddress')::text, 0)`,
    )
    .where(sql`${t.kind} = 'partner'`),
  ...indexesOf('account', t, accountLists(t)),
  ...fileIndexes('account', t, {
    logo: t.logoId,
    id_document: sql`${t.supportingDocumentation} ->> 'idDocument'`,
    ownership_document: sql`${t.supportingDocumentation} ->> 'ownershipStructureDocument'`,
    address_document: sql`${t.supportingDocumentation} ->> 'physicalAddressDocument'`,
  }),
  check('account_kind', isOneOf(t.kind, AccountKind)),
  check('account_status', isOneOf(t.status, AccountStatus)),
  check('account_address', isOneOf(t.address, AccountAddressState)),
]);
export type AccountRow = typeof account.$inferSelect;
