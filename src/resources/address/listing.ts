import { Field, ArgsType, ID } from 'type-graphql';
import { pageArgsOf, type Listing } from '../../types/pagination.js';
import { AddressCategory, AddressStatus, AddressType, address } from './table.js';
import { Currency } from '../../types/scalars.js';
import { WalletFilter, VpaFilter } from './inputs.js';

@ArgsType()
export class AddressOfAccountArgs extends pageArgsOf('Address') {
  @Field(() => [AddressCategory], { nullable: true, description: 'Only of these categories.' })
  category?: AddressCategory[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  @Field(() => Boolean, {
    nullable: true,
    description: 'Only addresses that are reusable for ACH debit, or only those that are not.',
  })
  isReusable?: boolean | null;
  @Field(() => [AddressStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: AddressStatus[] | null;
  @Field(() => [AddressType], { nullable: true, description: 'Only of these types.' })
  type?: AddressType[] | null;
  @Field(() => WalletFilter, { nullable: true, description: 'Only wallets that match this filter.' })
  wallet?: WalletFilter | null;
  @Field(() => VpaFilter, { nullable: true, description: 'Only UPI addresses that match this filter. Edition 2 only.' })
  vpa?: VpaFilter | null;
}

@ArgsType()
export class AddressArgs extends AddressOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only addresses of this account. It may be any account that the caller can see.',
  })
  linkedId?: string | null;
}

/** How addresses are listed. Spec: List Addresses. */
export const addressListing: Listing = {
  object: 'address',
  filters: {
    category: address.category,
    currency: address.currency,
    isReusable: address.isReusable,
    linkedId: address.linkedId,
    status: address.status,
    type: address.type,
    'wallet.provider': address.walletProvider,
    'vpa.upi.onetime': address.vpaUpiOnetime,
    'vpa.upi.recurring': address.vpaUpiRecurring,
  },
  byAccount: ['linkedId'],
  parents: [address.linkedId],
  own: address.linkedId,
};
