import type { Caller } from '../../request/caller.js';
import type { AccountKind } from '../account/table.js';

/** The account of an endpoint, as far as its rights depend on it. */
interface Owner {
  tenantId: string;
  livemode: boolean;
  id: string;
  kind: AccountKind;
  edition: 1 | 2;
}

/** The account of an endpoint as the caller of its query: it reads what a key of the account can read. */
export const readerOf = ({ tenantId, livemode, id, kind, edition }: Owner): Caller => ({
  ...{ tenantId, livemode, edition, kind },
  permission: 'read',
  keyId: null,
  accountId: id,
  actingAccountId: id,
  actingAccountKind: kind,
});
