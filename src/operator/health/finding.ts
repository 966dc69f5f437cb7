import type { Operator } from '../operator.js';

/** How urgent a finding is: nothing to do, something to look at in the day, or something to do now. */
export const HealthLevel = { OK: 'ok', LOOK: 'look', NOW: 'now' } as const;
export type HealthLevel = (typeof HealthLevel)[keyof typeof HealthLevel];

/** One line of the health of a deployment. */
export interface Finding {
  check: string;
  level: HealthLevel;
  /** What was found, as a sentence. */
  finding: string;
  /** The command to type, or the statement for psql; null where there is nothing to do. */
  command: string | null;
}

/** What a check finds: nothing at all when all is well, with `well` as the sentence. */
export interface HealthCheck {
  name: string;
  /** The alert rules that this check explains. */
  alerts: readonly string[];
  /** The sentence when nothing is found. */
  well: string;
  find: (operator: Operator) => Promise<Omit<Finding, 'check'>[]>;
}

/** What can be typed: a program with its arguments, or a statement for psql. Words in capitals are the reader's own. */
type Typed = 'timedatectl' | `${Program} ${string}` | `DATABASE_URL=${string} tidegate ${string}`;
type Program =
  | 'curl'
  | 'kill'
  | 'npm'
  | 'pg_ctl'
  | 'ssh'
  | 'tidegate'
  | 'grant'
  | 'reindex'
  | 'select'
  | 'show'
  | 'vacuum';

export const look = (finding: string, command: Typed): Omit<Finding, 'check'> => ({
  level: HealthLevel.LOOK,
  finding,
  command,
});

export const now = (finding: string, command: Typed): Omit<Finding, 'check'> => ({
  level: HealthLevel.NOW,
  finding,
  command,
});

/** Says where which version of the program runs, and when each process was seen last. */
export const processesByVersion =
  'select version, host, process, to_timestamp(seen_at) from gateway_process order by version';

/** A number with its noun, as `1 job` and `2 jobs`. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A time span for a sentence. */
export function span(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const;
  const [size, unit] = units.find(([least]) => seconds >= 2 * least) ?? [1, 'second'];
  return counted(Math.floor(seconds / size), unit);
}
