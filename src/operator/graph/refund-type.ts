import { ArgsType, Field, ID, InputType, ObjectType } from 'type-graphql';
import { RefundStatus } from '../../resources/refund/table.js';
import { Amount, Currency } from '../../types/scalars.js';
import { ListFilterArgs, reasonOfAction } from './inputs.js';
import { pageOf } from './page-type.js';
import { OperatorObject } from './type.js';

@ObjectType('Refund', { simpleResolvers: true, description: 'Money of a deposit on its way back to its payer.' })
export class OperatorRefund extends OperatorObject {
  @Field(() => ID, { description: 'The account that had received the deposit.' })
  accountId: string;
  @Field(() => ID, { description: 'The deposit that is refunded.' })
  depositId: string;
  @Field(() => ID, {
    nullable: true,
    description: 'The checkout that the deposit came through, if it came through one.',
  })
  checkoutId: string | null;
  @Field(() => Amount, { description: 'The amount that goes back.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => RefundStatus, { description: 'In live mode, a PENDING refund waits for the operator.' })
  status: RefundStatus;
  @Field(() => String, { nullable: true, description: 'Why the account refunds, in its own words.' })
  reason: string | null;
  @Field(() => String, { nullable: true, description: 'Why it failed, as the account reads it.' })
  failureReason: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank or the acquirer, once it is recorded.',
  })
  bankReference: string | null;
}

export const RefundPage = pageOf('Refund', () => OperatorRefund);

@ArgsType()
export class RefundsArgs extends ListFilterArgs {
  @Field(() => RefundStatus, { nullable: true, description: 'Only in this status; PENDING refunds are under way.' })
  status?: RefundStatus | null;
}

/** What the inputs of the ends of a refund have in common. */
@InputType()
class EndOfRefund {
  @Field(() => ID, { description: 'The refund.' })
  id: string;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank or the acquirer, such as a UTR or an ARN, at most 255 characters.',
  })
  bankReference?: string | null;
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the acquirer says so. Send true for a refund that was submitted to it; others need no word.',
  })
  toldByAcquirer?: boolean | null;
}

@InputType({ description: 'Names the refund whose money the payer has.' })
export class SucceedRefundInput extends EndOfRefund {}

@InputType({ description: 'Names the refund that has failed.' })
export class FailRefundInput extends EndOfRefund {
  @Field(() => String, {
    nullable: true,
    description: 'Why, for the account, in the words of the bank or the acquirer: at most 255 characters.',
  })
  failureReason?: string | null;
}
