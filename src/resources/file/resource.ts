import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, node, stored } from '../define.js';
import { FileResolver, FilesOfAccount } from './resolver.js';
import { file } from './table.js';
import { File } from './type.js';
import { fileV1 } from './v1.js';

export default defineResource({
  object: 'file',
  node: node('file', file, File),
  stored: { file: stored(file, fileV1) },
  resolvers: [FileResolver, FilesOfAccount],
  operations: {
    file: { access: 'read', callers: everyone, routes: [extension.get('/v1/files/:id')] },
    files: { access: 'read', callers: everyone, routes: [extension.list('/v1/files')] },
  },
  // Files are bytes, and bytes do not travel in GraphQL.
  restOperations: {
    createFile: { access: 'write', callers: everyone },
    fileContent: { access: 'read', callers: everyone },
  },
  events: ['file.created'],
});
