import { Field, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { Currency, DateTime } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { readNowOnce } from '../clock/now.js';
import { checkTimeZone } from '../clock/time-zone.js';
import { type ChartArgs, checkChart, checkCurrencies, rangeOf, spansOf } from './chart.js';
import { inTotal } from './funds.js';
import { series } from './history.js';
import { ChartStep } from './range.js';
import { FundsInCurrency } from './type.js';

@ObjectType({ simpleResolvers: true, description: 'What an account has in a currency at the end of a step.' })
export class BalanceChartStep extends FundsInCurrency {
  @Field(() => DateTime, { description: 'The beginning of the step; of the first one, at the earliest `from`.' })
  start: number;
  @Field(() => DateTime, {
    description: 'The end of the step, just before which the account has these funds; of the last one, `to`.',
  })
  end: number;
}

@ObjectType({ simpleResolvers: true, description: 'What an account has in a currency, by step.' })
export class BalanceChartOfCurrency {
  @Field(() => Currency, { description: 'The currency of the funds.' })
  currency: string;
  @Field(() => [BalanceChartStep], { description: 'All steps of the range.' })
  steps: BalanceChartStep[];
}

/** What an account has at the end of each step, by currency. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description: 'What an account has at the end of each step, by currency, from the ledger.',
})
export class BalanceChart {
  @Field(() => DateTime, { description: 'When it was read. A step that ends later has the funds of then.' })
  asOf: number;
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: 'The end of the range, which is excluded.' })
  to: number;
  @Field(() => ChartStep, { description: 'The length of a step.' })
  interval: ChartStep;
  @Field(() => String, { description: 'The time zone at whose midnights the steps begin.' })
  timeZone: string;
  @Field(() => [BalanceChartOfCurrency], {
    description: 'The currencies in which the account has ever had funds, in the order of their codes.',
  })
  currencies: BalanceChartOfCurrency[];
}

/** What an account has at the end of each step, by currency. Silent: all of it. */
export async function balanceChart({ id }: AccountRow, context: Context, args: ChartArgs): Promise<BalanceChart> {
  checkChart(args);
  await checkTimeZone(context.scope, 'account.time_zone', args.timeZone);
  const points = await series(context, id, { ...rangeOf(args), scope: args.scope, only: args.currency ?? null });
  const found = new Set(points.map(({ currency }) => currency));
  checkCurrencies(found);
  const currencies = [...found].toSorted().map((currency) => {
    const of = points.filter((point) => point.currency === currency);
    const spans = spansOf(
      of.map(({ start }) => start),
      args,
    );
    return { currency, steps: spans.map((span, i) => ({ ...span, ...inTotal(of[i]!) })) };
  });
  return { asOf: points[0]?.now ?? (await readNowOnce(context.scope)), ...rangeOf(args), currencies };
}
