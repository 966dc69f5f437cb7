import { dayBefore } from '../../format/days';

/** A range of whole days of a chart, with that before it. */
export interface Period {
  first: string;
  days: number;
  /** The first day of the range before, which is as long. */
  before: string;
  /** What the range and the one before are called. */
  name: string;
  beforeName: string;
}

export const periods = ['30', '90', 'quarter'] as const;
export const periodNames = { 30: '30 days', 90: '90 days', quarter: 'This quarter' };

/** The range that ends with a day: some days, or the days of its quarter, of which the one before has as many. */
export function periodOf(period: (typeof periods)[number], last: string): Period {
  if (period !== 'quarter') {
    const days = Number(period);
    const name = `the last ${days} days`;
    return {
      first: daysFrom(last, 1 - days),
      days,
      before: daysFrom(last, 1 - 2 * days),
      name,
      beforeName: `the ${days} before`,
    };
  }
  const [year, month] = last.split('-').map(Number) as [number, number];
  const quarter = Math.floor((month - 1) / 3);
  const start = (of: number) => new Date(Date.UTC(year, of * 3, 1)).toISOString().slice(0, 10);
  const first = start(quarter);
  const days = Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
  const beforeName = `the first ${days} of the quarter before`;
  return { first, days, before: start(quarter - 1), name: 'this quarter', beforeName };
}

/** The day some days after a day. */
export const daysFrom = (day: string, days: number): string => dayBefore(`${day}T00:00:00Z`, 'UTC', -days);
