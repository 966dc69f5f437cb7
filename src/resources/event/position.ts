import { type SQL, sql } from 'drizzle-orm';

const p = sql.placeholder;
const own = sql`e.tenant_id = ${p('tenantId')} and e.livemode = ${p('livemode')}`;

/**
 * Bounds of the numbers of the events that a bound of `created` admits, so that a page reads no others. Events are
 * numbered in the order of their commits, so their times are not in the order of the numbers. But an event is committed
 * before the time of its statement is over, and its id has the real time in it. So an event at the bound is found by
 * the index of times, and all admitted events are numbered after those that are older than it by a statement's time and
 * 10 s, or before those that are younger by it. The bound of `created` itself applies as well.
 */
export function numberBounds(bound: 'eq' | 'gt' | 'gte' | 'lt' | 'lte', time: SQL): SQL[] {
  if (bound === 'eq') return [...numberBounds('gte', time), ...numberBounds('lte', time)];
  const lower = bound === 'gt' || bound === 'gte';
  const [operator, direction] = [
    sql.raw({ gt: '>', gte: '>=', lt: '<', lte: '<=' }[bound]),
    sql.raw(lower ? '' : 'desc'),
  ];
  const at = sql`select e.id from event e where ${own} and e.created ${operator} ${time} order by e.created ${direction}
    limit 1`;
  const margin = sql`10 + ${p('statementSeconds')}::int`;
  // Without an event at the bound there is no number either, and the comparison with NULL admits no event.
  return lower
    ? [
        sql`"event"."number" > (select coalesce((select e.number from event e where ${own}
          and e.id < id_after(b.id, -(${margin})) and e.number is not null order by e.id desc limit 1), 0)
          from (${at}) b)`,
      ]
    : [
        sql`"event"."number" < (select coalesce((select e.number from event e where ${own}
          and e.id > id_after(b.id, ${margin}) and e.number is not null order by e.id limit 1), 9223372036854775807)
          from (${at}) b)`,
      ];
}
