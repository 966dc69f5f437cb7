import { everyone } from '../../auth/permissions.js';
import { defineResource } from '../define.js';
import { ViewerResolver } from './resolver.js';

export default defineResource({
  object: 'viewer',
  resolvers: [ViewerResolver],
  operations: {
    viewer: { access: 'read', callers: everyone, notNull: true },
    node: { object: 'node', access: 'read', callers: everyone },
    nodes: { object: 'node', access: 'read', callers: everyone },
  },
  sizes: {
    'Query.nodes': (argument) => {
      const ids = argument('ids');
      return Array.isArray(ids) ? ids.length : 1;
    },
  },
});
