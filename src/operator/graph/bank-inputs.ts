import { Field, ID, InputType } from 'type-graphql';
import { DepositPaymentMethod, DepositReasonCode } from '../../resources/deposit/table.js';
import { Amount, CountryCode, Currency } from '../../types/scalars.js';
import { bankDetailsMax } from '../money/bank-details.js';
import type { NoticeEvent } from '../money/notice.js';
import { BankNoticeEvent } from './bank-type.js';

@InputType({ description: 'The payer of a transfer, as its bank names it.' })
export class BankPayerInput {
  @Field(() => String, {
    nullable: true,
    description: `The name, at most ${bankDetailsMax.name} characters.`,
  })
  name?: string | null;
  @Field(() => [String], {
    nullable: true,
    description:
      `The lines of the address, at most ${bankDetailsMax.addressLines} ` +
      `of at most ${bankDetailsMax.addressLine} characters each.`,
  })
  addressLines?: string[] | null;
  @Field(() => CountryCode, { nullable: true, description: 'The country, as a two-letter ISO 3166-1 code.' })
  country?: string | null;
}

@InputType({ description: "What a bank reports about a transfer in live mode, by the bank's own reference." })
export class RecordBankNoticeInput {
  @Field(() => String, {
    description:
      "The bank's own reference, at most 255 characters. Recording it again with the same content changes nothing.",
  })
  reference: string;
  @Field(() => BankNoticeEvent, {
    nullable: true,
    defaultValue: 'received',
    description: 'What happened to the transfer.',
  })
  event?: NoticeEvent | null;
  @Field(() => ID, { description: 'The receiving address.' })
  addressId: string;
  @Field(() => Amount, {
    description:
      'The amount that arrived. A reversal has the same amount; a recall has what was taken back, at most what is ' +
      'left.',
  })
  amount: bigint;
  @Field(() => Currency, {
    description: 'The currency of the amount. It must be that of the address, unless `allowCurrency` is true.',
  })
  currency: string;
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Whether the transfer may be in another currency than its address.',
  })
  allowCurrency?: boolean | null;
  @Field(() => ID, { nullable: true, description: 'The partner that paid, if it is known.' })
  fromAccountId?: string | null;
  @Field(() => DepositPaymentMethod, {
    nullable: true,
    description:
      "A method of the account's edition; DOMESTIC_CREDIT by default in Edition 1, DOMESTIC_WIRE in Edition 2.",
  })
  paymentMethod?: DepositPaymentMethod | null;
  @Field(() => String, { nullable: true, description: 'Narration on the incoming deposit.' })
  statementDescriptor?: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Of a recall, and required there: the bank's reference of the received transfer. `reference` is then that of " +
      'the recall itself. Several recalls of one transfer are possible.',
  })
  originalReference?: string | null;
  @Field(() => DepositReasonCode, { nullable: true, description: 'Of a recall: why; GENERAL by default.' })
  reasonCode?: DepositReasonCode | null;
  @Field(() => BankPayerInput, { nullable: true, description: 'Of received money: what the bank says of the payer.' })
  payer?: BankPayerInput | null;
  @Field(() => String, {
    nullable: true,
    description: `Of received money: the remittance text of the payer, at most ${bankDetailsMax.text} characters.`,
  })
  text?: string | null;
}

@InputType({ description: 'Names a reversal that waits for its deposit.' })
export class WithdrawBankNoticeInput {
  @Field(() => ID, { description: 'The receiving address that the notice names.' })
  addressId: string;
  @Field(() => String, { description: "The bank's own reference." })
  reference: string;
}
