import type { SessionRow } from './table.js';

/** Formats a session for /v1 and for events, without its token. Silent: all fields. */
export function sessionV1(s: SessionRow) {
  return {
    id: s.id,
    object: 'session',
    created: s.created,
    livemode: s.livemode,
    account_id: s.accountId,
    api_key_id: s.apiKeyId,
    role: s.role,
    allowed_origins: s.allowedOrigins,
    expires_at: s.expiresAt,
    revoked_at: s.revokedAt,
  };
}

/** Formats a new session with its token; null in place of the token when the answer is a replay. */
export function newSessionV1({ session, token = null }: { session: SessionRow; token?: string | null }) {
  return { ...sessionV1(session), token };
}
