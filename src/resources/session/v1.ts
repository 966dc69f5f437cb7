import { noun, stated, value, valueOrNull } from '../shape.js';
import type { SessionRow } from './table.js';

/** Formats a session for /v1 and for events, without its token. Silent: all fields. */
export function sessionV1(s: SessionRow) {
  return {
    id: value(s.id),
    object: noun('session'),
    created: value(s.created),
    livemode: value(s.livemode),
    account_id: value(s.accountId),
    api_key_id: value(s.apiKeyId),
    role: value(s.role),
    allowed_origins: value(s.allowedOrigins),
    expires_at: value(s.expiresAt),
    revoked_at: valueOrNull(s.revokedAt),
  };
}

const tokenSchema = {
  type: ['string', 'null'],
  description: 'The token; null when the answer is a replay.',
};

/** Formats a new session with its token; null in place of the token when the answer is a replay. */
export function newSessionV1({ session, token = null }: { session: SessionRow; token?: string | null }) {
  return { ...sessionV1(session), token: stated(tokenSchema, token) };
}
