import { Field, ID, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { payment, PaymentType, PaymentStatus, paymentLists } from './table.js';

export const paymentListing = listingOf('payment', paymentLists(payment));

@ArgsType()
export class PaymentArgs extends pageArgsOf('Payment') {
  @Field(() => ID, {
    nullable: true,
    description: 'Only payments of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
  @Field(() => [PaymentType], { nullable: true, description: 'Only of these types.' })
  type?: PaymentType[] | null;
  @Field(() => [PaymentStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: PaymentStatus[] | null;
}
