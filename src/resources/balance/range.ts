import { sql } from 'drizzle-orm';
import { ArgsType, Field, registerEnumType } from 'type-graphql';
import { DomainError, problem } from '../../errors/problems.js';
import { DateTime } from '../../types/scalars.js';

export const ChartStep = { DAY: 'day', WEEK: 'week', MONTH: 'month' } as const;
export type ChartStep = (typeof ChartStep)[keyof typeof ChartStep];
registerEnumType(ChartStep, {
  name: 'ChartStep',
  description:
    'The length of the steps of a chart. Steps begin at midnight: in the `timeZone` of a field that has this ' +
    'argument, and otherwise in UTC.',
  valuesConfig: {
    DAY: { description: 'One day.' },
    WEEK: { description: 'One week, from Monday.' },
    MONTH: { description: 'One calendar month.' },
  },
});

export const stepsMax = 400;
/**
 * How many currencies a figure counts with that has all of them: as an account usually has, and as a chart has at most.
 * An answer with more is not refused, and they are charged afterwards.
 */
const currenciesUsual = 4;
export const currenciesMost = 10;
/** The currencies of such a figure. */
export const currenciesOfFigure = { nodes: currenciesUsual, points: currenciesMost };
const secondsOf: Record<ChartStep, number> = { day: 86_400, week: 7 * 86_400, month: 28 * 86_400 };

@ArgsType()
export class RangeArgs {
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: 'The end of the range, which is excluded.' })
  to: number;
  @Field(() => ChartStep, { description: 'The length of a step.' })
  interval: ChartStep;
}

/** The rows of each id, in their order. */
export function grouped<T>(ids: readonly string[], rows: [id: string, row: T][]): Map<string, T[]> {
  const byId = new Map<string, T[]>(ids.map((id) => [id, []]));
  for (const [id, row] of rows) byId.get(id)?.push(row);
  return byId;
}

/**
 * The beginning of the step that contains a time, as epoch seconds. The interval is never a client's text, so `sql.raw`
 * is safe.
 */
export function bucket(interval: ChartStep, time: ReturnType<typeof sql>) {
  return sql`extract(epoch from date_trunc('${sql.raw(interval)}', to_timestamp(${time}) at time zone 'utc') at time
    zone 'utc')::bigint`;
}

/**
 * The points of a range: the maximum number of steps, from the arguments that the client wrote, times the currencies.
 * Where clocks are set forward, a range has one step more.
 */
export const pointsOfRange = {
  nodes: (argument: (name: string) => unknown): number => (stepsOf(argument) + 1) * currenciesUsual,
  points: (argument: (name: string) => unknown): number => (stepsOf(argument) + 2) * currenciesMost,
};

/** The number of steps in the length of a range, from the arguments that the client wrote. */
export function stepsOf(argument: (name: string) => unknown): number {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(String(argument(name)))) as [number, number];
  const interval = String(argument('interval')).toLowerCase();
  const seconds = Object.hasOwn(secondsOf, interval) ? secondsOf[interval as ChartStep] : 1;
  const steps = Math.ceil((to - from) / 1_000 / seconds);
  // Arguments that cannot be parsed count as the maximum; they are refused later. A range may begin within a step, and
  // then has one more.
  return Number.isFinite(steps) ? Math.min(Math.max(steps, 0), stepsMax) : stepsMax;
}

/** Refuses a range that ends before it begins or has too many steps. */
export function checkRange({ from, to, interval }: RangeArgs): void {
  if (to <= from) throw new DomainError(problem('parameter_invalid', 'account.to', 'must be later than from'));
  if ((to - from) / secondsOf[interval] > stepsMax)
    throw new DomainError(
      problem('parameter_invalid', 'account.interval', `gives more than ${stepsMax} steps; choose a longer one`),
    );
}
