import { Field, ID, InputType } from 'type-graphql';
import { Amount, Currency } from '../../types/scalars.js';
import { reasonLengthMax } from './rules.js';

@InputType({ description: 'The other side of a conversion.' })
export class AdjustmentCounterInput {
  @Field(() => Amount, { description: 'The amount, with the other sign than `amount` of the adjustment.' })
  amount: bigint;
  @Field(() => Currency, { description: 'Another currency than that of the adjustment.' })
  currency: string;
}

/** What inputs of adjustments have in common. */
@InputType()
export class AdjustmentContentInput {
  @Field(() => ID, { description: 'The account whose available money it changes.' })
  accountId: string;
  @Field(() => Amount, { description: 'What the account gets, or gives with a negative amount.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => AdjustmentCounterInput, {
    nullable: true,
    description: 'What is given or got for it in another currency of the account. Without it, nothing is.',
  })
  counter?: AdjustmentCounterInput | null;
  @Field(() => String, { description: `Why, for the account: at most ${reasonLengthMax} characters.` })
  reason: string;
}

@InputType({ description: 'Adjusts a balance; test mode only.' })
export class CreateTestAdjustmentInput extends AdjustmentContentInput {}
