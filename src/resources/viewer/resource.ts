import { everyone } from '../../auth/permissions.js';
import { defineResource } from '../define.js';
import { DateTime } from '../../types/scalars.js';
import { account } from '../account/table.js';
import { now, readNow } from '../clock/now.js';
import { fieldsOfType, link, value } from '../edges.js';
import { apiKey } from '../key/table.js';
import { ApiKey } from '../key/type.js';
import { ViewerResolver } from './resolver.js';
import { Viewer, viewerOf } from './type.js';

export default defineResource({
  object: 'viewer',
  resolvers: [ViewerResolver],
  operations: {
    viewer: { access: 'read', callers: everyone, notNull: true, ofCaller: viewerOf },
    node: { object: 'node', access: 'read', callers: everyone },
    nodes: { object: 'node', access: 'read', callers: everyone },
  },
  fields: [
    fieldsOfType(Viewer, {
      account: link(account, 'actingAccountId', {
        description:
          'The acting account: the account named by On-Behalf-Of, or otherwise the account of the API key or session.',
      }),
      now: value(
        () => DateTime,
        (_: Viewer, { scope }) => readNow(scope),
        {
          description:
            'The time by which objects of this mode are created and become due: the clock of the database, and in ' +
            'test mode the test clock.',
          as: now,
        },
      ),
      apiKey: value(
        () => ApiKey,
        (_: Viewer, { scope, caller }) => (caller.session ? null : scope.find(apiKey, caller.keyId)),
        {
          nullable: true,
          description:
            'The API key of the request; null for a session, and for a request on behalf of a connected user, which ' +
            'sees no keys of the platform.',
        },
      ),
    }),
  ],
  sizes: {
    'Query.nodes': (argument) => {
      const ids = argument('ids');
      return Array.isArray(ids) ? ids.length : 1;
    },
  },
});
