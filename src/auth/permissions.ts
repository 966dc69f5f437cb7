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

const everyone = ['platform', 'direct_user', 'connected_user'] as const satisfies readonly AccountKind[];
const own = { platform: ['self', 'connected_user'], direct_user: ['self'], connected_user: ['self'] } as const;
const testOnly = { access: 'write', callers: everyone, modes: ['test'] } as const;

/** One row per root field: a field without a row, or a row without a field, keeps the process from starting. */
export const permissions: Record<string, Permission> = {
  viewer: { object: 'viewer', access: 'read', callers: everyone },
  node: { object: 'node', access: 'read', callers: everyone },
  nodes: { object: 'node', access: 'read', callers: everyone },

  account: { object: 'account', access: 'read', callers: everyone },
  accounts: { object: 'account', access: 'read', callers: everyone },
  createAccount: { object: 'account', access: 'write', callers: everyone },
  createConnectedUser: { object: 'account', access: 'write', callers: ['platform'] },
  updateAccount: { object: 'account', access: 'write', callers: everyone },
  // Spec: Activate an Account. Roots are activated by the operator alone.
  activateAccount: {
    object: 'account',
    access: 'write',
    callers: everyone,
    relations: {
      platform: ['connected_user', 'partner', 'connected_user_partner'],
      direct_user: ['partner'],
      connected_user: [],
    },
  },
  deactivateAccount: { object: 'account', access: 'write', callers: everyone },

  accountSetting: { object: 'account_setting', access: 'read', callers: everyone },
  accountSettings: { object: 'account_setting', access: 'read', callers: everyone },
  connectedAccountSettings: { object: 'account_setting', access: 'read', callers: ['platform'] },
  updateAccountSetting: { object: 'account_setting', access: 'write', callers: everyone },

  person: { object: 'person', access: 'read', callers: everyone },
  persons: { object: 'person', access: 'read', callers: everyone },
  createPerson: { object: 'person', access: 'write', callers: everyone },
  updatePerson: { object: 'person', access: 'write', callers: everyone },
  removePerson: { object: 'person', access: 'write', callers: everyone },

  file: { object: 'file', access: 'read', callers: everyone },
  files: { object: 'file', access: 'read', callers: everyone },

  address: { object: 'address', access: 'read', callers: everyone },
  addresses: { object: 'address', access: 'read', callers: everyone },
  createAddress: { object: 'address', access: 'write', callers: everyone, relations: own },
  updateAddress: { object: 'address', access: 'write', callers: everyone },

  apiKey: { object: 'api_key', access: 'read', callers: everyone },
  apiKeys: { object: 'api_key', access: 'read', callers: everyone },
  createApiKey: { object: 'api_key', access: 'write', callers: everyone, relations: own },
  rotateApiKey: { object: 'api_key', access: 'write', callers: everyone, relations: own },
  revokeApiKey: { object: 'api_key', access: 'write', callers: everyone, relations: own },

  balance: { object: 'balance', access: 'read', callers: everyone },
  balanceAggregate: { object: 'balance', access: 'read', callers: everyone },
  balanceTransaction: { object: 'balance_transaction', access: 'read', callers: everyone },
  balanceTransactions: { object: 'balance_transaction', access: 'read', callers: everyone },
  payment: { object: 'payment', access: 'read', callers: everyone },
  payments: { object: 'payment', access: 'read', callers: everyone },

  deposit: { object: 'deposit', access: 'read', callers: everyone },
  deposits: { object: 'deposit', access: 'read', callers: everyone },
  // Spec: Create a Deposit. "Works only in test mode."
  createDeposit: { object: 'deposit', ...testOnly },
  reconcileDeposit: { object: 'deposit', access: 'write', callers: everyone },

  receivable: { object: 'receivable', access: 'read', callers: everyone },
  receivables: { object: 'receivable', access: 'read', callers: everyone },
  createReceivable: { object: 'receivable', access: 'write', callers: everyone },
  updateReceivable: { object: 'receivable', access: 'write', callers: everyone },
  voidReceivable: { object: 'receivable', access: 'write', callers: everyone },

  // Spec: Editions. Edition 1 has no checkouts.
  checkout: { object: 'checkout', access: 'read', callers: everyone, editions: [2] },
  checkouts: { object: 'checkout', access: 'read', callers: everyone, editions: [2], list: true },
  createCheckout: { object: 'checkout', access: 'write', callers: everyone, editions: [2] },
  cancelCheckout: { object: 'checkout', access: 'write', callers: everyone, editions: [2] },
  transaction: { object: 'transaction', access: 'read', callers: everyone, editions: [2] },

  payout: { object: 'payout', access: 'read', callers: everyone },
  payouts: { object: 'payout', access: 'read', callers: everyone },

  event: { object: 'event', access: 'read', callers: everyone },
  events: { object: 'event', access: 'read', callers: everyone },

  processTestDeposit: { object: 'deposit', ...testOnly },
  completeTestDeposit: { object: 'deposit', ...testOnly },
  failTestDeposit: { object: 'deposit', ...testOnly },
  cancelTestDeposit: { object: 'deposit', ...testOnly },
  reverseTestDeposit: { object: 'deposit', ...testOnly },
  disputeTestDeposit: { object: 'deposit', ...testOnly },
  settleTestPayout: { object: 'payout', ...testOnly },
  failTestPayout: { object: 'payout', ...testOnly },
  payTestCheckout: { object: 'checkout', ...testOnly, editions: [2] },
  declineTestCheckout: { object: 'checkout', ...testOnly, editions: [2] },
  expireTestCheckout: { object: 'checkout', ...testOnly, editions: [2] },
  advanceTestClock: { object: 'clock', ...testOnly },
  verifyTestAccount: { object: 'account', ...testOnly },
  holdTestAccount: { object: 'account', ...testOnly },
  deactivateTestAccount: { object: 'account', ...testOnly },
  createTestWallet: { object: 'address', ...testOnly },
  expireTestAddress: { object: 'address', ...testOnly },
  deactivateTestAddress: { object: 'address', ...testOnly },
};

/** Operations of /v1 that the graph does not have: files are bytes, and bytes do not travel in GraphQL. */
export const restPermissions: Record<string, Permission> = {
  createFile: { object: 'file', access: 'write', callers: everyone },
  fileContent: { object: 'file', access: 'read', callers: everyone },
};

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
export function relationOf(caller: Caller, account: AccountRow): Relation {
  if (account.id === caller.accountId) return 'self';
  if (account.kind === 'connected_user') return 'connected_user';
  return account.ownerId === caller.accountId ? 'partner' : 'connected_user_partner';
}

/** Whether a rule by relation lets this caller act on this account. */
export function related(caller: Caller, relations: Permission['relations'], account: AccountRow): boolean {
  const allowed = relations?.[caller.kind as AccountKind];
  return allowed === undefined || allowed.includes(relationOf(caller, account));
}
