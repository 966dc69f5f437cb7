import { everyone, ownAccounts } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, stored } from '../define.js';
import { fields, link, many, node, one, page } from '../edges.js';
import { ApiKeyArgs, apiKeyListing } from './listing.js';
import { apiKeyProblems } from './rules.js';
import { ApiKeyResolver } from './resolver.js';
import { apiKey } from './table.js';
import { ApiKey, ApiKeyConnection } from './type.js';
import { apiKeyV1 } from './v1.js';

const managed = { access: 'write', callers: everyone, relations: ownAccounts } as const;

export default defineResource({
  object: 'api_key',
  node: node('key', apiKey, ApiKey, { listing: apiKeyListing, connection: ApiKeyConnection, keysOnly: true }),
  stored: { api_key: stored(apiKey, apiKeyV1) },
  resolvers: [ApiKeyResolver],
  operations: {
    apiKey: {
      reads: one('A key that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      keysOnly: 'read API keys',
    },
    apiKeys: {
      reads: many(ApiKeyArgs, "The keys of the accounts on the caller's list, of the caller's mode."),
      access: 'read',
      callers: everyone,
      keysOnly: 'read API keys',
    },
    createApiKey: { ...managed, keysOnly: 'create API keys', rules: apiKeyProblems },
    rotateApiKey: { ...managed, keysOnly: 'rotate API keys', rules: apiKeyProblems, ends: 'replaced' },
    revokeApiKey: { ...managed, keysOnly: 'revoke API keys', ends: 'revoked' },
  },
  fields: [
    fields(apiKey, { account: link(account, 'accountId', { description: 'The account whose key it is.' }) }),
    fields(account, {
      apiKeys: page(apiKey, apiKey.accountId, { description: "The account's keys of the caller's mode." }),
    }),
  ],
  events: {
    'api_key.created': 'An API key was created, also in place of one that was rotated.',
    'api_key.rotated': 'An API key was replaced by a new one, and expires.',
    'api_key.revoked': 'An API key was revoked.',
  },
});
