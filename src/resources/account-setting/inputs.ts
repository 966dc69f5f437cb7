import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../types/pagination.js';
import { Currency, Metadata } from '../../types/scalars.js';
import { PayoutInterval, PayoutReasonCode } from './table.js';

const optional = { nullable: true } as const;

@InputType({ description: 'Whether accounts of a kind are offered receiving addresses.' })
export class AddressOfferInput {
  @Field(() => Boolean, optional)
  connectedUser?: boolean | null;
  @Field(() => Boolean, optional)
  connectedUserPartner?: boolean | null;
  @Field(() => Boolean, optional)
  partner?: boolean | null;
  @Field(() => Boolean, optional)
  platform?: boolean | null;
  @Field(() => Boolean, optional)
  user?: boolean | null;
}

@InputType({ description: 'The currencies of the receiving addresses that a kind is offered.' })
export class AddressCurrencyOfferInput {
  @Field(() => [Currency], optional)
  connectedUser?: string[] | null;
  @Field(() => [Currency], optional)
  connectedUserPartner?: string[] | null;
  @Field(() => [Currency], optional)
  partner?: string[] | null;
  @Field(() => [Currency], optional)
  platform?: string[] | null;
  @Field(() => [Currency], optional)
  user?: string[] | null;
}

@InputType({ description: 'How an account is paid out.' })
export class PayoutSettingsInput {
  @Field(() => Boolean, { nullable: true, description: 'Set by a platform on its connected users.' })
  enabled?: boolean | null;
  @Field(() => PayoutInterval, optional)
  interval?: PayoutInterval | null;
  @Field(() => Int, { nullable: true, description: '1 to 31; with the interval MONTHLY.' })
  monthlyAnchor?: number | null;
  @Field(() => Int, { nullable: true, description: '1 (Monday) to 7; with the interval WEEKLY.' })
  weeklyAnchor?: number | null;
}

@InputType({ description: 'Changes a setting. Objects merge: absent members stay.' })
export class UpdateAccountSettingInput {
  @Field(() => ID)
  id: string;
  @Field(() => AddressOfferInput, optional)
  address?: AddressOfferInput | null;
  @Field(() => AddressCurrencyOfferInput, optional)
  addressCurrency?: AddressCurrencyOfferInput | null;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
  @Field(() => PayoutSettingsInput, { nullable: true, description: 'Edition 1.' })
  payouts?: PayoutSettingsInput | null;
}

@InputType({ description: 'By the state of payouts.' })
export class PayoutFilter {
  @Field(() => Boolean, optional)
  enabled?: boolean | null;
  @Field(() => [PayoutReasonCode], optional)
  reasonCodeNotEnabled?: PayoutReasonCode[] | null;
}

@ArgsType()
export class AccountSettingArgs extends PageArgs {
  @Field(() => [ID], { nullable: true, description: 'Settings of these accounts; any account within reach.' })
  accountId?: string[] | null;
  @Field(() => AddressOfferInput, { nullable: true, description: 'Only accounts with these settings.' })
  address?: AddressOfferInput | null;
  @Field(() => PayoutFilter, { nullable: true, description: 'Only settings whose payouts match this filter.' })
  payouts?: PayoutFilter | null;
}
