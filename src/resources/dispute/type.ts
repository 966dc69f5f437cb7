import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { DepositReasonCode } from '../deposit/table.js';
import { DisputeStatus } from './table.js';

registerEnumType(DisputeStatus, {
  name: 'DisputeStatus',
  description: 'How far a dispute has come.',
  valuesConfig: {
    NEEDS_RESPONSE: { description: 'Waits for an answer of the account, until `respondBy`, or for the decision.' },
    UNDER_REVIEW: { description: 'Answered; the bank or the acquirer decides.' },
    WON: { description: 'Decided for the account: its money is pending of the deposit again.' },
    LOST: { description: 'Decided for the payer.' },
    ACCEPTED: { description: 'The account has accepted it without an answer.' },
  },
});

/** A payer's contest of a deposit. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'A payer contests a deposit, in whole or in part, and gets the money back from the bank or the acquirer. The ' +
    'money is taken when the dispute is opened, by a deposit with a negative amount, and comes back when the dispute ' +
    'is won.',
})
export class Dispute extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => Amount, { description: 'The amount that was taken.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
  @Field(() => DisputeStatus, { description: 'How far the dispute has come.' })
  status: DisputeStatus;
  @Field(() => DepositReasonCode, { description: 'Why the payer disputes.' })
  reasonCode: DepositReasonCode;
  @Field(() => String, {
    nullable: true,
    description: 'The reason in the words of the bank or the acquirer. Null if nothing was said.',
  })
  acquirerReason: string | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'The last moment at which an answer is taken. Null if there is none.',
  })
  respondBy: number | null;
  @Field(() => String, { nullable: true, description: 'The text of the answer. Null if it has none.' })
  evidenceText: string | null;
  @Field(() => [ID], { description: 'The ids of the files of the answer.' })
  evidenceFileIds: string[];
  @Field(() => DateTime, { nullable: true, description: 'When it was answered. Null if it was not.' })
  submittedAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was won, lost or accepted. Null until then.' })
  decidedAt: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank or the acquirer. Null in test mode.',
  })
  reference: string | null;
  @Field(() => ID, { description: 'The id of the deposit that is disputed.' })
  depositId: string;
  @Field(() => ID, { description: 'The id of the deposit with the negative amount that took the money.' })
  debitDepositId: string;
  @Field(() => ID, { description: 'The id of the account that had received the deposit.' })
  accountId: string;
}

export const DisputeConnection = connectionOf('Dispute', () => Dispute);

export const RespondToDisputePayload = payloadOf('RespondToDispute', 'dispute', Dispute);
export const AcceptDisputePayload = payloadOf('AcceptDispute', 'dispute', Dispute);
export const WinTestDisputePayload = payloadOf('WinTestDispute', 'dispute', Dispute);
export const LoseTestDisputePayload = payloadOf('LoseTestDispute', 'dispute', Dispute);
