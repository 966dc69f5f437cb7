import { Field, ID, InputType } from 'type-graphql';
import { idInputOf } from '../../types/input.js';
import { BusinessDetailsInput, SupportingDocumentationInput } from '../account/inputs.js';
import { accountTexts } from '../account/texts.js';
import { reasonLengthMax } from './table.js';

@InputType({
  description: 'Asks the service to change details of an account. Members that are absent stay; null clears a member.',
})
export class RequestAccountChangeInput {
  @Field(() => ID, { description: 'The id of the account.' })
  accountId: string;
  @Field(() => BusinessDetailsInput, { nullable: true, description: accountTexts.details })
  businessDetails?: BusinessDetailsInput | null;
  @Field(() => SupportingDocumentationInput, { nullable: true, description: accountTexts.supportingDocumentation })
  supportingDocumentation?: SupportingDocumentationInput | null;
  @Field(() => String, {
    nullable: true,
    description: `Why, for the service: at most ${reasonLengthMax} characters.`,
  })
  reason?: string | null;
}

export const WithdrawChangeRequestInput = idInputOf('WithdrawChangeRequest', 'change request');
export const AcceptTestChangeRequestInput = idInputOf('AcceptTestChangeRequest', 'change request');

@InputType({ description: 'Names a change request, and why it is declined.' })
export class DeclineTestChangeRequestInput {
  @Field(() => ID, { description: 'The id of the change request.' })
  id: string;
  @Field(() => String, {
    nullable: true,
    description: `What the request shows as its answer: at most ${reasonLengthMax} characters.`,
  })
  answer?: string | null;
}
