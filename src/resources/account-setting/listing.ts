import { Field, ID, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { AddressOfferFilter, PayoutSettingsFilter } from './inputs.js';
import { accountSetting, accountSettingLists } from './table.js';

@ArgsType()
export class AccountSettingArgs extends pageArgsOf('AccountSetting') {
  @Field(() => [ID], {
    nullable: true,
    description: 'Only the settings of these accounts. They may be any accounts that the caller can see.',
  })
  accountId?: string[] | null;
  @Field(() => AddressOfferFilter, {
    nullable: true,
    description: 'Only settings that offer receiving addresses in this way.',
  })
  address?: AddressOfferFilter | null;
  @Field(() => PayoutSettingsFilter, { nullable: true, description: 'Only settings whose payouts match this filter.' })
  payouts?: PayoutSettingsFilter | null;
}

export const accountSettingListing = listingOf('account_setting', accountSettingLists(accountSetting));
