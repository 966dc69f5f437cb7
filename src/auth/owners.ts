import { and, eq, sql } from 'drizzle-orm';
import type { CredentialCalls } from '../db/doors.js';
import { type AccountKind, account } from '../resources/account/table.js';
import { apiKey, type KeyPermission } from '../resources/key/table.js';
import { type SessionRole, session } from '../resources/session/table.js';
import type { TokenParts } from './tokens.js';

/** The row of a key or session with its account, and the time of the database. */
export interface KeyOwner {
  keyId: string;
  accountId: string;
  kind: AccountKind;
  edition: number;
  permission: KeyPermission;
  expiresAt: number | null;
  revokedAt: number | null;
  pepperId: string | null;
  /** The session; null for a key. */
  session: { id: string; role: SessionRole; allowedOrigins: string[] } | null;
  now: number;
}

const p = sql.placeholder;
const now = sql<number>`floor(extract(epoch from clock_timestamp()))::int`;

/** The owner of a key or session token with this digest. */
export async function ownerOf(
  database: CredentialCalls,
  { kind, tenantId, livemode }: TokenParts,
  digest: string,
): Promise<KeyOwner | undefined> {
  const read = kind === 'key' ? ownerOfKey : ownerOfSession;
  const [owner] = await read(database, { tenantId, livemode, digest });
  return owner;
}

function ownerOfKey(database: CredentialCalls, values: Record<string, unknown>): Promise<KeyOwner[]> {
  return database.read<KeyOwner>(
    'key_owner',
    (db) =>
      db
        .select({
          keyId: apiKey.id,
          accountId: account.id,
          kind: account.kind,
          edition: account.edition,
          permission: apiKey.permission,
          expiresAt: apiKey.expiresAt,
          revokedAt: apiKey.revokedAt,
          pepperId: apiKey.pepperId,
          session: sql<null>`null`,
          now,
        })
        .from(apiKey)
        .innerJoin(
          account,
          and(
            eq(account.tenantId, p('tenantId')),
            eq(account.livemode, p('livemode')),
            eq(account.id, apiKey.accountId),
          ),
        )
        .where(
          and(eq(apiKey.tenantId, p('tenantId')), eq(apiKey.livemode, p('livemode')), eq(apiKey.digest, p('digest'))),
        ),
    values,
  );
}

/**
 * The owner of a session: the account is that of the session, and the permission that of the key that made it. The
 * session ends when this key ends.
 */
function ownerOfSession(database: CredentialCalls, values: Record<string, unknown>): Promise<KeyOwner[]> {
  return database.read<KeyOwner>(
    'session_owner',
    (db) =>
      db
        .select({
          keyId: apiKey.id,
          accountId: account.id,
          kind: account.kind,
          edition: account.edition,
          permission: apiKey.permission,
          expiresAt: sql<number>`least(${session.expiresAt}, ${apiKey.expiresAt})::int`,
          revokedAt: sql<number | null>`coalesce(${session.revokedAt}, ${apiKey.revokedAt})::int`,
          pepperId: sql<null>`null`,
          session: { id: session.id, role: session.role, allowedOrigins: session.allowedOrigins },
          now,
        })
        .from(session)
        .innerJoin(
          apiKey,
          and(eq(apiKey.tenantId, p('tenantId')), eq(apiKey.livemode, p('livemode')), eq(apiKey.id, session.apiKeyId)),
        )
        .innerJoin(
          account,
          and(
            eq(account.tenantId, p('tenantId')),
            eq(account.livemode, p('livemode')),
            eq(account.id, session.accountId),
          ),
        )
        .where(
          and(
            eq(session.tenantId, p('tenantId')),
            eq(session.livemode, p('livemode')),
            eq(session.digest, p('digest')),
          ),
        ),
    values,
  );
}
