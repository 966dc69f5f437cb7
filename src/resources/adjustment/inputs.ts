import { Field, ID, InputType } from 'type-graphql';
import { Amount, Currency } from '../../types/scalars.js';
import { reasonLengthMax } from './rules.js';

@InputType({ description: 'One side of an adjustment.' })
export class AdjustmentSideInput {
  @Field(() => Amount, { description: 'The amount, greater than zero.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
}

/** What inputs of adjustments have in common. */
@InputType()
export class AdjustmentContentInput {
  @Field(() => ID, { description: 'The account whose available money it changes.' })
  accountId: string;
  @Field(() => AdjustmentSideInput, {
    nullable: true,
    description: 'What the account gets. Without a debit, the service gives it.',
  })
  credit?: AdjustmentSideInput | null;
  @Field(() => AdjustmentSideInput, {
    nullable: true,
    description:
      'What the account gives, at most what is available. With a credit, in another currency, it is a conversion; ' +
      'without one, the service gets it.',
  })
  debit?: AdjustmentSideInput | null;
  @Field(() => String, { description: `Why, for the account: at most ${reasonLengthMax} characters.` })
  reason: string;
}

@InputType({ description: 'Adjusts a balance; test mode only.' })
export class CreateTestAdjustmentInput extends AdjustmentContentInput {}
