import type { RateRow } from './table.js';

/**
 * A rate as the events of /v1 spell it: what one unit of `source` buys of `target`, as a decimal. Silent: all fields.
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
