import { everyone } from '../../auth/permissions.js';
import { type AccountRow, account } from '../account/table.js';
import { type AddressRow, address } from '../address/table.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { FileArgs, fileListing } from './inputs.js';
import { file } from './table.js';
import { File, FileConnection } from './type.js';
import { fileV1 } from './v1.js';

export default defineResource({
  object: 'file',
  node: node('file', file, File, { listing: fileListing, connection: FileConnection }),
  stored: { file: stored(file, fileV1) },
  operations: {
    file: {
      reads: one('A file that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/files/:id')],
    },
    files: {
      reads: many(FileArgs, "The files of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/files')],
    },
  },
  // Files are binary, and GraphQL has no binary values.
  restOperations: {
    createFile: { access: 'write', callers: everyone },
    fileContent: { access: 'read', callers: everyone },
  },
  fields: [
    fields(file, { account: link(account, 'accountId', { description: 'The account that uploaded it.' }) }),
    fields(address, {
      idDocument: value(
        () => File,
        (row: AddressRow, { scope }) => scope.find(file, row.supportingDocumentation?.idDocument),
        { nullable: true, description: 'The file behind `supportingDocumentation.idDocument`.' },
      ),
    }),
    fields(account, {
      files: page(file, file.accountId, { description: 'The files that the account uploaded.' }),
      logo: link(file, 'logoId', { nullable: true, description: 'The file behind `logoId`.' }),
      idDocument: value(
        () => File,
        (row: AccountRow, { scope }) => scope.find(file, row.supportingDocumentation.idDocument),
        { nullable: true, description: 'The file behind `supportingDocumentation.idDocument`.' },
      ),
      ownershipStructureDocument: value(
        () => File,
        (row: AccountRow, { scope }) => scope.find(file, row.supportingDocumentation.ownershipStructureDocument),
        {
          nullable: true,
          description: 'The file behind `supportingDocumentation.ownershipStructureDocument`. Edition 1 only.',
        },
      ),
      physicalAddressDocument: value(
        () => File,
        (row: AccountRow, { scope }) => scope.find(file, row.supportingDocumentation.physicalAddressDocument),
        {
          nullable: true,
          description: 'The file behind `supportingDocumentation.physicalAddressDocument`. Edition 2 only.',
        },
      ),
    }),
  ],
  events: ['file.created'],
});
