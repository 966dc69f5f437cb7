import { sql } from 'drizzle-orm';
import type { Scope } from '../../db/scope.js';
import { DomainError, problem } from '../../errors/problems.js';

/** What both APIs say about an argument that names a time zone. */
export const timeZoneText =
  'The time zone in which days begin, by its name in the IANA time zone database, such as `Asia/Kolkata`.';

/** Names that PostgreSQL has besides those of the IANA database. */
const others = /^(?:posix|right)\/|^(?:posixrules|localtime|Factory)$/;

let known: Promise<ReadonlySet<string>> | undefined;

/**
 * Refuses the name of a time zone that PostgreSQL does not have. It computes the days, so its list decides, and neither
 * the list nor the clock of a gateway. It also takes abbreviations and offsets, whose meaning differs between servers;
 * these are not in the list. The list is read once, because reading it takes PostgreSQL some 50 ms.
 */
export async function checkTimeZone(scope: Scope, field: string, name: string): Promise<void> {
  if (name === 'UTC') return;
  known ??= readNames(scope);
  try {
    if ((await known).has(name)) return;
  } catch (error) {
    known = undefined;
    throw error;
  }
  throw new DomainError(
    problem('parameter_invalid', field, 'must be the name of a time zone of the IANA database, such as Asia/Kolkata'),
  );
}

async function readNames(scope: Scope): Promise<ReadonlySet<string>> {
  const rows = await scope.read<{ name: string }>(
    'time_zones',
    (db) => db.select({ name: sql<string>`z.name` }).from(sql`pg_timezone_names z`),
    {},
  );
  return new Set(rows.map(({ name }) => name).filter((name) => !others.test(name)));
}
