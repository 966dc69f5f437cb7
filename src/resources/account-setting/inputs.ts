import { InputType, Field, Int, ID } from 'type-graphql';
import { offerTexts, offerCurrencyTexts, settingTexts } from './texts.js';
import { Currency, Metadata } from '../../types/scalars.js';
import { PayoutInterval, PayoutsDisabledReason } from './table.js';
import { texts } from '../../types/texts.js';

/** Which kinds of accounts are offered receiving addresses. */
@InputType()
class OfferByKind {
  @Field(() => Boolean, { nullable: true, description: offerTexts.connectedUser })
  connectedUser?: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.connectedUserPartner })
  connectedUserPartner?: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.partner })
  partner?: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.platform })
  platform?: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.user })
  user?: boolean | null;
}

@InputType({ description: 'Whether accounts of a kind are offered receiving addresses.' })
class AddressOfferInput extends OfferByKind {}

@InputType({ description: 'Filters settings by whether accounts of a kind are offered receiving addresses.' })
export class AddressOfferFilter extends OfferByKind {}

@InputType({ description: 'The currencies of the receiving addresses that a kind is offered.' })
export class AddressCurrencyOfferInput {
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.connectedUser })
  connectedUser?: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.connectedUserPartner })
  connectedUserPartner?: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.partner })
  partner?: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.platform })
  platform?: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.user })
  user?: string[] | null;
}

@InputType({ description: 'How an account is paid out.' })
export class PayoutSettingsInput {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether payouts are sent. Only a platform can set this, and only for its connected users.',
  })
  enabled?: boolean | null;
  @Field(() => PayoutInterval, { nullable: true, description: settingTexts.interval })
  interval?: PayoutInterval | null;
  @Field(() => Int, { nullable: true, description: 'The day of the month, 1 to 31, for the interval MONTHLY.' })
  monthlyAnchor?: number | null;
  @Field(() => Int, {
    nullable: true,
    description: 'The day of the week, 1 (Monday) to 7 (Sunday), for the interval WEEKLY.',
  })
  weeklyAnchor?: number | null;
}

@InputType({ description: 'Changes a setting. Members that are absent stay as they are.' })
export class UpdateAccountSettingInput {
  @Field(() => ID, { description: 'The id of the setting.' })
  id: string;
  @Field(() => AddressOfferInput, { nullable: true, description: settingTexts.address })
  address?: AddressOfferInput | null;
  @Field(() => AddressCurrencyOfferInput, { nullable: true, description: settingTexts.addressCurrency })
  addressCurrency?: AddressCurrencyOfferInput | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataChanges })
  metadata?: Record<string, string | null> | null;
  @Field(() => PayoutSettingsInput, { nullable: true, description: 'How the account is paid out. Edition 1 only.' })
  payouts?: PayoutSettingsInput | null;
  @Field(() => Boolean, { nullable: true, description: settingTexts.autoReconcile })
  autoReconcile?: boolean | null;
}

@InputType({ description: 'Filters settings by the state of payouts.' })
export class PayoutSettingsFilter {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Only settings whose payouts are enabled, or only those whose payouts are not.',
  })
  enabled?: boolean | null;
  @Field(() => [PayoutsDisabledReason], {
    nullable: true,
    description: 'Only settings whose payouts are disabled for one of these reasons.',
  })
  reasonCodeNotEnabled?: PayoutsDisabledReason[] | null;
}
