import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { ChangeRequestStatus } from './table.js';

registerEnumType(ChangeRequestStatus, {
  name: 'ChangeRequestStatus',
  description: 'How far a change request has come.',
  valuesConfig: {
    OPEN: { description: 'The service has not answered yet.' },
    ACCEPTED: { description: 'The account has the new details.' },
    DECLINED: { description: 'The account stays as it is; `answer` says why.' },
    WITHDRAWN: { description: 'Taken back before it was answered.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'What one detail of an account is to become.' })
export class RequestedChange {
  @Field(() => String, {
    description: 'Which detail, by its path in the account, such as `businessDetails.legalName`.',
  })
  path: string;
  @Field(() => String, {
    nullable: true,
    description: 'What it was when the change was requested. Null if it was empty. A volume is `10000.00 USD`.',
  })
  from: string | null;
  @Field(() => String, { nullable: true, description: 'What it is to become. Null to clear it.' })
  to: string | null;
}

/** Details of an account that its owner asks the service to change. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Details of an account that is no longer a draft, which the service is asked to change.',
})
export class ChangeRequest extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the account.' })
  accountId: string;
  @Field(() => ChangeRequestStatus, { description: 'How far it has come.' })
  status: ChangeRequestStatus;
  @Field(() => String, { nullable: true, description: 'Why, as the request said. Null if it did not.' })
  reason: string | null;
  @Field(() => String, { nullable: true, description: 'What the service says to it. Null if nothing was said.' })
  answer: string | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When it was accepted, declined or withdrawn. Null while it is OPEN.',
  })
  answeredAt: number | null;
}

export const ChangeRequestConnection = connectionOf('ChangeRequest', () => ChangeRequest);

export const RequestAccountChangePayload = payloadOf('RequestAccountChange', 'changeRequest', ChangeRequest);
export const WithdrawChangeRequestPayload = payloadOf('WithdrawChangeRequest', 'changeRequest', ChangeRequest);
export const AcceptTestChangeRequestPayload = payloadOf('AcceptTestChangeRequest', 'changeRequest', ChangeRequest);
export const DeclineTestChangeRequestPayload = payloadOf('DeclineTestChangeRequest', 'changeRequest', ChangeRequest);
