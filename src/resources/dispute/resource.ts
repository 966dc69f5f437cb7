import { everyone, testOnly } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { moneyOf } from '../balance/type.js';
import { defineResource, extension, stored } from '../define.js';
import { deposit } from '../deposit/table.js';
import { fields, link, many, node, one, page } from '../edges.js';
import { DisputeArgs, DisputeOfAccountArgs, disputeListing } from './listing.js';
import { DisputeResolver } from './resolver.js';
import { evidenceLimits, evidenceProblems, evidenceTextMax } from './rules.js';
import { dispute } from './table.js';
import { Dispute, DisputeConnection } from './type.js';
import { disputeV1 } from './v1.js';

export default defineResource({
  object: 'dispute',
  node: node('dispute', dispute, Dispute, { listing: disputeListing, connection: DisputeConnection, compiled: true }),
  stored: { dispute: stored(dispute, disputeV1) },
  resolvers: [DisputeResolver],
  operations: {
    dispute: {
      reads: one('A dispute that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/disputes/:id')],
    },
    disputes: {
      reads: many(DisputeArgs, "The disputes of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/disputes')],
    },
    respondToDispute: {
      access: 'write',
      callers: everyone,
      rules: evidenceProblems,
      textLengthMax: evidenceTextMax,
      limits: evidenceLimits,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/disputes/:id/respond')],
    },
    acceptDispute: {
      access: 'write',
      callers: everyone,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/disputes/:id/accept')],
    },
    winTestDispute: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/disputes/:id/win')],
    },
    loseTestDispute: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/disputes/:id/lose')],
    },
  },
  fields: [
    fields(dispute, {
      ...moneyOf({ amount: 'currency' }),
      account: link(account, 'accountId', { description: 'The account that had received the deposit.' }),
      deposit: link(deposit, 'depositId', { description: 'The deposit that is disputed.' }),
      debitDeposit: link(deposit, 'debitDepositId', {
        description:
          'The deposit with the negative amount that took the money. It is REVERSED once the dispute is WON.',
      }),
    }),
    fields(account, {
      disputes: page(dispute, dispute.accountId, {
        args: DisputeOfAccountArgs,
        description: 'Disputes of deposits to the account.',
      }),
    }),
    fields(deposit, {
      openedDisputes: page(dispute, dispute.depositId, {
        description: 'The disputes of this deposit. `disputedBy` has the deposits that took their money.',
      }),
    }),
  ],
  events: {
    'dispute.opened': 'A payer disputes a deposit, and the money was taken. It may be answered.',
    'dispute.responded': 'A dispute was answered, and is under review.',
    'dispute.won': 'A dispute was decided for the account, and its money is pending of the deposit again.',
    'dispute.lost': 'A dispute was decided for the payer.',
    'dispute.accepted': 'The account has accepted a dispute.',
  },
});
