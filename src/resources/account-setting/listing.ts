import { Field, ID, ArgsType } from 'type-graphql';
import { pageArgsOf, type Listing } from '../../types/pagination.js';
import { AddressOfferFilter, PayoutSettingsFilter } from './inputs.js';
import { accountSetting } from './table.js';

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
