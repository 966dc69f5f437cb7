import { startOfDay } from './days';

/** Whether a text is a month, such as `2026-11`. */
export const isMonth = (text: string): text is string => /^\d{4}-(0[1-9]|1[0-2])$/.test(text);

/** The month some months after a month; before it, when `months` is negative. */
export function monthAfter(month: string, months: number): string {
  const [year, of] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, of - 1 + months, 1)).toISOString().slice(0, 7);
}

/** When a month begins and ends in a time zone. */
export function rangeOfMonth(month: string, timeZone: string): { from: string; to: string } {
  return {
    from: startOfDay(`${month}-01`, timeZone),
    to: startOfDay(`${monthAfter(month, 1)}-01`, timeZone),
  };
}

/** A month in words, such as `November 2026`. */
export function monthName(month: string): string {
  const format = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01T00:00:00Z`));
}
