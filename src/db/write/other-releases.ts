import { sql } from 'drizzle-orm';
import { version } from '../../config/version.js';
import { DomainError, problem } from '../../errors/problems.js';
import { gatewayProcess } from '../../jobs/table.js';
import type { ScopeSource } from '../doors.js';

/** Processes say every 2 seconds that they run. One that has not for this time has ended, or reaches no database. */
const aliveSeconds = 30;

/** Whether a process of a gateway has been seen lately, by the database's clock. */
export const isAlive = sql<boolean>`${gatewayProcess.seenAt} > extract(epoch from clock_timestamp())
  - ${sql.raw(String(aliveSeconds))}`;

/**
 * Whether a gateway of another release serves the same database, as during a deploy. It does not say which of the two
 * is the older one.
 */
export async function besideOtherReleases(database: Pick<ScopeSource, 'read'>): Promise<boolean> {
  const others = await database.read<{ id: string }>(
    'other_releases',
    (db) =>
      db
        .select({ id: gatewayProcess.id })
        .from(gatewayProcess)
        .where(sql`${gatewayProcess.version} <> ${sql.placeholder('own')} and ${isAlive}`)
        .limit(1),
    { own: version },
  );
  return others.length > 0;
}

/**
 * Refuses a write while a gateway of another release serves the same database. Call it before a write of objects that
 * the release before this one cannot read.
 */
export async function refuseBesideOtherReleases(database: Pick<ScopeSource, 'read'>): Promise<void> {
  if (!(await besideOtherReleases(database))) return;
  const text =
    'Another version of the service still runs beside this one, and could not read what this request makes. Send it ' +
    'again when the deploy has ended.';
  throw new DomainError({ ...problem('service_unavailable', undefined, text), retryAfter: aliveSeconds });
}
