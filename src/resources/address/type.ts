import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { PostalAddress } from '../account/type.js';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Currency, DateTime, Metadata } from '../../types/scalars.js';
import { AddressCategory, AddressStatus, AddressType, LinkedObject, VpaState, WalletProvider } from './table.js';

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
registerEnumType(AddressType, { name: 'AddressType', description: 'What kind of destination an address is.' });
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
registerEnumType(LinkedObject, { name: 'LinkedObject', description: 'What owns an address.' });
registerEnumType(WalletProvider, { name: 'WalletProvider', description: 'The provider of a wallet.' });
registerEnumType(VpaState, { name: 'VpaState', description: 'Whether a kind of UPI payment is possible.' });

const optional = { nullable: true } as const;

@ObjectType({ simpleResolvers: true, description: 'Details of a bank account, as far as its rails need them.' })
export class BankAccount {
  @Field(() => String, optional)
  bankName?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Routing code for domestic transfers, such as an ACH routing number or an IFSC.',
  })
  domesticCredit?: string | null;
  @Field(() => String, optional)
  domesticDebit?: string | null;
  @Field(() => String, optional)
  domesticFastCredit?: string | null;
  @Field(() => String, optional)
  domesticWire?: string | null;
  @Field(() => String, { nullable: true, description: 'SWIFT/BIC code.' })
  globalWire?: string | null;
  @Field(() => String, optional)
  iban?: string | null;
  @Field(() => String, optional)
  last4?: string | null;
  @Field(() => String, optional)
  number?: string | null;
  @Field(() => String, { nullable: true, description: 'On receiving addresses: what it accepts.' })
  type?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'A wallet, by its provider.' })
export class Wallet {
  @Field(() => WalletProvider)
  provider: WalletProvider;
}

@ObjectType({ simpleResolvers: true, description: 'Which UPI payments an address accepts.' })
export class VpaUpi {
  @Field(() => VpaState)
  onetime: VpaState;
  @Field(() => VpaState)
  recurring: VpaState;
}

@ObjectType({ simpleResolvers: true, description: 'A UPI virtual payment address.' })
export class Vpa {
  @Field(() => String)
  id: string;
  @Field(() => VpaUpi)
  upi: VpaUpi;
}

@ObjectType({
  simpleResolvers: true,
  description: 'File ids of documents that prove the authenticity of a destination.',
})
export class AddressDocumentation {
  @Field(() => ID, optional)
  idDocument?: string | null;
}

/** A destination for stored value: it receives or sends funds. Spec: Address. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A destination for stored value: it receives or sends funds.',
})
export class Address extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => AddressCategory)
  category: AddressCategory;
  @Field(() => AddressType)
  type: AddressType;
  @Field(() => AddressStatus)
  status: AddressStatus;
  @Field(() => Currency)
  currency: string;
  @Field(() => String, optional)
  name: string | null;
  @Field(() => Boolean, { description: 'Reusable for ACH debit.' })
  isReusable: boolean;
  @Field(() => ID, { description: 'The account that owns it.' })
  linkedId: string;
  @Field(() => BankAccount, optional)
  bankAccount: BankAccount | null;
  @Field(() => PostalAddress, optional)
  billingDetails: PostalAddress | null;
  @Field(() => AddressDocumentation, optional)
  supportingDocumentation: AddressDocumentation | null;
  @Field(() => Vpa, optional)
  vpa: Vpa | null;
  @Field(() => Wallet, optional)
  wallet: Wallet | null;
  @Field(() => Metadata, optional)
  metadata: Record<string, string> | null;
}

export const AddressConnection = connectionOf('Address', () => Address);
