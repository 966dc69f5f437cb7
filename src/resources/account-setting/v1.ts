import type { AccountSettingRow, OfferObject } from './table.js';
import type { PayoutSettings } from './type.js';
import { noun, value, valueOrNull } from '../shape.js';

/** Formats a setting for /v1. Spec: AccountSetting. */
export function accountSettingV1(s: AccountSettingRow) {
  const payouts = payoutsOf(s);
  return {
    id: value(s.id),
    object: noun('account_setting'),
    account_id: value(s.accountId),
    created: value(s.created),
    livemode: value(s.livemode),
    metadata: valueOrNull(s.metadata),
    address: byKind(s.address),
    address_currency: byKind(s.addressCurrency),
    live_fx: value(s.liveFx),
    payouts: {
      enabled: valueOrNull(payouts.enabled),
      interval: value(payouts.interval),
      monthly_anchor: valueOrNull(payouts.monthlyAnchor),
      weekly_anchor: valueOrNull(payouts.weeklyAnchor),
      reason_code_not_enabled: valueOrNull(payouts.reasonCodeNotEnabled),
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
    connected_user: valueOrNull(hash.connectedUser),
    connected_user_partner: valueOrNull(hash.connectedUserPartner),
    partner: valueOrNull(hash.partner),
    platform: valueOrNull(hash.platform),
    user: valueOrNull(hash.user),
  };
}
