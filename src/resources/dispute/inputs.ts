import { Field, ID, InputType } from 'type-graphql';
import { idInputOf } from '../../types/input.js';

@InputType({ description: 'Answers a dispute with evidence: a text, files, or both.' })
export class RespondToDisputeInput {
  @Field(() => ID, { description: 'The id of the dispute.' })
  id: string;
  @Field(() => String, { nullable: true, description: 'What speaks against the dispute, at most 20,000 characters.' })
  text?: string | null;
  @Field(() => [ID], {
    nullable: true,
    description:
      'The ids of at most ten files of purpose `dispute_evidence`, which the account of the dispute or its platform ' +
      'has uploaded.',
  })
  fileIds?: string[] | null;
}

export const AcceptDisputeInput = idInputOf('AcceptDispute', 'dispute');
export const WinTestDisputeInput = idInputOf('WinTestDispute', 'dispute');
export const LoseTestDisputeInput = idInputOf('LoseTestDispute', 'dispute');
