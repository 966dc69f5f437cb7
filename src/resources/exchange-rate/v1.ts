import type { RateRow } from './table.js';

/**
 * Formats a rate for the events of /v1: how much `target` one unit of `source` buys, as a decimal. Silent: all fields.
 */
export function rateV1(r: RateRow) {
  return {
    object: 'rate',
    created: r.created,
    livemode: r.livemode,
    source: r.source,
    target: r.target,
    rate: r.rate,
  };
}
