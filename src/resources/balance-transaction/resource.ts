import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, get, list, node, stored } from '../define.js';
import { entry } from '../ledger/table.js';
import { BalanceTransactionResolver, BalanceTransactionsOfAccount, BalanceTransactionsOfPayment } from './resolver.js';
import { BalanceTransaction } from './type.js';
import { balanceTransactionV1 } from './v1.js';

export default defineResource({
  object: 'balance_transaction',
  node: node('bt', entry, BalanceTransaction),
  stored: { balance_transaction: stored(entry, balanceTransactionV1) },
  resolvers: [BalanceTransactionResolver, BalanceTransactionsOfAccount, BalanceTransactionsOfPayment],
  operations: {
    balanceTransaction: { access: 'read', callers: everyone, routes: [get('/v1/balance_transactions/:id')] },
    balanceTransactions: {
      access: 'read',
      callers: everyone,
      routes: [
        list('/v1/balance_transactions', { without: ['accountId'] }),
        extension.list('/v1/accounts/:id/balance_transactions', { params: { id: 'accountId' } }),
      ],
    },
  },
});
