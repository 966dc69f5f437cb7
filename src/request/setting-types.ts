import { z } from 'zod';
import { originFault } from './origins.js';
import { cut } from './problems.js';

/** `true` or `false`. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
/** A whole number within bounds. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));

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

/** The settings of streams: how many one process serves, and how many of them for one key. */
export const streamSettings = {
  STREAMS_MAX: wholeNumber(1, 100_000)
    .default(2_000)
    .describe('The most streams of events and subscriptions of one process; more get 503.'),
  STREAMS_OF_KEY_MAX: wholeNumber(1, 100_000)
    .default(100)
    .describe('The most streams and subscriptions of one API key or session in one process; more get 429.'),
};
