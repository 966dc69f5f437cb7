import { everyone } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, extension, type RestRoute, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { ExportResolver } from './resolver.js';
import { dataExport, type ExportRow } from './table.js';
import { Export, ExportConnection } from './type.js';
import { ExportArgs, exportListing, ExportOfAccountArgs } from './listing.js';
import { contentPathOf, exportV1 } from './v1.js';

const download: RestRoute = {
  method: 'GET',
  path: '/v1/exports/:id/content',
  extension: true,
  summary: 'Download an export',
  description:
    'Answers the content of a completed export. It has an `ETag` and takes `Range` and `If-Range`, so that a ' +
    'download that was interrupted goes on where it ended.',
  parameters: [
    {
      name: 'Range',
      in: 'header',
      description: 'One range of bytes, such as `bytes=1048576-`. The answer is then 206, or 416 beyond the end.',
      schema: { type: 'string' },
    },
    {
      name: 'If-Range',
      in: 'header',
      description: 'The `ETag` of the part that the client has; the answer is whole if the content is another one.',
      schema: { type: 'string' },
    },
  ],
  content: ['text/csv', 'application/jsonl'],
  ranged: true,
};

export default defineResource({
  object: 'export',
  node: node('export', dataExport, Export, { listing: exportListing, connection: ExportConnection }),
  stored: { export: stored(dataExport, exportV1) },
  resolvers: [ExportResolver],
  operations: {
    export: {
      reads: one('An export that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/exports/:id')],
    },
    exports: {
      reads: many(ExportArgs, "The exports of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/exports')],
    },
    createExport: {
      access: 'write',
      callers: everyone,
      routes: [extension.post('/v1/exports')],
    },
  },
  // GraphQL transfers no files.
  restOperations: {
    exportContent: {
      access: 'read',
      callers: everyone,
      refusals: ['status_invalid', 'range_not_satisfiable'],
      rest: download,
    },
  },
  fields: [
    fields(dataExport, {
      account: link(account, 'accountId', { description: 'The account whose list it is of.' }),
      contentPath: value(() => String, contentPathOf as (row: ExportRow) => string | null, {
        nullable: true,
        description: 'The path of the content on this gateway; null unless it is COMPLETED.',
      }),
    }),
    fields(account, {
      exports: page(dataExport, dataExport.accountId, {
        args: ExportOfAccountArgs,
        description: "The account's exports.",
      }),
    }),
  ],
  events: {
    'export.created': 'An export of a list was requested.',
    'export.completed': 'An export has ended, and its content can be downloaded.',
    'export.failed': 'An export could not be done.',
  },
});
