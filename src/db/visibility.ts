import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Caller } from '../request/caller.js';

/** The columns that tell where a row stands: every table of tenant data has them. */
export interface Standing {
  tenantId: PgColumn;
  livemode: PgColumn;
  id: PgColumn;
  created: PgColumn;
  contextId: PgColumn;
  onRootList: PgColumn;
}

/**
 * Reach says which rows exist for a caller at all, when it names one by id; the list says which
 * rows its lists show. `all` is the whole tenant and mode, `root` what stands on the platform's
 * list, `context` what stands on the list of the caller's context account.
 */
export type Reach = 'all' | 'root' | 'context';

/** A platform reaches its whole tenant, and everybody else the rows of their own context. */
export function reachOf(caller: Caller): Reach {
  return caller.contextKind === 'platform' || caller.kind === 'operator' ? 'all' : 'context';
}

/** A list shows the caller's context, unless a filter names an account: then anything of it that can be reached. */
export function listOf(caller: Caller, namesAccount: boolean): Reach {
  const reach = reachOf(caller);
  return reach === 'all' && !namesAccount ? 'root' : reach;
}

/** The predicate of a reach, with the context as the placeholder `context`. Tenant and mode are always beside it. */
export function within(table: Standing, reach: Reach): SQL[] {
  const realm = [eq(table.tenantId, sql.placeholder('tenant')), eq(table.livemode, sql.placeholder('live'))];
  if (reach === 'context') realm.push(eq(table.contextId, sql.placeholder('context')));
  if (reach === 'root') realm.push(sql`${table.onRootList} = true`);
  return realm;
}
