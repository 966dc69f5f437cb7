import { everyone, testOnly } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { ChangeRequestArgs, changeRequestListing, ChangeRequestOfAccountArgs } from './listing.js';
import { ChangeRequestResolver } from './resolver.js';
import { changeRequestProblems, shownChanges } from './rules.js';
import { changeRequest, changesMax, reasonLengthMax } from './table.js';
import { ChangeRequest, ChangeRequestConnection, RequestedChange } from './type.js';
import { changeRequestV1 } from './v1.js';

const helpers = '/v1/test_helpers/change_requests/:id';

export default defineResource({
  object: 'change_request',
  node: node('change_request', changeRequest, ChangeRequest, {
    listing: changeRequestListing,
    connection: ChangeRequestConnection,
  }),
  stored: { change_request: stored(changeRequest, changeRequestV1) },
  resolvers: [ChangeRequestResolver],
  operations: {
    changeRequest: {
      reads: one('A change request that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/change_requests/:id')],
    },
    changeRequests: {
      reads: many(ChangeRequestArgs, "The change requests of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/change_requests')],
    },
    requestAccountChange: {
      access: 'write',
      callers: everyone,
      rules: changeRequestProblems,
      refusals: ['status_invalid', 'state_conflict'],
      routes: [extension.post('/v1/change_requests')],
    },
    withdrawChangeRequest: {
      access: 'write',
      callers: everyone,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/change_requests/:id/withdraw')],
    },
    acceptTestChangeRequest: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/accept`)],
    },
    declineTestChangeRequest: {
      ...testOnly,
      textLengthMax: reasonLengthMax,
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/decline`)],
    },
  },
  fields: [
    fields(changeRequest, {
      account: link(account, 'accountId', { description: 'The account that is to change.' }),
      changes: value(() => [RequestedChange], shownChanges, {
        description: 'The details that are to change, by their paths.',
      }),
    }),
    fields(account, {
      changeRequests: page(changeRequest, changeRequest.accountId, {
        args: ChangeRequestOfAccountArgs,
        description: 'What the service is asked to change of the account, newest first.',
      }),
    }),
  ],
  sizes: { 'ChangeRequest.changes': changesMax },
  events: {
    'change_request.created': 'The service is asked to change details of an account.',
    'change_request.accepted': 'The service has accepted a change request, and the account has the new details.',
    'change_request.declined': 'The service has declined a change request.',
    'change_request.withdrawn': 'A change request was taken back.',
  },
});
