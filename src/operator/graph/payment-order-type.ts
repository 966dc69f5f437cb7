import { ArgsType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { idInputOf } from '../../types/input.js';
import { Amount, Currency, DateTime, LocalDate } from '../../types/scalars.js';
import { leftOutMax, PaymentOrderStatus } from '../payment-order/table.js';
import { PageArgs, reasonOfAction } from './inputs.js';
import { pageOf } from './page-type.js';
import { OperatorPayout } from './type.js';

registerEnumType(PaymentOrderStatus, {
  name: 'PaymentOrderStatus',
  description: 'How far a payment order has come.',
  valuesConfig: {
    GATHERING: { description: 'Its payouts are being gathered.' },
    PROPOSED: { description: 'It waits for named operators: `approvalsLeft` says for how many.' },
    APPROVED: { description: 'Another operator has approved it. Its file can be made and given to the bank.' },
    SENT: { description: 'Its file was given to the bank, whose files say what becomes of each payout.' },
    REJECTED: { description: 'It was rejected, or the bank has not carried it out. Its payouts can be in others.' },
  },
});

@ObjectType('OwnAccount', { simpleResolvers: true, description: 'An account of the operator at a bank.' })
export class OperatorOwnAccount {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was added.' })
  created: number;
  @Field(() => String, { description: 'Who added it.' })
  createdBy: string;
  @Field(() => String, { description: 'Who holds it, as the bank knows them.' })
  holder: string;
  @Field(() => Currency, { description: 'The currency of the payouts that it pays.' })
  currency: string;
  @Field(() => String, { nullable: true, description: 'The IBAN, where it has one.' })
  iban: string | null;
  @Field(() => String, { nullable: true, description: 'The number, where it has no IBAN.' })
  number: string | null;
  @Field(() => String, { nullable: true, description: 'The BIC of its bank.' })
  bic: string | null;
  @Field(() => String, { nullable: true, description: 'The IFSC of its bank.' })
  ifsc: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was closed; no order is made from it since.' })
  closedAt: number | null;
}

@ObjectType('LeftOutPayout', {
  simpleResolvers: true,
  description: 'A payout that no file for a bank can pay. It stays due.',
})
export class OperatorLeftOutPayout {
  @Field(() => ID, { description: 'The id of the payout.' })
  id: string;
  @Field(() => String, { description: 'Why, as a sentence.' })
  reason: string;
}

@ObjectType('PaymentOrder', {
  simpleResolvers: true,
  description: 'Payouts that a bank is told to pay in one file, from one account on one day.',
})
export class OperatorPaymentOrder {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was begun.' })
  created: number;
  @Field(() => String, {
    description:
      'Who has proposed it: who began it, or the first named operator who approved what `OPERATOR_KEY` or a command ' +
      'began.',
  })
  createdBy: string;
  @Field(() => ID, { description: 'The account from which the bank pays.' })
  ownAccountId: string;
  @Field(() => Currency, { description: 'Of its payouts.' })
  currency: string;
  @Field(() => LocalDate, { description: 'The day on which the bank is to pay.' })
  valueDate: string;
  @Field(() => PaymentOrderStatus, { description: 'How far it has come.' })
  status: PaymentOrderStatus;
  @Field(() => Int, { nullable: true, description: 'How many payouts it has, once it is proposed.' })
  payouts: number | null;
  @Field(() => Amount, { nullable: true, description: 'What they are together, once it is proposed.' })
  total: bigint | null;
  @Field(() => String, { nullable: true, description: 'Who has approved or rejected it.' })
  decidedBy: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was approved or rejected.' })
  decidedAt: number | null;
  @Field(() => String, { nullable: true, description: 'Why it was rejected.' })
  note: string | null;
  @Field(() => String, { nullable: true, description: 'Who has given its file to the bank.' })
  sentBy: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When its file was given to the bank.' })
  sentAt: number | null;
  @Field(() => [OperatorLeftOutPayout], {
    nullable: true,
    description: `What was left out when it was gathered: the first ${leftOutMax}. Null until it is proposed.`,
  })
  leftOut: OperatorLeftOutPayout[] | null;
}

export const PaymentOrderPage = pageOf('PaymentOrder', () => OperatorPaymentOrder, 'newest first');
export const OrderedPayoutPage = pageOf('OrderedPayout', () => OperatorPayout, 'in the order of the file');

@ArgsType()
export class PaymentOrdersArgs extends PageArgs {
  @Field(() => PaymentOrderStatus, { nullable: true, description: 'Only in this status.' })
  status?: PaymentOrderStatus | null;
}

@ArgsType()
export class OrderedPayoutsArgs extends PageArgs {
  @Field(() => ID, { description: 'The order.' })
  id: string;
}

@InputType({ description: 'An account of the operator at a bank: with an IBAN, or with a number.' })
export class AddOwnAccountInput {
  @Field(() => String, { description: 'Who holds it, as the bank knows them: at most 70 characters.' })
  holder: string;
  @Field(() => Currency, { description: 'The currency of the payouts that it pays.' })
  currency: string;
  @Field(() => String, { nullable: true, description: 'The IBAN.' })
  iban?: string | null;
  @Field(() => String, { nullable: true, description: 'The number, of an account without an IBAN.' })
  number?: string | null;
  @Field(() => String, { nullable: true, description: 'The BIC of its bank, of 8 or 11 characters.' })
  bic?: string | null;
  @Field(() => String, { nullable: true, description: 'The IFSC of its bank, of 11 characters.' })
  ifsc?: string | null;
}
export const CloseOwnAccountInput = idInputOf('CloseOwnAccount', 'account');

@InputType({ description: 'From which account payouts are to be paid, and when.' })
export class CreatePaymentOrderInput {
  @Field(() => ID, { description: 'The account of the operator. Its currency is that of the payouts.' })
  ownAccountId: string;
  @Field(() => LocalDate, {
    description: 'The day on which the bank is to pay: yesterday in UTC, which is still today somewhere, or later.',
  })
  valueDate: string;
}
export const ApprovePaymentOrderInput = idInputOf('ApprovePaymentOrder', 'order');
export const SendPaymentOrderInput = idInputOf('SendPaymentOrder', 'order');

@InputType({ description: 'An order that is not to be carried out.' })
export class RejectPaymentOrderInput {
  @Field(() => ID, { description: 'The order.' })
  id: string;
  @Field(() => String, { description: reasonOfAction })
  reason: string;
}
