import { type SQL, sql } from 'drizzle-orm';
import { ArgsType, Field, ObjectType } from 'type-graphql';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import type { AccountRow } from '../account/table.js';
import { nowOfStatement } from '../clock/now.js';
import { balancesOfActingAccounts, scopeText } from './acting-accounts.js';
import { type CompartmentField, ofEach } from './funds.js';
import { categories, lastEntryOf } from './last-entry.js';
import { checkRange, grouped, type ChartStep, RangeArgs } from './range.js';
import { starts } from './zoned-totals.js';

const p = sql.placeholder;

@ArgsType()
export class BalanceHistoryArgs extends RangeArgs {
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: scopeText })
  scope: AccountScope;
}

@ObjectType({
  simpleResolvers: true,
  description: "The amounts of an account's compartments in a currency at the end of a step.",
})
export class BalancePoint {
  @Field(() => DateTime, { description: 'The beginning of the step.' })
  start: number;
  @Field(() => Currency, { description: texts.currency })
  currency: string;
  @Field(() => Amount, { description: 'The amount of the compartment `available` at the end of the step.' })
  available: bigint;
  @Field(() => Amount, { description: 'The amount of the compartment `pending` at the end of the step.' })
  pending: bigint;
  @Field(() => Amount, { description: 'The amount of the compartment `processing` at the end of the step.' })
  processing: bigint;
  @Field(() => Amount, { description: 'The amount of the compartment `payoutProcessing` at the end of the step.' })
  payoutProcessing: bigint;
  @Field(() => Amount, { description: 'The amount of the compartment `feeAdvance` at the end of the step.' })
  feeAdvance: bigint;
}

/**
 * The amount in each compartment at the end of each step. One statement reads any number of steps. Silent: all of it.
 */
export async function balanceHistory(
  row: AccountRow,
  context: Context,
  range: BalanceHistoryArgs,
): Promise<BalancePoint[]> {
  checkRange(range);
  return series(context, row.id, range);
}

/** A span of time, either in steps of an interval or as one step. The steps begin at midnight in the time zone. */
interface Span {
  from: number;
  to: number;
  interval?: ChartStep;
  timeZone?: string;
  scope: AccountScope;
  /** The currencies that are read; all of them by default. */
  only?: string[] | null;
}

/** A point, and when it was read. */
type ReadPoint = BalancePoint & { now: number };

/**
 * The amount in each compartment at the end of each step: the `balance_after` of its last entry before then. The order
 * of entries is their version. An entry counts at the greatest `created` up to it, which is its own unless it is late,
 * and at the latest now: a time that is not before now has all entries, whatever the clock did.
 */
export async function series({ scope }: Context, accountId: string, span: Span): Promise<ReadPoint[]> {
  const { interval = 'as_of', from, to, scope: accountScope, timeZone = 'UTC', only } = span;
  const key = `history_${[interval, from, to, accountScope, timeZone, String(only ?? '')].join(':')}`;
  return (await scope.many(key, accountId, (ids) => readSeries(scope, ids, span))) ?? [];
}

/**
 * For each compartment, the last entry before the end of the span, then the last one before the step of that entry, and
 * so on to the beginning: each is one look-up in an index, so the cost grows with the points and not with the entries.
 * A step without an entry repeats the step before it.
 */
async function readSeries(
  scope: Scope,
  ids: readonly string[],
  { from, to, interval, timeZone = 'UTC', scope: accountScope, only }: Span,
): Promise<Map<string, ReadPoint[]>> {
  const descendants = accountScope === AccountScope.DESCENDANTS;
  const ofCurrencies = only ? sql`where a.currency = any(${p('currency')}::text[])` : sql``;
  const begins = interval ? starts(interval) : sql`select array[${p('from')}::bigint] as starts`;
  const step = sql`(select b.starts[greatest(width_bucket(w.created, b.starts), 1)] from begins b)`;
  const lastOf = (of: string, end: SQL) => sql`select least(l.at, (select now from clock)) as created, l.balance_after
    from (${lastEntryOf(of, (time) => sql`${time} < ${end}`)}) l`;
  const end = sql`(select case when ${p('to')}::bigint > now then ${sql.raw(String(2n ** 63n - 1n))}
    else ${p('to')}::bigint end from clock)`;
  const points = sql`with recursive begins as materialized (${begins}),
    step as materialized (select unnest(b.starts) as start from begins b),
    clock as materialized (select ${nowOfStatement} as now),
    compartment as (select b.id as shown_id, b.account_id, b.currency, b.late, c.category
      from (select * from (${balancesOfActingAccounts(descendants)}) a ${ofCurrencies}) b,
      ${categories} c(category)),
    walk as (select c.*, l.* from compartment c cross join lateral (${lastOf('c', end)}) l
      union all select w.shown_id, w.account_id, w.currency, w.late, w.category, l.* from walk w
        cross join lateral (${lastOf('w', step)}) l where w.created >= ${p('from')}),
    reached as (select w.*, case when w.created < ${p('from')} then -1 else ${step} end as start from walk w),
    numbered as (select c.*, s.start, r.balance_after as amount,
      count(r.balance_after) over (
        partition by c.shown_id, c.account_id, c.currency, c.category order by s.start) as nth
      from compartment c cross join (select start from step union all select -1) s
        left join reached r on r.shown_id = c.shown_id and r.account_id = c.account_id and r.currency = c.currency
          and r.category = c.category and r.start = s.start)
    select n.shown_id, n.currency, n.category, n.start,
      first_value(n.amount) over (
        partition by n.shown_id, n.account_id, n.currency, n.category, n.nth order by n.start) as amount,
      (select now from clock) as now
    from numbered n`;
  const amountOf = (category: string) =>
    sql<string>`coalesce(sum(x.amount) filter (where x.category = ${sql.raw(`'${category}'`)}), 0)::text`;
  const rows = await scope.read<Record<'accountId' | 'start' | 'currency' | 'now' | CompartmentField, string>>(
    `balance_history_${interval ?? 'as_of'}${descendants ? ':descendants' : ''}${only ? ':currency' : ''}`,
    (db) =>
      db
        .select({
          accountId: sql<string>`x.shown_id`,
          start: sql<string>`x.start`,
          currency: sql<string>`x.currency`,
          now: sql<string>`max(x.now)`,
          ...ofEach((_, { name }) => amountOf(name)),
        })
        .from(sql`(${points}) x`)
        .where(sql`x.start >= 0`)
        .groupBy(sql`x.shown_id`, sql`x.start`, sql`x.currency`)
        // A chart begins each currency at zero; a balance as of a time has the currencies that were booked by then.
        .having(interval ? undefined : sql`count(x.amount) > 0`)
        .orderBy(sql`x.start`, sql`x.currency`),
    { from, to, ids, ...(interval && { timeZone }), ...(only && { currency: only }) },
    interval ? undefined : { expensive: true, replicaOk: true, boundedBy: [], avoid: ['asOf'] },
  );
  return grouped(
    ids,
    rows.map((r) => [
      r.accountId,
      {
        ...{ start: Number(r.start), currency: r.currency, now: Number(r.now) },
        ...ofEach((compartment) => BigInt(r[compartment])),
      },
    ]),
  );
}
