import { type AccountKind } from '../resources/account/table.js';
import { type KeyPermission } from '../resources/key/table.js';
import { type SessionRole } from '../resources/session/table.js';

/**
 * The caller of a request. Everything that differs between callers is a property here. Each property selects a row of
 * some table of rules, and no code branches on it. Spec: Authentication.
 */
export interface Caller {
  tenantId: string;
  livemode: boolean;
  edition: 1 | 2;
  /** The kind of the key's account. Permissions depend on it, also when the caller acts for another account. */
  kind: AccountKind | 'operator';
  permission: KeyPermission;
  /** The key of the request, or the one that made its session. */
  keyId: string | null;
  /** The session of the request, if it has a session token and no key. */
  session?: { id: string; role: SessionRole; allowedOrigins: readonly string[] };
  /** The key's own account. */
  accountId: string;
  /** The acting account: the one that a platform acts for, otherwise the key's own. */
  actingAccountId: string;
  actingAccountKind: AccountKind;
}

/**
 * The sender of a caller's requests, by whose use the last part of an allowance is given: a key or session of the root
 * account, or a connected user with all of its keys and sessions.
 */
export function senderOf({ kind, accountId, session, keyId }: Sent): string {
  if (kind === 'connected_user') return accountId;
  return session?.id ?? keyId ?? accountId;
}

type Sent = Pick<Caller, 'kind' | 'accountId' | 'keyId'> & { session?: { id: string } | undefined };
