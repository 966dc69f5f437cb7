import { registerEnumType, Field, ObjectType, Int, ID } from 'type-graphql';
import { PayoutInterval, PayoutsDisabledReason } from './table.js';
import { offerTexts, offerCurrencyTexts, settingTexts } from './texts.js';
import { Currency, DateTime, Metadata } from '../../types/scalars.js';
import { Node } from '../../types/relay-node.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(PayoutInterval, {
  name: 'PayoutInterval',
  description: 'How often an account is paid out, at midnight UTC.',
  valuesConfig: {
    DAILY: { description: 'Every day.' },
    WEEKLY: { description: 'Every week, on the day of `weeklyAnchor`.' },
    MONTHLY: {
      description: "Every month, on the day of `monthlyAnchor`, or on the month's last day if it is shorter.",
    },
  },
});

registerEnumType(PayoutsDisabledReason, {
  name: 'PayoutsDisabledReason',
  description: 'Why payouts of an account are disabled.',
  valuesConfig: {
    ACCOUNT_NOT_ACTIVATED: { description: 'The account is not activated.' },
    PLATFORM_HOLD: { description: 'Disabled by the platform.' },
    SERVICE_HOLD: { description: 'Disabled by the service.' },
  },
});

@ObjectType({
  simpleResolvers: true,
  description: 'Whether accounts of a kind are offered receiving addresses; null where the kind does not apply.',
})
export class AddressOffer {
  @Field(() => Boolean, { nullable: true, description: offerTexts.connectedUser })
  connectedUser: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.connectedUserPartner })
  connectedUserPartner: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.partner })
  partner: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.platform })
  platform: boolean | null;
  @Field(() => Boolean, { nullable: true, description: offerTexts.user })
  user: boolean | null;
}

@ObjectType({ simpleResolvers: true, description: 'The currencies of the receiving addresses that a kind is offered.' })
export class AddressCurrencyOffer {
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.connectedUser })
  connectedUser: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.connectedUserPartner })
  connectedUserPartner: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.partner })
  partner: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.platform })
  platform: string[] | null;
  @Field(() => [Currency], { nullable: true, description: offerCurrencyTexts.user })
  user: string[] | null;
}

@ObjectType({ simpleResolvers: true, description: 'How and whether an account is paid out.' })
export class PayoutSettings {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether payouts are sent. Null where payouts do not apply: partners, and users of an aggregator.',
  })
  enabled: boolean | null;
  @Field(() => PayoutInterval, { description: settingTexts.interval })
  interval: PayoutInterval;
  @Field(() => Int, {
    nullable: true,
    description: 'Day of the month, 1 to 31, clamped to its end; with the interval MONTHLY.',
  })
  monthlyAnchor: number | null;
  @Field(() => Int, { nullable: true, description: 'Day of the week, 1 (Monday) to 7; with the interval WEEKLY.' })
  weeklyAnchor: number | null;
  @Field(() => PayoutsDisabledReason, {
    nullable: true,
    description: 'Why payouts are disabled. Null if they are enabled, and where payouts do not apply.',
  })
  reasonCodeNotEnabled: PayoutsDisabledReason | null;
}

/** The settings of an account; one object per account and mode. Spec: AccountSetting. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'The settings of an account. They are created with the account.',
})
export class AccountSetting extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the account that the setting belongs to.' })
  accountId: string;
  @Field(() => Metadata, { nullable: true, description: texts.metadata })
  metadata: Record<string, string> | null;
  @Field(() => AddressOffer, { description: settingTexts.address })
  address: AddressOffer;
  @Field(() => AddressCurrencyOffer, { description: settingTexts.addressCurrency })
  addressCurrency: AddressCurrencyOffer;
  @Field(() => Boolean, {
    description:
      'Whether payouts of connected users are processed at once, with the ' +
      'exchange rate of that time. False in Edition 2.',
  })
  liveFx: boolean;
  @Field(() => Boolean, { description: settingTexts.autoReconcile })
  autoReconcile: boolean;
}

export const AccountSettingConnection = connectionOf('AccountSetting', () => AccountSetting);

export const UpdateAccountSettingPayload = payloadOf('UpdateAccountSetting', 'accountSetting', AccountSetting);
