import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Currency, DateTime, Metadata } from '../../types/scalars.js';
import { PayoutInterval, PayoutReasonCode } from './table.js';

registerEnumType(PayoutInterval, {
  name: 'PayoutInterval',
  description: 'How often an account is paid out, at midnight UTC.',
});
registerEnumType(PayoutReasonCode, {
  name: 'PayoutReasonCode',
  description: 'Why payouts of an account are disabled.',
  valuesConfig: {
    ACCOUNT_NOT_ACTIVATED: { description: 'The account is not activated.' },
    PLATFORM_HOLD: { description: 'Disabled by the platform.' },
    SERVICE_HOLD: { description: 'Disabled by the service.' },
  },
});

const optional = { nullable: true } as const;

@ObjectType({
  simpleResolvers: true,
  description: 'Whether accounts of a kind are offered receiving addresses; null where the kind does not apply.',
})
export class AddressOffer {
  @Field(() => Boolean, optional)
  connectedUser: boolean | null;
  @Field(() => Boolean, optional)
  connectedUserPartner: boolean | null;
  @Field(() => Boolean, optional)
  partner: boolean | null;
  @Field(() => Boolean, optional)
  platform: boolean | null;
  @Field(() => Boolean, optional)
  user: boolean | null;
}

@ObjectType({ simpleResolvers: true, description: 'The currencies of the receiving addresses that a kind is offered.' })
export class AddressCurrencyOffer {
  @Field(() => [Currency], optional)
  connectedUser: string[] | null;
  @Field(() => [Currency], optional)
  connectedUserPartner: string[] | null;
  @Field(() => [Currency], optional)
  partner: string[] | null;
  @Field(() => [Currency], optional)
  platform: string[] | null;
  @Field(() => [Currency], optional)
  user: string[] | null;
}

@ObjectType({ simpleResolvers: true, description: 'How and whether an account is paid out.' })
export class PayoutSettings {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether payouts are sent. Null where payouts do not apply: partners, and users of an aggregator.',
  })
  enabled: boolean | null;
  @Field(() => PayoutInterval)
  interval: PayoutInterval;
  @Field(() => Int, {
    nullable: true,
    description: 'Day of the month, 1 to 31, clamped to its end; with the interval MONTHLY.',
  })
  monthlyAnchor: number | null;
  @Field(() => Int, { nullable: true, description: 'Day of the week, 1 (Monday) to 7; with the interval WEEKLY.' })
  weeklyAnchor: number | null;
  @Field(() => PayoutReasonCode, { nullable: true, description: 'Why payouts are disabled.' })
  reasonCodeNotEnabled: PayoutReasonCode | null;
}

/** The settings of an account; one object per account and mode. Spec: AccountSetting. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'The settings of an account. They are created with the account.',
})
export class AccountSetting extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  accountId: string;
  @Field(() => Metadata, optional)
  metadata: Record<string, string> | null;
  @Field(() => AddressOffer)
  address: AddressOffer;
  @Field(() => AddressCurrencyOffer)
  addressCurrency: AddressCurrencyOffer;
  @Field(() => Boolean, { description: 'Whether payouts of connected users are processed at once.' })
  liveFx: boolean;
}

export const AccountSettingConnection = connectionOf('AccountSetting', () => AccountSetting);
