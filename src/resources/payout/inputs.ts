import { Field, ID, InputType } from 'type-graphql';
import { PayoutReasonCode } from './table.js';

@InputType({ description: 'Names the payout that has arrived.' })
export class SettleTestPayoutInput {
  @Field(() => ID, { description: 'The id of the payout.' })
  id: string;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank that the payout shows, such as a UTR: at most 255 characters.',
  })
  bankReference?: string | null;
}

/** What the inputs of test helpers have in common that say why a payout did not arrive. */
@InputType()
class EndOfTestPayout {
  @Field(() => ID, { description: 'The id of the payout.' })
  id: string;
  @Field(() => PayoutReasonCode, {
    nullable: true,
    description: 'The reason that the payout shows; GENERAL by default.',
  })
  reasonCode?: PayoutReasonCode | null;
}

@InputType({ description: 'Names a payout, and why it fails.' })
export class FailTestPayoutInput extends EndOfTestPayout {}

@InputType({ description: 'Names a completed payout, and why it comes back.' })
export class ReturnTestPayoutInput extends EndOfTestPayout {}
