import { z } from 'zod';
import { originFault } from './origins.js';
import { cut } from '../errors/problems.js';

/** `true` or `false`. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
/** A whole number within bounds. */
export const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}.`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
};

/** What is said of a value that is none of those that its setting takes. */
export function valuesOf(issue: { code?: string; values?: unknown }): string | undefined {
  if (issue.code !== 'invalid_value' || !Array.isArray(issue.values)) return undefined;
  const words = issue.values.map(String);
  return `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`;
}

/** One secret, or several separated by commas. */
export const secret = z.string().superRefine((text, refine) => {
  const parts = text.split(/\s*,\s*/);
  if (parts.some((part) => part.length < 32)) {
    const message =
      parts.length > 1 ? 'must have at least 32 characters in each of its parts' : 'must have at least 32 characters';
    refine.addIssue({ code: 'custom', message });
  }
  if (new Set(parts).size < parts.length) refine.addIssue({ code: 'custom', message: 'has the same secret twice' });
});

/** Origins, separated by commas. */
export const originList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .superRefine((origins, refine) => {
    for (const origin of origins) {
      const fault = originFault(origin);
      if (fault !== undefined)
        refine.addIssue({ code: 'custom', message: `${cut(origin) || 'an empty entry'} ${fault}` });
    }
    if (new Set(origins).size < origins.length)
      refine.addIssue({ code: 'custom', message: 'has the same origin twice' });
  });

/** The settings of the log and of metrics. */
export const logSettings = {
  LOG_LEVEL: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('The least that is logged: `debug`, `info`, `warn`, `error`, or `silent` for nothing.'),
  METRICS_PORT: wholeNumber(1, 65_535)
    .optional()
    .describe('The port of `/metrics` for Prometheus; without it, nothing is counted.'),
  METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address of METRICS_PORT, which needs no key: one that only Prometheus reaches.'),
  SLOW_STATEMENT_MILLISECONDS: wholeNumber(0, 600_000)
    .default(1_000)
    .describe('A statement that takes longer is logged, by its name; 0 logs none.'),
};

/** The settings of streams: how many one process serves, and how many of them for one key. */
export const streamSettings = {
  STREAMS_MAX: wholeNumber(1, 100_000)
    .default(2_000)
    .describe(
      'The most streams and subscriptions of one process; more get 503. A root account has a quarter in a mode.',
    ),
  STREAMS_OF_KEY_MAX: wholeNumber(1, 100_000)
    .default(100)
    .describe('The most streams and subscriptions of one API key or session in one process; more get 429.'),
};

/** The settings of the connections to PostgreSQL, and of those of clients. */
export const connectionSettings = {
  READ_CONNECTIONS: wholeNumber(1, 100).default(2).describe('The connections for quick reads, of each process.'),
  WRITE_CONNECTIONS: wholeNumber(2, 100)
    .default(5)
    .describe('The connections for writes, of each process; a tenant has at most all but one at a time.'),
  WORKER_CONNECTIONS: wholeNumber(1, 100).default(4).describe('The connections of the worker, of each process.'),
  STATEMENT_SECONDS: wholeNumber(1, 60)
    .default(5)
    .describe('How long a statement of a request may take, and all attempts at it together.'),
  LOCK_SECONDS: wholeNumber(1, 60)
    .default(2)
    .describe('How long a write waits for a row that another one changes; less than STATEMENT_SECONDS.'),
  HEADER_SECONDS: wholeNumber(1, 120).default(10).describe('How long a client may take to send the head of a request.'),
  BODY_SECONDS: wholeNumber(1, 600)
    .default(15)
    .describe('How long a client may take to send a request; not less than HEADER_SECONDS.'),
  KEEP_ALIVE_SECONDS: wholeNumber(1, 3_600)
    .default(65)
    .describe('How long an idle connection of a client stays open; longer than a proxy in front keeps it.'),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, 120)
    .default(0)
    .describe(
      'How long a gateway goes on serving after SIGTERM, while /servez answers 503, so that balancers leave it.',
    ),
};

/** The settings of the allowances of root accounts. */
export const rateLimitSettings = {
  RATE_LIMIT: z
    .enum(['off', 'measure', 'enforce'])
    .default('enforce')
    .describe(
      'Whether requests are charged to the allowance of their root account and ' +
        'mode; `measure` reports their cost and refuses none, and `off` does neither.',
    ),
  RATE_LIMIT_BURST: wholeNumber(1_000, 999_999_999)
    .default(2_000_000)
    .describe('The most points that the allowance of a root account and mode holds.'),
  RATE_LIMIT_PER_SECOND: wholeNumber(1, 9_999_999)
    .default(10_000)
    .describe('The points that come back to an allowance each second.'),
};
