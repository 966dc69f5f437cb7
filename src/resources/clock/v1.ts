import type { ClockRow } from './resolver.js';
import { declareKeys, stated } from '../shape.js';

/** Formats a test clock for /v1. Silent: all fields. */
export function clockV1(c: ClockRow) {
  return { object: 'clock', livemode: false, now: c.now, offset_seconds: c.offsetSeconds };
}

declareKeys(clockV1, {
  object: 'noun',
  livemode: stated({ type: 'boolean', const: false }),
  now: 'value',
  offset_seconds: 'value',
});
