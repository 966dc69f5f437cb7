import { getTableColumns, getTableName } from 'drizzle-orm';
import type postgres from 'postgres';
import { resources } from '../../src/resources/define.js';
import '../../src/resources/registry.js';

/** The tables whose rows say when they were last changed: those of all objects that a write can change. */
export const changing = resources.flatMap(({ node }) => {
  const { updatedAt, storedStatus } = node ? (getTableColumns(node.rows) as Record<string, unknown>) : {};
  // The table of the view `checkout_now` is `checkout`.
  return updatedAt ? [storedStatus ? 'checkout' : getTableName(node!.rows)] : [];
});

/** Columns that clients do not see, or whose changes are none of the object. */
const inner: Record<string, readonly string[]> = {
  // The digest is of the secret, and the last use is a statistic of the requests.
  api_key: ['digest', 'pepper_id', 'last_used_at'],
  // The payout that took its money out again, which has events of its own.
  payout: ['retried_by'],
  // When the worker sends the next delivery.
  webhook_endpoint: ['due', 'claimed_until'],
};

/** Records each change of these tables in a database of the test's own. */
export async function recordChanges(sql: postgres.Sql): Promise<void> {
  const trigger = (table: string) =>
    `create trigger seen after update on ${table} for each row execute function see_change();`;
  await sql.unsafe(`
    create table seen_change ("table" text, id text, changed text[], created bigint, before bigint, after bigint, clocks
    bigint[], since double precision);
    create function see_change() returns trigger language plpgsql as $$
    begin
      insert into seen_change values (tg_table_name, new.id,
        array(select n.key from jsonb_each(to_jsonb(new)) n where n.value is distinct from to_jsonb(old) -> n.key
        and n.key not in ('version', 'updated_at')),
        new.created, old.updated_at, new.updated_at, array[clock(new.tenant_id, new.livemode), wall_clock()],
        extract(epoch from clock_timestamp() - transaction_timestamp()));
      return null;
    end $$;
    ${changing.map(trigger).join('\n')}`);
}

/** The number of changes of each table, and those that did not move its time, or moved it without a change. */
export async function seenChanges(sql: postgres.Sql): Promise<{ tables: string[]; faults: string[] }> {
  const rows = await sql`select "table", changed, created, before, after, clocks, since, id from seen_change`;
  const tables = new Set<string>();
  const faults = rows.flatMap(({ table, changed, created, before, after, clocks, since, id }) => {
    const visible = (changed as string[]).filter((name) => !inner[table as string]?.includes(name));
    if (visible.length === 0) {
      // A row that was never changed may get the time of its creation.
      return after === before || (before === null && after === created) ? [] : [`${id}: moved without a change`];
    }
    tables.add(table as string);
    // A function reads the clock once, before it waits for a lock.
    const late = (clock: string) => Number(clock) - Number(after);
    const moved = after !== null && clocks.some((clock: string) => late(clock) >= -2 && late(clock) <= 2 + since);
    return moved ? [] : [`${id}: ${visible.join(', ')} changed, and the time did not`];
  });
  return { tables: [...tables].toSorted(), faults: [...new Set(faults)] };
}
