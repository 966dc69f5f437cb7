import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime, Metadata } from '../../types/scalars.js';
import {
  AccountAddressState,
  type AccountKind,
  AccountStatus,
  AccountSubType,
  AccountType,
  BusinessType,
  CapabilityStatus,
} from './table.js';

registerEnumType(AccountType, {
  name: 'AccountType',
  description: 'What an account is: a platform, a user of the service, or a partner that pays.',
});
registerEnumType(AccountSubType, { name: 'AccountSubType', description: 'Edition 2.' });
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
});
registerEnumType(CapabilityStatus, { name: 'CapabilityStatus', description: 'How far a capability has come.' });
registerEnumType(BusinessType, { name: 'BusinessType', description: 'The legal form of a business.' });

const optional = { nullable: true } as const;

@ObjectType({ simpleResolvers: true, description: 'A postal address.' })
export class PostalAddress {
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
  @Field(() => String, { nullable: true, description: 'Two-letter country code.' })
  country?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'Identifiers of a business.' })
export class BusinessIds {
  @Field(() => String, { nullable: true, description: 'Company or LLP identification number.' })
  business?: string | null;
  @Field(() => String, { nullable: true, description: 'Business tax id.' })
  tax?: string | null;
  @Field(() => String, optional)
  taxDeduction?: string | null;
  @Field(() => String, { nullable: true, description: 'GST id.' })
  taxGst?: string | null;
  @Field(() => String, optional)
  taxTrade?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'An amount a month.' })
export class Volume {
  @Field(() => Amount, optional)
  amount?: string | null;
  @Field(() => Currency, optional)
  currency?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'Who a business is and what it does.' })
export class BusinessDetails {
  @Field(() => String, optional)
  legalName?: string | null;
  @Field(() => String, { nullable: true, description: 'The name under which it does business.' })
  dba?: string | null;
  @Field(() => String, optional)
  email?: string | null;
  @Field(() => String, optional)
  website?: string | null;
  @Field(() => String, optional)
  dateOfIncorporation?: string | null;
  @Field(() => BusinessType, optional)
  type?: BusinessType | null;
  @Field(() => BusinessIds, optional)
  ids?: BusinessIds | null;
  @Field(() => PostalAddress, optional)
  physicalAddress?: PostalAddress | null;
  @Field(() => String, optional)
  merchantCategoryCode?: string | null;
  @Field(() => String, optional)
  merchantSize?: string | null;
  @Field(() => String, optional)
  productCategory?: string | null;
  @Field(() => String, optional)
  productDescription?: string | null;
  @Field(() => Volume, { nullable: true, description: 'Edition 1.' })
  estimatedMonthlyVolume?: Volume | null;
}

@ObjectType({ simpleResolvers: true, description: 'File ids of the documents that support an account.' })
export class SupportingDocumentation {
  @Field(() => ID, optional)
  idDocument?: string | null;
  @Field(() => ID, { nullable: true, description: 'Edition 1.' })
  ownershipStructureDocument?: string | null;
  @Field(() => ID, { nullable: true, description: 'Edition 2.' })
  physicalAddressDocument?: string | null;
}

@ObjectType({
  simpleResolvers: true,
  description: 'When, from where and with what the terms of service were accepted.',
})
export class TosAcceptance {
  @Field(() => String, optional)
  ip?: string | null;
  @Field(() => DateTime, optional)
  time?: number | null;
  @Field(() => String, optional)
  userAgent?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'What an account can do beyond the default.' })
export class Capability {
  @Field(() => CapabilityStatus, { nullable: true, description: 'Edition 1: additional currencies.' })
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
  @Field(() => DateTime)
  created: number;
  livemode: boolean;
  kind: AccountKind;
  ownerId: string | null;
  capabilityStatus: CapabilityStatus;
  @Field(() => Int, { description: 'The edition of the interface that the account belongs to: 1 or 2.' })
  edition: number;
  @Field(() => AccountType)
  type: AccountType;
  @Field(() => AccountSubType, optional)
  subType: AccountSubType | null;
  @Field(() => AccountStatus)
  status: AccountStatus;
  @Field(() => String, { nullable: true, description: 'Unique within the tenant and mode, compared without case.' })
  nickname: string | null;
  @Field(() => AccountAddressState, { description: 'State of the receiving addresses.' })
  address: AccountAddressState;
  @Field(() => BusinessDetails)
  businessDetails: BusinessDetails;
  @Field(() => ID, { nullable: true, description: 'A file that holds a logo for communications.' })
  logoId: string | null;
  @Field(() => Metadata, optional)
  metadata: Record<string, string> | null;
  @Field(() => SupportingDocumentation)
  supportingDocumentation: SupportingDocumentation;
  @Field(() => TosAcceptance)
  tosAcceptance: TosAcceptance;
}

export const AccountConnection = connectionOf('Account', () => Account);
