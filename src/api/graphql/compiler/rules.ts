import type { PgColumn } from 'drizzle-orm/pg-core';
import { account } from '../../../resources/account/table.js';
import { accountListing } from '../../../resources/account/resolver.js';
import { accountSetting } from '../../../resources/account-setting/table.js';
import { accountSettingListing } from '../../../resources/account-setting/resolver.js';
import { address } from '../../../resources/address/table.js';
import { addressListing } from '../../../resources/address/resolver.js';
import { balanceTransactionListing } from '../../../resources/balance-transaction/resolver.js';
import type { Rows } from '../../../db/list-statement.js';
import { deposit } from '../../../resources/deposit/table.js';
import { depositListing } from '../../../resources/deposit/resolver.js';
import { entry } from '../../../resources/ledger/table.js';
import type { Listing } from '../../../types/pagination.js';
import { payment } from '../../../resources/payment/table.js';
import { paymentListing } from '../../../resources/payment/resolver.js';
import { payout } from '../../../resources/payout/table.js';
import { payoutListing } from '../../../resources/payout/resolver.js';
import { receivable } from '../../../resources/receivable/table.js';
import { receivableListing } from '../../../resources/receivable/resolver.js';

/** How PostgreSQL answers a field that has a resolver: with the rows that the resolver would read. */
export type Rule =
  /** A root field: the object with the argument `id`. */
  | { read: 'one'; table: Rows }
  /** A root field: a page of the caller's list. */
  | { read: 'page'; table: Rows; listing: Listing }
  /** An edge to the object whose `match` is the parent's property `of`. */
  | { read: 'link'; table: Rows; match: PgColumn; of: string }
  /** An edge to a page of the objects whose `match` is the parent's id. */
  | { read: 'edge'; table: Rows; listing: Listing; match: PgColumn }
  /** An object made of properties of the parent, by their names in the object. */
  | { read: 'object'; of: Record<string, string> }
  /** A value of the parent's that SQL derives from its columns; the expression is JSON as text. */
  | { read: 'value'; json: (column: (property: string) => string) => string }
  /** The funds of the parent, an account, as they are now. */
  | { read: 'balance' };

const one = (table: Rows): Rule => ({ read: 'one', table });
const page = (table: Rows, listing: Listing): Rule => ({ read: 'page', table, listing });
const link = (table: Rows, of: string, match: PgColumn = table.id): Rule => ({ read: 'link', table, match, of });
const edge = (table: Rows, listing: Listing, match: PgColumn): Rule => ({ read: 'edge', table, listing, match });
const object = (of: Record<string, string>): Rule => ({ read: 'object', of });

/**
 * The fields that a compiled query may ask for besides the columns of its rows, by type and name. A field with a resolver
 * and without a rule leaves its query to the resolvers. Each says again what its resolver says; the tests hold the two
 * against each other, field by field.
 */
export const rules: Record<string, Rule> = {
  'Query.account': one(account),
  'Query.accounts': page(account, accountListing),
  'Query.accountSetting': one(accountSetting),
  'Query.accountSettings': page(accountSetting, accountSettingListing),
  'Query.address': one(address),
  'Query.addresses': page(address, addressListing),
  'Query.deposit': one(deposit),
  'Query.deposits': page(deposit, depositListing),
  'Query.receivable': one(receivable),
  'Query.receivables': page(receivable, receivableListing),
  'Query.payment': one(payment),
  'Query.payments': page(payment, paymentListing),
  'Query.payout': one(payout),
  'Query.payouts': page(payout, payoutListing),

  // Roots exist in both modes.
  'Account.livemode': {
    read: 'value',
    json: (column) => `case when ${column('ownerId')} is null then 'null' else ${column('livemode')}::text end`,
  },
  'Account.owner': link(account, 'ownerId'),
  'Account.partners': edge(account, { ...accountListing, fixed: { type: 'partner' } }, account.ownerId),
  'Account.connectedUsers': edge(account, { ...accountListing, fixed: { type: 'user' } }, account.ownerId),
  'Account.setting': link(accountSetting, 'id', accountSetting.accountId),
  'Account.addresses': edge(address, addressListing, address.linkedId),
  'Account.balance': { read: 'balance' },
  'Account.balanceTransactions': edge(entry, balanceTransactionListing, entry.accountId),
  'Account.depositsIn': edge(deposit, depositListing, deposit.toAccountId),
  'Account.depositsOut': edge(deposit, depositListing, deposit.fromAccountId),
  'Account.receivables': edge(receivable, receivableListing, receivable.accountId),
  'Account.payments': edge(payment, paymentListing, payment.accountId),
  'Account.payouts': edge(payout, payoutListing, payout.accountId),

  'AccountSetting.account': link(account, 'accountId'),
  'AccountSetting.payouts': object({
    enabled: 'payoutsEnabled',
    interval: 'payoutsInterval',
    monthlyAnchor: 'payoutsMonthlyAnchor',
    weeklyAnchor: 'payoutsWeeklyAnchor',
    reasonCodeNotEnabled: 'payoutsReason',
  }),

  'Address.account': link(account, 'linkedId'),
  'Address.deposits': edge(deposit, depositListing, deposit.toAddressId),
  'Address.payouts': edge(payout, payoutListing, payout.addressId),

  'Deposit.from': object({ accountId: 'fromAccountId', addressId: 'fromAddressId' }),
  'Deposit.to': object({ accountId: 'toAccountId', addressId: 'toAddressId' }),
  'Deposit.fromAccount': link(account, 'fromAccountId'),
  'Deposit.fromAddress': link(address, 'fromAddressId'),
  'Deposit.toAccount': link(account, 'toAccountId'),
  'Deposit.toAddress': link(address, 'toAddressId'),
  'Deposit.payment': link(payment, 'paymentId'),
  'Deposit.disputes': link(deposit, 'disputesId'),
  'Deposit.disputedBy': edge(deposit, depositListing, deposit.disputesId),

  'BalanceTransaction.account': link(account, 'accountId'),
  'BalanceTransaction.payment': link(payment, 'paymentId'),
  'Receivable.account': link(account, 'accountId'),
  'Payment.account': link(account, 'accountId'),
  'Payment.deposit': link(deposit, 'depositId'),
  'Payment.payout': link(payout, 'id', payout.paymentId),
  'Payment.balanceTransactions': edge(entry, balanceTransactionListing, entry.paymentId),
  'Payout.account': link(account, 'accountId'),
  'Payout.address': link(address, 'addressId'),
  'Payout.payment': link(payment, 'paymentId'),
};
