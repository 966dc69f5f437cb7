import { type AccountKind, type AccountRow } from '../resources/account/table.js';
import type { Caller } from '../request/caller.js';

/** What an account is to the caller who names it. */
export type Relation = 'self' | 'connected_user' | 'partner' | 'connected_user_partner';

/**
 * Who may call a root field. `relations` tells for which accounts, where that differs by caller;
 * without it, for everything that the caller can see. `object` is the noun that begins the names of its parameters.
 */
export interface Permission {
  object: string;
  access: 'read' | 'write';
  callers: readonly AccountKind[];
  modes?: readonly ('test' | 'live')[];
  /** The editions that have the operation, where not both do. */
  editions?: readonly (1 | 2)[];
  /** A list of the graph, which every edition shows: it is empty where /v1 has no such path. */
  list?: true;
  relations?: Partial<Record<AccountKind, readonly Relation[]>>;
}

/** All kinds of accounts that have API keys. */
export const everyone = ['platform', 'direct_user', 'connected_user'] as const satisfies readonly AccountKind[];
/** What works with a test key alone. */
export const testOnly = { access: 'write', callers: everyone, modes: ['test'] } as const;
/** What an account may do for itself, and a platform for its connected users. */
export const ownAccounts = {
  platform: ['self', 'connected_user'],
  direct_user: ['self'],
  connected_user: ['self'],
} as const satisfies Permission['relations'];

/** Parameters with rules of their own. Spec: AccountSetting, payouts. */
export const parameterRelations = {
  'payouts.enabled': { platform: ['connected_user'], direct_user: [], connected_user: [] },
  'payouts.schedule': { platform: ['self', 'connected_user'], direct_user: ['self'], connected_user: [] },
} as const satisfies Record<string, Record<'platform' | 'direct_user' | 'connected_user', readonly Relation[]>>;

/** Why the caller may not call this operation at all, or undefined when it may. Which object it names is not known yet. */
export function denied(caller: Caller, permission: Permission): string | undefined {
  if (!permission.callers.includes(caller.kind as AccountKind))
    return `Only a ${permission.callers.join(' or ')} may do this.`;
  if (permission.modes && !permission.modes.includes(caller.livemode ? 'live' : 'test'))
    return `This works with a ${permission.modes.join(' or ')} key only.`;
  if (permission.access === 'write' && caller.permission === 'read') return 'This API key may only read.';
  return undefined;
}

/** What an account that the caller can see is to the key's own account. */
function relationOf(caller: Caller, account: AccountRow): Relation {
  if (account.id === caller.accountId) return 'self';
  if (account.kind === 'connected_user') return 'connected_user';
  return account.ownerId === caller.accountId ? 'partner' : 'connected_user_partner';
}

/** Whether a rule by relation lets this caller act on this account. */
export function related(caller: Caller, relations: Permission['relations'], account: AccountRow): boolean {
  const allowed = relations?.[caller.kind as AccountKind];
  return allowed === undefined || allowed.includes(relationOf(caller, account));
}
