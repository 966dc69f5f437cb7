import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  jsonb,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { account, type PostalAddressObject } from '../account/table.js';
import { fileIndexes, ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';
import { isOneOf, type MetadataMap, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';

export const AddressCategory = {
  SERVICE_RECEIVE: 'service_receive',
  USER_PAYOUT: 'user_payout',
  PARTNER_PAYMENT: 'partner_payment',
  SERVICE_CHECKOUT: 'service_checkout',
  SERVICE_FEE_ADVANCE: 'service_fee_advance',
} as const;
export type AddressCategory = (typeof AddressCategory)[keyof typeof AddressCategory];

export const AddressType = { BANK_ACCOUNT: 'bank_account', WALLET: 'wallet', VPA: 'vpa' } as const;
export type AddressType = (typeof AddressType)[keyof typeof AddressType];

export const AddressStatus = {
  ACTIVATED: 'activated',
  DEACTIVATED: 'deactivated',
  EXPIRED: 'expired',
  PENDING_DEACTIVATION: 'pending_deactivation',
} as const;
export type AddressStatus = (typeof AddressStatus)[keyof typeof AddressStatus];

export const LinkedObject = { ACCOUNT: 'account' } as const;
export type LinkedObject = (typeof LinkedObject)[keyof typeof LinkedObject];

export const WalletProvider = {
  AFFIRM: 'affirm',
  AFTERPAY: 'afterpay',
  KLARNA: 'klarna',
  PAYPAL_EXTERNAL: 'paypal_external',
} as const;
export type WalletProvider = (typeof WalletProvider)[keyof typeof WalletProvider];

export const VpaState = { ENABLED: 'enabled', DISABLED: 'disabled' } as const;
export type VpaState = (typeof VpaState)[keyof typeof VpaState];

export interface BankAccountObject {
  bankName?: string | null;
  domesticCredit?: string | null;
  domesticDebit?: string | null;
  domesticFastCredit?: string | null;
  domesticWire?: string | null;
  globalWire?: string | null;
  iban?: string | null;
  last4?: string | null;
  number?: string | null;
  /** Shown on receiving addresses only. */
  type?: string | null;
}
export interface WalletObject {
  provider: WalletProvider;
}
export interface VpaObject {
  id: string;
  upi: { onetime: VpaState; recurring: VpaState };
}

type Listed = 'category' | 'currency' | 'isReusable' | 'linkedId' | 'status' | 'type' | 'walletProvider';

/** How addresses are listed. Spec: List Addresses. */
export const addressLists = (t: Record<Listed | 'vpaUpiOnetime' | 'vpaUpiRecurring', PgColumn>): Lists => ({
  filters: {
    category: t.category,
    currency: t.currency,
    isReusable: t.isReusable,
    linkedId: t.linkedId,
    status: t.status,
    type: t.type,
    'wallet.provider': t.walletProvider,
    'vpa.upi.onetime': t.vpaUpiOnetime,
    'vpa.upi.recurring': t.vpaUpiRecurring,
  },
  byAccount: ['linkedId'],
  own: t.linkedId,
  keys: {
    category: ['category'],
    currency: ['currency'],
    reusable: ['isReusable'],
    status: ['status'],
    type: ['type'],
    wallet: ['wallet.provider'],
    vpa_onetime: ['vpa.upi.onetime'],
    vpa_recurring: ['vpa.upi.recurring'],
  },
  scans: { address_linked: t.linkedId },
});

/** A number of a bank account as it is compared, in SQL: without blanks and hyphens, in capitals. */
export const bankAccountKey = ({ bankAccount }: { bankAccount: SQLWrapper }, name: string): SQL =>
  sql`upper(translate(${bankAccount} ->> ${sql.raw(`'${name}'`)}, ' -', ''))`;

/** Destinations and sources of stored value; the owner is `linkedId`. */
export const address = pgTable(
  'address',
  {
    ...keyColumns(),
    category: text('category').$type<AddressCategory>().notNull(),
    type: text('type').$type<AddressType>().notNull(),
    status: text('status').$type<AddressStatus>().notNull(),
    currency: text('currency').notNull(),
    name: text('name'),
    isReusable: boolean('is_reusable').notNull().default(false),
    linkedId: text('linked_id').notNull(),
    /**
     * Whether a platform made it, for itself or for a connected user; addresses that the service issued and those from
     * before the column count as made by the platform.
     */
    byPlatform: boolean('by_platform').notNull().default(true),
    bankAccount: jsonb('bank_account').$type<BankAccountObject>(),
    billingDetails: jsonb('billing_details').$type<PostalAddressObject>(),
    supportingDocumentation: jsonb('supporting_documentation').$type<{ idDocument?: string | null }>(),
    vpa: jsonb('vpa').$type<VpaObject>(),
    wallet: jsonb('wallet').$type<WalletObject>(),
    walletProvider: text('wallet_provider').$type<WalletProvider>().generatedAlwaysAs(sql`wallet ->> 'provider'`),
    vpaUpiOnetime: text('vpa_upi_onetime').$type<VpaState>().generatedAlwaysAs(sql`vpa #>> '{upi,onetime}'`),
    vpaUpiRecurring: text('vpa_upi_recurring').$type<VpaState>().generatedAlwaysAs(sql`vpa #>> '{upi,recurring}'`),
    metadata: jsonb('metadata').$type<MetadataMap>(),
    ...visibilityColumns(),
    ...version(),
  },
  (t) => [
    primaryKey({ name: 'address_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'address_account',
      columns: [t.tenantId, t.livemode, t.linkedId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('address_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.linkedId)),
    index('address_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    // A bank's notice names only the address, not the tenant.
    index('address_by_id').on(t.id),
    // A bank's file names only the account, not the address.
    ...['iban', 'number'].map((name) =>
      index(`address_of_bank_${name}`)
        .on(bankAccountKey(t, name))
        .where(sql`livemode and category in ('service_receive', 'service_fee_advance')`),
    ),
    index('address_of_account').on(t.tenantId, t.livemode, t.linkedId, t.created, t.id),
    ...fileIndexes('address', t, { id_document: sql`${t.supportingDocumentation} ->> 'idDocument'` }),
    ...indexesOf('address', t, addressLists(t)),
    check('address_category', isOneOf(t.category, AddressCategory)),
    check('address_type', isOneOf(t.type, AddressType)),
    check('address_status', isOneOf(t.status, AddressStatus)),
  ],
);
export type AddressRow = typeof address.$inferSelect;
