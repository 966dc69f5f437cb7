import { everyone, testOnly } from '../../auth/permissions.js';
import { defineResource, extension, post } from '../define.js';
import { ActivationResolver, activatedBy } from './resolver.js';

const helpers = '/v1/test_helpers';

export default defineResource({
  object: 'account',
  resolvers: [ActivationResolver],
  operations: {
    activateAccount: {
      access: 'write',
      callers: everyone,
      relations: activatedBy,
      routes: [post('/v1/accounts/:id/activate')],
    },
    deactivateAccount: { access: 'write', callers: everyone, routes: [post('/v1/accounts/:id/deactivate')] },
    verifyTestAccount: { ...testOnly, routes: [extension.post(`${helpers}/accounts/:id/verify`)] },
    holdTestAccount: { ...testOnly, routes: [extension.post(`${helpers}/accounts/:id/hold`)] },
    deactivateTestAccount: { ...testOnly, routes: [extension.post(`${helpers}/accounts/:id/deactivate`)] },
    createTestWallet: { object: 'address', ...testOnly, routes: [extension.post(`${helpers}/accounts/:id/wallet`)] },
    expireTestAddress: { object: 'address', ...testOnly, routes: [extension.post(`${helpers}/addresses/:id/expire`)] },
    deactivateTestAddress: {
      object: 'address',
      ...testOnly,
      routes: [extension.post(`${helpers}/addresses/:id/deactivate`)],
    },
  },
  sizes: { 'Account.requirements': 20 },
});
