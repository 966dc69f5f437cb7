import { declareKeys, stated } from '../shape.js';
import type { ImportRowRow } from './table.js';

/** Formats a row of an import for /v1. Silent: all fields. */
export function importRowV1(r: ImportRowRow) {
  return {
    id: r.id,
    object: 'import_row',
    created: r.created,
    livemode: r.livemode,
    import_id: r.importId,
    row: r.row,
    status: r.status,
    object_id: r.objectId,
    problems: r.problems.map(({ code, column, message }) => ({ code, column, message })),
  };
}

declareKeys(importRowV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  import_id: 'value',
  row: 'value',
  status: 'value',
  object_id: 'value or null',
  problems: {
    code: stated({ type: 'string', description: 'The code of the error, as the creation by itself would have it.' }),
    column: stated({
      type: ['string', 'null'],
      description: 'The column that is at fault, as the header names it; null where the row as a whole is.',
    }),
    message: stated({ type: 'string', description: 'What is wrong, with the names of /v1.' }),
  },
});
