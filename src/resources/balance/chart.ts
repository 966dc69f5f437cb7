import { ArgsType, Field } from 'type-graphql';
import { DomainError, problem } from '../../errors/problems.js';
import { AccountScope } from '../../types/account-scope.js';
import { Currency } from '../../types/scalars.js';
import { timeZoneText } from '../clock/time-zone.js';
import { scopeText } from './acting-accounts.js';
import { checkRange, currenciesMost, RangeArgs, stepsOf } from './range.js';

/**
 * The most currencies of one chart. A chart with more is refused unless its client names some of them: left out
 * silently, they would be missing from what looks like all, and without a maximum its cost would have no bound.
 */
export const chartCurrenciesMax = currenciesMost;

@ArgsType()
export class ChartArgs extends RangeArgs {
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: scopeText })
  scope: AccountScope;
  @Field(() => String, { defaultValue: 'UTC', description: `${timeZoneText} The steps begin at midnight there.` })
  timeZone: string;
  @Field(() => [Currency], {
    nullable: true,
    description:
      `Only these currencies: ${chartCurrenciesMax} at most. It must be given for an account with more, and makes ` +
      'the query cheaper: without it, its cost is estimated for so many.',
  })
  currency?: string[] | null;
}

/** Refuses a range, or more currencies than one chart has. */
export function checkChart(args: ChartArgs): void {
  checkRange(args);
  if ((args.currency?.length ?? 0) > chartCurrenciesMax)
    throw new DomainError(
      problem('parameter_invalid', 'account.currency', `must have at most ${chartCurrenciesMax} members`),
    );
}

/** Refuses a chart with more currencies than an answer may have. */
export function checkCurrencies(found: ReadonlySet<string>): void {
  if (found.size > chartCurrenciesMax)
    throw new DomainError(
      problem(
        'parameter_missing',
        'account.currency',
        `must be given, since the account has ${found.size} currencies in this range and a chart has at most ` +
          String(chartCurrenciesMax),
      ),
    );
}

/** What a chart says of its range. */
export const rangeOf = ({ from, to, interval, timeZone }: ChartArgs) => ({ from, to, interval, timeZone });

/** The steps of a range, from the beginnings of days, weeks or months: the first and the last may be parts of one. */
export const spansOf = (starts: readonly number[], { from, to }: { from: number; to: number }) =>
  starts.map((start, i) => ({ start: Math.max(start, from), end: Math.min(starts[i + 1] ?? to, to) }));

/** The most currencies of a chart, from the arguments that the client wrote. */
export function currenciesOfChart(argument: (name: string) => unknown): number {
  const given = argument('currency');
  if (given == null) return chartCurrenciesMax;
  return Math.min(Array.isArray(given) ? given.length : 1, chartCurrenciesMax);
}

/** The most steps of a chart: a range may begin within one, and have one more where clocks are set forward. */
export const stepsOfChart = (argument: (name: string) => unknown): number => stepsOf(argument) + 2;
