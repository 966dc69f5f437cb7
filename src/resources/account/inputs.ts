import { GraphQLEmailAddress, GraphQLIP } from 'graphql-scalars';
import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../types/pagination.js';
import { Amount, CountryCode, Currency, DateTime, Metadata } from '../../types/scalars.js';
import { AccountAddressState, AccountStatus, AccountType, BusinessType, CapabilityStatus } from './table.js';

const optional = { nullable: true } as const;

@InputType({ description: 'A postal address.' })
export class PostalAddressInput {
  @Field(() => String, optional)
  line1?: string | null;
  @Field(() => String, optional)
  line2?: string | null;
  @Field(() => String, optional)
  city?: string | null;
  @Field(() => String, optional)
  state?: string | null;
  @Field(() => String, optional)
  postalCode?: string | null;
  @Field(() => CountryCode, { nullable: true, description: 'Two-letter country code, such as `US`.' })
  country?: string | null;
}

@InputType({ description: 'Identifiers of a business.' })
export class BusinessIdsInput {
  @Field(() => String, optional)
  business?: string | null;
  @Field(() => String, optional)
  tax?: string | null;
  @Field(() => String, optional)
  taxDeduction?: string | null;
  @Field(() => String, optional)
  taxGst?: string | null;
  @Field(() => String, optional)
  taxTrade?: string | null;
}

@InputType({ description: 'An amount a month.' })
export class VolumeInput {
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency)
  currency: string;
}

@InputType({ description: 'Which of these are required depends on the edition and the operation.' })
export class BusinessDetailsInput {
  @Field(() => String, optional)
  legalName?: string | null;
  @Field(() => String, optional)
  dba?: string | null;
  @Field(() => GraphQLEmailAddress, optional)
  email?: string | null;
  @Field(() => String, optional)
  website?: string | null;
  @Field(() => String, optional)
  dateOfIncorporation?: string | null;
  @Field(() => BusinessType, optional)
  type?: BusinessType | null;
  @Field(() => BusinessIdsInput, optional)
  ids?: BusinessIdsInput | null;
  @Field(() => String, { nullable: true, description: 'The same as `ids.taxGst`, where it is stored and shown.' })
  taxGst?: string | null;
  @Field(() => PostalAddressInput, optional)
  physicalAddress?: PostalAddressInput | null;
  @Field(() => String, optional)
  merchantCategoryCode?: string | null;
  @Field(() => String, optional)
  merchantSize?: string | null;
  @Field(() => String, optional)
  productCategory?: string | null;
  @Field(() => String, optional)
  productDescription?: string | null;
  @Field(() => VolumeInput, { nullable: true, description: 'Edition 1.' })
  estimatedMonthlyVolume?: VolumeInput | null;
}

@InputType({ description: 'File ids of documents, of a verification purpose.' })
export class SupportingDocumentationInput {
  @Field(() => ID, optional)
  idDocument?: string | null;
  @Field(() => ID, { nullable: true, description: 'Edition 1.' })
  ownershipStructureDocument?: string | null;
  @Field(() => ID, { nullable: true, description: 'Edition 2.' })
  physicalAddressDocument?: string | null;
}

@InputType({ description: 'When, from where and with what the terms of service were accepted.' })
export class TosAcceptanceInput {
  @Field(() => GraphQLIP, optional)
  ip?: string | null;
  @Field(() => DateTime, optional)
  time?: number | null;
  @Field(() => String, optional)
  userAgent?: string | null;
}

@InputType({ description: 'Creates a partner of the context account. Spec: Create an Account.' })
export class CreateAccountInput {
  @Field(() => AccountType, { description: 'Only PARTNER.' })
  type: AccountType;
  @Field(() => BusinessDetailsInput)
  businessDetails: BusinessDetailsInput;
  @Field(() => String, { nullable: true, description: 'Required in Edition 1; unique within the tenant and mode.' })
  nickname?: string | null;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Creates a connected user of the platform, in status DRAFT.' })
export class CreateConnectedUserInput {
  @Field(() => BusinessDetailsInput, optional)
  businessDetails?: BusinessDetailsInput | null;
  @Field(() => String, optional)
  nickname?: string | null;
  @Field(() => ID, optional)
  logoId?: string | null;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
  @Field(() => SupportingDocumentationInput, optional)
  supportingDocumentation?: SupportingDocumentationInput | null;
  @Field(() => TosAcceptanceInput, optional)
  tosAcceptance?: TosAcceptanceInput | null;
}

@InputType({
  description: 'Changes a connected user in status DRAFT. Objects merge: absent members stay, null clears.',
})
export class UpdateAccountInput extends CreateConnectedUserInput {
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'Names an account.' })
export class AccountIdInput {
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'By capability. Edition 1.' })
export class CapabilityFilter {
  @Field(() => CapabilityStatus, optional)
  multicurrencyExportsV1?: CapabilityStatus | null;
}

@ArgsType()
export class AccountArgs extends PageArgs {
  @Field(() => [AccountAddressState], { nullable: true, description: 'Only accounts with these settings.' })
  address?: AccountAddressState[] | null;
  @Field(() => [AccountStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: AccountStatus[] | null;
  @Field(() => [AccountType], { nullable: true, description: 'Only of these types.' })
  type?: AccountType[] | null;
  @Field(() => CapabilityFilter, { nullable: true, description: 'Edition 1.' })
  capability?: CapabilityFilter | null;
}

@ArgsType()
export class PartnerArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'The owner of the partners; the context account by default.' })
  accountId?: string | null;
  @Field(() => [AccountStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: AccountStatus[] | null;
}
