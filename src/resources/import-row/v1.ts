import { declareKeys } from '../shape.js';
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
  problems: { code: 'value', column: 'value or null', message: 'value' },
});
