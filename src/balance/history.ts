import { and, eq, gte, lt, sql } from 'drizzle-orm';
import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Int,
  ObjectType,
  registerEnumType,
  Resolver,
  Root,
} from 'type-graphql';
import type { AccountRow } from '../account/table.js';
import { Account } from '../account/type.js';
import type { Context } from '../context.js';
import type { Scope } from '../db/scope.js';
import { DepositPaymentMethod, deposit } from '../deposit/table.js';
import { balance, booked, type Compartment } from '../ledger/table.js';
import { problem, Refusal } from '../problems.js';
import { Amount, Currency, DateTime } from '../scalars.js';

export const Interval = { DAY: 'day', WEEK: 'week', MONTH: 'month' } as const;
export type Interval = (typeof Interval)[keyof typeof Interval];
registerEnumType(Interval, { name: 'Interval', description: 'Steps of a chart, in UTC; weeks begin on Monday.' });

const stepsMax = 400;
const secondsOf: Record<Interval, number> = { day: 86_400, week: 7 * 86_400, month: 28 * 86_400 };
const p = sql.placeholder;

@ArgsType()
export class RangeArgs {
  @Field(() => DateTime, { description: 'The beginning.' })
  from: number;
  @Field(() => DateTime, { description: 'Excluded.' })
  to: number;
  @Field(() => Interval, { description: 'The length of a step.' })
  interval: Interval;
}

@ObjectType({
  simpleResolvers: true,
  description: "What an account's compartments held in a currency at the end of a step.",
})
export class BalancePoint {
  @Field(() => DateTime, { description: 'The beginning of the step.' })
  start: number;
  @Field(() => Currency)
  currency: string;
  @Field(() => Amount)
  available: bigint;
  @Field(() => Amount)
  pending: bigint;
  @Field(() => Amount)
  processing: bigint;
  @Field(() => Amount)
  payoutProcessing: bigint;
  @Field(() => Amount)
  feeAdvance: bigint;
}

@ObjectType({
  simpleResolvers: true,
  description: 'Completed deposits of a step by method and currency; disputes count with their negative amounts.',
})
export class DepositTotal {
  @Field(() => DateTime, { description: 'The beginning of the step.' })
  start: number;
  @Field(() => DepositPaymentMethod)
  paymentMethod: DepositPaymentMethod;
  @Field(() => Currency)
  currency: string;
  @Field(() => Int)
  count: number;
  @Field(() => Amount)
  amount: bigint;
}

/** Figures over time, each one statement whatever the number of steps. Silent: all of it. */
@Resolver(() => Account)
export class HistoryOfAccount {
  @FieldResolver(() => [BalancePoint], {
    description: `What the compartments held at the end of each step, of the last one at \`to\`, per currency; ${stepsMax} steps at most.`,
  })
  async balanceHistory(
    @Root() row: AccountRow,
    @Args(() => RangeArgs) range: RangeArgs,
    @Ctx() context: Context,
  ): Promise<BalancePoint[]> {
    checkRange(range);
    return series(context, row.id, range);
  }

  @FieldResolver(() => [DepositTotal], {
    description: `Completed deposits to the account by step, method and currency, less what was disputed of them; ${stepsMax} steps at most.`,
  })
  async depositTotals(
    @Root() row: AccountRow,
    @Args(() => RangeArgs) range: RangeArgs,
    @Ctx() { scope }: Context,
  ): Promise<DepositTotal[]> {
    checkRange(range);
    const key = `deposit_totals_${range.interval}:${range.from}:${range.to}`;
    return (await scope.many(key, row.id, (ids) => readTotals(scope, ids, range))) ?? [];
  }
}

/** The totals of all accounts that are asked for in one tick, in one statement. */
async function readTotals(
  scope: Scope,
  ids: readonly string[],
  { from, to, interval }: RangeArgs,
): Promise<Map<string, DepositTotal[]>> {
  const rows = await scope.read<{
    accountId: string;
    start: string;
    paymentMethod: DepositPaymentMethod;
    currency: string;
    count: number;
    amount: string;
  }>(
    `deposit_totals_${interval}`,
    (db) =>
      db
        .select({
          accountId: deposit.toAccountId,
          start: sql<string>`${bucket(interval, sql`${deposit.created}`)} as start`,
          paymentMethod: deposit.paymentMethod,
          currency: deposit.currency,
          count: sql<number>`count(*)::int`,
          amount: sql<string>`sum(${deposit.amount})::text`,
        })
        .from(deposit)
        .where(
          and(
            eq(deposit.tenantId, p('tenant')),
            eq(deposit.livemode, p('live')),
            sql`${deposit.toAccountId} = any(${p('ids')})`,
            eq(deposit.status, 'completed'),
            // What is reversed counts for nothing, and no more do its disputes: together they took back all of it.
            sql`not exists (select from ${deposit} o where o.tenant_id = ${p('tenant')} and o.livemode = ${p('live')} and o.id = ${deposit.disputesId} and o.status = 'reversed')`,
            gte(deposit.created, p('from')),
            lt(deposit.created, p('to')),
          ),
        )
        .groupBy(deposit.toAccountId, sql`2`, deposit.paymentMethod, deposit.currency)
        .orderBy(sql`1, 2, 3, 4`),
    { ids, from, to },
  );
  return grouped(
    ids,
    rows.map(({ accountId, ...r }) => [accountId, { ...r, start: Number(r.start), amount: BigInt(r.amount) }]),
  );
}

function grouped<T>(ids: readonly string[], rows: [id: string, row: T][]): Map<string, T[]> {
  const byId = new Map<string, T[]>(ids.map((id) => [id, []]));
  for (const [id, row] of rows) byId.get(id)?.push(row);
  return byId;
}

/** The beginning of the step that a time is in, as epoch seconds. The interval is one of ours, never a client's text. */
function bucket(interval: Interval, time: ReturnType<typeof sql>) {
  return sql`extract(epoch from date_trunc('${sql.raw(interval)}', to_timestamp(${time}) at time zone 'utc') at time zone 'utc')::bigint`;
}

function steps(interval: Interval) {
  const first = sql`date_trunc('${sql.raw(interval)}', to_timestamp(${p('from')}::bigint) at time zone 'utc')`;
  const last = sql`to_timestamp(${p('to')}::bigint - 1) at time zone 'utc'`;
  return sql`select extract(epoch from g at time zone 'utc')::bigint as start, least(extract(epoch from (g + interval '1 ${sql.raw(interval)}') at time zone 'utc')::bigint, ${p('to')}::bigint) as stop
    from generate_series(${first}, ${last}, interval '1 ${sql.raw(interval)}') g`;
}

/** A stretch of time, in steps of an interval or as one. */
interface Span {
  from: number;
  to: number;
  interval?: Interval;
}

/** What each compartment held when a step stopped: the `balance_after` of its last entry before then. */
export async function series({ scope }: Context, accountId: string, span: Span): Promise<BalancePoint[]> {
  const key = `history_${span.interval ?? 'as_of'}:${span.from}:${span.to}`;
  return (await scope.many(key, accountId, (ids) => readSeries(scope, ids, span))) ?? [];
}

async function readSeries(
  scope: Scope,
  ids: readonly string[],
  { from, to, interval }: Span,
): Promise<Map<string, BalancePoint[]>> {
  const spans = interval ? steps(interval) : sql`select ${p('from')}::bigint as start, ${p('to')}::bigint as stop`;
  const held = (category: Compartment) =>
    sql<string>`coalesce((select e.balance_after from entry e where e.tenant_id = ${p('tenant')} and e.livemode = ${p('live')} and e.account_id = ${balance.accountId}
      and e.currency = ${balance.currency} and e.category = ${sql.raw(`'${category}'`)} and e.created < s.stop order by e.version desc limit 1), 0)::text`;
  const rows = await scope.read<Record<'accountId' | 'start' | 'currency' | Held, string>>(
    `balance_history_${interval ?? 'as_of'}`,
    (db) =>
      db
        .select({
          accountId: balance.accountId,
          start: sql<string>`s.start`,
          currency: balance.currency,
          available: held('available'),
          pending: held('pending'),
          processing: held('processing'),
          payoutProcessing: held('payout_processing'),
          feeAdvance: held('fee_advance'),
        })
        .from(balance)
        .innerJoin(sql`(${spans}) s`, sql`true`)
        .where(
          and(
            eq(balance.tenantId, p('tenant')),
            eq(balance.livemode, p('live')),
            sql`${balance.accountId} = any(${p('ids')})`,
            booked,
            // A chart begins each currency at zero; a balance as of a time has the currencies that were booked by then.
            interval
              ? undefined
              : sql`exists (select from entry e where e.tenant_id = ${p('tenant')} and e.livemode = ${p('live')} and e.account_id = ${balance.accountId} and e.currency = ${balance.currency} and e.created < s.stop)`,
          ),
        )
        .orderBy(sql`s.start`, balance.currency),
    { from, to, ids },
  );
  return grouped(
    ids,
    rows.map((r) => [
      r.accountId,
      {
        start: Number(r.start),
        currency: r.currency,
        available: BigInt(r.available),
        pending: BigInt(r.pending),
        processing: BigInt(r.processing),
        payoutProcessing: BigInt(r.payoutProcessing),
        feeAdvance: BigInt(r.feeAdvance),
      },
    ]),
  );
}

type Held = 'available' | 'pending' | 'processing' | 'payoutProcessing' | 'feeAdvance';

function checkRange({ from, to, interval }: RangeArgs): void {
  if (to <= from) throw new Refusal(problem('parameter_invalid', 'account.to', 'must be later than from'));
  if ((to - from) / secondsOf[interval] > stepsMax)
    throw new Refusal(
      problem('parameter_invalid', 'account.interval', `gives more than ${stepsMax} steps; choose a longer one`),
    );
}
