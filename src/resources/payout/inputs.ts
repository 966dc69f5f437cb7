import { Field, ID, InputType } from 'type-graphql';
import { idInputOf } from '../../types/input.js';
import { PayoutReasonCode } from './table.js';

export const SettleTestPayoutInput = idInputOf('SettleTestPayout', 'payout');

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
