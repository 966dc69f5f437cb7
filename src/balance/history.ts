import { sql } from 'drizzle-orm';
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
import { DepositPaymentMethod } from '../deposit/table.js';
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
  @Field(() => DateTime)
  from: number;
  @Field(() => DateTime, { description: 'Excluded.' })
  to: number;
  @Field(() => Interval)
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
    description: `What the compartments held at the end of each step, per currency; ${stepsMax} steps at most.`,
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
    description: `Completed deposits to the account by step, method and currency; ${stepsMax} steps at most.`,
  })
  async depositTotals(
    @Root() row: AccountRow,
    @Args(() => RangeArgs) range: RangeArgs,
    @Ctx() { scope }: Context,
  ): Promise<DepositTotal[]> {
    checkRange(range);
    const rows = await scope.read<{
      start: string;
      paymentMethod: DepositPaymentMethod;
      currency: string;
      count: number;
      amount: string;
    }>(
      `deposit_totals_${range.interval}`,
      (db) =>
        db
          .select({
            start: sql<string>`t.start`,
            paymentMethod: sql<DepositPaymentMethod>`t.payment_method`,
            currency: sql<string>`t.currency`,
            count: sql<number>`t.n`,
            amount: sql<string>`t.amount`,
          })
          .from(
            sql`(select ${bucket(range.interval, sql`d.created`)} as start, d.payment_method, d.currency, count(*)::int as n, sum(d.amount)::text as amount
              from deposit d where d.tenant_id = ${p('tenant')} and d.livemode = ${p('live')} and d.to_account_id = ${p('account')} and d.status = 'completed' and d.created >= ${p('from')} and d.created < ${p('to')}
              group by 1, 2, 3 order by 1, 2, 3) as t`,
          ),
      { account: row.id, from: range.from, to: range.to },
    );
    return rows.map((r) => ({ ...r, start: Number(r.start), amount: BigInt(r.amount) }));
  }
}

/** The beginning of the step that a time is in, as epoch seconds. The interval is one of ours, never a client's text. */
function bucket(interval: Interval, time: ReturnType<typeof sql>) {
  return sql`extract(epoch from date_trunc('${sql.raw(interval)}', to_timestamp(${time}) at time zone 'utc') at time zone 'utc')::bigint`;
}

function steps(interval: Interval) {
  const first = sql`date_trunc('${sql.raw(interval)}', to_timestamp(${p('from')}::bigint) at time zone 'utc')`;
  const last = sql`to_timestamp(${p('to')}::bigint - 1) at time zone 'utc'`;
  return sql`select extract(epoch from g at time zone 'utc')::bigint as start, extract(epoch from (g + interval '1 ${sql.raw(interval)}') at time zone 'utc')::bigint as stop
    from generate_series(${first}, ${last}, interval '1 ${sql.raw(interval)}') g`;
}

/** A stretch of time, in steps of an interval or as one. */
interface Span {
  from: number;
  to: number;
  interval?: Interval;
}

/** What each compartment held when a step stopped: the `balance_after` of its last entry before then. */
export async function series(
  { scope }: Context,
  accountId: string,
  { from, to, interval }: Span,
): Promise<BalancePoint[]> {
  const spans = interval ? steps(interval) : sql`select ${p('from')}::bigint as start, ${p('to')}::bigint as stop`;
  const held = (category: string) =>
    sql`coalesce((select e.balance_after from entry e where e.tenant_id = ${p('tenant')} and e.livemode = ${p('live')} and e.account_id = ${p('account')} and e.currency = b.currency
      and e.category = ${sql.raw(`'${category}'`)} and e.created < s.stop order by e.version desc limit 1), 0)::text`;
  const rows = await scope.read<Record<string, string>>(
    `balance_history_${interval ?? 'as_of'}`,
    (db) =>
      db
        .select({
          start: sql<string>`t.start`,
          currency: sql<string>`t.currency`,
          available: sql<string>`t.available`,
          pending: sql<string>`t.pending`,
          processing: sql<string>`t.processing`,
          payoutProcessing: sql<string>`t.payout_processing`,
          feeAdvance: sql<string>`t.fee_advance`,
        })
        .from(
          sql`(select s.start, b.currency, ${held('available')} as available, ${held('pending')} as pending, ${held('processing')} as processing, ${held('payout_processing')} as payout_processing, ${held('fee_advance')} as fee_advance
            from (${spans}) s cross join balance b where b.tenant_id = ${p('tenant')} and b.livemode = ${p('live')} and b.account_id = ${p('account')} order by s.start, b.currency) as t`,
        ),
    { from, to, account: accountId },
  );
  return rows.map((r) => ({
    start: Number(r.start),
    currency: r.currency!,
    available: BigInt(r.available!),
    pending: BigInt(r.pending!),
    processing: BigInt(r.processing!),
    payoutProcessing: BigInt(r.payoutProcessing!),
    feeAdvance: BigInt(r.feeAdvance!),
  }));
}

function checkRange({ from, to, interval }: RangeArgs): void {
  if (to <= from) throw new Refusal(problem('parameter_invalid', 'account.to', 'must be later than from'));
  if ((to - from) / secondsOf[interval] > stepsMax)
    throw new Refusal(
      problem('parameter_invalid', 'account.interval', `gives more than ${stepsMax} steps; choose a longer one`),
    );
}
