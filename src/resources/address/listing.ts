import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { AddressCategory, AddressStatus, AddressType, address, addressLists } from './table.js';
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

export const addressListing = listingOf('address', addressLists(address));
