import { Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { TransactionReasonCode, TransactionStatus } from '../../resources/transaction/table.js';
import { Amount, Currency } from '../../types/scalars.js';
import { reasonOfAction } from './inputs.js';
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
