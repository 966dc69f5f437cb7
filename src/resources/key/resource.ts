import { everyone, ownAccounts } from '../../auth/permissions.js';
import { defineResource, node, stored } from '../define.js';
import { apiKeyProblems, ApiKeyResolver, ApiKeysOfAccount } from './resolver.js';
import { apiKey } from './table.js';
import { ApiKey } from './type.js';
import { apiKeyV1 } from './v1.js';

const managed = { access: 'write', callers: everyone, relations: ownAccounts } as const;

export default defineResource({
  object: 'api_key',
  node: node('key', apiKey, ApiKey),
  stored: { api_key: stored(apiKey, apiKeyV1) },
  resolvers: [ApiKeyResolver, ApiKeysOfAccount],
  operations: {
    apiKey: { access: 'read', callers: everyone },
    apiKeys: { access: 'read', callers: everyone },
    createApiKey: { ...managed, rules: apiKeyProblems },
    rotateApiKey: { ...managed, rules: apiKeyProblems },
    revokeApiKey: managed,
  },
  events: ['api_key.created', 'api_key.rotated', 'api_key.revoked'],
});
