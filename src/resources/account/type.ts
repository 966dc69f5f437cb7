import { registerEnumType, Field, ObjectType, ID, Int } from 'type-graphql';
import {
  AccountType,
  AccountSubType,
  AccountStatus,
  AccountAddressState,
  CapabilityStatus,
  BusinessType,
  type AccountKind,
} from './table.js';
import {
  addressTexts,
  businessIdTexts,
  volumeTexts,
  businessTexts,
  documentTexts,
  acceptanceTexts,
  accountTexts,
} from './texts.js';
import { CountryCode, Amount, Currency, EmailAddress, LocalDate, IP, DateTime, Metadata } from '../../types/scalars.js';
import { Node } from '../../types/relay-node.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(AccountType, {
  name: 'AccountType',
  description: 'What an account is: a platform, a user of the service, or a partner that pays.',
  valuesConfig: {
    PLATFORM: { description: 'Created by the operator of the service. It can create its own users and partners.' },
    USER: { description: 'Receives funds: a direct user, or a connected user that a platform created.' },
    PARTNER: { description: 'The counterparty that pays.' },
  },
});

registerEnumType(AccountSubType, {
  name: 'AccountSubType',
  description: 'A special kind of platform. Edition 2 only.',
  valuesConfig: {
    AGGREGATOR: {
      description: 'A platform that facilitates payments for its users and is itself in the flow of the funds.',
    },
  },
});

registerEnumType(AccountStatus, {
  name: 'AccountStatus',
  description: 'How far an account has come.',
  valuesConfig: {
    DRAFT: { description: 'Created, not yet submitted for activation.' },
    VERIFYING: { description: 'The activation request is submitted and being verified.' },
    ACTIVATED: { description: 'Can create live receivables and receive payouts.' },
    DEACTIVATED: { description: 'Can neither create live receivables nor receive payouts.' },
    HOLD: { description: "Held after a verification outcome; contact the operator's operations team." },
  },
});

registerEnumType(AccountAddressState, {
  name: 'AccountAddressState',
  description: "State of an account's receiving addresses.",
  valuesConfig: {
    DEACTIVATED: { description: 'The account has no usable receiving addresses.' },
    REQUESTED: { description: 'The addresses are requested.' },
    PROCESSING: { description: 'The bank is issuing the addresses.' },
    ACTIVATED: { description: 'The addresses can receive funds.' },
  },
});

registerEnumType(CapabilityStatus, {
  name: 'CapabilityStatus',
  description: 'How far a capability has come.',
  valuesConfig: {
    PENDING: { description: 'Not yet submitted.' },
    VERIFYING: { description: 'Submitted and being verified.' },
    ACTIVATED: { description: 'The additional currencies are enabled.' },
    HOLD: { description: "Held; contact the operator's operations team." },
  },
});

registerEnumType(BusinessType, {
  name: 'BusinessType',
  description: 'The legal form of a business.',
  valuesConfig: {
    COMPANY: { description: 'A company.' },
    LIMITED_LIABILITY_PARTNERSHIP: { description: 'A limited liability partnership (LLP).' },
    SOLE_PROPRIETOR: { description: 'A business of one person, who is its owner.' },
    INDIVIDUAL: { description: 'A natural person.' },
    PARTNERSHIP: { description: 'A partnership.' },
    BUSINESS: { description: 'A business of another or an unstated legal form.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'A postal address.' })
export class PostalAddress {
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

@ObjectType({ simpleResolvers: true, description: 'Identifiers of a business.' })
export class BusinessIds {
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

@ObjectType({ simpleResolvers: true, description: 'An amount a month.' })
export class Volume {
  @Field(() => Amount, { nullable: true, description: volumeTexts.amount })
  amount?: string | null;
  @Field(() => Currency, { nullable: true, description: volumeTexts.currency })
  currency?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'Who a business is and what it does.' })
export class BusinessDetails {
  @Field(() => String, { nullable: true, description: businessTexts.legalName })
  legalName?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.dba })
  dba?: string | null;
  @Field(() => EmailAddress, { nullable: true, description: businessTexts.email })
  email?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.website })
  website?: string | null;
  @Field(() => LocalDate, { nullable: true, description: businessTexts.dateOfIncorporation })
  dateOfIncorporation?: string | null;
  @Field(() => BusinessType, { nullable: true, description: businessTexts.type })
  type?: BusinessType | null;
  @Field(() => BusinessIds, { nullable: true, description: businessTexts.ids })
  ids?: BusinessIds | null;
  @Field(() => PostalAddress, { nullable: true, description: businessTexts.physicalAddress })
  physicalAddress?: PostalAddress | null;
  @Field(() => String, { nullable: true, description: businessTexts.merchantCategoryCode })
  merchantCategoryCode?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.merchantSize })
  merchantSize?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.productCategory })
  productCategory?: string | null;
  @Field(() => String, { nullable: true, description: businessTexts.productDescription })
  productDescription?: string | null;
  @Field(() => Volume, { nullable: true, description: businessTexts.estimatedMonthlyVolume })
  estimatedMonthlyVolume?: Volume | null;
}

@ObjectType({ simpleResolvers: true, description: 'File ids of the documents that support an account.' })
export class SupportingDocumentation {
  @Field(() => ID, { nullable: true, description: documentTexts.idDocument })
  idDocument?: string | null;
  @Field(() => ID, { nullable: true, description: documentTexts.ownershipStructureDocument })
  ownershipStructureDocument?: string | null;
  @Field(() => ID, { nullable: true, description: documentTexts.physicalAddressDocument })
  physicalAddressDocument?: string | null;
}

@ObjectType({
  simpleResolvers: true,
  description: 'When, from where and with what the terms of service were accepted.',
})
export class TosAcceptance {
  @Field(() => IP, { nullable: true, description: acceptanceTexts.ip })
  ip?: string | null;
  @Field(() => DateTime, { nullable: true, description: acceptanceTexts.time })
  time?: number | null;
  @Field(() => String, { nullable: true, description: acceptanceTexts.userAgent })
  userAgent?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'What an account can do beyond the default.' })
export class AccountCapabilities {
  @Field(() => CapabilityStatus, {
    nullable: true,
    description: 'Whether the account can receive further currencies. Edition 1 only.',
  })
  multicurrencyExportsV1: CapabilityStatus | null;
}

/**
 * A platform, a user (direct or connected) or a partner.
 * Spec: Account.
 */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A platform, a user or a partner: an account receives or pays funds.',
})
export class Account extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  livemode: boolean;
  kind: AccountKind;
  ownerId: string | null;
  capabilityStatus: CapabilityStatus;
  @Field(() => Int, { description: 'The edition of the interface that the account belongs to: 1 or 2.' })
  edition: number;
  @Field(() => AccountType, { description: 'Whether the account is a platform, a user or a partner.' })
  type: AccountType;
  @Field(() => AccountSubType, {
    nullable: true,
    description: 'AGGREGATOR for an aggregator platform of Edition 2, otherwise null.',
  })
  subType: AccountSubType | null;
  @Field(() => AccountStatus, { description: 'How far the account has come, from DRAFT to ACTIVATED.' })
  status: AccountStatus;
  @Field(() => DateTime, {
    nullable: true,
    description:
      'Since when the account has this status. Null for a status from before version 0.4.0 whose beginning was not ' +
      'recorded.',
  })
  statusSince: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'A name that is unique within the tenant and mode; capitals and small letters count as the same.',
  })
  nickname: string | null;
  @Field(() => AccountAddressState, {
    description: 'The state of the receiving addresses of category SERVICE_RECEIVE.',
  })
  address: AccountAddressState;
  @Field(() => BusinessDetails, { description: accountTexts.details })
  businessDetails: BusinessDetails;
  @Field(() => ID, { nullable: true, description: accountTexts.logoId })
  logoId: string | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadata })
  metadata: Record<string, string> | null;
  @Field(() => SupportingDocumentation, { description: accountTexts.supportingDocumentation })
  supportingDocumentation: SupportingDocumentation;
  @Field(() => TosAcceptance, { description: accountTexts.tosAcceptance })
  tosAcceptance: TosAcceptance;
}

export const AccountConnection = connectionOf('Account', () => Account, {
  BALANCE_DESC: 'The largest balance in one currency first.',
  BALANCE_ASC: 'The smallest balance in one currency first.',
});

export const CreateAccountPayload = payloadOf('CreateAccount', 'account', Account);
export const CreateConnectedUserPayload = payloadOf('CreateConnectedUser', 'account', Account);
export const UpdateAccountPayload = payloadOf('UpdateAccount', 'account', Account);
