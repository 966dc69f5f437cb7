import { ID } from 'type-graphql';
import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { AddressOfferFilter, PayoutSettingsFilter } from './inputs.js';
import { accountSetting, accountSettingLists } from './table.js';

export const accountSettingListing = listingOf('account_setting', accountSettingLists(accountSetting));

export const [AccountSettingArgs] = argsOf('AccountSetting', accountSettingListing, {
  accountId: [[ID], 'Only the settings of these accounts. They may be any accounts that the caller can see.'],
  address: [AddressOfferFilter, 'Only settings that offer receiving addresses in this way.'],
  payouts: [PayoutSettingsFilter, 'Only settings whose payouts match this filter.'],
});
