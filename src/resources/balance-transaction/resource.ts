import { account } from '../account/table.js';
import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, get, list, stored } from '../define.js';
import { fields, link, node, one, page } from '../edges.js';
import { entry } from '../ledger/table.js';
import { payment } from '../payment/table.js';
import { balanceTransactionListing, BalanceTransactionOfAccountArgs } from './listing.js';
import { BalanceTransactionResolver } from './resolver.js';
import { BalanceTransaction, BalanceTransactionConnection } from './type.js';
import { balanceTransactionV1 } from './v1.js';
import { moneyOf } from '../balance/type.js';

export default defineResource({
  object: 'balance_transaction',
  node: node('bt', entry, BalanceTransaction, {
    listing: balanceTransactionListing,
    connection: BalanceTransactionConnection,
    compiled: true,
  }),
  stored: { balance_transaction: stored(entry, balanceTransactionV1) },
  resolvers: [BalanceTransactionResolver],
  operations: {
    balanceTransaction: {
      reads: one('A balance transaction that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [get('/v1/balance_transactions/:id')],
    },
    balanceTransactions: {
      access: 'read',
      callers: everyone,
      routes: [
        list('/v1/balance_transactions', { without: ['accountId'] }),
        extension.list('/v1/accounts/:id/balance_transactions', { params: { id: 'accountId' } }),
      ],
    },
  },
  fields: [
    fields(entry, {
      ...moneyOf({ amount: 'currency', balanceAfter: 'currency' }),
      account: link(account, 'accountId', { description: 'The account whose balance changed.' }),
      payment: link(payment, 'paymentId', {
        nullable: true,
        description: "The payment that produced it; null where it is another account's and the caller cannot see it.",
      }),
    }),
    fields(account, {
      balanceTransactions: page(entry, entry.accountId, {
        args: BalanceTransactionOfAccountArgs,
        description: "The account's balance transactions.",
      }),
    }),
    fields(payment, {
      balanceTransactions: page(entry, entry.paymentId, {
        description: 'The balance transactions that the payment produced.',
      }),
    }),
  ],
});
