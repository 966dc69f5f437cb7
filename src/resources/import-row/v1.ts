import { noun, stated, value, valueOrNull } from '../shape.js';
import type { ImportRowRow } from './table.js';

const problemSchemas = {
  code: { type: 'string', description: 'The code of the error, as the creation by itself would have it.' },
  column: {
    type: ['string', 'null'],
    description: 'The column that is at fault, as the header names it; null where the row as a whole is.',
  },
  message: { type: 'string', description: 'What is wrong, with the names of /v1.' },
};

/** Formats a row of an import for /v1. Silent: all fields. */
export function importRowV1(r: ImportRowRow) {
  return {
    id: value(r.id),
    object: noun('import_row'),
    created: value(r.created),
    livemode: value(r.livemode),
    import_id: value(r.importId),
    row: value(r.row),
    status: value(r.status),
    object_id: valueOrNull(r.objectId),
    problems: r.problems.map(({ code, column, message }) => ({
      code: stated(problemSchemas.code, code),
      column: stated(problemSchemas.column, column),
      message: stated(problemSchemas.message, message),
    })),
  };
}
