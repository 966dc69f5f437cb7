/** The tenant and mode that a row belongs to. Functions and prepared statements call them `tenant` and `live`. */
export type TenantAndMode = { tenantId: string; livemode: boolean };
