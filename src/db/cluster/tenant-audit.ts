import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { AuditStatement } from '../read/audit-queries.js';
import type { TenantAndMode } from '../schema/tenant-and-mode.js';

/** What the audit needs of a database. */
interface Audited {
  crossTenant: { distributed(): Promise<boolean> };
  auditQuery<T>(name: string, build: (db: PostgresJsDatabase) => AuditStatement): Promise<T[]>;
}

interface AuditView {
  kind: 'view' | 'table';
  name: string;
  definition: string;
}

/** The view that a part of the audit reads. A view stands behind those that it reads. */
const readByParts = 'counted_deposit';

/** Whether a view is a part of `violations`. */
const isPart = ({ kind, name }: AuditView): boolean => kind === 'view' && name.endsWith('_violations');

/**
 * The violations of one tenant and mode, as the source `v` of a statement, with its condition. Where data is
 * distributed, names of a `with` hide the tables, so that the views' own text reads the rows of the tenant alone: Citus
 * then runs the statement on the tenant's node, in one snapshot. The view over all tenants would be a statement for
 * each of its parts and each shard, and a write between two of them would look like a violation.
 */
export async function violationsOf(
  database: Audited,
  { tenantId, livemode }: TenantAndMode,
): Promise<{ source: SQL; where: SQL | undefined }> {
  if (!(await database.crossTenant.distributed()))
    return {
      source: sql`violations v`,
      where: and(eq(sql`v.tenant_id`, tenantId), eq(sql`v.livemode`, livemode)),
    };
  const found = await database.auditQuery<AuditView>('audit_views', (db) =>
    db
      .select({
        kind: sql<AuditView['kind']>`x.kind`,
        name: sql<string>`x.name`,
        definition: sql<string>`x.definition`,
      })
      .from(
        sql`(select 'view' as kind, viewname::text as name, definition from pg_views where schemaname = 'public'
          union all select 'table', logicalrelid::regclass::text, '' from pg_dist_partition where partmethod = 'h') x`,
      ),
  );
  const hidden = (name: string, as: SQL) => sql`${sql.identifier(name)} as not materialized (${as})`;
  const first = found.find(({ kind, name }) => kind === 'view' && name === readByParts)!;
  const parts = found.filter(isPart);
  const text = ({ definition }: AuditView) => sql.raw(definition.trim().replace(/;$/, ''));
  const tables = found
    .filter(({ kind }) => kind === 'table')
    .map(({ name }) =>
      hidden(
        name,
        sql`select * from public.${sql.identifier(name)} where tenant_id = ${tenantId} and livemode = ${livemode}`,
      ),
    );
  const source = sql`(with ${sql.join([...tables, hidden(first.name, text(first))], sql`, `)}
    ${sql.join(
      parts.map((view) => sql`select rule, what from (${text(view)}) part`),
      sql` union all `,
    )}) v`;
  return { source, where: undefined };
}
