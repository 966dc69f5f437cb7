import { whileRows } from '../../operation/work.js';
import { defineResource } from '../define.js';
import { unsealed } from './table.js';

/** The ledger has no objects of its own: clients see its entries as balance transactions. */
export default defineResource({
  object: 'ledger',
  work: {
    seal_postings: whileRows({
      does: 'Adds postings to the hash chain.',
      fn: 'seal_postings',
      table: unsealed,
      max: 1_000,
      everyMilliseconds: 2_000,
    }),
  },
});
