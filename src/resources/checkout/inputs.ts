import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../types/pagination.js';
import { Amount, Currency, Metadata } from '../../types/scalars.js';
import { TransactionPaymentMethod, TransactionReasonCode } from '../transaction/table.js';
import { CheckoutPaymentMethod, CheckoutStatus } from './table.js';

@InputType({ description: 'The partner that pays.' })
export class CheckoutPartyInput {
  @Field(() => ID)
  accountId: string;
}

@InputType({ description: 'A receivable that a checkout pays.' })
export class CheckoutReceivableInput {
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'Creates a checkout. Spec: Create a Checkout.' })
export class CreateCheckoutInput {
  @Field(() => Amount, { description: 'At least 1.00, and at most what the receivables can still take.' })
  amount: bigint;
  @Field(() => Currency, { description: 'INR.' })
  currency: string;
  @Field(() => CheckoutPartyInput)
  from: CheckoutPartyInput;
  @Field(() => [CheckoutPaymentMethod])
  paymentMethods: CheckoutPaymentMethod[];
  @Field(() => [CheckoutReceivableInput], {
    description: 'Open receivables of one user, in the order in which a payment locks them.',
  })
  receivables: CheckoutReceivableInput[];
  @Field(() => String, { description: 'An https address; in test mode also http on a loopback host.' })
  redirectUrl: string;
  @Field(() => Metadata, { nullable: true })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Names a checkout.' })
export class CheckoutIdInput {
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'Names a checkout, and how it is paid.' })
export class PayTestCheckoutInput extends CheckoutIdInput {
  @Field(() => TransactionPaymentMethod, {
    nullable: true,
    description: 'By default the first method that the checkout accepts.',
  })
  paymentMethod?: TransactionPaymentMethod | null;
}

@InputType({ description: 'Names a checkout, and how and why an attempt to pay it fails.' })
export class DeclineTestCheckoutInput extends PayTestCheckoutInput {
  @Field(() => TransactionReasonCode, { nullable: true, description: 'DECLINED by default.' })
  reasonCode?: TransactionReasonCode | null;
}

@ArgsType()
export class CheckoutOfAccountArgs extends PageArgs {
  @Field(() => [CheckoutStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: CheckoutStatus[] | null;
}

@ArgsType()
export class CheckoutArgs extends CheckoutOfAccountArgs {
  @Field(() => ID, { nullable: true, description: 'Checkouts to or from this account; any within reach.' })
  accountId?: string | null;
}
