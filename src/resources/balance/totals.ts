import { Field, ArgsType, Extensions, Int, ObjectType } from 'type-graphql';
import { sql, type SQL } from 'drizzle-orm';
import { tenantAndMode } from '../../db/read/visibility.js';
import { RangeArgs, checkRange, bucket, grouped, type ChartStep } from './range.js';
import { AccountScope } from '../../types/account-scope.js';
import { timeZoneText, checkTimeZone } from '../clock/time-zone.js';
import { DateTime, Currency, Amount } from '../../types/scalars.js';
import { DepositPaymentMethod } from '../deposit/table.js';
import { methodTexts, PaymentMethod } from '../payment/method.js';
import type { AccountRow } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import type { Scope } from '../../db/scope.js';
import { totalSeconds } from './table.js';
import { zonedParts } from './zoned-totals.js';
import { isAnyParent } from '../../db/schema/filter-index.js';

@ArgsType()
export class DepositTotalsArgs extends RangeArgs {
  @Field(() => AccountScope, {
    defaultValue: AccountScope.SELF,
    description: 'Whether what the accounts below the account received counts, too.',
  })
  scope: AccountScope;
  @Field(() => String, { defaultValue: 'UTC', description: `${timeZoneText} The steps begin at midnight there.` })
  timeZone: string;
}

@ObjectType({
  simpleResolvers: true,
  description: 'Completed deposits of a step by method and currency; disputes count with their negative amounts.',
})
export class DepositTotal {
  @Field(() => DateTime, { description: 'The beginning of the step.' })
  start: number;
  @Field(() => DepositPaymentMethod, {
    description: 'How the deposits were paid.',
    deprecationReason: methodTexts.deprecated,
  })
  paymentMethod: DepositPaymentMethod;
  @Extensions({ storedAs: 'paymentMethod' })
  @Field(() => PaymentMethod, { description: 'How the deposits were paid.' })
  method?: DepositPaymentMethod;
  @Field(() => Currency, { description: 'The currency of the deposits.' })
  currency: string;
  @Field(() => Int, { description: 'How many deposits there were, disputes included.' })
  count: number;
  @Field(() => Amount, { description: 'The sum of the deposits, minus the disputed amounts.' })
  amount: bigint;
}

/** Completed deposits by step. One statement reads any number of steps. Silent: all of it. */
export async function depositTotals(
  row: AccountRow,
  { scope }: Context,
  range: DepositTotalsArgs,
): Promise<DepositTotal[]> {
  checkRange(range);
  await checkTimeZone(scope, 'account.time_zone', range.timeZone);
  const key = `deposit_totals_${range.interval}:${range.from}:${range.to}:${range.scope}:${range.timeZone}`;
  return (await scope.many(key, row.id, (ids) => readTotals(scope, ids, range))) ?? [];
}

/** Reads the totals of all accounts that are requested in one tick, in one statement. */
async function readTotals(
  scope: Scope,
  ids: readonly string[],
  { from, to, interval, scope: accountScope, timeZone }: DepositTotalsArgs,
): Promise<Map<string, DepositTotal[]>> {
  const descendants = accountScope === AccountScope.DESCENDANTS;
  const zoned = timeZone !== 'UTC';
  const rows = await scope.read<{
    accountId: string;
    start: string;
    paymentMethod: DepositPaymentMethod;
    currency: string;
    count: number;
    amount: string;
  }>(
    `deposit_totals_${interval}${descendants ? ':descendants' : ''}${zoned ? ':zoned' : ''}`,
    (db) =>
      db
        .select({
          accountId: sql<string>`x.account_id`,
          start: zoned ? sql<string>`x.step as start` : sql<string>`${bucket(interval, sql`x.created`)} as start`,
          paymentMethod: sql<DepositPaymentMethod>`x.payment_method`,
          currency: sql<string>`x.currency`,
          count: sql<number>`sum(x.count)::int`,
          amount: sql<string>`sum(x.amount)::text`,
        })
        .from(sql`(${zoned ? zonedOf(interval, descendants) : partsOf(descendants)}) x`)
        .groupBy(sql`1`, sql`2`, sql`3`, sql`4`)
        // A total stays when the last deposit of its span is reversed.
        .having(sql`sum(x.count) > 0`)
        .orderBy(sql`1, 2, 3, 4`),
    zoned ? { ids, from, to, timeZone } : { ids, from, to, ...boundsOf(from, to) },
  );
  return grouped(
    ids,
    rows.map(({ accountId, ...r }) => [accountId, { ...r, start: Number(r.start), amount: BigInt(r.amount) }]),
  );
}

/**
 * The whole hours of a range, and the whole days of these hours. The seconds before the first whole hour and after the
 * last one are read from the deposits.
 */
export function boundsOf(from: number, to: number) {
  const whole = (seconds: number, begin: number, end: number): [number, number] => {
    const first = Math.min(Math.ceil(begin / seconds) * seconds, end);
    return [first, Math.max(Math.floor(end / seconds) * seconds, first)];
  };
  const [firstHour, lastHour] = whole(totalSeconds.hour, from, to);
  const [firstDay, lastDay] = whole(totalSeconds.day, firstHour, lastHour);
  return { firstHour, lastHour, firstDay, lastDay };
}

/**
 * The parts whose sum is the total: totals of days and hours, changes that no total contains yet, and the deposits of
 * the seconds that are no whole hour. As long as the totals of a tenant are being computed for the first time, all
 * deposits of the range are read. PostgreSQL decides that in the same statement, so a part never counts twice.
 *
 * PostgreSQL sees neither how many accounts there are nor how long the range is: it would expect fewer rows of the
 * given ones than of any others, and plan the statement anew for each request, which takes five times as long as
 * running it.
 */
function partsOf(descendants: boolean): SQL {
  const others = sql.raw(descendants ? "'{f,t}'" : "'{f}'");
  const totals = sql`select x.* from state cross join ${wholeSpans} cross join lateral (
      select t.account_id, t.start as created, t.payment_method, t.currency, t.count, t.amount from deposit_total t
      where ${tenantAndMode('t')} and t.account_id = any(${ids}::text[]) and t.of_others = any(${others}::boolean[])
        and t.seconds = s.seconds and t.start >= s.first and t.start < s.last offset 0) x
    where state.summed and s.first < s.last`;
  const changes = sql`select i.id, c.created, c.payment_method, c.currency, c.count, c.amount
    from deposit_total_change c
      cross join unnest(${ids}) i(id)
      where ${tenantAndMode('c')} and ${changedOf(descendants)}
        and c.created >= ${p('firstHour')} and c.created < ${p('lastHour')} and (select summed from state)`;
  const deposits = (descendants ? ofDescendants : [ofAccount]).map(
    (each) => sql`select x.* from state cross join lateral ${partSpans} cross
      join lateral (${each(sql`s.first`, sql`s.last`)} offset 0) x where s.first < s.last`,
  );
  return sql`with state as materialized (
      select not exists (select from deposit_total_backfill b where ${tenantAndMode('b')}) as summed)
    ${sql.join([totals, changes, ...deposits], sql` union all `)}`;
}

const p = sql.placeholder;

/** The ids of the accounts, as an array of a length that PostgreSQL does not know when it plans. */
const ids = sql`(select ${p('ids')}::text[])`;

/** The ranges `s` of whole days, and of the whole hours before and after them. */
export const wholeSpans = sql`(values
    (${sql.raw(String(totalSeconds.day))}, ${p('firstDay')}::bigint, ${p('lastDay')}::bigint),
    (${sql.raw(String(totalSeconds.hour))}, ${p('firstHour')}::bigint, ${p('firstDay')}::bigint),
    (${sql.raw(String(totalSeconds.hour))}, ${p('lastDay')}::bigint, ${p('lastHour')}::bigint))
    s(seconds, first, last)`;

/** The ranges `s` that are read from the deposits, for a row of `state`: the ends, or all where no totals are yet. */
export const partSpans = sql`(values
    (${p('from')}::bigint, case when state.summed then ${p('firstHour')}::bigint else ${p('to')}::bigint end),
    (${p('lastHour')}::bigint, case when state.summed then ${p('to')}::bigint else ${p('lastHour')}::bigint end))
    s(first, last)`;

/** The id of the root account. */
const root = sql`('account_' || ${p('tenantId')}::text)`;

/** The changes `c` that an account `i` counts. */
const changedOf = (descendants: boolean): SQL =>
  descendants ? sql`(c.to_account_id = i.id or c.context_id = i.id or i.id = ${root})` : sql`c.to_account_id = i.id`;

/** The deposits of a range of time that an account received. */
const ofAccount: Deposits = (first, last) => ofColumn('to_account_id', first, last);

/**
 * The deposits `d` that totals count: the completed ones, without disputes of deposits that were reversed. The view
 * `counted_deposit` has the same rows for the SQL functions. Here the look at the disputed deposit names the tenant
 * too: a cluster sends a statement to one node only if each of its tables is bound to the tenant.
 */
export const countedDeposits = sql`(select x.* from deposit x
  where x.status = 'completed' and coalesce((select o.status from deposit o
    where o.tenant_id = ${p('tenantId')} and o.livemode = ${p('livemode')} and o.id = x.disputes_id), '') <> 'reversed'
  ) d`;

/**
 * The deposits of a range of time that an account and the accounts below it received, in parts that each follow an
 * index: its own, those of others on its list, and for a root account those on the lists of others.
 */
const ofDescendants: Deposits[] = [
  ofAccount,
  (first, last) => sql`${ofColumn('context_id', first, last)} and d.context_id <> d.to_account_id`,
  (first, last) =>
    sql`select ${root}, d.created, d.payment_method, d.currency, 1, d.amount from ${countedDeposits}
      where ${tenantAndMode('d')} and d.on_root_list = any('{f,t}'::boolean[]) and d.created >= ${first}
        and d.created < ${last}
        and ${root} = any(${ids}::text[]) and d.context_id <> ${root}`,
];

/** The parts for steps in a time zone, with the beginning of its step for each. */
export const zonedOf = (interval: ChartStep, descendants: boolean): SQL =>
  zonedParts(interval, {
    descendants,
    changed: changedOf(descendants),
    deposits: descendants ? ofDescendants : [ofAccount],
  });

type Deposits = (first: SQL, last: SQL) => SQL;

function ofColumn(column: 'to_account_id' | 'context_id', first: SQL, last: SQL): SQL {
  const account = sql.raw(`d.${column}`);
  const ofAny = column === 'to_account_id' ? isAnyParent(account, ids) : sql`${account} = any(${ids}::text[])`;
  return sql`select ${account}, d.created, d.payment_method, d.currency, 1, d.amount from ${countedDeposits}
      where ${tenantAndMode('d')} and ${ofAny} and d.created >= ${first} and d.created < ${last}`;
}
