import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Caller } from '../request/caller.js';

/** The columns that tell where a row stands: every table of tenant data has them. */
export interface VisibilityColumns {
  tenantId: PgColumn;
  livemode: PgColumn;
  id: PgColumn;
  created: PgColumn;
  actingAccountId: PgColumn;
  onRootList: PgColumn;
}

/**
 * Visibility says which rows exist for a caller at all, when it names one by id; the list says which
 * rows its lists show. `all` is the whole tenant and mode, `root` what stands on the platform's
 * list, `context` what stands on the list of the caller's context account.
 */
export type Visibility = 'all' | 'root' | 'context';

/** A platform reaches its whole tenant, and everybody else the rows of their own context. */
export function visibilityOf(caller: Caller): Visibility {
  return caller.actingAccountKind === 'platform' || caller.kind === 'operator' ? 'all' : 'context';
}

/** A list shows the caller's context, unless a filter names an account: then anything of it that can be reached. */
export function listOf(caller: Caller, namesAccount: boolean): Visibility {
  const visibility = visibilityOf(caller);
  return visibility === 'all' && !namesAccount ? 'root' : visibility;
}

/** The predicate of a visibility, with the context as the placeholder `context`. Tenant and mode are always beside it. */
export function visibilityPredicate(table: VisibilityColumns, visibility: Visibility): SQL[] {
  const tenantAndMode = [eq(table.tenantId, sql.placeholder('tenant')), eq(table.livemode, sql.placeholder('live'))];
  if (visibility === 'context') tenantAndMode.push(eq(table.actingAccountId, sql.placeholder('context')));
  if (visibility === 'root') tenantAndMode.push(sql`${table.onRootList} = true`);
  return tenantAndMode;
}
