import type { Permission } from '../../auth/permissions.js';

/** On which accounts a caller may set parameters of payouts. Spec: AccountSetting, payouts. */
export const payoutRelations = {
  'payouts.enabled': { platform: ['connected_user'], direct_user: [], connected_user: [] },
  'payouts.schedule': { platform: ['self', 'connected_user'], direct_user: ['self'], connected_user: [] },
} as const satisfies Permission['parameters'];
