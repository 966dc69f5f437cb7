import type { ClockRow } from './resolver.js';

/** Formats a test clock for /v1. Silent: all fields. */
export function clockV1(c: ClockRow) {
  return { object: 'clock', livemode: false, now: c.now, offset_seconds: c.offsetSeconds };
}
