import { type SQL, sql } from 'drizzle-orm';
import type { Scope } from '../../db/scope.js';

const p = sql.placeholder;

/** How many seconds the clock of the tenant and mode is ahead of real time. */
const clockOffset: SQL = sql`coalesce((select c.offset_seconds from test_clock c
  where c.tenant_id = ${p('tenantId')} and c.livemode = ${p('livemode')}), 0)`;

/** The time by the clock of the tenant and mode, in epoch seconds: the database's clock, and its test clock. */
export const now: SQL = sql`(floor(date_part('epoch', clock_timestamp()))::bigint + ${clockOffset})`;

/** The same time at the beginning of the statement, within which it does not change. */
export const nowOfStatement: SQL = sql`(floor(date_part('epoch', statement_timestamp()))::bigint + ${clockOffset})`;

/** Reads the time by the clock of the caller's tenant and mode. */
export async function readNow(scope: Scope): Promise<number> {
  const [row] = await scope.read<{ now: string }>(
    'now',
    (db) => db.select({ now: sql<string>`x.now` }).from(sql`(select ${now} as now) x`),
    {},
  );
  return Number(row!.now);
}

/** The same, read once for everything that a request asks in one tick. */
export const readNowOnce = async (scope: Scope): Promise<number> =>
  (await scope.many('now', 'now', async () => new Map([['now', await readNow(scope)]])))!;
