import { everyone } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { address } from '../address/table.js';
import { defineResource, extension, type RestRoute, stored } from '../define.js';
import { fields, link, many, node, one, page } from '../edges.js';
import { FileArgs, fileListing, FileOfAccountArgs } from './listing.js';
import { contentTypes, fileBytesMax } from './content.js';
import { FilePurpose, file } from './table.js';
import { File, FileConnection } from './type.js';
import { usedByAccount, usedByAddress } from './reference.js';
import { fileV1 } from './v1.js';

const upload: RestRoute = {
  method: 'POST',
  path: '/v1/files',
  extension: true,
  summary: 'Upload a file',
  description:
    `Uploads a PDF, PNG or JPEG of at most ${fileBytesMax / 1024 / 1024} MB, which is recognised by its content; ` +
    `for the purpose \`import\` CSV in UTF-8. Metadata are fields such as \`metadata[order]\`.`,
  form: {
    type: 'object',
    properties: {
      purpose: { type: 'string', enum: Object.values(FilePurpose), description: 'What the file is for.' },
      file: { type: 'string', contentMediaType: 'application/octet-stream', description: 'The content.' },
    },
    required: ['purpose', 'file'],
    patternProperties: { '^metadata\\[.+\\]$': { type: 'string' } },
    additionalProperties: false,
  },
};
const download: RestRoute = {
  method: 'GET',
  path: '/v1/files/:id/content',
  extension: true,
  summary: 'Download the content of a file',
  description: 'Answers the bytes of a visible file, as they were uploaded.',
  content: contentTypes,
};

export default defineResource({
  object: 'file',
  node: node('file', file, File, { listing: fileListing, connection: FileConnection, compiled: true }),
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
    createFile: { access: 'write', callers: everyone, rest: upload },
    fileContent: { access: 'read', callers: everyone, rest: download },
  },
  fields: [
    fields(file, {
      account: link(account, 'accountId', { description: 'The account that uploaded it.' }),
      usedByAccounts: page(account, usedByAccount, {
        description: 'The accounts that name the file as their logo or as a supporting document.',
      }),
      usedByAddresses: page(address, usedByAddress, {
        description: 'The addresses that name the file as a supporting document.',
      }),
    }),
    fields(address, {
      idDocument: link(file, ['supportingDocumentation', 'idDocument'], {
        nullable: true,
        description: 'The file behind `supportingDocumentation.idDocument`.',
      }),
    }),
    fields(account, {
      files: page(file, file.accountId, {
        args: FileOfAccountArgs,
        description: 'The files that the account uploaded.',
      }),
      logo: link(file, 'logoId', { nullable: true, description: 'The file behind `logoId`.' }),
      idDocument: link(file, ['supportingDocumentation', 'idDocument'], {
        nullable: true,
        description: 'The file behind `supportingDocumentation.idDocument`.',
      }),
      ownershipStructureDocument: link(file, ['supportingDocumentation', 'ownershipStructureDocument'], {
        nullable: true,
        description: 'The file behind `supportingDocumentation.ownershipStructureDocument`. Edition 1 only.',
      }),
      physicalAddressDocument: link(file, ['supportingDocumentation', 'physicalAddressDocument'], {
        nullable: true,
        description: 'The file behind `supportingDocumentation.physicalAddressDocument`. Edition 2 only.',
      }),
    }),
  ],
  events: { 'file.created': 'A file was uploaded.' },
});
