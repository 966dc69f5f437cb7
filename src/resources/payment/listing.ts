import { Field, ID, ArgsType } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { payment, PaymentType, PaymentStatus } from './table.js';

export const paymentListing: Listing = {
  object: 'payment',
  filters: { accountId: payment.accountId, type: payment.type, status: payment.status },
  byAccount: ['accountId'],
  parents: [payment.accountId],
  hashed: [payment.accountId],
  own: payment.accountId,
};

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
