import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, get, list, post, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { accountLimits, accountProblems, connectedUserProblems } from './rules.js';
import { AccountArgs, RankedAccountArgs, accountListing } from './listing.js';
import { AccountResolver } from './resolver.js';
import type { Context } from '../../operation/context.js';
import { account, type AccountRow } from './table.js';
import { Account, AccountConnection, AccountCapabilities } from './type.js';
import { accountV1, livemodeOf } from './v1.js';
import { searchLimits } from '../../types/list-search.js';

export default defineResource({
  object: 'account',
  node: node('account', account, Account, { listing: accountListing, connection: AccountConnection, compiled: true }),
  stored: { account: stored(account, accountV1) },
  resolvers: [AccountResolver],
  operations: {
    account: {
      reads: one('An account that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [get('/v1/accounts/:id')],
    },
    accounts: {
      reads: many(
        AccountArgs,
        'For a platform, itself and its connected users; for a user, itself and its partners. Newest first.',
      ),
      access: 'read',
      limits: searchLimits,
      callers: everyone,
      refusals: ['parameter_missing'],
      routes: [list('/v1/accounts')],
    },
    partners: {
      access: 'read',
      limits: searchLimits,
      callers: everyone,
      refusals: ['parameter_missing'],
      routes: [extension.list('/v1/accounts/:id/partners', { params: { id: 'accountId' } })],
    },
    createAccount: {
      access: 'write',
      callers: everyone,
      rules: accountProblems,
      limits: accountLimits,
      accepts: { type: ['partner'] },
      imports: { kind: 'partners', defaults: { type: 'partner' }, compared: (edition) => edition.partnersCompared },
      refusals: ['nickname_taken'],
      routes: [post('/v1/accounts')],
    },
    createConnectedUser: {
      access: 'write',
      callers: ['platform'],
      rules: connectedUserProblems,
      limits: accountLimits,
      refusals: ['nickname_taken'],
      routes: [extension.post('/v1/accounts/connected')],
    },
    updateAccount: {
      access: 'write',
      callers: everyone,
      rules: accountProblems,
      limits: accountLimits,
      refusals: ['account_not_updatable', 'nickname_taken'],
      routes: [post('/v1/accounts/:id')],
    },
  },
  fields: [
    fields(account, {
      livemode: value(() => Boolean, livemodeOf, {
        nullable: true,
        description: 'Null for a direct user or a platform, which exist in both modes.',
        json: (column) => `case when ${column('ownerId')} is null then 'null' else ${column('livemode')}::text end`,
      }),
      capability: value(() => AccountCapabilities, capabilityOf, {
        nullable: true,
        description: 'Null for an aggregator platform.',
      }),
      owner: link(account, 'ownerId', {
        nullable: true,
        description:
          'The account that created this one: the platform of a connected user, the owner of a partner. Null ' +
          'for a root, and where the caller cannot see it.',
      }),
      partners: page(account, account.ownerId, {
        args: RankedAccountArgs,
        description: 'The partners that the account owns.',
        fixed: { type: 'partner' },
      }),
      connectedUsers: page(account, account.ownerId, {
        args: RankedAccountArgs,
        description: "A platform's connected users.",
        fixed: { type: 'user' },
      }),
    }),
  ],
  events: {
    'account.created': 'An account was created: a root account, a connected user or a partner.',
    'account.updated': 'Details of an account were changed, or its receiving addresses are being issued.',
    'account.verifying': 'An account was sent to verification.',
    'account.activated': 'An account has passed its verification.',
    'account.hold': 'An account was put on hold: its verification needs something.',
    'account.deactivated': 'An account was deactivated.',
  },
});

/** The additional capabilities of an account, as its edition shows them. */
function capabilityOf(row: AccountRow, { edition }: Context): AccountCapabilities | null {
  if (edition.capability.nullFor.includes(row.subType)) return null;
  return {
    multicurrencyExportsV1: edition.shown['account.capability.multicurrency_exports_v1'] ? row.capabilityStatus : null,
  };
}
