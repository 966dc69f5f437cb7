import { Field, InputType, ID } from 'type-graphql';
import {
  addressTexts,
  businessIdTexts,
  volumeTexts,
  businessTexts,
  documentTexts,
  acceptanceTexts,
  accountTexts,
} from './texts.js';
import { CountryCode, Amount, Currency, EmailAddress, IP, DateTime, Metadata } from '../../types/scalars.js';
import { BusinessType, AccountType, CapabilityStatus } from './table.js';
import { texts } from '../../types/texts.js';

@InputType({ description: 'A postal address.' })
export class PostalAddressInput {
  @Field(() => String, { nullable: true, description: addressTexts.line1 })
  line1?: string | null;
  @Field(() => String, { nullable: true, description: addressTexts.line2 })
  line2?: string | null;
  @Field(() => String, { nullable: true, description: addressTexts.city })
  city?: string | null;
  @Field(() => String, { nullable: true, description: addressTexts.state })
  state?: string | null;
  @Field(() => String, { nullable: true, description: addressTexts.postalCode })
  postalCode?: string | null;
  @Field(() => CountryCode, { nullable: true, description: addressTexts.country })
  country?: string | null;
}

@InputType({ description: 'Identifiers of a business.' })
export class BusinessIdsInput {
  @Field(() => String, { nullable: true, description: businessIdTexts.business })
  business?: string | null;
  @Field(() => String, { nullable: true, description: businessIdTexts.tax })
  tax?: string | null;
  @Field(() => String, { nullable: true, description: businessIdTexts.taxDeduction })
  taxDeduction?: string | null;
  @Field(() => String, { nullable: true, description: businessIdTexts.taxGst })
  taxGst?: string | null;
  @Field(() => String, { nullable: true, description: businessIdTexts.taxTrade })
  taxTrade?: string | null;
}

@InputType({ description: 'An amount a month.' })
export class VolumeInput {
  @Field(() => Amount, { description: volumeTexts.amount })
  amount: bigint;
  @Field(() => Currency, { description: volumeTexts.currency })
  currency: string;
}

@InputType({
  description:
    'The details of a business. Creating a partner requires `legalName`, `type` and `physicalAddress.country`. ' +
    'Edition 1 also requires `email`. Edition 2 also requires `physicalAddress.postalCode`.',
})
export class BusinessDetailsInput {
  @Field(() => String, { nullable: true, description: businessTexts.legalName })
  legalName?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.dba })
  dba?: string | null;
  @Field(() => EmailAddress, { nullable: true, description: businessTexts.email })
  email?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.website })
  website?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.dateOfIncorporation })
  dateOfIncorporation?: string | null;
  @Field(() => BusinessType, { nullable: true, description: businessTexts.type })
  type?: BusinessType | null;
  @Field(() => BusinessIdsInput, { nullable: true, description: businessTexts.ids })
  ids?: BusinessIdsInput | null;
  @Field(() => String, {
    nullable: true,
    description:
      'The GST id of the business, as in the rules for activation: the same ' +
      'as `ids.taxGst`, where it is stored and shown.',
  })
  taxGst?: string | null;
  @Field(() => PostalAddressInput, { nullable: true, description: businessTexts.physicalAddress })
  physicalAddress?: PostalAddressInput | null;
  @Field(() => String, { nullable: true, description: businessTexts.merchantCategoryCode })
  merchantCategoryCode?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.merchantSize })
  merchantSize?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.productCategory })
  productCategory?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.productDescription })
  productDescription?: string | null;
  @Field(() => VolumeInput, { nullable: true, description: businessTexts.estimatedMonthlyVolume })
  estimatedMonthlyVolume?: VolumeInput | null;
}

@InputType({ description: 'File ids of documents, of a verification purpose.' })
export class SupportingDocumentationInput {
  @Field(() => ID, { nullable: true, description: documentTexts.idDocument })
  idDocument?: string | null;
  @Field(() => ID, { nullable: true, description: documentTexts.ownershipStructureDocument })
  ownershipStructureDocument?: string | null;
  @Field(() => ID, { nullable: true, description: documentTexts.physicalAddressDocument })
  physicalAddressDocument?: string | null;
}

@InputType({ description: 'When, from where and with what the terms of service were accepted.' })
export class TosAcceptanceInput {
  @Field(() => IP, { nullable: true, description: acceptanceTexts.ip })
  ip?: string | null;
  @Field(() => DateTime, { nullable: true, description: acceptanceTexts.time })
  time?: number | null;
  @Field(() => String, { nullable: true, description: acceptanceTexts.userAgent })
  userAgent?: string | null;
}

@InputType({ description: 'Creates a partner of the acting account.' })
export class CreateAccountInput {
  @Field(() => AccountType, { description: 'Only PARTNER.' })
  type: AccountType;
  @Field(() => BusinessDetailsInput, { description: accountTexts.details })
  businessDetails: BusinessDetailsInput;
  @Field(() => String, {
    nullable: true,
    description: 'A name that is unique within the tenant and mode, such as `Acme Retail`. Required in Edition 1.',
  })
  nickname?: string | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Creates a connected user of the platform, in status DRAFT.' })
export class CreateConnectedUserInput {
  @Field(() => BusinessDetailsInput, { nullable: true, description: accountTexts.details })
  businessDetails?: BusinessDetailsInput | null;
  @Field(() => String, { nullable: true, description: accountTexts.nickname })
  nickname?: string | null;
  @Field(() => ID, { nullable: true, description: accountTexts.logoId })
  logoId?: string | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
  @Field(() => SupportingDocumentationInput, { nullable: true, description: accountTexts.supportingDocumentation })
  supportingDocumentation?: SupportingDocumentationInput | null;
  @Field(() => TosAcceptanceInput, { nullable: true, description: accountTexts.tosAcceptance })
  tosAcceptance?: TosAcceptanceInput | null;
}

@InputType({
  description:
    'Changes a connected user in status DRAFT. Members that are absent stay as they are; null clears a member.',
})
export class UpdateAccountInput extends CreateConnectedUserInput {
  @Field(() => ID, { description: 'The id of the connected user to change.' })
  id: string;
}

@InputType({ description: 'Filters accounts by their capabilities. Edition 1 only.' })
export class AccountCapabilitiesFilter {
  @Field(() => CapabilityStatus, {
    nullable: true,
    description: 'Only accounts whose capability for further currencies is in this state.',
  })
  multicurrencyExportsV1?: CapabilityStatus | null;
}
