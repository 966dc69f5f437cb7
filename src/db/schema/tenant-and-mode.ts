/**
 * The tenant and mode that a row belongs to. Rows, arguments and the placeholders of prepared statements have these
 * names; the parameters of SQL functions are `p_tenant` and `p_live`.
 */
export type TenantAndMode = { tenantId: string; livemode: boolean };
