import { everyone } from '../../auth/permissions.js';
import { defineResource, get } from '../define.js';
import { HistoryOfAccount, pointsUsual } from './history.js';
import { BalanceOfAccount, BalanceResolver } from './resolver.js';
import { balanceAggregateV1, balanceV1 } from './v1.js';

export default defineResource({
  object: 'balance',
  resolvers: [BalanceResolver, BalanceOfAccount, HistoryOfAccount],
  operations: {
    balance: { access: 'read', callers: everyone, v1: balanceV1, routes: [get('/v1/balance')] },
    balanceAggregate: {
      access: 'read',
      callers: everyone,
      v1: balanceAggregateV1,
      routes: [get('/v1/balance/aggregate')],
    },
  },
  sizes: {
    'Account.balanceHistory': pointsUsual,
    'Account.depositTotals': pointsUsual,
    'Balance.available': 0,
    'Balance.pending': 0,
    'Balance.processing': 0,
    'Balance.payoutProcessing': 0,
    'Balance.feeAdvance': 0,
    'BalanceAggregate.pending': 0,
  },
});
