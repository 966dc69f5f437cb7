import { ArgsType, Field, ID, InputType, ObjectType } from 'type-graphql';
import { DepositReasonCode } from '../../resources/deposit/table.js';
import { DisputeStatus } from '../../resources/dispute/table.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { ListFilterArgs, reasonOfAction, tenantOfDeposit } from './inputs.js';
import { pageOf } from './page-type.js';
import { livemode, tenantId } from './type.js';

@ObjectType('Dispute', { simpleResolvers: true, description: "A payer's contest of a deposit, which took its money." })
export class OperatorDispute {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was opened.' })
  created: number;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => ID, { description: 'The account that had received the deposit.' })
  accountId: string;
  @Field(() => ID, { description: 'The deposit that is disputed.' })
  depositId: string;
  @Field(() => ID, { description: 'The deposit with the negative amount that took the money.' })
  debitDepositId: string;
  @Field(() => Amount, { description: 'The amount that was taken.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => DisputeStatus, { description: 'In live mode, the operator records how a dispute was decided.' })
  status: DisputeStatus;
  @Field(() => DepositReasonCode, { description: 'Why the payer disputes.' })
  reasonCode: DepositReasonCode;
  @Field(() => String, { nullable: true, description: 'The reason in the words of the bank or the acquirer.' })
  acquirerReason: string | null;
  @Field(() => DateTime, { nullable: true, description: 'The last moment at which the account can answer.' })
  respondBy: number | null;
  @Field(() => String, { nullable: true, description: 'The text of the answer.' })
  evidenceText: string | null;
  @Field(() => [ID], { description: 'The ids of the files of the answer.' })
  evidenceFileIds: string[];
  @Field(() => DateTime, { nullable: true, description: 'When it was answered.' })
  submittedAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was won, lost or accepted.' })
  decidedAt: number | null;
  @Field(() => String, { nullable: true, description: 'The reference of the bank or the acquirer.' })
  reference: string | null;
}

export const DisputePage = pageOf('Dispute', () => OperatorDispute);

@ArgsType()
export class DisputesArgs extends ListFilterArgs {
  @Field(() => DisputeStatus, { nullable: true, description: 'Only in this status; UNDER_REVIEW ones have an answer.' })
  status?: DisputeStatus | null;
}

@InputType({
  description:
    'A dispute in live mode of a completed deposit, or of an attempt that was taken in another currency: its money ' +
    'was taken back.',
})
export class OpenDisputeInput {
  @Field(() => ID, {
    description:
      'The deposit whose money was taken back; or the attempt, if it was taken in another currency and so has no ' +
      'deposit.',
  })
  id: string;
  @Field(() => ID, { nullable: true, description: tenantOfDeposit })
  tenantId?: string | null;
  @Field(() => Amount, {
    nullable: true,
    description:
      'The amount that was taken back. By default what disputes and refunds have left, or what the attempt took.',
  })
  amount?: bigint | null;
  @Field(() => DepositReasonCode, { description: 'Why the money was taken back.' })
  reasonCode: DepositReasonCode;
  @Field(() => String, {
    nullable: true,
    description: 'The reason in the words of the bank or the acquirer: at most 255 characters.',
  })
  acquirerReason?: string | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'The last moment at which the account can answer, not in the past. By default there is none.',
  })
  respondBy?: number | null;
  @Field(() => String, {
    description:
      'The reference of the bank or the acquirer for the dispute, at most 255 characters. Opening it again with the ' +
      'same content changes nothing.',
  })
  reference: string;
}

/** What the inputs of the decisions of a dispute have in common. */
@InputType()
class DecisionOfDispute {
  @Field(() => ID, {
    description: 'The dispute; or the unexplained money of one of which no balance had any, with the reason RECORDED.',
  })
  id: string;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
}

@InputType({ description: 'Names the dispute that was decided for the account.' })
export class WinDisputeInput extends DecisionOfDispute {}

@InputType({ description: 'Names the dispute that was decided for the payer.' })
export class LoseDisputeInput extends DecisionOfDispute {}
