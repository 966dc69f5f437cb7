import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { RefundStatus } from './table.js';

registerEnumType(RefundStatus, {
  name: 'RefundStatus',
  description: 'How far a refund has come.',
  valuesConfig: {
    PENDING: { description: 'On its way to the payer. Its money is in `processing`.' },
    SUCCEEDED: { description: 'The payer has the money.' },
    FAILED: { description: 'Not arrived; its money is back where it came from.' },
  },
});

/** Money of a deposit on its way back to its payer. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'Money of a completed deposit that goes back to its payer, whole or in part. The deposit itself does not change.',
})
export class Refund extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => Amount, { description: 'The amount that goes back.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
  @Field(() => RefundStatus, { description: 'How far the refund has come.' })
  status: RefundStatus;
  @Field(() => String, {
    nullable: true,
    description: 'Why the money goes back, as the request said. Null if it did not.',
  })
  reason: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Why the refund has FAILED, in the words of the bank or the acquirer. Null if nothing was said.',
  })
  failureReason: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank or the acquirer, such as a UTR or an ARN. Null as long as none is known.',
  })
  bankReference: string | null;
  @Field(() => Amount, {
    description: 'The part of the amount that was not reconciled. The rest was taken from available money.',
  })
  fromPending: bigint;
  @Field(() => ID, { description: 'The id of the deposit.' })
  depositId: string;
  @Field(() => ID, {
    nullable: true,
    description: 'The id of the checkout that the deposit came through; null if it came through none.',
  })
  checkoutId: string | null;
  @Field(() => ID, { description: 'The id of the account that had received the deposit.' })
  accountId: string;
  @Field(() => ID, { description: 'The id of the payment of this refund.' })
  paymentId: string;
}

export const RefundConnection = connectionOf('Refund', () => Refund);

export const CreateRefundPayload = payloadOf('CreateRefund', 'refund', Refund);
export const SucceedTestRefundPayload = payloadOf('SucceedTestRefund', 'refund', Refund);
export const FailTestRefundPayload = payloadOf('FailTestRefund', 'refund', Refund);
