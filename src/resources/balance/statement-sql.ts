import { type SQL, sql } from 'drizzle-orm';
import { nowOfStatement } from '../clock/now.js';
import { tenantAndMode } from '../../db/read/visibility.js';
import { categories, lastEntryOf } from './last-entry.js';

const p = sql.placeholder;

/**
 * The amount of each compartment at the beginning and at the end of a range, with the version of its last entry before
 * then: ten look-ups in an index for each account, whatever number of entries it has. Time that is not over has all
 * entries, as in `balanceHistory`.
 */
export const boundsSql = sql`with clock as materialized (select ${nowOfStatement} as now),
  bound as (select b.name, case when b.at > now then ${sql.raw(String(2n ** 63n - 1n))} else b.at end as at
    from clock, (values ('opening', ${p('from')}::bigint), ('closing', ${p('to')}::bigint)) b(name, at)),
  compartment as (select b.account_id, b.currency, b.late, k.category from balance b, ${categories} k(category)
    where ${tenantAndMode('b')} and b.account_id = any(${p('ids')}) and b.currency = ${p('currency')} and b.version > 0)
  select c.account_id, c.category, w.name, coalesce(l.balance_after, 0)::text as amount,
    coalesce(l.version, 0) as version, (select now from clock) as now
  from compartment c cross join bound w
    left join lateral (${lastEntryOf('c', (time) => sql`${time} < w.at`)}) l on true`;

/** The keys of the batch: accounts with the versions before the beginning and at the end of their statements. */
const statements = sql`statement as materialized (
    select k.key, split_part(k.key, '/', 1) as account_id, split_part(k.key, '/', 2)::bigint as first,
      split_part(k.key, '/', 3)::bigint as last
    from unnest(${p('ids')}::text[]) k(key))`;

/**
 * What each type of payment moved in and out. The entries of a posting are one movement, and moves between compartments
 * are none. Reads the entries of the range, whose number the caller has bounded.
 */
export const totalsSql = sql`with ${statements},
  movement as (select s.key, m.* from statement s cross join lateral (
    select e.payment_id, sum(e.amount) as amount from entry e
    where ${tenantAndMode('e')} and e.account_id = s.account_id and e.currency = ${p('currency')}
      and e.version > s.first and e.version <= s.last
    group by e.posting_id, e.payment_id having sum(e.amount) <> 0 offset 0) m)
  select m.key, y.type, count(*)::int as count,
    coalesce(sum(m.amount) filter (where m.amount > 0), 0)::text as paid_in,
    coalesce(sum(m.amount) filter (where m.amount < 0), 0)::text as paid_out
  from movement m left join payment y on ${tenantAndMode('y')} and y.id = any(array[m.payment_id])
  group by m.key, y.type`;

/**
 * The movements after a version of the ledger of an account, in its order, with what the account has after each. Reads
 * `scanned` entries at most; a posting that could be cut by that is left for the next page.
 */
export const movementsSql = (scanned: number): SQL => sql`with ${statements},
  begin as (select s.*, greatest(s.first, least(${p('after')}::bigint, s.last)) as after from statement s),
  at as (select b.*, e.posting_id, coalesce(x.as_of, e.created) as at, coalesce(w.late, false) as late from begin b
    left join balance w on ${tenantAndMode('w')} and w.account_id = b.account_id and w.currency = ${p('currency')}
    left join entry e on ${tenantAndMode('e')} and e.account_id = b.account_id and e.currency = ${p('currency')}
      and e.version = b.after
    left join late_entry x on ${tenantAndMode('x')} and x.account_id = b.account_id and x.currency = ${p('currency')}
      and x.version = b.after),
  carried as (select a.*, coalesce(t.amount, 0) as amount from at a left join lateral (
    select sum(l.balance_after) as amount
    from (select a.account_id, ${p('currency')}::text as currency, a.late, k.category from ${categories} k(category)) c
    cross join lateral (${lastEntryOf('c', (time, version) => sql`(${time}, ${version}) <= (a.at, a.after)`)}) l)
    t on true),
  scanned as (select c.key, c.posting_id as last_posting, e.*,
      c.amount + sum(e.change) over w as total, count(*) over (partition by c.key) as found
    from carried c cross join lateral (
      select e.created, e.posting_id, e.payment_id, e.amount as change, e.version from entry e
      where ${tenantAndMode('e')} and e.account_id = c.account_id and e.currency = ${p('currency')}
        and e.version > c.after and e.version <= c.last
      order by e.version limit ${sql.raw(String(scanned))}) e
    window w as (partition by c.key order by e.version))
  select s.key, s.payment_id, y.type, min(s.created) as created, sum(s.change)::text as amount,
    (array_agg(s.total order by s.version desc))[1]::text as balance_after, max(s.version) as version,
    max(s.found)::int as found, bool_or(s.posting_id = s.last_posting) as cut
  from scanned s left join payment y on ${tenantAndMode('y')} and y.id = any(array[s.payment_id])
  group by s.key, s.posting_id, s.payment_id, y.type
  order by s.key, version`;
