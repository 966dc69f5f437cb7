import { everyone } from '../../auth/permissions.js';
import { defineResource, get, list, node, post, stored } from '../define.js';
import { AccountSettingOfAccount, AccountSettingResolver, settingProblems } from './resolver.js';
import { accountSetting } from './table.js';
import { AccountSetting } from './type.js';
import { accountSettingV1 } from './v1.js';

export default defineResource({
  object: 'account_setting',
  node: node('account_setting', accountSetting, AccountSetting),
  stored: { account_setting: stored(accountSetting, accountSettingV1) },
  resolvers: [AccountSettingResolver, AccountSettingOfAccount],
  operations: {
    accountSetting: { access: 'read', callers: everyone, routes: [get('/v1/account_settings/:id')] },
    accountSettings: { access: 'read', callers: everyone, routes: [list('/v1/account_settings')] },
    connectedAccountSettings: {
      access: 'read',
      callers: ['platform'],
      routes: [list('/v1/account_settings/connected')],
    },
    updateAccountSetting: {
      access: 'write',
      callers: everyone,
      rules: settingProblems,
      routes: [post('/v1/account_settings/:id')],
    },
  },
  events: ['account_setting.updated'],
});
