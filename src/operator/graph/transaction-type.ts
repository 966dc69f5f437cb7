import { Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import {
  TransactionPaymentMethod,
  TransactionReasonCode,
  TransactionStatus,
} from '../../resources/transaction/table.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { reasonOfAction } from './inputs.js';
import { pageOf } from './page-type.js';
import { livemode, tenantId } from './type.js';

/** How an attempt can have ended at the acquirer. */
export const AttemptOutcome = { SUCCEEDED: 'succeeded', FAILED: 'failed' } as const;
export type AttemptOutcome = (typeof AttemptOutcome)[keyof typeof AttemptOutcome];
registerEnumType(AttemptOutcome, {
  name: 'AttemptOutcome',
  description: 'How an attempt to pay has ended at the acquirer.',
  valuesConfig: {
    SUCCEEDED: { description: 'The payer has been charged.' },
    FAILED: { description: 'The payer has not been charged.' },
  },
});

@ObjectType('Transaction', { simpleResolvers: true, description: 'An attempt to pay a checkout.' })
export class OperatorTransaction {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The checkout that it pays.' })
  checkoutId: string;
  @Field(() => Amount, { description: 'The amount that the payer was asked for.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => TransactionStatus, { description: 'How far it has come. A decision changes it within a second.' })
  status: TransactionStatus;
  @Field(() => TransactionReasonCode, { nullable: true, description: 'Why it has failed.' })
  reasonCode: TransactionReasonCode | null;
}

@ObjectType('PendingTransaction', {
  simpleResolvers: true,
  description: 'An attempt to pay whose time is over and of which the acquirer has not said how it ended.',
})
export class OperatorPendingTransaction extends OperatorTransaction {
  @Field(() => DateTime, { description: 'When the payer began it.' })
  created: number;
  @Field(() => DateTime, { description: 'When its time was over.' })
  expiresAt: number;
  @Field(() => TransactionPaymentMethod, { description: 'How the payer wanted to pay.' })
  paymentMethod: TransactionPaymentMethod;
  @Field(() => DateTime, {
    nullable: true,
    description:
      'When the acquirer is asked next, if an adapter of it is connected. Null 30 days after `expiresAt`: it is not ' +
      'asked any more, and you record what it says.',
  })
  nextPollAt: number | null;
}

export const PendingTransactionPage = pageOf('PendingTransaction', () => OperatorPendingTransaction, 'oldest first');

@InputType({ description: 'What the acquirer says of an attempt in live mode.' })
export class DecideTransactionInput {
  @Field(() => ID, { description: 'The attempt.' })
  id: string;
  @Field(() => AttemptOutcome, { description: 'How it has ended.' })
  outcome: AttemptOutcome;
  @Field(() => Amount, {
    nullable: true,
    description: 'What the acquirer really took, greater than zero; by default the amount of the attempt.',
  })
  amount?: bigint | null;
  @Field(() => Currency, {
    nullable: true,
    description: 'The currency of the amount; by default that of the attempt. Another one pays nothing.',
  })
  currency?: string | null;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
}
