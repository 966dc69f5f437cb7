import type { RateRow } from './table.js';
import { noun, schemas, stated } from '../shape.js';

/**
 * Formats a rate for the events of /v1: how much `target` one unit of `source` buys, as a decimal. Silent: all fields.
 */
export function rateV1(r: RateRow) {
  return {
    object: noun('rate'),
    created: stated(schemas.integer, r.created),
    livemode: stated(schemas.boolean, r.livemode),
    source: stated(schemas.string, r.source),
    target: stated(schemas.string, r.target),
    rate: stated(schemas.string, r.rate),
  };
}
