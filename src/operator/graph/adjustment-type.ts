import { ArgsType, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { AdjustmentContentInput } from '../../resources/adjustment/inputs.js';
import { AdjustmentStatus } from '../../resources/adjustment/table.js';
import { Money } from '../../resources/balance/type.js';
import { idInputOf } from '../../types/input.js';
import { Mode } from '../../types/mode.js';
import { DateTime } from '../../types/scalars.js';
import { ListFilterArgs, modeOfAccount } from './inputs.js';
import { pageOf } from './page-type.js';
import { livemode, tenantId } from './type.js';

registerEnumType(AdjustmentStatus, {
  name: 'AdjustmentStatus',
  description: 'How far an adjustment has come.',
  valuesConfig: {
    PROPOSED: {
      description: 'It waits for named operators: `approvalsLeft` says for how many. It has moved nothing.',
    },
    APPROVED: { description: 'Another operator has approved it, and its money has moved.' },
    REJECTED: { description: 'It was rejected or withdrawn. It has moved nothing.' },
  },
});

@ObjectType('Adjustment', {
  simpleResolvers: true,
  description: 'A correction of available money, which one operator proposes and another one approves.',
})
export class OperatorAdjustment {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was proposed.' })
  created: number;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => ID, { description: 'The account whose money it changes.' })
  accountId: string;
  @Field(() => Money, { nullable: true, description: 'What the account gets. Null if it only gives.' })
  credit: Money | null;
  @Field(() => Money, { nullable: true, description: 'What the account gives. Null if it only gets.' })
  debit: Money | null;
  @Field(() => String, { description: 'Why, as the account reads it.' })
  reason: string;
  @Field(() => AdjustmentStatus, { description: 'How far it has come.' })
  status: AdjustmentStatus;
  @Field(() => String, {
    description:
      'Who has proposed it. What `OPERATOR_KEY` or a command has proposed is that of the first named operator who ' +
      'approves it.',
  })
  proposedBy: string;
  @Field(() => String, { nullable: true, description: 'Who has approved or rejected it.' })
  decidedBy: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was approved or rejected.' })
  decidedAt: number | null;
  @Field(() => ID, { nullable: true, description: 'The payment that the account sees, once it is approved.' })
  paymentId: string | null;
}

export const AdjustmentPage = pageOf('Adjustment', () => OperatorAdjustment);

@ArgsType()
export class AdjustmentsArgs extends ListFilterArgs {
  @Field(() => AdjustmentStatus, {
    nullable: true,
    description: 'Only in this status; PROPOSED adjustments wait for another operator.',
  })
  status?: AdjustmentStatus | null;
}

@InputType({ description: 'What is proposed to correct.' })
export class ProposeAdjustmentInput extends AdjustmentContentInput {
  @Field(() => Mode, { nullable: true, description: modeOfAccount })
  mode?: Mode | null;
}

export const ApproveAdjustmentInput = idInputOf('ApproveAdjustment', 'adjustment');
export const RejectAdjustmentInput = idInputOf('RejectAdjustment', 'adjustment');
