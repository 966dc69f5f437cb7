import type { AccountSettingRow, OfferObject } from './table.js';
import type { PayoutSettings } from './type.js';
import { declareKeys } from '../shape.js';

/** Formats a setting for /v1. Spec: AccountSetting. */
export function accountSettingV1(s: AccountSettingRow) {
  const payouts = payoutsOf(s);
  return {
    id: s.id,
    object: 'account_setting',
    account_id: s.accountId,
    created: s.created,
    livemode: s.livemode,
    metadata: s.metadata,
    address: byKind(s.address),
    address_currency: byKind(s.addressCurrency),
    live_fx: s.liveFx,
    payouts: {
      enabled: payouts.enabled,
      interval: payouts.interval,
      monthly_anchor: payouts.monthlyAnchor,
      weekly_anchor: payouts.weeklyAnchor,
      reason_code_not_enabled: payouts.reasonCodeNotEnabled,
    },
  };
}

/** The payouts of a setting, as both APIs show them. */
function payoutsOf(s: AccountSettingRow): PayoutSettings {
  return {
    enabled: s.payoutsEnabled,
    interval: s.payoutsInterval,
    monthlyAnchor: s.payoutsMonthlyAnchor,
    weeklyAnchor: s.payoutsWeeklyAnchor,
    reasonCodeNotEnabled: s.payoutsReason,
  };
}

function byKind<V>(hash: { [kind in keyof OfferObject]: V | null }) {
  return {
    connected_user: hash.connectedUser,
    connected_user_partner: hash.connectedUserPartner,
    partner: hash.partner,
    platform: hash.platform,
    user: hash.user,
  };
}

const kinds = <R extends 'value' | 'value or null'>(rule: R) =>
  ({ connected_user: rule, connected_user_partner: rule, partner: rule, platform: rule, user: rule }) as const;

declareKeys(accountSettingV1, {
  id: 'value',
  object: 'noun',
  account_id: 'value',
  created: 'value',
  livemode: 'value',
  metadata: 'value or null',
  address: kinds('value or null'),
  address_currency: kinds('value or null'),
  live_fx: 'value',
  payouts: {
    enabled: 'value or null',
    interval: 'value',
    monthly_anchor: 'value or null',
    weekly_anchor: 'value or null',
    reason_code_not_enabled: 'value or null',
  },
});
