import { ID } from 'type-graphql';
import { sql } from 'drizzle-orm';
import { argsOf } from '../../types/list-arguments.js';
import { type Listing, listingOf } from '../../types/pagination.js';
import { Currency } from '../../types/scalars.js';
import { AccountAddressState, AccountStatus, AccountType, account, accountLists } from './table.js';
import { AccountCapabilitiesFilter } from './inputs.js';
import { byBalance } from './by-balance.js';

const balanceOrderText =
  'The order of the list; the newest first by default. An order by balance needs an `orderCurrency`, and lists the ' +
  'accounts with a balance in it: `available` and `pending` together, as they were a moment ago. It can be combined ' +
  'with `type` alone. An account whose balance changes moves in the list, so a walk over its pages may miss it or ' +
  'meet it twice.';

export const accountListing = listingOf('account', accountLists(account), {
  orders: { balance: byBalance },
  search: {
    object: 'account',
    texts: (name) =>
      sql`array[${name(account.nickname)}, ${name(account.businessDetails)} ->> 'legalName',
        ${name(account.businessDetails)} ->> 'email']`,
    metadata: (name) => name(account.metadata),
  },
});

/** How the partners of one account are listed. Silent: the list. */
export const partnerListing: Listing = {
  ...accountListing,
  filters: { ...accountListing.filters, ownerId: account.ownerId },
  byAccount: ['ownerId'],
};

/** The arguments of lists of accounts: their orders. */
const ranked = {
  orderCurrency: [
    Currency,
    'The currency of the balances that order the list, such as `USD`. It needs an order by balance.',
  ],
} as const;
const search = 'the nickname, the legal name or the e-mail address';

export const [RankedAccountArgs] = argsOf('Account', accountListing, ranked, balanceOrderText);

export const [AccountArgs] = argsOf(
  'Account',
  accountListing,
  {
    ...ranked,
    search,
    address: [AccountAddressState, 'Only accounts whose receiving addresses are in one of these states.'],
    status: [AccountStatus, 'Only in these statuses.'],
    type: [AccountType, 'Only of these types.'],
    capability: [AccountCapabilitiesFilter, 'Only accounts whose capabilities match this filter. Edition 1 only.'],
    scope:
      "DESCENDANTS lists also the accounts below the listed ones: for a platform, its own partners and its users' " +
      "partners. A user's list has its partners in any case.",
  },
  balanceOrderText,
);

export const [PartnerArgs] = argsOf(
  'Account',
  partnerListing,
  {
    ...ranked,
    search,
    accountId: [ID, 'The owner of the partners; the acting account by default.'],
    status: [AccountStatus, 'Only in these statuses.'],
  },
  balanceOrderText,
);
