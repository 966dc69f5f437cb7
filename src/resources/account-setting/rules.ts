import { type Permission, related } from '../../auth/permissions.js';
import type { UpdateAccountSettingInput, PayoutSettingsInput } from './inputs.js';
import type { Context } from '../../operation/context.js';
import type { AccountRow } from '../account/table.js';
import { type Problem, problem, snake, DomainError } from '../../errors/problems.js';
import type { AccountSettingRow } from './table.js';

/** On which accounts a caller may set parameters of payouts. Spec: AccountSetting, payouts. */
export const payoutRelations = {
  'payouts.enabled': { platform: ['connected_user'], direct_user: [], connected_user: [] },
  'payouts.schedule': { platform: ['self', 'connected_user'], direct_user: ['self'], connected_user: [] },
} as const satisfies Permission['parameters'];

/** Removes repeated currencies, because a second address in the same currency has no use. */
export function distinct(offers: UpdateAccountSettingInput['addressCurrency']) {
  if (!offers) return undefined;
  return Object.fromEntries(
    Object.entries(offers).map(([kind, currencies]: [string, string[] | null | undefined]) => [
      kind,
      currencies && [...new Set(currencies)],
    ]),
  );
}

/**
 * Refuses payout settings that the caller may not change: that depends on the relation between the caller and the
 * account. Silent: a platform may set its own interval.
 */
export function permitPayouts(
  { caller }: Context,
  owner: AccountRow,
  payouts: PayoutSettingsInput | null | undefined,
): void {
  if (!payouts) return;
  const { enabled, ...schedule } = payouts;
  const problems: Problem[] = [];
  if (enabled !== undefined && !related(caller, payoutRelations['payouts.enabled'], owner)) {
    problems.push(
      problem(
        'permission_denied',
        'account_setting.payouts.enabled',
        'Only a platform may set this, on its connected users. Use its key.',
      ),
    );
  }
  for (const [name, value] of Object.entries(schedule)) {
    if (value !== undefined && !related(caller, payoutRelations['payouts.schedule'], owner)) {
      problems.push(
        problem(
          'permission_denied',
          `account_setting.payouts.${snake(name)}`,
          'Only a platform may set this, on its connected users, and a direct user on its own setting. Use their key.',
        ),
      );
    }
  }
  if (problems.length > 0) throw new DomainError(...problems);
}

/** Kinds that do not apply to the setting's account are refused. */
export function applicability(setting: AccountSettingRow, input: UpdateAccountSettingInput): Problem[] {
  return (['address', 'addressCurrency'] as const).flatMap((hash) =>
    Object.entries(input[hash] ?? {})
      .filter(([kind, value]) => value !== undefined && setting[hash][kind as keyof typeof setting.address] === null)
      .map(([kind]) =>
        problem(
          'parameter_invalid',
          `account_setting.${snake(hash)}.${snake(kind)}`,
          'does not apply to the account of this setting. Leave it out.',
        ),
      ),
  );
}

const anchorMax = { weeklyAnchor: 7, monthlyAnchor: 31 } as const;
const kinds = ['connected_user', 'connected_user_partner', 'partner', 'platform', 'user'];
const filled = ['address', 'address_currency', 'payouts', 'auto_reconcile'];
for (const hash of ['address', 'address_currency']) filled.push(...kinds.map((kind) => `${hash}.${kind}`));
filled.push('payouts.enabled', 'payouts.interval');

export const settingLimits = {
  ...Object.fromEntries(filled.map((path) => [path, { notNull: true as const }])),
  'payouts.weekly_anchor': { minimum: 1, maximum: anchorMax.weeklyAnchor },
  'payouts.monthly_anchor': { minimum: 1, maximum: anchorMax.monthlyAnchor },
};

/** The problems of a setting: an offer without a currency, a day that does not exist. */
export function settingProblems(input: Partial<UpdateAccountSettingInput>): Problem[] {
  // The write checks the stored values too, under the lock of the row.
  const hollow = Object.entries(input.addressCurrency ?? {})
    .filter(([kind, offered]: [string, string[] | null | undefined]) => {
      return offered?.length === 0 && input.address?.[kind as keyof typeof input.address] === true;
    })
    .map(([kind]) =>
      problem(
        'parameter_invalid',
        `account_setting.address_currency.${snake(kind)}`,
        `must have at least one currency while address.${snake(kind)} is true`,
      ),
    );
  const days = (['weeklyAnchor', 'monthlyAnchor'] as const).flatMap((name) => {
    const day = input.payouts?.[name];
    if (day == null || (day >= 1 && day <= anchorMax[name])) return [];
    return [
      problem('parameter_invalid', `account_setting.payouts.${snake(name)}`, `must be from 1 to ${anchorMax[name]}`),
    ];
  });
  return [...hollow, ...days];
}
