import { type SQL, sql } from 'drizzle-orm';

/** The views that the audit of a tenant consists of, and the tables and views that they read. */
export interface AuditViews {
  definitions: { name: string; definition: string }[];
  tables: string[];
}

/** Reads the definitions of the audit's views. */
export const viewsStatement = sql`
  (select 'view' as kind, v.viewname::text as name, v.definition, array_position(${sql.raw(
    "array['counted_deposit', 'ledger_violations', 'deposit_violations', 'deposit_total_violations', 'payout_violations', 'checkout_violations']",
  )}, v.viewname::text) as place
  from pg_views v where v.schemaname = 'public'
  union all
  select 'table', p.logicalrelid::regclass::text, '', 0 from pg_dist_partition p where p.partmethod = 'h') x`;

/**
 * The violations of one tenant and mode where data is distributed. Names of a `with` hide the tables, so that the views'
 * own text reads the rows of the tenant alone: Citus then runs the statement on the tenant's node, in one snapshot. The
 * view over all tenants would be one statement for each of its parts and each shard, and a write between two of them
 * would look like a violation.
 */
export function violationsOf(tenantId: string, livemode: boolean, { tables, definitions }: AuditViews): SQL {
  const own = tables.map(
    (name) =>
      sql`${sql.identifier(name)} as not materialized (select * from public.${sql.identifier(name)} where tenant_id = ${tenantId} and livemode = ${livemode})`,
  );
  const text = ({ definition }: { definition: string }) => sql.raw(definition.trim().replace(/;$/, ''));
  const parts = definitions.filter(({ name }) => name.endsWith('_violations'));
  const others = definitions
    .filter((view) => !parts.includes(view))
    .map((view) => sql`${sql.identifier(view.name)} as not materialized (${text(view)})`);
  return sql`(with ${sql.join([...own, ...others], sql`, `)} ${sql.join(
    parts.map((view) => sql`select rule, what from (${text(view)}) part`),
    sql` union all `,
  )}) v`;
}
