import { ID } from 'type-graphql';
import { whenOld } from '../../operation/work.js';
import { everyone } from '../../auth/permissions.js';
import { defineResource, extension } from '../define.js';
import { account } from '../account/table.js';
import { fields, link, many, node, one, value } from '../edges.js';
import { apiKey } from '../key/table.js';
import { ApiKey } from '../key/type.js';
import { session } from '../session/table.js';
import { Session } from '../session/type.js';
import { requestLog, type RequestLogRow } from './table.js';
import { RequestLog, RequestLogConnection } from './type.js';
import { RequestLogArgs, requestLogListing } from './listing.js';
import { requestLogV1, shownTo } from './v1.js';

/** Requests are kept for a week, if no setting says otherwise. */
const keptSecondsDefault = 7 * 86_400;

export default defineResource({
  object: 'request_log',
  node: node('req', requestLog, RequestLog, { listing: requestLogListing, connection: RequestLogConnection }),
  operations: {
    requestLog: {
      reads: one('A request of the log that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      v1: requestLogV1,
      routes: [extension.get('/v1/request_logs/:id')],
    },
    requestLogs: {
      reads: many(RequestLogArgs, "The requests of the accounts on the caller's list, of the last days."),
      access: 'read',
      callers: everyone,
      v1: requestLogV1,
      routes: [extension.list('/v1/request_logs')],
    },
  },
  fields: [
    fields(requestLog, {
      accountId: value(
        () => ID,
        ({ actingAccountId }: RequestLogRow) => actingAccountId,
        { description: 'The account whose key or session made the request.' },
      ),
      apiKeyId: value(
        () => ID,
        ({ apiKeyId }: RequestLogRow, { caller }) => shownTo(caller, apiKeyId),
        {
          nullable: true,
          description: 'The API key of the request, or the one that made its session. A session sees null.',
        },
      ),
      sessionId: value(
        () => ID,
        ({ sessionId }: RequestLogRow, { caller }) => shownTo(caller, sessionId),
        {
          nullable: true,
          description: 'The session of the request; null for a request with a key. A session sees null.',
        },
      ),
      account: link(account, 'actingAccountId', {
        description: 'The account whose key or session made the request.',
      }),
      apiKey: value(
        () => ApiKey,
        ({ apiKeyId }: RequestLogRow, { scope, caller }) => scope.find(apiKey, shownTo(caller, apiKeyId)),
        {
          nullable: true,
          description: 'The API key of the request, or the one that made its session. A session sees null.',
        },
      ),
      session: value(
        () => Session,
        ({ sessionId }: RequestLogRow, { scope, caller }) => scope.find(session, shownTo(caller, sessionId)),
        {
          nullable: true,
          description: 'The session of the request; null for a request with a key. A session sees null.',
        },
      ),
      onBehalfOfAccount: link(account, 'onBehalfOf', {
        nullable: true,
        description: 'The account that a platform acted for.',
      }),
      onBehalfOf: value(
        () => ID,
        ({ onBehalfOf }: RequestLogRow) => onBehalfOf,
        { nullable: true, description: 'The account that a platform acted for.' },
      ),
    }),
  ],
  work: {
    delete_old_requests: whenOld({
      does: 'Deletes old requests of the request log.',
      fn: 'delete_old_requests',
      table: requestLog,
      order: [requestLog.id],
      created: requestLog.created,
      kept: ({ requestSeconds: seconds = keptSecondsDefault }) => ({ seconds, given: true }),
    }),
  },
});
