import { everyone, testOnly } from '../../auth/permissions.js';
import { defineResource, extension, node, stored } from '../define.js';
import { PayoutOfPayment, PayoutResolver, PayoutsOfAccount, PayoutsOfAddress } from './resolver.js';
import { payout, payoutBlock } from './table.js';
import { Payout } from './type.js';
import { payoutBlockV1, payoutV1 } from './v1.js';

export default defineResource({
  object: 'payout',
  node: node('payout', payout, Payout),
  stored: { payout: stored(payout, payoutV1), payout_block: stored(payoutBlock, payoutBlockV1) },
  resolvers: [PayoutResolver, PayoutsOfAccount, PayoutsOfAddress, PayoutOfPayment],
  operations: {
    payout: { access: 'read', callers: everyone, routes: [extension.get('/v1/payouts/:id')] },
    payouts: { access: 'read', callers: everyone, routes: [extension.list('/v1/payouts')] },
    settleTestPayout: { ...testOnly, routes: [extension.post('/v1/test_helpers/payouts/:id/settle')] },
    failTestPayout: { ...testOnly, routes: [extension.post('/v1/test_helpers/payouts/:id/fail')] },
  },
  // One per currency.
  sizes: { 'Account.payoutBlocks': 10 },
  events: ['payout.processing', 'payout.completed', 'payout.failed', 'payout.blocked'],
});
