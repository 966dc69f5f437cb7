import { Field, ID, InputType } from 'type-graphql';
import { Amount, Currency, Metadata } from '../../types/scalars.js';
import { DepositPaymentMethod, DepositReasonCode } from './table.js';
import { texts } from '../../types/texts.js';
import { idInputOf } from '../../types/input.js';

@InputType({ description: 'One side of a deposit, by its account or its address.' })
export class DepositPartyInput {
  @Field(() => ID, { nullable: true, description: 'The id of the account.' })
  accountId?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: 'The id of the address. With `accountId`, it must belong to that account.',
  })
  addressId?: string | null;
}

@InputType({ description: 'Creates a deposit; test mode only.' })
export class CreateDepositInput {
  @Field(() => Amount, { description: 'The amount that comes in; greater than zero.' })
  amount: bigint;
  @Field(() => Currency, { description: 'USD. In Edition 2 also INR.' })
  currency: string;
  @Field(() => DepositPartyInput, {
    nullable: true,
    description: 'The partner that pays. Without it, the payer is not known.',
  })
  from?: DepositPartyInput | null;
  @Field(() => DepositPartyInput, {
    nullable: true,
    description:
      'The account or address that receives. Required in Edition 2. In Edition 1 the acting account by default.',
  })
  to?: DepositPartyInput | null;
  @Field(() => DepositPaymentMethod, {
    nullable: true,
    description: 'How the deposit is paid. Required in Edition 2. In Edition 1 DOMESTIC_CREDIT by default.',
  })
  paymentMethod?: DepositPaymentMethod | null;
  @Field(() => String, { nullable: true, description: 'The narration on the incoming deposit.' })
  statementDescriptor?: string | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: "A receivable's share of a deposit." })
export class ReconciledReceivableInput {
  @Field(() => ID, { description: 'The id of the receivable.' })
  id: string;
  @Field(() => Amount, { description: 'The part of the deposit that counts towards the receivable.' })
  amount: bigint;
}

@InputType({ description: 'Counts a completed deposit towards receivables; partial amounts are fine.' })
export class ReconcileDepositInput {
  @Field(() => ID, { description: 'The id of the deposit.' })
  id: string;
  @Field(() => [ReconciledReceivableInput], {
    description: 'The receivables, with the amount that counts towards each.',
  })
  receivables: ReconciledReceivableInput[];
}

@InputType({
  description: 'Counts up to 100 completed deposits towards receivables, each of which is done or refused by itself.',
})
export class ReconcileDepositsInput {
  @Field(() => [ReconcileDepositInput], {
    description:
      'The deposits, in the order in which they are reconciled: each at most once, with at most 100 receivables ' +
      'each, and 500 in all.',
  })
  deposits: ReconcileDepositInput[];
}

/** What the inputs of test helpers that end a deposit have in common. */
@InputType()
class EndOfTestDeposit {
  @Field(() => ID, { description: 'The id of the deposit.' })
  id: string;
  @Field(() => DepositReasonCode, { nullable: true, description: 'The reason that the deposit shows.' })
  reasonCode?: DepositReasonCode | null;
}

@InputType({ description: 'Names a deposit, and why it fails.' })
export class FailTestDepositInput extends EndOfTestDeposit {}

@InputType({ description: 'Names a deposit, and why it is cancelled.' })
export class CancelTestDepositInput extends EndOfTestDeposit {}

@InputType({ description: 'Names a deposit, and why it is reversed.' })
export class ReverseTestDepositInput extends EndOfTestDeposit {}

@InputType({ description: 'Names a deposit, and how much of it is disputed and why.' })
export class DisputeTestDepositInput extends EndOfTestDeposit {
  @Field(() => Amount, { nullable: true, description: 'The amount to dispute. By default what is not disputed yet.' })
  amount?: bigint | null;
}

@InputType({ description: 'Names a deposit, and how much of it the bank takes back and why.' })
export class RecallTestDepositInput extends EndOfTestDeposit {
  @Field(() => Amount, { nullable: true, description: 'The amount to take back. By default what is left of it.' })
  amount?: bigint | null;
}

export const ProcessTestDepositInput = idInputOf('ProcessTestDeposit', 'deposit');
export const CompleteTestDepositInput = idInputOf('CompleteTestDeposit', 'deposit');
