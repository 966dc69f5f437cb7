import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, get, node, post, stored } from '../define.js';
import { receivableProblems, ReceivableResolver, ReceivablesOfAccount, ReceivablesOfDeposit } from './resolver.js';
import { receivable } from './table.js';
import { Receivable } from './type.js';
import { receivableV1 } from './v1.js';

export default defineResource({
  object: 'receivable',
  node: node('receivable', receivable, Receivable),
  stored: { receivable: stored(receivable, receivableV1) },
  resolvers: [ReceivableResolver, ReceivablesOfAccount, ReceivablesOfDeposit],
  operations: {
    receivable: { access: 'read', callers: everyone, routes: [get('/v1/receivables/:id')] },
    receivables: { access: 'read', callers: everyone, routes: [extension.list('/v1/receivables')] },
    createReceivable: {
      access: 'write',
      callers: everyone,
      rules: receivableProblems,
      routes: [extension.post('/v1/receivables')],
    },
    updateReceivable: { access: 'write', callers: everyone, routes: [post('/v1/receivables/:id')] },
    voidReceivable: { access: 'write', callers: everyone, routes: [extension.post('/v1/receivables/:id/void')] },
  },
  sizes: {
    'Deposit.receivables': 10,
    'Receivable.lockedDeposits': 10,
    'Receivable.deposits': 10,
    'Receivable.systemMessage': 0,
  },
  events: ['receivable.created', 'receivable.updated', 'receivable.voided'],
});
