import { Field, ID, InputType } from 'type-graphql';
import { Amount } from '../../types/scalars.js';

@InputType({ description: 'Refunds a deposit, or the deposit of a checkout.' })
export class CreateRefundInput {
  @Field(() => ID, { nullable: true, description: 'The id of the deposit. Send it or `checkoutId`.' })
  depositId?: string | null;
  @Field(() => ID, { nullable: true, description: 'The id of a checkout that was paid. Send it or `depositId`.' })
  checkoutId?: string | null;
  @Field(() => Amount, {
    nullable: true,
    description: 'The amount that goes back. By default what disputes and other refunds have left of the deposit.',
  })
  amount?: bigint | null;
  @Field(() => String, { nullable: true, description: 'Why the money goes back, for your own records.' })
  reason?: string | null;
}

@InputType({ description: 'Names the refund that the payer has.' })
export class SucceedTestRefundInput {
  @Field(() => ID, { description: 'The id of the refund.' })
  id: string;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank that the refund shows, such as a UTR: at most 255 characters.',
  })
  bankReference?: string | null;
}

@InputType({ description: 'Names a refund, and why it fails.' })
export class FailTestRefundInput {
  @Field(() => ID, { description: 'The id of the refund.' })
  id: string;
  @Field(() => String, { nullable: true, description: 'The reason that the refund shows.' })
  failureReason?: string | null;
}
