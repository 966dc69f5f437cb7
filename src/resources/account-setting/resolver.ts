import { Ctx, Mutation, Resolver } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import type { Listing } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { related } from '../../auth/permissions.js';
import { type Problem, problem, DomainError, snake } from '../../errors/problems.js';
import { type PayoutSettingsInput, UpdateAccountSettingInput } from './inputs.js';
import { type AccountSettingRow, accountSetting } from './table.js';
import { payoutRelations } from './relations.js';
import { AccountSetting } from './type.js';
import { Input } from '../../types/input.js';

/** How settings are listed. Spec: List AccountSettings. */
export const accountSettingListing: Listing = {
  object: 'account_setting',
  filters: {
    accountId: accountSetting.accountId,
    'address.connectedUser': accountSetting.addressConnectedUser,
    'address.connectedUserPartner': accountSetting.addressConnectedUserPartner,
    'address.partner': accountSetting.addressPartner,
    'address.platform': accountSetting.addressPlatform,
    'address.user': accountSetting.addressUser,
    'payouts.enabled': accountSetting.payoutsEnabled,
    'payouts.reasonCodeNotEnabled': accountSetting.payoutsReason,
    ofConnectedUser: accountSetting.ofConnectedUser,
  },
  byAccount: ['accountId'],
};

const UpdateAccountSettingPayload = payloadOf('UpdateAccountSetting', 'accountSetting', AccountSetting);

@Resolver(() => AccountSetting)
export class AccountSettingResolver {
  /** Changes a setting. Spec: Endpoints, POST /v1/account_settings/:id. */
  @Mutation(() => UpdateAccountSettingPayload, {
    description:
      'Changes a setting. Switching a kind on, or adding a currency, also issues ' +
      'addresses to accounts that are activated already.',
  })
  async updateAccountSetting(
    @Input(() => UpdateAccountSettingInput) input: UpdateAccountSettingInput,
    @Ctx() context: Context,
  ) {
    const { id, ...changes } = input;
    const setting = await context.scope.one(accountSetting, id);
    const owner = await context.scope.one(account, setting.accountId);
    permitPayouts(context, owner, input.payouts);
    const problems = applicability(setting, input);
    if (problems.length > 0) throw new DomainError(...problems);
    if (Object.values(changes).every((value) => value === undefined)) return { accountSetting: setting };
    return {
      accountSetting: await context.write('update_account_setting', accountSetting, {
        ...input,
        addressCurrency: distinct(input.addressCurrency),
      }),
    };
  }
}

/** Removes repeated currencies, because a second address in the same currency has no use. */
function distinct(offers: UpdateAccountSettingInput['addressCurrency']) {
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
function permitPayouts({ caller }: Context, owner: AccountRow, payouts: PayoutSettingsInput | null | undefined): void {
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
function applicability(setting: AccountSettingRow, input: UpdateAccountSettingInput): Problem[] {
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
const filled = ['address', 'address_currency', 'payouts'];
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
