/** The day of a time in a time zone, as invoices write it: `2026-11-30`. */
export function dayOf(time: string, timeZone: string): string {
  // Sweden writes days in this way.
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date(time));
}

/** The day some days before that of a time; after it, when `days` is negative. */
export function dayBefore(time: string, timeZone: string, days: number): string {
  const midnight = Date.parse(`${dayOf(time, timeZone)}T00:00:00Z`);
  return new Date(midnight - days * 86_400_000).toISOString().slice(0, 10);
}

/** The time at which a day begins in a time zone. */
export function startOfDay(day: string, timeZone: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  // What the clocks there show is as far from the sought time as the zone is from UTC. The second step is for a day on
  // which the clocks change.
  const shift = (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
  const near = midnight - shift(midnight);
  return new Date(midnight - shift(near)).toISOString().replace('.000', '');
}

/** The times of a range of days in a time zone, both days whole; undefined without a range. */
export function daysBetween(days: { gte?: string; lte?: string } | undefined, timeZone: string) {
  return (
    days && {
      ...(days.gte && { gte: startOfDay(days.gte, timeZone) }),
      ...(days.lte && { lt: startOfDay(dayBefore(`${days.lte}T00:00:00Z`, 'UTC', -1), timeZone) }),
    }
  );
}
