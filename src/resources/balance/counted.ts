import { sql } from 'drizzle-orm';

const p = sql.placeholder;

/**
 * The deposits `d` that totals count: the completed ones, without disputes of deposits that were reversed. The view
 * `counted_deposit` has the same rows for the SQL functions. Here the look at the disputed deposit names the tenant
 * too: a cluster sends a statement to one node only if each of its tables is bound to the tenant.
 */
export const countedDeposits = sql`(select x.* from deposit x
  where x.status = 'completed' and coalesce((select o.status from deposit o
    where o.tenant_id = ${p('tenantId')} and o.livemode = ${p('livemode')} and o.id = x.disputes_id), '') <> 'reversed'
  ) d`;
