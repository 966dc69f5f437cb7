import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../types/pagination.js';
import { Amount, Currency, Metadata } from '../../types/scalars.js';
import { DepositPaymentMethod, DepositReasonCode, DepositStatus } from './table.js';

const optional = { nullable: true } as const;

@InputType({ description: 'One side of a deposit, by its account or its address.' })
export class PartyInput {
  @Field(() => ID, optional)
  accountId?: string | null;
  @Field(() => ID, optional)
  addressId?: string | null;
}

@InputType({ description: 'Creates a deposit; test mode only. Spec: Create a Deposit.' })
export class CreateDepositInput {
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency, { description: 'USD; in Edition 2 also INR.' })
  currency: string;
  @Field(() => PartyInput, optional)
  from?: PartyInput | null;
  @Field(() => PartyInput, {
    nullable: true,
    description: 'Required in Edition 2; in Edition 1 the context account by default.',
  })
  to?: PartyInput | null;
  @Field(() => DepositPaymentMethod, {
    nullable: true,
    description: 'Required in Edition 2; DOMESTIC_CREDIT by default in Edition 1.',
  })
  paymentMethod?: DepositPaymentMethod | null;
  @Field(() => String, optional)
  statementDescriptor?: string | null;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: "A receivable's share of a deposit." })
export class ReconciledReceivableInput {
  @Field(() => ID)
  id: string;
  @Field(() => Amount)
  amount: bigint;
}

@InputType({ description: 'Counts a completed deposit towards receivables; partial amounts are fine.' })
export class ReconcileDepositInput {
  @Field(() => ID)
  id: string;
  @Field(() => [ReconciledReceivableInput])
  receivables: ReconciledReceivableInput[];
}

@InputType({ description: 'Names a deposit.' })
export class DepositIdInput {
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'Names a deposit, and why it ends.' })
export class EndTestDepositInput extends DepositIdInput {
  @Field(() => DepositReasonCode, optional)
  reasonCode?: DepositReasonCode | null;
}

@InputType({ description: 'Names a deposit, and how much of it is disputed and why.' })
export class DisputeTestDepositInput extends EndTestDepositInput {
  @Field(() => Amount, { nullable: true, description: 'The undisputed rest by default.' })
  amount?: bigint | null;
}

@ArgsType()
export class DepositOfAccountArgs extends PageArgs {
  @Field(() => [DepositStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: DepositStatus[] | null;
  @Field(() => [DepositPaymentMethod], { nullable: true, description: 'Only by these methods.' })
  paymentMethod?: DepositPaymentMethod[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
}

@ArgsType()
export class DepositArgs extends DepositOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Deposits to or from this account; any within reach.' })
  accountId?: string | null;
}
