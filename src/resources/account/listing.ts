import { Field, ArgsType, ID } from 'type-graphql';
import { sql } from 'drizzle-orm';
import { type Listing, listingOf, pageArgsOf } from '../../types/pagination.js';
import { Currency } from '../../types/scalars.js';
import { searchText, MetadataFilter } from '../../types/list-search.js';
import { AccountAddressState, AccountStatus, AccountType, account, accountLists } from './table.js';
import { AccountCapabilitiesFilter } from './inputs.js';
import { AccountScope } from '../../types/account-scope.js';
import { byBalance } from './by-balance.js';

const balanceOrderText =
  'The order of the list; the newest first by default. An order by balance needs an `orderCurrency`, and lists the ' +
  'accounts with a balance in it: `available` and `pending` together, as they were a moment ago. It can be combined ' +
  'with `type` alone. An account whose balance changes moves in the list, so a walk over its pages may miss it or ' +
  'meet it twice.';

/** The arguments of lists of accounts: their orders. */
@ArgsType()
export class RankedAccountArgs extends pageArgsOf('Account', balanceOrderText) {
  @Field(() => Currency, {
    nullable: true,
    description: 'The currency of the balances that order the list, such as `USD`. It needs an order by balance.',
  })
  orderCurrency?: string | null;
}

@ArgsType()
export class AccountArgs extends RankedAccountArgs {
  @Field(() => String, {
    nullable: true,
    description: searchText('the nickname, the legal name or the e-mail address'),
  })
  search?: string | null;
  @Field(() => MetadataFilter, { nullable: true, description: 'Only objects with this key in their metadata.' })
  metadata?: MetadataFilter | null;
  @Field(() => [AccountAddressState], {
    nullable: true,
    description: 'Only accounts whose receiving addresses are in one of these states.',
  })
  address?: AccountAddressState[] | null;
  @Field(() => [AccountStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: AccountStatus[] | null;
  @Field(() => [AccountType], { nullable: true, description: 'Only of these types.' })
  type?: AccountType[] | null;
  @Field(() => AccountCapabilitiesFilter, {
    nullable: true,
    description: 'Only accounts whose capabilities match this filter. Edition 1 only.',
  })
  capability?: AccountCapabilitiesFilter | null;
  @Field(() => AccountScope, {
    defaultValue: AccountScope.SELF,
    description:
      "DESCENDANTS lists also the accounts below the listed ones: for a platform, its own partners and its users' " +
      "partners. A user's list has its partners in any case.",
  })
  declare scope: AccountScope;
}

@ArgsType()
export class PartnerArgs extends RankedAccountArgs {
  @Field(() => String, {
    nullable: true,
    description: searchText('the nickname, the legal name or the e-mail address'),
  })
  search?: string | null;
  @Field(() => MetadataFilter, { nullable: true, description: 'Only objects with this key in their metadata.' })
  metadata?: MetadataFilter | null;
  @Field(() => ID, { nullable: true, description: 'The owner of the partners; the acting account by default.' })
  accountId?: string | null;
  @Field(() => [AccountStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: AccountStatus[] | null;
}

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
