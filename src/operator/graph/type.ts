import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { AccountAddressState, AccountStatus, AccountSubType, AccountType } from '../../resources/account/table.js';
import { BusinessDetails, SupportingDocumentation } from '../../resources/account/type.js';
import { PayoutInterval, PayoutsDisabledReason } from '../../resources/account-setting/table.js';
import { AddressCategory, AddressStatus, AddressType } from '../../resources/address/table.js';
import { BankAccount, Vpa, Wallet } from '../../resources/address/type.js';
import { DepositPaymentMethod, DepositReasonCode, DepositStatus } from '../../resources/deposit/table.js';
import { FilePurpose } from '../../resources/file/table.js';
import { PayoutReasonCode, PayoutStatus } from '../../resources/payout/table.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { pageOf } from './page-type.js';

// These classes have the public names but are separate: only a caller of one tenant can follow the public ones' edges.

export const tenantId = 'The tenant: the id of its root account, without `account_`.';
export const livemode = 'Whether it belongs to live mode.';

/** What every object of a tenant that /v1 has as well begins with. Silent: `tenantId`. */
@ObjectType({ simpleResolvers: true })
export abstract class OperatorObject {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
}

@ObjectType('Account', { simpleResolvers: true, description: 'A platform, a user or a partner, in one mode.' })
export class OperatorAccount {
  @Field(() => ID, { description: 'The id, which is the same as on /v1; a root has one id in both modes.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => ID, { nullable: true, description: 'The id of its `owner`; null for a root.' })
  ownerId: string | null;
  @Field(() => Int, { description: 'The edition of the interface: 1 or 2.' })
  edition: number;
  @Field(() => AccountType, { description: 'Platform, user or partner.' })
  type: AccountType;
  @Field(() => AccountSubType, { nullable: true, description: 'Only of platforms of Edition 2.' })
  subType: AccountSubType | null;
  @Field(() => AccountStatus, {
    description: 'The status of the account; an account that is VERIFYING waits for the operator.',
  })
  status: AccountStatus;
  @Field(() => DateTime, {
    nullable: true,
    description: 'Since when it has its status. Null where that is not known.',
  })
  statusSince: number | null;
  @Field(() => String, { nullable: true, description: 'Unique within the tenant and mode.' })
  nickname: string | null;
  @Field(() => AccountAddressState, { description: 'State of its receiving addresses.' })
  address: AccountAddressState;
  @Field(() => BusinessDetails, { description: 'Who the business is and what it does.' })
  businessDetails: BusinessDetails;
  @Field(() => SupportingDocumentation, { description: 'Which of its files is which document.' })
  supportingDocumentation: SupportingDocumentation;
}

@ObjectType('Person', { simpleResolvers: true, description: 'A director, owner or representative of a business.' })
export class OperatorPerson {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => String, { description: 'The name in full.' })
  fullName: string;
}

@ObjectType('File', { simpleResolvers: true, description: 'A document for the verification of an account.' })
export class OperatorFile {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => FilePurpose, { description: 'What it is for.' })
  purpose: FilePurpose;
  @Field(() => String, { description: 'Its name at the upload.' })
  filename: string;
  @Field(() => String, { description: 'By the content, not by the name.' })
  contentType: string;
  @Field(() => Int, { description: 'In bytes.' })
  size: number;
  @Field(() => String, { description: 'Of the content, as hex digits.' })
  sha256: string;
}

@ObjectType('Address', { simpleResolvers: true, description: 'A destination for stored value.' })
export class OperatorAddress {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The account that owns it.' })
  linkedId: string;
  @Field(() => AddressCategory, { description: 'What it is for.' })
  category: AddressCategory;
  @Field(() => AddressType, { description: 'What kind of destination it is.' })
  type: AddressType;
  @Field(() => AddressStatus, { description: 'Whether it can be used.' })
  status: AddressStatus;
  @Field(() => Currency, { description: 'The currency that it accepts.' })
  currency: string;
  @Field(() => String, { nullable: true, description: 'The name of its holder.' })
  name: string | null;
  @Field(() => BankAccount, { nullable: true, description: 'Present when it is a bank account.' })
  bankAccount: BankAccount | null;
  @Field(() => Vpa, { nullable: true, description: 'Present when it is a UPI address.' })
  vpa: Vpa | null;
  @Field(() => Wallet, { nullable: true, description: 'Present when it is a wallet.' })
  wallet: Wallet | null;
}

@ObjectType('AccountSetting', { simpleResolvers: true, description: 'The payout setting of an account.' })
export class OperatorSetting {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => ID, { description: 'The account that it belongs to.' })
  accountId: string;
  @Field(() => Boolean, { description: 'Whether the operator has a hold on its payouts.' })
  serviceHold: boolean;
  @Field(() => Boolean, { description: 'Whether its platform has a hold on its payouts.' })
  platformHold: boolean;
  @Field(() => Boolean, { nullable: true, description: 'Whether payouts are sent; null where they do not apply.' })
  payoutsEnabled: boolean | null;
  @Field(() => PayoutsDisabledReason, { nullable: true, description: 'Why payouts are disabled.' })
  payoutsReason: PayoutsDisabledReason | null;
  @Field(() => PayoutInterval, { description: 'How often it is paid out.' })
  payoutsInterval: PayoutInterval;
}

@ObjectType('Deposit', { simpleResolvers: true, description: 'Funds that came into an account.' })
export class OperatorDeposit extends OperatorObject {
  @Field(() => Amount, { description: 'Negative in case of a dispute.' })
  amount: bigint;
  @Field(() => Currency, { description: 'Of the amounts.' })
  currency: string;
  @Field(() => ID, { nullable: true, description: 'The partner that paid, if it is known.' })
  fromAccountId: string | null;
  @Field(() => ID, { description: 'The account that received.' })
  toAccountId: string;
  @Field(() => ID, { nullable: true, description: 'The address that received.' })
  toAddressId: string | null;
  @Field(() => DepositPaymentMethod, { description: 'How it was paid.' })
  paymentMethod: DepositPaymentMethod;
  @Field(() => String, { description: 'Narration on the incoming deposit.' })
  statementDescriptor: string;
  @Field(() => DepositStatus, { description: 'Its money is in balances once it is COMPLETED.' })
  status: DepositStatus;
  @Field(() => DepositReasonCode, { nullable: true, description: 'Why it was declined, disputed or reversed.' })
  reasonCode: DepositReasonCode | null;
  @Field(() => Amount, { description: 'The part of the amount that is not reconciled yet.' })
  pendingRest: bigint;
}

@ObjectType('Payout', { simpleResolvers: true, description: 'Funds on their way to a payout address.' })
export class OperatorPayout extends OperatorObject {
  @Field(() => ID, { description: 'The account that is paid out.' })
  accountId: string;
  @Field(() => ID, { description: 'Where it is sent.' })
  addressId: string;
  @Field(() => Amount, { description: 'The amount that is sent.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of its address.' })
  currency: string;
  @Field(() => PayoutStatus, { description: 'In live mode, a PROCESSING payout waits for the operator.' })
  status: PayoutStatus;
  @Field(() => Amount, { description: 'The amount before a conversion.' })
  sourceAmount: bigint;
  @Field(() => Currency, { description: 'The currency before a conversion.' })
  sourceCurrency: string;
  @Field(() => String, { description: 'What one unit of the source currency bought, as a decimal.' })
  rate: string;
  @Field(() => PayoutReasonCode, { nullable: true, description: 'Why it failed or was returned.' })
  reasonCode: PayoutReasonCode | null;
  @Field(() => String, { nullable: true, description: "The bank's own reference, once it is recorded." })
  bankReference: string | null;
  @Field(() => ID, { nullable: true, description: 'The payment order that it is in, if it is in one.' })
  orderId: string | null;
}

@ObjectType('TransactionMismatch', {
  simpleResolvers: true,
  description: 'A success that an acquirer reported and that does not match its attempt. Clear it with the acquirer.',
})
export class OperatorMismatch {
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => DateTime, { description: 'When the payer began the attempt.' })
  created: number;
  @Field(() => ID, { description: 'The attempt.' })
  transactionId: string;
  @Field(() => ID, { description: 'The checkout that it was to pay.' })
  checkoutId: string;
  @Field(() => Boolean, { description: 'Whether it belongs to live mode.' })
  livemode: boolean;
  @Field(() => Amount, { description: 'The amount that the payer was charged.' })
  amount: bigint;
  @Field(() => Currency, { description: 'Of the amount.' })
  currency: string;
  @Field(() => Boolean, { description: 'Whether the money was credited. Otherwise the payer must be refunded.' })
  credited: boolean;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'The details that were submitted.' })
  submitted: object | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'The details that the acquirer reported.' })
  reported: object | null;
  @Field(() => Amount, {
    nullable: true,
    description: 'The amount that it reported. Null where it reported none. The first report of a success counts.',
  })
  reportedAmount: bigint | null;
  @Field(() => Currency, { nullable: true, description: 'The currency of that amount.' })
  reportedCurrency: string | null;
}

@ObjectType('Rate', { simpleResolvers: true, description: 'An exchange rate between two currencies in live mode.' })
export class OperatorRate {
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => Currency, { description: 'The currency that is sold.' })
  source: string;
  @Field(() => Currency, { description: 'The currency that is bought.' })
  target: string;
  @Field(() => String, { description: 'A decimal, such as `83.25`.' })
  rate: string;
  @Field(() => DateTime, { description: 'When it was set.' })
  created: number;
}

@ObjectType({ description: 'An invariant of the ledger that does not hold.' })
export class Violation {
  @Field(() => ID, { nullable: true, name: 'tenantId', description: `${tenantId} Null when it belongs to no tenant.` })
  tenant: string | null;
  @Field(() => Boolean, { nullable: true, description: livemode })
  livemode: boolean | null;
  @Field(() => String, { description: 'The invariant.' })
  rule: string;
  @Field(() => String, { description: 'Where the invariant does not hold.' })
  what: string;
}

@ObjectType({ simpleResolvers: true, description: "The result of checking the ledger's invariants." })
export class LedgerAudit {
  @Field(() => Int, { description: 'How many accounts have a balance.' })
  accounts: number;
  @Field(() => Int, { description: 'How many postings there are.' })
  postings: number;
  @Field(() => [Violation], { description: 'The first 1,000 violations; empty when every invariant holds.' })
  violations: Violation[];
  @Field(() => Int, { description: 'How many violations there are.' })
  violationCount: number;
}

@ObjectType({ description: 'The hash chain over the postings of a tenant and mode.' })
export class LedgerChain {
  @Field(() => ID, { name: 'tenantId', description: tenantId })
  tenant: string;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => Int, { description: 'How many blocks it has.' })
  blocks: number;
  @Field(() => Int, { nullable: true, description: 'The first block that does not match; null when all blocks match.' })
  firstBroken: number | null;
}

export const AccountPage = pageOf('Account', () => OperatorAccount, 'oldest first by default');
export const PayoutPage = pageOf('Payout', () => OperatorPayout);
