import { everyone } from '../../auth/permissions.js';
import { defineResource, get, list, node, post, stored } from '../define.js';
import { accountProblems } from './creation.js';
import { AccountResolver } from './resolver.js';
import { account } from './table.js';
import { Account } from './type.js';
import { accountV1 } from './v1.js';

export default defineResource({
  object: 'account',
  node: node('account', account, Account),
  stored: { account: stored(account, accountV1) },
  resolvers: [AccountResolver],
  operations: {
    account: { access: 'read', callers: everyone, routes: [get('/v1/accounts/:id')] },
    accounts: { access: 'read', callers: everyone, routes: [list('/v1/accounts')] },
    createAccount: { access: 'write', callers: everyone, rules: accountProblems, routes: [post('/v1/accounts')] },
    createConnectedUser: { access: 'write', callers: ['platform'], rules: accountProblems },
    updateAccount: { access: 'write', callers: everyone, rules: accountProblems, routes: [post('/v1/accounts/:id')] },
  },
  events: [
    ...['account.created', 'account.updated'],
    ...['account.verifying', 'account.activated', 'account.hold', 'account.deactivated'],
  ],
});
