import { account } from '../account/table.js';
import { everyone, testOnly } from '../../auth/permissions.js';
import { defineResource, extension, post } from '../define.js';
import { fields, value } from '../edges.js';
import { ActivationResolver } from './resolver.js';
import { activatedBy, requirements } from './rules.js';
import { ActivationRequirement } from './type.js';

const helpers = '/v1/test_helpers';

export default defineResource({
  object: 'account',
  resolvers: [ActivationResolver],
  operations: {
    activateAccount: {
      access: 'write',
      callers: everyone,
      relations: activatedBy,
      refusals: ['account_requirements_missing', 'status_invalid'],
      routes: [post('/v1/accounts/:id/activate')],
    },
    deactivateAccount: {
      access: 'write',
      callers: everyone,
      refusals: ['account_type_invalid', 'status_invalid'],
      routes: [post('/v1/accounts/:id/deactivate')],
    },
    verifyTestAccount: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/accounts/:id/verify`)],
    },
    holdTestAccount: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/accounts/:id/hold`)],
    },
    deactivateTestAccount: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/accounts/:id/deactivate`)],
    },
    expireTestAddress: {
      object: 'address',
      ...testOnly,
      refusals: ['status_invalid'],
      keysOnly: 'update addresses',
      routes: [extension.post(`${helpers}/addresses/:id/expire`)],
    },
    deactivateTestAddress: {
      object: 'address',
      ...testOnly,
      keysOnly: 'update addresses',
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/addresses/:id/deactivate`)],
    },
    createTestWallet: {
      object: 'address',
      ...testOnly,
      keysOnly: 'create addresses',
      refusals: ['account_type_invalid'],
      routes: [extension.post(`${helpers}/accounts/:id/wallet`)],
    },
  },
  fields: [
    fields(account, {
      requirements: value(() => [ActivationRequirement], requirements, {
        description:
          'The requirements for activation that are not met yet. The list is empty exactly when ' +
          '`activateAccount` finds nothing missing.',
      }),
    }),
  ],
  sizes: { 'Account.requirements': 20 },
});
