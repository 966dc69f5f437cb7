import type { ApiKeyRow } from './table.js';
import { declareKeys } from '../shape.js';

/** Formats a key for events and the command line, without its digest. Silent: all fields. */
export function apiKeyV1(k: ApiKeyRow) {
  return {
    id: k.id,
    object: 'api_key',
    account_id: k.accountId,
    livemode: k.livemode,
    permission: k.permission,
    prefix: k.prefix,
    created: k.created,
    expires_at: k.expiresAt,
    revoked_at: k.revokedAt,
    last_used_at: k.lastUsedAt,
  };
}

declareKeys(apiKeyV1, {
  id: 'value',
  object: 'noun',
  account_id: 'value',
  livemode: 'value',
  permission: 'value',
  prefix: 'value',
  created: 'value',
  expires_at: 'value or null',
  revoked_at: 'value or null',
  last_used_at: 'value or null',
});
