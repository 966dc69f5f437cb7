import type { ClockRow } from './type.js';
import { noun, stated, value } from '../shape.js';

const alwaysFalse = { type: 'boolean', const: false };

/** Formats a test clock for /v1. Silent: all fields. */
export function clockV1(c: ClockRow) {
  return {
    object: noun('clock'),
    livemode: stated(alwaysFalse, false),
    now: value(c.now),
    offset_seconds: value(c.offsetSeconds),
  };
}
