import { everyone, ownAccounts, testOnly } from '../../auth/permissions.js';
import { defineResource, extension, stored } from '../define.js';
import { AdjustmentResolver } from './resolver.js';
import { adjustmentProblems } from './rules.js';
import { adjustment } from './table.js';
import { adjustmentV1 } from './v1.js';

export default defineResource({
  object: 'adjustment',
  stored: { adjustment: stored(adjustment, adjustmentV1) },
  resolvers: [AdjustmentResolver],
  operations: {
    adjustment: {
      access: 'read',
      object: 'payment',
      callers: everyone,
      v1: adjustmentV1,
      routes: [extension.get('/v1/payments/:id/adjustment')],
    },
    createTestAdjustment: {
      ...testOnly,
      relations: ownAccounts,
      rules: adjustmentProblems,
      refusals: ['balance_insufficient'],
      v1: adjustmentV1,
      routes: [extension.post('/v1/test_helpers/adjustments')],
    },
  },
});
