import { defineResource, stored } from '../define.js';
import { rate } from './table.js';
import { rateV1 } from './v1.js';

export default defineResource({
  object: 'rate',
  stored: { rate: stored(rate, rateV1) },
  events: { 'rate.set': 'The operator has set the exchange rate between two currencies.' },
});
