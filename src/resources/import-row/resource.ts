import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, readableNode, stored } from '../define.js';
import { Problem, problemOfRow } from '../../types/problem.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { Node } from '../../types/relay-node.js';
import { dataImport } from '../import/table.js';
import { importRow, type ImportRowRow } from './table.js';
import { ImportRow, ImportRowConnection } from './type.js';
import { ImportRowArgs, importRowListing, ImportRowOfImportArgs } from './listing.js';
import { importRowV1 } from './v1.js';

export default defineResource({
  object: 'import_row',
  node: node('import_row', importRow, ImportRow, { listing: importRowListing, connection: ImportRowConnection }),
  stored: { import_row: stored(importRow, importRowV1) },
  operations: {
    importRow: {
      reads: one('A row of an import that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/import_rows/:id')],
    },
    importRows: {
      reads: many(ImportRowArgs, "The rows of the imports on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [
        extension.list('/v1/import_rows'),
        extension.list('/v1/imports/:id/rows', { params: { id: 'importId' } }),
      ],
    },
  },
  sizes: { 'ImportRow.problems': 20 },
  fields: [
    fields(importRow, {
      import: link(dataImport, 'importId', { description: 'The import.' }),
      problems: value(
        () => [Problem],
        ({ problems }: ImportRowRow) => problems.map(problemOfRow),
        {
          description: 'Its faults, 20 at most, or that it was seen before; empty otherwise.',
        },
      ),
      object: value(
        () => Node,
        ({ objectId }: ImportRowRow, { scope, caller }) => {
          const found = objectId === null ? undefined : readableNode(objectId, caller);
          return found ? scope.find(found.rows, objectId) : null;
        },
        {
          nullable: true,
          description: 'The object that was created, or the one that was seen before; null otherwise.',
        },
      ),
    }),
    fields(dataImport, {
      results: page(importRow, importRow.importId, {
        args: ImportRowOfImportArgs,
        description: 'What became of its rows, the last one first.',
      }),
    }),
  ],
});
