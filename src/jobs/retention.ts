import { sql } from 'drizzle-orm';
import type { CrossTenantReads } from '../db/doors.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import type { AgeWork, Retention } from '../operation/work.js';
import { TenantScan } from './tenant-scan.js';

/** The retention that the README promises when no setting changes it. */
export const retentionDefault: Retention = { idempotencySeconds: 48 * 3600 };

/** A row that may be old; undefined when a database function decides it. */
export type Aged = TenantAndMode & { old?: boolean };

const ago = (seconds: number) => sql`extract(epoch from statement_timestamp()) - ${sql.raw(String(seconds))}`;

/** A scan over the tenants that may have old rows; undefined when rows are kept for ever. */
export function scanOfOld(
  database: CrossTenantReads,
  name: string,
  { table, where, order = [], created, kept }: AgeWork,
  retention: Retention,
): TenantScan<Aged> | undefined {
  const found = kept(retention);
  return (
    found &&
    new TenantScan<Aged>(database, name, {
      table,
      ...(where && { where }),
      order,
      ...(created && { columns: { old: sql<boolean>`${created} < ${ago(found.seconds)}` } }),
    })
  );
}
