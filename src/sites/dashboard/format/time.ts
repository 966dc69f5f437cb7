import { usePreferences } from './preferences';
import { counted } from './words';

type Style = 'day' | 'date' | 'time' | 'seconds' | 'hour' | 'weekday' | 'clock' | 'full';

const styles: Record<Style, Intl.DateTimeFormatOptions> = {
  day: { day: 'numeric', month: 'short' },
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  time: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  hour: { hour: '2-digit', minute: '2-digit' },
  weekday: { weekday: 'short', day: 'numeric', month: 'short' },
  seconds: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  clock: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  full: { dateStyle: 'full', timeStyle: 'long' },
};

/** Formats times in the viewer's locale and chosen time zone. */
export function useTimes(): (time: string, style?: Style) => string {
  const { timeZone } = usePreferences();
  return (time, style = 'time') => formatTime(time, style, timeZone);
}

function formatTime(time: string, style: Style, timeZone: string): string {
  const zone = timeZone === '' ? {} : { timeZone };
  const text = new Intl.DateTimeFormat(undefined, { ...styles[style], ...zone }).format(new Date(time));
  // Some locales have an ordinary space here, at which a narrow column would break the line.
  return text.replace(/ (?=[ap]m$)/, '\u00a0');
}

/** A day without a time, such as the due date of an invoice: the same in every time zone. */
export function formatDay(day: string, style: Style = 'date'): string {
  return formatTime(`${day}T00:00:00Z`, style, 'UTC');
}

/** A day on the axis of a chart. */
export function formatStep(time: string, style: Style = 'day'): string {
  return formatTime(time, style, 'UTC');
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** How far the gateway's clock is ahead of the browser's: a test clock may have been moved. */
let ahead = 0;

/** Call this with the gateway's time whenever it is known. */
export function setGatewayTime(now: string): void {
  ahead = Date.parse(now) - Date.now();
}

/** The gateway's time, as far as the browser knows. */
export function gatewayNow(): string {
  return new Date(Date.now() + ahead).toISOString();
}

/** How much time is left until a time, never more than there is: `6 days left`. */
export function formatLeft(time: string): string {
  const seconds = (Date.parse(time) - Date.parse(gatewayNow())) / 1000;
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['minute', 60];
  const count = Math.floor(seconds / size);
  return count < 1 ? 'less than a minute left' : `${counted(count, unit)} left`;
}

/** Since when something lasts: how long ago that was, and from a week on the day. */
export function formatSince(time: string): string {
  const age = formatAge(time);
  return age === formatTime(time, 'day', '') ? `since ${age}` : age;
}

/** How long ago a time was, in words; the date when that is longer than a week. */
export function formatAge(time: string, now = Date.now() + ahead): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (Math.abs(seconds) > 7 * 86_400) return formatTime(time, 'day', '');
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  const found = units.find(([, size]) => Math.abs(seconds) >= size);
  return found ? words.format(-Math.round(seconds / found[1]), found[0]) : words.format(0, 'second');
}
