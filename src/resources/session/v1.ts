import { declareKeys, stated } from '../shape.js';
import { type SessionRow, SessionRole } from './table.js';

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

declareKeys(sessionV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  api_key_id: 'value',
  role: 'value',
  allowed_origins: 'value',
  expires_at: 'value',
  revoked_at: 'value or null',
});

const [text, time] = [stated({ type: 'string' }), stated({ type: 'integer' })];

declareKeys(newSessionV1, {
  id: text,
  object: stated({ type: 'string', const: 'session' }),
  created: time,
  livemode: stated({ type: 'boolean' }),
  account_id: text,
  api_key_id: text,
  role: stated({ type: 'string', enum: Object.values(SessionRole) }),
  allowed_origins: stated({ type: 'array', items: { type: 'string' } }),
  expires_at: time,
  revoked_at: stated({ type: ['integer', 'null'] }),
  token: 'value or null',
});
