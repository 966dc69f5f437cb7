import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { type MetadataMap, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';

export const PayoutInterval = { DAILY: 'daily', WEEKLY: 'weekly', MONTHLY: 'monthly' } as const;
export type PayoutInterval = (typeof PayoutInterval)[keyof typeof PayoutInterval];

export const PayoutsDisabledReason = {
  ACCOUNT_NOT_ACTIVATED: 'account_not_activated',
  PLATFORM_HOLD: 'platform_hold',
  SERVICE_HOLD: 'service_hold',
} as const;
export type PayoutsDisabledReason = (typeof PayoutsDisabledReason)[keyof typeof PayoutsDisabledReason];

/** One value per account kind; null where the kind does not apply to the setting's account. */
export interface OfferObject {
  connectedUser: boolean | null;
  connectedUserPartner: boolean | null;
  partner: boolean | null;
  platform: boolean | null;
  user: boolean | null;
}
export type OfferCurrencyObject = { [kind in keyof OfferObject]: string[] | null };

const offered = (column: string, key: keyof OfferObject) =>
  boolean(column).generatedAlwaysAs(sql.raw(`((address ->> '${key}')::boolean)`));

type Listed = 'accountId' | 'addressPartner' | 'addressPlatform' | 'addressUser' | 'ofConnectedUser';
type More = 'addressConnectedUser' | 'addressConnectedUserPartner' | 'payoutsEnabled' | 'payoutsReason';

/** How settings are listed. Spec: List AccountSettings. */
export const accountSettingLists = (t: Record<Listed | More, PgColumn>): Lists => ({
  filters: {
    accountId: t.accountId,
    'address.connectedUser': t.addressConnectedUser,
    'address.connectedUserPartner': t.addressConnectedUserPartner,
    'address.partner': t.addressPartner,
    'address.platform': t.addressPlatform,
    'address.user': t.addressUser,
    'payouts.enabled': t.payoutsEnabled,
    'payouts.reasonCodeNotEnabled': t.payoutsReason,
    ofConnectedUser: t.ofConnectedUser,
  },
  byAccount: ['accountId'],
  keys: {
    connected_user: ['address.connectedUser'],
    connected_user_partner: ['address.connectedUserPartner'],
    partner: ['address.partner'],
    platform: ['address.platform'],
    user: ['address.user'],
    payouts_enabled: ['payouts.enabled'],
    payouts_reason: ['payouts.reasonCodeNotEnabled'],
    of_connected_user: ['ofConnectedUser'],
  },
});

/**
 * One setting per account and mode. The members that lists filter by are generated columns. The effective payouts state
 * is generated too, so that it is never stale: a service hold has priority over a missing activation, which has
 * priority over a platform hold.
 */
export const accountSetting = pgTable(
  'account_setting',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    /** Whether the account is a connected user; `/v1/account_settings/connected` lists these. */
    ofConnectedUser: boolean('of_connected_user').notNull(),
    metadata: jsonb('metadata').$type<MetadataMap>(),
    address: jsonb('address').$type<OfferObject>().notNull(),
    addressConnectedUser: offered('address_connected_user', 'connectedUser'),
    addressConnectedUserPartner: offered('address_connected_user_partner', 'connectedUserPartner'),
    addressPartner: offered('address_partner', 'partner'),
    addressPlatform: offered('address_platform', 'platform'),
    addressUser: offered('address_user', 'user'),
    addressCurrency: jsonb('address_currency').$type<OfferCurrencyObject>().notNull(),
    liveFx: boolean('live_fx').notNull().default(false),
    /** Whether this account can be paid out at all: partners and users of aggregators cannot. */
    payoutsApplicable: boolean('payouts_applicable').notNull(),
    accountActivated: boolean('account_activated').notNull().default(false),
    platformHold: boolean('platform_hold').notNull().default(false),
    serviceHold: boolean('service_hold').notNull().default(false),
    payoutsEnabled: boolean('payouts_enabled').generatedAlwaysAs(
      sql`case when payouts_applicable then account_activated and not platform_hold and not service_hold end`,
    ),
    payoutsReason: text('payouts_reason')
      .$type<PayoutsDisabledReason>()
      .generatedAlwaysAs(
        sql.raw(
          "case when not payouts_applicable then null when service_hold then 'service_hold' " +
            "when not account_activated then 'account_not_activated' when platform_hold then 'platform_hold' end",
        ),
      ),
    payoutsInterval: text('payouts_interval').$type<PayoutInterval>().notNull().default('daily'),
    payoutsMonthlyAnchor: smallint('payouts_monthly_anchor'),
    payoutsWeeklyAnchor: smallint('payouts_weekly_anchor'),
    ...visibilityColumns(),
    ...version(),
    autoReconcile: boolean('auto_reconcile').notNull().default(false),
  },
  (t) => [
    primaryKey({ name: 'account_setting_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('account_setting_of_account').on(t.tenantId, t.livemode, t.accountId),
    foreignKey({
      name: 'account_setting_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('account_setting_context').on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id),
    index('account_setting_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    // What needs attention: the activated accounts of a tenant whose payouts are disabled.
    index('account_setting_disabled')
      .on(t.tenantId, t.livemode, t.accountId)
      .where(sql`account_activated and (platform_hold or service_hold)`),
    index('account_setting_held').on(t.created, t.id, t.livemode).where(sql`service_hold`),
    ...indexesOf('account_setting', t, accountSettingLists(t)),
  ],
);
export type AccountSettingRow = typeof accountSetting.$inferSelect;
