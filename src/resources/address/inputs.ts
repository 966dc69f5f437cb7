import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PostalAddressInput } from '../account/inputs.js';
import { PageArgs } from '../../types/pagination.js';
import { Currency, Metadata } from '../../types/scalars.js';
import { AddressCategory, AddressStatus, AddressType, LinkedObject, VpaState, WalletProvider } from './table.js';

const optional = { nullable: true } as const;

@InputType({ description: 'Which of these are required depends on the edition.' })
export class BankAccountInput {
  @Field(() => String, optional)
  bankName?: string | null;
  @Field(() => String, optional)
  domesticCredit?: string | null;
  @Field(() => String, optional)
  domesticDebit?: string | null;
  @Field(() => String, optional)
  domesticFastCredit?: string | null;
  @Field(() => String, optional)
  domesticWire?: string | null;
  @Field(() => String, optional)
  globalWire?: string | null;
  @Field(() => String, optional)
  iban?: string | null;
  @Field(() => String, optional)
  number?: string | null;
}

@InputType({ description: 'File ids of documents that prove the authenticity of a destination.' })
export class AddressDocumentationInput {
  @Field(() => ID, optional)
  idDocument?: string | null;
}

@InputType({ description: 'Creates a payout address. Spec: Create an Address.' })
export class CreateAddressInput {
  @Field(() => AddressCategory, { description: 'Only USER_PAYOUT.' })
  category: AddressCategory;
  @Field(() => AddressType, { description: 'Only BANK_ACCOUNT.' })
  type: AddressType;
  @Field(() => Currency, { description: 'Edition 1: only INR.' })
  currency: string;
  @Field(() => ID, { description: 'An account of type USER or PLATFORM.' })
  linkedId: string;
  @Field(() => LinkedObject)
  linkedObject: LinkedObject;
  @Field(() => String)
  name: string;
  @Field(() => BankAccountInput)
  bankAccount: BankAccountInput;
  @Field(() => PostalAddressInput)
  billingDetails: PostalAddressInput;
  @Field(() => AddressDocumentationInput, optional)
  supportingDocumentation?: AddressDocumentationInput | null;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Changes the metadata of an address.' })
export class UpdateAddressInput {
  @Field(() => ID)
  id: string;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Filters addresses by their wallet.' })
export class WalletFilter {
  @Field(() => [WalletProvider], optional)
  provider?: WalletProvider[] | null;
}

@InputType({ description: 'Filters addresses by the UPI payments that they accept.' })
export class VpaUpiFilter {
  @Field(() => VpaState, optional)
  onetime?: VpaState | null;
  @Field(() => VpaState, optional)
  recurring?: VpaState | null;
}

@InputType({ description: 'Filters addresses by their UPI address. Edition 2.' })
export class VpaFilter {
  @Field(() => VpaUpiFilter, optional)
  upi?: VpaUpiFilter | null;
}

@ArgsType()
export class AddressOfAccountArgs extends PageArgs {
  @Field(() => [AddressCategory], { nullable: true, description: 'Only of these categories.' })
  category?: AddressCategory[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  @Field(() => Boolean, {
    nullable: true,
    description: 'Only addresses that are reusable for ACH debit, or only those that are not.',
  })
  isReusable?: boolean | null;
  @Field(() => [AddressStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: AddressStatus[] | null;
  @Field(() => [AddressType], { nullable: true, description: 'Only of these types.' })
  type?: AddressType[] | null;
  @Field(() => WalletFilter, { nullable: true, description: 'Only wallets that match this filter.' })
  wallet?: WalletFilter | null;
  @Field(() => VpaFilter, { nullable: true, description: 'Edition 2.' })
  vpa?: VpaFilter | null;
}

@ArgsType()
export class AddressArgs extends AddressOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Addresses of this account; any within reach.' })
  linkedId?: string | null;
}
