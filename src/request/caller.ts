import { type AccountKind } from '../resources/account/table.js';
import { type KeyPermission } from '../resources/key/table.js';

/**
 * Who is asking. What varies by asker is a fact here; each fact selects a row of a table somewhere,
 * and nothing branches on it. Spec: Authentication.
 */
export interface Caller {
  tenantId: string;
  livemode: boolean;
  edition: 1 | 2;
  /** The kind of the key's account; permissions follow it, also when it acts for another. */
  kind: AccountKind | 'operator';
  permission: KeyPermission;
  keyId: string | null;
  /** The key's own account. */
  accountId: string;
  /** The account whose context applies: the acted-for one, else the key's own. */
  actingAccountId: string;
  actingAccountKind: AccountKind;
}
