import { ArgsType, Field, ID, InputType, ObjectType } from 'type-graphql';
import { ChangeRequestStatus, reasonLengthMax } from '../../resources/change-request/table.js';
import { DateTime } from '../../types/scalars.js';
import { ListFilterArgs, reasonOfAction } from './inputs.js';
import { pageOf } from './page-type.js';
import { OperatorObject } from './type.js';

@ObjectType('ChangeRequest', {
  simpleResolvers: true,
  description: 'Details of an account that its owner asks to change, which the operator accepts or declines.',
})
export class OperatorChangeRequest extends OperatorObject {
  @Field(() => ID, { description: 'The account that is to change.' })
  accountId: string;
  @Field(() => ChangeRequestStatus, { description: 'An OPEN request waits for the operator.' })
  status: ChangeRequestStatus;
  @Field(() => String, { nullable: true, description: 'Why, in the words of who asks.' })
  reason: string | null;
  @Field(() => String, { nullable: true, description: 'What the account is told.' })
  answer: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was answered or withdrawn. Null while it is OPEN.' })
  answeredAt: number | null;
}

export const ChangeRequestPage = pageOf('ChangeRequest', () => OperatorChangeRequest);

@ArgsType()
export class ChangeRequestsArgs extends ListFilterArgs {
  @Field(() => ChangeRequestStatus, { nullable: true, description: 'Only in this status; OPEN ones wait.' })
  status?: ChangeRequestStatus | null;
}

/** What the inputs of both answers have in common. */
@InputType()
class AnswerOfChangeRequest {
  @Field(() => ID, { description: 'The change request.' })
  id: string;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
  @Field(() => String, {
    nullable: true,
    description: `What the account is told: at most ${reasonLengthMax} characters.`,
  })
  answer?: string | null;
}

@InputType({ description: 'Names the change request that is accepted.' })
export class AcceptChangeRequestInput extends AnswerOfChangeRequest {}

@InputType({ description: 'Names the change request that is declined.' })
export class DeclineChangeRequestInput extends AnswerOfChangeRequest {}
