import { type AccountRow } from '../resources/account/table.js';

/** Where a row stands: its tenant and mode. */
export type Realm = Pick<AccountRow, 'tenantId' | 'livemode'>;
