import { everyone } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, get, list, post, stored } from '../define.js';
import { fields, link, many, node, object, one } from '../edges.js';
import { AccountSettingArgs, accountSettingListing } from './listing.js';
import { AccountSettingResolver } from './resolver.js';
import { settingLimits, settingProblems, payoutRelations } from './rules.js';
import { accountSetting } from './table.js';
import { AccountSetting, AccountSettingConnection, PayoutSettings } from './type.js';
import { accountSettingV1 } from './v1.js';

export default defineResource({
  object: 'account_setting',
  node: node('account_setting', accountSetting, AccountSetting, {
    listing: accountSettingListing,
    connection: AccountSettingConnection,
    compiled: true,
  }),
  stored: { account_setting: stored(accountSetting, accountSettingV1) },
  resolvers: [AccountSettingResolver],
  operations: {
    accountSetting: {
      reads: one('A setting that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [get('/v1/account_settings/:id')],
    },
    accountSettings: {
      reads: many(AccountSettingArgs, "The settings of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [list('/v1/account_settings')],
    },
    connectedAccountSettings: {
      reads: many(AccountSettingArgs, "The settings of a platform's connected users.", { ofConnectedUser: true }),
      access: 'read',
      callers: ['platform'],
      asItself: true,
      routes: [list('/v1/account_settings/connected')],
    },
    updateAccountSetting: {
      parameters: payoutRelations,
      access: 'write',
      callers: everyone,
      keysOnly: 'update account settings',
      rules: settingProblems,
      limits: settingLimits,
      // The specification knows no such setting.
      routes: [post('/v1/account_settings/:id', { without: ['autoReconcile'] })],
    },
  },
  fields: [
    fields(accountSetting, {
      payouts: object(
        () => PayoutSettings,
        {
          enabled: 'payoutsEnabled',
          interval: 'payoutsInterval',
          monthlyAnchor: 'payoutsMonthlyAnchor',
          weeklyAnchor: 'payoutsWeeklyAnchor',
          reasonCodeNotEnabled: 'payoutsReason',
        },
        { description: 'How and whether the account is paid out.' },
      ),
      account: link(account, 'accountId', { description: 'The account that the setting belongs to.' }),
    }),
    fields(account, {
      setting: link(accountSetting, 'id', {
        by: accountSetting.accountId,
        description: "The account's setting in the caller's mode.",
      }),
    }),
  ],
  events: {
    'account_setting.updated':
      'A setting of an account was changed, by a request, by the operator or by its activation.',
  },
});
