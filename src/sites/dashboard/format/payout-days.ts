/** When an account is paid out, as the graph has it. */
export interface PayoutDays {
  interval: 'DAILY' | 'WEEKLY' | 'MONTHLY';
  /** From 1, which is Monday, to 7. */
  weeklyAnchor: number | null;
  /** From 1 to 31; in a shorter month its last day counts. */
  monthlyAnchor: number | null;
}

const dayMilliseconds = 86_400_000;

/** The days of the week, from Monday on. The first of January 2024 was one. */
export const weekdays: readonly string[] = Array.from({ length: 7 }, (_, i) =>
  new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2024, 0, i + 1)),
);

/** On which days an account is paid out: `every Monday`. */
export function payoutDays({ interval, weeklyAnchor, monthlyAnchor }: PayoutDays): string {
  if (interval === 'WEEKLY') return `every ${weekdays[(weeklyAnchor ?? 1) - 1]}`;
  if (interval === 'DAILY') return 'every day';
  const day = monthlyAnchor ?? 1;
  return day > 28 ? `on day ${day} of each month, or on its last day if it is shorter` : `on day ${day} of each month`;
}

/** The next midnight in UTC at which such an account is paid out, after `now`. */
export function nextPayout({ interval, weeklyAnchor, monthlyAnchor }: PayoutDays, now: string): string {
  const midnight = Math.floor(Date.parse(now) / dayMilliseconds) * dayMilliseconds;
  let day = new Date(midnight + dayMilliseconds);
  const lastOfMonth = () => new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
  const falls = {
    DAILY: () => true,
    WEEKLY: () => (day.getUTCDay() || 7) === (weeklyAnchor ?? 1),
    MONTHLY: () => day.getUTCDate() === Math.min(monthlyAnchor ?? 1, lastOfMonth()),
  }[interval];
  while (!falls()) day = new Date(day.getTime() + dayMilliseconds);
  return day.toISOString();
}
