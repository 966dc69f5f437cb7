import { type AccountRow } from '../resources/account/table.js';

/** Where a row stands: its tenant and mode. */
export type TenantAndMode = Pick<AccountRow, 'tenantId' | 'livemode'>;
