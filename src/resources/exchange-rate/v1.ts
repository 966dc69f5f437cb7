import type { RateRow } from './table.js';
import { declareKeys, stated } from '../shape.js';

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

const text = stated({ type: 'string' });

declareKeys(rateV1, {
  object: 'noun',
  created: stated({ type: 'integer' }),
  livemode: stated({ type: 'boolean' }),
  source: text,
  target: text,
  rate: text,
});
