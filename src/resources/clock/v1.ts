import type { ClockRow } from './resolver.js';

/** A test clock as /v1 spells it. Silent: all fields. */
export function clockV1(c: ClockRow) {
  return { object: 'clock', livemode: false, now: c.now, offset_seconds: c.offsetSeconds };
}
