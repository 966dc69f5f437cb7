import { everyone, ownAccounts } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { DateTime } from '../../types/scalars.js';
import { apiKey } from '../key/table.js';
import { SessionArgs, sessionListing } from './listing.js';
import { sessionLimits, sessionProblems } from './rules.js';
import { SessionResolver } from './resolver.js';
import { type SessionRow, session } from './table.js';
import { Session, SessionConnection } from './type.js';
import { newSessionV1, sessionV1 } from './v1.js';

const managed = { access: 'write', callers: everyone, relations: ownAccounts } as const;

export default defineResource({
  object: 'session',
  node: node('session', session, Session, {
    listing: sessionListing,
    connection: SessionConnection,
    keysOnly: true,
  }),
  stored: { session: stored(session, sessionV1) },
  resolvers: [SessionResolver],
  operations: {
    session: {
      reads: one('A session that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      keysOnly: 'read sessions',
      routes: [extension.get('/v1/sessions/:id')],
    },
    sessions: {
      reads: many(SessionArgs, "The sessions of the accounts on the caller's list, of the caller's mode."),
      access: 'read',
      callers: everyone,
      keysOnly: 'read sessions',
      routes: [extension.list('/v1/sessions')],
    },
    createSession: {
      ...managed,
      keysOnly: 'make sessions',
      rules: sessionProblems,
      limits: sessionLimits,
      refusals: ['account_type_invalid'],
      routes: [{ ...extension.post('/v1/sessions'), answers: 'object' }],
      v1: newSessionV1,
    },
    revokeSession: {
      ...managed,
      keysOnly: 'revoke sessions',
      ends: 'revoked',
      routes: [extension.post('/v1/sessions/:id/revoke')],
    },
  },
  fields: [
    fields(session, {
      updatedAt: value(
        () => DateTime,
        (row: SessionRow) => row.revokedAt ?? row.created,
        { description: 'When it was revoked, or else created.' },
      ),
      account: link(account, 'accountId', { description: 'The account that the session acts as.' }),
      apiKey: link(apiKey, 'apiKeyId', { nullable: true, description: 'The API key that made the session.' }),
    }),
    fields(apiKey, {
      sessions: page(session, session.apiKeyId, { description: 'The sessions that the key made.' }),
    }),
    fields(account, {
      sessions: page(session, session.accountId, { description: "The account's sessions of the caller's mode." }),
    }),
  ],
  events: {
    'session.created': 'A session for a person was created.',
    'session.revoked': 'A session was revoked before its end.',
  },
});
