import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { AddressCategory, AddressStatus, AddressType, address, addressLists } from './table.js';
import { WalletFilter, VpaFilter } from './inputs.js';

export const addressListing = listingOf('address', addressLists(address));

export const [AddressArgs, AddressOfAccountArgs] = argsOf('Address', addressListing, {
  category: [AddressCategory, 'Only of these categories.'],
  currency: 'Only in these currencies.',
  isReusable: 'Only addresses that are reusable for ACH debit, or only those that are not.',
  status: [AddressStatus, 'Only in these statuses.'],
  type: [AddressType, 'Only of these types.'],
  wallet: [WalletFilter, 'Only wallets that match this filter.'],
  vpa: [VpaFilter, 'Only UPI addresses that match this filter. Edition 2 only.'],
  linkedId: ofAccount('addresses'),
});
