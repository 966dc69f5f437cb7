import { Field, ID, ObjectType } from 'type-graphql';
import { AllocationStatus } from '../../resources/allocation/type.js';
import { Compartment } from '../../resources/ledger/table.js';
import { ReceivableStatus } from '../../resources/receivable/table.js';
import { Amount, Currency, DateTime, LocalDate } from '../../types/scalars.js';
import type { TrailEntry, TrailPosting } from '../trail/trail.js';
import { OperatorDeposit, OperatorObject, OperatorPayout } from './type.js';

@ObjectType('Receivable', { simpleResolvers: true, description: 'An invoice that collected funds pay.' })
export class OperatorReceivable extends OperatorObject {
  @Field(() => ID, { description: 'The account that has made the invoice.' })
  accountId: string;
  @Field(() => String, { description: 'The number of the invoice.' })
  referenceNumber: string;
  @Field(() => LocalDate, { description: 'When the invoice is due.' })
  dueDate: string;
  @Field(() => Amount, { description: 'The amount of the invoice.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the invoice.' })
  currency: string;
  @Field(() => ReceivableStatus, { description: 'How much of it is still to come.' })
  status: ReceivableStatus;
}

@ObjectType('Checkout', { simpleResolvers: true, description: 'A payment session of an account.' })
export class OperatorCheckout extends OperatorObject {
  @Field(() => Amount, { description: 'What it asks for, without a fee of the payer.' })
  amount: bigint;
  @Field(() => Amount, { description: 'What the payer pays, with the fee.' })
  grossAmount: bigint;
  @Field(() => Currency, { description: 'The currency of both.' })
  currency: string;
}

@ObjectType('Allocation', {
  simpleResolvers: true,
  description: 'The part of a deposit that counts towards an invoice, from its reconciliation to its payout.',
})
export class OperatorAllocation {
  @Field(() => DateTime, { description: 'When the deposit was reconciled with the invoice.' })
  created: number;
  @Field(() => Amount, { description: 'The amount that counts towards the invoice, such as `250.00`.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => AllocationStatus, { description: 'How far the money has come.' })
  status: AllocationStatus;
}

@ObjectType('PostingEntry', { simpleResolvers: true, description: 'One side of a posting. The sides sum to zero.' })
export class OperatorEntry implements TrailEntry {
  tenantId: string;
  livemode: boolean;
  @Field(() => ID, { nullable: true, description: 'The account whose balance changed; null for a contra account.' })
  accountId: string | null;
  @Field(() => Compartment, { nullable: true, description: 'The compartment of the balance.' })
  compartment: Compartment | null;
  @Field(() => String, {
    nullable: true,
    description: 'The contra account of the service, such as `bank` or `payout_rail`; null for a balance.',
  })
  contra: string | null;
  @Field(() => Amount, { description: 'The amount; negative where money left.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
}

@ObjectType('Posting', { simpleResolvers: true, description: 'One movement of money in the ledger.' })
export class OperatorPosting implements TrailPosting {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => String, { description: 'What moved it, such as `deposit`, `reconciliation` or `payout_end`.' })
  kind: string;
  @Field(() => DateTime, { description: 'When it was posted.' })
  created: number;
  @Field(() => [OperatorEntry], { description: 'All of its sides, the balances first.' })
  entries: OperatorEntry[];
}

@ObjectType('Trail', {
  simpleResolvers: true,
  description:
    'The way of the money of a deposit, from its bank over the invoices that it counts towards to the payouts that ' +
    'pay it; or of a payout, back to the deposits that it pays.',
})
export class OperatorTrail {
  @Field(() => OperatorDeposit, { nullable: true, description: 'The deposit; null in the trail of a payout.' })
  deposit: OperatorDeposit | null;
  @Field(() => OperatorPayout, { nullable: true, description: 'The payout; null in the trail of a deposit.' })
  payout: OperatorPayout | null;
}
