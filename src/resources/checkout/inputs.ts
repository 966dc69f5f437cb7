import { Field, ID, InputType, Int } from 'type-graphql';
import { Amount, Currency, Metadata } from '../../types/scalars.js';
import { CheckoutPaymentMethod } from './table.js';
import { texts } from '../../types/texts.js';
import { TransactionPaymentMethod, TransactionReasonCode } from '../transaction/table.js';
import { idInputOf } from '../../types/input.js';

@InputType({ description: 'The partner that pays.' })
export class CheckoutPartyInput {
  @Field(() => ID, { description: 'The id of the partner.' })
  accountId: string;
}

@InputType({ description: 'A receivable that a checkout pays.' })
export class CheckoutReceivableInput {
  @Field(() => ID, { description: 'The id of the receivable.' })
  id: string;
}

@InputType({ description: 'Creates a checkout.' })
export class CreateCheckoutInput {
  @Field(() => Amount, {
    description: 'The amount to collect: at least 1.00, and at most what can still be reconciled with the receivables.',
  })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the amount: INR.' })
  currency: string;
  @Field(() => CheckoutPartyInput, { description: 'The partner that pays.' })
  from: CheckoutPartyInput;
  @Field(() => [CheckoutPaymentMethod], { description: 'The methods with which the partner can pay; at least one.' })
  paymentMethods: CheckoutPaymentMethod[];
  @Field(() => [CheckoutReceivableInput], {
    description: 'Open receivables of one user, in the order in which a payment locks them.',
  })
  receivables: CheckoutReceivableInput[];
  @Field(() => String, {
    description:
      'The address to which the partner is sent after the payment: https, ' +
      'and in test mode also http on a loopback host.',
  })
  redirectUrl: string;
  @Field(() => Int, {
    nullable: true,
    description:
      'After how many seconds the checkout expires: from 1800 to 2592000, 30 days. By default as the service is set, ' +
      'usually a day.',
  })
  expiresInSeconds?: number | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
}

/** What the inputs of test helpers for attempts have in common. */
@InputType()
class TestAttempt {
  @Field(() => ID, { description: 'The id of the checkout.' })
  id: string;
  @Field(() => TransactionPaymentMethod, {
    nullable: true,
    description: 'How the attempt pays. By default the first method that the checkout accepts.',
  })
  paymentMethod?: TransactionPaymentMethod | null;
}

@InputType({ description: 'Names a checkout, and how it is paid.' })
export class PayTestCheckoutInput extends TestAttempt {
  @Field(() => Amount, {
    nullable: true,
    description:
      'What the acquirer takes, greater than zero; by default what the payer was asked for. A smaller amount is ' +
      'credited as it is. What is beyond the amount that was asked for is credited to no account.',
  })
  amount?: bigint | null;
  @Field(() => Currency, {
    nullable: true,
    description: 'The currency of the amount; by default that of the checkout. Another one pays nothing.',
  })
  currency?: string | null;
}

@InputType({ description: 'Names a checkout, and how and why an attempt to pay it fails.' })
export class DeclineTestCheckoutInput extends TestAttempt {
  @Field(() => TransactionReasonCode, {
    nullable: true,
    defaultValue: 'declined',
    description: 'Why the attempt fails.',
  })
  reasonCode?: TransactionReasonCode | null;
}

export const CancelCheckoutInput = idInputOf('CancelCheckout', 'checkout');
export const ExpireTestCheckoutInput = idInputOf('ExpireTestCheckout', 'checkout');
