import { everyone, testOnly } from '../../auth/permissions.js';
import { bankNotice } from '../../operator/table.js';
import { defineResource, extension, node, post, stored } from '../define.js';
import {
  DepositOfPayment,
  depositProblems,
  DepositResolver,
  DepositsOfAccount,
  DepositsOfAddress,
} from './resolver.js';
import { deposit } from './table.js';
import { Deposit } from './type.js';
import { bankNoticeV1, depositV1 } from './v1.js';

const helpers = '/v1/test_helpers/deposits/:id';

export default defineResource({
  object: 'deposit',
  node: node('deposit', deposit, Deposit),
  stored: { deposit: stored(deposit, depositV1), bank_notice: stored(bankNotice, bankNoticeV1) },
  resolvers: [DepositResolver, DepositsOfAccount, DepositsOfAddress, DepositOfPayment],
  operations: {
    deposit: { access: 'read', callers: everyone, routes: [extension.get('/v1/deposits/:id')] },
    deposits: { access: 'read', callers: everyone, routes: [extension.list('/v1/deposits')] },
    // Spec: Create a Deposit. "Works only in test mode."
    createDeposit: { ...testOnly, rules: depositProblems, routes: [post('/v1/deposits')] },
    reconcileDeposit: {
      access: 'write',
      callers: everyone,
      rules: depositProblems,
      routes: [extension.post('/v1/deposits/:id/reconcile')],
    },
    processTestDeposit: { ...testOnly, routes: [extension.post(`${helpers}/process`)] },
    completeTestDeposit: { ...testOnly, routes: [extension.post(`${helpers}/complete`)] },
    failTestDeposit: { ...testOnly, routes: [extension.post(`${helpers}/fail`)] },
    cancelTestDeposit: { ...testOnly, routes: [extension.post(`${helpers}/cancel`)] },
    reverseTestDeposit: { ...testOnly, routes: [extension.post(`${helpers}/reverse`)] },
    disputeTestDeposit: { ...testOnly, rules: depositProblems, routes: [extension.post(`${helpers}/dispute`)] },
  },
  events: [
    ...['deposit.initialized', 'deposit.processing', 'deposit.completed', 'deposit.failed', 'deposit.cancelled'],
    ...['deposit.reversed', 'deposit.disputed', 'deposit.reconciled'],
    ...['bank_notice.waiting', 'bank_notice.withdrawn'],
  ],
});
