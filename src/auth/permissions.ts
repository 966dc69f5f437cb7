import { type AccountKind, type AccountRow } from '../resources/account/table.js';
import type { Caller } from '../request/caller.js';
import { type Mode, modeOf } from '../request/mode.js';

/** The relation of an account to the caller that names it. */
export type Relation = 'self' | 'connected_user' | 'partner' | 'connected_user_partner';

/**
 * Which callers may use a root field. `relations` limits the accounts, if the limit differs by kind of caller; without
 * it, the permission covers everything that the caller can see. `object` is the noun that begins the parameters' names.
 */
export interface Permission {
  object: string;
  access: 'read' | 'write';
  callers: readonly AccountKind[];
  modes?: readonly Mode[];
  /** The editions that have the operation, if only one does. */
  editions?: readonly (1 | 2)[];
  /** A list of the graph, which exists in every edition. It is empty where /v1 of that edition has no such path. */
  list?: true;
  relations?: Partial<Record<AccountKind, readonly Relation[]>>;
  /** Parameters with relations of their own, by their names on /v1. */
  parameters?: Readonly<Record<string, Partial<Record<AccountKind, readonly Relation[]>>>>;
  /** A platform may do this for itself alone, and not on behalf of a user, which is then the one that does it. */
  asItself?: true;
  /** What a session cannot do, where the operation needs an API key: the end of the sentence `A session cannot …`. */
  keysOnly?: string;
}

/** All kinds of accounts that have API keys. */
export const everyone = ['platform', 'direct_user', 'connected_user'] as const satisfies readonly AccountKind[];
/** The permission of operations that work with a test key only. */
export const testOnly = { access: 'write', callers: everyone, modes: ['test'] } as const;
/** The relations of operations that an account calls for itself, and a platform also for its connected users. */
export const ownAccounts = {
  platform: ['self', 'connected_user'],
  direct_user: ['self'],
  connected_user: ['self'],
} as const satisfies Permission['relations'];

/** What of a caller decides which operations it may call. */
export type Rights = Pick<Caller, 'kind' | 'livemode' | 'permission'> &
  Partial<Pick<Caller, 'accountId' | 'actingAccountId'>> & { session?: object | undefined };

/** Why the caller may not call this operation for any object; undefined when it may for some. */
export function denied(caller: Rights, permission: Permission): string | undefined {
  if (!permission.callers.includes(caller.kind as AccountKind))
    return `Only a ${permission.callers.join(' or ')} may do this.`;
  if (permission.asItself && caller.actingAccountId !== caller.accountId)
    return 'Only a platform may do this, and not on behalf of a user. Leave out On-Behalf-Of.';
  if (permission.modes && !permission.modes.includes(modeOf(caller.livemode)))
    return `This works with a ${permission.modes.join(' or ')} key only.`;
  const ofSession = deniedToSession(caller, permission);
  if (ofSession !== undefined) return ofSession;
  if (permission.access !== 'write' || caller.permission !== 'read') return undefined;
  return caller.session
    ? 'A session with the role read may only read. Use a session with the role operate, or an API key.'
    : 'This API key may only read.';
}

/** Why an operation needs an API key and not a session; undefined when the caller has a key, or needs none. */
export function deniedToSession(
  caller: Pick<Rights, 'session'>,
  { keysOnly }: Pick<Permission, 'keysOnly'>,
): string | undefined {
  return caller.session && keysOnly !== undefined ? `A session cannot ${keysOnly}; use an API key.` : undefined;
}

/** The relation of an account that the caller can see to the key's own account. */
function relationOf(caller: Caller, account: AccountRow): Relation {
  if (account.id === caller.accountId) return 'self';
  if (account.kind === 'connected_user') return 'connected_user';
  return account.ownerId === caller.accountId ? 'partner' : 'connected_user_partner';
}

/** Whether a rule by relation allows this caller to act on this account. */
export function related(caller: Caller, relations: Permission['relations'], account: AccountRow): boolean {
  const allowed = relations?.[caller.kind as AccountKind];
  return allowed === undefined || allowed.includes(relationOf(caller, account));
}
