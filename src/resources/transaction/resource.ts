import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, node, stored } from '../define.js';
import { TransactionResolver, TransactionsOfCheckout } from './resolver.js';
import { transaction } from './table.js';
import { Transaction } from './type.js';
import { transactionV1 } from './v1.js';

export default defineResource({
  object: 'transaction',
  node: node('transaction', transaction, Transaction),
  stored: { transaction: stored(transaction, transactionV1) },
  resolvers: [TransactionResolver, TransactionsOfCheckout],
  operations: {
    transaction: { access: 'read', callers: everyone, editions: [2], routes: [extension.get('/v1/transactions/:id')] },
  },
  events: [
    ...['transaction.created', 'transaction.submitted', 'transaction.succeeded', 'transaction.failed'],
    'transaction.mismatched',
  ],
});
