import { Field, InputType, ID } from 'type-graphql';
import { bankAccountTexts, documentText } from './texts.js';
import { AddressCategory, AddressType, LinkedObject, WalletProvider, VpaState } from './table.js';
import { Currency, Metadata } from '../../types/scalars.js';
import { PostalAddressInput } from '../account/inputs.js';
import { texts } from '../../types/texts.js';

@InputType({ description: 'Which of these are required depends on the edition.' })
export class BankAccountInput {
  @Field(() => String, { nullable: true, description: bankAccountTexts.bankName })
  bankName?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.domesticCredit })
  domesticCredit?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.domesticDebit })
  domesticDebit?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.domesticFastCredit })
  domesticFastCredit?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.domesticWire })
  domesticWire?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.globalWire })
  globalWire?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.iban })
  iban?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.number })
  number?: string | null;
}

@InputType({ description: 'File ids of documents that prove the authenticity of a destination.' })
export class AddressDocumentationInput {
  @Field(() => ID, { nullable: true, description: documentText })
  idDocument?: string | null;
}

@InputType({ description: 'Creates a payout address.' })
export class CreateAddressInput {
  @Field(() => AddressCategory, { description: 'Only USER_PAYOUT.' })
  category: AddressCategory;
  @Field(() => AddressType, { description: 'Only BANK_ACCOUNT.' })
  type: AddressType;
  @Field(() => Currency, {
    description: 'The currency in which the address is paid out, such as `INR`. In Edition 1 only INR.',
  })
  currency: string;
  @Field(() => ID, { description: 'The id of the account that the address belongs to: of type USER or PLATFORM.' })
  linkedId: string;
  @Field(() => LinkedObject, { description: 'What owns the address: only ACCOUNT.' })
  linkedObject: LinkedObject;
  @Field(() => String, { description: 'The name of the holder of the bank account.' })
  name: string;
  @Field(() => BankAccountInput, {
    description:
      'The bank account. Edition 1 requires `number` and `domesticCredit`. Edition 2 requires `number` or `iban`, ' +
      'and `globalWire` or `bankName`.',
  })
  bankAccount: BankAccountInput;
  @Field(() => PostalAddressInput, { description: 'The postal address of the holder.' })
  billingDetails: PostalAddressInput;
  @Field(() => AddressDocumentationInput, {
    nullable: true,
    description: 'The files that prove that the destination belongs to the account.',
  })
  supportingDocumentation?: AddressDocumentationInput | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Changes the metadata of an address.' })
export class UpdateAddressInput {
  @Field(() => ID, { description: 'The id of the address.' })
  id: string;
  @Field(() => Metadata, { nullable: true, description: texts.metadataChanges })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Filters addresses by their wallet.' })
export class WalletFilter {
  @Field(() => [WalletProvider], { nullable: true, description: 'Only wallets of these providers.' })
  provider?: WalletProvider[] | null;
}

@InputType({ description: 'Filters addresses by the UPI payments that they accept.' })
export class VpaUpiFilter {
  @Field(() => VpaState, {
    nullable: true,
    description: 'Only addresses that accept single payments, or only those that do not.',
  })
  onetime?: VpaState | null;
  @Field(() => VpaState, {
    nullable: true,
    description: 'Only addresses that accept recurring payments, or only those that do not.',
  })
  recurring?: VpaState | null;
}

@InputType({ description: 'Filters addresses by their UPI address. Edition 2.' })
export class VpaFilter {
  @Field(() => VpaUpiFilter, { nullable: true, description: 'Only UPI addresses that accept these payments.' })
  upi?: VpaUpiFilter | null;
}
