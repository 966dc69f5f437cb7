import { everyone } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page } from '../edges.js';
import { file } from '../file/table.js';
import { ImportResolver } from './resolver.js';
import { dataImport } from './table.js';
import { Import, ImportConnection } from './type.js';
import { ImportArgs, importListing, ImportOfAccountArgs } from './listing.js';
import { importV1 } from './v1.js';

export default defineResource({
  object: 'import',
  node: node('import', dataImport, Import, { listing: importListing, connection: ImportConnection }),
  stored: { import: stored(dataImport, importV1) },
  resolvers: [ImportResolver],
  operations: {
    import: {
      reads: one('An import that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/imports/:id')],
    },
    imports: {
      reads: many(ImportArgs, "The imports of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/imports')],
    },
    createImport: {
      access: 'write',
      callers: everyone,
      routes: [extension.post('/v1/imports')],
    },
  },
  fields: [
    fields(dataImport, {
      account: link(account, 'accountId', { description: 'The account that the objects are created for.' }),
      file: link(file, 'fileId', {
        nullable: true,
        description: 'The file with the rows; null once it is deleted.',
      }),
    }),
    fields(file, {
      imports: page(dataImport, dataImport.fileId, { description: 'The imports that read the file.' }),
    }),
    fields(account, {
      imports: page(dataImport, dataImport.accountId, {
        args: ImportOfAccountArgs,
        description: "The account's imports.",
      }),
    }),
  ],
  events: {
    'import.created': 'An import was requested.',
    'import.completed': 'An import has ended; its results say what became of each row.',
    'import.failed': 'An import could not be done.',
  },
});
