/** Where a row stands: its tenant and mode. Functions and prepared statements name them `tenant` and `live`. */
export type TenantAndMode = { tenantId: string; livemode: boolean };
