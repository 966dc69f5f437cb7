import { registerEnumType, Field, ObjectType, ID } from 'type-graphql';
import { AddressCategory, AddressType, AddressStatus, LinkedObject, WalletProvider, VpaState } from './table.js';
import { bankAccountTexts, upiTexts, documentText } from './texts.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, Currency, Metadata } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { PostalAddress } from '../account/type.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(AddressCategory, {
  name: 'AddressCategory',
  description: 'What an address is for.',
  valuesConfig: {
    SERVICE_RECEIVE: { description: 'Created by the service so that the account can accept funds.' },
    USER_PAYOUT: { description: 'Created to pay a user out.' },
    PARTNER_PAYMENT: { description: 'Where a partner has paid from.' },
    SERVICE_CHECKOUT: { description: 'For funds that come through a checkout.' },
    SERVICE_FEE_ADVANCE: { description: 'Where a platform keeps an advance for fees.' },
  },
});

registerEnumType(AddressType, {
  name: 'AddressType',
  description: 'What kind of destination an address is.',
  valuesConfig: {
    BANK_ACCOUNT: { description: 'A bank account.' },
    WALLET: { description: 'A wallet of a buy-now-pay-later or payment provider.' },
    VPA: { description: 'A UPI virtual payment address. Edition 2 only.' },
  },
});

registerEnumType(AddressStatus, {
  name: 'AddressStatus',
  description: 'Whether an address can be used.',
  valuesConfig: {
    ACTIVATED: { description: 'Usable to send or receive.' },
    DEACTIVATED: { description: 'Not usable.' },
    EXPIRED: { description: 'Not reusable.' },
    PENDING_DEACTIVATION: { description: 'Scheduled for deactivation.' },
  },
});

registerEnumType(LinkedObject, {
  name: 'LinkedObject',
  description: 'What owns an address.',
  valuesConfig: { ACCOUNT: { description: 'An account.' } },
});

registerEnumType(WalletProvider, {
  name: 'WalletProvider',
  description: 'The provider of a wallet.',
  valuesConfig: {
    AFFIRM: { description: 'Affirm.' },
    AFTERPAY: { description: 'Afterpay.' },
    KLARNA: { description: 'Klarna.' },
    PAYPAL_EXTERNAL: { description: 'PayPal.' },
  },
});

registerEnumType(VpaState, {
  name: 'VpaState',
  description: 'Whether a kind of UPI payment is possible.',
  valuesConfig: {
    ENABLED: { description: 'Payments of this kind are possible.' },
    DISABLED: { description: 'Payments of this kind are not possible.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'Details of a bank account, as far as its rails need them.' })
export class BankAccount {
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
  @Field(() => String, { nullable: true, description: 'The last four characters of the account number or the IBAN.' })
  last4?: string | null;
  @Field(() => String, { nullable: true, description: bankAccountTexts.number })
  number?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'On receiving addresses, which transfers the account accepts: `all`.',
  })
  type?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'A wallet, by its provider.' })
export class Wallet {
  @Field(() => WalletProvider, { description: 'The company that keeps the wallet.' })
  provider: WalletProvider;
}

@ObjectType({ simpleResolvers: true, description: 'Which UPI payments an address accepts.' })
export class VpaUpi {
  @Field(() => VpaState, { description: upiTexts.onetime })
  onetime: VpaState;
  @Field(() => VpaState, { description: upiTexts.recurring })
  recurring: VpaState;
}

@ObjectType({ simpleResolvers: true, description: 'A UPI virtual payment address.' })
export class Vpa {
  @Field(() => String, { description: 'The virtual payment address, such as `priya@okbank`.' })
  id: string;
  @Field(() => VpaUpi, { description: 'Which UPI payments the address accepts.' })
  upi: VpaUpi;
}

@ObjectType({
  simpleResolvers: true,
  description: 'File ids of documents that prove the authenticity of a destination.',
})
export class AddressDocumentation {
  @Field(() => ID, { nullable: true, description: documentText })
  idDocument?: string | null;
}

/** A destination for stored value: it receives or sends funds. Spec: Address. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A destination for stored value: it receives or sends funds.',
})
export class Address extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => AddressCategory, { description: 'What the address is for.' })
  category: AddressCategory;
  @Field(() => AddressType, { description: 'Whether the address is a bank account, a wallet or a UPI address.' })
  type: AddressType;
  @Field(() => AddressStatus, { description: 'Whether the address can be used.' })
  status: AddressStatus;
  @Field(() => Currency, { description: 'The currency that the address accepts, such as `USD`.' })
  currency: string;
  @Field(() => String, { nullable: true, description: 'The name of the holder of the destination.' })
  name: string | null;
  @Field(() => Boolean, { description: 'Whether the address can be debited again by ACH.' })
  isReusable: boolean;
  @Field(() => ID, { description: 'The id of the account that owns the address.' })
  linkedId: string;
  @Field(() => BankAccount, { nullable: true, description: 'The bank account. Null for another type of address.' })
  bankAccount: BankAccount | null;
  @Field(() => PostalAddress, {
    nullable: true,
    description: 'The postal address of the holder. Null for the category SERVICE_RECEIVE.',
  })
  billingDetails: PostalAddress | null;
  @Field(() => AddressDocumentation, {
    nullable: true,
    description: 'The files that prove that the destination belongs to the account.',
  })
  supportingDocumentation: AddressDocumentation | null;
  @Field(() => Vpa, { nullable: true, description: 'The UPI address. Null for another type of address.' })
  vpa: Vpa | null;
  @Field(() => Wallet, { nullable: true, description: 'The wallet. Null for another type of address.' })
  wallet: Wallet | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadata })
  metadata: Record<string, string> | null;
}

export const AddressConnection = connectionOf('Address', () => Address);

export const CreateAddressPayload = payloadOf('CreateAddress', 'address', Address);
export const UpdateAddressPayload = payloadOf('UpdateAddress', 'address', Address);
