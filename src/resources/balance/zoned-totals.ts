import { type SQL, sql } from 'drizzle-orm';
import { tenantAndMode } from '../../db/read/visibility.js';
import type { ChartStep } from './range.js';
import { totalSeconds } from './table.js';

const p = sql.placeholder;
/** What the statement has in common with that of steps in UTC. */
interface Common {
  /** Whether the receivers below an account are included. */
  descendants: boolean;
  /** The accounts that have a change `c` among those of an account `i`. */
  changed: SQL;
  /** The counted deposits of a range of time, in parts that each follow an index. */
  deposits: readonly ((first: SQL, last: SQL) => SQL)[];
}

/**
 * The beginnings of the steps in a time zone. A midnight that the clocks pass twice begins at the first time:
 * PostgreSQL takes the second one, and the second before it then belongs to the same day.
 */
export function starts(interval: ChartStep): SQL {
  const local = (time: SQL) => sql`(to_timestamp(${time}) at time zone ${p('timeZone')}::text)`;
  const name = sql.raw(interval);
  return sql`select array_agg(distinct extract(epoch from
      case when b.before < g.midnight then b.at
        else b.at - interval '1 second' - (b.before - g.midnight) end)::bigint) as starts
    from generate_series(date_trunc('${name}', ${local(sql`${p('from')}::bigint`)}),
      ${local(sql`${p('to')}::bigint - 1`)}, interval '1 ${name}') g(midnight)
    cross join lateral (select g.midnight at time zone ${p('timeZone')}::text as at,
      (g.midnight at time zone ${p('timeZone')}::text - interval '1 second') at time zone ${p('timeZone')}::text
        as before) b`;
}

/** The spans of totals within which a step begins, or the range begins or ends. */
function cut(seconds: number): SQL {
  const length = sql.raw(String(seconds));
  return sql`coalesce((select array_agg(distinct e - e % ${length})
    from step, unnest(step.starts || array[${p('from')}::bigint, ${p('to')}::bigint]) e
    where e % ${length} <> 0 and e >= ${p('from')} and e <= ${p('to')}), '{}'::bigint[])`;
}

/**
 * The rows whose sums are the totals of steps in a time zone, each with the beginning of its step. The total of a day
 * in UTC counts where no step begins within it, that of an hour within the other days, and the deposits themselves
 * within the hours that a step begins in. So the cost grows with the steps; in a time zone whose difference from UTC is
 * no whole number of hours, one hour of each step is read from the deposits.
 */
export function zonedParts(interval: ChartStep, { descendants, changed, deposits }: Common): SQL {
  const others = sql.raw(descendants ? "'{f,t}'" : "'{f}'");
  const total = (seconds: number, where: SQL) =>
    sql`select t.account_id, t.start as created, t.payment_method, t.currency, t.count, t.amount from deposit_total t
      where ${tenantAndMode('t')} and t.account_id = any((select ${p('ids')}::text[])::text[])
        and t.of_others = any(${others}::boolean[])
        and t.seconds = ${sql.raw(String(seconds))} and (select summed from state) and ${where}`;
  const { day, hour } = totalSeconds;
  const days = total(
    day,
    sql`t.start >= ${p('from')} and t.start + ${sql.raw(String(day))} <= ${p('to')} and t.start <> all((select days
      from cut)::bigint[])`,
  );
  const hoursOfDay = total(
    hour,
    sql`t.start >= greatest(d.start, ${p('from')}) and t.start < least(d.start + ${sql.raw(String(day))}, ${p('to')})
      and t.start <> all((select hours from cut)::bigint[])`,
  );
  // With `offset 0` each day or hour is a look-up: PostgreSQL could otherwise read all rows of an account, and join.
  const hours = sql`select x.* from unnest((select days from cut)::bigint[]) d(start) cross
    join lateral (${hoursOfDay} offset 0) x`;
  const changes = sql`select i.id, c.created, c.payment_method, c.currency, c.count, c.amount
    from deposit_total_change c
      cross join unnest((select ${p('ids')}::text[])) i(id)
      where ${tenantAndMode('c')} and ${changed} and c.created >= ${p('from')} and c.created < ${p('to')}
        and (select summed from state)
        and c.created - c.created % ${sql.raw(String(hour))} <> all((select hours from cut)::bigint[])`;
  const span = sql`unnest(case when (select summed from state) then (select hours
    from cut) else array[null::bigint] end) h(start)`;
  const first = sql`greatest(coalesce(h.start, ${p('from')}), ${p('from')})`;
  const last = sql`least(coalesce(h.start + ${sql.raw(String(hour))}, ${p('to')}), ${p('to')})`;
  const rows = deposits.map(
    (each) => sql`select x.* from ${span} cross join lateral (${each(first, last)} offset 0) x`,
  );
  return sql`with state as materialized (
      select not exists (select from deposit_total_backfill b where ${tenantAndMode('b')}) as summed),
    step as materialized (${starts(interval)}),
    cut as materialized (select ${cut(day)} as days, ${cut(hour)} as hours),
    part (account_id, created, payment_method, currency, count, amount) as
      (${sql.join([days, hours, changes, ...rows], sql` union all `)})
    select part.account_id, step.starts[greatest(width_bucket(part.created, step.starts), 1)] as step,
      part.payment_method, part.currency, part.count, part.amount
    from part cross join step`;
}
