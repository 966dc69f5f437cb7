import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { PaymentStatus, PaymentType } from './table.js';
import { texts } from '../../types/texts.js';

registerEnumType(PaymentType, {
  name: 'PaymentType',
  description: 'What a payment is of.',
  valuesConfig: {
    DEPOSIT: { description: 'A deposit.' },
    CHECKOUT: { description: 'A checkout that was paid.' },
    PAYOUT: { description: 'A payout.' },
    DISPUTE: { description: 'A dispute of a deposit.' },
    TRANSFER: {
      description:
        "A transfer of a connected user's available money to its aggregator platform, or with a negative amount back " +
        'from it, after money of the user was taken back.',
    },
    REFUND: { description: 'A refund of a deposit to its payer.' },
    ADJUSTMENT: { description: 'A correction by the service.' },
  },
});
registerEnumType(PaymentStatus, {
  name: 'PaymentStatus',
  description: 'How far a payment has come.',
  valuesConfig: {
    PROCESSING: { description: 'Under way.' },
    COMPLETED: { description: 'Its money has moved.' },
    CANCELLED: { description: 'Withdrawn. It moved no money.' },
    FAILED: { description: 'Failed. It moved no money, or its money has been returned.' },
    REVERSED: { description: 'Its money has been taken back, or has come back if it is of a payout.' },
  },
});

/** A cause of balance transactions. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'What produces balance transactions: a deposit, checkout, payout, dispute, transfer, refund or ' + 'adjustment.',
})
export class Payment extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => PaymentType, { description: 'What the payment is of.' })
  type: PaymentType;
  @Field(() => Amount, { description: 'The amount that the payment moves.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
  @Field(() => PaymentStatus, { description: 'How far the payment has come.' })
  status: PaymentStatus;
  @Field(() => ID, { nullable: true, description: 'The id of the deposit; null if the payment is of none.' })
  depositId: string | null;
  @Field(() => ID, { nullable: true, description: 'The id of the checkout; null if the payment is of none.' })
  checkoutId: string | null;
  accountId: string;
}

export const PaymentConnection = connectionOf('Payment', () => Payment);
