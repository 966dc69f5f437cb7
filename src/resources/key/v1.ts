import type { ApiKeyRow } from './table.js';
import { noun, value, valueOrNull } from '../shape.js';

/** Formats a key for events and the command line, without its digest. Silent: all fields. */
export function apiKeyV1(k: ApiKeyRow) {
  return {
    id: value(k.id),
    object: noun('api_key'),
    account_id: value(k.accountId),
    livemode: value(k.livemode),
    permission: value(k.permission),
    prefix: value(k.prefix),
    created: value(k.created),
    expires_at: valueOrNull(k.expiresAt),
    revoked_at: valueOrNull(k.revokedAt),
    last_used_at: valueOrNull(k.lastUsedAt),
  };
}
