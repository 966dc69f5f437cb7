import { sql } from 'drizzle-orm';
import { version } from '../../config/version.js';
import { DomainError, problem } from '../../errors/problems.js';
import type { ScopeSource } from '../doors.js';

/** A process says every 10 seconds that it runs. One that has not for this time has ended. */
const aliveSeconds = 30;

/**
 * Refuses a write while a gateway of another release serves the same database, as during a deploy. Call it before a
 * write of objects that the release before this one cannot read.
 */
export async function refuseBesideOtherReleases(database: Pick<ScopeSource, 'read'>): Promise<void> {
  const others = await database.read<{ version: string }>(
    'other_releases',
    (db) =>
      db
        .select({ version: sql<string>`g.version` })
        .from(sql`gateway_process g`)
        .where(
          sql`g.version <> ${sql.placeholder('own')}::text
            and g.seen_at > extract(epoch from clock_timestamp()) - ${sql.placeholder('alive')}::int`,
        )
        .limit(1),
    { own: version, alive: aliveSeconds },
  );
  if (others.length === 0) return;
  const text =
    'Another version of the service still runs beside this one, and could not read what this request makes. Send it ' +
    'again when the deploy has ended.';
  throw new DomainError({ ...problem('service_unavailable', undefined, text), retryAfter: aliveSeconds });
}
