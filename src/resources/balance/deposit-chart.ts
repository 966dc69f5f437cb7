import { sql } from 'drizzle-orm';
import { Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import type { Scope } from '../../db/scope.js';
import { AccountScope } from '../../types/account-scope.js';
import { Currency, DateTime } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { nowOfStatement } from '../clock/now.js';
import { checkTimeZone } from '../clock/time-zone.js';
import { type ChartArgs, checkChart, checkCurrencies, rangeOf, spansOf } from './chart.js';
import type { CountedRange } from './counted-deposits.js';
import { ChartStep, grouped } from './range.js';
import { zonedOf } from './totals.js';
import { Money } from './type.js';
import { starts } from './zoned-totals.js';

const p = sql.placeholder;

@ObjectType({
  simpleResolvers: true,
  description: 'The counted deposits of a currency in one step of a chart. Their sum is the total.',
})
export class DepositChartStep implements CountedRange {
  accountId: string;
  descendants: boolean;
  currency: string;
  @Field(() => DateTime, { description: 'The beginning of the step; of the first one, at the earliest `from`.' })
  start: number;
  @Field(() => DateTime, { description: 'The end of the step, which is excluded; of the last one, `to`.' })
  end: number;
  @Field(() => Int, { description: 'How many deposits there were, disputes included; 0 for none.' })
  count: number;
  @Field(() => Money, { description: 'The sum of the deposits, minus the disputed amounts.' })
  total: Money;
}

@ObjectType({ simpleResolvers: true, description: 'The counted deposits of a currency, by step.' })
export class DepositChartOfCurrency {
  @Field(() => Currency, { description: 'The currency of the deposits.' })
  currency: string;
  @Field(() => Int, { description: 'How many deposits there were in all steps, disputes included.' })
  count: number;
  @Field(() => Money, { description: 'The sum of all steps.' })
  total: Money;
  @Field(() => [DepositChartStep], { description: 'All steps of the range, also those without deposits.' })
  steps: DepositChartStep[];
}

/** Completed deposits by currency and step. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description:
    'Completed deposits by currency and step. Disputes count with their negative amounts on their own day. Of a ' +
    'reversed deposit neither it nor its disputes count.',
})
export class DepositChart {
  @Field(() => DateTime, { description: 'When the deposits were added up.' })
  asOf: number;
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: 'The end of the range, which is excluded.' })
  to: number;
  @Field(() => ChartStep, { description: 'The length of a step.' })
  interval: ChartStep;
  @Field(() => String, { description: 'The time zone at whose midnights the steps begin.' })
  timeZone: string;
  @Field(() => [DepositChartOfCurrency], {
    description: 'The currencies that have deposits in the range, in the order of their codes.',
  })
  currencies: DepositChartOfCurrency[];
}

interface Row {
  accountId: string;
  /** Null in the row that each account has. */
  currency: string | null;
  step: string | null;
  count: number;
  amount: string;
  now: string;
  starts: string;
}

/** Completed deposits by currency and step. One statement reads all accounts of one tick. Silent: all of it. */
export async function depositChart({ id }: AccountRow, { scope }: Context, args: ChartArgs): Promise<DepositChart> {
  checkChart(args);
  await checkTimeZone(scope, 'account.time_zone', args.timeZone);
  const { from, to, interval, timeZone, scope: accountScope, currency } = args;
  const key = `deposit_chart:${JSON.stringify([interval, from, to, accountScope, timeZone, currency ?? null])}`;
  const rows = (await scope.many(key, id, (ids) => readRows(scope, ids, args)))!;
  return chartOf(id, rows, args);
}

async function readRows(scope: Scope, ids: readonly string[], args: ChartArgs): Promise<Map<string, Row[]>> {
  const { from, to, interval, timeZone, currency } = args;
  const descendants = args.scope === AccountScope.DESCENDANTS;
  const only = currency ? sql`where z.currency = any(${p('currency')}::text[])` : sql``;
  const rows = await scope.read<Row>(
    `deposit_chart_${interval}${descendants ? ':descendants' : ''}${currency ? ':currency' : ''}`,
    (db) =>
      db
        .select({
          accountId: sql<string>`x.account_id`,
          currency: sql<string | null>`x.currency`,
          step: sql<string | null>`x.step`,
          count: sql<number>`sum(x.count)::int`,
          amount: sql<string>`sum(x.amount)::text`,
          now: sql<string>`max(t.now)`,
          starts: sql<string>`max(t.starts)`,
        })
        .from(
          sql`(select z.account_id, z.currency, z.step, z.count, z.amount
              from (${zonedOf(interval, descendants)}) z ${only}
            union all select i.id, null, null, 0, 0 from unnest(${p('ids')}::text[]) i(id)) x
          cross join (select ${nowOfStatement} as now, array_to_string(s.starts, ' ') as starts
            from (${starts(interval)}) s) t`,
        )
        .groupBy(sql`1`, sql`2`, sql`3`)
        // A total stays when the last deposit of its span is reversed.
        .having(sql`x.currency is null or sum(x.count) > 0`)
        .orderBy(sql`1, 2, 3`),
    { ids, from, to, timeZone, ...(currency && { currency }) },
  );
  return grouped(
    ids,
    rows.map((row) => [row.accountId, row]),
  );
}

function chartOf(accountId: string, rows: readonly Row[], args: ChartArgs): DepositChart {
  const [{ now, starts: texts }] = rows as [Row];
  const begins = texts.split(' ').map(Number);
  const spans = spansOf(begins, args);
  const found = new Set(rows.flatMap(({ currency }) => currency ?? []));
  checkCurrencies(found);
  const descendants = args.scope === AccountScope.DESCENDANTS;
  const currencies = [...found].map((currency) => {
    const of = new Map(rows.filter((row) => row.currency === currency).map((row) => [Number(row.step), row]));
    const steps = spans.map((span, i) => {
      const row = of.get(begins[i]!);
      const total = { amount: BigInt(row?.amount ?? 0), currency };
      return { accountId, descendants, currency, ...span, count: row?.count ?? 0, total };
    });
    const amount = steps.reduce((sum, { total }) => sum + total.amount, 0n);
    const count = steps.reduce((sum, step) => sum + step.count, 0);
    return { currency, count, total: { amount, currency }, steps };
  });
  return { asOf: Number(now), ...rangeOf(args), currencies };
}
